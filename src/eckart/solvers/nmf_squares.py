"""1/2 |A - W H|^2: only A H^T and H H^T are needed for a step of W, and the loss comes with it for nothing.

|A - W H|^2 = |A|^2 - 2 <A H^T, W> + <W^T W, H H^T>.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from eckart.operators.executors import fold
from eckart.solvers.nmf_problem import Half, Penalties, Penalty, entry_segments, segments, total
from eckart.solvers.tall import inner

SHARE = 0.01
"""Sweeps end when one brings this share of what the first did."""
END = 1e-14
"""The same where a row is to be solved to the end."""

Product = Callable[[np.ndarray], np.ndarray]


class Squares:
    """For a matrix that is known by its products: dense, or compressed to a few singular vectors."""

    def __init__(
        self, matmat: Product, rmatmat: Product, squared_norm: float, penalties: Penalties, *, sweeps: int
    ) -> None:
        self.constant = 0.5 * squared_norm
        self.rounding = 4.0 * float(np.finfo(np.float64).eps) * squared_norm
        self.penalties = penalties
        self.sweeps = sweeps
        self._matmat, self._rmatmat = matmat, rmatmat

    def rows(
        self, begin: np.ndarray, other: np.ndarray, old: np.ndarray, push: float, *, sweeps: int | None = None
    ) -> Half:
        return self._step(self._matmat(other), self.penalties.rows, begin, other, old, push, sweeps)

    def columns(self, begin: np.ndarray, other: np.ndarray, old: np.ndarray, push: float) -> Half:
        return self._step(self._rmatmat(other), self.penalties.columns, begin, other, old, push, None)

    def _step(
        self, products: np.ndarray, penalty: Penalty, begin: np.ndarray, other: np.ndarray, old: np.ndarray,
        push: float, sweeps: int | None,
    ) -> Half:  # fmt: skip
        effort = (self.sweeps, SHARE) if sweeps is None else (sweeps, END)
        return solve_given(products, gram_of(other, penalty), penalty, begin, old, push, *effort)


class SparseSquares:
    """For CSR rows: W's step gathers A H^T and scatters A^T W, for the step of H that follows, in one read."""

    def __init__(self, matrix: Any, squared_norm: float, penalties: Penalties, *, sweeps: int) -> None:
        self.constant = 0.5 * squared_norm
        self.rounding = 4.0 * float(np.finfo(np.float64).eps) * squared_norm
        self.penalties = penalties
        self.sweeps = sweeps
        self.matrix = matrix
        # Each piece adds up its own columns x k; all of them together stay below the matrix itself.
        self._pieces = int(np.clip(matrix.nnz // max(4 * matrix.shape[1], 1), 1, 8))
        self._scattered: tuple[np.ndarray, np.ndarray] | None = None

    def rows(
        self, begin: np.ndarray, other: np.ndarray, old: np.ndarray, push: float, *, sweeps: int | None = None
    ) -> Half:
        from eckart.kernels import nmf_frobenius

        penalty, matrix = self.penalties.rows, self.matrix
        gram = gram_of(other, penalty)
        inverse = _inverse(gram)
        new, ahead = np.empty_like(begin), np.empty_like(begin)
        effort = (self.sweeps, SHARE) if sweeps is None else (sweeps, END)

        def step(piece: tuple[int, int]) -> tuple[list[tuple[float, float]], np.ndarray]:
            scattered = np.zeros(other.shape if sweeps is None else (0, other.shape[1]))
            found = nmf_frobenius.sparse_rows(
                matrix.indptr, matrix.indices, matrix.data, other, begin, gram, inverse, penalty.lasso, *effort,
                old, push, *piece, new, ahead, scattered,
            )  # fmt: skip
            return [found], scattered

        found, scattered = fold(step, entry_segments(matrix, self._pieces), _add)
        self._scattered = (ahead, scattered) if sweeps is None else None
        return Half(new, ahead, *total(found))

    def columns(self, begin: np.ndarray, other: np.ndarray, old: np.ndarray, push: float) -> Half:
        penalty = self.penalties.columns
        if self._scattered is None or self._scattered[0] is not other:
            self._scattered = (other, self.rmatmat(other))
        gram = gram_of(other, penalty)
        return solve_given(self._scattered[1], gram, penalty, begin, old, push, self.sweeps, SHARE)

    def rmatmat(self, left: np.ndarray) -> np.ndarray:
        """A^T W."""
        from eckart.kernels import csr

        matrix = self.matrix

        def step(piece: tuple[int, int]) -> np.ndarray:
            scattered = np.zeros((matrix.shape[1], left.shape[1]))
            csr.multiply_transposed(matrix.indptr, matrix.indices, matrix.data, left, *piece, scattered)
            return scattered

        return fold(step, entry_segments(matrix, self._pieces), np.add)


def solve_given(
    products: np.ndarray, gram: np.ndarray, penalty: Penalty, begin: np.ndarray, old: np.ndarray, push: float,
    sweeps: int, share: float,
) -> Half:  # fmt: skip
    """min over F >= 0 of 1/2 tr(F G F^T) - <products - lasso, F>, every row of F by itself."""
    from eckart.kernels import nmf_frobenius

    inverse = _inverse(gram)
    new, ahead = np.empty_like(begin), np.empty_like(begin)

    def step(piece: tuple[int, int]) -> list[tuple[float, float]]:
        return [
            nmf_frobenius.dense_rows(
                products, begin, gram, inverse, penalty.lasso, sweeps, share, old, push, *piece, new, ahead
            )
        ]

    return Half(new, ahead, *total(fold(step, segments(begin.shape[0], 8), list.__add__)))


def gram_of(other: np.ndarray, penalty: Penalty) -> np.ndarray:
    """H H^T + ridge I."""
    gram = np.ascontiguousarray(inner(other, other))
    gram[np.diag_indices_from(gram)] += penalty.ridge
    return gram


def _inverse(gram: np.ndarray) -> np.ndarray:
    diagonal = np.diag(gram).copy()
    return np.divide(1.0, diagonal, out=np.zeros_like(diagonal), where=diagonal > 0.0)


def _add(
    first: tuple[list[tuple[float, float]], np.ndarray], second: tuple[list[tuple[float, float]], np.ndarray]
) -> tuple[list[tuple[float, float]], np.ndarray]:
    first[1][...] += second[1]
    return first[0] + second[0], first[1]
