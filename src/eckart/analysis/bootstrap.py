"""How far loadings and shares would move with other rows: the decomposition again, many times, of rows drawn anew.

A draw of n rows with replacement is the same data with other weights, so every repetition is `decompose` with
`sample_weight`. Components are paired with those of the fit by the largest cosines, and given its signs.

Components of similar variance rotate into each other from draw to draw, and from sample to sample: only the space that
they span is determined. Neighbours whose variances differ by less than three standard errors of the difference (normal
rows: var log l = 2 / n each) form a group; within a group the space of a draw is compared with that of the fit, and its
basis is rotated onto the fit's (Procrustes). Its loadings hold for the fit's basis of that space.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, cast

import numpy as np

from eckart.analysis.labels import column_labels, component_labels
from eckart.analysis.measures import floats
from eckart.api import decompose
from eckart.arrays import is_array, is_sparse
from eckart.engine.matrix import open_matrix
from eckart.engine.rows import RowBlocks
from eckart.engine.settings import check_weights, generator
from eckart.errors import EckartWarning, InputError, ParameterError
from eckart.fitted import decomposition_of, is_model
from eckart.registry import get_method
from eckart.result import Decomposition
from eckart.text import Cell, Table

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Matrix = NDArray[np.float64]


_APART = 3.0
"""Standard errors between the variances of components that can be told from each other."""
_SURE = 0.99


@dataclass(frozen=True)
class Bootstrap:
    """The fit, and what repetitions of it gave: values of the fit's axes, paired and turned to its signs."""

    decomposition: Decomposition
    right: Matrix
    """Repetitions x columns x k."""
    explained_variance_ratio: Matrix
    """Repetitions x k, in order of size, not paired: the share of the first axis, of the second, ..."""
    cosines: Matrix
    """Repetitions x k: cosine between an axis and its partner, without its sign."""
    indices: NDArray[np.intp]
    """Repetitions x k: which place the partner of an axis had."""
    confidence: float
    groups: tuple[tuple[int, ...], ...] = ()
    """Components that cannot be told from each other, counted from 0; each group was rotated as a whole."""

    def loadings(self) -> Table:
        """Percentile intervals of the loadings; 'sure' where the interval leaves out 0."""
        d = self.decomposition
        low, high = self._ends(self.right)
        surely = self._ends(self.right, max(self.confidence, _SURE))
        lines: list[tuple[Cell, ...]] = [
            (
                column,
                component,
                *(float(a[j, k]) for a in (floats(d.right), low, high)),
                _sure(surely[0][j, k], surely[1][j, k]),
            )
            for k, component in enumerate(component_labels(d))
            for j, column in enumerate(column_labels(d))
        ]
        header = ("column", "component", "loading", "lower", "upper", "sign")
        kinds = ("text", "text", "number", "number", "number", "text")
        caption = f"{self._intervals()} The sign is sure where the 99 % interval leaves out 0.{self._grouped()}"
        return Table("Loadings, bootstrapped", header, tuple(lines), caption, kinds)

    def components(self) -> Table:
        """Percentile intervals of the shares, and how well each axis is found again."""
        d = self.decomposition
        low, high = self._ends(self.explained_variance_ratio)
        same = (self.indices == np.arange(d.k)).mean(axis=0)
        numbers = np.column_stack([floats(d.explained_variance_ratio), low, high, self.cosines.mean(axis=0), same])
        lines = tuple((name, *line) for name, line in zip(component_labels(d), numbers.tolist(), strict=True))
        header = ("component", "share", "lower", "upper", "|cosine|", "same place")
        kinds = ("text", "percent", "percent", "percent", "number", "percent")
        caption = f"{self._intervals()} |cosine|: mean with the axis found again, 1 when it does not move at all. "
        return Table(
            "Axes, bootstrapped", header, lines, caption + "Leading shares of a draw tend to be a little high.", kinds
        )

    def _grouped(self) -> str:
        if not self.groups:
            return ""
        names = component_labels(self.decomposition)
        listed = "; ".join(f"{names[group[0]]} to {names[group[-1]]}" for group in self.groups)
        return f" Only the space of {listed} is determined: loadings there are those of this basis of it."

    def _ends(self, drawn: Matrix, confidence: float | None = None) -> tuple[Matrix, Matrix]:
        """Percentiles; tails as thin as those of Student's t, since draws vary less than samples (Hesterberg, 2015)."""
        from scipy.special import ndtr, stdtrit

        tail = (1 - (self.confidence if confidence is None else confidence)) / 2
        freedom = max(self.decomposition.weight - 1.0, 1.0)
        tail = float(ndtr((1 + 1 / freedom) ** 0.5 * stdtrit(freedom, tail)))
        low, high = np.quantile(drawn, [tail, 1 - tail], axis=0)
        return low, high

    def _intervals(self) -> str:
        draws = len(self.explained_variance_ratio)
        return f"{100 * self.confidence:g} % of {draws:,} draws of the rows lie between lower and upper."


