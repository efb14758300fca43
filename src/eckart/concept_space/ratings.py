"""Ratings: predictions for the unknown entries of a table of ratings, from the known entries only.

r_ij ~ m + b_i + c_j + p_i . q_j: the mean, a bias of each row and of each column, and k concepts. All are fitted to the
known entries alone by alternating ridge regressions: first mean and biases with the penalty a (sum b^2 + sum c^2), then
the concepts with the penalty c (sum n_i |p_i|^2 + sum n_j |q_j|^2), n the number of known entries (Koren, Bell and
Volinsky, 2009; Zhou et al., 2008). Both penalties are those that predict a tenth of the known entries best from the
others.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from eckart.arrays import is_array, is_sparse, to_numpy
from eckart.concept_space.names import Names
from eckart.concept_space.ranking import ranked
from eckart.concept_space.results import Ranking
from eckart.documentation import document
from eckart.engine.settings import generator
from eckart.errors import InputError
from eckart.estimators.sklearn_base import BaseEstimator
from eckart.formatting import counted
from eckart.io.entries.rating_lines import rating_lines
from eckart.io.open_data import open_with
from eckart.options import check_count, check_fraction

Entries = tuple[np.ndarray, np.ndarray, np.ndarray]
"""Rows, columns and values of the known entries."""

_STEPS = 10
_BIAS_STEPS = 10
_BIAS_PENALTIES = (0.1, 1.0, 5.0, 20.0, 100.0, 1000.0)
_PENALTIES = (0.03, 0.1, 0.3, 1.0, 10.0)
_HELD_OUT = 0.1
_FEWEST = 30
"""With fewer known entries no penalty is compared: the middle ones are used."""


@dataclass(frozen=True)
class RatingScore:
    """Errors on held-out entries: root mean square and mean absolute, of the model and of the fallback."""

    rmse: float
    mae: float
    rmse_of_biases: float
    """The same with mean and biases only, the fallback for rows and columns without known entries."""
    rmse_of_mean: float
    held_out: int
    cold: int
    """Held-out entries whose row or column has no other known entry."""
    note: str = ""
    """How repeated ratings of the same row and column were treated. Empty if there are none."""

    def __str__(self) -> str:
        cold = counted(self.cold, "rating is", "ratings are")
        cold = f" Of the held-out ratings, {cold} in a row or column without other ratings." if self.cold else ""
        note = f" {self.note}" if self.note else ""
        return (
            f"On {counted(self.held_out, 'held-out rating')}, the root mean square error is "
            f"{self.rmse:.4f} (row and column means only: {self.rmse_of_biases:.4f}; overall mean "
            f"only: {self.rmse_of_mean:.4f}).{cold}{note}"
        )


class Ratings(BaseEstimator):
    """Predict the unknown entries of a table of ratings from the known ones.

    Parameters
    ----------
    n_components : int, default: 5
        Number of concepts.
    penalty : float, optional
        Penalty on biases and concepts. Larger values shrink them more towards 0. By default, the model chooses one
        penalty for biases and one for concepts, by their error on held-out entries (see `penalties_`).
    rng : int, optional
        Seed for the random start.

    Attributes
    ----------
    mean_ : float
        Mean of the known entries.
    penalties_ : tuple of float
        Penalty of the biases and penalty of the concepts.
    row_bias_ : numpy.ndarray
        Bias of each row; 0 for a row without known entries.
    column_bias_ : numpy.ndarray
        Bias of each column; 0 for a column without known entries.
    row_factors_ : numpy.ndarray of shape (n_rows, n_components)
        Coordinates of the rows.
    column_factors_ : numpy.ndarray of shape (n_columns, n_components)
        Coordinates of the columns.
    row_names_ : tuple of str or None
        Names of the rows, if the table has them.
    column_names_ : tuple of str or None
        Names of the columns, if the table has them.
    note_ : str
        How repeated ratings of the same row and column were treated. Empty if there are none.

    See Also
    --------
    concepts : Concepts of a complete table, in which 0 means no rating.
    fill_missing : Impute missing measurements.

    Notes
    -----
    The prediction for row i and column j is m + b_i + c_j + p_i . q_j. Here m is the mean of all known entries, b_i and
    c_j are the biases of the row and the column, and p_i and q_j are their coordinates on the concepts. If a row or a
    column has no known entries, its bias and its coordinates are 0.

    References
    ----------
    Koren, Bell and Volinsky (2009), Matrix factorization techniques for recommender systems, Computer 42(8).

    Examples
    --------
    >>> import numpy as np, eckart as ek
    >>> table = np.array([[5, 4, np.nan], [4, np.nan, 1], [np.nan, 5, 2], [1, 2, 5.0]])
    >>> model = ek.Ratings(n_components=1, penalty=0.05, rng=0).fit(table)
    >>> round(model.predict(2, 0), 1)
    4.9
    >>> model.recommend(2, 1).indices
    array([0])
    """

    row_names_: tuple[str, ...] | None
    column_names_: tuple[str, ...] | None
    note_: str
    mean_: float
    row_bias_: np.ndarray
    column_bias_: np.ndarray
    row_factors_: np.ndarray
    column_factors_: np.ndarray
    penalties_: tuple[float, float]

    def __init__(self, n_components: int = 5, *, penalty: float | None = None, rng: int | None = None) -> None:
        self.n_components = n_components
        self.penalty = penalty
        self.rng = rng

    @document
    def fit(self, ratings: object, y: object = None) -> Ratings:
        """Fit a model to the known entries.

        Parameters
        ----------
        ratings : array, data frame, sparse matrix, path, or opened data
            A table with one row per user (or other object) and one column per item. Unknown entries are NaN or empty,
            or not stored in a sparse matrix. A table may also have one rating per line: row, column, rating and perhaps
            a time (``userId, movieId, rating, timestamp``). If a pair is rated several times, the latest rating counts,
            or the mean if there are no times.
        {y [ignored]}

        Returns
        -------
        Ratings
            The estimator itself.
        """
        known, shape, names, self.note_ = _sorted_known(ratings)
        self.row_names_, self.column_names_ = names
        self._fit(known, shape)
        return self

    @document
    def predict(self, row: int | str, column: int | str) -> float:
        """Predict one rating.

        Parameters
        ----------
        {row [rating]}
        {column [concept]}

        Returns
        -------
        float
            Predicted rating. If the row or the column has no known entries, the prediction uses only the overall mean
            and the bias that is known.
        """
        check_is_fitted(self)
        i, j = self._rows.place(row), self._columns.place(column)
        return float(self._predicted(np.array([i]), np.array([j]))[0])

    @document
    def recommend(self, row: int | str, n: int = 10) -> Ranking:
        """Recommend the columns with the highest predicted ratings among those that a row has not rated.

        {Parameters: row [rating], n [columns]; Returns: Ranking}
            Names and predicted ratings of the columns, best first.
        """
        check_is_fitted(self)
        check_count("n", n, None)
        place = self._rows.place(row)
        every = np.arange(self._columns.count)
        scores = self._predicted(np.full(len(every), place), every)
        rated = self._known[1][self._known[0] == place]
        notes: tuple[str, ...] = (self.note_,) if self.note_ else ()
        if not len(rated):
            notes += ("The row has no ratings, so the recommendations are the columns with the highest means.",)
        elif len(rated) == self._columns.count:
            notes += (
                f"Every column has a rating in this row, so nothing is left to recommend.{_zeros(self._known, place)}",
            )
        return ranked(f"Columns for {self._rows.label(place)}", scores, n, self._columns, hidden=rated, notes=notes)

    def evaluate(self, ratings: object, share: float = 0.2, *, rng: int | None = 0) -> RatingScore:
        """Measure the prediction error on held-out entries, without changing the fitted model.

        Parameters
        ----------
        ratings : array, data frame, sparse matrix, path, or opened data
            Ratings, in any of the forms that `fit` accepts.
        share : float, default: 0.2
            Share of the known entries that is held out.
        rng : int, optional
            Seed for choosing the held-out entries.

        Returns
        -------
        RatingScore
            Prediction errors of the model, of a model with only biases, and of the mean.
        """
        check_fraction("share", share)
        (rows, columns, values), shape, _, note = _sorted_known(ratings)
        _, random = generator(rng)
        held = random.random(len(values)) < share
        if not held.any() or held.all():
            raise InputError(
                f"There are only {len(values):,} known ratings, which is too few to hold out a share "
                f"of {share}. Use a table with more ratings."
            )
        trial = Ratings(self.n_components, penalty=self.penalty, rng=self.rng)
        trial._fit((rows[~held], columns[~held], values[~held]), shape)
        i, j, truth = rows[held], columns[held], values[held]
        model = truth - trial._predicted(i, j)
        biases = truth - (trial.mean_ + trial.row_bias_[i] + trial.column_bias_[j])
        cold = (np.bincount(rows[~held], minlength=shape[0])[i] == 0) | (
            np.bincount(columns[~held], minlength=shape[1])[j] == 0
        )
        return RatingScore(
            _rms(model), float(np.abs(model).mean()), _rms(biases), _rms(truth - trial.mean_), len(truth),
            int(cold.sum()), note,
        )  # fmt: skip

    def _fit(self, known: Entries, shape: tuple[int, int]) -> None:
        if not len(known[2]):
            raise InputError(
                "The table contains no ratings: all entries are empty or NaN. Use a table with at least one rating."
            )
        check_count("n_components", self.n_components, None)
        self._known = known
        if self.penalty is not None:
            self.penalties_ = (float(self.penalty), float(self.penalty))
        else:
            self.penalties_ = self._compared(known, shape)
        self._fit_penalized(known, shape)

    def _compared(self, known: Entries, shape: tuple[int, int]) -> tuple[float, float]:
        """The penalties with the smallest error on held-out entries: first for biases, then for concepts."""
        rows, columns, values = known
        _, random = generator(0)
        held = random.random(len(values)) < _HELD_OUT
        if len(values) < _FEWEST or not held.any():
            return _BIAS_PENALTIES[1], _PENALTIES[1]
        kept = (rows[~held], columns[~held], values[~held])
        trial = Ratings(self.n_components, rng=self.rng)

        def error(biases: float, concepts: float | None) -> float:
            trial.penalties_ = (biases, concepts or 0.0)
            trial._fit_penalized(kept, shape, concepts=concepts is not None)
            return _rms(values[held] - trial._predicted(rows[held], columns[held]))

        first = min(_BIAS_PENALTIES, key=lambda penalty: error(penalty, None))
        return first, min(_PENALTIES, key=lambda penalty: error(first, penalty))

    def _fit_penalized(self, known: Entries, shape: tuple[int, int], *, concepts: bool = True) -> None:
        rows, columns, values = known
        self.mean_ = float(values.mean())
        self.row_bias_, self.column_bias_ = self._biases(rows, columns, values - self.mean_, shape)
        rest = values - self.mean_ - self.row_bias_[rows] - self.column_bias_[columns]
        k = min(self.n_components, *shape)
        _, random = generator(self.rng)
        self.column_factors_ = 0.1 * random.standard_normal((shape[1], k))
        if not concepts:
            self.row_factors_ = np.zeros((shape[0], k))
            return
        by_row, by_column = _grouped(rows, shape[0]), _grouped(columns, shape[1])
        for _ in range(_STEPS):
            self.row_factors_ = self._regressed(by_row, columns, rest, self.column_factors_)
            self.column_factors_ = self._regressed(by_column, rows, rest, self.row_factors_)

    def _biases(
        self, rows: np.ndarray, columns: np.ndarray, values: np.ndarray, shape: tuple[int, int]
    ) -> tuple[np.ndarray, np.ndarray]:
        """Shrunken means of what the other bias leaves, alternately."""
        b, c = np.zeros(shape[0]), np.zeros(shape[1])
        n, m = np.bincount(rows, minlength=shape[0]), np.bincount(columns, minlength=shape[1])
        for _ in range(_BIAS_STEPS):
            c = np.bincount(columns, values - b[rows], minlength=shape[1]) / (m + self.penalties_[0])
            b = np.bincount(rows, values - c[columns], minlength=shape[0]) / (n + self.penalties_[0])
        return b, c

    def _regressed(
        self, groups: list[np.ndarray], others: np.ndarray, values: np.ndarray, factors: np.ndarray
    ) -> np.ndarray:
        """For each group of entries, the ridge regression of their values on the factors of the other side."""
        k = factors.shape[1]
        found = np.zeros((len(groups), k))
        eye = np.eye(k)
        for i, entries in enumerate(groups):
            if len(entries):
                q = factors[others[entries]]
                found[i] = np.linalg.solve(
                    q.T @ q + (self.penalties_[1] * len(entries) + 1e-9) * eye, q.T @ values[entries]
                )
        return found

    def _predicted(self, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        concepts = np.einsum("ij,ij->i", self.row_factors_[rows], self.column_factors_[columns])
        return np.asarray(self.mean_ + self.row_bias_[rows] + self.column_bias_[columns] + concepts)

    @property
    def _rows(self) -> Names:
        return Names("row", len(self.row_bias_), self.row_names_)

    @property
    def _columns(self) -> Names:
        return Names("column", len(self.column_bias_), self.column_names_)


def _zeros(known: Entries, row: int) -> str:
    """Advice for a full row: whether its zeros stand for unknown ratings, and what to do otherwise."""
    zeros = int((known[2][known[0] == row] == 0).sum())
    if not zeros or bool((known[2] < 0).any()):
        return " Leave cells of unknown ratings empty."
    have, them = ("is 0", "that cell") if zeros == 1 else ("are 0", "those cells")
    return f" {counted(zeros, 'rating')} in it {have}: if 0 means unknown, leave {them} empty."


def _sorted_known(ratings: object) -> tuple[Entries, tuple[int, int], tuple[Any, Any], str]:
    """The known entries by the name of their row: then the held-out ones do not depend on the order of the input."""
    (rows, columns, values), shape, names, note = _known(ratings)
    ranks = np.arange(shape[0])
    if names[0] is not None:
        ranks[np.argsort(np.asarray(names[0], str), kind="stable")] = np.arange(shape[0])
    order = np.lexsort((columns, ranks[rows]))
    return (rows[order], columns[order], values[order]), shape, names, note


def _known(ratings: object) -> tuple[Entries, tuple[int, int], tuple[Any, Any], str]:
    """Indices and values of the known entries, the shape, the names of rows and columns, and a note on repeats."""
    opened = open_with(ratings)
    metadata = getattr(opened, "metadata", None)
    names = (None, None) if metadata is None else (metadata.row_names, metadata.column_names)
    if is_array(opened) or is_sparse(opened):
        matrix = opened
    elif hasattr(opened, "matrix"):
        matrix = opened.matrix
    else:
        matrix = opened.read(0, opened.shape[0])
    shape = (int(matrix.shape[0]), int(matrix.shape[1]))
    if is_sparse(matrix):
        entries = matrix.tocoo()
        return (
            (entries.row.astype(np.intp), entries.col.astype(np.intp), entries.data.astype(np.float64)),
            shape,
            names,
            "",
        )
    table = to_numpy(matrix).astype(np.float64)
    if (lines := rating_lines(table, metadata)) is not None:
        size = (len(lines.row_names), len(lines.column_names))
        return (lines.rows, lines.columns, lines.values), size, (lines.row_names, lines.column_names), lines.note
    rows, columns = np.nonzero(~np.isnan(table))
    if not np.isfinite(table[rows, columns]).all():
        raise InputError("Some ratings are infinite. Use finite numbers, and NaN for unknown entries.")
    return (rows, columns, table[rows, columns]), shape, names, ""


def _grouped(places: np.ndarray, count: int) -> list[np.ndarray]:
    """The entries of each row (or column)."""
    order = np.argsort(places, kind="stable")
    return np.split(order, np.cumsum(np.bincount(places, minlength=count))[:-1])


def _rms(errors: np.ndarray) -> float:
    return float(np.sqrt((errors**2).mean()))
