"""Rows, columns and categories that took no part in the fit, placed on its axes.

Rows: (x - mean) / scale right. Columns: correlations with the scores. Categories: means of the scores of their rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from eckart.array_api import Array, astype, from_numpy, namespace
from eckart.decomposition import Decomposition
from eckart.errors import InputError, ParameterError
from eckart.operators.base import Operator
from eckart.operators.measured import image_and_squares
from eckart.operators.open_matrix import open_matrix
from eckart.operators.row_blocks import RowBlocks
from eckart.operators.transformed import Centered, Scaled
from eckart.verbs import project
from eckart.views.measures import (
    check_centred,
    check_orthogonal,
    complete,
    floats,
    living,
    ratio,
    row_scores,
    row_weights,
)
from eckart.views.table import Table
from eckart.views.words import axis_labels

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Matrix = NDArray[np.float64]


def rows(d: Decomposition, data: Any) -> Table:
    """Coordinates of other rows, their distance from the centre, what the axes show of them, T2 and Q. One read.

    Parameters
    ----------
    d : Decomposition
        PCA or SVD.
    data : array, sparse matrix, data frame or path
        As many columns as were fitted.

    Examples
    --------
    >>> import eckart as ek
    >>> arrests = ek.datasets.load("usarrests").values
    >>> d = ek.decompose(arrests[:40], k=2, scale=True)
    >>> ek.supplementary.rows(d, arrests[40:]).columns
    ('row', 'PC1', 'PC2', 'distance', 'quality', 'T2', 'Q')
    """
    check_orthogonal(d, "Distances of other rows from the axes")
    scores, squares, names = _measured(d, data)
    alive = living(d)
    inside = (scores**2).sum(axis=1)
    squares = np.maximum(squares, inside)
    t2 = (scores[:, alive] ** 2 / floats(d.variances)[alive]).sum(axis=1)
    columns = ("row", *axis_labels(d), "distance", "quality", "T2", "Q")
    numbers = np.column_stack([scores, np.sqrt(squares), ratio(inside, squares), t2, squares - inside])
    kinds = ("text", *("number",) * (d.k + 1), "percent", "number", "number")
    caption = "Rows that took no part in the fit; quality is what the axes show of a row."
    return Table("Supplementary rows", columns, _lines(names, numbers), caption, kinds)


def row_cos2(d: Decomposition, data: Any) -> Table:
    """Squared cosines of other rows with the axes: t_k^2 / ||x||^2."""
    check_orthogonal(d, "Squared cosines")
    scores, squares, names = _measured(d, data)
    cosines = ratio(scores**2, np.maximum(squares, (scores**2).sum(axis=1))[:, None])
    caption = "Squared cosine between each row and each axis; 1 means that the axis shows all of the row."
    return Table("Squared cosines of supplementary rows", ("row", *axis_labels(d)), _lines(names, cosines), caption)


def columns(d: Decomposition, data: Any) -> Table:
    """Correlation of other columns with the scores on each axis, and the share of each column that the axes show.

    Parameters
    ----------
    d : Decomposition
        With left vectors.
    data : mapping of names to numbers, data frame, or array of shape (rows, columns)
        One number for each row that was fitted. Rows without a number are left out of that column's correlations.

    Examples
    --------
    >>> import eckart as ek
    >>> arrests = ek.datasets.load("usarrests").values
    >>> d = ek.decompose(arrests[:, [0, 1, 3]], k=2, scale=True, left=True)
    >>> print(ek.supplementary.columns(d, {"UrbanPop": arrests[:, 2]}).text(), end="")
    Supplementary columns
    <BLANKLINE>
    column       PC1     PC2    shown
    --------  ------  ------  -------
    UrbanPop  0.2733  0.3604  20.46 %
    Correlation of each column with the scores on each axis; 'shown' is the share of
    its variance that the axes foretell.
    """
    check_centred(d)
    names, numbers = _columns_of(data)
    _check_rows(d, len(numbers))
    scores, weights, alive = row_scores(d), row_weights(d), living(d)
    found = np.array([_correlations(column, scores, weights, alive) for column in numbers.T])
    caption = "Correlation of each column with the scores on each axis; 'shown' is the share of its variance that the "
    caption += "axes foretell."
    gaps = int(np.isnan(numbers).sum())
    caption += f" {gaps:,} missing numbers were left out." if gaps else ""
    kinds = ("text", *("number",) * d.k, "percent")
    lines = _lines(names, np.column_stack([found, (found**2).sum(axis=1)]))
    return Table("Supplementary columns", ("column", *axis_labels(d), "shown"), lines, caption, kinds)


def categories(d: Decomposition, labels: Sequence[Any]) -> Table:
    """Where the rows of each category lie in the middle, and how surprising that is: count, means of scores, v-tests.

    v = mean / sqrt(variance (n - m) / (m (n - 1))) for m of n rows: beyond 2 in size when rows drawn at random would
    hardly lie so far out.
    """
    found = _grouped(d, labels)
    words, counts, means = found.words, found.counts, found.means
    alive = living(d) if d.mean is not None else np.zeros(d.k, bool)
    tests = np.full(means.shape, np.nan)
    total = found.weights.sum()
    spread = floats(d.values) ** 2 / total
    if total > 1 and len(words) > 1:
        share = (total - counts) / (counts * (total - 1))
        tests[:, alive] = means[:, alive] / np.sqrt(spread[alive] * share[:, None])
    axes = axis_labels(d)
    caption = "Means of the scores of each category's rows; v-tests beyond 2 in size are more than chance (at 5 %)."
    lengths = np.sqrt((means**2).sum(axis=1)) if complete(d) else np.full(len(words), np.nan)
    numbers = np.column_stack([counts, means, tests, lengths])
    header = ("category", "rows", *axes, *(f"v-test {axis}" for axis in axes), "distance")
    return Table("Supplementary categories", header, _lines(words, numbers), caption)


def category_cos2(d: Decomposition, labels: Sequence[Any]) -> Table:
    """Squared cosines of the categories' middles with the axes; all axes must have been kept."""
    check_orthogonal(d, "Squared cosines")
    if not complete(d):
        message = f"The {d.k} axes do not hold all of the variance, so the whole distance of a category is not known. "
        raise ParameterError(message + "Keep every axis.")
    found = _grouped(d, labels)
    squares = found.means**2
    lines = _lines(found.words, ratio(squares, squares.sum(axis=1, keepdims=True)))
    caption = "Squared cosine between each category's middle and each axis."
    return Table("Squared cosines of categories", ("category", *axis_labels(d)), lines, caption)


