"""Comparison of several numbers: in any order, in order, chosen numbers, edges."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from itertools import permutations
from typing import Any

import sympy as sp

from eckart.worked.exercises.arithmetic import Entry, Grid, Typed
from eckart.worked.exercises.compare import (
    ALMOST,
    PARTIAL,
    SLIPS,
    WRONG,
    Part,
    Verdict,
    close,
    fewer,
    number_slip,
    right,
    same_numbers,
    scale_of,
)
from eckart.worked.exercises.targets import Target
from eckart.worked.messages import tr, trn
from eckart.worked.numerals import figure


def _listed(part: Part) -> list[Typed]:
    """The numbers of a part.

    For a diagonal matrix (square, or the middle factor of a full SVD) those on its diagonal.
    """
    grid = part.grid()
    rows, cols = grid.shape
    crossing = [grid.rows[i][j].value for i in range(rows) for j in range(cols) if i != j]
    if min(rows, cols) > 1 and not any(crossing):
        return [grid.rows[i][i] for i in range(min(rows, cols))]
    return part.flat


def _unmatched(given: list[Typed], true: Sequence[sp.Expr], scale: Decimal) -> tuple[list[Typed], list[sp.Expr]]:
    """Numbers of the answer that are not among the true ones, and those that are missing."""
    left, wrong = list(true), []
    for number in given:
        match = next((place for place, value in enumerate(left) if close(number, value, scale)), None)
        if match is None:
            wrong.append(number)
        else:
            del left[match]
    return wrong, left


def _fits(given: list[Typed], true: Sequence[sp.Expr], order: tuple[int, ...], scale: Decimal) -> bool:
    return all(close(x, true[j], scale) for x, j in zip(given, order, strict=True))


def numbers(part: Part, target: Target) -> Verdict:
    """Numbers in any order."""
    given, scale = _listed(part), scale_of(target)
    wrong, left = _unmatched(given, target.value, scale)
    hits = len(given) - len(wrong)
    if not wrong and not left:
        orders = permutations(range(len(given)))
        return right(frozenset((order, ()) for order in orders if _fits(given, target.value, order, scale)))
    if not wrong:
        return fewer(len(left), hits)
    misfits = int(len(given) > len(target.value))
    if not left:
        return Verdict(
            WRONG, tr("The answer contains numbers that are not part of the solution."), misfits=misfits, hits=hits
        )
    return Verdict(WRONG, _slip_of_many(wrong, left, len(target.value)), misfits=misfits, hits=hits)


def _slip_of_many(wrong: list[Typed], left: list[Any], count: int) -> str:
    """How many are right; a slip is named only if it explains every wrong number."""
    if count == 1:
        return number_slip(wrong[0], left[0])
    if len(left) < count:
        first = trn("{n} of {count} numbers is right.", "{n} of {count} numbers are right.", count - len(left),
                    count=count)  # fmt: skip
        slip = number_slip(wrong[0], left[0]) if len(wrong) == len(left) == 1 else ""
        return f"{first} {slip}" if slip and slip != tr("This is not the right number.") else first
    return _shared_slip(wrong, left) or tr("None of the numbers is right.")


def _shared_slip(wrong: list[Typed], left: list[Any]) -> str:
    """An error that all numbers share, in any order."""
    exact = [sp.sympify(value) for value in left]
    changed: list[tuple[str, list[Any]]] = [
        (tr("All signs are wrong."), [-x for x in exact]),
        (tr("These are the squares of the right numbers: take the roots."), [x**2 for x in exact]),
    ]
    roots = list(map(sp.sqrt, exact)) if all(x.is_positive for x in exact) else []
    changed.append((tr("These are the square roots of the right numbers."), roots))
    changed += [
        (tr("All numbers are off by the factor {factor}.", factor=shown), [x * sp.Rational(shown) for x in exact])
        for _, shown in SLIPS
    ]
    return next((message for message, expected in changed if same_numbers(wrong, expected)), "")


def ordered(part: Part, target: Target) -> Verdict:
    given, scale = _listed(part), scale_of(target)
    if len(given) == len(target.value):
        wrong = [i for i, (x, y) in enumerate(zip(given, target.value, strict=True)) if not close(x, y, scale)]
        if not wrong:
            return right()
        if len(given) > 1 and same_numbers(given, target.value):
            return Verdict(ALMOST, tr("The numbers are right, but in another order."))
        if len(wrong) < len(given):
            return Verdict(WRONG, _places(wrong, given, target), hits=len(given) - len(wrong))
    return numbers(part, target)


def _places(wrong: list[int], given: list[Typed], target: Target) -> str:
    """Which numbers of a list are wrong, and why if it is one."""
    indices = ", ".join(str(i + 1) for i in wrong)
    first = trn("One entry is wrong: {places}.", "Some entries are wrong: {places}.", len(wrong), places=indices)
    if len(wrong) > 1 or target.form == "probabilities":
        return first
    slip = number_slip(given[wrong[0]], target.value[wrong[0]])
    return first if slip == tr("This is not the right number.") else f"{first} {slip}"


def probabilities(part: Part, target: Target) -> Verdict:
    """Numbers in this order that add up to 1."""
    verdict, given = ordered(part, target), _listed(part)
    total = sum((x.value for x in given), Decimal(0))
    slack = sum((x.error for x in given), Decimal("0.001"))
    if verdict.status == WRONG and len(given) == len(target.value) and abs(total - 1) > slack:
        message = tr("Probabilities add up to 1, but these add up to {total}.", total=figure(float(total)))
        return Verdict(WRONG, message, hits=verdict.hits)
    return verdict


def chosen(part: Part, target: Target) -> Verdict:
    given, true = [whole(x) for x in part.flat], set(map(int, target.value))
    found = set(given)
    if None in found:
        return Verdict(WRONG, tr("The answer must consist of whole numbers."), misfits=1)
    if found == true and len(given) == len(found):
        return right()
    if found < true and found:
        return Verdict(PARTIAL, tr("Right so far, but something is missing."), hits=len(found))
    if found > true:
        extra = ", ".join(str(x) for x in given if x not in true)
        return Verdict(
            WRONG, tr("These are not part of the solution: {names}.", names=extra), hits=len(true), misfits=1
        )
    return Verdict(WRONG, tr("These are not the right ones."), misfits=int(len(given) > len(true)))


def whole(x: Typed) -> int | None:
    """The whole number that was typed, or None."""
    return int(x.value) if x.value == x.value.to_integral_value() and not x.error and not x.percent else None


def _pairs(given: list[int | None], count: int) -> list[tuple[int, int]]:
    """The numbers two by two, or the digits of as many numbers as edges are asked for: 14, 23 for 1-4, 2-3."""
    known = [x for x in given if x is not None]
    if len(known) < len(given):
        return []
    if len(known) == count and all(11 <= x <= 99 for x in known):
        known = [int(digit) for x in known for digit in str(x)]
    return list(zip(known[::2], known[1::2], strict=True)) if len(known) % 2 == 0 else []


def _is_matrix(entry: Entry) -> bool:
    return isinstance(entry, Grid) and entry.shape[0] > 1 and entry.shape[1] > 2


def edges(part: Part, target: Target) -> Verdict:
    """Pairs of points, in any order and from either end."""
    true = {frozenset(map(int, pair)) for pair in target.value}
    pairs = [] if any(map(_is_matrix, part.entries)) else _pairs([whole(x) for x in part.flat], len(true))
    if not pairs:
        return Verdict(WRONG, tr("The answer must consist of pairs of points, such as 1-2, 2-3."), misfits=1)
    found = list(map(frozenset, pairs))
    wrong = [pair for pair in pairs if frozenset(pair) not in true]
    if wrong:
        shown = ", ".join(f"{a}-{b}" for a, b in wrong)
        return Verdict(WRONG, tr("These are not part of the solution: {names}.", names=shown),
                       hits=len(found) - len(wrong), misfits=int(not true & set(found)))  # fmt: skip
    if set(found) < true:
        return Verdict(PARTIAL, tr("Right so far, but something is missing."), hits=len(found))
    return right()
