"""Lanczos quadrature: u^T f(A) u for a symmetric A, from a few products with A (Golub and Meurant, 2010).

Lanczos from a vector u of length 1 gives a tridiagonal T with u^T f(A) u ~ e_1^T f(T) e_1 = sum of w_j f(t_j), where
the nodes t_j are the eigenvalues of T, and the weights w_j the squares of the first entries of its eigenvectors. With k
steps it is exact for polynomials of degree 2 k - 1. Orthogonality is not restored: copies of an eigenvalue share its
weight.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy import linalg

from eckart.arrays import Array, Floats, namespace, to_numpy


def lanczos_quadrature(apply: Callable[[Array], Array], start: Array, steps: int) -> list[tuple[Floats, Floats]]:
    """Nodes and weights for each column of `start`, which have length 1; `apply` multiplies columns by A."""
    xp = namespace(start)
    previous, current, beta = xp.zeros_like(start), start, xp.zeros_like(start[0, :])
    diagonal, off_diagonal = [], []
    for _ in range(steps):
        product = apply(current) - beta * previous
        alpha = xp.sum(current * product, axis=0)
        product = product - alpha * current
        beta = xp.sqrt(xp.sum(product * product, axis=0))
        diagonal.append(to_numpy(alpha).astype(np.float64))
        off_diagonal.append(to_numpy(beta).astype(np.float64))
        previous, current = current, product / xp.where(beta > 0, beta, xp.ones_like(beta))
    return [_rule(a, b[:-1]) for a, b in zip(np.transpose(diagonal), np.transpose(off_diagonal), strict=True)]


def _rule(diagonal: Floats, off_diagonal: Floats) -> tuple[Floats, Floats]:
    """The nodes of a tridiagonal T, and their weights."""
    nodes, vectors = linalg.eigh_tridiagonal(diagonal, off_diagonal)
    return np.asarray(nodes, np.float64), np.asarray(vectors[0] ** 2, np.float64)
