"""Matrices that stand for something else: factors of a product, and a matrix that heads its components.

`A = [..] [..] [..]` gives the factors of a decomposition one after the other. `covariance: (1, 2)/√5, (2, -1)/√5` gives
the components of the covariance matrix under the name of the matrix.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product as cartesian

from eckart.worked.exercises.answers import Row, Target
from eckart.worked.exercises.arithmetic import Grid
from eckart.worked.exercises.names import find

_FACTORS = (("U", "sigma", "V^T"), ("Q", "R"), ("V", "D", "V^-1"))
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
    yield list(rows)
    names = [[row.name, other] if (other := _components(row, targets)) else [row.name] for row in rows]
    for chosen in list(cartesian(*names))[1:]:
        yield [row if name == row.name else replace(row, name=name, words="")
               for row, name in zip(rows, chosen, strict=True)]  # fmt: skip


def _components(row: Row, targets: Sequence[Target]) -> str:
    """The name of the components of the matrix that a row is named after, if it has several vectors; else ""."""
    found = find(row.title, targets) if len(row.title) > 1 else None  # C is the matrix itself
    if found is None or len(row.entries) < 2 or not all(isinstance(entry, Grid) for entry in row.entries):
        return ""
    named = {_OF.format(name) for name in targets[found[0]].names}
    return next((name for target in targets for name in target.names if name in named), "")
