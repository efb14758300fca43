"""Orthonormal columns by Cholesky on a GPU, without a way to the host but for one word at the end: was it good?

Q = Z D L^-T, where D scales the columns of Z to unit length and L L^T = D Z^T Z D. A second round mends the rounding of
the first. Where the first is far from dependent and the second finds next to nothing to do, the result is orthonormal
to a few units of rounding; where not, the caller goes another way.
"""

from __future__ import annotations

from typing import Any

from eckart.array_api import Array, namespace, to_numpy
from eckart.solvers.tall import inner, times

_INDEPENDENT = 1e-3
_NEARLY_ORTHOGONAL = 0.7
"""Least pivots of the first and of the second round."""
_REPRODUCED = 1e-10
"""How far L L^T may be from what it was made of."""


def round_of(block: Array, *, scaled: bool = False) -> tuple[Array, Array]:
    """(Q, the least pivot), both on the device; the pivot is not above zero, or no number, where columns are dependent.

    `scaled`: the columns have unit length already, as after a first round.
    """
    xp = namespace(block)
    gram = inner(block, block)
    if scaled:
        root, pivot = _root(gram)
        return times(block, _inverse(root).T), pivot
    shorter = 1.0 / xp.sqrt(xp.linalg.diagonal(gram))
    root, pivot = _root(gram * shorter[:, None] * shorter)
    return times(block, _inverse(root).T * shorter[:, None]), pivot


def is_good(first: Array, second: Array) -> bool:
    """Whether both rounds can be trusted. This is where the host waits."""
    pivots = to_numpy(namespace(first).stack([first, second]))
    return bool(pivots[0] > _INDEPENDENT and pivots[1] > _NEARLY_ORTHOGONAL)


def _root(matrix: Array) -> tuple[Array, Array]:
    """Cholesky factor and its least pivot, which is not above zero where there is none; no error, no wait for one."""
    xp = namespace(matrix)
    if hasattr(xp.linalg, "cholesky_ex"):  # PyTorch
        root, failed = xp.linalg.cholesky_ex(matrix)
        return root, xp.min(xp.linalg.diagonal(root)) - 2.0 * (failed != 0)
    root = xp.linalg.cholesky(matrix)  # CuPy stops in silence where there is none, and leaves the rest as it was
    missed = xp.max(xp.abs(root @ root.T - matrix))
    return root, xp.min(xp.linalg.diagonal(root)) - missed / _REPRODUCED


def _inverse(root: Array) -> Array:
    """L^-1."""
    xp = namespace(root)
    identity = xp.eye(root.shape[0], dtype=root.dtype, device=root.device)
    if hasattr(xp.linalg, "solve_triangular"):  # PyTorch
        return xp.linalg.solve_triangular(root, identity, upper=False)
    return _cupy_inverse(root, identity)


def _cupy_inverse(root: Array, identity: Array) -> Any:
    from cupyx.scipy.linalg import solve_triangular

    return solve_triangular(root, identity, lower=True)
