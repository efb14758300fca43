"""Matrices with clean answers: whole numbers with whole eigenvalues, and axes that are whole vectors over a root.

From whole orthogonal vectors t_j (rows) and v_j (columns) the matrix ∑ m_j t_j v_j^T has the singular values
m_j ‖t_j‖ ‖v_j‖, and c I + ∑ m_j v_j v_j^T the eigenvalues c + m_j ‖v_j‖^2.
"""

from __future__ import annotations

import math
from typing import Any

import sympy as sp

from eckart.worked.choices import Choices

FRAMES: dict[int, tuple[tuple[tuple[int, ...], ...], ...]] = {
    2: tuple(((a, b), (-b, a)) for a, b in ((1, 1), (2, 1), (1, 2), (3, 1), (1, 3), (3, 2), (2, 3))),
    3: (
        ((1, 1, 1), (1, -1, 0), (1, 1, -2)), ((1, 2, 2), (2, 1, -2), (2, -2, 1)), ((1, 0, 1), (0, 1, 0), (-1, 0, 1)),
        ((1, 1, 0), (1, -1, 0), (0, 0, 1)), ((2, 1, 0), (-1, 2, 0), (0, 0, 1)), ((1, -1, 1), (1, 1, 0), (1, -1, -2)),
        ((0, 2, 1), (1, 0, 0), (0, -1, 2)),
    ),
}  # fmt: skip
"""Orthogonal whole vectors; no two frames hold the same lines."""


def contrasts(n: int, *, constant: bool) -> list[list[int]]:
    """Orthogonal whole vectors of length n: the discrete orthogonal polynomials, from the constant or the linear one.

    >>> contrasts(4, constant=False)
    [[-3, -1, 1, 3], [1, -1, -1, 1], [-1, 3, -3, 1]]
    """
    done: list[Any] = []
    for power in range(min(n, 4)):
        vector = sp.Matrix([sp.Integer(i) ** power for i in range(n)])
        for other in done:
            vector = vector - other * (vector.dot(other) / other.dot(other))
        below = sp.ilcm(1, *[entry.q for entry in vector])
        whole = vector * below
        done.append(whole / sp.igcd(*[entry.p for entry in whole]))
    return [[int(entry) for entry in vector] for vector in done[0 if constant else 1 :]]


def symmetric(seed: int, side: int, degenerate: bool) -> Any:
    """Whole entries and whole eigenvalues, all different and not zero unless asked."""
    frames = FRAMES[side]
    choices = Choices(seed, [len(frames), 4, 3 if side == 3 else 1, 15])
    frame, first, second = choices.of(frames), choices.number() + 1, choices.number() + 1
    first_square, second_square = _square(frame[0]), _square(frame[1])
    least = choices.number() + 1 + 15 * choices.block
    if side == 2:
        least -= 8 if least < 8 else 7
        least -= 15 if least + first * first_square == 0 else 0
    if degenerate and side == 2:
        return sp.eye(2) * least
    if side == 3 and first * first_square == second * second_square:
        second = 4
    matrix = sp.eye(side) * least
    for vector, multiple in ((frame[0], first), (frame[1], 0 if degenerate or side == 2 else second)):
        matrix += multiple * sp.Matrix(vector) * sp.Matrix([vector])
    return matrix


def table(seed: int, rows: int, columns: int, degenerate: bool, *, centred: bool) -> Any:
    """Rows of whole numbers whose cross-products (after centring, if centred) have whole eigenvalues."""
    frames, patterns = FRAMES[columns], contrasts(rows, constant=not centred)
    choices = Choices(seed, [len(frames), len(patterns), 3, 3, *[10] * columns, math.factorial(rows)])
    frame, start = choices.of(frames), choices.number()
    chosen = [patterns[(start + j) % len(patterns)] for j in range(columns)]
    multiples = _apart([1 + choices.number(), 1 + choices.number(), 1][:columns], chosen, frame)
    if degenerate:
        multiples[1] = 0
    means = choices.numbers(columns) if centred else [0] * columns
    matrix = sp.zeros(rows, columns)
    for t, v, m in zip(chosen, frame, multiples, strict=False):
        matrix += m * sp.Matrix(t) * sp.Matrix([v])
    shift = sp.ones(rows, 1) * sp.Matrix([[mean + 10 * choices.block for mean in means]])
    matrix = (matrix + shift) if centred else matrix * (1 + choices.block)
    if not centred:
        choices.numbers(columns)
    return _permuted(matrix, choices.number())


def triangular_product(seed: int, side: int, degenerate: bool) -> Any:
    """L U with a unit triangle L: the determinant is the product of U's diagonal."""
    below = side * (side - 1) // 2
    choices = Choices(seed, [5] * below + [5] * below + [5] * side)
    left, right = sp.eye(side), sp.zeros(side)
    for i in range(side):
        for j in range(i):
            left[i, j] = choices.number() - 2
            right[j, i] = choices.number() - 2
    for i in range(side):
        right[i, i] = choices.of([1, 2, 3, -1, -2])
    right[0, 0] += 3 * choices.block
    if degenerate:
        right[side - 1, side - 1] = 0
    return left * right


def low_rank(seed: int, rows: int, columns: int, *, positive: bool) -> Any:
    """Some independent rows and combinations of them (rank), or a product of non-negative factors (NMF)."""
    rank = max(1, min(rows, columns) - 1)
    free = rank * (columns - rank)
    choices = Choices(seed, [5] * free + [4] * ((rows - rank) * rank))
    base = sp.Matrix.hstack(sp.eye(rank), sp.Matrix(rank, columns - rank, choices.numbers(free, 0 if positive else -2)))
    base = base + base * choices.block if positive else base
    base[0, 0] += 0 if positive else choices.block
    numbers = choices.numbers((rows - rank) * rank, 1 if positive else -2)
    rest = sp.Matrix(rows - rank, rank, [x if positive or x < 0 else x + 1 for x in numbers])
    if not positive and rank > 1:
        base = base.copy()
        base[1, :] = base[1, :] + 2 * base[0, :]
    return sp.Matrix.vstack(base, rest * base)


def _apart(multiples: list[int], patterns: Any, frame: Any) -> list[int]:
    """The multiples, raised where two singular values would be the same."""
    seen: set[int] = set()
    for j, (pattern, vector) in enumerate(zip(patterns, frame, strict=True)):
        while (size := multiples[j] ** 2 * _square(pattern) * _square(vector)) in seen:
            multiples[j] += 3
        seen.add(size)
    return multiples


def _square(vector: Any) -> int:
    return sum(x * x for x in vector)


def _permuted(matrix: Any, number: int) -> Any:
    """The rows in the order that the number stands for."""
    places, order = list(range(matrix.rows)), []
    for left in range(matrix.rows, 0, -1):
        number, digit = divmod(number, left)
        order.append(places.pop(digit))
    return matrix.extract(order, list(range(matrix.cols)))
