"""Leading eigenpairs of H K H, H = I - 1 1^T / n: a symmetric matrix about its mean, which is never formed.

H K H q = h(K h(q)), where h takes the mean off a column. Block Lanczos works with K in the precision in which it is
kept; one last read in float64 mends the values (Rayleigh quotients err by the square of the vectors' error), measures
what keeping it cost, and gives the row means that new points are centred with.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from eckart.arrays import Array, device, from_numpy, is_host, namespace, to_numpy
from eckart.engine.backends import orthogonal
from eckart.engine.lanczos.block_lanczos import begun, block_lanczos
from eckart.engine.lanczos.terms import Matrix, Pairs, Target
from eckart.engine.solution import Request, Solution, count_for

_UNIT = float(np.finfo(np.float64).eps)
_WITHIN = 1e-3
"""Tiles whose rounding exceeds this share of the last wanted value are made again in float64."""
_DEVICE_SIZE = 512
"""From this size on a GPU finds all eigenvectors sooner than the processor."""


class Symmetric(Protocol):
    """A symmetric matrix, as far as this solver may know it."""

    size: int
    precision: str
    diagonal: Array
    like: Array
    """Shows the library and the device of all arrays."""

    def first(self, right: Array) -> tuple[Array, Array]: ...
    def matmat(self, right: Array) -> Array: ...
    def precise(self, right: Array) -> tuple[Array, float]: ...
    def length(self) -> float: ...
    def sharpen(self) -> None: ...
    def dense(self) -> Array: ...


@dataclass(frozen=True)
class Centred:
    """Eigenpairs of H K H (its eigenvalues in the place of squared singular values), and what they were taken about."""

    solution: Solution
    means: Array
    """K 1 / n."""
    total: float
    """Trace of H K H."""
    smallest: float = 0.0
    """The smallest eigenvalue, or a bound below it."""
    negative: float = 0.0
    """Moduli of the negative eigenvalues as a share of all moduli; where not all are known, |smallest| / largest."""
    difference: float = 0.0
    """||K in float64 - K in use||_F."""


def off_mean(block: Array) -> Array:
    return block - namespace(block).mean(block, axis=0)


def solve_whole(matrix: Symmetric, request: Request) -> Centred:
    """All eigenvalues by LAPACK, the wanted pairs kept."""
    whole = matrix.dense()
    xp, size = namespace(whole), matrix.size
    means = xp.mean(whole, axis=1)
    largest_entry = max(float(xp.max(whole)), -float(xp.min(whole)))
    trace = _centred_trace(matrix, means)
    # Twice: what rounding left of the mean the first time is gone the second.
    for _ in range(2):
        now = xp.mean(whole, axis=1)
        whole -= now
        whole -= (now - xp.mean(now))[:, None]
    values, vectors = _eigenpairs((whole + whole.T) / 2.0)
    slack = 4.0 * _UNIT * size**0.5 * (max(float(values[0]), -float(values[-1])) + largest_entry)
    k = min(size, count_for(np.maximum(values, 0.0), trace, request))
    moduli = float(np.abs(values).sum())
    solution = Solution(
        solver="direct", values=values[:k], vectors=vectors[:, :k], lower=values[:k] - slack, upper=values[:k] + slack,
        residuals=np.full(k, slack), spectrum=values, rounding=2 * slack,
    )  # fmt: skip
    negative = float(np.abs(values[values < 0]).sum()) / moduli if moduli else 0.0
    return Centred(solution, means, trace, float(values[-1]), negative)


def _eigenpairs(whole: Array) -> tuple[np.ndarray, Array]:
    """All eigenvalues, falling, and their vectors, where they are found sooner."""
    xp = namespace(whole)
    if is_host(whole) or whole.shape[0] < _DEVICE_SIZE:
        values, vectors = np.linalg.eigh(to_numpy(whole))
        return values[::-1], from_numpy(vectors[:, ::-1], whole)
    try:
        values, vectors = xp.linalg.eigh(whole)
    except RuntimeError as error:  # PyTorch's word for what NumPy calls LinAlgError
        raise np.linalg.LinAlgError(str(error)) from error
    return to_numpy(values)[::-1], xp.flip(vectors, axis=1)


def _centred_trace(matrix: Symmetric, means: Array) -> float:
    """Trace of H K H, from the row means."""
    xp = namespace(means)
    return float(xp.sum(matrix.diagonal - 2.0 * means + xp.mean(means)))


def solve_few(
    matrix: Symmetric, request: Request, *, block: int, capacity: int, rng: np.random.Generator, positive: bool
) -> Centred:
    """The wanted pairs by block Lanczos; `positive` when K cannot have negative eigenvalues."""
    found = _solve_few(matrix, request, block, capacity, rng, positive)
    kept = float(found.solution.values[-1])
    lacking = not found.solution.proved and not found.solution.settled
    if matrix.precision != "float64" and (lacking or found.difference > _WITHIN * max(kept, 0.0)):
        matrix.sharpen()
        found = _solve_few(matrix, request, block, capacity, rng, positive)
    return found


def _solve_few(
    matrix: Symmetric, request: Request, block: int, capacity: int, rng: np.random.Generator, positive: bool
) -> Centred:
    size, unit = matrix.size, float(np.finfo(matrix.precision).eps)
    start = orthogonal.orthonormalize(off_mean(orthogonal.gaussian(rng, size, block, matrix.like)))
    image, sums = matrix.first(start)
    xp = namespace(sums)
    whole = float(xp.sum(sums)) / size
    if not np.isfinite(whole):
        raise np.linalg.LinAlgError("the kernel is not finite")
    # The sums are those of the tiles in use: 64 units of rounding of their own precision are allowed for them.
    trace = float(xp.sum(matrix.diagonal)) - whole + 64 * unit * abs(whole)
    below, smallest = (0.0, 0.0) if positive else _lowest(matrix, rng, block)
    shift = max(0.0, -below)

    def apply(vectors: Array) -> Array:
        return off_mean(matrix.matmat(off_mean(vectors))) + shift * vectors

    engine = Matrix(size, apply, start[:0, :0], lambda: (trace + shift * size, _UNIT * 16 * max(trace, 0.0)))
    target = Target(request.k, request.share, request.tolerance, request.failure_probability, request.max_reads)
    first = off_mean(image) + shift * start
    pairs = block_lanczos(engine, target, block=block, rng=rng, start=begun(start, first, capacity))
    return _mended(matrix, pairs, shift, block, smallest)


def _mended(matrix: Symmetric, pairs: Pairs, shift: float, block: int, smallest: float) -> Centred:
    """Values and vectors by Rayleigh and Ritz with K in float64."""
    size, k = matrix.size, len(pairs.values)
    basis = pairs.vectors
    xp = namespace(basis)
    ones = xp.ones((size, 1), dtype=basis.dtype, device=device(basis))
    product, difference = matrix.precise(xp.concat([off_mean(basis), ones], axis=1))
    means = product[:, -1] / size
    image = off_mean(product[:, :-1])
    inner = to_numpy(basis.T @ image)
    values, turn = np.linalg.eigh((inner + inner.T) / 2.0)
    values, turn = values[::-1], turn[:, ::-1]
    rotation, scale = from_numpy(turn, basis), from_numpy(values, basis)
    vectors, image = basis @ rotation, image @ rotation
    residuals = to_numpy(_lengths(image - vectors * scale))
    # K v / l has less of what does not belong to it than v, and is what a projection of the same rows gives.
    sharp = from_numpy(values > 1e-6 * values[0], basis)
    vectors[:, sharp] = image[:, sharp] / _lengths(image[:, sharp])
    raw = float(xp.sum(xp.abs(means))) + float(values[0])
    rounding = 16 * _UNIT * raw
    unseen = 2.0 * float(np.finfo(matrix.precision).eps) * float(pairs.values[0]) if difference else 0.0
    upper = np.maximum.accumulate((pairs.upper - shift + difference + unseen + rounding)[::-1])[::-1]
    upper[:k] = np.maximum(upper[:k], values + rounding)
    trace = _centred_trace(matrix, means)
    solution = Solution(
        solver="lanczos", values=values, vectors=vectors, lower=values - rounding, upper=upper,
        residuals=residuals + rounding, proved=pairs.proved, settled=pairs.settled,
        failure_probability=pairs.failure_probability, rounding=rounding, steps=pairs.steps, block=block,
        basis=pairs.basis, restarts=pairs.restarts, precision=matrix.precision, history=pairs.history,
    )  # fmt: skip
    negative = max(0.0, -smallest) / float(values[0]) if values[0] > 0 else float(smallest < 0)
    return Centred(solution, means, trace, smallest, negative, difference)


def _lengths(columns: Array) -> Array:
    """Of each column."""
    if isinstance(columns, np.ndarray):
        return np.linalg.norm(columns, axis=0)
    xp = namespace(columns)
    return xp.sqrt(xp.sum(columns * columns, axis=0))


def _lowest(matrix: Symmetric, rng: np.random.Generator, block: int) -> tuple[float, float]:
    """(a bound below, a value above) for the smallest eigenvalue: the largest of c - H K H, c = ||K||_F."""
    size, ceiling = matrix.size, matrix.length()
    start = orthogonal.orthonormalize(off_mean(orthogonal.gaussian(rng, size, block, matrix.like)))
    xp = namespace(start)

    def apply(vectors: Array) -> Array:
        return ceiling * vectors - off_mean(matrix.matmat(off_mean(vectors)))

    trace = ceiling * size - float(xp.sum(matrix.diagonal)) + float(xp.sum(matrix.first(start)[1])) / size
    engine = Matrix(size, apply, start[:0, :0], lambda: (trace, _UNIT * 16 * ceiling))
    target = Target(1, tolerance=1e-4, max_reads=40)
    first_step = begun(start, apply(start), min(size, 48 * block))
    pairs = block_lanczos(engine, target, block=block, rng=rng, start=first_step)
    return ceiling - float(pairs.upper[0]), ceiling - float(pairs.values[0])