def bootstrap(
    data: Any,
    method: Literal["pca", "svd"] = "pca",
    *,
    count: int = 500,
    confidence: float = 0.95,
    sample_weight: Any = None,
    rng: Any = None,
    rows: Any = None,
    **options: Any,
) -> Bootstrap:
    """Intervals of loadings and shares under redrawing of the rows.

    Parameters
    ----------
    data : anything `decompose` takes, a Decomposition, or a fitted estimator
        Data must fit into memory. A model gives method, k, center and scale, and needs its data as `rows`.
    method : "pca" or "svd"
        What is repeated.
    count : int
        Repetitions.
    confidence : float
        Of the intervals.
    sample_weight : array of shape (rows,), optional
        How often each row counts; it multiplies the times that a row is drawn.
    rng : int or numpy.random.Generator, optional
        Seed of the draws; the default is a fixed one.
    rows : anything `decompose` takes, optional
        With a model: the data that it was fitted on.
    **options
        Those of `decompose`: k, explain or error, scale, center. Columns are centred and scaled anew in each draw.

    Examples
    --------
    >>> import eckart as ek
    >>> arrests = ek.datasets.load("usarrests")
    >>> found = ek.bootstrap(arrests.values, k=2, scale=True, count=200)
    >>> table = found.components().to_pandas()
    >>> bool(table["lower"].iloc[0] < 0.62 < table["upper"].iloc[0])
    True
    """
    if is_model(data):
        d = decomposition_of(data)
        if rows is None:
            raise ParameterError("A model does not keep its data: give them too, bootstrap(model, rows=data).")
        fitted = {"k": d.k, "center": d.mean is not None, "scale": d.scale is not None}
        data, method, options = rows, cast("Literal['pca', 'svd']", d.method), fitted | options
    if not get_method(method).orthogonal:
        raise ParameterError(f"method={method!r} cannot be bootstrapped here; it is 'pca' or 'svd'.")
    if count < 2 or not 0 < confidence < 1:
        raise ParameterError(f"count={count!r}, confidence={confidence!r}: at least 2 draws, and a share below 1.")
    opened = open_matrix(data)
    if not isinstance(opened.matrix, RowBlocks):
        raise InputError("The data lie on disk; drawing rows anew needs them in memory. Take a sample of the rows.")
    rows = opened.matrix.shape[0]
    weights = check_weights(sample_weight, rows)
    matrix = data if is_array(data) or is_sparse(data) else opened.matrix.matrix
    first = decompose(data, method, sample_weight=weights, **options)
    again = {name: value for name, value in options.items() if name not in ("k", "explain", "error", "left")}
    _, random = generator(rng)
    groups = close_groups(first)
    drawn = [_draw(first, groups, matrix, method, weights, random, again) for _ in range(count)]
    right, shares, cosines, indices = (np.array(part) for part in zip(*drawn, strict=True))
    kept = tuple(tuple(i for i in group if i < first.k) for group in groups)
    return Bootstrap(first, right, shares, cosines, indices, float(confidence), tuple(g for g in kept if len(g) > 1))


def close_groups(d: Decomposition) -> tuple[tuple[int, ...], ...]:
    """Runs of neighbours whose variances differ by less than three standard errors of the difference of logarithms."""
    logarithms = np.log(np.maximum(floats(d.explained_variance), 1e-300))
    limit = _APART * 2.0 / max(d.weight, 1.0) ** 0.5
    groups: list[list[int]] = [[0]] if d.k else []
    for i in range(1, d.k):
        if logarithms[i - 1] - logarithms[i] < limit:
            groups[-1].append(i)
        else:
            groups.append([i])
    return tuple(tuple(group) for group in groups if len(group) > 1)


def rotated_groups(wanted: Matrix, found: Matrix, groups: tuple[tuple[int, ...], ...]) -> Matrix:
    """`found` with each group's columns rotated onto the wanted ones: min ||wanted - found R||, R orthogonal."""
    result = found.copy()
    for group in groups:
        columns = list(group)
        left, _, right = np.linalg.svd(found[:, columns].T @ wanted[:, columns])
        result[:, columns] = found[:, columns] @ (left @ right)
    return result


def _draw(
    first: Decomposition,
    groups: tuple[tuple[int, ...], ...],
    matrix: Any,
    method: Literal["pca", "svd"],
    weights: NDArray[np.float64] | None,
    random: np.random.Generator,
    options: dict[str, Any],
) -> tuple[Matrix, Matrix, Matrix, NDArray[np.intp]]:
    """One repetition, its axes paired with those of the first fit."""
    rows = matrix.shape[0]
    times = np.zeros(rows)
    while np.count_nonzero(times) < min(2, rows):
        times = random.multinomial(rows, np.full(rows, 1 / rows)).astype(np.float64)
        times = times if weights is None else times * weights
    distinct = int(np.count_nonzero(times))
    # A few axes more, so that one that lost its place can still be found.
    k = min(first.k + 3, distinct, first.columns)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EckartWarning)
        d = decompose(matrix, method, k=k, sample_weight=times, **options)
    right, shares = floats(d.right), floats(d.explained_variance_ratio)
    if k < first.k:  # few different rows were drawn: the other axes carry nothing
        right = np.hstack([right, np.zeros((first.columns, first.k - k))])
        shares = np.append(shares, np.zeros(first.k - k))
    indices, signs, cosines = pair(floats(first.right), right)
    paired = rotated_groups(floats(first.right), right[:, indices] * signs, groups)
    return paired, shares[: first.k], cosines, indices


def pair(wanted: Matrix, found: Matrix) -> tuple[NDArray[np.intp], Matrix, Matrix]:
    """For each wanted axis the found one that makes the sum of squared cosines largest; its sign; its size."""
    from scipy.optimize import linear_sum_assignment

    cosines = wanted.T @ found
    _, indices = linear_sum_assignment(-(cosines**2))
    chosen = cosines[np.arange(len(indices)), indices]
    return indices, np.where(chosen < 0, -1.0, 1.0), np.minimum(np.abs(chosen), 1.0)


def _sure(low: float, high: float) -> str:
    return "sure" if low > 0 or high < 0 else ""
