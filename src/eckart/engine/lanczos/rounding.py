"""Rounding errors of a run, measured with random combinations of the basis.

Let E = G M - (M T + R), with the computed matrices. For a standard normal Z (D x r) independent of E,
||E|| <= ||E Z|| / c with probability 1 - p, where c^2 is the p-quantile of chi-square with r degrees of freedom. Proof:
with the leading singular triplet (s, u, v) of E, ||E Z|| >= ||u^T E Z|| = s ||v^T Z||, and v^T Z is standard normal.

Z is never used by the run, so it is independent of E whenever it is drawn.

The computed R has a part along M, which rounding has left in it and the proofs do not expect: it counts as part of E,
||E + M M^T R|| <= ||E|| + ||M^T R||_F.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from eckart.arrays import EPSILON, Array
from eckart.engine.backends.base import Backend
from eckart.engine.lanczos.probe_bound import length_quantile

if TYPE_CHECKING:
    from eckart.engine.lanczos.basis import Basis

WIDTH = 16
"""r: columns of Z. At p = 1e-10, c is 0.66."""
WIDTHS = (8, 12, WIDTH, 24)
"""Columns of a float64 pass over float32 products, as few as the goal allows; c is 0.12, 0.36, 0.66 and 1.29."""
_CHUNK = 64


@dataclass
class ErrorMeter:
    """E without the given error of the products: Y = sum_j (G Q_j) Z_j is accumulated during the run.

    ||E|| <= ||E Z|| / c + the error of the products: `product_error` for each column of a block, and after a restart
    the whole error of the basis that was compressed.
    """

    backend: Backend
    rng: Callable[[], np.random.Generator]
    product_error: Callable[[], float]
    """Bound of ||fl(G q) - G q|| for a unit vector q."""
    probability: Callable[[], float]
    """Failure probability for the next measurement."""
    factors: list[np.ndarray] = field(default_factory=list)
    """The rows of Z, block by block."""
    total: Array | None = None
    """Y."""
    lengths: list[float] = field(default_factory=list)
    """||G Q_j||_F."""
    columns: int = 0
    """Columns whose product has the error `product_error`."""
    inherited: float = 0.0
    """Error of the compressed columns."""

    def observe(self, product: Array) -> None:
        """Add G Q_j Z_j before the product is overwritten."""
        self._add(product)
        self.columns += product.shape[1]

    def _add(self, product: Array) -> None:
        factor = self.rng().standard_normal((product.shape[1], WIDTH))
        part = self.backend.times(product, factor)
        self.factors.append(factor)
        if self.total is None:
            self.total = part
        else:
            self.total += part

    def note_length(self, length: float) -> None:
        self.lengths.append(length)

    def compress(self, basis: Basis, vectors: Array, values: np.ndarray, tail: np.ndarray) -> None:
        """G M X = M X Theta + R X + E X: its error is at most the current one, and its product follows from it."""
        self.inherited, self.columns = self.bound(basis), 0
        self.factors, self.lengths, self.total = [], [], None
        product = self.backend.times(vectors, np.diag(values))
        if tail.size:
            product = product + self.backend.times(basis.rest, tail)
        self._add(product)
        self.note_length(float(np.sqrt(np.sum(values**2) + np.sum(tail * (basis.residual_gram @ tail)))))

    def bound(self, basis: Basis) -> float:
        """||E|| for all columns of the basis; fails with the assigned probability."""
        newest = basis.residual_gram.shape[0]
        factor = np.vstack(self.factors)
        expected = basis.projected @ factor
        error = self.total
        for start in range(0, basis.count, _CHUNK):
            stop = min(start + _CHUNK, basis.count)
            error = error - self.backend.times(basis.vectors[:, start:stop], expected[start:stop])
        if newest:
            error = error - self.backend.times(basis.rest, factor[-newest:])
        measured = _spectral_norm(self.backend, error)
        starts = np.cumsum([0, *(len(part) for part in self.factors[:-1])])
        sizes = np.sqrt(np.add.reduceat(np.einsum("ij,ij->i", factor, factor), starts)) * self.lengths
        outside = _outside(basis, factor)
        terms = max(_CHUNK, *(part.shape[0] for part in self.factors)) + basis.count / _CHUNK + len(sizes) + 4
        own = EPSILON * terms * (float(np.sum(sizes)) + basis.count**0.5 * float(np.linalg.norm(expected)) + outside)
        products = self.inherited + self.columns**0.5 * self.product_error()
        along = residual_along_basis(self.backend, basis)
        return float((measured + own) / length_quantile(self.probability(), WIDTH) + products + along)


def measured_error(
    backend: Backend, basis: Basis, factor: np.ndarray, product: Array, product_error: float, probability: float
) -> float:
    """||E|| from G (M Z), formed in float64 after the run; covers all effects of float32 products on T and R."""
    expected = basis.projected @ factor
    error = product
    for start in range(0, basis.count, _CHUNK):
        stop = min(start + _CHUNK, basis.count)
        error = error - backend.times(basis.vectors[:, start:stop], expected[start:stop])
    newest = basis.residual_gram.shape[0]
    if newest:
        error = error - backend.times(basis.rest, factor[-newest:])
    terms = 2 * _CHUNK + basis.count / _CHUNK + 4
    size = float(np.linalg.norm(factor))
    seen = 2.0 * basis.count**0.5 * float(np.linalg.norm(expected)) + _outside(basis, factor)
    own = EPSILON * terms * seen + product_error * size
    measured = (_spectral_norm(backend, error) + own) / length_quantile(probability, factor.shape[1])
    return float(measured + residual_along_basis(backend, basis))


def _outside(basis: Basis, factor: np.ndarray) -> float:
    """Bound of ||R Z||_F, the part of G M Z outside the basis."""
    newest = basis.residual_gram.shape[0]
    if newest == 0:
        return 0.0
    return float(np.sqrt(max(np.trace(basis.residual_gram), 0.0))) * float(np.linalg.norm(factor[-newest:]))


def measured_projected_error(
    backend: Backend, basis: Basis, factor: np.ndarray, product: Array, product_error: float, probability: float
) -> float:
    """||M^T G M - T||, likewise from M^T (G M Z) - T Z.

    Rounding errors point in all n directions. Those within the D of the basis move the Ritz values. The others, by far
    the larger part, couple them to the complement and enter squared (`finish.with_rounding`).
    """
    expected = basis.projected @ factor
    seen = backend.to_host(backend.inner(basis.vectors, product))
    size, root = float(np.linalg.norm(factor)), basis.count**0.5
    terms = (basis.size + 2) * root * float(np.linalg.norm(lengths(backend, product)))
    own = EPSILON * (terms + basis.count * root * float(np.linalg.norm(expected))) + product_error * size
    return float((_norm(seen - expected) + own) / length_quantile(probability, factor.shape[1]))


def residual_along_basis(backend: Backend, basis: Basis) -> float:
    """||M^T R||_F, zero except for rounding."""
    newest = basis.residual_gram.shape[0]
    if newest == 0:
        return 0.0
    seen = float(np.linalg.norm(backend.to_host(backend.inner(basis.vectors, basis.rest))))
    own = EPSILON * (basis.size + 2) * (basis.count * max(float(np.trace(basis.residual_gram)), 0.0)) ** 0.5
    return float(seen + own)


def lengths(backend: Backend, columns: Array) -> np.ndarray:
    """Of each column."""
    squares = np.diagonal(backend.to_host(backend.inner(columns, columns)))
    return np.asarray(np.sqrt(np.maximum(squares, 0.0)))


def orthogonality_loss(
    backend: Backend, parts: tuple[Array, ...], rng: np.random.Generator, probability: float
) -> float:
    """||I - M^T M|| for M = (M_1, M_2, ...), from 16 random vectors."""
    edges = np.cumsum([int(part.shape[1]) for part in parts])
    count = int(edges[-1])
    if count == 0:
        return 0.0
    factor = rng.standard_normal((count, WIDTH))
    pieces = zip(parts, np.split(factor, edges[:-1]), strict=True)
    product = functools.reduce(operator.add, (backend.times(part, piece) for part, piece in pieces))
    seen = np.concatenate([backend.to_host(backend.inner(part, product)) for part in parts])
    own = EPSILON * 4.0 * count**0.5 * float(np.linalg.norm(factor))
    return float((_norm(seen - factor) + own) / length_quantile(probability, WIDTH))


def _spectral_norm(backend: Backend, tall: Array) -> float:
    return _root(backend.to_host(backend.inner(tall, tall)))


def _norm(tall: np.ndarray) -> float:
    """||E|| for a few columns on the host, which takes less time than their singular values."""
    return _root(tall.T @ tall)


def _root(gram: np.ndarray) -> float:
    """||E||, given E^T E with its rounding errors, and not less."""
    return float(np.sqrt(max(np.linalg.eigvalsh((gram + gram.T) / 2.0)[-1], 0.0))) * (1.0 + 1e-6)
