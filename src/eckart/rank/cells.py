"""Element-wise cross-validation: hide single cells, fill them by k axes of the others, and count the error.

The cells are hidden part by part, and the axes come from iterative PCA of the others, so a hidden cell has no say in
them. k is the smallest number that is not worse than the best by more than the standard error of the difference.
"""

from __future__ import annotations

import numpy as np

from eckart.missing.held_out import HeldOut
from eckart.rank.evidence import Evidence
from eckart.rank.standard_error import fewest_as_good

_CELLS = 200_000
_PARTS = 5


def by_cells(e: Evidence) -> tuple[int | None, str]:
    if e.sparse:
        return None, "Hides single cells of a dense table; for sparse data bi-cross-validation does the same by blocks."
    if not e.center:
        return None, "Needs a centred table: the axes that fill hidden cells go through the means."
    rng, table = e.rng(4), np.asarray(e.table, dtype=np.float64)
    sample = ""
    if table.size > _CELLS:
        kept = max(_CELLS // e.columns, min(e.rows, 50))
        table = table[np.sort(rng.choice(e.rows, kept, replace=False))]
        sample = f" (on {kept:,} rows drawn at random)"
    if min(table.shape) < 3:
        return None, f"Needs at least 3 rows and 3 columns, and there are {e.rows} x {e.columns}."
    held_out = HeldOut(table, rng, standard=e.scale, parts=_PARTS, tried=_PARTS)
    errors = held_out.by_part(max(min(e.most, min(table.shape) - 2), 1))
    k, mean = fewest_as_good(errors), np.sqrt(errors.mean(axis=1))
    beyond = f", {mean[k + 1]:.3f} with {k + 1}" if k + 1 < len(mean) else ""
    return k, f"With {k} axes, hidden cells are foretold to {mean[k]:.3f} standard deviations{beyond}{sample}."
