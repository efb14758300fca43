"""The largest drop of the eigenvalues among the numbers that a small table leaves open.

With few directions the tests have little noise to compare with, and their number is often one too many or too few. The
range that the rules allow nearly always contains the right number. In it, the ratio l_k / l_(k+1) is largest after the
last strong component (Ahn and Horenstein, 2013): on 40 x 5 tables of strong components this is right more often than
the tests, whatever the noise. A dominant first component does not hide others, because the range begins with the
components that exceed any smooth noise.

Two or three strong components of four or five columns mask each other in the tests, which then find none or too few.
The range is therefore extended to later numbers after which the eigenvalues fall, both those of the table and those of
its correlations: columns of unequal noise lower only the former.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from eckart.rank.evidence import Evidence
from eckart.rank.verdict import FEW, RankChoice

_CLEAR = 1.25
"""The drop must be this many times as large as that after the number of the tests."""

_FALL = 1.75
"""The least fall after a component that the tests may miss. One in ten tables of 25 x 4 white noise has such a fall,
one in 100 of 40 x 5."""
_ONE_COLUMN = 0.97
"""Share of a column that the components explain in units of equal noise, from which it counts as one of them."""


def with_later_falls(choice: RankChoice, e: Evidence) -> RankChoice:
    """The choice with a range up to the last clear fall of the eigenvalues; uncertain if the tests find none."""
    highest = choice.highest
    if highest is None or e.short >= FEW or not e.has_table or (choice.certain and choice.k):
        return choice
    table = e.centred.astype(np.float64, copy=False)
    lengths = np.linalg.norm(table, axis=0)
    own = _falls(np.linalg.svd(table / np.where(lengths > 0.0, lengths, 1.0), compute_uv=False) ** 2)
    falls = np.minimum(_falls(e.ratios), own[: len(e.ratios) - 1])
    last = max((k for k in range(highest + 1, e.short - 1) if falls[k - 1] >= _FALL), default=0)
    if not last:
        return choice
    reason = choice.reason or (
        "The tests find no component, but the eigenvalues fall by a factor of "
        f"{_falls(e.ratios)[last - 1]:.3g} after component {last}. In so few columns or rows, strong "
        "components mask each other in the tests."
    )
    return replace(choice, highest=last, reason=reason)


def _falls(values: np.ndarray) -> np.ndarray:
    return np.asarray(values[:-1] / np.maximum(values[1:], 1e-300))


def _numbers(choice: RankChoice, e: Evidence) -> range:
    """The numbers of components that the rules allow; empty without a lowest one."""
    if choice.lowest is None:
        return range(0)
    highest = len(e.ratios) - 1 if choice.highest is None else choice.highest
    return range(max(choice.lowest, 1), min(highest, e.short - 2) + 1)


def largest_drop(choice: RankChoice, e: Evidence) -> int | None:
    """The number in the range with the largest drop; None if the number stays."""
    k = choice.k
    if not k or choice.certain or choice.horn is not None or e.short >= FEW:
        return None
    drops, numbers = _falls(e.ratios), _numbers(choice, e)
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
