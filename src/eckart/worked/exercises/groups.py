"""Rows that belong together: everything under one name, and v1, v2, ... of one target."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from math import prod

from eckart.worked.exercises.arithmetic import Entry, Grid, Typed, square_root
from eckart.worked.exercises.compare import Part, transposed
from eckart.worked.exercises.rows import Row
from eckart.worked.exercises.symbols import count_of
from eckart.worked.exercises.targets import COLUMNS, Target

Atom = tuple[Entry, ...]


@dataclass(frozen=True)
class Group:
    """Atoms that belong together; the first may be bound to a certain target, all of them if `whole`.

    They may be one of the `allowed` targets only. Under the name of something that is not asked for, they go to no
    target (`foreign`). Numbers in `prose` may go nowhere.
    """

    atoms: tuple[Atom, ...]
    target: int | None = None
    whole: bool = False
    title: str = ""
    foreign: bool = False
    allowed: frozenset[int] | None = None
    prose: bool = False


@dataclass
class _Gathering:
    """The groups of an answer, as they are gathered."""

    targets: Sequence[Target]
    loose: list[Group] = field(default_factory=list)
    indexed: dict[int, dict[int, Atom]] = field(default_factory=dict)
    named: dict[int, list[tuple[str, tuple[Atom, ...]]]] = field(default_factory=dict)
    left: list[Atom] = field(default_factory=list)

    def add(self, row: Row, below: Sequence[Row]) -> None:
        """A row, and the rows without a name below it."""
        rest = tuple(chain.from_iterable(one.atoms() for one in below))
        atoms = (*row.atoms(), *rest)
        own = row.meaning
        target = own.target
        if own.foreign:
            self.loose.append(Group(tuple(row.atoms()), title=row.title, foreign=True))
            self.loose += [Group(rest, title=row.title)] if rest else []
        elif own.targets is None:
            title = row.title if own.prose or own.sense.free else ""
            self.loose.append(Group(atoms, title=title, prose=own.prose and not row.indices and row.is_number))
        elif target is None:
            self.loose.append(Group(atoms, title=row.title, allowed=own.targets))
        else:
            self.bound(row, target, atoms)

    def bound(self, row: Row, place: int, atoms: tuple[Atom, ...]) -> None:
        """A row with the name of one target."""
        target = self.targets[place]
        atoms = _rooted(atoms, row, target)
        if row.meaning.index and not _is_whole(atoms[0], target):
            atoms = _one_column(_one_row(atoms, target), target)  # v1 = 0.6, 0.8 is a vector without brackets
            self.indexed.setdefault(place, {})[self.free(place, row.meaning.index)] = atoms[0]
            self.left += atoms[1:]
            return
        self.named.setdefault(place, []).append((row.title, _upright(_one_row(atoms, target), row, target)))

    def free(self, place: int, index: int) -> int:
        """An index that is not yet used."""
        used = self.indexed.get(place, {})
        return next(i for i in range(index, index + 100) if i not in used)

    def groups(self) -> list[Group]:
        found: list[Group] = []
        for place, bodies in self.named.items():
            found += self.of_target(place, bodies)
        for place, pieces in self.indexed.items():
            found.append(_of_vectors([pieces[index] for index in sorted(pieces)], place, self.targets))
        if self.left and self.loose and not self.loose[0].title:
            first = self.loose.pop(0)  # 3: v = (1, 1); 1: v = (1, -1)
            self.left = [*first.atoms, *self.left]
        return found + self.loose + ([Group(tuple(self.left))] if self.left else [])

    def of_target(self, place: int, bodies: list[tuple[str, tuple[Atom, ...]]]) -> list[Group]:
        """The groups of one target under its names."""
        if place in self.indexed:
            for _, body in bodies:  # v = (1, 0); v2 = (0, 1)
                self.indexed[place][self.free(place, 1)] = body[0]
                self.left += body[1:]
            return []
        if _are_separate(bodies, self.targets[place]):
            return [Group(body, place, title=title) for title, body in bodies]
        # lambda = 3, (1, 1), lambda = 1, (1, -1): what follows the repeated name belongs together too.
        self.left += [atom for _, body in bodies for atom in body[1:]]
        return [_of_vectors([body[0] for _, body in bodies], place, self.targets)]


def _are_separate(bodies: list[tuple[str, tuple[Atom, ...]]], target: Target) -> bool:
    """Whether something is given once, or several times, such as V and V^T, and each time must be right."""
    titles = {title for title, _ in bodies}
    differ = target.is_number and len(titles) == len(bodies)
    return len(bodies) == 1 or differ or all(_is_complete(body, target) for _, body in bodies)


def groups_of(rows: Sequence[Row], targets: Sequence[Target]) -> list[Group]:
    """Rows under one name belong together, and so do v1, v2, ... of one target; names may be repeated."""
    gathering = _Gathering(targets)
    place = 0
    while place < len(rows):
        stop = place + 1
        last = place
        while stop < len(rows) and _is_below(rows[last], rows[stop]):
            last = stop if _is_next(rows[last], rows[stop]) else last
            stop += 1
        gathering.add(rows[place], rows[place + 1 : stop])
        place = stop
    return gathering.groups()


def _is_below(row: Row, other: Row) -> bool:
    """Whether a row has no name of its own, and continues the one above."""
    if _is_next(row, other):
        return True
    shares = any(x.percent for x in other.numbers) != any(x.percent for x in row.numbers)
    return _is_plain(other) and not other.indices and not row.indices and not shares


def _is_plain(row: Row) -> bool:
    """Whether a row has no name, or only counts."""
    own = row.meaning
    if own.targets is not None:
        return False
    return not (own.prose or own.sense.free) or bool(own.sense.place and not row.title)


def _is_next(row: Row, other: Row) -> bool:
    """Whether a row has the next number of a free letter: b_2 after b_1."""
    first, second = row.meaning, other.meaning
    if not first.sense.free or not second.sense.free or second.targets is not None:
        return False
    same = re.sub(r"\d", "", row.title) == re.sub(r"\d", "", other.title)
    return same and second.index == first.index + 1


def _one_row(atoms: tuple[Atom, ...], target: Target) -> tuple[Atom, ...]:
    """The numbers 3; 1 as the row (3, 1), if a row of the target has as many."""
    numbers = tuple(x for atom in atoms for x in atom if isinstance(x, Typed))
    is_row = target.by_row and hasattr(target.value, "cols") and len(atoms) == len(numbers) == target.value.cols > 1
    return ((Grid((numbers,)),),) if is_row else atoms


def _one_column(atoms: tuple[Atom, ...], target: Target) -> tuple[Atom, ...]:
    """The numbers of one column on several lines as a vector."""
    numbers = tuple(x for atom in atoms for x in atom if isinstance(x, Typed))
    is_column = target.form in COLUMNS and len(atoms) > 1 and len(numbers) == target.value.rows == sum(map(len, atoms))
    return ((Grid((numbers,)),),) if is_column else atoms


def _rooted(atoms: tuple[Atom, ...], row: Row, target: Target) -> tuple[Atom, ...]:
    """The atoms, with the roots of their numbers if their name is a square: `sigma^2 = 9; 4` gives sigma = 3, 2."""
    if not row.meaning.squared or target.squared or not target.unsigned:
        return atoms
    return tuple(tuple(_root(x) if isinstance(x, Typed) else x for x in atom) for atom in atoms)


def _root(x: Typed) -> Typed:
    """The root; that of a negative square, which cannot be right, keeps its sign."""
    root = square_root(replace(x, value=abs(x.value)))
    return replace(root, value=root.value.copy_sign(x.value))


def _of_vectors(atoms: Iterable[Atom], place: int, targets: Sequence[Target]) -> Group:
    return Group(tuple(_vector(atom, targets[place]) for atom in atoms), place, whole=True)


def _upright(atoms: tuple[Atom, ...], row: Row, target: Target) -> tuple[Atom, ...]:
    """The atoms, with the first matrix transposed if its name has a transpose, such as V^T for V."""
    renewed = target.form in {"matrix", "scores"} and row.title.endswith("'")
    if not row.meaning.sense.transposed or (renewed and _fits(atoms, target)):
        return atoms  # W' may be the new W
    size = next((stop for stop in range(1, len(atoms)) if isinstance(atoms[stop][0], Grid)), len(atoms))
    return ((transposed(Part(atoms[:size]).grid()),), *atoms[size:])


def _fits(atoms: tuple[Atom, ...], target: Target) -> bool:
    """Whether the first atoms have the shape of a target."""
    shape = getattr(target.value, "shape", (0, 0))
    return any(Part(atoms[:stop]).grid().shape == shape for stop in range(1, len(atoms) + 1))


def _vector(entries: Atom, target: Target) -> Atom:
    plain = tuple(entry for entry in entries if isinstance(entry, Typed))
    return (Grid((plain,)),) if target.form in COLUMNS and len(plain) == len(entries) > 1 else entries


def _is_whole(entries: Atom, target: Target) -> bool:
    """Whether w1 = (0.6, 0.8) is a whole target with one column, not its first entry."""
    return target.form in COLUMNS and target.value.cols == 1 and sum(map(_size, entries)) > 1


def _is_complete(atoms: tuple[Atom, ...], target: Target) -> bool:
    """Whether there are as many numbers as the target has, in brackets; eigenvalues may be a diagonal matrix."""
    entries = [entry for atom in atoms for entry in atom]
    size = prod(target.value.shape) if hasattr(target.value, "shape") else count_of(target)
    sizes = {size} if target.form != "numbers" else {size, size**2}
    vectors = any(isinstance(entry, Grid) for entry in entries) or target.form == "numbers"
    return size > 1 and vectors and sum(map(_size, entries)) in sizes


def _size(entry: Entry) -> int:
    return prod(entry.shape) if isinstance(entry, Grid) else 1
