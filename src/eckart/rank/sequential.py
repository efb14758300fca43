"""The sequential test: each component is compared with the residual of earlier ones, its structure destroyed.

Step k removes the first k components U, V from the centred table and destroys the structure of the residual E, after
restoring the variance that the components removed (see `remainder`). The reference R is the result projected onto the
space of E, (I - U U^T) . (I - V V^T). The statistic is the share of the next component, l_1(E) / ||E||^2 compared with
l_1(R) / ||R||^2 (Vitale and others, 2017). The test ends at the first step that does not reject.

Components of similar size hide each other in the first steps, because they dominate the variance of the reference. If
the eigenvalues fall steeply after component f, the steps therefore begin there, provided that component f, the weakest
before the fall, is above noise in the residual of the f - 1 before it. With fewer than 4 directions left, a component
hides itself in the same way. If the noise has equal variance in all rows and columns, the reference is then made from
the residual of all f.

A test rejects if the statistic is among the largest 1 - level of itself and N draws, which is exact for any noise whose
law the destruction does not change (Dwass, 1957). It stops as soon as too many draws are larger (Besag and Clifford,
1991), or if none of many is and the statistic is clearly above the limit that they suggest. Otherwise there are enough
draws that the seed hardly matters. Large tables have too few draws for that. Their limit is the mean of the draws plus
a number of standard deviations from the Tracy-Widom law, which the largest eigenvalue of noise follows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from eckart.engine.backends.symmetric import leading_values
from eckart.formatting import counted, precise_percent
from eckart.rank.edge import MEAN, STANDARD_DEVIATION, tracy_widom
from eckart.rank.evidence import Evidence
from eckart.rank.noise import is_white
from eckart.rank.remainder import Remainder, cross_products

_FIRST = 8
"""Number of draws for a clear case."""
_CLEAR = 4.0
"""A case is clear if the statistic is this many times as far from the mean of the first draws as the limit."""
_DRAWS = (20, 1599)
"""Minimum and maximum number of draws for an unclear case."""
_MANY, _ERRORS = 199, 4.0
"""Number of draws after which the limit is known well enough, and by how many standard errors a case must exceed it."""
_TOGETHER = 4_000
"""References up to this many entries are computed together, because the calls for each take longer than its numbers."""
_FALL = 2.2
"""Eigenvalues that fall by this factor may be the last of components that hide each other."""
_ENOUGH = 4
"""With at least this many directions, a component does not mask itself."""

Destroy = Callable[[np.ndarray, np.random.Generator], np.ndarray]


@dataclass(frozen=True)
class Step:
    """A component's share of the residual of earlier components, and the limit for noise."""

    ratio: float
    limit: float

    @property
    def above(self) -> bool:
        return self.ratio > self.limit


def sequential(e: Evidence, destroy: Destroy, rng: np.random.Generator, what: str) -> tuple[int | None, str]:
    """(the number of components, the last step in words)."""
    if e.short < 3:
        return None, (f"This rule needs at least 4 rows and 3 columns, but the table is {e.rows:,} x {e.columns:,}.")
    # Shares can be compared only if at least two components are left.
    last = min(e.most, e.short - 1)
    test = _Test(e, destroy, rng)
    for k, step in test.steps(test.together(), last):
        if not step.above:
            removed = counted(k, "component")
            next_one = f"After removing {removed}, the next explains" if k else "The first component explains"
            of_residual = " of the residual" if k else ""
            return k, (
                f"{next_one} {precise_percent(step.ratio)}{of_residual}; in {100 * e.options.level:g} % of "
                f"{what}, it explains at most {precise_percent(step.limit)}."
            )
    return None, f"All {last} components that can be tested explain more than those of {what}. There may be more."


