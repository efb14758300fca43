"""How well values that are hidden can be foretold from the others: cross-validation by single values.

error(model) = mean over hidden cells of ((filled - true) / standard deviation of the column)^2.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from eckart.missing.em import Completed, complete, gap_errors

SHRINKS = (0.4, 0.2, 0.1, 0.05, 0.025, 0.0125)
_PARTS = 20
"""Few values are hidden at a time: a table with many more gaps than it has would want a simpler model."""
_TRIED = 10
"""Parts that are hidden in turn."""
_WORSE = 2
"""So many candidates in a row without a smaller error end the search."""


@dataclass(frozen=True)
class Candidate:
    """k axes, or all of them with a share of noise, and the mean squared error of hidden values."""

    k: int
    shrink: float
    error: float
    calibration: float = 1.0
    """Error of hidden values over the standard error that the model claims for them."""


class HeldOut:
    """A table whose values are hidden in turn, part by part; each is filled from the rest."""

    def __init__(
        self,
        table: np.ndarray,
        rng: np.random.Generator,
        *,
        weights: np.ndarray | None = None,
        standard: bool = True,
        regularised: bool = True,
        parts: int = _PARTS,
        tried: int = _TRIED,
    ) -> None:
        self.table, self.weights, self.standard, self.regularised = table, weights, standard, regularised
        places = np.flatnonzero(~np.isnan(table.ravel()))
        part = np.resize(np.arange(parts), len(places))
        rng.shuffle(part)
        self.hidden = [places[part == one] for one in range(min(parts, tried))]
        deviation = np.nanstd(table, axis=0)
        if not standard:
            deviation = np.full(len(deviation), float(np.sqrt(np.mean(deviation**2))))
        self.unit = np.where(deviation > 0.0, deviation, 1.0)
        self.before: list[np.ndarray | None] = [None] * parts

    def try_axes(self, most: int) -> list[Candidate]:
        """0, 1, ..., `most` axes, ended when more have stopped to help."""
        return [Candidate(k, 0.0, float(errors.mean())) for k, errors in enumerate(self.by_part(most))]

    def by_part(self, most: int) -> np.ndarray:
        """Mean squared errors of 0, 1, ... axes (rows) on each part (columns), ended when more have stopped to help."""
        found: list[list[float]] = []
        for k in range(most + 1):
            squares = [self._squares(one, k, 0.0)[0] for one in range(len(self.hidden))]
            found.append([float(part.mean()) if part.size else 0.0 for part in squares])
            if _risen([float(np.mean(errors)) for errors in found]):
                break
        return np.asarray(found)

    def try_shrinking(self) -> list[Candidate]:
        """All axes, with less and less noise, ended when less has stopped to help."""
        found: list[Candidate] = []
        for shrink in SHRINKS:
            found.append(Candidate(min(self.table.shape), shrink, self.error(0, shrink)))
            if _risen([candidate.error for candidate in found]):
                break
        return found

    def error(self, k: int, shrink: float) -> float:
        """Mean squared error over all hidden values."""
        squares = np.concatenate([self._squares(one, k, shrink)[0] for one in range(len(self.hidden))])
        return float(np.mean(squares)) if squares.size else 0.0

    def calibrated(self, candidate: Candidate) -> Candidate:
        """The same with the errors it claims compared with those it makes."""
        squares = claims = 0.0
        for one in range(min(3, len(self.hidden))):
            made, found, visible, counted = self._squares(one, candidate.k, candidate.shrink)
            claim = (gap_errors(visible, found.model) / self.unit).ravel()[counted]
            squares, claims = squares + float(made.sum()), claims + float(claim @ claim)
        return replace(candidate, calibration=(squares / claims) ** 0.5 if claims > 0.0 else 1.0)

    def _squares(self, one: int, k: int, shrink: float) -> tuple[np.ndarray, Completed, np.ndarray, np.ndarray]:
        """Squared errors of a hidden part, the table that was filled, what was visible of it, and the hidden places."""
        places = self.hidden[one]
        visible = self.table.copy()
        visible.ravel()[places] = np.nan
        empty = np.isnan(visible).all(axis=0)
        visible[:, empty] = 0.0
        found = complete(
            visible, k, shrink=shrink, standard=self.standard, regularised=self.regularised, weights=self.weights,
            start=self.before[one], tolerance=1e-3, most_steps=100 if self.regularised else 40,
        )  # fmt: skip
        self.before[one] = found.table
        counted = places[~empty[places % self.table.shape[1]]]
        difference = ((found.table - self.table) / self.unit).ravel()[counted]
        return difference**2, found, visible, counted


def _risen(errors: list[float]) -> bool:
    return len(errors) - 1 - int(np.argmin(errors)) >= _WORSE
