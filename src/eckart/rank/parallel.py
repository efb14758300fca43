"""Parallel analysis: components stronger than those of the same table with its structure destroyed.

Permutation (Horn, 1965) shuffles each column separately. Sign flips (Hong, Sheng and Dobriban, 2020) give each entry of
the centred table a random sign, which keeps the variance of every entry.

The components are tested one after the other: see `sequential`.
"""

from __future__ import annotations

import numpy as np

from eckart.arrays import Matrix, is_sparse
from eckart.components.find import find_components
from eckart.engine.backends.symmetric import leading_values
from eckart.formatting import precise_percent
from eckart.rank.edge import MEAN, STANDARD_DEVIATION, tracy_widom
from eckart.rank.evidence import LARGEST_DENSE, Evidence
from eckart.rank.resampling import flipped, permuted, rank_is_clear, until_clear
from eckart.rank.sequential import sequential

_GRAM = 1500
_HORN, _USUAL = 99, 0.95
"""Minimum number of shuffled tables in Horn's analysis, and its level."""


def by_permutation(e: Evidence) -> tuple[int | None, str]:
    """Against tables whose columns are shuffled."""
    if e.sparse and e.rows * e.columns > LARGEST_DENSE:
        return _without_deflation(e)
    return sequential(e, permuted, e.rng(1), "shuffled tables")


def by_sign_flips(e: Evidence) -> tuple[int | None, str]:
    """Against tables with random signs."""
    if e.sparse and e.rows * e.columns > LARGEST_DENSE:
        return (
            None,
            (
                "This rule flips signs at random, which makes a centred sparse table dense. With "
                f"{e.rows:,} rows and {e.columns:,} columns, this table is too large."
            ),
        )
    return sequential(e, flipped, e.rng(2), "tables with random signs")


def above_shuffled(e: Evidence) -> int:
    """Horn's parallel analysis: compare component i with component i of shuffled tables, up to the first below.

    It describes the table and needs no residual noise: a component counts if it explains more than the component of the
    same number in 95 % of tables with unrelated columns (Glorfeld, 1995).
    """
    rng, table = e.rng(20), e.centred.astype(np.float64, copy=False)
    observed = e.ratios[: e.most] * max(float(np.sum(table**2)), 1e-300)

    def count(drawn: np.ndarray) -> int:
        above = observed > np.quantile(drawn[:, : len(observed)], _USUAL, axis=0)
        return e.most if above.all() else int(np.argmin(above))

    def clear(_: np.ndarray, drawn: np.ndarray) -> bool:
        """Whether the last component that counts and the next one are far from their limits."""
        k = count(drawn)
        return all(rank_is_clear(float(observed[i]), drawn[:, i], 1.0 - _USUAL) for i in (k - 1, k) if 0 <= i < e.most)

    def shuffled() -> np.ndarray:
        return leading_squares(permuted(table, rng), e.most, center=e.center)

    return count(until_clear(observed, shuffled, table.size, clear, first=_HORN))


def _without_deflation(e: Evidence) -> tuple[int | None, str]:
    """Compare component i with the i-th values of shuffled tables, which stay sparse; weak components may be hidden."""
    rng, repeats, most = e.rng(1), e.repeats(10, 60), e.most
    drawn = np.array([leading_squares(permuted(e.table, rng), most, center=e.center) for _ in range(repeats)])
    units = (tracy_widom(e.options.level) - MEAN) / STANDARD_DEVIATION
    limits = (drawn.mean(axis=0) + units * drawn.std(axis=0, ddof=1 if repeats > 1 else 0)) / e.unit
    above = e.ratios[:most] > limits
    if above.all():
        return None, (
            f"All {most} tested components explain more than those of {repeats} shuffled tables. There may be more."
        )
    k = int(np.argmin(above))
    share, limit = precise_percent(e.ratios[k]), precise_percent(limits[k])
    return k, (
        f"Component {k + 1} explains {share}; in {100 * e.options.level:g} % of shuffled tables, it "
        f"explains at most {limit}. The table is too large to remove the components found so far, so "
        "weaker components may be hidden."
    )


def leading_squares(table: Matrix, count: int, *, center: bool) -> np.ndarray:
    """The `count` largest squared singular values, to three digits or better."""
    rows, columns = table.shape
    if not is_sparse(table) and min(rows, columns) <= _GRAM:
        matrix = table - table.mean(axis=0) if center else table
        gram = matrix.T @ matrix if rows >= columns else matrix @ matrix.T
        return np.asarray(np.maximum(leading_values(gram.astype(np.float64, copy=False), count), 0.0))
    d = find_components(table, "pca" if center else "svd", k=min(count, rows, columns), tol=1e-3, rng=0)
    return np.asarray(d.values, dtype=np.float64) ** 2
