"""Is an answer right? Its rows are given to the targets in the way that fits best, and the parts are compared."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from decimal import Context, localcontext
from functools import cache
from itertools import combinations
from math import prod

from eckart.worked.exercises.answers import Row, Target, readings
from eckart.worked.exercises.arithmetic import DIGITS, Entry, Grid, Typed
from eckart.worked.exercises.compare import (
    ALMOST,
    ORDER,
    PARTIAL,
    RIGHT,
    WRONG,
    Part,
    Verdict,
    chosen,
    matrix,
    number,
    numbers,
    ordered,
    turned,
)
from eckart.worked.exercises.compare_columns import axes, common, directions, frame, scores
from eckart.worked.messages import tr

__all__ = ["Verdict", "judge"]
_MOST_ROWS, _FEW_ROWS, _MOST_UNKNOWN = 24, 12, 4
_COLUMNS = {"directions", "axes", "frame", "scores"}
Assignment = tuple[tuple[int, Verdict], ...]
"""Which target each part was given to, and the verdict on it."""


_COMPARE: dict[str, Callable[[Part, Target], Verdict]] = {
    "number": number, "numbers": numbers, "list": ordered, "set": chosen, "matrix": matrix,
    "directions": directions, "axes": axes, "frame": frame, "scores": scores,
}  # fmt: skip


def compare(part: Part, target: Target) -> Verdict:
    """One part against what it should be, or one of the other answers that are as right."""
    others = [other if isinstance(other, Target) else replace(target, value=other) for other in target.also]
    with localcontext(Context(prec=DIGITS)):
        first, *rest = [_COMPARE[one.form](part, one) for one in (target, *others)]
    return first or next((verdict for verdict in rest if verdict), first)


def judge(answer: str, targets: Sequence[Target]) -> Verdict:
    """The verdict on an answer, by the reading that is kindest to it."""
    best: Verdict | None = None
    for rows in readings(answer):
        verdict = _all_rows(rows, targets)
        if best is None or _rank(verdict) < _rank(best):
            best = verdict
        if best.status == RIGHT:
            break
    assert best is not None  # readings raises if an answer cannot be read at all
    return best


def _all_rows(rows: list[Row], targets: Sequence[Target]) -> Verdict:
    """Results on the way count only if the rest does not fit without them; parts that were not asked for are named."""
    named = {found[0] for row in rows if (found := _find(row.name, targets))}
    asked = [target for i, target in enumerate(targets) if i in named or not target.optional]
    verdict = _judge_rows(rows, asked)
    if verdict.status != RIGHT and len(asked) < len(targets) and len(rows) <= _FEW_ROWS:
        # Rows without names may be results on the way, if everything is right then.
        verdict = _judge_rows(rows, targets) or verdict
    if verdict.status == RIGHT or len(rows) > _MOST_ROWS:
        return _with_equalities(verdict, rows)
    unknown = sorted({row.name for row in rows if row.name and not _find(row.name, targets)})
    verdict = _without_unknown(verdict, rows, unknown, asked) if unknown else verdict
    return _with_equalities(verdict, rows)


def _without_unknown(verdict: Verdict, rows: list[Row], unknown: list[str], targets: Sequence[Target]) -> Verdict:
    """The verdict without parts that were not requested, if it is better or if they do not match anything."""
    for count in range(1, min(len(unknown), _MOST_UNKNOWN) + 1):
        for dropped in combinations(unknown, count):
            if not (kept := _without(rows, dropped)):
                continue
            rest = _judge_rows(kept, targets)
            note = tr("Not asked for, and not checked: {names}.", names=", ".join(dropped))
            if rest.status == RIGHT:
                return replace(rest, message=f"{rest.message} {note}")
            if verdict.misfits > rest.misfits:
                verdict = replace(rest, message=f"{rest.message} {note}")
    return verdict


def _with_equalities(verdict: Verdict, rows: list[Row]) -> Verdict:
    if verdict.status == RIGHT and any(row.differs for row in rows):
        return Verdict(ALMOST, tr("The first side of an equality is right, but the last one differs from it."))
    return verdict


def _without(rows: list[Row], names: Sequence[str]) -> list[Row]:
    """The rows but for those of some names, each with the rows that follow it up to the next name."""
    kept, dropped = [], False
    for row in rows:
        dropped = row.name in names if row.name else dropped
        if not dropped:
            kept.append(row)
    return kept


def _rank(verdict: Verdict) -> tuple[int, int]:
    return ORDER.index(verdict.status), verdict.misfits


@dataclass(frozen=True)
class _Group:
    """Rows that may be divided; the first may have to go to a certain target."""

    rows: tuple[tuple[Entry, ...], ...]
    target: int | None = None
    whole: bool = False


def _judge_rows(rows: list[Row], targets: Sequence[Target]) -> Verdict:
    if len(rows) > _MOST_ROWS:
        return Verdict(WRONG, tr("There are more parts in the answer than in the question."), misfits=_MOST_ROWS)
    groups = _groups(rows, targets)

    @cache
    def verdict(group: int, start: int, stop: int, target: int) -> Verdict:
        return compare(Part(groups[group].rows[start:stop]), targets[target])

    @cache
    def best(group: int, start: int, used: frozenset[int]) -> Assignment | None:
        """The best way to give the rows from here on to the targets that are left."""
        if group == len(groups):
            return ()
        own = groups[group]
        if start == len(own.rows):
            return best(group + 1, 0, used)
        fixed = own.target if start == 0 else None
        choices = [fixed] if fixed is not None else [i for i in range(len(targets)) if i not in used]
        found: list[Assignment] = []
        for target in choices:
            for stop in [len(own.rows)] if own.whole else range(len(own.rows), start, -1):
                rest = best(group, stop, used | {target})
                if rest is not None:
                    found.append(((target, verdict(group, start, stop, target)), *rest))
        return min(found, key=_cost) if found else None

    assigned = best(0, 0, frozenset(group.target for group in groups if group.target is not None))
    if assigned is None:
        return Verdict(WRONG, tr("There are more parts in the answer than in the question."), misfits=_MOST_ROWS)
    return _summary(assigned, targets)


def _cost(assigned: Assignment) -> tuple[int, int, int]:
    """The worst part first, then all of them."""
    indices = [ORDER.index(verdict.status) for _, verdict in assigned]
    return max(indices, default=0), sum(indices), sum(verdict.misfits for _, verdict in assigned)


def _summary(assigned: Assignment, targets: Sequence[Target]) -> Verdict:
    """One verdict from those on the parts, and what is still to be found."""
    several = len(targets) > 1
    target, worst = max(assigned, key=lambda pair: ORDER.index(pair[1].status))
    if worst.status != RIGHT:
        good = [targets[i].shown for i, verdict in assigned if verdict.status == RIGHT]
        pieces = [tr("Right: {names}.", names=", ".join(good))] if good else []
        pieces.append(f"{targets[target].shown}: {worst.message}" if several else worst.message)
        return Verdict(worst.status, " ".join(pieces), misfits=sum(verdict.misfits for _, verdict in assigned))
    for pairing in {targets[i].pairing for i, _ in assigned if targets[i].pairing}:
        together = [(targets[i], verdict) for i, verdict in assigned if targets[i].pairing == pairing]
        names = ", ".join(target.shown for target, _ in together)
        slip = common(together) if len(together) > 1 else ""
        if slip == "order":
            return Verdict(ALMOST, tr("Each part is right, but {names} are not in the same order.", names=names))
        if slip == "signs":
            signed = ", ".join(target.shown for target, _ in together if target.signed)
            return Verdict(ALMOST, tr("Each part is right, but the signs of {names} do not belong together.",
                                      names=signed))  # fmt: skip
    done = {i for i, _ in assigned}
    asked = [target.shown for i, target in enumerate(targets) if not target.optional and i not in done]
    if asked:
        return Verdict(PARTIAL, tr("Right so far. Still to be found: {names}.", names=", ".join(asked)))
    return Verdict(RIGHT, tr("Right."))


def _groups(rows: list[Row], targets: Sequence[Target]) -> list[_Group]:
    """Rows under one name belong together, and so do v1, v2, ... of one target."""
    loose: list[_Group] = []
    indexed: dict[int, dict[int, tuple[Entry, ...]]] = {}
    named: dict[tuple[int, bool], list[tuple[Entry, ...]]] = {}
    place = 0
    while place < len(rows):
        stop = place + 1
        while stop < len(rows) and (not rows[stop].name or _continues(rows[place].name, rows[stop].name, targets)):
            stop += 1
        body = tuple(row.entries for row in rows[place:stop])
        name = rows[place].name
        found = _find(name, targets)
        if found is None:
            loose.append(_Group(body))
        elif found[1] and not _is_whole(body[0], targets[found[0]]):
            # v1 = 0.6, 0.8 is a vector without brackets.
            indexed.setdefault(found[0], {})[found[1]] = body[0]
            loose += [_Group(body[1:])] if body[1:] else []
        else:
            transposed = name not in targets[found[0]].names and bool(re.search(r"\^\(?[Tt]\)?$", name))
            named.setdefault((found[0], transposed), []).extend(body)
        place = stop
    groups = [
        _Group(((turned(Part(tuple(body)).grid()),),) if transposed else tuple(body), target)
        for (target, transposed), body in named.items()
        if target not in indexed
    ]
    for target, pieces in indexed.items():
        ordered = [pieces[index] for index in sorted(pieces)]
        groups.append(_Group(tuple(_vector(piece, targets[target]) for piece in ordered), target, whole=True))
    return groups + loose


def _continues(first: str, name: str, targets: Sequence[Target]) -> bool:
    """Whether row1, row2, ... are rows of one thing, whatever it is called."""
    bases = [re.sub(r"[\s_]*\d+$", "", one) for one in (first, name)]
    return bases[0] == bases[1] and first != bases[0] and _find(name, targets) is None


def _vector(entries: tuple[Entry, ...], target: Target) -> tuple[Entry, ...]:
    plain = tuple(entry for entry in entries if isinstance(entry, Typed))
    return (Grid((plain,)),) if target.form in _COLUMNS and len(plain) == len(entries) > 1 else entries


def _find(name: str, targets: Sequence[Target]) -> tuple[int, int] | None:
    """The target of this name, and which column or entry of it (0: all): v2 is column 2 of v, lambda2 entry 2."""
    wanted = _normal(name)
    if not wanted:
        return None
    exact = [i for i, target in enumerate(targets) if name in target.names]
    loose = [i for i, target in enumerate(targets) if wanted in _names(target)]
    if exact or loose:
        return (exact or loose)[0], 0
    if squared := re.fullmatch(r"(.+)\^\(?\d\)?", name):
        return _find(squared[1], targets)  # d^2 is d, not d2
    match = re.fullmatch(r"(.*\D)([1-9]\d?)", wanted)
    if match:
        for i, target in enumerate(targets):
            if match[1] in _names(target) and int(match[2]) <= _count(target):
                return i, int(match[2])
    first = re.match(r"[^\W\d_]+(?!.*\^\(?-)", name)  # V^-1 is not V
    return _find(first[0], targets) if first and first[0] != name else None


def _count(target: Target) -> int:
    """How many columns or entries a target has; the scores t1, t2, ... may be those of rows."""
    if target.form == "scores" or (target.form in _COLUMNS and target.value.cols == 1):
        return int(max(target.value.shape))
    if target.form in _COLUMNS:
        return int(target.value.cols)
    return len(target.value) if target.form in {"numbers", "list"} else 0


def _is_whole(entries: tuple[Entry, ...], target: Target) -> bool:
    """Whether w1 = (0.6, 0.8) is all of a target that has one column, not its first entry."""
    return target.form in _COLUMNS and target.value.cols == 1 and sum(map(_size, entries)) > 1


def _size(entry: Entry) -> int:
    return prod(entry.shape) if isinstance(entry, Grid) else 1


def _names(target: Target) -> set[str]:
    """What a target may be called, in English and in the current language."""
    return {_normal(name) for name in (*target.names, *map(tr, target.names))}


def _normal(name: str) -> str:
    return re.sub(r"[\s_^{}()']", "", name.lower())
