"""The input of the rules: shares of the components, and the table itself if it is given.

With B the centred and scaled matrix and l its squared singular values, decreasing: shares = l / ||B||^2.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from eckart.arrays import Matrix, from_numpy, to_numpy
from eckart.components.find import find_components
from eckart.details import SVDDetails
from eckart.engine.backends.symmetric import leading_pairs, leading_values
from eckart.engine.finite import refuse_not_finite
from eckart.engine.leading import leading
from eckart.engine.matrix import Opened
from eckart.engine.standardize.moments import Moments
from eckart.engine.standardize.problem import Problem, standardize
from eckart.errors import ParameterError
from eckart.rank.density import with_estimated
from eckart.rank.remainder import Remainder
from eckart.rank.white import white_falls
from eckart.result import Decomposition

WHOLE = 3000
"""Up to this shorter side all singular values are computed, from the matrix of cross-products."""
LARGEST_DENSE = 4_000_000
"""Tables of up to this many entries are tested entry by entry; sparse ones become dense."""
_EXACT = 400
_LEADING = 40
_STEEP = 3.0
_ROUNDING = 1e-13
"""Eigenvalues up to this share of the variance count as rounding."""
_SIMULATED = 150
"""Up to this many eigenvalues, those of white noise are simulated."""


@dataclass(frozen=True)
class Options:
    """Options of the rules."""

    explain: float = 0.9
    noise: float | None = None
    level: float = 0.99
    repeats: int | None = None
    most: int | None = None
    seed: int = 0


@dataclass(frozen=True)
class Evidence:
    """A matrix as rules see it. `ratios` are complete if `whole`; `right` contains the leading vectors."""

    rows: int
    columns: int
    center: bool
    scale: bool
    norm: float
    ratios: np.ndarray
    whole: bool
    right: np.ndarray
    column_ratios: np.ndarray | None = None
    """Sum of squares of each column of B, as a share of all."""
    opened: Opened | None = None
    moments: Moments | None = None
    known: int | None = None
    """Number of computed shares; the others are estimated."""
    options: Options = field(default_factory=Options)

    @property
    def free_rows(self) -> int:
        """Number of rows, minus one if means were subtracted."""
        return self.rows - 1 if self.center else self.rows

    @property
    def short(self) -> int:
        """How many singular values there can be."""
        return max(min(self.free_rows, self.columns), 1)

    @property
    def most(self) -> int:
        """The largest number of components considered."""
        return max(1, min(self.options.most or _LEADING, self.short - 1))

    def falls(self, factor: float) -> np.ndarray:
        """The numbers of components after which the eigenvalues fall to less than 1 / factor, in increasing order.

        Eigenvalues of noise fall gently, except for the last quarter. There they must fall more steeply than those of
        white noise, whichever earlier fall ends the components.
        """
        known, gentle = self.ratios[: self.known], 3 * self.short // 4
        # Eigenvalues within rounding are not noise: a constant column, or a table of exactly low rank.
        real = int(np.count_nonzero(known > _ROUNDING))
        steep = (np.flatnonzero(known[: max(real - 1, 0)] > factor * known[1 : max(real, 1)]) + 1).tolist()
        if 0 < real <= min(gentle, len(known) - 1):
            steep.append(real)
        found = [fall for fall in steep if fall <= gentle]
        late = steep[len(found) :] if self.short <= _SIMULATED else []
        found += [fall for fall in late if self._exceeds_white(fall, [k for k in (0, *steep) if k < fall])]
        return np.asarray(found, dtype=np.intp)

    def _exceeds_white(self, fall: int, before: list[int]) -> bool:
        """Whether the fall is steeper than those of white noise after any number of components in `before`."""
        ratio = self.ratios[fall - 1] / max(float(self.ratios[fall]), 1e-300)
        return all(ratio > white_falls(self.free_rows - k, self.columns - k)[fall - k - 1] for k in before)

    def falls_beyond(self, k: int) -> int | None:
        """The number of components before a steep fall beyond component k, which a rule that stops at k misses."""
        falls = self.falls(_STEEP)
        return int(falls[-1]) if falls.size and falls[-1] > k else None

    def rng(self, rule: int) -> np.random.Generator:
        """Separate random numbers for each rule, independent of the rules applied before."""
        return np.random.Generator(np.random.Philox(key=[self.options.seed, rule]))

    def repeats(self, fewest: int, most: int) -> int:
        """Number of draws: many for small tables, at least `fewest` for large ones."""
        if self.options.repeats is not None:
            return self.options.repeats
        return int(np.clip(20_000_000 // (self.rows * self.columns), fewest, most))

    @cached_property
    def table(self) -> Matrix:
        """The table on the host, scaled but not centred: an array, or CSR. Its rows are sorted unless it is large."""
        assert self.opened is not None
        assert self.moments is not None
        matrix = self.opened.matrix
        if matrix.sparse:
            scaled = (matrix if self._scale is None else matrix.scaled_columns(1.0 / self._scale)).matrix
            return scaled[self._order] if self.has_table else scaled
        table = np.ldexp(to_numpy(matrix.matrix).astype(matrix.precision, copy=False), self.opened.exponent)
        table = table[self._order] if self.has_table else table
        return table if self._scale is None else table / self._scale.astype(table.dtype)

    @property
    def _order(self) -> np.ndarray:
        """The lexicographic order of the rows, so that no rule depends on the given order.

        Multiplying the table by a positive number, shifting its columns or changing its precision does not change it.
        """
        assert self.opened is not None
        given = self.opened.matrix.matrix
        rows = np.ascontiguousarray(given.toarray() if self.sparse else to_numpy(given), dtype=np.float64)
        bits = (rows + 0.0).view(np.int64)  # + 0.0 makes -0.0 the same as 0.0
        # Bit patterns in the order of the floats: all bits inverted if negative, otherwise the sign bit. Bytes are
        # compared from the first, so the most significant one comes first.
        keys = np.where(bits < 0, ~bits, bits ^ np.iinfo(np.int64).min).astype(">i8")
        return np.argsort(keys.view(np.dtype((np.void, keys.shape[1] * keys.itemsize))).ravel(), kind="stable")

    @property
    def given_order(self) -> np.ndarray:
        """The place of each given row among the sorted rows."""
        return np.argsort(self._order, kind="stable")

    @property
    def _scale(self) -> np.ndarray | None:
        """The scales of the columns in the units of the opened matrix."""
        assert self.opened is not None
        assert self.moments is not None
        scale = self.moments.scale
        return None if scale is None else np.ldexp(scale, self.opened.exponent - np.asarray(self.moments.exponent))

    @property
    def sparse(self) -> bool:
        return self.opened is not None and bool(self.opened.matrix.sparse)

    @cached_property
    def centred(self) -> np.ndarray:
        """B as a dense array."""
        table = self.table.toarray() if self.sparse else self.table
        return np.asarray(table - table.mean(axis=0)) if self.center else np.asarray(table)

    @property
    def has_table(self) -> bool:
        """Whether the entries of the centred table are available."""
        small = self.rows * self.columns <= LARGEST_DENSE
        return small and self.opened is not None and bool(self.opened.matrix.resident)

    def largest_row(self, place: int) -> float:
        """The largest share of a component's sum of squares that one row has."""
        return float(np.max(self._left[:, place] ** 2))

    def largest_rows(self, place: int, count: int) -> list[float]:
        """The largest shares of a component's sum of squares that 1, 2, ... `count` rows have together."""
        squares = self._left[:, place] ** 2
        count = min(count, len(squares))
        return [float(share) for share in np.cumsum(np.sort(np.partition(squares, -count)[-count:])[::-1])]

    def copied_rows(self) -> int:
        """Number of rows equal to another row; 0 if no column has as many values as there are different rows.

        Rows of answers or counts may agree by chance. The rows are sorted, so copies are neighbours.
        """
        same = np.all(self.centred[1:] == self.centred[:-1], axis=1)
        copies = int(same.sum())
        if not copies:
            return 0
        different = np.sort(self.centred[np.append(True, ~same)], axis=0)
        return copies if np.all(different[1:] > different[:-1], axis=0).any() else 0

    @cached_property
    def _left(self) -> np.ndarray:
        """Left vectors of the leading components."""
        images = self.centred.astype(np.float64, copy=False) @ self.right
        return np.asarray(images / np.maximum(np.linalg.norm(images, axis=0), 1e-300))

    def remainder(self, k: int) -> Remainder:
        """The residual of B after k components."""
        whole = self.centred.astype(np.float64, copy=False)
        return Remainder(whole, self._left[:, :k], self.right[:, :k], self.center, self.short - k)

    @cached_property
    def unit(self) -> float:
        """||B||^2 in the units of `table`."""
        assert self.opened is not None
        assert self.moments is not None
        step = 0 if self.moments.scale is not None else self.opened.exponent - self.moments.unit
        return float(np.ldexp(self.moments.total, 2 * step))


