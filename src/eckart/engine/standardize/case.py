"""Shared by all cases of a standardised matrix: the data, the results of the first pass, and the error bounds."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from eckart.arrays import Array, astype, from_numpy, namespace, to_numpy
from eckart.engine.backends.select import backend_of
from eckart.engine.blocks.stacked import StackedBlocks
from eckart.engine.exponent import safe_exponent, safe_exponents
from eckart.engine.measured import pack, product_and_squares
from eckart.engine.operator import MomentsAndProduct, Operator
from eckart.engine.prepare import TOGETHER
from eckart.engine.rows import RowBlocks
from eckart.engine.standardize import rounding
from eckart.engine.standardize.moments import Moments, Units, describe
from eckart.engine.standardize.rounding import DEVIATIONS, ENTRY, deviation_of_sum, euclidean, gamma
from eckart.engine.standardize.small import Materialized, materialize
from eckart.engine.transformed import Wrapped
from eckart.forwarding import forwarded
from eckart.notes import Note

Given = RowBlocks | StackedBlocks
RANGE = {"float32": (2.0**-80, 2.0**100), "float64": (2.0**-300, 2.0**300)}
"""Sums of squares of columns whose products neither overflow nor lose digits."""
_SMALL = -60
"""Logarithm of the size of constant columns relative to others that are out of range."""
AMPLIFIED = 4e4
"""Columns whose raw sum of squares exceeds that about the mean by more than this are shifted again."""


class Case:
    """A problem; a subclass defines the first pass."""

    center: bool
    scale: bool

    transposed = False

    def __init__(
        self, given: Given, *, center: bool, scale: bool, shift: Array | None = None, exponent: int = 0, ddof: int = 1
    ) -> None:
        self.center, self.scale = center, scale
        self._units = Units(exponent, 0 if scale else exponent, ddof)
        self._given = given
        # All precisions that use c must subtract the same number.
        self._shift = None if shift is None else astype(shift, getattr(namespace(given.prototype), given.precision))
        self._operator: Operator | None = None
        self._moments: Moments | None = None
        self._arriving: Callable[[], Moments] | None = None
        """Moments not requested yet: on a device their sums may still be running."""
        self._constant = np.zeros(0, int)
        self.row_squares: np.ndarray | None = None

    # The data

    data: ClassVar[forwarded[Given]] = forwarded("_given")
    precision: ClassVar[forwarded[str]] = forwarded("_given.precision")
    passes: ClassVar[forwarded[int]] = forwarded("_given.passes")
    notes: ClassVar[forwarded[tuple[Note, ...]]] = forwarded("_given.counter.notes")
    prototype: ClassVar[forwarded[Array]] = forwarded("_given.prototype")
    sparse: ClassVar[forwarded[bool]] = forwarded("_given.sparse")

    @property
    def shape(self) -> tuple[int, int]:
        rows, columns = self._given.shape
        return (columns, rows) if self.transposed else (rows, columns)

    @property
    def weights(self) -> np.ndarray | None:
        roots = self._given.weight_roots
        return None if roots is None else to_numpy(roots) ** 2

    @property
    def workbench(self) -> Array:
        return self.prototype if isinstance(self._given, RowBlocks) else self._given.reading.transfer.prototype

    @property
    def tile(self) -> int:
        operator: Any = self.operator
        while isinstance(operator, Wrapped):
            operator = operator.base
        return operator.tile if isinstance(operator, RowBlocks) else 1

    def note(self, step: int, lower: float, upper: float) -> None:
        if isinstance(self._given, StackedBlocks):
            self._given.reading.note(step, lower, upper)

    # The first pass

    def first(self, right: Array | None = None, *, gram: bool = False) -> Array | None:
        """The first pass, repeated if columns were out of range or if c was so far off that digits were lost."""
        product = self._first(right, gram=gram)
        while self._arriving is None and self._change_units():
            product = self._first(right, gram=gram)
        again = self._better_shift()
        if again is not None:
            self._shift = again
            product = self._first(right, gram=gram)
        return product

    def _first(self, right: Array | None, *, gram: bool) -> Array | None:
        raise NotImplementedError

    def _change_units(self) -> bool:
        """Change the powers of two if squares may have left the range; return whether anything changed.

        The data are opened with a power of two that suits a sample of them. Columns divided by their deviations
        need one each, and B needs one of its own if columns keep their units.
        """
        moments = self.moments
        if isinstance(self._units.exponent, int) and self._out_of_range(moments) and self._take_exponents():
            return True
        unit = -int(moments.size) if self.scale and not -100.0 < moments.size < 100.0 else 0
        if not self.scale or unit == self._units.unit or abs(unit - self._units.unit) <= 2:
            return False
        self._units = replace(self._units, unit=unit)
        return True

    def _out_of_range(self, moments: Moments) -> bool:
        """Whether nonzero sums of squares are outside the safe range of the products."""
        low, high = RANGE[self.precision]
        outside = ~((low < moments.raw) & (moments.raw < high))
        if not self.scale and low < np.delete(moments.raw, moments.constant).max(initial=0.0) < high:
            return False
        outside[moments.constant] = False  # masks: sets of millions of columns take seconds
        found = np.flatnonzero(outside)
        return bool(found.size and (self._given.constant_columns(found).size < found.size or not self.center))

    def _take_exponents(self) -> bool:
        """Set the power of two for all columns, or for each scaled column, from the largest entry.

        Return whether it is new.

        Constant columns are zero once centred, so they must not determine it: they get one that makes them small.
        """
        largest, precision = self._given.largest_of_columns(), str(self._given.precision)
        if self.scale:
            exponents = safe_exponents(largest, precision)
        else:
            constant = self._given.constant_columns(np.arange(len(largest))) if self.center else np.zeros(0, int)
            weighted = self._weighted_exponent()
            unweighted = safe_exponent(float(np.delete(largest, constant).max(initial=0.0)), precision)
            unit = unweighted if weighted is None else weighted
            exponents = np.full(len(largest), unit)
            exponents[constant] = _SMALL - np.frexp(largest[constant])[1]
        if np.all(exponents == self._units.exponent):
            return False
        self._given = self._given.in_powers(exponents)
        self._units = replace(self._units, exponent=exponents, unit=self._units.unit if self.scale else unit)
        if self._shift is not None:
            sample = self._given.sample()  # in the previous units, small columns may have lost all digits
            self._shift = astype(namespace(sample).mean(sample, axis=0), self._shift.dtype)
        return True

    def _weighted_exponent(self) -> int | None:
        """The power of two from the squares of weighted entries; None without weights, or if they left the range.

        Weights of 1e130 take entries out of the range that are in it themselves.
        """
        moments, exponent = self.moments, self._units.exponent
        largest = float(np.delete(moments.raw, moments.constant).max(initial=0.0))
        if self._given.weight_roots is None or not isinstance(exponent, int) or not 0.0 < largest < np.inf:
            return None
        return exponent - int(np.frexp(np.sqrt(largest))[1])

    def _better_shift(self) -> Array | None:
        """c + r, if the amplification of some column is too large; None if c suffices, which is nearly always so.

        Float32 products on a device are measured at the end, so nothing waits for them here.
        """
        if not self.center or self.sparse or self._arriving is not None:
            return None
        moments = self.moments
        worst = float(moments.amplification.max(initial=1.0))
        if not worst > AMPLIFIED or moments.mean is None or not np.isfinite(moments.mean).all():
            return None
        dtype = getattr(namespace(self.prototype), self.precision)
        better = astype(from_numpy(moments.mean, self.prototype), dtype)
        unchanged = self._shift is not None and np.array_equal(to_numpy(better), to_numpy(self._shift))
        return None if unchanged else better

    def sharpen(self) -> None:
        self._given = self._given.precise()
        if self._shift is not None:
            self._shift = astype(self._shift, namespace(self.prototype).float64)
        self._operator = self._moments = self._arriving = None

    @property
    def operator(self) -> Operator:
        if self._operator is None:
            self.first()
        assert self._operator is not None
        return self._operator

    @property
    def moments(self) -> Moments:
        if self._moments is None and self._arriving is None:
            self.first()
        arriving, self._arriving = self._arriving, None
        if arriving is not None:
            self._moments = arriving()
        assert self._moments is not None
        return self._moments

    @property
    def _host_shift(self) -> np.ndarray | None:
        return None if self._shift is None else to_numpy(self._shift).astype(np.float64)

    def _after_first_pass(self, moments_and_product: MomentsAndProduct) -> Moments:
        """Moments from the sums of the first pass about c."""
        sums, raw = to_numpy(moments_and_product.sums), to_numpy(moments_and_product.squares)
        rest = sums / moments_and_product.weight
        squares = self._centred_squares(moments_and_product, sums, raw) if self.center else raw.copy()
        additions = self._given.additions(gram=False)
        if moments_and_product.from_gram:
            additions = max(additions, self._given.additions(gram=True))
        # The squares of a constant column are only rounding; a column that may be constant is compared entry by entry.
        near = np.flatnonzero(squares <= 8.0 * gamma(additions + ENTRY) * raw) if self.center else np.zeros(0, int)
        # Once found it is kept: weighted entries of a constant column are rounded, and differ after another shift.
        stored, is_constant = moments_and_product.stored, np.zeros(len(raw), bool)
        is_empty = np.zeros(len(near), bool) if stored is None else to_numpy(stored)[near] == 0.0
        for known in (self._constant, near[is_empty], self._given.constant_columns(near[~is_empty])):
            is_constant[known] = True
        self._constant = constant = np.flatnonzero(is_constant)
        return describe(
            center=self.center, scale=self.scale, rest=rest, raw=raw, squares=squares,
            weight=moments_and_product.weight, constant=constant, shift=self._host_shift, additions=additions,
            units=self._units,
        )  # fmt: skip

    def _centred_squares(self, moments_and_product: MomentsAndProduct, sums: np.ndarray, raw: np.ndarray) -> np.ndarray:
        # Not sums**2: with small weights it underflows although the quotient does not.
        return np.asarray(raw - sums * (sums / moments_and_product.weight))

    # Bounds

    @property
    def total(self) -> float:
        return self.moments.total

    def raw_trace(self, trace: float) -> float:
        moments = self.moments
        return trace * max(moments.raw_total / max(moments.total, 1e-300), 1.0)

    def product_error(self) -> float:
        """gamma ||D||_F^2, times `_centring_factor` with the correction, and the error of the scales.

        The correction contains r^T q and s^T q, sums over all columns.
        """
        additions = self._product_additions[-1]
        return self._error(additions, additions + self.shape[1])

    def block_error(self, columns: int, largest: float) -> float:
        """sqrt(d) times the error of one product, or less if both sums of the products are counted apart.

        Since B^T u = 0, D^T D = B^T B + W r r^T, so ||D||_2^2 <= ||B||_2^2 + t^2 ||D||_F^2. The rest of the error, that
        of the correction and of the scales, is counted for each column.
        """
        each, share = self.product_error(), self._share_of_means() if self.center else 0.0
        together = math.sqrt(columns) * each
        if share is None:
            return together
        inner, outer, additions = self._product_additions
        raw = max(self.moments.raw_total, self.moments.total)
        spectral = math.sqrt(max(largest, 0.0) + share * raw)
        rest = max(each - gamma(additions + ENTRY) * raw, 0.0)
        sharp = rounding.normal_product_error(columns, math.sqrt(raw), spectral, inner + ENTRY, outer + ENTRY)
        return min(together, sharp + math.sqrt(columns) * rest)

    def _share_of_means(self) -> float | None:
        """t^2 = W ||r||^2 / ||D||_F^2, where B = D - u r^T with B^T u = 0, or more; None in other cases."""
        return None

    @property
    def _product_additions(self) -> tuple[int, int, int]:
        """Maximum number of roundings of a term of D q, of D^T times it, and of both."""
        given = self._in_float64
        if isinstance(given, RowBlocks):
            inner, outer = given.product_additions(transposed=self.transposed)
            return inner, outer, inner + outer
        total = given.additions(gram=False, transposed=self.transposed)
        return total, total, total

    def gram_error(self) -> float:
        return self._error(self._in_float64.additions(gram=True, transposed=self.transposed))

    @property
    def _in_float64(self) -> Given:
        """The rows as float64 products take them: in blocks of another size than in float32."""
        return self._given if self.sparse else self._given.precise()

    def _error(self, additions: int, correcting: int | None = None) -> float:
        """`additions` for the product with D, `correcting` for the correction, if that has more."""
        moments = self.moments
        raw, growth = max(moments.raw_total, moments.total), gamma(additions + ENTRY)
        if self.center:
            corrected = growth if correcting is None else gamma(correcting + ENTRY)
            growth += (self._centring_factor() - 1.0) * corrected
        return growth * raw + 2.0 * moments.scale_error * moments.total

    def _centring_factor(self) -> float:
        """4: the product with D, both factors of the correction, and the sums in it.

        Each factor of the correction is at most ||D||_F, since W ||r||^2 <= ||D||_F^2.
        """
        return 4.0

    def _error_of_means(self) -> float:
        """W ||delta||^2, by which means that are off by delta change the Gram matrix (`moments`).

        The sums D^T u are off by at most gamma sqrt(W) ||D||_F, so sqrt(W) ||delta|| is at most gamma ||D||_F.
        """
        moments = self.moments
        return gamma(moments.additions + ENTRY) ** 2 * moments.raw_total if self.center else 0.0

    def total_error(self) -> float:
        moments = self.moments
        # q is off by gamma q, and W r^2 by 2 gamma sqrt(q W r^2), which is at most 2 gamma q.
        factor = 3.0 if self.center else 2.0
        error = factor * gamma(moments.additions + ENTRY) * max(moments.varying_total, moments.total)
        error += 2.0 * moments.scale_error * moments.total
        if self.precision == "float64" or self.sparse or not backend_of(self.prototype).float32_squares:
            return error
        # Sums of squares are formed in float32 over 64 rows at a time.
        amplification = max(moments.raw_total, moments.total) / max(moments.total, 1e-300)
        unit = float(np.finfo(self.precision).eps) * amplification
        spread = DEVIATIONS * (deviation_of_sum(TOGETHER) + 0.5) * euclidean(moments.in_units(moments.squares))
        return error + unit * (spread + 0.5 * moments.total)

    # Products

    def exact(self) -> Operator:
        operator: Operator = precisely(self.operator)
        return operator

    def exact_product(self, vectors: Array) -> Array:
        """Means and scales from float32 products may not be exact either, so they are computed again.

        Later products are in float64 too.
        """
        if self.precision == "float64":
            return self.operator.normal(vectors)
        self.sharpen()
        product = self.first(vectors)
        assert product is not None
        return product

    def exact_product_and_gram(self, right: Array, other: Array) -> tuple[Array, Array] | None:
        return None

    def recentred_gram(self, right: Array) -> tuple[Array, float]:
        return self.exact().gram(right), self.gram_error()

    def recentred_growth(self) -> float:
        return gamma(self._in_float64.additions(gram=True, transposed=self.transposed) + ENTRY)

    def approximate(self, right: Array) -> Array | None:
        """An approximation of B^T B Q, up to the means, for initial directions; None if not cheaper than a pass."""
        if not isinstance(self._given, RowBlocks) or self.scale:
            return None
        base = self._given if self._shift is None else self._given.shifted(self._shift)
        found: Array | None = (base.transposed() if self.transposed and not base.sparse else base).approximate(right)
        return found

    def product(self, right: Array, *, measure: bool) -> Array:
        # Long vectors are returned to users, and rounding in B v is divided by s.
        operator = self.exact()
        if not measure or (self.transposed and not self._given.resident):
            return operator.matmat(right)
        if not self._given.resident:
            blocks, packed = pack(operator, right)
            product = blocks.measured(packed)
            self.row_squares = product[:, -1].astype(np.float64)
            return product[:, :-1]
        product, self.row_squares = product_and_squares(operator, right, across=self.transposed)
        return product

    def materialize(self) -> Materialized:
        """B itself."""
        while True:
            found = materialize(self._given, center=self.center, scale=self.scale, units=self._units)
            self._moments = found.moments
            if not self._change_units():
                break
        self.row_squares = np.einsum("ij,ij->i", found.matrix, found.matrix)
        return replace(found, matrix=np.ascontiguousarray(found.matrix.T)) if self.transposed else found


def precisely(operator: Any) -> Any:
    """The same with products in float64, through any wrappers."""
    if isinstance(operator, Wrapped):
        return replace(operator, base=precisely(operator.base))
    return operator.precise()
