"""Positions of points and arrows: the numbers behind the plots, without drawing.

A ~ U diag(s) V^T, w rows. Form biplot: rows U diag(s), arrows V; distances between rows are exact.
Covariance biplot: rows sqrt(w - 1) U, arrows V diag(s) / sqrt(w - 1); angles between arrows show correlations.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from eckart.analysis.labels import component_labels
from eckart.analysis.measures import floats, left_vectors, row_scores, row_weights
from eckart.errors import ParameterError
from eckart.formatting import percent

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from eckart.result import Decomposition

Scaling = Literal["form", "covariance"]
Box = tuple[float, float, float, float]
"""Left, top, right, bottom."""

MOST_ROWS = 2000
MOST_ARROWS = 30
_FARTHEST = 100
ARROW_REACH = 0.85

MEANING = {
    "form": "form biplot: distances between points approximate distances between rows",
    "covariance": "covariance biplot: angles between arrows show correlations between columns",
}


@dataclass(frozen=True)
class Biplot:
    """Rows and columns in one plane."""

    points: NDArray[np.float64] | None
    """Rows x 2; None when the left vectors were not kept."""
    arrows: NDArray[np.float64]
    """Columns x 2, in their own units."""
    stretch: float
    """Factor by which arrows are stretched for display."""
    labels: tuple[str, str]
    rows: NDArray[np.intp]
    """Which rows are shown."""
    columns: NDArray[np.intp]
    """Which columns are drawn, longest arrow first."""


def biplot(d: Decomposition, scaling: Scaling = "form", components: tuple[int, int] = (0, 1)) -> Biplot:
    """Points of rows and arrows of columns on two components, counted from 0."""
    if scaling not in MEANING:
        raise ParameterError(f"scaling={scaling!r} is not valid. Use 'form' or 'covariance'.")
    pair = check_pair(d, components)
    freedom = math.sqrt(max(d.weight - 1.0, 1.0))
    values = floats(d.values)[pair]
    arrows = floats(d.right)[:, pair]
    points = None if d.left is None else row_scores(d, components=pair)
    if scaling == "covariance":
        arrows = arrows * values / freedom
        points = (
            None if d.left is None else freedom * left_vectors(d, components=pair) / np.sqrt(row_weights(d))[:, None]
        )
    rows = np.empty(0, dtype=np.intp) if points is None else drawn_rows(points)
    columns = np.argsort(-np.hypot(*arrows.T), kind="stable")[:MOST_ARROWS]
    return Biplot(points, arrows, _stretch(points, arrows), component_titles(d, components), rows, columns)


def check_pair(d: Decomposition, components: tuple[int, int]) -> list[int]:
    """Two different components of d, counted from 0."""
    if not all(0 <= component < d.k for component in components) or components[0] == components[1]:
        raise ParameterError(f"components={components} cannot be drawn. Use two different indices from 0 to {d.k - 1}.")
    return list(components)


def drawn_rows(points: NDArray[np.float64], most: int = MOST_ROWS) -> NDArray[np.intp]:
    """All rows, or the farthest from the centre and a reproducible random choice of the others."""
    if len(points) <= most:
        return np.arange(len(points))
    order = np.argsort(-(points**2).sum(axis=1), kind="stable")
    random = np.random.Generator(np.random.Philox(0))
    chosen = random.choice(order[_FARTHEST:], most - _FARTHEST, replace=False)
    return np.sort(np.concatenate([order[:_FARTHEST], chosen]))


def subset_sentence(d: Decomposition) -> str:
    """What `drawn_rows` left out, in words; empty if nothing."""
    if d.left is None or d.rows <= MOST_ROWS:
        return ""
    drawn = f"the {_FARTHEST} farthest from the centre and {MOST_ROWS - _FARTHEST:,} chosen at random (seed 0)"
    return f"{MOST_ROWS:,} of {d.rows:,} rows are shown: {drawn}."


def arrange(choices: Sequence[Sequence[Box]], taken: Sequence[Box] = ()) -> list[int | None]:
    """For each label, the first free one of its possible boxes, or None; earlier labels take precedence."""
    placed = np.array([*taken, *[(0.0, 0.0, 0.0, 0.0)] * len(choices)]).reshape(-1, 4)
    count = len(taken)
    chosen: list[int | None] = []
    for boxes in choices:
        free = (i for i, box in enumerate(boxes) if not _overlaps(box, placed[:count]))
        chosen.append(next(free, None))
        if chosen[-1] is not None:
            placed[count] = boxes[chosen[-1]]
            count += 1
    return chosen


def _overlaps(box: Box, others: NDArray[np.float64]) -> bool:
    left, top, right, bottom = box
    apart = (left >= others[:, 2]) | (right <= others[:, 0]) | (top >= others[:, 3]) | (bottom <= others[:, 1])
    return not bool(apart.all())


def _stretch(points: NDArray[np.float64] | None, arrows: NDArray[np.float64]) -> float:
    """One factor for both directions, so that angles stay true."""
    reach, longest = (0.0 if a is None else float(np.abs(a).max(initial=0.0)) for a in (points, arrows))
    return ARROW_REACH * reach / longest if reach > 0 and longest > 0 else 1.0


def component_titles(d: Decomposition, components: tuple[int, int]) -> tuple[str, str]:
    """'PC1 (62.0 %)' for each of two components."""
    names, shares = component_labels(d), floats(d.explained_variance_ratio)
    first, second = (f"{names[component]} ({percent(float(shares[component]))})" for component in components)
    return first, second
