"""Dense rows in memory, at least as many as columns.

B = D - u r^T with D = diag(u) (A - 1 c^T) formed block by block, and

    B^T B Q = D^T D Q - s (r^T Q) - r (s^T Q) + W r (r^T Q),    s = D^T u,  r = s / W:

the means come with the first product, and centring costs nothing afterwards.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from eckart.arrays import Array, from_numpy
from eckart.engine.backends.select import backend_of
from eckart.engine.operator import MomentsAndProduct, Operator
from eckart.engine.prepare import Convert
from eckart.engine.rows import RowBlocks
from eckart.engine.standardize.case import AMPLIFIED, RANGE, Case
from eckart.engine.standardize.cross_products import (
    centred_additions,
    centred_products,
    gram_additions,
    shifted_sums,
)
from eckart.engine.standardize.moments import Moments, describe
from eckart.engine.standardize.rounding import ENTRY, gamma
from eckart.engine.standardize.sums import later, ones
from eckart.engine.transformed import Centered, Scaled, row_panels

if TYPE_CHECKING:
    from eckart.engine.matrix import Opened

_SINGLE = 1e-4
"""Maximum relative error of sums of squares that a device forms in float32 over a few rows at a time."""
_SAMPLED_ROWS = 64
"""Number of rows whose means are c. They are spread over the table, because the first rows of a series say little about
its means.
"""
_SMALL_DATA = 2**16
"""Up to this many entries, a copy costs too little to avoid."""
_OFFSET = 16.0
"""Up to this squared mean, relative to the variance of the column, the rows are multiplied uncentred. Rounding in D^T D
grows by this factor, but a copy of every block costs a third of its product.
"""


class Tall(Case):
    """B with the rows of A as its rows."""

    def _base(self) -> Any:
        return self._given if self._shift is None else self._given.shifted(self._shift)

    def _first(self, right: Array | None, *, gram: bool) -> Array | None:
        base = self._base()
        # With scaling, the first product must wait until the scales are known.
        moments_and_product: MomentsAndProduct = base.moments_and_product(None if self.scale else right, gram=gram)
        self._moments, self._arriving = None, self._later(moments_and_product)
        if self.scale or backend_of(self.prototype).synchronous:
            _ = self.moments
        self._operator = operator = self._wrapped(moments_and_product.sums, moments_and_product.weight)
        if gram:
            return self._correct_gram(
                moments_and_product.product,
                moments_and_product.sums / moments_and_product.weight,
                moments_and_product.weight,
            )
        if right is None:
            return None
        if isinstance(operator, Scaled):
            return operator.normal(right)
        return (
            operator.correct(right, moments_and_product.product)
            if isinstance(operator, Centered)
            else moments_and_product.product
        )

    def _wrapped(self, sums: Array, weight: float) -> Operator:
        """B as an operator, once the sums D^T u are known."""
        base = self._base()
        operator: Operator = base
        if self.center:
            roots = base.weight_roots
            left = ones(base.shape[0], base.prototype, whole=base.resident) if roots is None else roots
            operator = Centered(operator, left, sums / weight, sums, weight)
        return Scaled(operator, from_numpy(self._scales, base.prototype)) if self.scale else operator

    def _later(self, moments_and_product: MomentsAndProduct) -> Any:
        arriving = later(moments_and_product)

        def moments() -> Moments:
            return self._after_first_pass(arriving())

        return moments

    @property
    def _scales(self) -> np.ndarray:
        scale = self.moments.scale
        assert scale is not None
        return scale

    def _correct_gram(self, gram: object, mean: Array, weight: float) -> Array:
        if self.center:
            # Blocks copied to a device leave a large sum there and small ones on the host.
            mean = from_numpy(mean, gram) if isinstance(mean, np.ndarray) else mean
            if not isinstance(gram, np.ndarray):
                gram = gram - weight * (mean[:, None] * mean[None, :])
            else:
                for rows in row_panels(len(gram)):
                    gram[rows] -= weight * (mean[rows, None] * mean[None, :])  # of our own copy
        if self.scale:
            scale = from_numpy(self._scales, gram)
            gram = gram / scale[:, None] / scale[None, :]
        return gram

    def _centring_factor(self) -> float:
        """1 + 2 t + 2 t^2, with t^2 = W ||r||^2 / ||D||_F^2: the correction's addition to gamma ||D||_F^2.

        The correction is s s^T / W in exact arithmetic, of norm W ||r||^2. The sums s = D^T u are off by at most gamma
        || |D|^T u || <= gamma sqrt(W) ||D||_F, which moves it by 2 gamma t ||D||_F^2. The weight W and the products
        with s and r have relative errors of gamma each. t is known only to the rounding of sums of squares.
        """
        hidden = self._share_of_means()
        return 1.0 + 2.0 * math.sqrt(hidden) + 2.0 * hidden

    def _share_of_means(self) -> float:
        """t^2, and the part of it that rounding may hide (the sums D^T u are formed from the same D)."""
        moments = self.moments
        raw = max(moments.raw_total, moments.total, 1e-300)
        allowance = 4.0 * gamma(moments.additions + ENTRY) + (0.0 if self.precision == "float64" else _SINGLE)
        return max(raw - moments.total, 0.0) / raw + allowance

    def exact_product(self, vectors: Array) -> Array:
        """If the first pass summed in float64, as on the host, its means and scales are exact."""
        exact = backend_of(self.prototype).synchronous and not self.sparse and self._given.resident
        return self.exact().normal(vectors) if exact else super().exact_product(vectors)

    def exact_product_and_gram(self, right: Array, other: Array) -> tuple[Array, Array] | None:
        given = self._given
        if not (isinstance(given, RowBlocks) and backend_of(self.prototype).synchronous) or self.sparse or self.scale:
            return None
        exact: Any = self.exact()
        base: Any = exact.base if isinstance(exact, Centered) else exact
        found: tuple[Array, Array] | None = base.normal_and_gram(right, other)
        if found is None or not isinstance(exact, Centered):
            return found
        return exact.correct(right, found[0]), exact.correct_gram(found[1], other)

    def recentred_gram(self, right: Array) -> tuple[Array, float]:
        """Both parts of the mean are subtracted from the rows, so nothing cancels in the sums."""
        moments = self.moments
        base: Any = self._given.precise()
        if moments.rest is not None:
            base = base.shifted(from_numpy(moments.rest, self.prototype))
        if moments.shift is not None:
            base = base.shifted(from_numpy(moments.shift, self.prototype))
        operator: Operator = base if moments.scale is None else Scaled(base, from_numpy(moments.scale, self.prototype))
        return operator.gram(right), self._error_of_means()


class OutOfRangeError(ArithmeticError):
    """The sum of squares is zero, not finite, or so large or small that squares are not safe."""


def is_resident(opened: Opened) -> bool:
    """Whether `ResidentTall` applies: dense NumPy rows, at least as many as columns, of ordinary magnitude."""
    matrix = opened.matrix
    if not isinstance(matrix, RowBlocks) or opened.exponent or not isinstance(matrix.matrix, np.ndarray):
        return False
    return matrix.shape[0] >= matrix.shape[1]


class ResidentTall(Tall):
    """Dense NumPy rows without preparation: the Gram matrix in float64 first, all other products as in `Tall`.

    D = A - 1 c^T is formed block by block, with c the means of some rows, unless these are small relative to the
    spread. The sums s = D^T 1 and D^T D come from the same blocks:

        B^T B = D^T D - s s^T / n, with an error of at most 4 gamma(m) ||D||_F^2, where m is the number of roundings of
        a term.
    """

    def __init__(self, given: RowBlocks, *, center: bool) -> None:
        if given.precision != "float64":  # as `precise` does, without its copies
            given = RowBlocks(given.matrix, "float64", (Convert(np.float64),), counter=given.counter)
        super().__init__(given, center=center, scale=False)
        self._data: np.ndarray = given.matrix
        self._ready = False

    def _first(self, right: Array | None, *, gram: bool) -> Array | None:
        if not gram:
            self._ready = False
            return super()._first(right, gram=gram)
        data = self._data
        count = len(data)
        self._given.counter.passes += 1
        if self.center and not self._ready:
            self._shift = sampled_means(data)
        sums, products = shifted_sums(data, self._shift)
        raw = products.diagonal().copy()
        low, high = RANGE["float64"]
        if not low < float(np.maximum.reduce(raw)) < high:
            raise OutOfRangeError
        rest, squares = sums / count, raw
        if self.center:
            products -= sums[:, None] * rest
            squares = products.diagonal().copy()
        additions = gram_additions(*data.shape)
        constant = np.zeros(0, int)
        if self.center:
            near = (squares <= 8.0 * gamma(additions + ENTRY) * raw).nonzero()[0]
            constant = self._given.constant_columns(near)
            # The rounding of constant columns may hide that the squares of all others underflowed.
            if constant.size and not low < float(np.delete(raw, constant).max(initial=0.0)) < high:
                raise OutOfRangeError
            self._settle(constant, sums, rest, products)
        self._operator, self._arriving, self._ready = None, None, True
        self._moments = describe(
            center=self.center, scale=False, rest=rest, raw=raw, squares=squares, weight=float(count),
            constant=constant, shift=self._shift, additions=additions, units=self._units,
        )  # fmt: skip
        self._sums = sums
        return products

    def _settle(self, constant: np.ndarray, sums: np.ndarray, rest: np.ndarray, products: np.ndarray) -> None:
        """Set constant columns to their first entry exactly, so that nothing is left after centring."""
        if not constant.size:
            return
        if self._shift is None:
            self._shift = np.zeros(len(sums))
        self._shift[constant] = self._data[0, constant]
        sums[constant] = rest[constant] = 0.0
        products[constant] = products[:, constant] = 0.0

    @property
    def operator(self) -> Operator:
        """The operator, created on demand: an accurate Gram matrix does not need it."""
        if self._operator is None and self._ready:
            self._operator = self._wrapped(self._sums, float(self._given.shape[0]))
        return super().operator

    def _change_units(self) -> bool:
        return False  # data that need other units raise `OutOfRangeError`

    def _better_shift(self) -> Array | None:
        moments = self.moments
        lost = self.center and bool((moments.raw > AMPLIFIED * moments.squares).any())
        return super()._better_shift() if lost else None

    def gram_error(self) -> float:
        return self._error(gram_additions(*self._given.shape))

    def recentred_gram(self, right: Array) -> tuple[Array, float]:
        """r^T Q is subtracted from D Q: subtracting r from D copies every block, which takes as long as the product."""
        rest = self.moments.rest
        self._given.counter.passes += 1
        products = centred_products(self._data, self._shift, right, None if rest is None else rest @ right)
        return products, self._error_of_means()

    def recentred_growth(self) -> float:
        return gamma(centred_additions(*self._given.shape) + ENTRY)


def sampled_means(data: np.ndarray) -> np.ndarray | None:
    """Means of some rows; None if they are so small relative to the spread that nothing is lost without them.

    Subtracting them copies each block, which costs nothing for small data.
    """
    rows = data[:: max(len(data) // _SAMPLED_ROWS, 1)][: 2 * _SAMPLED_ROWS].astype(np.float64)
    mean: np.ndarray = np.add.reduce(rows, axis=0)
    mean /= len(rows)
    if data.size > _SMALL_DATA:
        rows -= mean
        spread = np.einsum("ij,ij->j", rows, rows) / len(rows)
        if np.all(mean * mean <= _OFFSET * spread):
            return None
    return mean
