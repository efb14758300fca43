"""Is an answer right? Its rows are given to the targets in the way that fits best, and the parts are compared."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from eckart.worked.exercises.answers import Row, Target, readings
from eckart.worked.exercises.arithmetic import Entry
from eckart.worked.exercises.compare import ALMOST, ORDER, PARTIAL, RIGHT, WRONG, Part, Verdict, common, compare
from eckart.worked.messages import tr

__all__ = ["Verdict", "judge"]
_MOST_ROWS = 24
Assignment = tuple[tuple[int, Verdict], ...]
"""Which target each part was given to, and the verdict on it."""


def judge(answer: str, targets: Sequence[Target]) -> Verdict:
    """The verdict on an answer, by the reading that is kindest to it."""
    best: Verdict | None = None
    for rows in readings(answer):
        verdict = _judge_rows(rows, targets)
        if best is None or _rank(verdict) < _rank(best):
            best = verdict
        if best.status == RIGHT:
            break
    assert best is not None  # readings raises if an answer cannot be read at all
    return best


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


def _mismatch(assigned: Assignment, targets: Sequence[Target]) -> str:
    """Parts that are right each, but in another order or with other signs than those they belong to."""
    for pairing in {targets[i].pairing for i, _ in assigned if targets[i].pairing}:
        together = [(targets[i], verdict) for i, verdict in assigned if targets[i].pairing == pairing]
        slip = common(together) if len(together) > 1 else ""
        if slip == "order":
            names = ", ".join(target.names[0] for target, _ in together)
            return tr("Each part is right, but {names} are not in the same order.", names=names)
        if slip == "signs":
            signed = ", ".join(target.names[0] for target, _ in together if target.signed)
            return tr("Each part is right, but the signs of {names} do not belong together.", names=signed)
    return ""


def _summary(assigned: Assignment, targets: Sequence[Target]) -> Verdict:
    """One verdict from those on the parts, and what is still to be found."""
    several = len(targets) > 1
    target, worst = max(assigned, key=lambda pair: ORDER.index(pair[1].status))
    if worst.status != RIGHT:
        good = [targets[i].names[0] for i, verdict in assigned if verdict.status == RIGHT]
        pieces = [tr("Right: {names}.", names=", ".join(good))] if good else []
        pieces.append(f"{targets[target].names[0]}: {worst.message}" if several else worst.message)
        return Verdict(worst.status, " ".join(pieces), misfits=sum(verdict.misfits for _, verdict in assigned))
    if mismatch := _mismatch(assigned, targets):
        return Verdict(ALMOST, mismatch)
    asked = [target.names[0] for i, target in enumerate(targets) if i not in {i for i, _ in assigned}]
    if asked:
        return Verdict(PARTIAL, tr("Right so far. Still to be found: {names}.", names=", ".join(asked)))
    return Verdict(RIGHT, tr("Right."))


def _groups(rows: list[Row], targets: Sequence[Target]) -> list[_Group]:
    """Rows under one name belong together, and so do v1, v2, ... of one target."""
    loose: list[_Group] = []
    indexed: dict[int, dict[int, tuple[Entry, ...]]] = {}
    named: dict[int, list[tuple[Entry, ...]]] = {}
    place = 0
    while place < len(rows):
        stop = place + 1
        while stop < len(rows) and not _find(rows[stop].name, targets):
            stop += 1
        body = tuple(row.entries for row in rows[place:stop])
        found = _find(rows[place].name, targets)
        if found is None:
            loose.append(_Group(body))
        elif found[1]:
            # v1 = 0.6, 0.8 is a vector without brackets.
            indexed.setdefault(found[0], {})[found[1]] = body[0]
            loose += [_Group(body[1:])] if body[1:] else []
        elif found[0] in named:
            named[found[0]] += body
        else:
            named[found[0]] = list(body)
        place = stop
    groups = [_Group(tuple(body), target) for target, body in named.items() if target not in indexed]
    for target, pieces in indexed.items():
        ordered = [pieces[index] for index in sorted(pieces)]
        groups.append(_Group(tuple(_vector(piece, targets[target]) for piece in ordered), target, whole=True))
    return groups + loose


def _vector(entries: tuple[Entry, ...], target: Target) -> tuple[Entry, ...]:
    from eckart.worked.exercises.arithmetic import Grid, Typed

    plain = tuple(entry for entry in entries if isinstance(entry, Typed))
    return (Grid((plain,)),) if target.form in {"directions", "scores"} and len(plain) == len(entries) > 1 else entries


def _indexed(wanted: str, targets: Sequence[Target]) -> tuple[int, int] | None:
    """v2 as column 2 of v."""
    match = re.fullmatch(r"(.*\D)([1-9]\d?)", wanted)
    for i, target in enumerate(targets) if match else ():
        if match and match[1] in map(_normal, target.names) and int(match[2]) <= _count(target):
            return i, int(match[2])
    return None


def _find(name: str, targets: Sequence[Target]) -> tuple[int, int] | None:
    """The target of this name, and which column or entry of it (0: all): v2 is column 2 of v, lambda2 entry 2."""
    wanted = _normal(name)
    if not wanted:
        return None
    exact = [i for i, target in enumerate(targets) if name in target.names]
    loose = [i for i, target in enumerate(targets) if wanted in map(_normal, target.names)]
    if exact or loose:
        return (exact or loose)[0], 0
    if (indexed := _indexed(wanted, targets)) is not None:
        return indexed
    first = re.match(r"[^\W\d_]+", name)
    return _find(first[0], targets) if first and first[0] != name else None


def _count(target: Target) -> int:
    """How many columns or entries a target has."""
    if target.form in {"directions", "scores"}:
        return int(target.value.cols)
    return len(target.value) if target.form in {"numbers", "list"} else 0


def _normal(name: str) -> str:
    return re.sub(r"[\s_^{}()']", "", name.lower())
