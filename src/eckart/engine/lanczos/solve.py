"""Block Lanczos on B^T B (or on c - B^T B for the smallest values), as a solver."""

from __future__ import annotations

from functools import cache

import numpy as np

from eckart.arrays import Array, namespace
from eckart.engine.backends import orthogonal
from eckart.engine.backends.cuda import orthogonal as orthogonal_device
from eckart.engine.direct import check_finite
from eckart.engine.lanczos import finish as single
from eckart.engine.lanczos.block_lanczos import begun, block_lanczos
from eckart.engine.lanczos.terms import Matrix, Pairs, Target
from eckart.engine.solution import Request, Solution
from eckart.engine.standardize.standardized import Standardized


def solve_lanczos(
    problem: Standardized, request: Request, *, block: int, capacity: int, rng: np.random.Generator
) -> Solution:
    """The wanted pairs, proved to the asked accuracy where the reads allow."""
    size = problem.shape[1]
    start, image = _first_product(problem, orthogonal.random_start(rng, size, block, problem.like))
    # c - G has the same Krylov spaces as G, its largest values are G's smallest, and c >= l_1 keeps it positive.
    shift = _finite(problem.total) if request.smallest else 0.0

    def turned(vectors: Array, product: Array) -> Array:
        return shift * vectors - product if request.smallest else product

    def measure() -> tuple[float, float]:
        total = _finite(problem.total)
        if total == 0.0:
            raise _NothingError
        trace = shift * size - total if request.smallest else total
        return trace, 2 * problem.sum_error(problem.raw_trace(total))

    def doubt() -> float:
        unit = 0.0 if request.smallest else single.unit(problem)
        return problem.total_error() + 2.0 * unit * problem.total if unit else 0.0

    matrix = Matrix(
        size, lambda q: turned(q, problem.operator.normal(q)), problem.like, measure, cache(doubt), problem.tile
    )
    target = Target(
        request.k,
        request.share,
        request.tolerance,
        request.failure_probability,
        request.max_reads,
        note=problem.note,
    )
    first_step = begun(start, turned(start, image), capacity)
    try:
        pairs = block_lanczos(matrix, target, block=block, rng=rng, start=first_step)
    except _NothingError:
        return _zero(problem, request, start)
    return _solution(pairs, problem, request, shift, block, matrix.rounding)


class _NothingError(Exception):
    """The matrix is zero."""


def _finite(total: float) -> float:
    check_finite(total)
    return total


def _first_product(problem: Standardized, random: Array) -> tuple[Array, Array | None]:
    """(an orthonormal block, G times it): the random block, or where it leads to, at the price of a rough read."""
    ahead = problem.rough(random)
    if ahead is not None and orthogonal_device.usable(ahead):
        made = orthogonal_device.orthonormalized(ahead)
        image = problem.first(made.block)
        if made.good(0.0):  # while a GPU multiplies; what was multiplied in vain is lost
            return made.block, image
    start = orthogonal.orthonormalize(random)
    return start, problem.first(start)


def _solution(
    pairs: Pairs, problem: Standardized, request: Request, shift: float, block: int, rounding: float
) -> Solution:
    k, unit = len(pairs.values), single.unit(problem)
    pairs, apart, below = _with_errors_of_single(pairs, problem, request)
    slack = 8.0 * (pairs.noise + pairs.drift) + below + rounding + pairs.dropped
    lower, upper = pairs.values - slack - pairs.crowding, pairs.upper + apart
    # Errors of many values in float32 cancel, but for one unit of each that they may have in common: they move the sum
    # by that of k entries of T, at random, while each bound allows for eight times one.
    own = apart[:k] + (8.0 * pairs.noise if unit else 0.0)
    cancelling = float(np.sum(own) - np.sqrt(np.sum(own**2)) - unit * np.sum(pairs.values))
    # What is no more than the measured noise is nothing, and must not be whitened into something.
    values = np.where(pairs.values <= 8.0 * (pairs.noise + pairs.drift), 0.0, pairs.values)
    if shift:
        values, lower, upper = shift - pairs.values, shift - upper[:k], shift - lower
    return Solution(
        solver="lanczos",
        values=np.maximum(values, 0.0),
        vectors=pairs.vectors,
        lower=np.maximum(lower, 0.0),
        upper=np.maximum(upper, 0.0),
        residuals=pairs.residuals + 2.0 * unit * float(pairs.values[0]),
        proved=pairs.proved,
        settled=pairs.settled,
        failure_probability=pairs.failure_probability,
        rounding=slack,
        crowding=float(np.sum(pairs.crowding)),
        cancelling=0.0 if shift else max(cancelling, 0.0),
        steps=pairs.steps,
        block=block,
        basis=pairs.basis,
        restarts=pairs.restarts,
        precision=problem.precision,
        history=pairs.history,
    )


def _with_errors_of_single(pairs: Pairs, problem: Standardized, request: Request) -> tuple[Pairs, np.ndarray, float]:
    """(pairs, what products in float32 may have done to each upper bound, and to a lower one); mended where too much.

    They round symmetrically as well, where the skew part does not show it.
    """
    k, count = len(pairs.values), len(pairs.upper)
    if problem.precision == "float64":
        return pairs, np.zeros(count), 0.0
    largest = float(pairs.values[0])
    flat = 2.0 * single.unit(problem) * largest
    if request.smallest:
        return pairs, np.full(count, flat), flat
    found = single.errors(problem, pairs.values, pairs.vectors)
    worst = float(found.max(initial=0.0))
    if single.tolerable(found, pairs.values, request.tolerance):
        return pairs, flat + np.append(found, np.full(count - k, worst)), flat + worst
    mended = single.mended(problem, pairs)
    # Twice what each was off, for what the others do to it, and two units of its own.
    centring = problem.centring_error(mended.vectors)
    apart = 2.0 * np.abs(mended.values - pairs.values) + flat * mended.values / largest + centring
    # The value past the last is not mended, and may be what a tie at the cut makes of the last.
    past = float(pairs.upper[-1]) * (1.0 + (flat + worst) / largest)
    apart = np.maximum(apart, past - pairs.upper[:k]) if count > k else apart
    return mended, np.append(apart, np.full(count - k, past - float(pairs.upper[-1]))), float(centring.max(initial=0.0))


def _zero(problem: Standardized, request: Request, start: Array) -> Solution:
    """A matrix without variance: every direction is as good as any other."""
    k = request.k or 1
    while start.shape[1] < k:
        more = orthogonal.gaussian(np.random.default_rng(start.shape[1]), problem.shape[1], k, problem.like)
        more = orthogonal.project_out(more, start)
        start = namespace(start).concat([start, orthogonal.orthonormalize(more)], axis=1)
    nothing = np.zeros(k)
    return Solution("lanczos", nothing, start[:, :k], nothing, nothing, nothing)
