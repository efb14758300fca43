"""1/2 |A - W H|^2: a step of W needs only A H^T and H H^T, which also give the loss.

|A - W H|^2 = |A|^2 - 2 <A H^T, W> + <W^T W, H H^T>.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np

from eckart.arrays import Array, astype, device, from_numpy, namespace, to_numpy
from eckart.engine.backends.tall import inner
from eckart.engine.parallel import fold
from eckart.nmf.constants import (
    COMPILE_SQUARES_FROM,
    END_SHARE,
    ROWS_TOGETHER,
    SOLVED_SHARE,
    SQUARES_SHARE,
    SWEEPS_BEFORE_PIVOTING,
    SWEEPS_BETWEEN_ELIMINATIONS,
    SWEEPS_TO_CONVERGENCE,
)
from eckart.nmf.exact_rows import needs_pivoting, solved_exactly
from eckart.nmf.problem import FactorUpdate, Penalties, Penalty, rounding_of, segments, total
from eckart.nmf.quadratic import to_the_minimum

Product = Callable[[Array], Array]


class Squares:
    """The squared error of a matrix given by its products: dense, or compressed to a few singular vectors."""

    compiled: bool
    end: float
    constant: float
    reference: float
    rounding: float

    def __init__(
        self, matmat: Product, rmatmat: Product, squared_norm: float, penalties: Penalties, *, sweeps: int,
        prototype: Array | None = None, compiled: bool = True, end: float = END_SHARE,
    ) -> None:  # fmt: skip
        self.compiled, self.end = compiled, end
        self.constant = self.reference = 0.5 * squared_norm
        self.rounding = 4.0 * rounding_of(np.empty(0) if prototype is None else prototype) * squared_norm
        self.penalties = penalties
        self.sweeps = sweeps
        self._matmat, self._rmatmat = matmat, rmatmat

    def rows(
        self, begin: Array, other: Array, old: Array, extrapolation: float, *, sweeps: int | None = None
    ) -> FactorUpdate:
        return self._step(self._matmat, self.penalties.rows, begin, other, old, extrapolation, sweeps)

    def columns(self, begin: Array, other: Array, old: Array, extrapolation: float) -> FactorUpdate:
        return self._step(self._rmatmat, self.penalties.columns, begin, other, old, extrapolation, None)

    def _step(
        self, product: Product, penalty: Penalty, begin: Array, other: Array, old: Array, extrapolation: float,
        sweeps: int | None,
    ) -> FactorUpdate:  # fmt: skip
        gram = gram_of(other, penalty)
        effort = self._effort(sweeps)
        return solve_given(product(other), gram, penalty, begin, old, extrapolation, *effort, compiled=self.compiled)

    def _effort(self, sweeps: int | None) -> tuple[int, float]:
        """Maximum number of sweeps, and the share of the first at which they end."""
        return (self.sweeps, SQUARES_SHARE) if sweeps is None else (sweeps, self.end)


def solve_given(
    products: Array, gram: Array, penalty: Penalty, begin: Array, old: Array, extrapolation: float, sweeps: int,
    share: float, *, compiled: bool | None = None,
) -> FactorUpdate:  # fmt: skip
    """min over F >= 0 of 1/2 tr(F G F^T) - <products - lasso, F>, for each row of F separately.

    `compiled` chooses the loop; None decides by the size of F.
    """
    prototype = begin
    compiled = compiles(begin.shape[0], begin.shape[1]) if compiled is None else compiled
    inverse = inverse_diagonal(gram) if compiled else gram  # used by compiled loops only
    products, gram, inverse, begin, old = (to_numpy(array) for array in (products, gram, inverse, begin, old))
    new, ahead = np.empty_like(begin), np.empty_like(begin)

    def step(piece: tuple[int, int]) -> list[tuple[float, float]]:
        part = slice(*piece)
        given = (products[part], gram, inverse, begin[part], old[part], penalty.lasso, extrapolation, sweeps, share)
        return [solve_rows(*given, new[part], ahead[part], compiled=compiled)]

    pieces = segments(begin.shape[0], 8 if compiled else 1)
    found = total(fold(step, pieces, list.__add__))
    return FactorUpdate(from_numpy(new, prototype), from_numpy(ahead, prototype), *found)


def solve_rows(
    products: np.ndarray, gram: np.ndarray, inverse: np.ndarray, begin: np.ndarray, old: np.ndarray, lasso: float,
    extrapolation: float, sweeps: int, share: float, new: np.ndarray, ahead: np.ndarray, *, compiled: bool,
) -> tuple[float, float]:  # fmt: skip
    """Write some rows and their extrapolation into `new` and `ahead`; returns (objective, projected gradients)."""
    pivoting = sweeps >= SWEEPS_TO_CONVERGENCE and new.dtype == np.float64 and needs_pivoting(gram)
    sweeps = SWEEPS_BEFORE_PIVOTING if pivoting else sweeps
    if compiled:
        from eckart.nmf.compiled import dense_rows

        found = dense_rows(
            products, begin, gram, inverse, lasso, sweeps, share, old, extrapolation, 0, len(begin), new, ahead
        )
    else:
        found = _solve_small(products, gram, begin, old, lasso, extrapolation, sweeps, share, new, ahead)
    if pivoting:  # in the last step, of which only `new` is used
        new[...] = solved_exactly(new, products - lasso, gram)
    return found  # type: ignore[no-any-return]


def compiles(rows: int, k: int) -> bool:
    """Whether this many rows of the factors are worth the compilation time."""
    return rows * k * k >= COMPILE_SQUARES_FROM or scikit_learn_sweep() is None


@lru_cache(maxsize=1)
def scikit_learn_sweep() -> Callable[..., float] | None:
    """scikit-learn's compiled sweep over the coordinates of all rows; None if it has none."""
    try:
        from sklearn.decomposition._cdnmf_fast import _update_cdnmf_fast
    except ImportError:  # a private name, which may change
        return None
    return _update_cdnmf_fast  # type: ignore[no-any-return]


