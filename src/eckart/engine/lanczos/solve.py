"""Block Lanczos on G = B^T B, or on c - B^T B for the smallest values, as a solver."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from eckart.arrays import EPSILON, Array, namespace
from eckart.engine.backends.base import Backend
from eckart.engine.backends.select import backend_of
from eckart.engine.digest import begin_digest, generator
from eckart.engine.direct import check_finite
from eckart.engine.lanczos.block_lanczos import block_lanczos
from eckart.engine.lanczos.terms import Matrix, Pairs, Start, Target
from eckart.engine.solution import Request, Solution
from eckart.engine.standardize.problem import Problem

_SMALLEST_TOLERANCE, _LOOSE = 1e-9, 1e-3
_HIDDEN = {"float64": 1e-8, "float32": 1e-4}
"""Share of ||G Q||_F^2 below which what remains of it without the computed pairs may be rounding."""


def solve_lanczos(
    problem: Problem,
    request: Request,
    *,
    block: int,
    capacity: int,
    probes: int,
    most: int,
    rng: np.random.Generator,
    worth: Callable[[int, float], bool] | None = None,
    single: bool = False,
) -> Solution:
    """The wanted pairs, proved to the requested accuracy if the passes allow it.

    `rng` draws the start block. Probes come from a generator seeded by every number of the data, because whoever made
    the data must not know them. `worth` may end the run with a NotWorthError (`terms.Target`). With `single`, products
    are in float64, and the first steps take one vector each.
    """
    if single and problem.precision != "float64":
        problem.sharpen()
    size, backend = problem.shape[1], backend_of(problem.prototype)
    start, product, random = _first_product(problem, backend, backend.signs(rng, size, block))
    products = backend.inner(product, product) if random and not request.smallest else None
    begin_digest(problem.data)
    # c - G has the same Krylov spaces as G. Its largest values are the smallest of G, and c >= lambda_1(G).
    shift = _finite(problem.total) if request.smallest else 0.0

    def shifted(vectors: Array, applied: Array) -> Array:
        return shift * vectors - applied if request.smallest else applied

    def measure() -> tuple[float, float]:
        total = _finite(problem.total)
        # If weights differ by many powers of ten, rounding can cancel values that are not zero.
        if total == 0.0 and problem.total_error() == 0.0:
            raise _ZeroMatrixError
        trace = shift * size - total if request.smallest else total
        return trace, problem.product_error() + 4.0 * EPSILON * shift

    def exact(vectors: Array) -> Array:
        return shifted(vectors, problem.exact_product(vectors))

    rounded = problem.precision != "float64"
    matrix = Matrix(
        size,
        lambda vectors: shifted(vectors, problem.operator.normal(vectors)),
        problem.prototype,
        measure,
        problem.total_error,  # smaller once the sums were formed in float64
        exact if rounded else None,
        problem.exact_product_and_gram if rounded and not request.smallest else None,
        None if request.smallest else problem.block_error,
        problem.tile,
        problem.data.resident,
        0 if problem.sparse else problem.shape[0] * size,
    )
    target = _target(problem, request, worth)
    first = Start(start, shifted(start, product), capacity, probes, most, single)
    try:
        pairs = block_lanczos(
            matrix, target, block=block, rng=lambda: generator(request.seed, problem.data, "probes"), start=first
        )
    except _ZeroMatrixError:
        return _zero(problem, backend, request, start)
    remaining = None if products is None else _remaining_squares(pairs, backend, start, products)
    return _solution(pairs, request, shift, 1 if single else block, remaining)


def _target(problem: Problem, request: Request, worth: Callable[[int, float], bool] | None) -> Target:
    """The smallest values are known only relative to c, where the tolerance says little, so it is kept strict."""
    tolerance = min(request.tolerance, _SMALLEST_TOLERANCE) if request.smallest else request.tolerance
    return Target(
        request.k, request.target_ratio, tolerance, request.failure_probability, request.max_passes, problem.note,
        None if request.smallest else request.flat_tolerance, worth,
    )  # fmt: skip


class _ZeroMatrixError(Exception):
    """The matrix is zero."""


def _finite(total: float) -> float:
    check_finite(total)
    return total


def _first_product(problem: Problem, backend: Backend, random: Array) -> tuple[Array, Array, bool]:
    """(an orthonormal block, G times it, whether it is the random block).

    It is G times the random block in low precision if that is cheap.
    """
    ahead = problem.approximate(random)
    if ahead is not None:
        draft = backend.draft_orthonormal(ahead)
        block = backend.orthonormalize(ahead) if draft is None else draft.block
        product = problem.first(block)
        if draft is None or draft.good(0.0):
            return block, product, False
    start = backend.orthonormalize(random)
    return start, problem.first(start), True


def _remaining_squares(pairs: Pairs, backend: Backend, start: Array, products: Array) -> float | None:
    """Estimate of ||H||_F^2, H = G - V L V^T, from the first product; None if rounding hides it.

    The start block Q spans random directions, and H Q = H (I - V V^T) Q, so ||H Q||_F^2 / ||(I - V V^T) Q||_F^2
    estimates the mean square of the size - k remaining eigenvalues (Hutchinson, 1990). The relative error is about
    sqrt(2 / (b r)) for b columns and an effective rank r of H.
    """
    along = np.sum(backend.to_host(backend.inner(pairs.vectors, start)) ** 2, axis=1)  # ||v^T Q||^2 for each v
    whole = float(np.trace(backend.to_host(products)))
    rest, outside = whole - float(pairs.values**2 @ along), int(start.shape[1]) - float(along.sum())
    if rest < _HIDDEN[pairs.precision] * whole or outside <= 0.0:
        return None
    return rest / outside * (int(start.shape[0]) - len(along))


def _solution(pairs: Pairs, request: Request, shift: float, block: int, remaining: float | None) -> Solution:
    k = len(pairs.values)
    values, lower, upper = pairs.values, pairs.lower, pairs.upper
    proved = pairs.proved
    # Values that rounding cannot distinguish from zero are zero: whitening must not amplify them.
    values = np.where((values <= pairs.error) & (lower[:k] <= 0.0), 0.0, values)
    if shift:
        values = pairs.values
        values, lower, upper = shift - values, shift - upper[:k], shift - lower
        # Relative to c every interval is narrow; what matters is the width relative to the small values themselves.
        proved = proved and bool(np.all(upper - lower <= 2.0 * max(request.tolerance, _LOOSE) * np.maximum(upper, 0.0)))
    return Solution(
        solver="lanczos",
        values=np.maximum(values, 0.0),
        vectors=pairs.vectors,
        lower=np.maximum(lower, 0.0),
        upper=np.maximum(upper, 0.0),
        residuals=pairs.residuals,
        remaining_squares=remaining,
        proved=proved,
        converged=pairs.converged or pairs.undecided,
        undecided=pairs.undecided,
        failure_probability=pairs.failure_probability,
        rounding=pairs.error,
        steps=pairs.steps,
        block=block,
        basis=pairs.basis,
        restarts=pairs.restarts,
        precision=pairs.precision,
        history=pairs.history,
    )


def _zero(problem: Problem, backend: Backend, request: Request, start: Array) -> Solution:
    """The solution for a matrix without variance: all directions are equivalent."""
    k = request.k or 1
    rng = np.random.default_rng(0)
    while start.shape[1] < k:
        more, _ = backend.outside(backend.normals(rng, problem.shape[1], k - start.shape[1]), start)
        start = namespace(start).concat([start, more], axis=1)
    nothing = np.zeros(k)
    return Solution("lanczos", nothing, start[:, :k], nothing, nothing, nothing)
