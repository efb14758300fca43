"""Dense NumPy rows in memory, at least as many as columns, for a float64 Gram matrix without preparation.

D = A - 1 c^T is formed block by block, with c the means of some rows, unless these are small relative to the spread.
The sums s = D^T 1 and D^T D come from the same blocks. Everything else is as in `tall`:

    B^T B = D^T D - s s^T / n, with an error of at most 4 gamma(m) ||D||_F^2, where m is the number of roundings of a
    term.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from eckart.arrays import Array
from eckart.engine.operator import Operator
from eckart.engine.prepare import Convert
from eckart.engine.rows import RowBlocks
from eckart.engine.standardize.case import AMPLIFIED, RANGE
from eckart.engine.standardize.cross_products import (
    centred_additions,
    centred_products,
    gram_additions,
    shifted_sums,
)
from eckart.engine.standardize.moments import describe
from eckart.engine.standardize.rounding import ENTRY, gamma
from eckart.engine.standardize.tall import Tall

if TYPE_CHECKING:
    from eckart.engine.matrix import Opened

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


class OutOfRangeError(ArithmeticError):
    """The sum of squares is zero, not finite, or so large or small that squares are not safe."""


def is_resident(opened: Opened) -> bool:
    """Whether `ResidentTall` applies: dense NumPy rows, at least as many as columns, of ordinary magnitude."""
    matrix = opened.matrix
    if not isinstance(matrix, RowBlocks) or opened.exponent or not isinstance(matrix.matrix, np.ndarray):
        return False
    return matrix.shape[0] >= matrix.shape[1]


class ResidentTall(Tall):
    """B with the rows of A as its rows: the Gram matrix first, all other products as for any tall matrix."""

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
