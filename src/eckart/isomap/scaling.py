"""Classical scaling: coordinates with given squared distances S, from the leading eigenpairs of B = -1/2 J S J.

B = V diag(l) V^T, coordinates V sqrt(l). B need not be positive: distances along a graph are not exactly Euclidean, and
the negative eigenvalues measure by how much. J = I - 1 1^T / n is applied to vectors, never to S.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from eckart.arrays import EPSILON
from eckart.engine.backends import orthogonal
from eckart.engine.backends.symmetric import leading_values, spectrum_and_pairs
from eckart.engine.lanczos.block_lanczos import block_lanczos
from eckart.engine.lanczos.terms import Matrix, Start, Target
from eckart.engine.parallel import each, fold
from eckart.engine.solution import Solution
from eckart.isomap.constants import SCALED_ROWS, SPECTRUM_SAMPLE


@dataclass(frozen=True)
class Squares:
    """S, n x n, stored in float32 or float64 and multiplied in float64, with its row means in float64."""

    matrix: np.ndarray
    means: np.ndarray

    @property
    def size(self) -> int:
        return int(self.matrix.shape[0])

    @property
    def mean(self) -> float:
        return float(self.means.mean())

    @property
    def trace(self) -> float:
        """Trace of B: half the mean of all squared distances, times n."""
        return 0.5 * self.size * self.mean

    @property
    def rounding(self) -> float:
        """Bound of the effect of rounding on an eigenvalue of B: ||E||_F / 2, |E_ij| <= e S_ij.

        A distance along the graph is a sum of fewer than n weights, off by at most n u, its square by twice as much.
        Rounding to its dtype and four subtractions for centring follow.
        """
        unit = float(np.finfo(self.matrix.dtype).eps) / 2 + (2 * self.size + 8) * EPSILON / 2
        return unit * self.half_norm

    @property
    def half_norm(self) -> float:
        """Bound of ||S||_F / 2: no entry exceeds the largest row sum."""
        largest = float(self.means.max(initial=0.0)) * self.size
        return 0.5 * float(np.sqrt(np.sum(self.means) * self.size * largest))

    def apply(self, vectors: np.ndarray) -> np.ndarray:
        """B Q, in one pass over S."""
        centred = np.ascontiguousarray(vectors - vectors.mean(axis=0))
        result = np.empty_like(centred)

        def step(rows: slice) -> None:
            np.matmul(self.matrix[rows].astype(np.float64, copy=False), centred, out=result[rows])

        each(step, list(_slices(self.size)))
        result -= result.mean(axis=0)
        result *= -0.5
        return result

    def centred(self, rows: slice | np.ndarray) -> np.ndarray:
        """Rows of B."""
        part = self.matrix[rows].astype(np.float64)
        part -= self.means[rows][:, None]
        part -= self.means
        part += self.mean
        part *= -0.5
        return part

    def squared_norm(self) -> float:
        """||B||_F^2."""
        return fold(lambda rows: float(np.sum(self.centred(rows) ** 2)), list(_slices(self.size)), _plus)


def centred_products(squares: np.ndarray) -> np.ndarray:
    """-1/2 J S J of a small matrix, symmetric to the last bit."""
    squares = (squares + squares.T) / 2.0
    means = squares.mean(axis=0)
    return np.asarray(-0.5 * (squares - means - means[:, None] + means.mean()))


def scale(squares: Squares, k: int, *, dense: bool, tolerance: float, rng: np.random.Generator) -> Solution:
    """The k largest eigenpairs of B, with bounds: all of them by LAPACK, or by block Lanczos."""
    if dense:
        return _dense(squares, k)
    size = squares.size
    if squares.trace == 0.0:
        return Solution("lanczos", np.zeros(k), np.eye(size, k), np.zeros(k), np.zeros(k), np.zeros(k))
    block = min(size, max(6, k + 2))
    start = orthogonal.orthonormalize(orthogonal.gaussian(rng, size, block, squares.means))
    # B has negative eigenvalues, so the trace bounds nothing; only the probes do. Products with B in float64: sums of n
    # terms, and two means, in any order.
    product_error = (3 * size + 8) * 0.5 * EPSILON * squares.half_norm
    matrix = Matrix(size, squares.apply, squares.means, lambda: (np.inf, product_error))
    capacity = min(size, max(6 * k, 2 * k + 12 * block, 256))
    first = Start(start, squares.apply(start), capacity)
    pairs = block_lanczos(matrix, Target(k, tolerance=tolerance), block=block, rng=lambda: rng, start=first)
    slack = pairs.error + squares.rounding
    return Solution(
        "lanczos", pairs.values, pairs.vectors, pairs.lower - squares.rounding, pairs.upper + squares.rounding,
        pairs.residuals + squares.rounding, proved=pairs.proved, converged=pairs.converged,
        failure_probability=pairs.failure_probability, rounding=slack, steps=pairs.steps, block=block,
        basis=pairs.basis, restarts=pairs.restarts,
    )  # fmt: skip


def _dense(squares: Squares, k: int) -> Solution:
    products = centred_products(squares.matrix.astype(np.float64))
    spectrum, values, vectors = spectrum_and_pairs(products, k)
    error = 8 * squares.size**0.5 * EPSILON * float(np.abs(spectrum).max(initial=0.0)) + squares.rounding
    residuals = np.linalg.norm(products @ vectors - vectors * values, axis=0)
    upper = spectrum[: k + 1] + error
    return Solution(
        "direct", values, vectors, values - error, upper, residuals, spectrum=spectrum, rounding=error, steps=1
    )


def negative_share(squares: Squares, solution: Solution) -> float:
    """Sum of |l| over the negative eigenvalues of B as a share of the sum over all; 0 for Euclidean distances.

    From the spectrum if it is known, otherwise from that of an evenly spread sample of rows.
    """
    spectrum = solution.spectrum
    if spectrum is None:
        sample = evenly(squares.size, SPECTRUM_SAMPLE)
        products = centred_products(squares.matrix[np.ix_(sample, sample)].astype(np.float64))
        spectrum = leading_values(products, len(sample))
    return negative_part(spectrum)


def negative_part(spectrum: np.ndarray) -> float:
    """sum of max(-l, 0) / sum of |l|, ignoring rounding relative to the largest eigenvalue."""
    noise = 8 * EPSILON * len(spectrum) * float(np.abs(spectrum).max(initial=0.0))
    total = float(np.abs(spectrum).sum())
    return float(-spectrum[spectrum < -noise].sum()) / total if total > 0 else 0.0


def residual_variance(
    distances: Callable[[np.ndarray], np.ndarray], rows: np.ndarray, coordinates: np.ndarray
) -> np.ndarray:
    """1 - r^2 between distances along the graph and in the first 1, 2, ..., k coordinates, over rows x all rows.

    `distances(i)` are those from rows[i]; the distance of a row to itself does not count.
    """
    k = coordinates.shape[1]

    def step(part: slice) -> np.ndarray:
        along = distances(np.arange(len(rows))[part])
        straight = np.zeros_like(along)
        sums = np.empty((k, 5))
        for j in range(k):
            straight += (coordinates[rows[part], j][:, None] - coordinates[:, j]) ** 2
            flat = np.sqrt(straight)
            sums[j] = along.sum(), flat.sum(), np.vdot(along, along), np.vdot(flat, flat), np.vdot(along, flat)
        return sums

    count = len(rows) * (coordinates.shape[0] - 1)
    total = fold(step, list(_slices(len(rows))), lambda first, second: first + second)
    x, y, xx, yy, xy = total.T
    spread = np.maximum((xx - x * x / count) * (yy - y * y / count), 0.0)
    together = (xy - x * y / count) ** 2
    shared = np.divide(together, spread, out=np.zeros(k), where=spread > 0)
    return np.asarray(np.clip(1.0 - shared, 0.0, 1.0))


def evenly(size: int, count: int) -> np.ndarray:
    """At most `count` of 0, ..., size - 1, evenly spread."""
    return np.unique(np.linspace(0, size - 1, min(size, count)).astype(np.int64))


def _slices(size: int) -> Iterator[slice]:
    for start in range(0, size, SCALED_ROWS):
        yield slice(start, min(start + SCALED_ROWS, size))


def _plus(first: float, second: float) -> float:
    return first + second
