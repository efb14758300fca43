"""Categories: means of the scores of their rows, and how surprising those are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from eckart.analysis.labels import component_labels
from eckart.analysis.measures import (
    check_orthogonal,
    complete,
    living,
    ratio,
    row_scores,
    row_weights,
)
from eckart.analysis.supplementary.lines import check_rows, named_lines
from eckart.errors import InputError, ParameterError
from eckart.fitted import takes_fitted
from eckart.result import Decomposition
from eckart.text import Table

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Matrix = NDArray[np.float64]


@takes_fitted
def categories(d: Decomposition, labels: Sequence[Any]) -> Table:
    """Where the rows of each category lie in the middle, and how surprising that is: count, means of scores, v-tests.

    v = (mean - mean of all) / sqrt(variance (n - m) / (m (n - 1))) for m of n rows: beyond 2 in size when rows drawn at
    random would hardly lie so far out.
    """
    found = _grouped(d, labels)
    words, counts, means = found.words, found.counts, found.means
    alive = living(d)
    tests = np.full(means.shape, np.nan)
    scores, weights = row_scores(d), row_weights(d)
    total = weights.sum()
    middle = weights @ scores / total
    spread = weights @ (scores - middle) ** 2 / total
    if total > 1 and len(words) > 1:
        share = (total - counts) / (counts * (total - 1))
        tests[:, alive] = (means - middle)[:, alive] / np.sqrt(spread[alive] * share[:, None])
    components = component_labels(d)
    caption = "Means of the scores of each category's rows; v-tests beyond 2 in size are more than chance (at 5 %)."
    lengths = np.sqrt((means**2).sum(axis=1)) if complete(d) else np.full(len(words), np.nan)
    numbers = np.column_stack([counts, means, tests, lengths])
    header = ("category", "rows", *components, *(f"v-test {component}" for component in components), "distance")
    return Table("Supplementary categories", header, named_lines(words, numbers), caption)


@takes_fitted
def category_cos2(d: Decomposition, labels: Sequence[Any]) -> Table:
    """Squared cosines of the categories' middles with the axes; all axes must have been kept."""
    check_orthogonal(d, "Squared cosines")
    if not complete(d):
        message = f"The {d.k} axes do not hold all of the variance, so the whole distance of a category is not known. "
        raise ParameterError(message + "Keep every axis.")
    found = _grouped(d, labels)
    squares = found.means**2
    lines = named_lines(found.words, ratio(squares, squares.sum(axis=1, keepdims=True)))
    caption = "Squared cosine between each category's middle and each axis."
    return Table("Squared cosines of categories", ("category", *component_labels(d)), lines, caption)


@takes_fitted
def association(d: Decomposition, labels: Sequence[Any]) -> Table:
    """How much of each axis a category explains: eta2 = variance between the categories / variance, and its F-test."""
    from scipy.special import fdtrc

    found = _grouped(d, labels)
    scores, weights = row_scores(d)[found.there], row_weights(d)[found.there]
    middle = weights @ scores / weights.sum()
    eta = ratio(found.counts @ (found.means - middle) ** 2, np.asarray(weights @ (scores - middle) ** 2))
    between, within = len(found.words) - 1, weights.sum() - len(found.words)
    with np.errstate(divide="ignore"):
        f = eta / np.maximum(1 - eta, 0.0) * (within / max(between, 1))
    p = fdtrc(between, within, f) if between > 0 and within > 0 else np.full(d.k, np.nan)
    lines = named_lines(component_labels(d), np.column_stack([eta, f, p]))
    kinds = ("text", "number", "number", "chance")
    caption = f"{len(found.words)} categories; p from F with {between} and {within:g} degrees."
    return Table("Axes and categories", ("component", "eta2", "F", "p"), lines, caption, kinds)


@dataclass(frozen=True)
class _Categories:
    """Words, and over the rows of each the sum of the weights and the means of the scores."""

    words: tuple[str, ...]
    counts: Matrix
    means: Matrix
    there: NDArray[np.bool_]
    """Which rows have a word."""


def _grouped(d: Decomposition, labels: Sequence[Any]) -> _Categories:
    """Rows by their words; rows without a word are in none."""
    given = [None if word is None or word != word else str(word) for word in labels]
    check_rows(d, len(given))
    words = tuple(sorted({word for word in given if word is not None}))
    if not words:
        raise InputError("Every category is missing: give a word for each row.")
    codes = {word: i for i, word in enumerate(words)}
    place = np.array([len(words) if word is None else codes[word] for word in given])
    scores, weights = row_scores(d), row_weights(d)

    def sums(numbers: Matrix) -> Matrix:
        return np.bincount(place, numbers, minlength=len(words) + 1)[:-1].astype(np.float64)

    counts = sums(weights)
    means = np.column_stack([sums(weights * column) / counts for column in scores.T])
    return _Categories(words, counts, means, place < len(words))
