"""Comparison of vectors: up to sign, in any order, and possibly of any length."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from itertools import combinations, permutations, product
from typing import Any

import numpy as np
import sympy as sp

from eckart.worked.exercises.arithmetic import Grid
from eckart.worked.exercises.compare import (
    ALMOST,
    PARTIAL,
    WRONG,
    Array,
    Match,
    Part,
    Verdict,
    close,
    column_sign,
    fewer,
    floats,
    matrix,
    number_slip,
    right,
    shaped,
    transposed,
    wrong_shape,
)
from eckart.worked.exercises.targets import Target
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
    count, fits = true.shape[1], _same_directions(given, true)
    signs = {order: tuple(fits[range(count), order].tolist()) for order in permutations(range(count))}
    matches = frozenset((order, found) for order, found in signs.items() if all(found))
    if matches:
        return right(matches)
    parallel = int(np.count_nonzero(fits.any(axis=0)))
    if parallel:
        return _some_right(parallel, count)
    if count == len(true) and _same_directions(transposed(given), true).any(axis=0).all():
        return Verdict(ALMOST, tr("This is the transpose of the right matrix."))
    return _not_right(count)


def _some_right(right_ones: int, count: int) -> Verdict:
    message = trn("{n} of {count} vectors is right.", "{n} of {count} vectors are right.", right_ones, count=count)
    return Verdict(WRONG, message, hits=right_ones)


def _not_right(count: int) -> Verdict:
    return Verdict(WRONG, trn("The vector is not right.", "The vectors are not right.", count))


def _same_directions(given: Grid, true: Array) -> Array:
    """1 or -1 where a given column has the direction of a true one or the opposite one, else 0."""
    own, errors = floats(given), np.array([[float(x.error) for x in row] for row in given.rows])
    pairs = zip(own.T, errors.T, strict=True)
    return np.array([[int(np.sign(x @ y)) * _has_direction(x, error, y) for y in true.T] for x, error in pairs])


def inverse(part: Part, target: Target) -> Verdict:
    """The inverse of a matrix of axes: its rows are known up to their lengths, which `are_inverse` compares."""
    given = part.grid()
    if given.shape != target.value.shape:
        return wrong_shape(given, target.value)
    verdict = axes(Part(((transposed(given),),)), replace(target, value=target.value.T))
    return verdict or Verdict(WRONG, tr("This is not the right matrix."))


def are_inverse(matrix: Part, other: Part) -> bool:
    """Whether the product of two matrices is the identity, as far as rounded decimals say."""
    b = other.grid()
    a = _as_columns(matrix, sp.zeros(*b.shape))
    errors = [[float(x.error) for x in row] for row in (*a.rows, *b.rows)]
    slack = 2 * np.max(errors) * (np.abs(floats(a)).sum(axis=1).max() + np.abs(floats(b)).sum(axis=0).max()) + 1e-9
    return a.shape[1] == b.shape[0] and bool(np.abs(floats(a) @ floats(b) - np.eye(a.shape[0])).max() <= slack)


def frame(part: Part, target: Target) -> Verdict:
    """A matrix with its signs, which may be given column by column: q1 = (1, 0), q2 = (0, 1)."""
    given, true = _as_columns(part, target.value), target.value
    if given.shape[0] == true.rows and given.shape[1] < true.cols:
        first = true.extract(list(range(true.rows)), list(range(given.shape[1])))
        if matrix(Part(((given,),)), replace(target, value=first)):
            return _fewer(true.cols - given.shape[1])
    verdict = matrix(Part(((given,),)) if given.shape == true.shape else part, target)
    if not verdict and part.is_bare and part.may_have_rows and transposed(part.grid()).shape == true.shape:
        verdict = matrix(Part(((transposed(part.grid()),),)), target) or verdict  # the columns one by one
    if not verdict and given.shape == true.shape and _are_parallel(given, true):
        return Verdict(ALMOST, _length_slip(given, true, range(true.cols), True))
    return verdict


def _are_parallel(given: Grid, true: Any) -> bool:
    """Whether all columns have the right directions and signs."""
    a, b = floats(given), np.array(true.evalf().tolist(), dtype=float)
    return all(_parallel(x, y) and x @ y > 0 for x, y in zip(a.T, b.T, strict=True))


def scores(part: Part, target: Target) -> Verdict:
    """Columns up to sign, in order."""
    return _columns(part, target, unit=False)


def _columns(part: Part, target: Target, *, unit: bool) -> Verdict:
    true, reorder = target.value, unit or bool(target.pairing)
    given = _laid_out(part, target, unit)
    matches = _matches(given, true, reorder) if given.shape == true.shape else frozenset()
    in_rows = _matches(transposed(given), true, reorder) if _is_turnable(part, given, true, unit) else frozenset()
    if matches:  # rows without brackets may be the rows of a matrix or vectors one by one
        return right(matches | in_rows if part.is_bare else matches)
    if in_rows and (part.is_bare or true.cols > 1 or given.shape != true.shape):
        return _in_rows(part, target, in_rows)
    if missing := _missing_rows(part.grid(), target):
        return fewer(missing * true.cols)
    return _column_slip(given, true, unit) if given.shape == true.shape else _other_shape(given, target, unit)


def _missing_rows(given: Grid, target: Target) -> int:
    """How many rows are missing, if those that are given are right; otherwise 0."""
    true, count = target.value, given.shape[0]
    if not target.by_row or given.shape[1] != true.cols or count >= true.rows:
        return 0
    chosen = (true.extract(list(rows), list(range(true.cols))) for rows in combinations(range(true.rows), count))
    return true.rows - count if any(_matches(given, one, False) for one in chosen) else 0


def _laid_out(part: Part, target: Target, unit: bool) -> Grid:
    """The vectors of a part as columns, without those that only complete a basis."""
    true = target.value
    given = part.grid() if target.by_row and part.grid().shape == true.shape else _as_columns(part, true)
    if true.rows == 1 and given.shape == (true.cols, 1):
        given = transposed(given)  # one row, written with semicolons
    if unit and given.shape == (true.rows, true.rows) and true.rows > true.cols and _is_orthogonal(floats(given)):
        given = Grid(tuple(row[: true.cols] for row in given.rows))  # the full SVD: the others complete the basis
    return given


def _is_turnable(part: Part, given: Grid, true: Any, unit: bool) -> bool:
    """Whether the vectors may be rows: in a matrix or a list of rows; vectors one by one are what they are."""
    layout_open = len(part.entries) == 1 or part.is_bare or not unit
    return layout_open and bool(given.shape == true.T.shape) and len(true) > 1


def _other_shape(given: Grid, target: Target, unit: bool) -> Verdict:
    if given.shape[0] == target.value.rows and given.shape[1] < target.value.cols:
        return _some_columns(given, target, unit)
    return wrong_shape(given, target.value)


def _in_rows(part: Part, target: Target, matches: frozenset[Match]) -> Verdict:
    """Vectors in rows are right if they are listed; the transpose of a matrix of columns is wrong."""
    square = target.value.rows == target.value.cols > 1
    if square and (target.by_row or part.name.endswith(("^T", "'"))):
        return Verdict(ALMOST, tr("This is the transpose of the right matrix."))
    if part.is_bare or part.may_have_rows:
        return right(matches)
    return Verdict(ALMOST, tr("The vectors are right, but they are written as rows: write them as columns."))


def _as_columns(part: Part, true: Any) -> Grid:
    """Separate vectors are columns; a row may stand for a column."""
    if (vectors := part.vectors()) is not None and len(vectors[0]) == true.rows:
        return transposed(Grid(tuple(map(tuple, vectors))))
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
            return _fewer(true.cols - count)
    return _not_right(count)


def _fewer(missing: int) -> Verdict:
    return Verdict(PARTIAL, trn("Right so far, but {n} vector is missing.",
                                "Right so far, but {n} vectors are missing.", missing))  # fmt: skip


def _column_slip(given: Grid, true: Any, unit: bool) -> Verdict:
    """The error in columns that are not all right."""
    a, b = floats(given), np.array(true.evalf().tolist(), dtype=float)
    count = b.shape[1]
    if len(b) == 1:
        return _row_slip(given, true)
    exact = {j for i, j in product(range(count), repeat=2) if column_sign(given, i, true[:, j])}
    if not unit and _is_shifted(given, true):
        message = trn("Off by a constant: subtract the mean.",
                      "Off by a constant: subtract the mean of each column.", count)  # fmt: skip
        return Verdict(ALMOST, message, hits=len(exact))
    common = _common_slip(given, true, exact, unit)
    if common is not None:
        return Verdict(ALMOST, common, hits=len(exact))
    if exact:
        return _some_right(len(exact), count)
    slip = _entry_slip(given, true) if count == 1 else None
    return slip if slip is not None else _no_vector(a, unit)


def _is_shifted(given: Grid, true: Any) -> bool:
    """Whether columns whose mean must be 0 are right up to a constant: the scores of rows that were not centred."""
    a, b = floats(given), np.array(true.evalf().tolist(), dtype=float)
    scale = np.abs(b).max(axis=0)
    slack = 1e-9 * scale + np.array([max(float(x.error) for x in column) for column in zip(*given.rows, strict=True)])
    means, centred = a.mean(axis=0), a - a.mean(axis=0)
    if (np.abs(means) <= 2 * slack).all() or (np.abs(b.mean(axis=0)) > 1e-9 * scale).any():
        return False
    return bool((np.minimum(np.abs(centred - b).max(axis=0), np.abs(centred + b).max(axis=0)) <= slack).all())


def _common_slip(given: Grid, true: Any, exact: set[int], unit: bool) -> str | None:
    """The error that all columns have, in some order: the length of the vectors or their last digits."""
    a, b = floats(given), np.array(true.evalf().tolist(), dtype=float)
    for order in permutations(range(b.shape[1])):
        if all(_parallel(a[:, i], b[:, j]) for i, j in enumerate(order)):
            return _length_slip(given, true, order, unit)
        if all(_is_near(given, i, b[:, j]) or j in exact for i, j in enumerate(order)):
            return tr("Close, but not all digits are right: compute with more digits.")
    return None


def _no_vector(a: Array, unit: bool) -> Verdict:
    """The verdict on vectors of which none is right."""
    if unit and not np.allclose((a * a).sum(axis=0), 1, atol=0.02):
        message = trn("The vector is not right, and it is not of unit length.",
                      "The vectors are not right, and they are not of unit length.", a.shape[1])  # fmt: skip
        return Verdict(WRONG, message)
    return _not_right(a.shape[1])


def _entry_slip(given: Grid, true: Any) -> Verdict | None:
    """The wrong entries of one column, if they are few for one of its two signs."""
    scale = max(abs(Decimal(str(sp.N(entry, 20)))) for entry in true)
    signs = (
        [i for i, entry in enumerate(true) if not close(given.rows[i][0], sign * entry, scale)] for sign in (1, -1)
    )
    wrong = min(signs, key=len)
    if len(wrong) > true.rows // 3:
        return None
    places = ", ".join(str(i + 1) for i in wrong)
    message = trn("One entry is wrong: {places}.", "Some entries are wrong: {places}.", len(wrong), places=places)
    return Verdict(WRONG, message, hits=true.rows - len(wrong))


def _row_slip(given: Grid, true: Any) -> Verdict:
    """Scores of one row: numbers up to their signs."""
    wrong = [j for j in range(true.cols) if not column_sign(given, j, true[:, j])]
    if true.cols > 1:
        places = ", ".join(str(j + 1) for j in wrong)
        return Verdict(WRONG, trn("One entry is wrong: {places}.", "Some entries are wrong: {places}.", len(wrong),
                                  places=places), hits=true.cols - len(wrong))  # fmt: skip
    return Verdict(WRONG, number_slip(replace(given.rows[0][0], value=abs(given.rows[0][0].value)), abs(true[0])))


def _length_slip(given: Grid, true: Any, order: Sequence[int], unit: bool) -> str:
    """Columns of the right directions: too inaccurate, of another length, or in another order."""
    wrong = [i for i, j in enumerate(order) if not column_sign(given, i, true[:, j])]
    b = np.array(true.evalf().tolist(), dtype=float)
    if wrong and all(_is_near(given, i, b[:, order[i]]) for i in wrong):
        return tr("Close, but not all digits are right: compute with more digits.")
    if not wrong:
        return tr("The vectors are right, but in another order.")
    if not unit:
        return trn("The direction is right, but the length is not.",
                   "The directions are right, but the lengths are not.", len(order))  # fmt: skip
    if len(wrong) < len(order):
        return trn("The directions are right, but {n} vector is not normalised.",
                   "The directions are right, but {n} vectors are not normalised.", len(wrong))  # fmt: skip
    return trn("The direction is right, but the vector is not normalised.",
               "The directions are right, but the vectors are not normalised.", len(order))  # fmt: skip


def _is_near(given: Grid, place: int, true: Array) -> bool:
    """Whether decimals are close to the true column, or its opposite, in every entry."""
    column = [row[place] for row in given.rows]
    if not any(x.error for x in column):
        return False
    own, slack = np.array([float(x.value) for x in column]), 0.02 * float(np.abs(true).max())
    return any(bool(np.abs(own - sign * true).max() <= slack) for sign in (1, -1))


def _parallel(a: Array, b: Array) -> bool:
    size = float(np.linalg.norm(a) * np.linalg.norm(b))
    return size > 0 and abs(abs(float(a @ b)) / size - 1) < 2e-5


def _has_direction(a: Array, error: Array, b: Array) -> bool:
    """Whether two vectors are parallel, within the rounding errors of the first: a_i b_j = a_j b_i."""
    size = float(np.linalg.norm(a) * np.linalg.norm(b))
    slack = np.outer(error, np.abs(b)) + np.outer(np.abs(b), error) + 1e-12 * size
    return size > 0 and bool((np.abs(np.outer(a, b) - np.outer(b, a)) <= slack).all())


def _is_orthogonal(a: Array) -> bool:
    """Whether the columns are orthonormal, as far as decimals of two digits say."""
    return bool(np.allclose(a.T @ a, np.eye(len(a)), atol=0.02))


def _shared_orders(verdicts: Sequence[Verdict]) -> set[tuple[int, ...]]:
    orders = [{order for order, _ in verdict.matches} for verdict in verdicts]
    return set.intersection(*orders) if orders else set()


def common(matches: Sequence[tuple[Target, Verdict]]) -> str:
    """The inconsistency between parts that are right one by one: "order", "signs" or ""."""
    shared = _shared_orders([verdict for _, verdict in matches])
    if not shared:
        return "order"
    signed = [verdict.matches for target, verdict in matches if target.signed]
    together = frozenset.intersection(*signed) if signed else frozenset()
    fits = any(order in shared for order, _ in together)
    return "signs" if signed and not fits else ""
