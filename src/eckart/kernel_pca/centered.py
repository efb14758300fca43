"""Eigenpairs of H K H, H = I - 1 1^T / n. H K H q = h(K h(q)), where h subtracts the mean of a column.

All eigenvalues, from the whole matrix, are computed here; the leading ones in `leading`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from eckart.arrays import EPSILON, Array, from_numpy, is_host, namespace, to_numpy
from eckart.engine.backends.symmetric import by_all, leading_pairs, spectrum_and_pairs
from eckart.engine.solution import Request, Solution, count_for
from eckart.kernel_pca.constants import ALL_VECTORS_FROM
from eckart.kernel_pca.positive_part import PositivePart, of_spectrum, of_trace


class Symmetric(Protocol):
    """A symmetric matrix as this solver sees it."""

    size: int
    precision: str
    diagonal: Array
    prototype: Array
    """Determines the library and the device of all arrays."""

    def first(self, right: Array) -> tuple[Array, Array]: ...
    def matmat(self, right: Array) -> Array: ...
    def precise(self, right: Array, kept: int = 0) -> tuple[Array, float]: ...
    def length(self) -> float: ...
    def error(self) -> float: ...
    def reach(self, means: Array) -> float: ...
    def sharpen(self) -> None: ...
    def dense(self) -> Array: ...


@dataclass(frozen=True)
class Centred:
    """Eigenpairs of H K H, and the means for centring."""

    solution: Solution
    """The eigenpairs; eigenvalues take the role of squared singular values."""
    means: Array
    """K 1 / n."""
    part: PositivePart
    """Sum of the positive eigenvalues."""
    smallest: float
    """The smallest eigenvalue, or an upper bound of it."""
    difference: float = 0.0
    """||K in float64 - K in use||_F."""
    undecided: bool = False
    """Whether the bounds of the positive part leave open how many components reach the requested share."""


def off_mean(block: Array) -> Array:
    return block - namespace(block).mean(block, axis=0)


def solve_whole(matrix: Symmetric, request: Request, *, positive: bool = False) -> Centred:
    """All eigenvalues by LAPACK, keeping the wanted pairs; only these if K has no negative eigenvalues."""
    whole, means, left = centred_dense(matrix)
    xp, size = namespace(whole), matrix.size
    trace = float(xp.linalg.trace(whole))
    few = positive and is_host(whole) and request.k is not None and not by_all(size, request.k + 1)
    values, vectors = _leading(whole, (request.k or 0) + 1) if few else _eigenpairs(whole, request.k)
    norm = max(float(values[0]), -float(values[-1]))
    kernel = matrix.error()
    slack = kernel + 4.0 * EPSILON * (left + size**0.5 * norm)
    total_error = 3.0 * kernel + 4.0 * EPSILON * size**0.5 * left
    part = of_trace(trace, total_error) if positive else of_spectrum(values, trace, total_error, slack)
    k = min(size, count_for(np.maximum(values, 0.0), part.total, request))
    if few:
        solution = Solution(
            solver="direct", values=values[:k], vectors=vectors[:, :k], lower=values - slack, upper=values + slack,
            residuals=np.full(k, slack), rounding=2 * slack,
        )  # fmt: skip
        return Centred(solution, means, part, 0.0)  # no eigenvalue of such a kernel is negative
    solution = Solution(
        solver="direct", values=values[:k], vectors=vectors[:, :k], lower=values[:k] - slack, upper=values[:k] + slack,
        residuals=np.full(k, slack), spectrum=values, rounding=2 * slack,
    )  # fmt: skip
    return Centred(solution, means, part, float(values[-1]))


def centred_dense(matrix: Symmetric) -> tuple[Array, Array, float]:
    """(H K H, K 1 / n, norm of K minus its means, to which rounding is proportional)."""
    whole = matrix.dense()
    xp = namespace(whole)
    means = xp.mean(whole, axis=1)
    whole -= means
    # Subtraction rounds in proportion to its result; the second one removes what rounding left of the mean.
    left = _norm(whole)
    whole -= (means - xp.mean(means))[:, None]
    for axis in (0, 1):
        whole -= xp.mean(whole, axis=axis, keepdims=True)
    return (whole + whole.T) / 2.0, means, left


def _norm(whole: Array) -> float:
    """||A||_F."""
    if isinstance(whole, np.ndarray):
        return math.sqrt(float(np.einsum("ij,ij->", whole, whole)))  # BLAS would use several threads for this
    xp = namespace(whole)
    return float(xp.sqrt(xp.sum(whole * whole)))


def _leading(whole: Array, count: int) -> tuple[np.ndarray, Array]:
    values, vectors = leading_pairs(whole, count)
    return values, from_numpy(np.ascontiguousarray(vectors), whole)


def _eigenpairs(whole: Array, count: int | None) -> tuple[np.ndarray, Array]:
    """All eigenvalues, decreasing, and at least the vectors of the first `count`, by the faster route."""
    xp, size = namespace(whole), whole.shape[0]
    if is_host(whole) or size < ALL_VECTORS_FROM:
        spectrum, _, vectors = spectrum_and_pairs(to_numpy(whole), size if count is None else min(count, size))
        return spectrum, from_numpy(vectors, whole)
    try:
        values, vectors = xp.linalg.eigh(whole)
    except RuntimeError as error:  # PyTorch's equivalent of NumPy's LinAlgError
        raise np.linalg.LinAlgError(str(error)) from error
    return to_numpy(values)[::-1], xp.flip(vectors, axis=1)
