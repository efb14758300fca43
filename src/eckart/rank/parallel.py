"""Parallel analysis: components stronger than those of noise, drawn or computed.

Permutation (Horn, 1965) shuffles each column separately. Sign flips (Hong, Sheng and Dobriban, 2020) give each entry of
the centred table a random sign, which keeps the variance of every entry. The components are tested one after the other:
see `sequential`.

Deterministic parallel analysis (Dobriban and Owen, 2019) computes the edge of noise with unequal rows and columns
instead. The first component is compared with the edge (see `edge`), removed from the variances, and so on (deflation),
so that strong components do not hide weak ones. Removing k components leaves noise of rows - k times columns - k
degrees of freedom. Rows count as equal in variance unless they differ clearly, and if the table itself is not known.
The largest eigenvalue of pure noise varies about the edge like the Tracy-Widom law (El Karoui, 2007); its quantile at
the level of the test is added.
"""

from __future__ import annotations

import numpy as np

from eckart.arrays import Matrix, is_sparse
from eckart.components.find import find_components
from eckart.engine.backends.symmetric import leading_values
from eckart.formatting import precise_percent
from eckart.rank.edge import MEAN, STANDARD_DEVIATION, row_profile, tracy_widom, upper_edge
from eckart.rank.evidence import LARGEST_DENSE, Evidence
from eckart.rank.resampling import flipped, permuted, rank_is_clear, until_clear
from eckart.rank.sequential import sequential

_GRAM = 1500
_HORN, _USUAL = 99, 0.95
"""Minimum number of shuffled tables in Horn's analysis, and its level."""
_FEWEST = 8
_ONE_ENTRY = 0.15
"""Product of the largest squared entries of a component's left and right vectors from which it counts as one entry."""


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


def _last_above(e: Evidence, edges: np.ndarray, columns: list[np.ndarray], quantile: float) -> int:
    """The last component above its edge, not the first below it: strong ones of equal size hide each other in the edge.

    If the table is available, edges are recomputed with the noise variances of its rows.
    """
    count, outliers = len(edges), 0
    above = np.flatnonzero(e.ratios[:count] > edges).tolist()
    while above and e.has_table:
        k = above[-1]
        # Rows without component k + 1 itself, which would make them unequal and hide it, and without the entries left
        # out. But a component with a large part in one row may be the noise of that row.
        noise = columns[max(k, outliers)]
        removed = outliers + 1 if outliers > k else k + (not _is_one_row(e, k))
        profile = row_profile(e.remainder(removed))
        edges[k] = upper_edge(noise, e.free_rows - k, quantile, taken=k, profile=profile)
        if _is_one_entry(e, k):
            outliers = max(outliers, min(k + 1, count - 1))
        elif e.ratios[k] > edges[k]:
            break
        above.pop()
    return above[-1] + 1 if above else 0


def by_edge(e: Evidence) -> tuple[int | None, str]:
    """Components above the edge of noise, with the column variances that earlier components leave."""
    if e.column_ratios is None:
        return (
            None,
            "This rule needs the variance of every column. Pass the data, or a decomposition with all components.",
        )
    quantile = tracy_widom(e.options.level)
    if e.short < _FEWEST:
        seen = f"the table has at most {e.short}"
        return (
            None,
            (
                f"This rule needs at least {_FEWEST} singular values to estimate the largest eigenvalue "
                f"of the noise, but {seen}."
            ),
        )
    left = e.column_ratios.copy()
    count = min(len(e.ratios), e.right.shape[1], e.short - 1, 2 * e.most + 1)
    edges, columns = np.zeros(count), []
    for k in range(count):
        columns.append(left * e.columns / (e.columns - k) if k < e.columns else left)
        edges[k] = upper_edge(columns[k], e.free_rows - k, quantile, taken=k)
        left = np.maximum(left - e.ratios[k] * e.right[:, k] ** 2, 0.0)
    k = _last_above(e, edges, columns, quantile)
    objection = _objection(e, k, edges)
    if objection is not None:
        return None, objection
    share, edge = precise_percent(e.ratios[k]), precise_percent(edges[k])
    noise = f"in {100 * e.options.level:g} % of cases, a component of pure noise explains at most {edge}"
    return k, f"Component {k + 1} explains {share}; {noise}."


def _objection(e: Evidence, k: int, edges: np.ndarray) -> str | None:
    """Why the test has no answer, although k components exceed their edges."""
    if k == len(edges):
        return f"All {k} computed components explain more than a component of pure noise would. There may be more."
    if (more := e.falls_beyond(k)) is not None and not _is_one_entry(e, more - 1):
        if more == 1:
            return (
                "The first component dominates the variances of the columns, so this test cannot "
                "distinguish it from noise."
            )
        return (
            f"{more} components of similar size dominate the variances of the columns, so they mask each "
            "other in this test."
        )
    if k == 0 and edges[0] >= 1.0:
        return (
            "The limit for a component of pure noise is above 100 % of the variance, because few columns have most of "
            "it or the table has few rows. This test could find no component."
        )
    return None


def _is_one_row(e: Evidence, place: int) -> bool:
    """Whether one row has more of a component than any of n normal scores usually has: 3 log(n) / n."""
    return e.largest_row(place) > 3.0 * float(np.log(e.rows)) / e.rows


def _is_one_entry(e: Evidence, place: int) -> bool:
    """Whether a component is one entry of the table: the law of the edge does not hold for heavy tails."""
    if not e.has_table or place >= e.right.shape[1]:
        return False
    return e.largest_row(place) * float(np.max(e.right[:, place] ** 2)) > _ONE_ENTRY
