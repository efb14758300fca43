"""1/2 |A - W H|^2: only A H^T and H H^T are needed for a step of W, and the loss comes with it for nothing.

|A - W H|^2 = |A|^2 - 2 <A H^T, W> + <W^T W, H H^T>.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from eckart.arrays import Array, astype, device, from_numpy, namespace, to_numpy
from eckart.engine.backends.tall import inner
from eckart.engine.parallel import fold
from eckart.nmf.problem import FactorUpdate, Penalties, Penalty, entry_segments, rounding_of, segments, total

SHARE = 0.01
"""Sweeps end when one brings this share of what the first did."""
END = 1e-14
"""The same where a row is to be solved to the end."""

Product = Callable[[Array], Array]


class Squares:
    """For a matrix that is known by its products: dense, or compressed to a few singular vectors."""

    compiled: bool
    end: float
    constant: float
    rounding: float

    def __init__(
        self, matmat: Product, rmatmat: Product, squared_norm: float, penalties: Penalties, *, sweeps: int,
        prototype: Array | None = None, compiled: bool = True, end: float = END,
    ) -> None:  # fmt: skip
        self.compiled, self.end = compiled, end
        self.constant = 0.5 * squared_norm
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
        """Most sweeps, and the share of the first at which they end."""
        return (self.sweeps, SHARE) if sweeps is None else (sweeps, self.end)


class SparseSquares:
    """For CSR rows: W's step gathers A H^T and scatters A^T W, for the step of H that follows, in one pass."""

    constant: float
    rounding: float

    def __init__(
        self, matrix: Any, squared_norm: float, penalties: Penalties, *, sweeps: int, end: float = END
    ) -> None:
        self.end = end
        self.constant = 0.5 * squared_norm
        self.rounding = 4.0 * float(np.finfo(np.float64).eps) * squared_norm
        self.penalties = penalties
        self.sweeps = sweeps
        self.matrix = matrix
        # Each piece adds up its own columns x k; all of them together stay below the matrix itself.
        self._pieces = int(np.clip(matrix.nnz // max(4 * matrix.shape[1], 1), 1, 8))
        self._scattered: tuple[np.ndarray, np.ndarray] | None = None

    def rows(
        self, begin: np.ndarray, other: np.ndarray, old: np.ndarray, extrapolation: float, *, sweeps: int | None = None
    ) -> FactorUpdate:
        from eckart.nmf import compiled as nmf_frobenius

        penalty, matrix = self.penalties.rows, self.matrix
        gram = gram_of(other, penalty)
        inverse = inverse_diagonal(gram)
        new, ahead = np.empty_like(begin), np.empty_like(begin)
        effort = (self.sweeps, SHARE) if sweeps is None else (sweeps, self.end)

        def step(piece: tuple[int, int]) -> tuple[list[tuple[float, float]], np.ndarray]:
            scattered = np.zeros(other.shape if sweeps is None else (0, other.shape[1]))
            found = nmf_frobenius.sparse_rows(
                matrix.indptr, matrix.indices, matrix.data, other, begin, gram, inverse, penalty.lasso, *effort,
                old, extrapolation, *piece, new, ahead, scattered,
            )  # fmt: skip
            return [found], scattered

        found, scattered = fold(step, entry_segments(matrix, self._pieces), _add)
        self._scattered = (ahead, scattered) if sweeps is None else None
        return FactorUpdate(new, ahead, *total(found))

    def columns(self, begin: np.ndarray, other: np.ndarray, old: np.ndarray, extrapolation: float) -> FactorUpdate:
        penalty = self.penalties.columns
        if self._scattered is None or self._scattered[0] is not other:
            self._scattered = (other, self.rmatmat(other))
        gram = gram_of(other, penalty)
        return solve_given(self._scattered[1], gram, penalty, begin, old, extrapolation, self.sweeps, SHARE)

    def rmatmat(self, left: np.ndarray) -> np.ndarray:
        """A^T W."""
        from eckart.engine.compiled import csr

        matrix = self.matrix

        def step(piece: tuple[int, int]) -> np.ndarray:
            scattered = np.zeros((matrix.shape[1], left.shape[1]))
            csr.multiply_transposed(matrix.indptr, matrix.indices, matrix.data, left, *piece, scattered)
            return scattered

        return fold(step, entry_segments(matrix, self._pieces), np.add)


def solve_given(
    products: Array, gram: Array, penalty: Penalty, begin: Array, old: Array, extrapolation: float,
    sweeps: int, share: float, *, compiled: bool = True,
) -> FactorUpdate:  # fmt: skip
    """min over F >= 0 of 1/2 tr(F G F^T) - <products - lasso, F>, every row of F independently."""
    prototype, sweep = begin, None if compiled else ready_sweep()
    if sweep is not None:
        products, gram, begin, old = (to_numpy(array) for array in (products, gram, begin, old))
        new, ahead, *sums = _solve_small(products, gram, begin, old, penalty.lasso, extrapolation, sweeps, share, sweep)
        return FactorUpdate(from_numpy(new, prototype), from_numpy(ahead, prototype), *sums)
    from eckart.nmf import compiled as nmf_frobenius

    inverse = inverse_diagonal(gram)
    products, gram, inverse, begin, old = (to_numpy(array) for array in (products, gram, inverse, begin, old))
    new, ahead = np.empty_like(begin), np.empty_like(begin)

    def step(piece: tuple[int, int]) -> list[tuple[float, float]]:
        return [
            nmf_frobenius.dense_rows(
                products, begin, gram, inverse, penalty.lasso, sweeps, share, old, extrapolation, *piece, new, ahead
            )
        ]

    found = total(fold(step, segments(begin.shape[0], 8), list.__add__))
    return FactorUpdate(from_numpy(new, prototype), from_numpy(ahead, prototype), *found)


def _solve_small(
    products: np.ndarray, gram: np.ndarray, begin: np.ndarray, old: np.ndarray, lasso: float, extrapolation: float,
    sweeps: int, share: float, sweep: Callable[..., float],
) -> tuple[np.ndarray, np.ndarray, float, float]:  # fmt: skip
    """The same descent by a loop that need not be compiled first: (new, ahead, objective, projected gradients).

    Sweeps end by the projected gradients, whose squares go with what a sweep brings.
    """
    target, new = (products - lasso).astype(np.float64, copy=False), np.array(begin, dtype=np.float64, order="C")
    order = np.arange(gram.shape[0], dtype=np.intp)
    first = 0.0
    for number in range(sweeps):
        met = float(sweep(new, gram, target, order))
        first = met if number == 0 else first
        if met <= share**0.5 * first:
            break
    value = -0.5 * float(np.vdot(new, 2.0 * target - new @ gram))
    ahead = new if extrapolation == 0.0 else np.maximum(new + extrapolation * (new - old), 0.0)
    return new.astype(begin.dtype, copy=False), ahead.astype(begin.dtype, copy=False), value, first


@lru_cache(maxsize=1)
def ready_sweep() -> Callable[..., float] | None:
    """scikit-learn's loop of one sweep, which its wheel brings compiled; None if this version has none."""
    try:
        from sklearn.decomposition._cdnmf_fast import _update_cdnmf_fast
    except ImportError:
        return None
    return _update_cdnmf_fast  # type: ignore[no-any-return]


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
    """1 / g_tt, or nothing where that is nothing."""
    xp = namespace(gram)
    diagonal = xp.linalg.diagonal(gram)
    some = diagonal > 0.0
    return xp.where(some, 1.0 / xp.where(some, diagonal, 1.0), 0.0)


def _add(
    first: tuple[list[tuple[float, float]], np.ndarray], second: tuple[list[tuple[float, float]], np.ndarray]
) -> tuple[list[tuple[float, float]], np.ndarray]:
    first[1][...] += second[1]
    return first[0] + second[0], first[1]