def _rank_limit(rows: int, columns: int, *, center: bool) -> int:
    """The largest rank a table can have, at least 1."""
    return max(min(rows - 1 if center else rows, columns), 1)


def _column_shares(d: Decomposition, right: np.ndarray, ratios: np.ndarray, *, whole: bool) -> np.ndarray | None:
    """Shares of the columns in the total, from the lengths that the model stores or from all components."""
    lengths = d.details.column_norms if isinstance(d.details, SVDDetails) else None
    if lengths is not None and d.norm > 0.0:
        return (to_numpy(lengths).astype(np.float64) / d.norm) ** 2
    if not whole or right.shape != (d.columns, len(ratios)):
        return None
    shares = right**2 @ ratios
    return np.where(shares <= _ROUNDING**2, 0.0, shares)


def of_decomposition(d: Decomposition, options: Options) -> Evidence:
    """The evidence from a decomposition alone."""
    if d.which == "smallest":
        raise ParameterError(
            "The decomposition contains the smallest components, but the rules need the largest. "
            "Decompose the largest components instead."
        )
    right = to_numpy(d.right).astype(np.float64)
    ratios = to_numpy(d.explained_variance_ratio).astype(np.float64)
    center = d.mean is not None
    rows = max(round(d.weight), 1)  # a row of weight 2 counts as two rows
    whole = len(ratios) >= _rank_limit(min(rows, d.rows), d.columns, center=center)
    shares = _column_shares(d, right, ratios, whole=whole)
    varying = np.ones(d.columns, dtype=bool) if shares is None or not shares.any() else shares > 0.0
    columns, right = int(varying.sum()), right[varying] if len(right) == d.columns else right
    if center and d.scale is not None:
        shares = np.full(columns, 1.0 / columns)  # scaled columns have equal variances
    elif shares is not None:
        shares = shares[varying]
    short = _rank_limit(rows, columns, center=center)
    return Evidence(
        rows, columns, center, d.scale is not None, d.norm, ratios[:short], whole, right, shares, options=options
    )  # fmt: skip


