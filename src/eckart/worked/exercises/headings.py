"""Matrices that stand for something else: factors of a product, and a matrix that heads its components.

`A = [..] [..] [..]` gives the factors of a decomposition one after the other. `covariance: (1, 2)/√5, (2, -1)/√5` gives
the components of the covariance matrix under the name of the matrix.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product as cartesian

from eckart.worked.exercises.answers import Row, Target
from eckart.worked.exercises.arithmetic import Grid
from eckart.worked.exercises.names import find

_FACTORS = (("U", "sigma", "V^T"), ("Q", "R"), ("V", "D", "V^-1"))
_GENERIC = re.compile(r"(?i)(?:component|eigenvector|autovettor|autovector|vectores propios|компонент|собственные век)")
_OF = "components of the {} matrix"


def factored(rows: Sequence[Row], targets: Sequence[Target]) -> list[Row]:
    """The rows, with a product of matrices that equals A as the factors that the question asks for."""
    names = {name for target in targets for name in target.names}
    asked = [factors for factors in _FACTORS if names >= {one.removesuffix("^T") for one in factors}]
    return [one for row in rows for one in (_factors(row, asked[0]) if asked else [row])]


def _factors(row: Row, names: tuple[str, ...]) -> list[Row]:
    """A row `A = ...` with as many matrices as factors, as one row for each; any other row unchanged."""
    matrices = all(isinstance(entry, Grid) for entry in row.entries)
    if row.title not in {"A", "M"} or not matrices or len(row.entries) != len(names):
        return [row]
    return [Row((entry,), name) for entry, name in zip(row.entries, names, strict=True)]


def by_heading(rows: Sequence[Row], targets: Sequence[Target]) -> Iterator[list[Row]]:
    """The rows, and those with vectors under the name of a matrix renamed to its components."""
    rows = _inherited(rows, targets)
    yield rows
    names = [[row.name, other] if (other := _components(row, rows, targets)) else [row.name] for row in rows]
    for chosen in list(cartesian(*names))[1:]:
        yield [row if name == row.name else replace(row, name=name, words="")
               for row, name in zip(rows, chosen, strict=True)]  # fmt: skip


def _inherited(rows: Sequence[Row], targets: Sequence[Target]) -> list[Row]:
    """The rows, with vectors below the name of a matrix as its components: `covariance: v1 = .., v2 = ..`."""
    found: list[Row] = []
    heading: Target | None = None
    latest: Target | None = None
    seen: set[tuple[int, int] | None] = set()
    for row in rows:
        above, _, own = row.name.rpartition("=")
        heading = _components_of(above.strip(), targets) if above else heading
        latest = _components_of(row.title, targets) or latest
        place = find(own or row.title, targets)
        name = ""
        if place is None and latest is not None and _GENERIC.search(row.title):
            name = latest.names[-1]  # C = .., eigenvectors ..; R = .., eigenvectors ..
        elif place is not None and targets[place[0]].form == "directions":
            heading = latest if latest and place in seen else heading  # v1 of the second matrix
            name = f"{heading.names[0]}{place[1] or ''}" if heading else ""
        seen.add(place)
        found.append(replace(row, name=name, words="") if name else row)
    return found


def _components_of(name: str, targets: Sequence[Target]) -> Target | None:
    """The components of the matrix with this name."""
    found = find(name, targets)
    if found is None:
        return None
    named = {_OF.format(one) for one in targets[found[0]].names}
    return next((target for target in targets if named & set(target.names)), None)


def _components(row: Row, rows: Sequence[Row], targets: Sequence[Target]) -> str:
    """The name of the components of the matrix that a row is named after, if it has several vectors; else ""."""
    if len(row.title) < 2 or not all(isinstance(entry, Grid) for entry in row.entries):
        return ""  # C is the matrix itself
    target = _components_of(row.title, targets)
    if target is None or (len(row.entries) == 1 and any(_names_target(other, target, targets) for other in rows)):
        return ""
    return target.names[-1]


def _names_target(row: Row, target: Target, targets: Sequence[Target]) -> bool:
    found = find(row.title, targets)
    return found is not None and targets[found[0]] is target
