"""Assignment of the parts of an answer to the targets of the question.

Named rows go to the targets of their names; the others go where they fit. Of all assignments, the one with the least
unexplained cost counts, so that one wrong part is not blamed on another.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

from eckart.worked.exercises.arithmetic import Entry, Grid
from eckart.worked.exercises.compare import ALMOST, PARTIAL, RIGHT, WRONG, Part, Verdict
from eckart.worked.exercises.groups import Group, groups_of
from eckart.worked.exercises.rows import Row
from eckart.worked.exercises.targets import Target
from eckart.worked.messages import tr

_COST = {RIGHT: -0.25, ALMOST: 1.0, PARTIAL: 1.0, WRONG: 2.0}
_MISFIT, _UNMATCHED, _FURTHER, _UNKNOWN, _OPTIONAL, _ATOM, _HIT = 1.5, 4.0, 1.0, 0.3, 0.01, 2.0, 0.5
_SUBSET, _DOUBTFUL = 1.6, 2.0
"""What is added to the cost: for the wrong size, for parts that go nowhere and for each further one next to them, for
results on the way, for each further atom of a part of the wrong size; numbers that are right lower it. Parts under a
name that is not asked for go nowhere at little cost. A number is part of a set by chance too often to be read so, if it
can be something else; what is wrong is more likely meant for what is asked than for a result on the way."""

Atom = tuple[Entry, ...]
Compare = Callable[[Part, Target], Verdict]


@dataclass(frozen=True)
class Piece:
    """Some atoms of an answer, their target (None if there is none), and the verdict on them."""

    target: int | None
    part: Part
    verdict: Verdict
    title: str = ""

    @property
    def right(self) -> bool:
        return self.verdict.status == RIGHT


@dataclass(frozen=True)
class Assignment:
    """All pieces of an answer, and their unexplained cost."""

    pieces: tuple[Piece, ...] = ()
    cost: float = 0.0

    def and_then(self, rest: Assignment) -> Assignment:
        return Assignment(self.pieces + rest.pieces, self.cost + rest.cost)


def assign(rows: Sequence[Row], targets: Sequence[Target], compare: Compare) -> Assignment:
    """The best assignment of the rows to the targets."""
    groups = groups_of(rows, targets)
    taken = frozenset(group.target for group in groups if group.target is not None)
    search = _search(groups, targets, compare)
    found = search(0, 0, taken, False)
    done = {piece.target for piece in found.pieces}
    if all(target.optional or i in done for i, target in enumerate(targets)):
        return found
    return search(0, 0, taken, True)  # what is missing may be a part with an unknown name


def _search(groups: list[Group], targets: Sequence[Target], compare: Compare) -> Callable[..., Assignment]:
    sizes = [_largest(target) for target in targets]

    @cache
    def given(group: int, start: int, stop: int, target: int) -> Assignment:
        part = Part(groups[group].atoms[start:stop], groups[group].title if start == 0 else "")
        judge = _too_many if len(part.flat) > sizes[target] else compare
        verdict = judge(part, targets[target])
        cost = _cost(verdict, part, targets[target])
        return Assignment((Piece(target, part, verdict, groups[group].title if start == 0 else ""),), cost)

    @cache
    def best(group: int, start: int, used: frozenset[int], all_meant: bool) -> Assignment:
        if group == len(groups):
            return Assignment()
        own = groups[group]
        if start == len(own.atoms):
            return best(group + 1, 0, used, all_meant)
        if own.foreign:
            return _foreign(own).and_then(best(group + 1, 0, used, all_meant))
        fixed = own.target if start == 0 else None
        free = [i for i in range(len(targets)) if i not in used and (own.allowed is None or i in own.allowed)]
        choices = [fixed] if fixed is not None else free
        stops = [len(own.atoms)] if own.whole else range(len(own.atoms), start, -1)
        found = [
            given(group, start, stop, target).and_then(best(group, stop, used | {target}, all_meant))
            for target in choices
            for stop in stops
        ]
        if fixed is None:
            found += _nowhere(own, start, all_meant, lambda stop: best(group, stop, used, all_meant))
        return min(found, key=lambda one: one.cost)

    return best


def _cost(verdict: Verdict, part: Part, target: Target) -> float:
    """The unexplained cost if a part is meant for a target."""
    cost = _COST[verdict.status] + _MISFIT * verdict.misfits + _OPTIONAL * target.optional
    if verdict:
        return cost
    mixed = len({isinstance(entry, Grid) for entry in part.entries}) > 1  # numbers and vectors are different things
    unfit = bool(verdict.misfits) or mixed
    cost += unfit * _ATOM * (len(part.rows) - 1) + (unfit and not verdict.misfits) * _MISFIT
    subset = verdict.status == PARTIAL and target.form in {"set", "edges"}
    return cost + _SUBSET * subset + _DOUBTFUL * target.optional - _HIT * verdict.hits / len(part.flat)


def _nowhere(own: Group, start: int, all_meant: bool, rest: Callable[[int], Assignment]) -> list[Assignment]:
    """Atoms without a target: some adjacent ones, or all under a name that is not asked for."""
    found = []
    for stop in range(start + 1, len(own.atoms) + 1):
        piece = Piece(None, Part(own.atoms[start:stop]), Verdict(WRONG, ""))
        found.append(Assignment((piece,), _UNMATCHED + _FURTHER * (stop - start - 1)).and_then(rest(stop)))
    if start == 0 and own.title and own.allowed is None and not all_meant:
        found.append(_foreign(own).and_then(rest(len(own.atoms))))
    return found


def _foreign(own: Group) -> Assignment:
    """All atoms of a name that is not asked for."""
    return Assignment((Piece(None, Part(own.atoms), Verdict(WRONG, ""), own.title),), _UNKNOWN)


def _too_many(part: Part, target: Target) -> Verdict:
    """Whether there are more numbers than the target can have in any form, so that a comparison is pointless."""
    if target.form in {"number", "count"}:
        message = tr("The question asks for one number, but the answer has {count}.", count=len(part.flat))
    elif hasattr(target.value, "shape"):
        shape = "{} x {}".format(*part.grid().shape)
        true = "{} x {}".format(*target.value.shape)
        message = tr("The answer is {given}, but the question asks for a {true} matrix.", given=shape, true=true)
    else:
        message = tr("The answer contains numbers that are not part of the solution.")
    return Verdict(WRONG, message, misfits=1)


def _largest(target: Target) -> int:
    """Maximum number of values in a part that is compared with a target."""
    own = [target, *[other for other in target.also if isinstance(other, Target)]]
    if {one.form for one in own} & {"set", "edges"}:
        return 1000
    rows, cols = max((one.value.shape for one in own if hasattr(one.value, "shape")), default=(0, 0))
    lists = [len(one.value) for one in own if isinstance(one.value, list)]
    most = max([1, *lists, rows * cols])
    return max(most, rows * rows, (max(lists) + 1) ** 2 * 4 if lists else 0)  # a full SVD, a diagonal matrix