def of_kernel(d: Decomposition, options: Options) -> Evidence:
    """Shares of a decomposition of a kernel or of distances between rows: one component fewer than rows."""
    ratios = to_numpy(d.explained_variance_ratio).astype(np.float64)
    nothing = np.zeros((d.columns, 0))
    return Evidence(
        d.rows, d.rows, True, False, d.norm, ratios, len(ratios) >= d.rows - 1, nothing, options=options
    )  # fmt: skip


def needed(rows: int, columns: int, options: Options, *, center: bool) -> int:
    """Number of components that the rules need for a table in memory: all if there are few, else the leading ones."""
    short = _rank_limit(rows, columns, center=center)
    return short if short <= _EXACT else min(short, 2 * (options.most or _LEADING) + 1)


def _first_components(
    data: object, opened: Opened, k: int, known: Decomposition | None, options: Options, *, center: bool, scale: bool
) -> Decomposition:
    """The leading k components: those of `known` if it has them."""
    if known is not None and known.k >= k and known.which == "largest":
        return leading(known, k)
    given = opened.matrix.matrix if opened.matrix.resident else data
    method = "pca" if center else "svd"
    return find_components(given, method, k=k, center=center, scale=scale, rng=options.seed)  # type: ignore[arg-type]


def of_data(
    data: object, opened: Opened, options: Options, *, center: bool, scale: bool, known: Decomposition | None = None
) -> Evidence:
    """The moments in one pass, the leading components, and all singular values if there are few enough.

    `known` is a decomposition of the same table; it is used if it has the components that the rules need.
    """
    rows, columns = opened.matrix.shape
    short = max(min(rows - 1 if center else rows, columns), 1)
    few = needed(rows, columns, options, center=center)
    if not opened.matrix.resident and columns <= min(rows, WHOLE):
        return _of_blocks(opened, options, center=center, scale=scale)
    d = _first_components(data, opened, few, known, options, center=center, scale=scale)
    moments = _moments(opened, d, center=center, scale=scale)
    ratios = to_numpy(d.explained_variance_ratio).astype(np.float64)
    whole = few == short
    if not whole and short <= WHOLE:
        ratios, whole = _all_ratios(opened, d, center=center, scale=scale)[:short], True
    elif not whole and opened.matrix.resident:
        ratios, whole = _estimated_ratios(opened, d, options, short, center=center, scale=scale), True
    squares = moments.in_units(moments.squares)
    return Evidence(
        rows, columns, center, scale, d.norm, ratios, whole, to_numpy(d.right).astype(np.float64),
        squares / max(float(squares.sum()), 1e-300), opened, moments, few if short > max(WHOLE, few) else None, options,
    )  # fmt: skip


