"""Random matrices with clean answers: integer entries, integer eigenvalues, integer vectors divided by a root.

From orthogonal integer vectors t_j (rows) and v_j (columns), the matrix ∑ m_j t_j v_j^T has the singular values m_j
‖t_j‖ ‖v_j‖, and c I + ∑ m_j v_j v_j^T the eigenvalues c + m_j ‖v_j‖^2.
"""

from __future__ import annotations

from math import gcd
from typing import TYPE_CHECKING

import numpy as np
import sympy as sp
from numpy.typing import NDArray

from eckart.worked.exercises.problem import Random

if TYPE_CHECKING:
    from eckart.worked.solution import Value

_COPRIME = tuple((a, b) for a in range(1, 6) for b in range(1, 6) if gcd(a, b) == 1)
_SMALL = tuple(pair for pair in _COPRIME if max(pair) <= 4)
FRAMES: dict[int, tuple[tuple[tuple[int, ...], ...], ...]] = {
    2: tuple(((a, b), (-b, a)) for a, b in _COPRIME),
    3: (
        ((1, 1, 1), (1, -1, 0), (1, 1, -2)), ((1, 2, 2), (2, 1, -2), (2, -2, 1)), ((1, 0, 1), (0, 1, 0), (-1, 0, 1)),
        ((1, 1, 0), (1, -1, 0), (0, 0, 1)), ((2, 1, 0), (-1, 2, 0), (0, 0, 1)), ((1, -1, 1), (1, 1, 0), (1, -1, -2)),
        ((0, 2, 1), (1, 0, 0), (0, -1, 2)),
    ),
}  # fmt: skip
"""Orthogonal integer vectors; no two frames contain the same lines. `frame` permutes entries and changes signs."""


def frame(rng: Random, side: int, most: int = 5) -> list[tuple[int, ...]]:
    """Orthogonal integer vectors: one of the frames with permuted coordinates and other signs."""
    choices = [vectors for vectors in FRAMES[side] if max(map(max, vectors)) <= most]
    vectors = choices[int(rng.integers(len(choices)))]
    order, signs = rng.permutation(side), rng.choice([-1, 1], side)
    return [tuple(int(signs[i]) * vector[int(order[i])] for i in range(side)) for vector in vectors]


def contrasts(n: int, *, constant: bool) -> list[list[int]]:
    """Orthogonal integer vectors of length n: the discrete orthogonal polynomials, from the constant or the linear one.

    >>> contrasts(4, constant=False)
    [[-3, -1, 1, 3], [1, -1, -1, 1], [-1, 3, -3, 1]]
    """
    done: list[Value] = []
    for power in range(min(n, 4)):
        vector = sp.Matrix([sp.Integer(i) ** power for i in range(n)])
        for other in done:
            vector = vector - other * (vector.dot(other) / other.dot(other))
        below = sp.ilcm(1, *[entry.q for entry in vector])
        whole = vector * below
        done.append(whole / sp.igcd(*[entry.p for entry in whole]))
    return [[int(entry) for entry in vector] for vector in done[0 if constant else 1 :]]


def whole(rng: Random, rows: int, cols: int, most: int) -> sp.Matrix:
    """Integer entries from -most to most."""
    return sp.Matrix(rng.integers(-most, most + 1, (rows, cols)).tolist())


def unimodular(rng: Random, side: int) -> sp.Matrix:
    """An integer matrix with an integer inverse: a product of unit triangles."""
    most = 2 if side == 2 else 1
    entries = rng.integers(-most, most + 1, (2, side, side))
    lower = sp.Matrix(side, side, lambda i, j: int(entries[0, i, j]) if j < i else int(i == j))
    upper = sp.Matrix(side, side, lambda i, j: int(entries[1, i, j]) if j > i else int(i == j))
    return lower * upper


def apart(rng: Random, count: int, most: int, *, moduli: bool = False) -> list[int]:
    """Different nonzero integers, also different in modulus if requested. Largest modulus first."""
    values: list[int] = []
    while len(values) < count:
        value = int(rng.integers(-most, most + 1))
        if value and value not in values and not (moduli and -value in values):
            values.append(value)
    return sorted(values, key=lambda value: (-abs(value), -value))


