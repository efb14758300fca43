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

from eckart.array_api import is_sparse
from eckart.errors import InputError

NAMES = ("linear", "poly", "rbf", "sigmoid", "cosine", "laplacian", "precomputed")
POSITIVE = ("linear", "rbf", "cosine", "laplacian")
"""Kernels without negative eigenvalues; so is poly where its series has no negative term."""
_WIDE = 0.5
"""Up to this mean of gamma |x - y|^2 a kernel is mostly near 1."""
_SINGLE = 16.0
"""Up to this gamma |x|^2 an exponent that is formed in float32 is good to a float32 rounding of the kernel."""


@dataclass(frozen=True)
class Points:
    """Rows ready for a kernel: its argument is left right^T (+ offset of each), or made of the rows themselves."""

    left: Any
    right: Any
    offset: np.ndarray | None = None

    @property
    def count(self) -> int:
        return int(self.left.shape[0])

    def part(self, start: int, stop: int) -> Points:
        return self.chosen(slice(start, stop))

    def chosen(self, index: Any) -> Points:
        return Points(self.left[index], self.right[index], None if self.offset is None else self.offset[index])


@dataclass(frozen=True)
class Kernel:
    """A kernel with its parameters; `function` of two rows where the name is 'function'."""

    name: str
    gamma: float = 1.0
    degree: float = 3.0
    coef0: float = 1.0
    function: Callable[..., Any] | None = None
    params: dict[str, Any] = field(default_factory=dict)
    lowered: bool = False
    """rbf less 1, digit by digit: what all points have in common drops out of every centred product anyway."""

    @property
    def positive(self) -> bool:
        """Whether no data can give negative eigenvalues."""
        series = self.name == "poly" and self.coef0 >= 0 and float(self.degree).is_integer()
        return self.name in POSITIVE or series

    def for_products(self, data: Any) -> Kernel:
        """The same kernel for products with centred vectors: lowered where most of it is near 1."""
        if self.name != "rbf":
            return self
        spread = np.mean(squared_lengths(data if is_sparse(data) else data - np.mean(data, axis=0, dtype=np.float64)))
        return replace(self, lowered=bool(2.0 * self.gamma * spread < _WIDE))

    def shift(self, data: Any) -> np.ndarray | None:
        """What may be taken off all rows: the mean, where distances alone count, so that squares keep their digits."""
        if self.name != "rbf" or is_sparse(data):
            return None
        return np.asarray(data.mean(axis=0, dtype=np.float64))

    def points(self, data: Any, shift: np.ndarray | None = None, precision: str = "float64") -> Points:
        """Rows of `data` ready for tiles; made in float64, then rounded to `precision`."""
        if self.name in ("precomputed", "function"):
            return Points(data, data)
        if self.name == "laplacian":
            rows = data if is_sparse(data) else np.ascontiguousarray(data, np.float64)
            return Points(rows, rows)
        if is_sparse(data):
            return self._sparse_points(data.astype(np.float64))
        rows = np.asarray(data, np.float64)
        if shift is not None:
            rows = rows - shift
        return self._dense_points(rows, precision)

    def _dense_points(self, rows: np.ndarray, precision: str) -> Points:
        """Offsets become columns of the factors, so that one product gives the whole argument."""
        ones = np.ones((rows.shape[0], 1))
        if self.name == "rbf":
            half = -self.gamma * np.einsum("ij,ij->i", rows, rows)[:, None]
            if precision == "float32" and -half.min(initial=0.0) > _SINGLE:
                precision = "float64"
            scaled = np.sqrt(2.0 * self.gamma) * rows
            left, right = np.hstack([scaled, half, ones]), np.hstack([scaled, ones, half])
        elif self.name in ("poly", "sigmoid"):
            left, right = np.hstack([self.gamma * rows, self.coef0 * ones]), np.hstack([rows, ones])
        else:
            left = right = unit_rows(rows) if self.name == "cosine" else rows
        return Points(left.astype(precision, copy=False), right.astype(precision, copy=False))

    def _sparse_points(self, rows: Any) -> Points:
        if self.name == "rbf":
            return Points(2.0 * self.gamma * rows, rows, -self.gamma * squared_lengths(rows))
        if self.name in ("poly", "sigmoid"):
            return Points(self.gamma * rows, rows, np.full(rows.shape[0], self.coef0 / 2.0))
        rows = unit_rows(rows) if self.name == "cosine" else rows
        return Points(rows, rows)

    def tile(self, first: Points, second: Points) -> np.ndarray:
        """k(x, y) for all x of the first and y of the second."""
        if self.name == "precomputed":
            raise InputError("A precomputed kernel knows the points that it was computed for, and no others.")
        if self.name == "function":
            return self._called(first.left, second.right)
        if self.name == "laplacian":
            return self._laplacian(first.left, second.right)
        if is_sparse(first.left) or is_sparse(second.right):
            argument = _dense(first.left @ second.right.T)
        else:
            argument = np.matmul(first.left, second.right.T)
        if first.offset is not None and second.offset is not None:
            argument += first.offset[:, None]
            argument += second.offset
        return self._finish(argument)

    def _finish(self, argument: np.ndarray) -> np.ndarray:
        if self.name == "rbf":
            np.minimum(argument, 0.0, out=argument)
            return np.asarray((np.expm1 if self.lowered else np.exp)(argument, out=argument))
        if self.name == "sigmoid":
            return np.asarray(np.tanh(argument, out=argument))
        if self.name == "poly":
            with np.errstate(over="ignore", invalid="ignore"):
                return power(argument, self.degree)
        return argument

    def _laplacian(self, first: Any, second: Any) -> np.ndarray:
        from eckart.kernels.manhattan import manhattan

        rows = np.ascontiguousarray(_dense(first))
        columns = np.ascontiguousarray(_dense(second).T)
        distances = np.zeros((rows.shape[0], columns.shape[1]))
        manhattan(rows, columns, distances)
        distances *= -self.gamma
        return np.asarray(np.exp(distances, out=distances))

    def _called(self, first: Any, second: Any) -> np.ndarray:
        assert self.function is not None
        symmetric = first is second
        result = np.empty((first.shape[0], second.shape[0]))
        for i in range(first.shape[0]):
            for j in range(i if symmetric else 0, second.shape[0]):
                result[i, j] = float(self.function(first[i], second[j], **self.params))
                if symmetric:
                    result[j, i] = result[i, j]
        return result

    def diagonal(self, data: Any) -> np.ndarray:
        """k(x, x) for every row."""
        rows = data.shape[0]
        if self.name == "precomputed":
            return np.asarray(data.diagonal(), np.float64)
        if self.name == "function":
            assert self.function is not None
            return np.array([float(self.function(data[i], data[i], **self.params)) for i in range(rows)])
        if self.name in ("rbf", "laplacian"):
            return np.zeros(rows) if self.lowered else np.ones(rows)
        squares = squared_lengths(data)
        if self.name == "cosine":
            return (squares > 0).astype(np.float64)
        if self.name == "linear":
            return squares
        return self._finish(self.gamma * squares + self.coef0)


