"""From the scores of one query to a ranking: best first, ties in the original order."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from eckart.arrays import Array, from_numpy, is_numpy, namespace, to_numpy
from eckart.concept_space.best import Numbers
from eckart.concept_space.names import Names
from eckart.concept_space.proof import Bounded, proved_indices
from eckart.concept_space.results import Ranking
from eckart.concept_space.vectors import row_squares

if TYPE_CHECKING:
    from collections.abc import Sequence


NOTHING = np.zeros(0, np.int64)


def ranked(
    title: str, scores: Array, n: int, names: Names, *, hidden: Sequence[int] | Numbers = NOTHING,
    notes: tuple[str, ...] = (), bounded: Bounded | None = None, unit: float = 1.0,
) -> Ranking:  # fmt: skip
    """The n best except those hidden; with bounds, how many of them are certain. Scores are in units of unit^2."""
    if not is_numpy(scores):
        if bounded is None:
            return _from_device(title, scores, n, names, hidden, notes, unit)
        scores = to_numpy(scores)
    order = _best_first(scores, n if bounded is None else len(scores), hidden)
    indices = order[:n]
    with np.errstate(over="ignore", invalid="ignore"):
        shown = _in_units(scores[indices], unit)
    ranking = Ranking(title, names.labels(indices), shown, indices, notes=notes)
    if bounded is None:
        return ranking
    candidates = _with_unordered(order, len(scores), hidden)
    rest = bounded.upper[candidates[len(indices) :]].max(initial=-np.inf)
    return replace(
        ranking,
        lower=_in_units(bounded.lower[indices], unit, -np.inf),
        upper=_in_units(bounded.upper[indices], unit, np.inf),
        proved=min(proved_indices(candidates, bounded), len(indices)),
        set_proved=bool(bounded.lower[indices].min(initial=np.inf) > rest),
    )


def _with_unordered(order: Numbers, count: int, hidden: Sequence[int] | Numbers) -> Numbers:
    """The order, and after it the candidates without a score, because it overflowed: they may be the best."""
    there = np.ones(count, bool)
    there[hidden] = there[order] = False
    return np.concatenate([order, np.flatnonzero(there)])


def _in_units(numbers: Numbers, unit: float, away: float | None = None) -> Numbers:
    """Numbers times unit^2, which may itself be out of range; bounds are rounded `away` from the true number."""
    if unit == 1.0:
        return numbers
    with np.errstate(over="ignore", under="ignore"):
        product = numbers * numbers.dtype.type(unit) * numbers.dtype.type(unit)
        return product if away is None else np.nextafter(product, away)


def _from_device(
    title: str,
    scores: Array,
    n: int,
    names: Names,
    hidden: Sequence[int] | Numbers,
    notes: tuple[str, ...],
    unit: float,
) -> Ranking:
    """The same for scores on a device: only those that can be among the n best are copied to the host."""
    xp = namespace(scores)
    scores = xp.where(xp.isnan(scores), xp.full_like(scores, -np.inf), scores)
    most = min(n + len(hidden), int(scores.shape[0]))
    worst = float(xp.sort(scores)[int(scores.shape[0]) - most]) if most else np.inf
    reach = xp.nonzero(scores >= worst)[0]
    indices, found = to_numpy(reach), to_numpy(xp.take(scores, reach, axis=0))
    order = _best_first(found, n, np.flatnonzero(np.isin(indices, np.asarray(hidden, np.int64))))
    with np.errstate(over="ignore", invalid="ignore"):
        shown = _in_units(found[order], unit)
    return Ranking(title, names.labels(indices[order]), shown, indices[order], notes=notes)


def _best_first(scores: Numbers, n: int, hidden: Sequence[int] | Numbers) -> Numbers:
    """The indices of the n best, best first; NaN is worst. Only scores that reach the n-th best are sorted."""
    allowed = np.where(np.isnan(scores), -np.inf, scores)
    allowed[hidden] = -np.inf
    worst = np.partition(allowed, len(allowed) - n)[len(allowed) - n] if 0 < n < len(allowed) else -np.inf
    reach = np.flatnonzero(allowed >= worst)
    order = reach[np.argsort(-allowed[reach], kind="stable")][:n]
    return order[allowed[order] > -np.inf]


def strongest(title: str, weights: Numbers, n: int, names: Names) -> Ranking:
    """The n entries of largest modulus, with their signs, without zeros and rounding errors."""
    sizes = np.abs(weights)
    # Equal weights keep their order, regardless of rounding.
    digits = 5 if weights.dtype == np.float32 else 12
    order = np.argsort(-np.round(sizes / (float(sizes.max(initial=0.0)) or 1.0), digits), kind="stable")[:n]
    order = order[sizes[order] > 64 * float(np.finfo(weights.dtype).eps) * float(sizes.max(initial=0.0))]
    return Ranking(title, names.labels(order), weights[order], order)


def nothing(title: str, notes: tuple[str, ...]) -> Ranking:
    """No hits, and why."""
    return Ranking(title, (), np.zeros(0), np.zeros(0, np.int64), notes=tuple(dict.fromkeys(notes)))


def directions(vectors: Array, rounding: Numbers | float) -> Array:
    """The rows of `vectors` scaled to length 1; rows no longer than their rounding become 0."""
    lengths = np.sqrt(row_squares(vectors))
    divisor = np.where(lengths > rounding, lengths, np.inf).astype(lengths.dtype)
    return vectors / from_numpy(divisor, vectors)[:, None]
