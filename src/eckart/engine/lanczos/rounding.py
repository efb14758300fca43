"""Rounding errors of a run, measured with random combinations of the basis.

Let E = G M - (M T + R), with the computed matrices. For a standard normal Z (D x r) independent of E,
||E|| <= ||E Z|| / c with probability 1 - p, where c^2 is the p-quantile of chi-square with r degrees of freedom. Proof:
with the leading singular triplet (s, u, v) of E, ||E Z|| >= ||u^T E Z|| = s ||v^T Z||, and v^T Z is standard normal.

Z is never used by the run, so it is independent of E whenever it is drawn.

The computed R has a part along M, which rounding has left in it and the proofs do not expect: it counts as part of E,
||E + M M^T R|| <= ||E|| + ||M^T R||_F.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from eckart.arrays import EPSILON, Array
from eckart.engine.backends.base import Backend
from eckart.engine.certificate import inner_accurately
from eckart.engine.lanczos import accurate
from eckart.engine.lanczos.probe_bound import length_quantile
from eckart.engine.standardize.rounding import gamma

if TYPE_CHECKING:
    from eckart.engine.lanczos.basis import Basis

WIDTH = 16
"""r: columns of Z. At p = 1e-10, c is 0.66."""
WIDTHS = (8, 12, WIDTH, 24)
"""Columns of a float64 pass over float32 products, as few as the goal allows; c is 0.12, 0.36, 0.66 and 1.29."""


@dataclass
class ErrorMeter:
    """E without the given error of the products: Y = sum_j (G Q_j) Z_j is accumulated during the run.

    ||E|| <= ||E Z|| / c + the error of the products, and after a restart the whole error of the basis that was
    compressed.
    """

    backend: Backend
    rng: Callable[[], np.random.Generator]
    products_error: Callable[[int], float]
    """Bound of ||fl(G M) - G M|| for so many columns."""
    probability: Callable[[], float]
    """Failure probability for the next measurement."""
    factors: list[np.ndarray] = field(default_factory=list)
    """The rows of Z, block by block."""
    total: Array | None = None
    """Y."""
    lengths: list[float] = field(default_factory=list)
    """||G Q_j||_F."""
    columns: int = 0
    """Columns whose products have the error `products_error`."""
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
        """||E|| for all columns of the basis; fails with the assigned probability.

        E Z is Y - M (T Z) - R Z', except for the error of the products. The sum Y is off by gamma(b + s) sum_j ||G
        Q_j||_F ||Z_j||_F, for blocks of b columns in s steps.
        """
        newest, factor = basis.residual_gram.shape[0], np.vstack(self.factors)
        expected, error = inner_accurately(basis.projected, factor)
        rest, length = (basis.rest, _length(basis)) if newest else (None, 0.0)
        residue = accurate.Residue(self.total, expected, error, rest, length, factor[len(factor) - newest :])
        seen, own = accurate.error_gram(basis.vectors, residue)
        starts = np.cumsum([0, *(len(part) for part in self.factors[:-1])])
        sizes = np.sqrt(np.add.reduceat(np.einsum("ij,ij->i", factor, factor), starts)) * self.lengths
        terms = max(part.shape[0] for part in self.factors) + len(sizes) + 1
        own += 1.01 * gamma(terms) * float(np.sum(sizes))
        measured = (_root(seen) + own) / length_quantile(self.probability(), WIDTH)
        products = self.inherited + self.products_error(self.columns)
        return float(measured + products + residual_along_basis(self.backend, basis))


def measured_error(
    backend: Backend, basis: Basis, factor: np.ndarray, product: Array, product_error: float, probability: float
) -> float:
    """||E|| from G (M Z), formed in float64 after the run; covers all effects of float32 products on T and R."""
    expected = basis.projected @ factor
    error = product - backend.times(basis.vectors, expected)
    newest = basis.residual_gram.shape[0]
    if newest:
        error = error - backend.times(basis.rest, factor[-newest:])
    size = float(np.linalg.norm(factor))
    # |M| |T Z| and, from the rounding of T Z, |M| |T| |Z|.
    seen = basis.count**0.5 * (float(np.linalg.norm(expected)) + float(np.linalg.norm(basis.projected)) * size)
    own = 1.1 * gamma(basis.count + 4) * (seen + _outside(basis, factor)) + product_error * size
    measured = (_spectral_norm(backend, error) + own) / length_quantile(probability, factor.shape[1])
    return float(measured + residual_along_basis(backend, basis))


def _length(basis: Basis) -> float:
    """||R||_F."""
    return float(np.sqrt(max(np.trace(basis.residual_gram), 0.0)))


def _outside(basis: Basis, factor: np.ndarray) -> float:
    """Bound of ||R Z||_F, the part of G M Z outside the basis."""
    newest = basis.residual_gram.shape[0]
    if newest == 0:
        return 0.0
    return _length(basis) * float(np.linalg.norm(factor[-newest:]))


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
    own = gamma(basis.size + 2) * (basis.count * max(float(np.trace(basis.residual_gram)), 0.0)) ** 0.5
    return float(seen + own)


def lengths(backend: Backend, columns: Array) -> np.ndarray:
    """Of each column."""
    squares = np.diagonal(backend.to_host(backend.inner(columns, columns)))
    return np.asarray(np.sqrt(np.maximum(squares, 0.0)))


def loss_and_error(
    basis: Basis, rng: np.random.Generator, probability: float, enough: float = 0.0
) -> tuple[float, float]:
    """(||I - [F M]^T [F M]||, from 16 random vectors and valid with probability 1 - p; ||E||, 0 without a meter).

    Without a meter, ordinary products are used if they show a loss of at most `enough`. M Z is off by gamma(d) || |M|
    |Z| ||_F <= gamma(d) sqrt(d) ||M|| ||Z||_F, and M^T times it by gamma(n) ||M||_F ||M Z||_F.
    """
    count, meter = sum(int(part.shape[1]) for part in basis.known), basis.meter
    if count == 0:
        return 0.0, 0.0
    factor, length = rng.standard_normal((count, WIDTH)), length_quantile(probability, WIDTH)
    own = 1.1 * (gamma(basis.size + 2) + 2.0 * gamma(count + 2)) * count**0.5 * float(np.linalg.norm(factor))
    if meter is None and 1.2 * own <= enough * length:
        loss = (_norm(_plain_loss(basis, factor)) + own) / length
        if loss <= enough:
            return float(loss), 0.0
    seen, own = accurate.loss(basis.known, factor)
    loss = float((_norm(seen) + own) / length)
    return loss, 0.0 if meter is None else meter.bound(basis)


def _plain_loss(basis: Basis, factor: np.ndarray) -> np.ndarray:
    """(M^T M - I) Z by ordinary products."""
    backend, product, first = basis.backend, None, 0
    for part in basis.known:
        seen = backend.times(part, factor[first : first + part.shape[1]])
        product, first = seen if product is None else product + seen, first + int(part.shape[1])
    along = np.concatenate([backend.to_host(backend.inner(part, product)) for part in basis.known])
    return np.asarray(along - factor)


def _spectral_norm(backend: Backend, tall: Array) -> float:
    return _root(backend.to_host(backend.inner(tall, tall)))


def _norm(tall: np.ndarray) -> float:
    """||E|| for a few columns on the host, which takes less time than their singular values."""
    return _root(tall.T @ tall)


def _root(gram: np.ndarray) -> float:
    """||E||, given E^T E with its rounding errors, and not less."""
    return float(np.sqrt(max(np.linalg.eigvalsh((gram + gram.T) / 2.0)[-1], 0.0))) * (1.0 + 1e-6)
