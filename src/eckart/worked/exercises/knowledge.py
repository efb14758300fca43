"""What may occur in an answer on the way to its result: the values of the question and of the worked solution."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import sympy as sp

from eckart.worked.exercises.arithmetic import Entry, Grid, Typed
from eckart.worked.exercises.compare import Array
from eckart.worked.solution import Equation, Solution

if TYPE_CHECKING:
    from eckart.worked.exercises.targets import Target

_ITERATES = 12
_SAME = 1e-9


@dataclass(frozen=True)
class Knowledge:
    """The values of a question, of its solution, and of what is asked for."""

    given: Any = None
    arguments: Mapping[str, object] | None = None
    solution: Solution | None = None
    targets: tuple[Target, ...] = ()
    layouts: dict[int, Any] = field(default_factory=dict)
    """The ways in which the targets may be written, once they are known."""

    def has(self, entry: Entry) -> bool:
        """Whether a number or a grid is among the values, within its rounding."""
        if isinstance(entry, Typed):
            gap = np.abs(self._numbers - float(entry.value))
            return bool((gap <= float(entry.error) + _SAME * (1 + np.abs(self._numbers))).any())
        own, error = _floats(entry)
        return any(_is_same(own, error, known) for known in self._grids)

    def has_share(self, entry: Typed) -> bool:
        """Whether a number is the share that the question names."""
        share = (self.arguments or {}).get("share")
        return isinstance(share, float) and abs(float(entry.value) - share) < _SAME

    @cached_property
    def _values(self) -> list[Any]:
        stated = [target.value for target in self.targets]
        arguments = [x for x in (self.arguments or {}).values() if isinstance(x, sp.MatrixBase | float)]
        sums = [total for x in stated for total in _sums(x)]
        return [self.given, *arguments, *_stated(self.solution), *stated, *sums, *self._iterates(arguments)]

    def _iterates(self, arguments: list[Any]) -> Iterator[Any]:
        """The vectors of power iteration from the start, of any scale that is usual, and their Rayleigh quotients."""
        matrix = _array(self.given)
        for own in map(_array, arguments):
            if matrix is not None and own is not None and (matrix.shape, own.shape[1]) == ((len(own),) * 2, 1):
                yield from _powers(matrix, own)

    @cached_property
    def _numbers(self) -> Array:
        plain = [x for value in self._values for x in _numbers_of(value)]
        return np.array(plain or [np.inf])

    @cached_property
    def _grids(self) -> list[Array]:
        found = [own for value in self._values if (own := _array(value)) is not None]
        lines = [line[None, :] for grid in found if min(grid.shape) > 1 for line in (*grid, *grid.T)]
        return [*found, *lines]


def _powers(matrix: Array, vector: Array) -> Iterator[Any]:
    for _ in range(_ITERATES):
        vector = matrix @ vector
        image = matrix @ vector
        yield from (vector, vector / np.linalg.norm(vector), vector / np.abs(vector).max())
        yield from ((vector * image).sum() / (vector * vector).sum(), np.linalg.norm(image) / np.linalg.norm(vector))


def _sums(values: Any) -> list[Any]:
    """The sums of the first values of a list of numbers."""
    several = isinstance(values, list) and all(map(_is_real, values))
    return [sum(values[:stop]) for stop in range(2, len(values) + 1)] if several else []


def _stated(solution: Solution | None) -> Iterator[Any]:
    """The values in the steps of a solution, and the columns and rows of its tables."""
    for step in solution.steps if solution is not None else ():
        for stated in step.numbers:
            if isinstance(stated, Equation):
                yield stated.value
            else:
                yield from stated.rows


def _numbers_of(value: Any) -> Iterator[float]:
    """All real numbers of a value."""
    entries: Iterable[Any] = value if isinstance(value, list | tuple | np.ndarray | sp.MatrixBase) else [value]
    for entry in np.ravel(entries) if isinstance(entries, np.ndarray) else entries:
        if isinstance(entry, tuple):
            yield from _numbers_of(entry)
        elif (number := _real(entry)) is not None:
            yield number


def _real(entry: Any) -> float | None:
    """A number as a double; None for text and for symbols."""
    if isinstance(entry, sp.Expr):
        return float(entry) if entry.is_number and entry.is_real else None
    return float(entry) if isinstance(entry, int | float | np.floating) else None


def _array(value: Any) -> Array | None:
    """A matrix of numbers as doubles; None for anything else."""
    if isinstance(value, np.ndarray):
        return value
    if not isinstance(value, sp.MatrixBase) or not all(map(_is_real, value)):
        return None
    return np.array(value.evalf().tolist(), dtype=float)


def _is_real(entry: Any) -> bool:
    return _real(entry) is not None


def _floats(grid: Grid) -> tuple[Array, Array]:
    """The values and the rounding errors of a grid."""
    own = [[float(x.value) for x in row] for row in grid.rows]
    return np.array(own), np.array([[float(x.error) for x in row] for row in grid.rows])


def _is_same(own: Array, error: Array, known: Array) -> bool:
    """Whether two grids are equal within rounding; a vector may be a row or a column."""
    if own.shape != known.shape and (1 not in own.shape or own.shape != known.T.shape):
        return False
    true = known if own.shape == known.shape else known.T
    return bool((np.abs(own - true) <= error + _SAME * (1 + np.abs(true))).all())