@lru_cache(maxsize=64)
def in_order(k: int) -> np.ndarray:
    return np.arange(k, dtype=np.intp)


def _descend(
    sweep: Callable[..., float], own: np.ndarray, gram: np.ndarray, goal: np.ndarray, order: np.ndarray, sweeps: int,
    share: float,
) -> float:  # fmt: skip
    """Sweep over the coordinates of a group of rows, in place; returns the projected gradients before that."""
    # From zero the gradients are the target: near the solution, the first gradients say little about the size of rows.
    end = 0.1 * share**0.5 * float(np.maximum(goal, 0.0).sum()) if share else 0.0
    first, before, slow = 0.0, np.inf, False
    for index in range(sweeps):
        violation = sweep(own, gram, goal, order)
        first = violation if index == 0 else first
        if violation <= end:
            break
        if share and (index + 1) % SWEEPS_BETWEEN_ELIMINATIONS == 0:
            slow = slow or violation * (violation / before) ** 2 > end  # after twice as many sweeps again
            before = violation
            if slow:
                _solve_faces(own, gram, goal, end)
    if slow:
        _solve_faces(own, gram, goal, end)
    return first


def _solve_small(
    products: np.ndarray, gram: np.ndarray, begin: np.ndarray, old: np.ndarray, lasso: float, extrapolation: float,
    sweeps: int, share: float, new: np.ndarray, ahead: np.ndarray,
) -> tuple[float, float]:  # fmt: skip
    """The same descent in a loop without compilation.

    Groups of rows end by their projected gradients, which are lengths, while the compiled loop uses squares. A tenth of
    that length accounts for the slowest rows.
    """
    sweep = scikit_learn_sweep()
    assert sweep is not None
    # The sweep of scikit-learn 1.6 takes no arrays that are read-only, as those of other libraries are in NumPy 2.0.
    gram = np.require(gram, requirements="W")
    target = np.require(products - lasso if lasso else products, np.float64, "W")
    moved, order, first = np.array(begin, dtype=np.float64, order="C"), in_order(begin.shape[1]), 0.0
    height = ROWS_TOGETHER if share else max(len(moved), 1)
    for start in range(0, len(moved), height):
        own, goal = moved[start : start + height], target[start : start + height]
        first += _descend(sweep, own, gram, goal, order, sweeps, share)
    slopes = moved @ gram
    slopes *= 0.5
    slopes -= target
    new[...] = moved
    if extrapolation:
        np.subtract(new, old, out=ahead)
        ahead *= extrapolation
        ahead += new
        np.maximum(ahead, 0.0, out=ahead)
    else:
        ahead[...] = new
    return float(np.vdot(moved, slopes)), first


def _solve_faces(own: np.ndarray, gram: np.ndarray, goal: np.ndarray, end: float) -> None:
    """The minimum over the nonzero coordinates, by elimination, if it is lower; for rows that sweeps have not solved.

    Sweeps soon find the zero coordinates. If parts overlap, they then converge slowly to the minimum over the others:
    hundreds of sweeps replace one k x k system. `end` is the sum of projected gradients at which all rows are solved.
    """
    slopes = own @ gram - goal
    far = np.where(own > 0.0, np.abs(slopes), np.maximum(-slopes, 0.0)).sum(axis=1) > SOLVED_SHARE * end / len(own)
    going = np.flatnonzero(far)
    before, begin = slopes[going], own[going]
    rest, step = np.ascontiguousarray(before.T), np.zeros((gram.shape[0], len(going)))
    try:
        to_the_minimum(gram[None], rest, np.ascontiguousarray(begin.T), step)
    except np.linalg.LinAlgError:
        return  # parts of H that are linearly dependent: sweeps need no inverse
    move = step.T
    # f(w + d) - f(w) = d (2 g + G d) / 2 of each row, with G as it is: `to_the_minimum` adds to a singular one.
    lower = np.einsum("ij,ij->i", move, 2.0 * before + move @ gram) < 0.0
    own[going[lower]] = np.maximum(begin[lower] + move[lower], 0.0)


def gram_of(other: Array, penalty: Penalty) -> Array:
    """H H^T + ridge I, in float64."""
    xp = namespace(other)
    other = astype(other, xp.float64)
    gram = inner(other, other)
    if xp is np:
        gram = np.ascontiguousarray(gram)
    if not penalty.ridge:
        return gram
    return gram + penalty.ridge * xp.eye(gram.shape[0], dtype=xp.float64, device=device(gram))


def inverse_diagonal(gram: Array) -> Array:
    """1 / g_tt, or 0 if g_tt is 0."""
    xp = namespace(gram)
    diagonal = xp.linalg.diagonal(gram)
    some = diagonal > 0.0
    return xp.where(some, 1.0 / xp.where(some, diagonal, 1.0), 0.0)
