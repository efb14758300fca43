"""New exercises with clean answers, each with its solution. Every seed gives another one."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import Any

from eckart.errors import ParameterError
from eckart.options import check_choice
from eckart.worked.checks import whole
from eckart.worked.clean_matrices import low_rank, symmetric, table, triangular_product
from eckart.worked.solution import Equation, Solution, Step, Table


@dataclass(frozen=True)
class Kind:
    """What is asked, of which sizes, and the size when none is given."""

    question: str
    rows: tuple[int, int]
    columns: tuple[int, int] | None
    usual: tuple[int, int]


_SQUARE = (2, 3), None, (2, 2)
_TABLE = (4, 6), (2, 3), (4, 2)
KINDS = {
    "rank": Kind("Find the rank, a basis taken from the rows, and coordinates in it.", (2, 6), (2, 6), (3, 3)),
    "determinant": Kind("Compute the determinant by Chio's condensation.", (2, 5), None, (3, 3)),
    "eigen": Kind("Find the eigenvalues and the unit eigenvectors.", *_SQUARE),
    "power_iteration": Kind("Find the dominant eigenpair by power iteration.", *_SQUARE),
    "deflation": Kind("Find all eigenpairs by deflation.", *_SQUARE),
    "diagonalize": Kind("Diagonalise the matrix and compute its third power.", *_SQUARE),
    "svd": Kind("Find the singular value decomposition.", *_TABLE),
    "pseudo_inverse": Kind("Find the pseudo-inverse.", *_TABLE),
    "energy": Kind("How many singular values carry 90 % of the energy?", *_TABLE),
    "query": Kind("Take the row $q$ to concept space and back. What would you suggest?", *_TABLE),
    "pca": Kind("Find the principal components, the scores and the shares of variance.", *_TABLE),
    "minor_components": Kind("Find the axis along which the rows vary least.", *_TABLE),
    "kernel_pca": Kind("Do kernel PCA with the linear kernel, and compare with PCA.", *_TABLE),
    "select": Kind("Which column is most correlated with the target $y$?", *_TABLE),
    "cur": Kind("Make a CUR decomposition with the rows and columns 1 and 2.", (3, 4), None, (3, 3)),
    "nmf": Kind("Do the first rounds of multiplicative updates from the start shown.", (2, 4), (2, 4), (3, 3)),
}  # fmt: skip


@dataclass(frozen=True)
class Exercise(Solution):
    """A question with its solution: `.question()` is what students get, `.solution` what the teacher keeps."""

    given: Any = None
    solution: Solution | None = None

    def question(self) -> Solution:
        """The question alone."""
        return Solution(self.title, self.steps[:1], (), {"matrix": self.given})


def exercise(task: str, *, seed: int = 0, size: tuple[int, int] | None = None, degenerate: bool = False) -> Exercise:
    """A fresh exercise: whole numbers in, whole numbers and simple roots out.

    `degenerate` asks for a repeated or a zero eigenvalue, which otherwise never occurs.

    >>> made = exercise("pca", seed=7, size=(4, 2))
    >>> all(value.is_Integer for value in made["eigenvalues"])
    True
    """
    check_choice("task", task, tuple(KINDS))
    whole("seed", seed, 0, 10**12)
    rows, columns = _checked(task, size or KINDS[task].usual)
    matrix, arguments = _problem(task, seed, rows, columns, degenerate)
    solve = getattr(import_module("eckart.worked"), task)
    solution = solve(matrix, **arguments)
    first = solution.steps[0]
    shown = tuple(item for item in first.numbers if item is first.numbers[0] or _is_given(item))
    ask = Step(KINDS[task].question, numbers=shown)
    steps = (ask, *(solution.steps[1:] if shown == first.numbers else solution.steps))
    return Exercise(
        f"Exercise {seed}. {solution.title}",
        steps,
        solution.answer,
        {**solution.parts, "matrix": matrix},
        matrix,
        solution,
    )


def _is_given(item: Equation | Table) -> bool:
    """What belongs to the question beside the matrix: a query, a target, a start."""
    return isinstance(item, Equation) and item.name in {"q", "y", "x_0", "W", "H"}


def _problem(task: str, seed: int, rows: int, columns: int, degenerate: bool) -> tuple[Any, dict[str, Any]]:
    if task in {"eigen", "power_iteration", "deflation", "diagonalize"}:
        return symmetric(seed, rows, degenerate), {}
    if task == "determinant":
        return triangular_product(seed, rows, degenerate), {}
    if task == "rank":
        return low_rank(seed, rows, columns, positive=False), {}
    if task == "nmf":
        rank = min(rows, columns) - 1 or 1
        return low_rank(seed, rows, columns, positive=True), {"k": rank, "iterations": 20, "seed": seed}
    if task == "cur":
        return triangular_product(seed, rows, degenerate), {"rows": [1, 2], "columns": [1, 2]}
    centred = task in {"pca", "minor_components", "kernel_pca", "select"}
    matrix = table(seed, rows, columns, degenerate, centred=centred)
    if task == "query":
        return matrix, {"q": [1 + seed % 5] + [0] * (columns - 1)}
    if task == "select":
        return matrix, {"target": [(i * i + seed) % 7 + i for i in range(rows)], "count": 1}
    return matrix, {"kernel": "linear"} if task == "kernel_pca" else {}


def _checked(task: str, size: tuple[int, int]) -> tuple[int, int]:
    kind = KINDS[task]
    rows, columns = size
    fits = kind.rows[0] <= rows <= kind.rows[1]
    if kind.columns is None:
        if not fits or rows != columns:
            raise ParameterError(
                f"size={size!r} is not possible for {task}: {kind.rows[0]} to {kind.rows[1]} rows, square."
            )
    elif not fits or not kind.columns[0] <= columns <= kind.columns[1]:
        low, high = kind.columns
        raise ParameterError(
            f"size={size!r} is not possible for {task}: {kind.rows[0]} to {kind.rows[1]} rows, {low} to {high} columns."
        )
    return rows, columns