class _Test:
    """The table, its components, and references drawn from residuals."""

    def __init__(self, e: Evidence, destroy: Destroy, rng: np.random.Generator) -> None:
        self.evidence, self.destroy, self.rng = e, destroy, rng
        self.level, self.draws = e.options.level, e.repeats(*_DRAWS)
        self.units = (tracy_widom(self.level) - MEAN) / STANDARD_DEVIATION

    def together(self) -> int:
        """The number of components before the last steep fall at which all of them are above noise; 0 if none.

        Falls among the last eigenvalues, which unequal noise has too, count only if there is no other.
        """
        falls = self.evidence.falls(_FALL)[::-1].tolist()
        for fall in sorted(falls, key=lambda fall: fall > 3 * self.evidence.short // 4):
            if fall < min(self.evidence.most, self.evidence.short - 1) and self._stands_apart(fall):
                return int(fall)
        return 0

    def _stands_apart(self, fall: int) -> bool:
        if self.step(fall - 1, made_of=fall - 1).above:
            return True
        # A reference that includes the component itself has no power if few directions are left. Without it, the
        # reference is valid only if the noise has equal variance everywhere: a single noisy row or column would be
        # removed.
        few = self.evidence.short - fall < _ENOUGH
        return (
            few
            and is_white(self.evidence.remainder(fall), self.evidence.rng(10))
            and (self.step(fall - 1, made_of=fall).above)
        )

    def steps(self, start: int, last: int) -> Iterator[tuple[int, Step]]:
        for k in range(start, last):
            yield k, self.step(k, made_of=k)

    def step(self, k: int, *, made_of: int) -> Step:
        """Component k + 1, compared with references made from the residual of the first `made_of` components."""
        ratios = self.evidence.ratios
        ratio = min(float(ratios[k]) / max(1.0 - float(ratios[:k].sum()), 1e-300), 1.0)
        if ratios[k] <= 1e-12:
            return Step(ratio, 1.0)
        space = self.evidence.remainder(k)
        noise = (space if made_of == k else self.evidence.remainder(made_of)).noise
        return Step(ratio, self._limit(noise, space, ratio))

    def _limit(self, noise: np.ndarray, space: Remainder, ratio: float) -> float:
        """The share that noise does not exceed at the level of the test."""
        drawn = np.empty(0)
        allowed = int((1.0 - self.level) * (self.draws + 1) + 1e-9)
        while len(drawn) < self.draws:
            count = min(_FIRST, self.draws - len(drawn))
            drawn = np.append(drawn, self._shares(noise, space, count))
            mean = float(np.mean(drawn))
            distance = self.units * float(np.std(drawn, ddof=1)) if len(drawn) > 1 else 0.0
            if len(drawn) <= _FIRST and not mean - distance / 2 < ratio < mean + _CLEAR * distance:
                break
            larger = int(np.sum(drawn >= ratio))
            if allowed and larger >= allowed:
                return max(self._reached(drawn), mean + distance)
            if len(drawn) >= _MANY and not larger and ratio > mean + distance + _ERRORS * self._error(drawn):
                break
        return self._reached(drawn) if allowed and len(drawn) == self.draws else mean + distance

    def _shares(self, noise: np.ndarray, space: Remainder, count: int) -> np.ndarray:
        """l_1 / ||R||^2 of `count` references."""
        drawn = (self.destroy(noise, self.rng) for _ in range(count))
        if noise.size > _TOGETHER:
            return np.array([_first_share(space.projected(table)) for table in drawn])
        grams = cross_products(space.projected(np.stack(list(drawn))))
        traces = np.trace(grams, axis1=1, axis2=2)
        return np.asarray(np.linalg.eigvalsh(grams)[:, -1] / np.maximum(traces, 1e-300))

    def _reached(self, drawn: np.ndarray) -> float:
        """The quantile of the draws at the level of the test; at least the statistic if the test stops early."""
        return float(np.sort(drawn)[-max(int((1.0 - self.level) * (len(drawn) + 1) + 1e-9), 1)])

    def _error(self, drawn: np.ndarray) -> float:
        """Standard error of the mean plus `units` standard deviations."""
        return float(np.std(drawn, ddof=1) * np.sqrt((1.0 + self.units**2 / 2.0) / len(drawn)))


def _first_share(table: np.ndarray) -> float:
    """l_1 / ||R||^2."""
    gram = cross_products(table)
    return float(leading_values(gram, 1)[0] / max(float(np.trace(gram)), 1e-300))