def real_roots(rng: Random, side: int, *, moduli: bool = False) -> sp.Matrix:
    """P D P^-1: integer entries and eigenvalues, usually not symmetric."""
    if side == 2:
        return _two_roots(rng, moduli=moduli)
    p = unimodular(rng, side)
    return p * sp.diag(*apart(rng, side, 8 if side == 2 else 5, moduli=moduli)) * p.inv()


def _two_roots(rng: Random, *, moduli: bool) -> sp.Matrix:
    """b I + (a - b) v w^T / (w · v), with w orthogonal to the other eigenvector: eigenvalues a and b, all integers."""
    while True:
        a, b = apart(rng, 2, 9, moduli=moduli)
        (v1, v2), (u1, u2) = (_SMALL[int(i)] for i in rng.integers(len(_SMALL), size=2))
        v2, u2 = int(rng.choice([-1, 1])) * v2, int(rng.choice([-1, 1])) * u2
        below = v1 * u2 - v2 * u1
        numerators = [(a - b) * x for x in (v1 * u2, -v1 * u1, v2 * u2, -v2 * u1)]
        if below and all(x % below == 0 for x in numerators):
            return sp.eye(2) * b + sp.Matrix(2, 2, [x // below for x in numerators])


def symmetric(rng: Random, side: int) -> sp.Matrix:
    """c I + ∑ m v v^T over orthogonal integer vectors v: integer eigenvalues c + m ‖v‖^2."""
    multiples = rng.choice([-4, -3, -2, -1, 1, 2, 3, 4], side, replace=False)
    matrix = sp.eye(side) * int(rng.integers(-20, 21))
    for vector, multiple in zip(frame(rng, side)[: side - 1], multiples, strict=False):
        v = sp.Matrix(vector)
        matrix += int(multiple) * v * v.T
    return matrix


def table(rng: Random, rows: int, cols: int, *, centred: bool, rank: int | None = None) -> sp.Matrix:
    """∑ m_j t_j v_j^T over orthogonal t and v, with shuffled rows, plus integer means if centred."""
    eigenpairs = frame(rng, cols, 3 if centred else 5)
    rng.shuffle(eigenpairs)
    # Polynomials are orthogonal to the constant, which centring needs; otherwise any orthogonal vectors serve.
    patterns = frame(rng, rows) if rows in FRAMES and not centred else contrasts(rows, constant=not centred)
    order = rng.permutation(len(patterns))
    matrix = sp.zeros(rows, cols)
    for j in range(min(rank or cols, cols, len(patterns))):
        sign = 1 if rng.random() < 0.5 else -1
        size = sign * int(rng.integers(1, 4 if centred else 5))
        matrix += size * sp.Matrix(patterns[order[j]]) * sp.Matrix([list(eigenpairs[j])])
    matrix = matrix.extract([int(i) for i in rng.permutation(rows)], list(range(cols)))
    if centred:
        matrix += sp.ones(rows, 1) * sp.Matrix([rng.integers(0, 10, cols).tolist()])
    return matrix


def floats(matrix: sp.Matrix) -> NDArray[np.float64]:
    """The matrix as doubles, for criteria and independent checks."""
    return np.array(matrix.tolist(), dtype=float)


def largest(matrix: sp.Matrix) -> sp.Expr:
    """The largest absolute entry."""
    return max(abs(entry) for entry in matrix)


def is_triangular(matrix: sp.Matrix) -> bool:
    return bool(matrix.is_upper or matrix.is_lower)


def no_parallel_rows(matrix: sp.Matrix) -> bool:
    """No row is zero, and no row is a multiple of another."""
    rows = [matrix[i, :] for i in range(matrix.rows)]
    if any(row.is_zero_matrix for row in rows):
        return False
    pairs = [(rows[i], rows[j]) for i in range(len(rows)) for j in range(i + 1, len(rows))]
    return all(bool(sp.Matrix.vstack(*pair).rank() == 2) for pair in pairs)


def no_equal_rows(matrix: sp.Matrix) -> bool:
    return bool(len({tuple(matrix[i, :]) for i in range(matrix.rows)}) == matrix.rows)


def off_diagonal(matrix: sp.Matrix) -> bool:
    """No off-diagonal entry of a symmetric matrix is zero."""
    return all(matrix[i, j] != 0 for i in range(matrix.rows) for j in range(i))
