"""Whether neighbouring rows are correlated after the components are removed, as in a time series.

The tests take rows as independent. If they depend on each other, directions in which neighbours vary together look like
components. With the rows e_i of the residual in their given order, c_j = sum_i e_ij e_(i+1)j says how much the
neighbours in column j agree. If rows are independent and their noise is symmetric, c_j has the same law when each row
gets a random sign. This holds for any covariance of the columns, and if rows differ in variance.

Tables are often sorted by one of their columns, which makes the neighbours in that column similar. The column with the
largest |c_j| is therefore left out, in the references too.
"""

from __future__ import annotations

import numpy as np

from eckart.rank.evidence import Evidence
from eckart.rank.resampling import excess_is_clear, rows_flipped, until_clear

_FAR = 3.0
"""Number of standard deviations beyond which the correlation of neighbouring rows is not chance."""
_FEWEST_ROWS, _FEWEST_COLUMNS = 8, 3


def neighbouring_rows(e: Evidence, k: int) -> float:
    """The correlation of neighbouring rows of the residual of k components; 0 if it may be chance."""
    remainder = e.remainder(k)
    if e.rows - k < _FEWEST_ROWS or e.columns - k < _FEWEST_COLUMNS:
        return 0.0
    places, rng = e.given_order, e.rng(21)
    noise = remainder.noise

    def drawn() -> np.ndarray:
        return _agreement(remainder.projected(rows_flipped(noise, rng)), places)

    def far(observed: np.ndarray, references: np.ndarray) -> float:
        return float(abs(observed - references.mean()) / max(float(references.std(ddof=1)), 1e-300))

    def clear(observed: np.ndarray, references: np.ndarray) -> bool:
        return excess_is_clear(far(observed, references), len(references), _FAR)

    observed = _agreement(remainder.table, places)
    references = until_clear(observed, drawn, remainder.table.size, clear)
    return float(observed - references.mean()) if far(observed, references) > _FAR else 0.0


def _agreement(table: np.ndarray, places: np.ndarray) -> np.ndarray:
    """Sum of c_j without the largest |c_j|, over the sum of squares of these columns."""
    given = table[places]
    agreement, squares = np.sum(given[1:] * given[:-1], axis=0), np.sum(given**2, axis=0)
    others = np.arange(len(agreement)) != np.argmax(np.abs(agreement))
    return np.asarray(agreement[others].sum() / max(float(squares[others].sum()), 1e-300))