def alike(rows: Any, support: Any) -> Any:
    """The rows, sparse or dense as the support is."""
    if is_sparse(support) and not is_sparse(rows):
        from scipy import sparse

        return sparse.csr_array(rows)
    return rows.toarray() if is_sparse(rows) and not is_sparse(support) else rows


def power(base: np.ndarray, exponent: float) -> np.ndarray:
    """base^exponent; whole exponents by products, which is faster and takes negative bases."""
    if not float(exponent).is_integer() or exponent < 0:
        return np.asarray(np.power(base, exponent))
    result, factor, left = None, base, int(exponent)
    while left:
        if left & 1:
            result = factor.copy() if result is None else np.multiply(result, factor, out=result)
        left >>= 1
        if left:
            factor = factor * factor
    return np.ones_like(base) if result is None else result


def squared_lengths(data: Any) -> np.ndarray:
    if is_sparse(data):
        return np.asarray(data.multiply(data).sum(axis=1), np.float64).ravel()
    return np.asarray(np.einsum("ij,ij->i", data, data, dtype=np.float64))


def unit_rows(data: Any) -> Any:
    """x / |x|; rows of zeros stay."""
    if not is_sparse(data):
        data = np.asarray(data, np.float64)
        largest = np.abs(data).max(axis=1, keepdims=True, initial=0.0)
        data = data / np.where(largest > 0, largest, 1.0)
    lengths = np.sqrt(squared_lengths(data))
    factors = 1.0 / np.where(lengths > 0, lengths, 1.0)
    if is_sparse(data):
        from scipy import sparse

        return sparse.csr_array(sparse.diags_array(factors) @ data)
    return data * factors[:, None]


def _dense(rows: Any) -> np.ndarray:
    return np.asarray(rows.toarray() if is_sparse(rows) else rows, np.float64)