def association(d: Decomposition, labels: Sequence[Any]) -> Table:
    """How much of each axis a category explains: eta2 = variance between the categories / variance, and its F-test."""
    from scipy.special import fdtrc

    check_centred(d)
    found = _grouped(d, labels)
    eta = ratio(found.counts @ found.means**2, np.asarray(found.weights @ found.scores**2))
    between, within = len(found.words) - 1, found.weights.sum() - len(found.words)
    with np.errstate(divide="ignore"):
        f = eta / np.maximum(1 - eta, 0.0) * (within / max(between, 1))
    p = fdtrc(between, within, f) if between > 0 and within > 0 else np.full(d.k, np.nan)
    lines = _lines(axis_labels(d), np.column_stack([eta, f, p]))
    kinds = ("text", "number", "number", "chance")
    caption = f"{len(found.words)} categories; p from F with {between} and {within:g} degrees."
    return Table("Axes and categories", ("axis", "eta2", "F", "p"), lines, caption, kinds)


def _measured(d: Decomposition, data: Any) -> tuple[Matrix, Matrix, tuple[str, ...]]:
    """Scores and whole squared lengths of other rows in one read, and their names."""
    opened = open_matrix(data)
    count = opened.matrix.shape[0]
    names = opened.about.row_names or tuple(str(i + 1) for i in range(count))
    if opened.matrix.shape[1] != d.columns:
        project(d, data)  # refuses them in its own words
    pieces = [(0, opened.matrix)] if opened.matrix.resident else opened.matrix.pieces()
    found = [_image(d, piece, opened.exponent) for _, piece in pieces]
    return np.concatenate([part[0] for part in found]), np.concatenate([part[1] for part in found]), names


