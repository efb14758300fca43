"""Assignment of the parts of an answer to the targets of the question.

Named rows go to the targets of their names; the others go where they fit. Of all assignments, the one with the least
unexplained cost counts, so that one wrong part is not blamed on another.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from math import prod

from eckart.worked.exercises.answers import Row, Target
from eckart.worked.exercises.arithmetic import Entry, Grid, Typed, square_root
from eckart.worked.exercises.compare import ALMOST, PARTIAL, RIGHT, WRONG, Part, Verdict, turned
from eckart.worked.exercises.names import COLUMNS, bare, find, is_called, is_free, is_unknown, says_nothing, with_power
from eckart.worked.exercises.ordinals import ordinal_of
from eckart.worked.exercises.words import are_neutral
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


@dataclass(frozen=True)
class _Group:
    """Atoms that belong together; the first may be bound to a certain target, all of them if `whole`.

    Under the name of something that is not asked for, they go to no target (`foreign`).
    """

    atoms: tuple[Atom, ...]
    target: int | None = None
    whole: bool = False
    title: str = ""
    foreign: bool = False


def assign(rows: Sequence[Row], targets: Sequence[Target], compare: Compare) -> Assignment:
    """The best assignment of the rows to the targets."""
    groups = _groups(rows, targets)
    taken = frozenset(group.target for group in groups if group.target is not None)
    search = _search(groups, targets, compare)
    found = search(0, 0, taken, False)
    done = {piece.target for piece in found.pieces}
    if all(target.optional or i in done for i, target in enumerate(targets)):
        return found
    return search(0, 0, taken, True)  # what is missing may be a part with an unknown name


def _search(groups: list[_Group], targets: Sequence[Target], compare: Compare) -> Callable[..., Assignment]:
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
        choices = [fixed] if fixed is not None else [i for i in range(len(targets)) if i not in used]
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
    cost = _COST[verdict.status] + _MISFIT * verdict.misfits + (_OPTIONAL if target.optional else 0)
    if verdict:
        return cost
    mixed = len({isinstance(entry, Grid) for entry in part.entries}) > 1  # numbers and vectors are different things
    cost += _ATOM * (len(part.rows) - 1) if verdict.misfits or mixed else 0
    cost += _MISFIT if mixed and not verdict.misfits else 0
    cost += _SUBSET if verdict.status == PARTIAL and target.form in {"set", "edges"} else 0
    cost += _DOUBTFUL if target.optional else 0
    return cost - _HIT * verdict.hits / len(part.flat)


def _nowhere(own: _Group, start: int, all_meant: bool, rest: Callable[[int], Assignment]) -> list[Assignment]:
    """Atoms without a target: some adjacent ones, or all under a name that is not asked for."""
    found = []
    for stop in range(start + 1, len(own.atoms) + 1):
        piece = Piece(None, Part(own.atoms[start:stop]), Verdict(WRONG, ""))
        found.append(Assignment((piece,), _UNMATCHED + _FURTHER * (stop - start - 1)).and_then(rest(stop)))
    if own.title and start == 0 and not all_meant:
        found.append(_foreign(own).and_then(rest(len(own.atoms))))
    return found


def _foreign(own: _Group) -> Assignment:
    """All atoms of a name that is not asked for."""
    return Assignment((Piece(None, Part(own.atoms), Verdict(WRONG, ""), own.title),), _UNKNOWN)


def _too_many(part: Part, target: Target) -> Verdict:
    """Whether there are more numbers than the target can have in any form, so that a comparison is pointless."""
    if target.form in {"number", "count"}:
        message = tr("One number is asked for here, but the answer has {count}.", count=len(part.flat))
    elif hasattr(target.value, "shape"):
        shape = "{} x {}".format(*part.grid().shape)
        true = "{} x {}".format(*target.value.shape)
        message = tr("The answer is {given}, but a {true} matrix is asked for.", given=shape, true=true)
    else:
        message = tr("The answer has numbers that do not belong to it.")
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


def _groups(rows: Sequence[Row], targets: Sequence[Target]) -> list[_Group]:
    """Rows under one name belong together, and so do v1, v2, ... of one target; names may be repeated."""
    loose: list[_Group] = []
    indexed: dict[int, dict[int, Atom]] = {}
    named: dict[int, list[tuple[Atom, ...]]] = {}
    titles: dict[int, list[str]] = {}
    left: list[Atom] = []
    for title_given, first, given in _under_titles(rows, targets):
        heading = with_power(bare(title_given))
        found = _meant(heading, given, targets)
        atoms = given if found is None else _rooted(given, heading, targets[found[0]])
        title = "" if says_nothing(heading) and is_free(heading, targets) else heading
        if found is None and title and not (is_free(title, targets) or is_unknown(title, targets)):
            # The rows below may belong to it, or be another target.
            own, below = given[:first], given[first:]
            loose += [_Group(own, title=title, foreign=True), *([_Group(below, title=title)] if below else [])]
        elif found is None:
            loose.append(_Group(atoms, title=title))
        elif found[1] and not _is_whole(atoms[0], targets[found[0]]):
            # v1 = 0.6, 0.8 is a vector without brackets.
            indexed.setdefault(found[0], {})[found[1]] = atoms[0]
            left += atoms[1:]
        else:
            titles.setdefault(found[0], []).append(title)
            named.setdefault(found[0], []).append(
                _upright(_one_row(atoms, targets[found[0]]), title, targets[found[0]])
            )
    groups = []
    for target, bodies in named.items():
        if target in indexed:
            for body in bodies:  # v = (1, 0); v2 = (0, 1)
                indexed[target][next(i for i in range(1, 100) if i not in indexed[target])] = body[0]
                left += body[1:]
            continue
        if len(bodies) > 1 and _is_single(targets[target]) and len(set(titles[target])) == len(bodies):
            # The variance and the eigenvalue: each must be right.
            groups += [_Group(body, target, title=title) for body, title in zip(bodies, titles[target], strict=True)]
        elif len(bodies) == 1 or all(_is_matrix(body[0], targets[target]) for body in bodies):
            # Given twice, such as V and V^T: the first one is judged.
            groups.append(_Group(bodies[0], target, title=titles[target][0]))
            loose += [_Group(body, title=targets[target].shown) for body in bodies[1:]]
        else:
            # lambda = 3, (1, 1), lambda = 1, (1, -1): what follows the repeated name belongs together too.
            groups.append(_of_vectors([body[0] for body in bodies], target, targets))
            left += [atom for body in bodies for atom in body[1:]]
    for target, pieces in indexed.items():
        groups.append(_of_vectors([pieces[index] for index in sorted(pieces)], target, targets))
    if left and loose and not loose[0].title:
        left, loose = [*loose[0].atoms, *left], loose[1:]  # 3: v = (1, 1); 1: v = (1, -1)
    return groups + loose + ([_Group(tuple(left))] if left else [])


def _meant(title: str, atoms: Sequence[Atom], targets: Sequence[Target]) -> tuple[int, int] | None:
    """The target of a title; what a component explains in per cent is a share."""
    found = find(title, targets)
    percent = all(isinstance(x, Typed) and x.percent for atom in atoms for x in atom)
    shares = [i for i, target in enumerate(targets) if "share" in target.names] if percent else []
    return (shares[0], 0) if shares and found and targets[found[0]].form not in {"number", "count"} else found


def _is_single(target: Target) -> bool:
    """Whether one number is asked for."""
    return target.form in {"number", "count"} or (target.form == "numbers" and len(target.value) == 1)


def _one_row(atoms: tuple[Atom, ...], target: Target) -> tuple[Atom, ...]:
    """The numbers 3; 1 as the row (3, 1), if a row of the target has as many."""
    numbers = tuple(x for atom in atoms for x in atom if isinstance(x, Typed))
    is_row = target.by_row and hasattr(target.value, "cols") and len(atoms) == len(numbers) == target.value.cols > 1
    return ((Grid((numbers,)),),) if is_row else atoms


def _rooted(atoms: tuple[Atom, ...], title: str, target: Target) -> tuple[Atom, ...]:
    """The atoms, with the roots of the first numbers if their name is a square: `sigma^2 = 9, 4` gives sigma = 3, 2."""
    if title in target.names or not target.unsigned or not re.search(r"\^\(?2\)?$", title):
        return atoms
    return (tuple(_root(x) if isinstance(x, Typed) else x for x in atoms[0]), *atoms[1:])


def _root(x: Typed) -> Typed:
    """The root; that of a negative square, which cannot be right, keeps its sign."""
    root = square_root(replace(x, value=abs(x.value)))
    return replace(root, value=root.value.copy_sign(x.value))


def _of_vectors(atoms: list[Atom], target: int, targets: Sequence[Target]) -> _Group:
    return _Group(tuple(_vector(atom, targets[target]) for atom in atoms), target, whole=True)


def _under_titles(rows: Sequence[Row], targets: Sequence[Target]) -> Iterator[tuple[str, int, tuple[Atom, ...]]]:
    """Each title, the number of atoms in its row, and everything below it up to the next title."""
    place = 0
    while place < len(rows):
        first, stop = rows[place].title, place + 1
        title = first
        while stop < len(rows) and (not rows[stop].title or _continues(first, rows[stop].title, targets)):
            title = _above(first, rows[stop].title) or title
            stop += 1
        own = _by_number(rows[place:stop])
        yield title, len(rows[place].atoms()), tuple(atom for row in own for atom in row.atoms())
        place = stop


def _by_number(rows: Sequence[Row]) -> list[Row]:
    """Numbered rows, `point 2: 3, point 1: 5`, in the order of their numbers; those without a name stay below them."""
    numbers: list[int] = []
    for row in rows:
        digits = re.search(r"\d+$", row.title)
        numbers.append(int(digits[0]) if digits else numbers[-1] if numbers and not row.title else 0)
    order = sorted(range(len(rows)), key=numbers.__getitem__) if all(numbers) else range(len(rows))
    return [rows[i] for i in order]


def _upright(atoms: tuple[Atom, ...], title: str, target: Target) -> tuple[Atom, ...]:
    """The atoms, with the first matrix transposed if its name has a transpose, such as V^T for V."""
    if any(is_called(name, target) for name in title.split("=")) or not re.search(r"\^\(?[Tt]\)?$|'$", title):
        return atoms
    if title.endswith("'") and _fits(atoms, target):
        return atoms  # W' may be the new W
    size = next((stop for stop in range(1, len(atoms)) if isinstance(atoms[stop][0], Grid)), len(atoms))
    return ((turned(Part(atoms[:size]).grid()),), *atoms[size:])


def _fits(atoms: tuple[Atom, ...], target: Target) -> bool:
    """Whether the first atoms have the shape of a target."""
    shape = getattr(target.value, "shape", (0, 0))
    return any(Part(atoms[:stop]).grid().shape == shape for stop in range(1, len(atoms) + 1))


def _continues(first: str, name: str, targets: Sequence[Target]) -> bool:
    """Whether row1, row2, ... are rows of one thing, whatever it is called."""
    bases = [re.sub(r"[\s_]*\d+$", "", one) for one in (first, name)]
    same = bases[0] == bases[1] or bool(_above(first, name))
    if ordinal_of(name) > 1 and are_neutral(name):
        return find(first, targets) is not None  # first component (1, 2), second (2, -1)
    numbered = same and first != bases[0] and name != bases[1]
    return numbered and (find(name, targets) is None or bool(_above(first, name)))


def _above(first: str, name: str) -> str:
    """The heading in front of numbered rows, `coordinates` in `coordinates = row 1` before `row 2`; else ""."""
    base = re.sub(r"[\s_]*\d+$", "", name)
    heading = re.fullmatch(rf"(.+?)\s*[\s=]\s*{re.escape(base)}[\s_]*1", first) if base and base != name else None
    return heading[1] if heading else ""


def _vector(entries: Atom, target: Target) -> Atom:
    plain = tuple(entry for entry in entries if isinstance(entry, Typed))
    return (Grid((plain,)),) if target.form in COLUMNS and len(plain) == len(entries) > 1 else entries


def _is_whole(entries: Atom, target: Target) -> bool:
    """Whether w1 = (0.6, 0.8) is a whole target with one column, not its first entry."""
    return target.form in COLUMNS and target.value.cols == 1 and sum(map(_size, entries)) > 1


def _is_matrix(entries: Atom, target: Target) -> bool:
    """Whether the first entry is a matrix of the size of the target."""
    shape = getattr(target.value, "shape", (0, 0))
    return min(shape) > 1 and isinstance(entries[0], Grid) and entries[0].shape == shape


def _size(entry: Entry) -> int:
    return prod(entry.shape) if isinstance(entry, Grid) else 1
