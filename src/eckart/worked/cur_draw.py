"""CUR draws by hand: random numbers compared with cumulative probabilities."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import sympy as sp

from eckart.errors import ParameterError
from eckart.worked.checks import argument, whole
from eckart.worked.messages import tr
from eckart.worked.solution import SolutionTable, Step

if TYPE_CHECKING:
    import numpy as np

    from eckart.worked.solution import Value


@dataclass(frozen=True)
class Drawn:
    """Distinct drawn rows or columns: indices, counts, and squared scale factors."""

    draws: list[int]
    indices: list[int]
    times: list[int]
    squares: list[Value]
    chances: list[Value]
    numbers: list[Value] | None = None

    @property
    def scales(self) -> list[Value]:
        return [sp.sqrt(square) for square in self.squares]


def _check_draws(draws: list[int], chances: list[Value], name: str) -> None:
    if not draws or any(not 1 <= j <= len(chances) for j in draws):
        raise ParameterError(
            tr(
                "{given} is not valid. Use one or more numbers from 1 to {most}.",
                given=argument(name, draws),
                most=len(chances),
            )
        )
    if any(chances[j - 1] == 0 for j in draws):
        raise ParameterError(
            tr(
                "{given} includes a row or column of zeros, which has probability 0 and is never "
                "drawn. Choose another row or column.",
                given=argument(name, draws),
            )
        )


def drawn(
    chances: list[Value], given: Sequence[int] | None, r: int, generator: np.random.Generator, name: str
) -> Drawn:
    """Draws with replacement, merged: column j drawn m times is multiplied by sqrt(m / (r q_j))."""
    if given is None:
        whole("r", r, 1, 20)
        numbers = [sp.Rational(int(generator.integers(1, 10_000)), 10_000) for _ in range(r)]
        draws = [place_of(u, chances) for u in numbers]
    else:
        numbers = None
        draws = [int(j) for j in given]
    _check_draws(draws, chances, name)
    indices = sorted(set(draws))
    times = [draws.count(j) for j in indices]
    squares = [sp.radsimp(sp.Integer(m) / (len(draws) * chances[j - 1])) for j, m in zip(indices, times, strict=True)]
    return Drawn(draws, [j - 1 for j in indices], times, squares, chances, numbers)


def place_of(u: object, chances: list[Value]) -> int:
    """The first position, from 1, whose cumulative probability reaches u: a draw by hand.

    >>> place_of(sp.Rational(1, 2), [sp.Rational(1, 4), sp.Rational(1, 2), sp.Rational(1, 4)])
    2
    """
    total = sp.Integer(0)
    for place, chance in enumerate(chances, 1):
        total += chance
        if sp.N(total - u, 30) >= 0:
            return place
    return len(chances)


def draw_steps(taken: Drawn, kept: Drawn, seed: int) -> tuple[Step, ...]:
    """The result of each draw, and how often each column and row was drawn."""
    steps = []
    for name, side in ((tr("columns"), taken), (tr("rows"), kept)):
        if side.numbers is None:
            statement = tr("Drawn {name}: {draws}, as specified.", name=name, draws=", ".join(map(str, side.draws)))
            steps.append(Step(statement, numbers=(_counts(side),)))
            continue
        totals, running = [], sp.Integer(0)
        for chance in side.chances:
            running += chance
            totals.append(running)
        intervals = SolutionTable(
            ("i", tr("probability"), tr("running total")),
            tuple((sp.Integer(i), p, t) for i, (p, t) in enumerate(zip(side.chances, totals, strict=True), 1)),
        )
        draws = SolutionTable(("u", tr("drawn")), tuple((sp.Float(u, 17), sp.Integer(j)) for u, j in
                                                zip(side.numbers, side.draws, strict=True)))  # fmt: skip
        statement = tr(
            "Draw {name} with replacement: for each random number $u$ (seed {seed}), take the first "
            "one whose cumulative probability is at least $u$.",
            name=name,
            seed=seed,
        )
        steps.append(Step(statement, numbers=(intervals, draws, _counts(side))))
    return tuple(steps)


def _counts(side: Drawn) -> SolutionTable:
    rows = tuple((sp.Integer(j + 1), sp.Integer(m)) for j, m in zip(side.indices, side.times, strict=True))
    return SolutionTable((tr("drawn"), tr("times")), rows)
