"""Is an answer right? Exact numbers must be equal, decimals right to the digits given, vectors up to their sign.

Where it is not right, the most likely slip is named: not normalised, squared, wrong order, one entry, a sign.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import groupby, permutations, product
from typing import Any

import numpy as np
import sympy as sp

from eckart.worked.exercises.answers import Part, Target, readings
from eckart.worked.messages import tr, trn

RIGHT, ALMOST, PARTIAL, WRONG = "right", "almost", "partial", "wrong"
_ORDER = (RIGHT, ALMOST, PARTIAL, WRONG)
_COARSE = 0.01
"""A decimal must be this near, relatively, however few digits are given."""

Array = np.ndarray[Any, np.dtype[np.float64]]


@dataclass(frozen=True)
class Verdict:
    """What is right and what is not. `status` is "right", "almost", "partial" (right, but not all) or "wrong"."""

    status: str
    message: str

    def __bool__(self) -> bool:
        return self.status == RIGHT

    def __str__(self) -> str:
        return self.message


def judge(answer: str, targets: Sequence[Target]) -> Verdict:
    """The verdict on an answer, by the reading that is kindest to it."""
    found = [_judge_parts(parts, targets) for parts in readings(answer)]
    return min(found, key=lambda verdict: _ORDER.index(verdict.status))


def _judge_parts(parts: list[Part], targets: Sequence[Target]) -> Verdict:
    merged = [parts]
    if len(parts) > 1 and not any(part.name for part in parts):
        # "3; 1" is a list of two numbers, "(1, 0); (0, 1)" are the columns of one matrix.
        groups = [list(group) for _, group in groupby(parts, key=lambda part: len(part.flat))]
        merged.append([_joined(group) if len(group[0].flat) == 1 else _stacked(group) for group in groups])
    if any(part.name for part in parts) and not all(part.name for part in parts):
        merged.append(_folded(parts))
    return min((_judge_assigned(each, targets) for each in merged), key=lambda v: _ORDER.index(v.status))


def _folded(parts: list[Part]) -> list[Part]:
    """Numbers without a name belong to the name before them: "lambda = 0,5; 0,25"."""
    folded: list[Part] = []
    for part in parts:
        if folded and not part.name and not part.bracketed and not folded[-1].bracketed:
            last = folded[-1]
            digits = (*last.flat_decimals, *part.flat_decimals)
            folded[-1] = Part(last.name, ((*last.flat, *part.flat),), (digits,), False)
        else:
            folded.append(part)
    return folded


def _joined(parts: list[Part]) -> Part:
    """Single numbers as one list."""
    numbers = tuple(part.flat[0] for part in parts)
    return Part("", (numbers,), (tuple(part.flat_decimals[0] for part in parts),), False)


def _stacked(parts: list[Part]) -> Part:
    """Vectors as the columns of one matrix."""
    if len(parts) == 1:
        return parts[0]
    size = len(parts[0].flat)
    rows = tuple(tuple(part.flat[i] for part in parts) for i in range(size))
    digits = tuple(tuple(part.flat_decimals[i] for part in parts) for i in range(size))
    return Part("", rows, digits, True)


def _judge_assigned(parts: list[Part], targets: Sequence[Target]) -> Verdict:
    """Give each part the target of its name, or else the one that it fits best."""
    left = list(targets)
    verdicts: list[Verdict] = []
    for part in parts:
        named = [target for target in left if part.name and _normal(part.name) in map(_normal, target.names)]
        column = _column_of(part, left) if not named else None
        choices = [column] if column else named or left
        if not choices:
            verdicts.append(Verdict(WRONG, tr("There are more parts in the answer than in the question.")))
            continue
        tried = [(compare(part, target), target) for target in choices]
        verdict, target = min(tried, key=lambda pair: _ORDER.index(pair[0].status))
        if verdict.status == WRONG and not named and column is None:
            verdict = compare(part, left[0]) if len(left) == len(targets) else verdict
        verdicts.append(verdict)
        if column is None:
            left.remove(target)
    worst = max(verdicts, key=lambda verdict: _ORDER.index(verdict.status))
    asked = [target for target in left if not any(_column_of(part, [target]) for part in parts)]
    if worst.status == RIGHT and asked:
        names = ", ".join(target.names[0] for target in asked)
        return Verdict(PARTIAL, tr("Right so far. Still to be found: {names}.", names=names))
    return worst


def _normal(name: str) -> str:
    greek = {"λ": "lambda", "σ": "sigma", "μ": "mu", "Σ": "sigma"}
    for sign, word in greek.items():
        name = name.replace(sign, word)
    return name.lower().replace("_", "").replace("^", "").replace("{", "").replace("}", "").replace(" ", "")


def _column_of(part: Part, targets: Sequence[Target]) -> Target | None:
    """v2 = ... stands for column 2 of a target that is a matrix of columns, lambda2 for entry 2 of a list."""
    name = _normal(part.name)
    if not name or not name[-1].isdigit():
        return None
    stem, place = name.rstrip("0123456789"), int(name[len(name.rstrip("0123456789")) :])
    for target in targets:
        if stem not in {_normal(own) for own in target.names}:
            continue
        if target.form in {"directions", "scores"} and 1 <= place <= target.value.cols:
            return Target((part.name,), target.form, target.value[:, place - 1])
        if target.form in {"numbers", "list"} and 1 <= place <= len(target.value):
            return Target((part.name,), "number", target.value[place - 1])
    return None


def compare(part: Part, target: Target) -> Verdict:
    """One part against what it should be."""
    return _COMPARE[target.form](part, target)


def _close(given: Any, digits: int | None, true: Any) -> bool:
    """Exactly equal, or a decimal within one unit of its last place and within a per cent."""
    if digits is None and not sp.sympify(true).has(sp.Float):
        return bool(abs(sp.N(given - true, 30)) < sp.Float("1e-20") * (1 + abs(sp.N(true, 30))))
    gap, size = abs(float(sp.N(given - true, 30))), abs(float(sp.N(true, 30)))
    if digits is None:
        return gap <= 1e-6 * max(1.0, size)
    return gap <= 1.0000001 * 10.0**-digits and gap <= max(_COARSE * size, 1e-9 if size else 0.5 * 10.0**-digits)


def _number(part: Part, target: Target) -> Verdict:
    if len(part.flat) != 1:
        return Verdict(WRONG, tr("One number is asked for here, and the answer has {count}.", count=len(part.flat)))
    given, digits, true = part.flat[0], part.flat_decimals[0], sp.sympify(target.value)
    if _close(given, digits, true):
        return _right()
    return Verdict(WRONG, number_slip(given, digits, true))


def number_slip(given: Any, digits: int | None, true: Any) -> str:
    """The likeliest slip behind one wrong number."""
    tests: list[tuple[str, Callable[[], Any]]] = [
        (tr("The sign is wrong."), lambda: -true),
        (tr("This is the square of the right number: take the root."), lambda: true**2),
        (tr("This is the square root of the right number."), lambda: sp.sqrt(true)),
        (tr("This is the reciprocal of the right number."), lambda: 1 / true),
    ]
    if true != 0:
        for message, wrong in tests:
            value = wrong()
            if value.is_real and value != true and _close(given, digits, value):
                return message
        ratio = float(sp.N(given / true))
        if digits is not None and abs(ratio - 1) < 0.03:
            return tr("Close, but not to the digits given: compute with more digits.")
        for factor in (2, 3, 4, 5, 10, 100):
            for value in (factor, 1 / factor):
                if abs(ratio - value) < 1e-9 if digits is None else abs(ratio - value) < 0.01 * value:
                    return tr("The number is off by the factor {factor}.", factor=sp.nsimplify(value))
    return tr("This is not the right number.")


def _numbers(part: Part, target: Target) -> Verdict:
    """Numbers in any order."""
    true = [sp.sympify(value) for value in target.value]
    left = list(true)
    wrong = []
    for given, digits in zip(part.flat, part.flat_decimals, strict=True):
        match = next((value for value in left if _close(given, digits, value)), None)
        if match is None:
            wrong.append((given, digits))
        else:
            left.remove(match)
    if not wrong and not left:
        return _right()
    if not wrong:
        return Verdict(PARTIAL, trn("Right so far, but {n} number is missing.",
                                    "Right so far, but {n} numbers are missing.", len(left)))  # fmt: skip
    if not left:
        return Verdict(WRONG, tr("The answer has numbers that do not belong to it."))
    return Verdict(WRONG, _slip_of_many(wrong, left, len(true)))


def _slip_of_many(wrong: list[tuple[Any, int | None]], left: list[Any], count: int) -> str:
    slips = {number_slip(given, digits, left[min(i, len(left) - 1)]) for i, (given, digits) in enumerate(wrong)}
    slips.discard(tr("This is not the right number."))
    if len(wrong) < count and len(left) < count:
        first = tr("{right} of {count} numbers are right.", right=count - len(left), count=count)
        return f"{first} {slips.pop()}" if len(slips) == 1 else first
    return slips.pop() if len(slips) == 1 else tr("None of the numbers is right.")


def _list(part: Part, target: Target) -> Verdict:
    true = [sp.sympify(value) for value in target.value]
    if len(part.flat) != len(true):
        return _numbers(part, target)
    pairs = zip(part.flat, part.flat_decimals, true, strict=True)
    if all(_close(given, digits, value) for given, digits, value in pairs):
        return _right()
    verdict = _numbers(part, target)
    if verdict.status == RIGHT:
        return Verdict(ALMOST, tr("The numbers are right, but in another order."))
    return verdict


def _set(part: Part, target: Target) -> Verdict:
    given, true = {int(x) for x in part.flat if x.is_Integer}, {int(x) for x in target.value}
    if given == true and len(part.flat) == len(given):
        return _right()
    if given < true and given:
        return Verdict(PARTIAL, tr("Right so far, but something is missing."))
    return Verdict(WRONG, tr("These are not the right ones."))


def _matrix(part: Part, target: Target) -> Verdict:
    true, given = target.value, part.matrix
    if given.shape != true.shape:
        if given.T.shape == true.shape and 1 in given.shape:
            return _matrix(_turned(part), target)
        if len(part.flat) == len(true) and not part.bracketed:
            return _matrix(_shaped(part, true.shape), target)
        if given.T.shape == true.shape and _matrix(_turned(part), target).status == RIGHT:
            return Verdict(ALMOST, tr("This is the transpose of the right matrix."))
        return Verdict(WRONG, tr("The answer is {given}, and a {true} matrix is asked for.",
                                 given=f"{given.rows} x {given.cols}", true=f"{true.rows} x {true.cols}"))  # fmt: skip
    wrong = [(i, j) for i in range(true.rows) for j in range(true.cols)
             if not _close(given[i, j], part.decimals[i][j], true[i, j])]  # fmt: skip
    if not wrong:
        return _right()
    if true.rows == true.cols > 1 and _entries_close(_turned(part), true):
        return Verdict(ALMOST, tr("This is the transpose of the right matrix."))
    return Verdict(WRONG, _matrix_slip(part, given, true, wrong))


def _matrix_slip(part: Part, given: Any, true: Any, wrong: list[tuple[int, int]]) -> str:
    a, b = _floats(given), _floats(true)
    if np.abs(a).max() > 0 and np.abs(b).max() > 0:
        ratio = float((a * b).sum() / (b * b).sum())
        if ratio and np.allclose(a, ratio * b, rtol=1e-6, atol=1e-9):
            if abs(ratio + 1) < 1e-9:
                return tr("All signs are wrong.")
            return tr("Every entry is off by the factor {factor}.", factor=f"{ratio:.6g}")
    if len(wrong) <= max(1, len(true) // 3):
        places = ", ".join(f"({i + 1},{j + 1})" for i, j in wrong)
        return trn("One entry is wrong: {places}.", "Some entries are wrong: {places}.", len(wrong), places=places)
    return tr("This is not the right matrix.")


def _directions(part: Part, target: Target) -> Verdict:
    """Columns up to sign, in any order; unit length is asked for."""
    return _columns(part, target, unit=True)


def _scores(part: Part, target: Target) -> Verdict:
    """Columns up to sign, in order."""
    return _columns(part, target, unit=False)


def _columns(part: Part, target: Target, *, unit: bool) -> Verdict:
    true = target.value
    part = _fitting(part, true)
    if part.matrix.shape != true.shape:
        if part.matrix.rows == true.rows and part.matrix.cols < true.cols:
            return _some_columns(part, target, unit)
        given = part.matrix
        return Verdict(WRONG, tr("The answer is {given}, and a {true} matrix is asked for.",
                                 given=f"{given.rows} x {given.cols}", true=f"{true.rows} x {true.cols}"))  # fmt: skip
    orders = permutations(range(true.cols)) if unit else [tuple(range(true.cols))]
    for order, turned in product(orders, (False, True)):
        candidate = _turned(part) if turned and true.rows == true.cols else part
        if all(_column_close(candidate, i, true[:, j]) for i, j in enumerate(order)):
            if turned and true.rows == true.cols > 1 and not _symmetric_columns(part, true):
                return Verdict(ALMOST, tr("The vectors are right, but they stand in rows: write them as columns."))
            return _right()
    return Verdict(*_column_slip(part, true, unit))


def _some_columns(part: Part, target: Target, unit: bool) -> Verdict:
    true = target.value
    for chosen in permutations(range(true.cols), part.matrix.cols):
        few = Target(target.names, target.form, true.extract(list(range(true.rows)), list(chosen)))
        if _columns(part, few, unit=unit).status == RIGHT:
            missing = true.cols - part.matrix.cols
            return Verdict(PARTIAL, trn("Right so far, but {n} vector is missing.",
                                        "Right so far, but {n} vectors are missing.", missing))  # fmt: skip
    return Verdict(WRONG, tr("The vectors are not right."))


def _column_slip(part: Part, true: Any, unit: bool) -> tuple[str, str]:
    a, b = _floats(part.matrix), _floats(true)
    for order in permutations(range(true.cols)):
        if all(_parallel(a[:, i], b[:, j]) for i, j in enumerate(order)):
            if unit:
                return ALMOST, tr("The directions are right, but the vectors are not normalised.")
            if list(order) == sorted(order):
                return ALMOST, tr("The directions are right, but the lengths are not.")
            return ALMOST, tr("The vectors are right, but in another order.")
    right = sum(any(_parallel(a[:, i], b[:, j]) for j in range(b.shape[1])) for i in range(a.shape[1]))
    if right:
        return WRONG, tr("{right} of {count} vectors are right.", right=right, count=true.cols)
    if unit and not np.allclose((a * a).sum(axis=0), 1, atol=0.02):
        return WRONG, tr("The vectors are not right, and they are not of unit length.")
    return WRONG, tr("The vectors are not right.")


def _column_close(part: Part, place: int, true: Any) -> bool:
    given = part.matrix[:, place]
    digits = [row[place] for row in part.decimals]
    return any(all(_close(given[i], digits[i], sign * true[i]) for i in range(true.rows)) for sign in (1, -1))


def _parallel(a: Array, b: Array) -> bool:
    size = float(np.linalg.norm(a) * np.linalg.norm(b))
    return size > 0 and abs(abs(float(a @ b)) / size - 1) < 2e-5


def _symmetric_columns(part: Part, true: Any) -> bool:
    return all(_column_close(part, i, true[:, i]) for i in range(true.cols))


def _fitting(part: Part, true: Any) -> Part:
    """A row for a column, and a plain list for the shape asked for."""
    if len(part.flat) == true.rows and 1 in part.matrix.shape:
        return _shaped(part, (true.rows, 1))
    return part


def _shaped(part: Part, shape: tuple[int, int]) -> Part:
    rows, cols = shape
    cut = [slice(i * cols, (i + 1) * cols) for i in range(rows)]
    return Part(part.name, tuple(tuple(part.flat[c]) for c in cut), tuple(tuple(part.flat_decimals[c]) for c in cut),
                part.bracketed)  # fmt: skip


def _turned(part: Part) -> Part:
    return Part(part.name, tuple(zip(*part.rows, strict=True)), tuple(zip(*part.decimals, strict=True)), part.bracketed)


def _entries_close(part: Part, true: Any) -> bool:
    return all(_close(part.rows[i][j], part.decimals[i][j], true[i, j])
               for i in range(true.rows) for j in range(true.cols))  # fmt: skip


def _floats(matrix: Any) -> Array:
    return np.array([[float(sp.N(matrix[i, j])) for j in range(matrix.cols)] for i in range(matrix.rows)])


def _right() -> Verdict:
    return Verdict(RIGHT, tr("Right."))


_COMPARE: dict[str, Callable[[Part, Target], Verdict]] = {
    "number": _number, "numbers": _numbers, "list": _list, "set": _set, "matrix": _matrix,
    "directions": _directions, "scores": _scores,
}  # fmt: skip
