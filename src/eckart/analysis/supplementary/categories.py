"""Categories: mean scores of their rows, and a test of each mean."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from eckart.analysis.labels import category_name, component_labels
from eckart.analysis.measures import (
    check_orthogonal,
    check_rows,
    complete,
    named_lines,
    nonzero_components,
    ratio,
    row_scores,
    row_weights,
)
from eckart.arrays import Floats
from eckart.errors import InputError, ParameterError
from eckart.fitted import takes_fitted
from eckart.formatting import counted
from eckart.result import Decomposition
from eckart.text import Table

if TYPE_CHECKING:
    from numpy.typing import NDArray


@takes_fitted
def categories(d: Decomposition, labels: Sequence[object]) -> Table:
    """Compute the mean scores of the rows of each category.

    {Parameters: d [with rows], labels; Returns: Table}
        Number of rows, mean scores, v-tests and distance from the centre of each category.

    Raises
    ------
    {ParameterError [left vectors]}
    InputError
        If no row has a category.

    {See Also: association, category_cos2}

    Notes
    -----
    A v-test compares the mean score of a category with that of all rows. For a category of m among n rows, v = (mean -
    overall mean) / sqrt(variance (n - m) / (m (n - 1))). If the m rows were chosen at random, an absolute value above 2
    would be unlikely.

    {Examples: arrests}
    >>> south = ["south" if name in ("Alabama", "Georgia", "Texas") else "other" for name in arrests.row_names]
    >>> [row[:2] for row in ek.supplementary.categories(d, south).rows]
    [('other', 47.0), ('south', 3.0)]
    """
    found = _grouped(d, labels)
    words, counts, means = found.words, found.counts, found.means
    nonzero = nonzero_components(d)
    tests = np.full(means.shape, np.nan)
    scores, weights = row_scores(d), row_weights(d)
    total = weights.sum()
    middle = weights @ scores / total
    spread = weights @ (scores - middle) ** 2 / total
    if total > 1 and len(words) > 1:
        share = (total - counts) / (counts * (total - 1))
        tests[:, nonzero] = (means - middle)[:, nonzero] / np.sqrt(spread[nonzero] * share[:, None])
    components = component_labels(d)
    caption = (
        "Mean scores of the rows in each category. A v-test above 2 in absolute value is significant at the 5 % level."
    )
    lengths = np.sqrt((means**2).sum(axis=1)) if complete(d) else np.full(len(words), np.nan)
    numbers = np.column_stack([counts, means, tests, lengths])
    header = ("category", "rows", *components, *(f"v-test {component}" for component in components), "distance")
    return Table("Supplementary categories", header, named_lines(words, numbers), caption)


@takes_fitted
def category_cos2(d: Decomposition, labels: Sequence[object]) -> Table:
    """Tabulate how well each component represents each category.

    {Parameters: d [with rows], labels; Returns: Table}
        Squared cosines of the category means.

    Raises
    ------
    ParameterError
        If not all components were kept.

    {See Also: categories}

    Examples
    --------
    >>> import eckart as ek
    >>> d = ek.decompose([[1.0, 2.0], [2.0, 1.0], [3.0, 5.0], [4.0, 4.0]], left=True)
    >>> [round(float(cell), 3) for cell in ek.supplementary.category_cos2(d, ["a", "a", "b", "b"]).rows[0][1:]]
    [0.999, 0.001]
    """
    check_orthogonal(d, "Squared cosines")
    if not complete(d):
        message = (
            "The components do not explain all of the variance, so the distances of the categories "
            "from the mean are unknown. "
        )
        raise ParameterError(message + "Decompose again with all components.")
    found = _grouped(d, labels)
    squares = found.means**2
    lines = named_lines(found.words, ratio(squares, squares.sum(axis=1, keepdims=True)))
    caption = "Squared cosine between the mean of each category and each component."
    return Table("Squared cosines of categories", ("category", *component_labels(d)), lines, caption)


@takes_fitted
def association(d: Decomposition, labels: Sequence[object]) -> Table:
    """Test how much of the variance of each component the categories explain.

    {Parameters: d [with rows], labels; Returns: Table}
        One row per component: eta2 (variance between categories divided by total variance), F statistic and p-value.
        They are NaN for a component without variance. F and p are NaN if there is only one category, or no more rows
        than categories.

    {Raises: ParameterError [left vectors]; See Also: categories}

    {Examples: arrests}
    >>> south = ["south" if name in ("Alabama", "Georgia", "Texas") else "other" for name in arrests.row_names]
    >>> [round(float(cell), 3) for cell in ek.supplementary.association(d, south).rows[1][1:]]
    [0.029, 1.416, 0.24]
    """
    from scipy.special import fdtrc

    found = _grouped(d, labels)
    scores, weights = row_scores(d)[found.there], row_weights(d)[found.there]
    middle = weights @ scores / weights.sum()
    eta = ratio(found.counts @ (found.means - middle) ** 2, np.asarray(weights @ (scores - middle) ** 2))
    eta[~nonzero_components(d)] = np.nan  # scores that are rounding errors
    between, within = len(found.words) - 1, weights.sum() - len(found.words)
    words = counted(len(found.words), "category", "categories")
    if between > 0 and within > 0:
        with np.errstate(divide="ignore"):
            f = eta / np.maximum(1 - eta, 0.0) * (within / between)
        p = fdtrc(between, within, f)
        caption = f"{words}; p-values come from the F distribution with {between} and {within:g} degrees of freedom."
    else:
        f = p = np.full(d.k, np.nan)
        caption = f"{words}; an F test needs at least 2 categories, and more rows than categories."
    lines = named_lines(component_labels(d), np.column_stack([eta, f, p]))
    kinds = ("text", "number", "number", "chance")
    return Table("Components and categories", ("component", "eta2", "F", "p"), lines, caption, kinds)


@dataclass(frozen=True)
class _Categories:
    """Category names, and for each category the sum of the weights and the mean scores."""

    words: tuple[str, ...]
    counts: Floats
    means: Floats
    there: NDArray[np.bool_]
    """Mask of the rows that have a label."""


def _grouped(d: Decomposition, labels: Sequence[object]) -> _Categories:
    """Rows by category; rows without a category are in none."""
    given = [category_name(label) for label in labels]
    check_rows(d, len(given))
    words = tuple(sorted({word for word in given if word is not None}))
    if not words:
        raise InputError("Every category label is missing. Pass one label for each row.")
    codes = {word: i for i, word in enumerate(words)}
    place = np.array([len(words) if word is None else codes[word] for word in given])
    scores, weights = row_scores(d), row_weights(d)

    def sums(numbers: Floats) -> Floats:
        return np.bincount(place, numbers, minlength=len(words) + 1)[:-1].astype(np.float64)

    counts = sums(weights)
    means = np.column_stack([sums(weights * column) / counts for column in scores.T])
    return _Categories(words, counts, means, place < len(words))
