"""Rows by group in a plane, with an ellipse for each group.

For normal rows, (x - m)^T C^-1 (x - m) <= q contains a share c of a group's rows if q = -2 ln(1 - c). The ellipse of
the mean has C / n instead of C.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from eckart.analysis.labels import category_name
from eckart.arrays import Floats
from eckart.errors import InputError, ParameterError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


MOST_GROUPS = 7
OTHERS = "others"
_CORNERS = 100

Around = Literal["rows", "means"]


@dataclass(frozen=True)
class Group:
    """One group of rows in a plane."""

    name: str
    members: NDArray[np.intp]
    mean: Floats
    outline: Floats | None
    """Points on the ellipse, one per row; None if the rows of the group do not spread in two directions."""


def _without(words: NDArray[np.object_], known: set[str | None]) -> NDArray[np.intp]:
    """Where the other words are."""
    return np.array([i for i, word in enumerate(words) if word not in known], dtype=np.intp)


def groups(
    points: Floats, labels: Sequence[object], weights: Floats, *, around: Around = "rows", share: float = 0.95
) -> list[Group]:
    """Groups, largest first: at most 7, and the rest together. Rows without a label belong to none."""
    _check(points, labels, around, share)
    words = np.array([category_name(label) for label in labels], dtype=object)
    counts = Counter(word for word in words if word is not None).most_common()
    shown = len(counts) if len(counts) <= MOST_GROUPS + 1 else MOST_GROUPS
    named = [word for word, _ in counts[:shown]]
    found = [(name, np.flatnonzero(words == name)) for name in named]
    if len(named) < len(counts):
        found.append((f"{OTHERS} ({len(counts) - len(named)})", _without(words, {*named, None})))
    return [_group(name, members, points, weights, around, share) for name, members in found]


def _check(points: Floats, labels: Sequence[object], around: str, share: float) -> None:
    if len(labels) != len(points):
        raise InputError(
            f"The number of group labels ({len(labels):,}) differs from the number of rows ({len(points):,}). Pass one "
            "label per row."
        )
    if around not in ("rows", "means"):
        raise ParameterError(f"around={around!r} is not valid. Use 'rows', 'means' or None.")
    if not 0 < share < 1:
        raise ParameterError(f"share={share!r} is not a share of the rows. Use a number between 0 and 1.")


def _group(
    name: str, members: NDArray[np.intp], points: Floats, weights: Floats, around: Around, share: float
) -> Group:
    x, w = points[members], weights[members]
    mean = w @ x / w.sum()
    outline = None
    if len(members) > 2 and w.sum() > 1:
        covariance = (w[:, None] * (x - mean)).T @ (x - mean) / (w.sum() - 1)
        covariance = covariance / w.sum() if around == "means" else covariance
        values, vectors = np.linalg.eigh(covariance)
        if values[0] > 1e-12 * values[1]:
            angle = np.linspace(0, 2 * math.pi, _CORNERS)
            circle = np.column_stack([np.cos(angle), np.sin(angle)]) * math.sqrt(-2 * math.log(1 - share))
            outline = mean + (circle * np.sqrt(values)) @ vectors.T
    return Group(name, members, mean, outline)
