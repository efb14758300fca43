"""Element-wise cross-validation: hide single cells, fill them by k axes of the others, and count the error.

The cells are hidden part by part; the axes come from regularised iterative PCA, so a hidden cell has no say in them.
"""

from __future__ import annotations

import numpy as np

from eckart.rank.evidence import Evidence
from eckart.solvers.held_out import HeldOut

_CELLS = 200_000


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
    tried = HeldOut(table, rng, standard=e.scale).try_axes(max(min(e.most, min(table.shape) - 2), 1))
    best = min(tried, key=lambda candidate: candidate.error)
    beyond = next((c for c in tried if c.k == best.k + 1), None)
    more = f", {beyond.error**0.5:.3f} with {beyond.k}" if beyond else ""
    return (
        best.k,
        f"Hidden cells are foretold best with {best.k}: {best.error**0.5:.3f} standard deviations off{more}{sample}.",
    )
