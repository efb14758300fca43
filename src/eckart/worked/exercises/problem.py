"""The output of a generator: the matrix, the arguments of its solution, and the numbers of the question."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from eckart.worked.exercises.targets import Target
from eckart.worked.messages import tr
from eckart.worked.solution import Equation, Solution, SolutionTable, Value

if TYPE_CHECKING:
    import sympy as sp

Random = np.random.Generator


@dataclass(frozen=True)
class Problem:
    """One candidate; `values` are inserted into the question, `shown` is printed below it."""

    matrix: sp.Matrix
    arguments: Mapping[str, Value] = field(default_factory=dict)
    shown: tuple[Equation | SolutionTable, ...] = ()
    values: Mapping[str, Value] = field(default_factory=dict)


Criterion = tuple[str, Callable[[Problem, Solution], bool]]
"""Criterion of a good exercise, in words and as a test."""


@dataclass(frozen=True)
class Kind:
    """A kind of exercise: its question, sizes for difficulty 1 to 3, and functions that create, judge and answer it.

    `least` and `most` bound the sizes that may be requested. `quick` rejects a candidate before it is solved.
    """

    question: str | Callable[[Problem], str]
    sizes: tuple[tuple[int, int], tuple[int, int], tuple[int, int]]
    least: tuple[int, int]
    most: tuple[int, int]
    make: Callable[[Random, int, int, int], Problem]
    targets: Callable[[Problem, Solution], tuple[Target, ...]]
    criteria: tuple[Criterion, ...]
    quick: Callable[[Problem], bool] = lambda problem: True
    square: bool = False
    allows: Callable[[int, int], bool] = lambda rows, cols: True
    """Whether this many rows and columns are possible within the bounds; `allowed` says which in words."""
    allowed: str = ""

    def asked(self, problem: Problem) -> str:
        """The question in the current language."""
        return tr(self.question, **problem.values) if isinstance(self.question, str) else self.question(problem)
