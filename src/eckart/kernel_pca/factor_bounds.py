"""Bounds for a kernel K ~ F^T F with pivots P from a factor F of limited precision; every error is measured in float64.

With Q all other points, E = K_P - F_P^T F the error on the pivots, and W = F_P^-1 F,

    K = F^T F + [[E_PP, E_PQ], [E_QP, 0]] + [[0, 0], [0, S]],     S = S' + W^T E_PQ + E_QP W - W^T E_PP W,

where S' = (-W, I)^T K (-W, I) is positive semi-definite because K is. So S has at most

    negative = 2 |W| |E| + |W|^2 |E_PP|        (Frobenius norms; it bounds the nuclear norm of S - S')

of negative eigenvalues. Its trace is known. With e = trace of K - F^T F on Q and the bound 1.62 |E| of the block of E
(Weyl),

    l_i(H K H) <= l_i(H F^T F H) + e + 2 negative + 1.62 |E|.

Lower bounds are Ritz values: with coefficients B on the pivots, l_i(H K H) >= s_i(H K[:, P] B)^2 / |B^T K_PP B|. For a
kernel that may be indefinite, l_i is within |K - F^T F| of those of F, measured by one pass over all of K.

|E|, |W| and the error of F F^T are measured by random combinations of their columns, drawn after F was made (see
`rounding.measured`): no model of the arithmetic is involved.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from eckart.arrays import Array, astype, empty_rows, from_numpy, is_numpy, namespace, to_numpy
from eckart.engine.backends.orthogonal import gaussian
from eckart.engine.parallel import each, fold
from eckart.kernel_pca.cholesky import Factor, FactorComponents
from eckart.kernel_pca.constants import (
    BLOCK_NORM,
    BOUND_STRIP,
    DEVICE_BOUND_STRIP,
    FAILURE_PROBABILITY,
    MEASURED_SUMS,
)
from eckart.kernel_pca.kernel_matrix import KernelMatrix
from eckart.kernel_pca.rounding import UNIT, measured


@dataclass(frozen=True)
class Evidence:
    """Sums over all points: K_P Z, F Z, (F - m)(F - m)^T Y, ||F - m||^2 and ||K_P||^2, for standard normal Z and Y."""

    kernel: np.ndarray
    factor: np.ndarray
    gram: np.ndarray
    total: float
    norm: float
    strip: int = BOUND_STRIP
    """Points of one sum."""

    def joined(self, other: Evidence) -> Evidence:
        return Evidence(
            self.kernel + other.kernel, self.factor + other.factor, self.gram + other.gram, self.total + other.total,
            self.norm + other.norm, max(self.strip, other.strip),
        )  # fmt: skip


@dataclass(frozen=True)
class FactorError:
    """Errors of F, in the units of K."""

    grams: float
    """Error of the computed (F - m)(F - m)^T in the Frobenius norm."""
    apart: float
    """Bound of the difference between eigenvalues and products of H K H and those of H F^T F H."""
    missing: float
    """Bound of the missing trace, and of the total by which eigenvalues of H K H exceed those of H F^T F H."""
    total: float
    """Trace of H F^T F H."""
    slack: float
    """Bound of the effect of rounding on the trace of H K H, relative to `total` plus the missing part."""
    failure_probability: float
    positive: bool = True
    negative: float = 0.0
    """Bound of the sum of the negative eigenvalues of H K H, without sign."""

    @property
    def excess(self) -> float:
        """Bound of the difference between an eigenvalue of H K H and that of the computed Gram matrix."""
        return self.grams + self.apart

    def gain(self, k: int) -> float:
        """Bound of the amount by which the sum of k eigenvalues exceeds that of F."""
        return self.missing if self.positive else k * self.apart

    def indefinite(self, apart: float, size: int) -> FactorError:
        """For a kernel that need not be positive: `apart` bounds ||K - F^T F||_F.

        F^T F has no negative eigenvalues, so those of K are at least those of K - F^T F: their sum is at most half of
        its nuclear norm if its trace is not negative, and at most all of it otherwise.
        """
        chance = self.failure_probability + FAILURE_PROBABILITY
        slack = self.slack + self.missing + apart
        negative = size**0.5 * apart
        return replace(self, apart=apart, slack=slack, failure_probability=chance, positive=False, negative=negative)


def seen(kernel: Array, factor: Array, mean: Array, normal: Array, probes: Array) -> Evidence:
    """The sums over some points: their columns of K_P, of F, and rows of Z."""
    centred = factor - mean[:, None]
    xp = namespace(centred)
    return Evidence(
        to_numpy(kernel @ normal), to_numpy(factor @ normal), to_numpy(centred @ (centred.T @ probes)),
        float(xp.sum(centred * centred)), float(xp.sum(kernel * kernel)), int(factor.shape[1]),
    )  # fmt: skip


def read_kernel(
    matrix: KernelMatrix, made: Factor, components: FactorComponents, dual: Array, rng: np.random.Generator
) -> tuple[Evidence, np.ndarray, Array]:
    """(sums over all points, Y, K[:, P] B) in one float64 pass over the chosen rows of K."""
    factor = made.factor
    normal = gaussian(rng, matrix.size, MEASURED_SUMS, dual)
    small = rng.standard_normal((len(made.pivots), MEASURED_SUMS))
    probes, mean, index = from_numpy(small, dual), from_numpy(components.mean, dual), from_numpy(made.pivots, dual)
    image = empty_rows(matrix.size, dual.shape[1], dual)
    rows = matrix.precise_rows(index)

    def step(strip: slice) -> Evidence:
        kernel = rows(strip.start, strip.stop)
        image[strip, :] = kernel.T @ dual
        part = astype(factor[:, strip], namespace(dual).float64)
        return seen(kernel, part, mean, normal[strip, :], probes)

    return fold(step, _strips(factor), Evidence.joined, workers=_workers(factor)), small, image


def factor_error(
    evidence: Evidence, probes: np.ndarray, block: np.ndarray, pivots: np.ndarray, gram: np.ndarray, error: float,
    trace: float, points: int, kernel_error: float,
) -> FactorError:  # fmt: skip
    """From the sums, K_PP, F_P, the computed (F - m)(F - m)^T, the trace of K - F^T F and that of K."""
    rank = len(block)
    # Rounding of the sums themselves: of the products of a strip, of the sums over strips, and of F_P^T (F Z).
    unit = (evidence.strip + points / evidence.strip + rank + 8) * UNIT
    size = float(np.sqrt(evidence.norm) + np.linalg.norm(pivots) * np.sqrt(trace)) * float(
        np.sqrt(points * MEASURED_SUMS)
    )
    coupling = measured(evidence.kernel - pivots.T @ evidence.factor) + unit * size + kernel_error
    own = float(np.linalg.norm(block - pivots.T @ pivots)) + kernel_error
    own += (rank + 2) * UNIT * float(np.linalg.norm(pivots)) ** 2
    try:
        width = measured(np.linalg.solve(pivots, evidence.factor)) * (1.0 + 1e-3)
    except np.linalg.LinAlgError:
        width = np.inf
    negative = 2.0 * width * coupling + width**2 * min(own, coupling) if coupling else 0.0
    grams = measured(gram @ probes - evidence.gram) + 2 * unit * evidence.total * float(np.sqrt(rank * MEASURED_SUMS))
    summed = (rank + 8) * UNIT * trace
    slack = 2.0 * negative + 2.0 * np.sqrt(rank) * coupling + summed
    apart = error + 2.0 * negative + BLOCK_NORM * coupling + summed
    return FactorError(grams, apart, error + slack, evidence.total, slack, 3 * FAILURE_PROBABILITY)


def ritz_bounds(
    gram: np.ndarray, block: np.ndarray, dual: np.ndarray, trace: float, points: int, kernel_error: float
) -> np.ndarray:
    """Lower bounds of the leading eigenvalues, from (H K_P^T B)^T (H K_P^T B), diagonal except for rounding, and K_PP.

    The first i columns of B give the first i bounds, so that large coefficients of later columns do not affect them.
    """
    rank = len(block)
    form = dual.T @ block @ dual
    lengths = np.cumsum(np.sum(dual * dual, axis=0))
    along = np.minimum.accumulate(np.diagonal(gram)) - _corners(gram)
    most = np.maximum.accumulate(np.diagonal(form)) + _corners(form)
    most = most + ((2 * rank + 8) * UNIT * float(np.trace(block)) + kernel_error) * lengths
    unit = (rank + 8) * UNIT * float(np.sqrt(trace * np.trace(block))) + kernel_error
    centring = (points + 8) * UNIT * np.sqrt(np.cumsum(np.diagonal(gram)))
    lost = unit * np.sqrt(lengths) + centring
    squares = np.maximum(np.sqrt(np.maximum(along, 0.0)) - lost, 0.0) ** 2
    return np.asarray(np.divide(squares, most, out=np.zeros_like(squares), where=squares > 0.0))


def _corners(matrix: np.ndarray) -> np.ndarray:
    """Frobenius norms of the leading submatrices without their diagonals."""
    squares = 2.0 * np.sum(np.tril(matrix, -1) ** 2, axis=1)
    return np.asarray(np.sqrt(np.cumsum(squares)))


def residuals_of(factor: Array, mean: np.ndarray, vectors: Array, values: np.ndarray) -> np.ndarray:
    """||H F^T F H v - l v|| for orthonormal columns v that have mean zero, in float64."""
    xp = namespace(vectors)
    middle, scale = from_numpy(mean, vectors)[:, None], from_numpy(values, vectors)

    def image(strip: slice) -> Array:
        return (astype(factor[:, strip], xp.float64) - middle) @ vectors[strip, :]

    whole = fold(image, _strips(factor), lambda first, second: first + second, workers=_workers(factor))
    rest = empty_rows(vectors.shape[0], vectors.shape[1], vectors)

    def step(strip: slice) -> None:
        rest[strip, :] = (astype(factor[:, strip], xp.float64) - middle).T @ whole - vectors[strip, :] * scale

    each(step, _strips(factor), workers=_workers(factor))
    return np.asarray(np.sqrt(to_numpy(xp.sum(rest * rest, axis=0))))


def whole_error(matrix: KernelMatrix, factor: Array, rng: np.random.Generator) -> float:
    """Bound of ||K - F^T F||_F by one pass over K."""
    xp = namespace(matrix.diagonal)
    normal = gaussian(rng, matrix.size, MEASURED_SUMS, matrix.diagonal)
    product, _ = matrix.precise(normal)

    def image(strip: slice) -> Array:
        return astype(factor[:, strip], xp.float64) @ normal[strip, :]

    whole = fold(image, _strips(factor), lambda first, second: first + second, workers=_workers(factor))

    def step(strip: slice) -> None:
        product[strip, :] -= astype(factor[:, strip], xp.float64).T @ whole

    each(step, _strips(factor), workers=_workers(factor))
    length = matrix.length() + abs(float(xp.sum(matrix.diagonal)))
    unit = (matrix.side + matrix.size / matrix.side + factor.shape[0] + 8) * UNIT
    return float(measured(to_numpy(product)) + 2 * unit * length * np.sqrt(matrix.size * MEASURED_SUMS))


def _strips(factor: Array) -> list[slice]:
    size, width = factor.shape[1], BOUND_STRIP if is_numpy(factor) else DEVICE_BOUND_STRIP
    return [slice(start, min(start + width, size)) for start in range(0, size, width)]


def _workers(factor: Array) -> int | None:
    return None if is_numpy(factor) else 1
