"""Scores of one query -> a ranking: best first, of equal ones the first."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from eckart.concept_space.best import Numbers
from eckart.concept_space.names import Names
from eckart.concept_space.proof import Bounded, proved_places
from eckart.concept_space.results import Ranking

if TYPE_CHECKING:
    from collections.abc import Sequence


NOTHING = np.zeros(0, np.int64)


def ranked(
    title: str, scores: Numbers, n: int, names: Names, *, hidden: Sequence[int] | Numbers = NOTHING,
    notes: tuple[str, ...] = (), bounded: Bounded | None = None, unit: float = 1.0,
) -> Ranking:  # fmt: skip
    """The n best but for those hidden; with bounds, how many of them are certain. Scores count in `unit`s."""
    order = _best_first(scores, n if bounded is None else len(scores), hidden)
    places = order[:n]
    with np.errstate(over="ignore", invalid="ignore"):
        shown = scores[places] if unit == 1.0 else scores[places] * scores.dtype.type(unit)
    ranking = Ranking(title, names.labels(places), shown, places, notes=notes)
    if bounded is None:
        return ranking
    rest = bounded.upper[order[n:]].max(initial=-np.inf)
    return replace(
        ranking,
        lower=bounded.lower[places] * unit,
        upper=bounded.upper[places] * unit,
        proved=min(proved_places(order, bounded), len(places)),
        settled=bool(bounded.lower[places].min(initial=np.inf) > rest),
    )


def _best_first(scores: Numbers, n: int, hidden: Sequence[int] | Numbers) -> Numbers:
    """The places of the n best, best first; NaN is worst. Only what reaches the n-th best score is sorted."""
    allowed = np.where(np.isnan(scores), -np.inf, scores)
    allowed[hidden] = -np.inf
    worst = np.partition(allowed, len(allowed) - n)[len(allowed) - n] if 0 < n < len(allowed) else -np.inf
    reach = np.flatnonzero(allowed >= worst)
    order = reach[np.argsort(-allowed[reach], kind="stable")][:n]
    return order[allowed[order] > -np.inf]


def strongest(title: str, weights: Numbers, n: int, names: Names) -> Ranking:
    """The n largest in modulus, with their signs; zeros, and what rounding made of zeros, are left out."""
    sizes = np.abs(weights)
    order = np.argsort(-sizes, kind="stable")[:n]
    order = order[sizes[order] > 64 * float(np.finfo(weights.dtype).eps) * float(sizes.max(initial=0.0))]
    return Ranking(title, names.labels(order), weights[order], order)


def nothing(title: str, notes: tuple[str, ...]) -> Ranking:
    """No hits, and why."""
    return Ranking(title, (), np.zeros(0), np.zeros(0, np.int64), notes=tuple(dict.fromkeys(notes)))


def directions(vectors: Numbers, rounding: Numbers | float) -> Numbers:
    """The rows of `vectors` at length 1; those no longer than their rounding become 0."""
    lengths = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))
    divisor = np.where(lengths > rounding, lengths, np.inf).astype(vectors.dtype)
    return np.asarray(vectors / divisor[:, None])