def _image(d: Decomposition, matrix: RowBlocks, exponent: int) -> tuple[Matrix, Matrix]:
    """(A - mean) / scale right and the squared lengths of its rows, of A held as 2^exponent A."""
    matrix = matrix.precise()
    if not matrix.sparse:  # coordinates in float64 too: Q is a difference
        matrix = replace(matrix, matrix=astype(matrix.matrix, namespace(matrix.like).float64))

    def beside(numbers: Array | np.ndarray, power: int = 0) -> Array:
        return from_numpy(np.ldexp(floats(numbers), power), matrix.like)

    operator: Operator = matrix
    if d.mean is not None and matrix.sparse:
        count = matrix.shape[0]
        operator = Centered(matrix, np.ones(count), beside(d.mean, exponent), np.zeros(0), float(count))
    elif d.mean is not None:
        operator = matrix.shifted(beside(d.mean, exponent))
    if d.scale is not None or exponent:
        operator = Scaled(operator, beside(np.ones(d.columns) if d.scale is None else d.scale, exponent))
    image, squares = image_and_squares(operator, beside(d.right), across=False)
    return floats(image), squares


def _columns_of(data: Any) -> tuple[tuple[str, ...], Matrix]:
    """Names and numbers, rows x columns, of a mapping, a frame or an array; gaps are NaN."""
    if isinstance(data, Mapping):
        names, parts = tuple(str(name) for name in data), [_numbers(data[name], str(name)) for name in data]
    elif hasattr(data, "columns"):
        names = tuple(str(name) for name in data.columns)
        parts = [_numbers(data[name], str(name)) for name in data.columns]
    else:
        array = np.asarray(data)
        array = array[:, None] if array.ndim == 1 else array
        names = tuple(f"s{j + 1}" for j in range(array.shape[1]))
        parts = [_numbers(array[:, j], name) for j, name in enumerate(names)]
    if not parts or len({len(part) for part in parts}) != 1:
        raise InputError("Supplementary columns must be one or more, all of the same length: one number for each row.")
    return names, np.column_stack(parts)


def _numbers(values: Any, name: str) -> Matrix:
    try:
        return np.asarray(values, dtype=np.float64).ravel()
    except (TypeError, ValueError) as error:
        message = f"The supplementary column {name!r} holds something that is not a number: {error}. "
        raise InputError(message + "Place words with eckart.supplementary.categories.") from error


def _check_rows(d: Decomposition, count: int) -> None:
    if count != d.rows:
        message = f"{count:,} rows were given, and the decomposition was made of {d.rows:,}. "
        raise InputError(message + "Give one entry for each row that was fitted (those of weight 0 were not).")


def _correlations(column: Matrix, scores: Matrix, weights: Matrix, alive: NDArray[np.bool_]) -> Matrix:
    """Weighted correlations of a column with the scores, over the rows where it has a number."""
    there = np.isfinite(column)
    w, x, t = weights[there], column[there], scores[there]
    if w.sum() == 0:
        return np.full(len(alive), np.nan)
    x, t = x - w @ x / w.sum(), t - w @ t / w.sum()
    if float(w @ x**2) <= w.sum() * (1e-14 * float(np.abs(column[there]).max())) ** 2:
        return np.full(len(alive), np.nan)
    length = np.sqrt((w @ x**2) * (w @ t**2))
    return np.where(alive, np.clip(ratio((w * x) @ t, length), -1.0, 1.0), 0.0)


@dataclass(frozen=True)
class _Categories:
    """Words, and over the rows of each the sum of the weights and the means of the scores."""

    words: tuple[str, ...]
    counts: Matrix
    means: Matrix
    scores: Matrix
    weights: Matrix


def _grouped(d: Decomposition, labels: Sequence[Any]) -> _Categories:
    """Rows by their words; rows without a word are in none."""
    given = [None if word is None or word != word else str(word) for word in labels]
    _check_rows(d, len(given))
    words = tuple(sorted({word for word in given if word is not None}))
    if not words:
        raise InputError("Every category is missing: give a word for each row.")
    codes = {word: i for i, word in enumerate(words)}
    place = np.array([len(words) if word is None else codes[word] for word in given])
    scores, weights = row_scores(d), row_weights(d)

    def sums(numbers: Matrix) -> Matrix:
        return np.bincount(place, numbers, minlength=len(words) + 1)[:-1]

    counts = sums(weights)
    means = np.column_stack([sums(weights * column) / counts for column in scores.T])
    return _Categories(words, counts, means, scores, weights)


def _lines(names: Sequence[str], numbers: Matrix) -> tuple[tuple[Any, ...], ...]:
    return tuple((name, *line) for name, line in zip(names, numbers.tolist(), strict=True))
