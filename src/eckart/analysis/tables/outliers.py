"""Outlying rows: T2 = sum_k t_ik^2 / lambda_k within the components, Q = ||x_i||^2 - sum_k t_ik^2 outside them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from eckart.analysis.gaps import gap_laws, residual_noise
from eckart.analysis.labels import column_labels, row_labels
from eckart.analysis.left_out import modelled
from eckart.analysis.limits import Spectrum, q_fitted, spectrum, t2_fitted, typical_moments
from eckart.analysis.measures import (
    check_k,
    check_orthogonal,
    complete,
    floats,
    left_vectors,
    nonzero_components,
    row_distances,
    row_scores,
    row_weights,
    svd_details,
)
from eckart.analysis.new_rows import factors_of_new_rows, inflation, new_row_limits
from eckart.arrays import Floats
from eckart.errors import ParameterError
from eckart.fitted import takes_fitted
from eckart.formatting import counted
from eckart.options import place_by_number
from eckart.text import Cell, Table

if TYPE_CHECKING:
    from eckart.result import Decomposition

ALL_VARIANCES, SUMS_OF_SQUARES, MOMENTS_OF_Q, WHITE_NOISE = (
    "all variances", "sums of the variances and their squares", "moments of Q without outliers", "white noise",
)  # fmt: skip
"""How the variances left out are known."""
TOO_FEW = "too few rows"
"""Why there is no limit."""
_DOMINATED = 0.5
"""If outliers account for more than this share of Q, the variances left out are estimated without them."""


@dataclass(frozen=True)
class Distances:
    """T2 and Q of each fitted row, and their limits for fitted rows; NaN where not known."""

    inside: Floats
    outside: Floats
    inside_limit: float
    outside_limit: float
    rule: str
    """How the limit of Q was computed."""


@takes_fitted
def outliers(d: Decomposition, *, k: int | None = None, confidence: float = 0.95, only: bool = False) -> Table:
    """Tabulate the T2 and Q statistics of each row with their limits.

    Parameters
    ----------
    {d [with rows], k [model], confidence}
    only : bool, default False
        List only rows beyond a limit, most extreme first.

    Returns
    -------
    Table
        T2 and Q of each row, their ratios to the limits, and which limits the row exceeds.

    {Raises: ParameterError [left vectors], ParameterError [not orthogonal]}

    {See Also: outlier_limits, outlier_columns, eckart.plots.outlier_map}

    Notes
    -----
    T2 = sum_k t_ik^2 / lambda_k is the squared distance of row i from the centre within the subspace of the components,
    in units of the standard deviations of the scores. Q = ||x_i||^2 - sum_k t_ik^2 is its squared distance from that
    subspace.

    References
    ----------
    .. [1] J. E. Jackson and G. S. Mudholkar, "Control procedures for residuals associated with principal component
           analysis", Technometrics 21, 1979.

    {Examples: arrests}
    >>> [row[0] for row in ek.tables.outliers(d, only=True).rows]
    ['Alaska', 'Rhode Island', 'Mississippi', 'North Carolina']
    """
    found = distances(d, k, confidence)
    near = np.vstack([found.inside / found.inside_limit, found.outside / found.outside_limit])
    words = [_beyond(*pair) for pair in near.T.tolist()]
    numbers = (found.inside.tolist(), near[0].tolist(), found.outside.tolist(), near[1].tolist())
    lines = list(zip(row_labels(d), *numbers, words, strict=True))
    if only:
        order = np.argsort(-np.nan_to_num(near).max(axis=0), kind="stable")
        lines = [lines[i] for i in order.tolist() if words[i]]
    limits = f"Limits for fitted rows at {100 * confidence:g} %: {_limits_word(found)}."
    columns = ("row", "T2", "T2 / limit", "Q", "Q / limit", "beyond")
    kinds = ("text", "number", "number", "number", "number", "text")
    return Table("Outliers", columns, tuple(lines), f"{limits} {_by_chance(found, confidence)}", kinds)


@takes_fitted
def outlier_limits(d: Decomposition, *, k: int | None = None, confidence: float = 0.95) -> Table:
    """Tabulate the limits of T2 and Q for fitted rows and for new rows.

    Fitted rows lie closer to the components than new rows do, so the limits of Q are smaller for them. The limit of T2
    is smaller too if the components are well separated from the noise.

    {Parameters: d [PCA or SVD], k [model], confidence; Returns: Table}
        One row per statistic: its limit and how the limit is computed. If the decomposition does not contain the scores
        of its rows, only the limits for new rows are listed.

    {Raises: ParameterError [not orthogonal]; See Also: outliers}

    {Examples: arrests}
    >>> [(row[0], row[1], round(float(row[2]), 2)) for row in ek.tables.outlier_limits(d).rows]
    [('T2', 'fitted', 5.75), ('Q', 'fitted', 1.58), ('T2', 'new', 6.58), ('Q', 'new', 2.0)]
    """
    k = check_k(d, k)
    inside, outside = new_limits(d, k, confidence)
    nonzero = int(nonzero_components(d)[:k].sum())
    lines: list[tuple[Cell, ...]] = []
    if d.left is not None:
        found = distances(d, k, confidence)
        freedom = d.weight - (d.mean is not None)
        law = (
            f"Beta, {nonzero} and {freedom - nonzero:g} degrees of freedom"
            if math.isfinite(found.inside_limit)
            else TOO_FEW
        )
        lines += [("T2", "fitted", found.inside_limit, law), ("Q", "fitted", found.outside_limit, found.rule)]
    assumed = "" if _rule(d, k) != WHITE_NOISE else ", residual assumed to be white noise"
    rules = ("F, with rows held out", f"rows held out{assumed}")
    rules = rules if math.isfinite(inside) else (TOO_FEW, TOO_FEW)
    lines += [("T2", "new", inside, rules[0]), ("Q", "new", outside, rules[1])]
    kinds = ("text", "text", "number", "text")
    caption = f"The limits that {100 * confidence:g} % of normally distributed rows do not exceed."
    return Table("Limits", ("measure", "rows", "limit", "rule"), tuple(lines), caption, kinds)


@takes_fitted
def outlier_columns(d: Decomposition, row: int | str, *, values: object = None, k: int | None = None) -> Table:
    """Tabulate the contribution of each column to the T2 and Q of one row.

    Parameters
    ----------
    {d [with rows]}
    row : int or str
        Index of the row, counted from 0, or its name. If the names are whole numbers, an int is a name.
    values : array-like of shape (n_features,), default None
        The observed values of the row. They are needed for Q, unless all components were kept. Without them, T2 is
        divided among the columns of the reconstructed row.
    {k [model]}

    Returns
    -------
    Table
        Deviation of each column from its mean, and its parts of T2 and Q, largest first. The parts sum to T2 and Q.

    Raises
    ------
    ParameterError
        If there is no such row.

    {See Also: outliers}

    Notes
    -----
    Let x be the centred and scaled row, xhat its reconstruction, and t_a its score on component a with variance
    lambda_a. The T2 part of column j is x_j sum_a v_ja t_a / lambda_a, and its Q part is (x_j - xhat_j)^2.

    {Examples: arrests}
    >>> ek.tables.outlier_columns(d, "Alaska", values=arrests.values[1]).rows[0][0]
    'Rape'
    """
    check_orthogonal(d, "Parts of T2 and Q")
    return columns_of_row(d, place_of(d, row), values, check_k(d, k))


def columns_of_row(d: Decomposition, place: int, values: object, k: int) -> Table:
    """`outlier_columns` for the row at an index, whatever its name."""
    scores = row_scores(d, slice(place, place + 1))[0]
    right, nonzero = floats(d.right), nonzero_components(d)[:k]
    inside = right[:, :k] @ scores[:k]
    whole = whole_row(d, values, scores)
    pull = right[:, :k][:, nonzero] @ (scores[:k][nonzero] / floats(d.explained_variance)[:k][nonzero])
    shown = inside if whole is None else whole
    t2 = pull * shown
    q = np.full(d.columns, np.nan) if whole is None else (whole - inside) ** 2
    share = np.abs(t2) / (np.abs(t2).sum() or 1.0) + np.nan_to_num(q) / (np.nan_to_num(q).sum() or 1.0)
    order = np.argsort(-share, kind="stable")
    names = column_labels(d)
    lines = tuple((names[j], *(float(a[j]) for a in (shown, t2, q))) for j in order.tolist())
    caption = (
        "Deviation of each column from its mean (in standard deviations if the columns were scaled), "
        "and its contributions to T2 and Q."
    )
    if whole is None:
        caption += " To compute the Q part of each column, pass the row as `values`."
    return Table(
        f"Contributions of the columns to T2 and Q: {row_labels(d)[place]}",
        ("column", "deviation", "T2 part", "Q part"),
        lines,
        caption,
    )


def distances(d: Decomposition, k: int | None = None, confidence: float = 0.95) -> Distances:
    """T2, Q and their limits as arrays."""
    check_orthogonal(d, "T2 and Q")
    if not 0 < confidence < 1:
        raise ParameterError(f"confidence={confidence!r} is not a probability. Use a number between 0 and 1.")
    k = check_k(d, k)
    nonzero = nonzero_components(d)
    vectors = left_vectors(d)[:, :k][:, nonzero[:k]]
    inside = max(d.weight - 1.0, 1.0) * (vectors**2).sum(axis=1) / row_weights(d)
    outside = _residuals(d, k)
    limit, rule = _residual_limit(d, k, outside, confidence)
    alive, laws = int(nonzero[:k].sum()), gap_laws(d, k)
    inside_limit = t2_fitted(alive, d.weight, confidence, centred=d.mean is not None)
    inside_limit *= 1.0 if laws is None else laws.t2_factor(alive, confidence)
    return Distances(inside, outside, inside_limit, limit, rule)


def new_limits(d: Decomposition, k: int | None = None, confidence: float = 0.95) -> tuple[float, float]:
    """Limits of T2 and Q for new rows; NaN for Q if there is no residual."""
    check_orthogonal(d, "T2 and Q")
    k = check_k(d, k)
    (known, rule), laws = _spectrum(d, k, _known_residuals(d, k)), gap_laws(d, k)
    t2, q = new_row_limits(known, confidence)
    factors = factors_of_new_rows(d, k, known, confidence)
    t2, q = t2 * factors[0], q * factors[1]
    if laws is None:
        return t2, q * residual_noise(d, k)  # the noise of new rows is that of complete rows
    # New rows have gaps like the fitted ones.
    if math.isfinite(q):
        q *= known.mean_q * laws.q_factor(confidence, typical=rule == MOMENTS_OF_Q) / q_fitted(known, confidence)
    return t2 * laws.t2_factor(len(known.kept), confidence), q


def _residuals(d: Decomposition, k: int) -> Floats:
    """Q of each row: from the remaining components if all are known, otherwise from the length of the row."""
    scores = row_scores(d)
    if complete(d):
        return np.asarray((scores[:, k:] ** 2).sum(axis=1))
    lengths = row_distances(d)
    if lengths is None:
        return np.full(d.rows, np.nan)
    inside = np.sqrt((scores[:, :k] ** 2).sum(axis=1))
    return np.asarray(np.maximum(lengths - inside, 0.0) * (lengths + inside))


def _known_residuals(d: Decomposition, k: int) -> Floats | None:
    return None if d.left is None else _residuals(d, k)


def _rule(d: Decomposition, k: int) -> str:
    """How the variances left out are known."""
    return _spectrum(d, k, _known_residuals(d, k))[1]


def _residual_limit(d: Decomposition, k: int, outside: Floats, confidence: float) -> tuple[float, str]:
    if np.isnan(outside).all():
        return math.nan, "unknown: the lengths of the rows were not stored"
    if not math.isfinite(d.total_variance):
        return math.nan, "unknown: the squares of the numbers exceed the range of float64"
    if not np.any(outside > 1e-12 * (d.norm / max(d.weight, 1.0) ** 0.5) ** 2):
        return math.nan, "the components explain all of the variance"
    (known, rule), laws = _spectrum(d, k, outside), gap_laws(d, k)
    if known.freedom <= len(known.kept):
        return math.inf, TOO_FEW
    if laws is None:
        return q_fitted(known, confidence), rule
    limit = known.mean_q * laws.q_factor(confidence, typical=rule == MOMENTS_OF_Q)
    limit *= inflation(known, k) / inflation(known, k + 2.0 * laws.signal)
    return limit, f"{rule}, with missing values set to means"


def _exact(d: Decomposition) -> bool:
    """Whether the variances of all components are known."""
    return complete(d) and d.which == "largest"


def _spectrum(d: Decomposition, k: int, outside: Floats | None) -> tuple[Spectrum, str]:
    """The variances of all components, and how those that were not computed are known.

    They have the shape of white noise, with the sums of the variances and of their squares. If the latter is not known,
    or if outliers dominate Q, both sums follow from the Q of the fitted rows.
    """
    nonzero, variances, centred = nonzero_components(d), floats(d.explained_variance), d.mean is not None
    kept, following = variances[:k][nonzero[:k]], variances[k:][nonzero[k:]]
    if _exact(d):
        return spectrum(kept, following, d.weight, centred=centred), ALL_VARIANCES
    rest, divisor = svd_details(d).residual_schatten4, max(d.weight - 1.0, 1.0)
    total = max(d.total_variance - float(kept.sum() + following.sum()), 0.0)
    squares, rule = (
        (None, WHITE_NOISE) if rest is None else (float(np.float64(rest / divisor**0.5) ** 4), SUMS_OF_SQUARES)
    )
    found = None if outside is None else _sums_from_rows(d, outside)
    if found is not None and (squares is None or found[2] > _DOMINATED):
        total, squares, following, rule = found[0], found[1], following[:0], MOMENTS_OF_Q
    known = np.concatenate([kept, following])
    free = (max(d.weight - centred - len(known), 1.0), float(d.columns - len(known)))
    count, ratio = max(int(min(free)), 0), min(free) / max(free)
    if d.which == "smallest":  # all others are larger: what exceeds the largest known one is modelled
        floor = float(known.max(initial=0.0))
        squares = None if squares is None else max(squares - 2.0 * floor * total + count * floor**2, 0.0)
        others = floor + modelled(total - count * floor, squares, count, ratio, math.inf)
    else:
        others = modelled(total, squares, count, ratio, float(known.min(initial=math.inf)))
    return spectrum(kept, np.concatenate([following, others]), d.weight, centred=centred), rule


_SQUARABLE = 1e150
"""Sums of variances up to this have a finite square."""


def _sums_from_rows(d: Decomposition, outside: Floats) -> tuple[float, float, float] | None:
    """Sums of the variances left out and of their squares from Q without clear outliers, and the share of those.

    E Q = (n - 1) c theta_1 / f and E Q^2 = ((n - 1) c)^2 (theta_1^2 + 2 theta_2) / (f (f + 2)), where a row's left
    vectors are uniform on a sphere of squared radius c in f dimensions, theta_i = sum of l_a^i left out.
    """
    centred = d.mean is not None
    if not np.isfinite(outside).all() or not np.any(outside > 0) or d.weight <= 1:
        return None
    freedom, radius = d.weight - centred, (d.weight - 1) * ((d.weight - 1) / d.weight if centred else 1.0)
    mean, mean_square, outlying = typical_moments(outside, row_weights(d))
    total = mean * freedom / radius
    if total > _SQUARABLE or not np.isfinite(mean_square):
        return None
    return total, max((mean_square * freedom * (freedom + 2) / radius**2 - total**2) / 2, 0.0), outlying


def whole_row(d: Decomposition, values: object, scores: Floats) -> Floats | None:
    """A row in the units of the fit: from its values, or from its scores if the components explain everything."""
    if values is not None:
        return standardized(d, values)
    return floats(d.right) @ scores if complete(d) else None


def standardized(d: Decomposition, values: object) -> Floats:
    x = np.asarray(values, dtype=np.float64).ravel()
    if x.shape != (d.columns,):
        raise ParameterError(f"The row has {counted(x.size, 'value')}, but the decomposition has {d.columns} columns.")
    x = x if d.mean is None else x - floats(d.mean)
    return x if d.scale is None else x / floats(d.scale)


def place_of(d: Decomposition, row: int | str) -> int:
    names = row_labels(d)
    if isinstance(row, str):
        if row not in names:
            raise ParameterError(f"There is no row {row!r}. Rows are named {names[0]!r} to {names[-1]!r}.")
        return names.index(row)
    if (named := place_by_number(int(row), d.row_names, "row")) is not None:
        return named
    if not -d.rows <= row < d.rows:
        raise ParameterError(f"row={row!r} does not exist. Use an index from 0 to {d.rows - 1}.")
    return int(row) % d.rows


def _beyond(t2: float, q: float) -> Cell:
    return " and ".join(word for word, value in (("T2", t2), ("Q", q)) if value > 1)


def _limits_word(found: Distances) -> str:
    """'T2 5.747, Q 1.576 (all variances)'; 'none' where there is no limit."""
    inside = f"{found.inside_limit:.4g}" if math.isfinite(found.inside_limit) else f"none ({TOO_FEW})"
    outside = f"{found.outside_limit:.4g}" if math.isfinite(found.outside_limit) else "none"
    return f"T2 {inside}, Q {outside} ({found.rule})"


def _by_chance(found: Distances, confidence: float) -> str:
    """How many rows exceed the limits that there are, if all rows are normally distributed."""
    limits = [limit for limit in (found.inside_limit, found.outside_limit) if math.isfinite(limit)]
    if not limits:
        return "Without limits, no row counts as an outlier."
    which = "each limit" if len(limits) == 2 else "the limit"
    rows, expected = len(found.inside), (1 - confidence) * len(found.inside)
    return f"By chance, {about(expected)} of {rows:,} rows exceed {which}."


def about(expected: float) -> str:
    """'about 3', 'fewer than 1': a mean number of rows."""
    return f"about {max(round(expected), 1):,}" if expected >= 0.5 else "fewer than 1"
