"""The largest drop of the eigenvalues among the numbers that a small table leaves open.

With few directions the tests have little noise to compare with, and their number is often one too many or too few. The
range that the rules allow nearly always contains the right number. In it, the ratio l_k / l_(k+1) is largest after the
last strong component (Ahn and Horenstein, 2013): on 40 x 5 tables of strong components this is right more often than
the tests, whatever the noise. A dominant first component does not hide others, because the range begins with the
components that exceed any smooth noise.
"""

from __future__ import annotations

import numpy as np

from eckart.rank.evidence import Evidence
from eckart.rank.verdict import RankChoice

_FEW = 8
"""Number of directions from which the tests are right more often."""
_CLEAR = 1.25
"""The drop must be this many times as large as that after the number of the tests."""

_ONE_COLUMN = 0.97
"""Share of a column that the components explain in units of equal noise, from which it counts as one of them."""


def largest_drop(choice: RankChoice, e: Evidence) -> int | None:
    """The number in the range with the largest drop; None if the number stays."""
    k, lowest = choice.k, choice.lowest
    if not k or choice.certain or lowest is None or choice.horn is not None or e.short >= _FEW:
        return None
    last = min(e.short - 2, len(e.ratios) - 1) if choice.highest is None else min(choice.highest, e.short - 2)
    drops = e.ratios[:-1] / np.maximum(e.ratios[1:], 1e-300)
    numbers = range(max(lowest, 1), last + 1)
    if not numbers or not k <= len(drops):
        return None
    best = max(numbers, key=lambda number: drops[number - 1])
    if drops[best - 1] <= _CLEAR * drops[k - 1] or _is_a_column(e, k, best):
        return None
    return best


def _is_a_column(e: Evidence, k: int, best: int) -> bool:
    """Whether components k + 1 to `best` include a whole column: an unrelated one is noise, however large."""
    shares = np.sum(e.right[:, :best] ** 2, axis=1)
    return best > k and bool(np.max(shares) > _ONE_COLUMN)
