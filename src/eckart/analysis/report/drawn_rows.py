"""Which rows the page draws, and statistics of all rows: strata along the first component, groups by label."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from eckart.aliases import JsonObject
from eckart.analysis.report.pack import packed
from eckart.arrays import Floats
from eckart.formatting import shorten

if TYPE_CHECKING:
    from numpy.typing import NDArray


MOST_ROWS = 20_000
_AT_EACH_END = 50
MOST_GROUPS = 8
_MOST_LABELS = 12
_MOST_DIFFERENT = 200


def drawn_rows(scores: Floats, most: int = MOST_ROWS) -> NDArray[np.intp]:
    """All rows, or both ends of every component and one random row from each of equal strata along the first."""
    rows, k = scores.shape
    if rows <= most or k == 0:
        return np.arange(min(rows, most))
    few = max(1, min(_AT_EACH_END, most // (4 * k)))
    ends = [np.argpartition(sign * scores[:, component], few)[:few] for component in range(k) for sign in (1, -1)]
    order = np.argsort(scores[:, 0], kind="stable")
    chosen = np.unique(np.concatenate(ends))
    bounds = np.linspace(0, rows, most - len(chosen) + 1).astype(np.intp)
    random = np.random.Generator(np.random.Philox(0))
    picked = bounds[:-1] + (random.random(len(bounds) - 1) * np.diff(bounds)).astype(np.intp)
    return np.union1d(chosen, order[picked])


def subset_sentence(rows: int, drawn: int) -> str:
    """What `drawn_rows` left out, in words; empty if nothing."""
    if drawn >= rows:
        return ""
    return (
        f"{drawn:,} of {rows:,} rows are shown: the extreme rows of every component, and a random "
        "sample (seed 0) stratified along the first component. Shares, errors, limits and ellipses "
        "are computed from all rows."
    )


def groups(labels: Mapping[str, Sequence[str]], scores: Floats, drawn: NDArray[np.intp]) -> list[JsonObject]:
    """For each text column with few different words: the group of each drawn row, and statistics of all rows."""
    found: list[JsonObject] = []
    for name, words in labels.items():
        if len(words) != len(scores) or len(found) == _MOST_LABELS:
            continue
        counts = Counter(words)
        if 2 <= len(counts) <= _MOST_DIFFERENT and len(counts) < len(words):
            found.append(_grouped(name, words, counts, scores, drawn))
    return found


def _grouped(
    name: str, words: Sequence[str], counts: Counter[str], scores: Floats, drawn: NDArray[np.intp]
) -> JsonObject:
    """The largest groups separately, the small ones together as 'others'."""
    kept = [word for word, _ in counts.most_common()]
    if len(kept) > MOST_GROUPS:
        kept = kept[: MOST_GROUPS - 1]
    place = {word: i for i, word in enumerate(kept)}
    codes = np.fromiter((place.get(word, len(kept)) for word in words), np.uint8, len(words))
    names = [shorten(word, 40) if word else "(empty)" for word in kept]
    if len(kept) < len(counts):
        names.append(f"others ({len(counts) - len(kept)} categories)")
    context = [{"name": shown, **_spread(scores[codes == i])} for i, shown in enumerate(names)]
    return {"name": shorten(name, 60), "groups": context, "codes": packed(codes[drawn])}


def _spread(scores: Floats) -> JsonObject:
    """Count, mean and covariance, from which the page draws a 95 % ellipse in any plane."""
    covariance = np.cov(scores, rowvar=False).reshape(scores.shape[1], -1) if len(scores) > 2 else None
    mean = scores.mean(axis=0) if len(scores) else np.zeros(scores.shape[1])
    return {
        "count": len(scores),
        "mean": short(mean),
        "covariance": None if covariance is None else [short(line) for line in covariance],
    }


def short(numbers: object) -> list[float | None]:
    """Six digits; None for values that are not finite."""
    return [float(f"{x:.6g}") if np.isfinite(x) else None for x in np.asarray(numbers, dtype=np.float64).tolist()]
