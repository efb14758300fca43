"""Kernels between points, tile by tile: k(x, y) for all x of one set and all y of another.

rbf        exp(-gamma |x - y|^2)            poly       (gamma x.y + coef0)^degree
laplacian  exp(-gamma |x - y|_1)            sigmoid    tanh(gamma x.y + coef0)
linear     x.y                              cosine     x.y / (|x| |y|)
precomputed: the rows are the kernel itself; a function of two rows is called for every pair.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from eckart.aliases import Keywords
from eckart.arrays import Array, Matrix, astype, device, dtype_name, empty_rows, is_numpy, is_sparse, namespace
from eckart.engine.backends.cuda.arrays import can_compile
from eckart.engine.backends.written import applied
from eckart.errors import InputError
from eckart.kernel_pca import tiles as cuda_tiles
from eckart.kernel_pca.constants import SINGLE_EXPONENT, WIDE_KERNEL
from eckart.kernel_pca.elementwise import exponentials

NAMES = ("linear", "poly", "rbf", "sigmoid", "cosine", "laplacian", "precomputed")
POSITIVE = ("linear", "rbf", "cosine", "laplacian")
"""Kernels without negative eigenvalues; poly too, if its series has no negative term."""


@dataclass(frozen=True)
class Points:
    """Rows prepared for a kernel, whose argument is left right^T (+ offset of each) or computed from the rows."""

    left: Array
    right: Array
    offset: Array | None = None
    apart: bool = False
    """Left and right are only the rows times sqrt(2 gamma): an rbf computed from their differences."""

    @property
    def count(self) -> int:
        return int(self.left.shape[0])

    def part(self, start: int, stop: int) -> Points:
        return self.chosen(slice(start, stop))

    def chosen(self, index: object) -> Points:
        offset = None if self.offset is None else self.offset[index]
        left = chosen_rows(self.left, index)
        return Points(left, left if self.apart else chosen_rows(self.right, index), offset, self.apart)


def _filled(data: Matrix, value: float) -> Array:
    """One value per row, on the device of the data."""
    if is_sparse(data) or is_numpy(data):
        return np.full(data.shape[0], value)
    xp = namespace(data)
    filled: Array = xp.full(data.shape[0], value, dtype=xp.float64, device=device(data))
    return filled


@dataclass(frozen=True)
class Kernel:
    """A kernel with its parameters; `function` of two rows if the name is 'function'."""

    name: str
    gamma: float = 1.0
    degree: float = 3.0
    coef0: float = 1.0
    function: Callable[..., float] | None = None
    params: Keywords = field(default_factory=dict)
    lowered: bool = False
    """rbf minus 1, accurate in every digit: the common part of all points cancels in every centred product anyway."""

    @property
    def positive(self) -> bool:
        """Whether no data can give negative eigenvalues."""
        series = self.name == "poly" and self.coef0 >= 0 and float(self.degree).is_integer()
        return self.name in POSITIVE or series

    def for_products(self, data: object) -> Kernel:
        """The same kernel for products with centred vectors: minus 1 if most of it is near 1."""
        if self.name != "rbf":
            return self
        lengths = squared_lengths(data if is_sparse(data) else data - column_means(data))
        spread = float(namespace(lengths).mean(lengths))
        return replace(self, lowered=bool(2.0 * self.gamma * spread < WIDE_KERNEL))

    def shift(self, data: object) -> Array | None:
        """Offset to subtract from all rows: the mean, if only distances count, so that squares keep their digits."""
        return None if self.name != "rbf" or is_sparse(data) else column_means(data)

    def points(self, data: Matrix, shift: Array | None = None, precision: str = "float64") -> Points:
        """Rows of `data` prepared for tiles, in float64 and then rounded to `precision`."""
        if self.name in ("precomputed", "function"):
            return Points(data, data)
        if self.name == "laplacian":
            rows = data if is_sparse(data) else doubles(data)
            rows = np.ascontiguousarray(rows) if is_numpy(rows) else rows
            return Points(rows, rows)
        if is_sparse(data):
            return self._sparse_points(data.astype(np.float64))
        rows = doubles(data)
        if shift is not None:
            rows = rows - shift
        return self._dense_points(rows, precision)

    def _dense_points(self, rows: Array, precision: str) -> Points:
        """Store offsets as columns of the factors, so that one product gives the whole argument."""
        if self.name == "rbf" and can_compile(rows) and 1 <= rows.shape[1] <= cuda_tiles.MOST_COLUMNS:
            return self._points_apart(rows, precision)
        xp = namespace(rows)
        ones = xp.ones((rows.shape[0], 1), dtype=rows.dtype, device=device(rows))
        if self.name == "rbf":
            half = -self.gamma * squared_lengths(rows)[:, None]
            if precision == "float32" and rows.shape[0] and -float(xp.min(half)) > SINGLE_EXPONENT:
                precision = "float64"
            scaled = float(np.sqrt(2.0 * self.gamma)) * rows
            left, right = xp.concat([scaled, half, ones], axis=1), xp.concat([scaled, ones, half], axis=1)
        elif self.name in ("poly", "sigmoid"):
            left = xp.concat([self.gamma * rows, self.coef0 * ones], axis=1)
            right = xp.concat([rows, ones], axis=1)
        else:
            left = right = unit_rows(rows) if self.name == "cosine" else rows
        return Points(astype(left, getattr(xp, precision)), astype(right, getattr(xp, precision)))

    def _points_apart(self, rows: Array, precision: str) -> Points:
        """Rows that a GPU compares by their differences, whose rounding is the square root of that of squares."""
        xp = namespace(rows)
        if precision == "float32" and rows.shape[0]:
            largest = float(xp.max(squared_lengths(rows)))
            precision = "float64" if self.gamma * largest > SINGLE_EXPONENT**2 else precision
        scaled = astype(float(np.sqrt(2.0 * self.gamma)) * rows, getattr(xp, precision))
        scaled = cuda_tiles.row_major(scaled)
        return Points(scaled, scaled, apart=True)

    def _sparse_points(self, rows: Matrix) -> Points:
        if self.name == "rbf":
            return Points(2.0 * self.gamma * rows, rows, -self.gamma * squared_lengths(rows))
        if self.name in ("poly", "sigmoid"):
            return Points(self.gamma * rows, rows, np.full(rows.shape[0], self.coef0 / 2.0))
        rows = unit_rows(rows) if self.name == "cosine" else rows
        return Points(rows, rows)

    def tile(self, first: Points, second: Points, out: Array | None = None) -> Array:
        """k(x, y) for all x of the first and y of the second, in `out` if given."""
        if first.apart:
            return self._rbf(first.left, second.right, out)
        return put(self._made(first, second), out)

    def _rbf(self, first: Array, second: Array, out: Array | None) -> Array:
        """From differences."""
        first, second = _one_precision(first, second)
        if out is None or out.dtype != first.dtype:
            made = empty_rows(first.shape[0], second.shape[0], first, dtype_name(first))
            cuda_tiles.rbf(first, second, made, lowered=self.lowered)
            return put(made, out)
        cuda_tiles.rbf(first, second, out, lowered=self.lowered)
        return out

    def _made(self, first: Points, second: Points) -> Array:
        if self.name == "precomputed":
            raise InputError(
                "A precomputed kernel cannot be evaluated at new points. Pass the kernel between the new "
                "rows and the fitted rows."
            )
        if self.name == "function":
            return self._called(first.left, second.right)
        if self.name == "laplacian":
            return self._laplacian(first.left, second.right)
        if is_sparse(first.left) or is_sparse(second.right):
            argument = _dense(first.left @ second.right.T)
        else:
            left, right = _one_precision(first.left, second.right)
            argument = left @ right.T
        if first.offset is not None and second.offset is not None:
            argument += first.offset[:, None]
            argument += second.offset
        return self._finish(argument)

    def _finish(self, argument: Array) -> Array:
        """The kernel from its argument, which is overwritten."""
        if self.name == "rbf":
            return exponentials(argument, lowered=self.lowered)
        if self.name == "sigmoid":
            return applied("tanh", argument)
        if self.name == "poly":
            with np.errstate(over="ignore", invalid="ignore"):
                return power(argument, self.degree)
        return argument

    def _laplacian(self, first: object, second: object) -> Array:
        distances = _manhattan(_dense(first), _dense(second))
        distances *= -self.gamma
        return applied("exp", distances)

    def _called(self, first: Array, second: Array) -> np.ndarray:
        assert self.function is not None
        symmetric = first is second
        result = np.empty((first.shape[0], second.shape[0]))
        for i in range(first.shape[0]):
            for j in range(i if symmetric else 0, second.shape[0]):
                result[i, j] = float(self.function(first[i], second[j], **self.params))
                if symmetric:
                    result[j, i] = result[i, j]
        return result

    def diagonal(self, data: Matrix) -> Array:
        """k(x, x) for every row."""
        if self.name == "precomputed":
            return doubles(data.diagonal())
        if self.name == "function":
            assert self.function is not None
            return np.array([float(self.function(data[i], data[i], **self.params)) for i in range(data.shape[0])])
        if self.name in ("rbf", "laplacian"):
            return _filled(data, 0.0 if self.lowered else 1.0)
        squares = squared_lengths(data)
        if self.name == "cosine":
            return astype(squares > 0, squares.dtype)
        if self.name == "linear":
            return squares
        return self._finish(self.gamma * squares + self.coef0)


def in_format_of(rows: Matrix, support: Matrix) -> Matrix:
    """The rows, sparse or dense like the support."""
    if is_sparse(support) and not is_sparse(rows):
        from scipy import sparse

        return sparse.csr_array(rows)
    return rows.toarray() if is_sparse(rows) and not is_sparse(support) else rows


def _one_precision(first: Array, second: Array) -> tuple[Array, Array]:
    """Convert rows of two precisions to float64."""
    return (first, second) if first.dtype == second.dtype else (doubles(first), doubles(second))


def put(made: Array, out: Array | None) -> Array:
    """The result, in `out` if given."""
    if out is None:
        return made
    out[...] = astype(made, out.dtype)
    return out


def power(base: Array, exponent: float) -> Array:
    """base^exponent; whole exponents by products, which is faster and allows negative bases."""
    if not float(exponent).is_integer() or exponent < 0:
        return np.power(base, exponent) if is_numpy(base) else base**exponent
    result, factor, left = None, base, int(exponent)
    while left:
        if left & 1:
            result = factor if result is None else result * factor
        left >>= 1
        if left:
            factor = factor * factor
    return namespace(base).ones_like(base) if result is None else result


def chosen_rows(data: Array, index: object) -> Array:
    """Some rows, by a slice or by their numbers."""
    if is_numpy(data) or is_sparse(data):
        return data[index]
    if isinstance(index, slice):
        return data[index, :]
    xp = namespace(data)
    return xp.take(data, xp.asarray(index, device=device(data)), axis=0)


def doubles(data: Array) -> Array:
    return np.asarray(data, np.float64) if is_numpy(data) else astype(data, namespace(data).float64)


def column_means(data: Array) -> Array:
    """In float64."""
    if is_numpy(data):
        return np.asarray(data.mean(axis=0, dtype=np.float64))
    return namespace(data).mean(doubles(data), axis=0)


def squared_lengths(data: Matrix) -> Array:
    """Squared lengths of the rows, in float64."""
    if is_sparse(data):
        data = data.astype(np.float64, copy=False)
        return np.asarray(data.multiply(data).sum(axis=1)).ravel()
    if is_numpy(data):
        return np.asarray(np.einsum("ij,ij->i", data, data, dtype=np.float64))
    data = doubles(data)
    return namespace(data).sum(data * data, axis=1)


def unit_rows(data: Matrix) -> Matrix:
    """x / |x|; rows of zeros stay."""
    if is_sparse(data):
        from scipy import sparse

        scaled = sparse.csr_array(data, dtype=np.float64, copy=True)
        maxima: Any = abs(scaled).max(axis=1)
        # Squares of small entries underflow unless the largest one of each row is close to 1.
        scaled.data = np.ldexp(scaled.data, np.repeat(-np.frexp(maxima.toarray().ravel())[1], np.diff(scaled.indptr)))
        lengths = np.sqrt(squared_lengths(scaled))
        return sparse.csr_array(sparse.diags_array(1.0 / np.where(lengths > 0, lengths, 1.0)) @ scaled)
    xp = namespace(data)
    data = doubles(data)
    largest = xp.max(xp.abs(data), axis=1, keepdims=True)
    data = data / xp.where(largest > 0, largest, xp.ones_like(largest))
    lengths = xp.sqrt(squared_lengths(data))
    return data * (1.0 / xp.where(lengths > 0, lengths, xp.ones_like(lengths)))[:, None]


def _manhattan(first: Array, second: Array) -> Array:
    """Sums of absolute differences between the rows of two sets."""
    if is_numpy(first):
        from eckart.kernel_pca.compiled import manhattan

        distances = np.zeros((first.shape[0], second.shape[0]))
        manhattan(np.ascontiguousarray(first), np.ascontiguousarray(second.T), distances)
        return distances
    xp = namespace(first)
    distances = xp.zeros((first.shape[0], second.shape[0]), dtype=first.dtype, device=device(first))
    for column in range(first.shape[1]):
        distances += applied("abs", first[:, column][:, None] - second[:, column][None, :])
    return distances


def _dense(rows: Matrix) -> Array:
    return doubles(rows.toarray() if is_sparse(rows) else rows)
