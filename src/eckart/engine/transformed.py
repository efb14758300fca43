"""Wrappers: a centred, scaled or transposed matrix is another operator; the data are not changed."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from eckart.arrays import Array, DType, astype, is_numpy, namespace
from eckart.engine.backends.select import backend_of
from eckart.engine.operator import MomentsAndProduct, Operator
from eckart.forwarding import forwarded

_PANEL = 64


@dataclass(frozen=True)
class Wrapped:
    """What every wrapper passes on."""

    base: Operator

    dtype: ClassVar[forwarded[DType]] = forwarded("base.dtype")
    precision: ClassVar[forwarded[str]] = forwarded("base.precision")
    prototype: ClassVar[forwarded[Array]] = forwarded("base.prototype")
    passes: ClassVar[forwarded[int]] = forwarded("base.passes")

    @property
    def shape(self) -> tuple[int, int]:
        return self.base.shape

    def rows(self, index: object) -> Array:
        return self.base.rows(index)

    def columns(self, index: object) -> Array:
        return self.base.columns(index)


@dataclass(frozen=True)
class Centered(Wrapped):
    """B = A - l r^T, given s = A^T l and l^T l.

    With l = 1 and r the column means, B has centred columns; with l the means of the rows of A and r = 1, centred rows.
    B^T B Q = A^T A Q - s (r^T Q) - r (s^T Q) + (l^T l) r (r^T Q): one pass over the data.
    """

    left: Array
    right: Array
    sums: Array
    weight: float

    def matmat(self, right: Array) -> Array:
        product = self.base.matmat(right)
        correction = astype(_column(self.left) @ _row(self.right @ right), product.dtype)
        return product - correction

    def rmatmat(self, left: Array) -> Array:
        return self.base.rmatmat(left) - _column(self.right) @ _row(self.left @ astype(left, self.left.dtype))

    def normal(self, right: Array) -> Array:
        return self.correct(right, self.base.normal(right))

    def correct(self, right: Array, product: Array) -> Array:
        """B^T B Q from A^T A Q."""
        means_and_sums, mixed = self._correction
        along = means_and_sums @ right
        return backend_of(product).subtract(product, mixed, along)  # the product is our own copy

    @cached_property
    def _correction(self) -> tuple[Array, Array]:
        """((r, s)^T, (s - w r, r)), whose product is what centring subtracts from A^T A."""
        xp = namespace(self.right)
        mixed = xp.stack([self.sums - self.weight * self.right, self.right])
        return xp.stack([self.right, self.sums]), mixed.T

    def gram(self, right: Array | None = None) -> Array:
        return self.correct_gram(self.base.gram(right), right)

    def correct_gram(self, gram: Array, right: Array | None = None) -> Array:
        """B^T B, or (B Q)^T (B Q), from that of A."""
        r, s = (self.right, self.sums) if right is None else (self.right @ right, self.sums @ right)
        if not is_numpy(gram):
            return gram - _outer(s, r) - _outer(r, s) + self.weight * _outer(r, r)
        for rows in row_panels(len(gram)):
            panel = gram[rows]  # of our own copy
            panel -= _outer(s[rows], r)
            panel -= _outer(r[rows], s)
            panel += self.weight * _outer(r[rows], r)
        return gram

    def moments_and_product(self, right: Array | None = None, *, gram: bool = False) -> MomentsAndProduct:
        raise TypeError("The moments of a centred matrix are already known.")


@dataclass(frozen=True)
class Scaled(Wrapped):
    """B = A diag(1/scale)."""

    scale: Array

    def matmat(self, right: Array) -> Array:
        return self.base.matmat(right / self.scale[:, None])

    def rmatmat(self, left: Array) -> Array:
        return self.base.rmatmat(left) / self.scale[:, None]

    def normal(self, right: Array) -> Array:
        return self.base.normal(right / self.scale[:, None]) / self.scale[:, None]

    def gram(self, right: Array | None = None) -> Array:
        if right is not None:
            return self.base.gram(right / self.scale[:, None])
        return self.base.gram() / _column(self.scale) / _row(self.scale)

    def moments_and_product(self, right: Array | None = None, *, gram: bool = False) -> MomentsAndProduct:
        raise TypeError("The moments of a scaled matrix are already known.")


@dataclass(frozen=True)
class Transposed(Wrapped):
    """B = A^T; a product with B^T B takes two passes over A."""

    @property
    def shape(self) -> tuple[int, int]:
        rows, columns = self.base.shape
        return columns, rows

    def matmat(self, right: Array) -> Array:
        return self.base.rmatmat(right)

    def rmatmat(self, left: Array) -> Array:
        return self.base.matmat(left)

    def normal(self, right: Array) -> Array:
        xp = namespace(right)
        return astype(self.base.matmat(self.base.rmatmat(right)), xp.float64)

    def gram(self, right: Array | None = None) -> Array:
        xp = namespace(self.prototype)
        identity = (
            xp.eye(self.shape[1], dtype=xp.float64)
            if xp is np
            else xp.eye(self.shape[1], dtype=xp.float64, device=self.prototype.device)
        )
        correction = self.base.rmatmat(identity if right is None else right)
        return correction.T @ correction

    def moments_and_product(self, right: Array | None = None, *, gram: bool = False) -> MomentsAndProduct:
        raise TypeError("Take the moments of the matrix, not of its transpose.")


def row_panels(size: int) -> list[slice]:
    """Rows of a square matrix that are changed at a time, because several operations on them stay in cache."""
    return [slice(first, min(first + _PANEL, size)) for first in range(0, size, _PANEL)]


def _column(vector: Array) -> Array:
    return vector[:, None]


def _row(vector: Array) -> Array:
    return vector[None, :]


def _outer(first: Array, second: Array) -> Array:
    return _column(first) * _row(second)
