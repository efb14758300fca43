"""One exercise: a question, its key, and the verdict on an answer.

Candidates come from a generator seeded by kind, difficulty, size and seed, so that one seed gives a different matrix
for every kind. Candidates that fail the criteria of their kind are dropped.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module

import numpy as np
import sympy as sp

from eckart.displays import html_page
from eckart.documentation import document
from eckart.errors import ParameterError
from eckart.wording import either
from eckart.worked.checks import argument, one_of, whole
from eckart.worked.exercises import algebra, factoring, tables
from eckart.worked.exercises.knowledge import Knowledge
from eckart.worked.exercises.problem import Kind, Problem
from eckart.worked.exercises.targets import Target
from eckart.worked.exercises.verdict import Verdict, judge
from eckart.worked.messages import language, tr
from eckart.worked.solution import Equation, Solution, Step
from eckart.worked.solution import SolutionTable as Shown

_ORDER = ("rank", "determinant", "gram_schmidt", "eigen", "power_iteration", "deflation", "diagonalize", "svd",
          "pseudo_inverse", "bounds", "energy", "query", "pca", "minor_components", "project", "correlation", "missing",
          "select", "cur", "nmf", "kernel_pca", "isomap")  # fmt: skip
_ALL = {**algebra.KINDS, **factoring.KINDS, **tables.KINDS}
KINDS: dict[str, Kind] = {name: _ALL[name] for name in _ORDER}
_ATTEMPTS, _SOLVED = 200_000, 400


@document
@dataclass(frozen=True)
class Exercise(Solution):
    """A question with its solution.

    The exercise contains its solution. `question` returns only the question.

    Attributes
    ----------
    title : str
        What is asked.
    steps : tuple of Step
        The question, followed by the steps of the solution.
    answer : tuple of Equation
        The answer.
    {parts, detail, language, figures}
    kind : str
        Kind of exercise, such as 'eigen'.
    seed : int
        Seed that produced the exercise.
    difficulty : {1, 2, 3}
        Level of difficulty.
    given : sympy.Matrix
        The matrix of the question.
    arguments : mapping
        Further arguments of the question.
    solution : Solution
        The complete solution.
    targets : tuple
        Expected answers, used by `check`.

    See Also
    --------
    exercise : Create an exercise.
    Solution : Base class with the output formats.

    Examples
    --------
    >>> from eckart import worked
    >>> made = worked.exercise("determinant", seed=3)
    >>> print(made.check(str(made["determinant"])))
    Right.
    """

    kind: str = ""
    seed: int = 0
    difficulty: int = 1
    given: sp.Matrix | None = None
    arguments: Mapping[str, object] = field(default_factory=dict)
    solution: Solution | None = None
    targets: tuple[Target, ...] = ()

    def question(self) -> Solution:
        """Return the question without the solution.

        Returns
        -------
        Solution
            A document that contains the question only.
        """
        return Solution(self.title, self.steps[:1], (), {"matrix": self.given}, language=self.language)

    def _repr_html_(self) -> str:
        """The question; the player of the page shows the solution step by step."""
        from eckart.worked.as_html import html

        with language(self.language):
            return html_page(html(self, playing=True))

    def _repr_markdown_(self) -> str:
        return self.question().markdown()

    def check(self, answer: str) -> Verdict:
        """Check an answer and explain what is wrong with it.

        Parameters
        ----------
        answer : str
            The answer as text: numbers, fractions, roots, or matrices with rows separated by semicolons.

        Returns
        -------
        Verdict
            Whether the answer is right, with an explanation. It prints as text.

        Examples
        --------
        >>> made = exercise("eigen", seed=1)
        >>> values = made["eigenvalues"]
        >>> str(made.check(f"{values[0]}, {values[1]}"))
        'Right so far. Still to be found: e.'
        """
        with language(self.language):
            return judge(answer, self.targets, Knowledge(self.given, self.arguments, self.solution, self.targets))


def exercise(kind: str, *, seed: int = 0, size: tuple[int, int] | None = None, difficulty: int = 1) -> Exercise:
    """Create an exercise with integer data and a simple answer.

    Parameters
    ----------
    kind : str
        Kind of exercise: the name of a function of `eckart.worked`, such as 'eigen', 'svd' or 'pca'.
    seed : int, default 0
        Seed. The same seed gives the same exercise.
    size : tuple of int, default None
        Number of rows and columns of the matrix. None uses the size that belongs to the difficulty.
    difficulty : {1, 2, 3}, default 1
        Level of difficulty. 1 gives small matrices; 2 and 3 give larger or less regular ones.

    Returns
    -------
    Exercise
        The question and its solution.

    Raises
    ------
    ParameterError
        If the kind is not known, or no exercise of this size exists.

    See Also
    --------
    lesson : The theory.

    Examples
    --------
    >>> from eckart import worked
    >>> made = worked.exercise("pca", seed=7, size=(4, 2))
    >>> made.given.shape, made["eigenvalues"].T
    ((4, 2), Matrix([[2340, 208]]))
    """
    one_of("kind", kind, tuple(KINDS))
    whole("seed", seed, 0, 10**12)
    whole("difficulty", difficulty, 1, 3)
    rows, cols = _checked(kind, size or KINDS[kind].sizes[difficulty - 1])
    problem, solution = _found(kind, difficulty, rows, cols, seed)
    targets = KINDS[kind].targets(problem, solution)
    question = Step(KINDS[kind].asked(problem), numbers=_shown(kind, problem, solution))
    return Exercise(
        tr("Exercise {seed}. {title}", seed=seed, title=solution.title),
        (question, *solution.steps[1:]),
        _asked(targets) or solution.answer,
        {**solution.parts, "matrix": problem.matrix},
        figures=solution.figures,
        kind=kind,
        seed=seed,
        difficulty=difficulty,
        given=problem.matrix,
        arguments=problem.arguments,
        solution=solution,
        targets=targets,
    )


def _asked(targets: tuple[Target, ...]) -> tuple[Equation, ...]:
    """The answer in the terms of the question, if the targets define how to print it."""
    shown: list[Equation] = []
    for target in targets:
        if target.optional:
            continue
        if not target.label:
            return ()
        shown += _printed(target)
    return tuple(shown)


def _printed(target: Target) -> list[Equation]:
    """The values of a target under its label, numbered if they are several."""
    if target.form in {"set", "edges"}:
        values = [str(x) if target.form == "set" else "-".join(map(str, x)) for x in target.value]
        return [Equation("", f"{tr(target.label)}: {', '.join(values)}")]
    if target.form not in {"numbers", "list"}:
        return [Equation(target.label, target.value)]
    names = [target.label]
    if len(target.value) > 1:
        names = [f"{target.label}_{i}" for i in range(1, len(target.value) + 1)]
    return [Equation(name, sp.sympify(value)) for name, value in zip(names, target.value, strict=True)]


def solve(kind: str, problem: Problem) -> Solution:
    """The worked solution of a problem."""
    arguments = dict(problem.arguments)
    given = arguments.pop("given", problem.matrix)
    solution: Solution = getattr(import_module("eckart.worked"), kind)(given, **arguments)
    return solution


def failed(kind: str, problem: Problem, solution: Solution) -> list[str]:
    """The criteria that an exercise does not meet, in words."""
    return [words for words, test in KINDS[kind].criteria if not test(problem, solution)]


def _found(kind: str, difficulty: int, rows: int, cols: int, seed: int) -> tuple[Problem, Solution]:
    salt = hashlib.sha256(f"{kind}/{difficulty}/{rows}x{cols}/{seed}".encode()).digest()
    rng = np.random.Generator(np.random.Philox(int.from_bytes(salt[:8], "big")))
    solved = 0
    for _ in range(_ATTEMPTS):
        problem = KINDS[kind].make(rng, difficulty, rows, cols)
        if not KINDS[kind].quick(problem):
            continue
        solution = solve(kind, problem)
        solved += 1
        if not failed(kind, problem, solution):
            return problem, solution
        if solved >= _SOLVED:
            break
    raise ParameterError(
        tr("No exercise of this kind was found for {size} and {difficulty}. Choose another size.",
           size=_typed((rows, cols)), difficulty=argument("difficulty", difficulty))
    )  # fmt: skip


def _shown(kind: str, problem: Problem, solution: Solution) -> tuple[Equation | Shown, ...]:
    """The matrix under the name that the solution uses, and what else belongs to the question."""
    if kind == "missing":
        return problem.shown
    if kind == "cur":
        draws = tuple(zip(solution["column_numbers"], solution["row_numbers"], strict=True))
        return (solution.steps[0].numbers[0], Shown((tr("$u$ for columns"), tr("$u$ for rows")), draws))
    return (solution.steps[0].numbers[0], *problem.shown)


def _checked(kind: str, size: tuple[int, int]) -> tuple[int, int]:
    own = KINDS[kind]
    rows, cols = size
    why = ""
    bounds = {"least": own.least[0], "most": own.most[0], "fewest": own.least[1], "largest": own.most[1]}
    if own.square and (rows != cols or not own.least[0] <= rows <= own.most[0]):
        why = tr("from {least} to {most} rows, square", **bounds)
    elif not (own.least[0] <= rows <= own.most[0] and own.least[1] <= cols <= own.most[1]):
        why = tr("from {least} to {most} rows, from {fewest} to {largest} columns", **bounds)
    elif not own.allows(rows, cols):
        why = tr(own.allowed)
    if why:
        named = either(kind, kind.replace("_", "-"))
        raise ParameterError(tr("{size} is not possible for {kind}: {why}.", size=_typed(size), kind=named, why=why))
    return rows, cols


def _typed(size: tuple[int, int]) -> str:
    return either(f"size={size!r}", "--size {}x{}".format(*size))
