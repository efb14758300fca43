"""The steps of NMF on a GPU: those of `eckart.nmf.squares` and of `eckart.nmf.entries` (CSR rows) by their kernels.

A step on small factors is a few dozen launches that take the host ten times as long as the GPU, so it is recorded.
"""

from __future__ import annotations

from typing import Any

from eckart.arrays import Array, Matrix, astype, namespace, to_numpy
from eckart.engine.backends.cuda.arrays import given_back, pointer
from eckart.engine.backends.cuda.graph import Recorded
from eckart.errors import require
from eckart.nmf.constants import DEVICE_PIECE, END_SHARE, ENTRIES_SHARE, FLOOR, RECORDED_VALUES, SUMMED_ROWS
from eckart.nmf.cuda.entry_rows import EntrySteps, entry_rows
from eckart.nmf.cuda.given_rows import given_rows
from eckart.nmf.cuda.kernels import contiguous
from eckart.nmf.cuda.teams import Class, classes_of
from eckart.nmf.entries import Entries, of_the_mean
from eckart.nmf.problem import FactorUpdate, Penalties, Penalty, rounding_of
from eckart.nmf.squares import Product, Squares, gram_of, inverse_diagonal

_END = {4: 1e-10, 8: END_SHARE}
"""A row has converged when a sweep gains this share of the first, by the bytes of a number."""


def _worth(begin: Array, other: Array) -> bool:
    return bool((begin.shape[0] + other.shape[0]) * begin.shape[1] <= RECORDED_VALUES)


def _half(found: tuple[Array, ...]) -> FactorUpdate:
    new, ahead, sums = found
    value, violation = to_numpy(sums).tolist()
    return FactorUpdate(new, ahead, value, violation)


class DeviceSquares(Squares):
    """The squared error of a matrix given by its products."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._steps: dict[tuple[bool, int, float], Recorded] = {}

    def _step(
        self, product: Product, penalty: Penalty, begin: Array, other: Array, old: Array, extrapolation: float,
        sweeps: int | None,
    ) -> FactorUpdate:  # fmt: skip
        most, share = self._effort(sweeps)

        def work(begin: Array, other: Array, old: Array, extrapolation: Array) -> tuple[Array, ...]:
            gram = gram_of(other, penalty)
            seen = (contiguous(array) for array in (product(other), begin, old, gram, inverse_diagonal(gram)))
            found = given_rows(
                *seen, lasso=penalty.lasso, sweeps=most, share=share, extrapolation=pointer(extrapolation)
            )
            return tuple(given_back(array, begin) for array in found)

        key = (product == self._matmat, most, share)
        step = self._steps.setdefault(key, Recorded(work, worth=_worth(begin, other)))
        return _half(step(begin, other, old, number=extrapolation))


class DeviceEntries(Entries):
    """`matrix` and its transpose `transposed` have data, indices (int32) and indptr (int64), as CuPy arrays."""

    def __init__(
        self, matrix: Matrix, transposed: object, penalties: Penalties, *, divergence: bool, observed: bool, sweeps: int
    ) -> None:
        self.penalties = penalties
        self.divergence, self.observed, self.sweeps = divergence, observed, sweeps
        self.matrix, self.transposed = matrix, transposed
        squares, self.floor, self.constant, total = _of_data_alone(matrix.data, divergence=divergence)
        count = int(matrix.data.size) if observed else matrix.shape[0] * matrix.shape[1]
        self.reference = of_the_mean(self.constant, total, count) if divergence else 0.5 * squares
        self.rounding = 16.0 * rounding_of(matrix.data) * (abs(self.constant) if divergence else squares)
        self._classes: dict[tuple[int, int], list[Class]] = {}
        self._steps: dict[tuple[int, int, float], Recorded] = {}

    def _step(
        self, matrix: Matrix, penalty: Penalty, begin: Array, other: Array, old: Array, extrapolation: float, *,
        score: bool, sweeps: int | None = None,
    ) -> FactorUpdate:  # fmt: skip
        itemsize = matrix.data.dtype.itemsize
        most, share = (self.sweeps, ENTRIES_SHARE) if sweeps is None else (sweeps, _END[itemsize])
        steps = EntrySteps(self.divergence, self.observed, penalty, self.floor, most, share)

        def work(begin: Array, other: Array, old: Array, extrapolation: Array) -> tuple[Array, ...]:
            found = entry_rows(
                self._classes_of(matrix, begin.shape[1]), matrix,
                *(contiguous(array) for array in (other, begin, old, _sums(other))),
                steps=steps, extrapolation=pointer(extrapolation), score=score,
            )  # fmt: skip
            return tuple(given_back(array, begin) for array in found)

        step = self._steps.setdefault((id(matrix), most, share), Recorded(work, worth=_worth(begin, other)))
        return _half(step(begin, other, old, number=extrapolation))

    def _classes_of(self, matrix: Matrix, k: int) -> list[Class]:
        key = (id(matrix), k)
        if key not in self._classes:
            self._classes[key] = classes_of(matrix.indptr, k, matrix.data.dtype.itemsize)
        return self._classes[key]


def _sums(factor: Array) -> Array:
    """Column sums in float64.

    CuPy cannot record a product, and its own sum takes longer than the whole step if a factor is tall.
    """
    xp = namespace(factor)
    if factor.shape[0] <= SUMMED_ROWS:
        return xp.sum(factor, axis=0, dtype=xp.float64)
    return xp.ones(factor.shape[0], dtype=xp.float64, device=factor.device) @ astype(factor, xp.float64)


def _of_data_alone(data: Array, *, divergence: bool) -> tuple[float, float, float, float]:
    """(sum of squares, floor of W H, sum of x log x - x, sum of x); the latter three are zero for squares."""
    cupy = require("cupy", purpose="NMF on a GPU")
    squares = count = sums = constant = 0.0
    for start in range(0, data.shape[0], DEVICE_PIECE):
        x = data[start : start + DEVICE_PIECE].astype(cupy.float64)
        squares += float(x @ x)
        if divergence:
            count += float((x > 0).sum())
            sums += float(x.sum())
            constant += float((x * cupy.log(cupy.where(x > 0, x, 1.0)) - x).sum())
    return squares, (FLOOR * sums / max(count, 1.0) or FLOOR) if divergence else 0.0, constant, sums
