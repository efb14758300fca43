"""Vectors of an answer against what they should be: up to sign, in any order, perhaps of any length."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations, product
from typing import Any

import numpy as np

from eckart.worked.exercises.answers import Target
from eckart.worked.exercises.arithmetic import Grid
from eckart.worked.exercises.compare import (
    ALMOST,
    PARTIAL,
    WRONG,
    Array,
    Match,
    Part,
    Verdict,
    column_sign,
    floats,
    matrix,
    right,
    shaped,
    turned,
    wrong_shape,
)
from eckart.worked.messages import tr, trn


def directions(part: Part, target: Target) -> Verdict:
    """Columns up to sign, in any order; unit length is asked for."""
    return _columns(part, target, unit=True)


def axes(part: Part, target: Target) -> Verdict:
    """Columns of any length but zero, in any order."""
    true = np.array(target.value.evalf().tolist(), dtype=float)
    given = _as_columns(part, target.value)
    if given.shape != target.value.shape:
        return wrong_shape(given, target.value)
    own, count = floats(given), true.shape[1]
    fits = [[int(np.sign(own[:, i] @ true[:, j])) * _parallel(own[:, i], true[:, j]) for j in range(count)]
            for i in range(count)]  # fmt: skip
    matches = frozenset(
        (tuple(order), tuple(fits[i][j] for i, j in enumerate(order)))
        for order in permutations(range(count))
        if all(fits[i][j] for i, j in enumerate(order))
    )
    return right(matches) if matches else Verdict(*_column_slip(own, true, unit=False))


def frame(part: Part, target: Target) -> Verdict:
    """A matrix with its signs, which may be given column by column: q1 = (1, 0), q2 = (0, 1)."""
    given = _as_columns(part, target.value)
    return matrix(Part(((given,),)) if given.shape == target.value.shape else part, target)


def scores(part: Part, target: Target) -> Verdict:
    """Columns up to sign, in order."""
    return _columns(part, target, unit=False)


def _columns(part: Part, target: Target, *, unit: bool) -> Verdict:
    true, given = target.value, _as_columns(part, target.value)
    if true.rows == 1 and given.shape == (true.cols, 1):
        given = turned(given)  # one row, written with semicolons
    if unit and given.shape == (true.rows, true.rows) and true.rows > true.cols and _is_orthogonal(floats(given)):
        given = Grid(tuple(row[: true.cols] for row in given.rows))  # the full SVD: the rest completes the basis
    if given.shape != true.shape:
        if given.shape[0] == true.rows and given.shape[1] < true.cols:
            return _some_columns(given, target, unit)
        if given.shape == true.T.shape and _matches(turned(given), true, unit):
            return _in_rows()
        return wrong_shape(given, true)
    if matches := _matches(given, true, unit or bool(target.pairing)):
        return right(matches)
    if true.rows == true.cols > 1 and _matches(turned(given), true, unit):
        return _in_rows()
    return Verdict(*_column_slip(floats(given), np.array(true.evalf().tolist(), dtype=float), unit))


def _in_rows() -> Verdict:
    return Verdict(ALMOST, tr("The vectors are right, but they stand in rows: write them as columns."))


def _as_columns(part: Part, true: Any) -> Grid:
    """Separate vectors are columns; a row may stand for a column."""
    if (vectors := part.vectors()) is not None and len(vectors[0]) == true.rows:
        return turned(Grid(tuple(map(tuple, vectors))))
    grid = part.grid()
    if 1 in grid.shape and len(part.flat) == true.rows:
        return shaped(part.flat, (true.rows, 1))
    return grid


def _matches(given: Grid, true: Any, reorder: bool) -> frozenset[Match]:
    """Every order of the columns, with signs, in which they are the true ones."""
    signs = [[column_sign(given, i, true[:, j]) for j in range(true.cols)] for i in range(true.cols)]
    orders = permutations(range(true.cols)) if reorder else [tuple(range(true.cols))]
    return frozenset(
        (tuple(order), tuple(signs[i][j] for i, j in enumerate(order)))
        for order in orders
        if all(signs[i][j] for i, j in enumerate(order))
    )


def _some_columns(given: Grid, target: Target, unit: bool) -> Verdict:
    true, count = target.value, given.shape[1]
    for chosen in permutations(range(true.cols), count):
        if _matches(given, true.extract(list(range(true.rows)), list(chosen)), False):
            return Verdict(PARTIAL, trn("Right so far, but {n} vector is missing.",
                                        "Right so far, but {n} vectors are missing.", true.cols - count))  # fmt: skip
    return Verdict(WRONG, tr("The vectors are not right."))


def _column_slip(a: Array, b: Array, unit: bool) -> tuple[str, str]:
    count = b.shape[1]
    if len(b) == 1:
        return WRONG, tr("This is not the right matrix.")
    for order in permutations(range(count)):
        if all(_parallel(a[:, i], b[:, j]) for i, j in enumerate(order)):
            if unit:
                return ALMOST, tr("The directions are right, but the vectors are not normalised.")
            if list(order) == sorted(order):
                return ALMOST, tr("The directions are right, but the lengths are not.")
            return ALMOST, tr("The vectors are right, but in another order.")
    right = {j for i in range(count) for j in range(count) if _parallel(a[:, i], b[:, j])}
    if right:
        return WRONG, tr("{right} of {count} vectors are right.", right=len(right), count=count)
    if unit and not np.allclose((a * a).sum(axis=0), 1, atol=0.02):
        return WRONG, tr("The vectors are not right, and they are not of unit length.")
    return WRONG, tr("The vectors are not right.")


def _parallel(a: Array, b: Array) -> bool:
    size = float(np.linalg.norm(a) * np.linalg.norm(b))
    return size > 0 and abs(abs(float(a @ b)) / size - 1) < 2e-5


def _is_orthogonal(a: Array) -> bool:
    """Whether the columns are orthonormal, as far as decimals of two digits say."""
    return bool(np.allclose(a.T @ a, np.eye(len(a)), atol=0.02))


def common(matches: Sequence[tuple[Target, Verdict]]) -> str:
    """What does not belong together in parts that are right one by one: "order", "signs" or ""."""
    orders = [{order for order, _ in verdict.matches} for _, verdict in matches]
    shared = set.intersection(*orders) if orders else set()
    if not shared:
        return "order"
    signed = [verdict.matches for target, verdict in matches if target.signed]
    for order, signs in product(shared, {signs for found in signed for _, signs in found}):
        if all((order, signs) in found for found in signed):
            return ""
    return "signs" if signed else ""