def _of_blocks(opened: Opened, options: Options, *, center: bool, scale: bool) -> Evidence:
    """Rows read in blocks: the moments, all singular values and the components from one pass."""
    rows, columns = opened.matrix.shape
    shift = np.mean(opened.matrix.sample(), axis=0) if center and not opened.matrix.sparse else None
    problem = standardize(opened.matrix.precise(), center=center, scale=scale, shift=shift, exponent=opened.exponent)
    gram, moments = to_numpy(problem.first(gram=True)), problem.moments
    if not np.isfinite(gram).all():
        refuse_not_finite(opened.matrix, opened.metadata)
    short = max(min(rows - 1 if center else rows, columns), 1)
    values, right = leading_pairs(gram, columns)
    values = np.maximum(values, 0.0)
    total = max(float(values.sum()), 1e-300)
    squares = moments.in_units(moments.squares)
    norm = float(np.ldexp(np.sqrt(moments.total), -moments.unit))
    return Evidence(
        rows, columns, center, scale, norm, values[:short] / total, True, right[:, :short],
        squares / max(float(squares.sum()), 1e-300), opened, moments, None, options,
    )  # fmt: skip


def _standardized(opened: Opened, d: Decomposition, *, center: bool, scale: bool) -> Problem:
    shift = None
    if d.mean is not None and not opened.matrix.sparse:
        shift = from_numpy(np.ldexp(to_numpy(d.mean).astype(np.float64), opened.exponent), opened.matrix.prototype)
    return standardize(opened.matrix.precise(), center=center, scale=scale, shift=shift, exponent=opened.exponent)


def _moments(opened: Opened, d: Decomposition, *, center: bool, scale: bool) -> Moments:
    return _standardized(opened, d, center=center, scale=scale).moments


def _estimated_ratios(
    opened: Opened, d: Decomposition, options: Options, short: int, *, center: bool, scale: bool
) -> np.ndarray:
    known = to_numpy(d.explained_variance_ratio).astype(np.float64)
    problem = _standardized(opened, d, center=center, scale=scale)
    operator, total = problem.operator, problem.moments.total
    rng = np.random.Generator(np.random.Philox(key=[options.seed, 7]))
    return with_estimated(known * total, operator, short, total, rng) / max(total, 1e-300)


def _all_ratios(opened: Opened, d: Decomposition, *, center: bool, scale: bool) -> np.ndarray:
    gram = to_numpy(_standardized(opened, d, center=center, scale=scale).first(gram=True))
    values = np.maximum(leading_values(gram, gram.shape[0]), 0.0)
    return np.asarray(values / max(float(values.sum()), 1e-300))
