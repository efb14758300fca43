"""Concepts: queries, recommendations, likeness and explanations in the space of a decomposition."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np

from eckart.api import project, reconstruct
from eckart.arrays import Array, from_numpy, is_numpy, namespace, to_numpy
from eckart.concept_space import entries as given_as
from eckart.concept_space import proof as proofs
from eckart.concept_space.best import Best, Numbers, best, best_there
from eckart.concept_space.entries import Entries, Unknown
from eckart.concept_space.explanation import Explanation, explain
from eckart.concept_space.folding import Folded, Ledger, blind_rows, cold_rows, shares
from eckart.concept_space.geometry import Geometry
from eckart.concept_space.names import Names
from eckart.concept_space.ranking import directions, nothing, ranked, strongest
from eckart.concept_space.results import NOTHING_KNOWN, NOTHING_SEEN, Query, Ranking, Rankings
from eckart.concept_space.stored_rows import Rows, StoredRowSet, rows_of
from eckart.concept_space.vectors import on_device_of
from eckart.displays import html_facts
from eckart.errors import DataWarning, InputError, ParameterError
from eckart.options import check_choice, check_count
from eckart.result import Decomposition
from eckart.wording import DATA, INCLUDE_KNOWN, KEEP_ROWS

By = Literal["cosine", "dot"]


@dataclass(frozen=True, repr=False)
class Concepts:
    """Rows and columns of a decomposition, for search and recommendations.

    Created by `eckart.concepts`. A row can be given by its name or its index (counted from 0) among the stored rows, as
    numbers, as a dict {column: value}, as a list of words, or as a `Query`.

    Attributes
    ----------
    d : Decomposition
        The decomposition.
    geometry : Geometry
        Mean, scale and components used for projections.
    columns : Names
        Names of the columns.
    rows : StoredRowSet or None
        The stored rows. None if there are none.
    vectorizer : object or None
        Transformer for texts.
    folded : Ledger
        Statistics of the rows folded in so far.

    See Also
    --------
    concepts : Create it.

    Examples
    --------
    >>> import eckart as ek
    >>> path = ek.datasets.path("ratings")
    >>> space = ek.concepts(ek.decompose(path, "svd", k=2), rows=path)
    >>> [hit.name for hit in space.recommend({"Two Summers": 5}, 2)]
    ['A Letter from Rome', 'Star Harbour']
    """

    d: Decomposition
    geometry: Geometry = field(repr=False)
    columns: Names = field(repr=False)
    rows: StoredRowSet | None = field(repr=False)
    vectorizer: Any = field(default=None, repr=False)
    folded: Ledger = field(default_factory=Ledger)

    # A row in the space of the concepts

    def query(self, row: Any, *, unknown: Unknown | None = None) -> Query:
        """Compute the coordinates of a row.

        Parameters
        ----------
        row : array-like, dict, list of str, str or int
            A dict maps columns to values; other columns count as 0, or as the mean if means were subtracted. Words are
            counted. A text is split into words, or goes through the vectorizer. An integer is the index of a stored
            row, counted from 0.
        unknown : {'error', 'ignore'} or None, default None
            What to do with names that are not columns. None raises an error for a dict and ignores them, with a note,
            in words.

        Returns
        -------
        Query
            The coordinates, for PCA and SVD ``(row - mean) / scale @ right``, and the share outside the concepts.
        """
        if isinstance(row, Query):
            return row
        if isinstance(row, int | np.integer) and not isinstance(row, bool):
            return self.row(int(row))
        return self._query(given_as.take(row, self.columns, unknown=unknown, vectorizer=self.vectorizer))

    def row(self, name: str | int) -> Query:
        """Get a stored row.

        Parameters
        ----------
        name : str or int
            Name of the row, or its index counted from 0.

        Returns
        -------
        Query
            The row in the space of the concepts.
        """
        rows = self._stored_rows("A row by its name")
        place = rows.names.place(name)
        label, entries = rows.names.label(place), rows.entries(place)
        coordinates = to_numpy(rows.coordinates[place, :])
        if entries is not None:
            return replace(self._described(given_as.of_dense(entries, label), coordinates), place=place)
        square = float(rows.squares[place]) if rows.measured else np.nan
        seen = to_numpy(rows.compared[place, :]).astype(np.float64)
        unseen = max(1.0 - float(seen @ seen) / square, 0.0) if square > 0 and self.geometry.orthonormal else np.nan
        none = np.zeros(0)
        return Query(label, coordinates, none.astype(np.int64), none, square, unseen, place=place)

    def fold_in(self, rows: Any, *, row_names: Any = None) -> Folded:
        """Project new rows on the concepts and store them.

        The concepts do not change.

        Parameters
        ----------
        rows : array-like, sparse matrix, data frame or path
            New rows, with the columns of the model.
        row_names : sequence of str, default None
            Names of the rows. None uses those of `rows`.

        Returns
        -------
        Folded
            Coordinates, the share of each row outside the concepts, and a new space that contains the rows.

        Warns
        -----
        DataWarning
            If the rows folded in so far suggest that the model should be fitted again.
        """
        new, names = rows_of(self.geometry, rows)
        names = names if row_names is None else tuple(map(str, row_names))
        squares, unseen = shares(self.geometry, new)
        ledger = self.folded.with_rows(squares, unseen)
        if self.rows is None:
            together = StoredRowSet(self.geometry, (new,), Names("row", int(new.coordinates.shape[0]), names))
        else:
            together = self.rows.with_rows(new, names)
        refit = ledger.verdict(self.geometry)
        if refit:
            warnings.warn(refit, DataWarning, stacklevel=2)
        share = unseen / np.where(squares > 0, squares, np.nan)
        space = replace(self, rows=together, folded=ledger)
        return Folded(new.coordinates, share, cold_rows(new), refit, space)

    # Columns for a row

    def recommend(
        self, row: Any, n: int = 10, *, exclude_known: bool = True, unknown: Unknown | None = None
    ) -> Ranking:
        """Recommend columns for a row: those with the highest predicted values.

        Parameters
        ----------
        row : str, int, array-like, dict, list of str or Query
            The row.
        n : int, default 10
            Number of columns.
        exclude_known : bool, default True
            Leave out columns in which the row has an entry: a number other than 0, or any column that a dict names.
        unknown : {'error', 'ignore'} or None, default None
            As in `query`.

        Returns
        -------
        Ranking
            Columns and predicted values, highest first.
        """
        check_count("n", n, None)
        query = self._taken(row, unknown)
        title = f"Columns for {query.name}"
        if exclude_known and query.place is not None and self._stored_rows(title).entries(query.place) is None:
            raise InputError(
                f"The model does not contain the known entries of {query.name}. Give the data{DATA}, or use "
                f"{INCLUDE_KNOWN}."
            )
        if self.geometry.mean is None and not self._direction(query).any():
            return nothing(title, query.notes if query.cold else (*query.notes, NOTHING_SEEN))
        scores = self._scores(query)
        known = query.columns if exclude_known else np.zeros(0, np.int64)
        return ranked(title, scores, n, self.columns, hidden=known, notes=query.notes)

    def recommend_many(self, rows: Any = None, n: int = 10, *, exclude_known: bool = True) -> Rankings:
        """Recommend columns for many rows, in bounded memory.

        Parameters
        ----------
        rows : array-like, sparse matrix, data frame or path, default None
            The rows. None uses the stored rows.
        n : int, default 10
            Number of columns per row.
        exclude_known : bool, default True
            Leave out columns in which a row has an entry.

        Returns
        -------
        Rankings
            One ranking per row.
        """
        check_count("n", n, None)
        self.geometry.need_linear("recommend_many")
        parts = self._stored_rows("recommend_many").parts if rows is None else (rows_of(self.geometry, rows)[0],)
        found = [self._recommended(part, n, exclude_known=exclude_known) for part in parts]
        first = np.cumsum([0] + [int(part.coordinates.shape[0]) for part in parts]).tolist()
        return Rankings(
            "Columns for row",
            np.concatenate([one.indices for one, _ in found]),
            np.concatenate([one.scores for one, _ in found]),
            np.concatenate([cold + start for (_, cold), start in zip(found, first, strict=False)]),
            self.columns,
        )

    def explain(self, row: Any, column: str | int, *, unknown: Unknown | None = None) -> Explanation:
        """Explain the predicted value of a row in a column.

        Parameters
        ----------
        row : str, int, array-like, dict, list of str or Query
            The row.
        column : str or int
            Name of the column, or its index counted from 0.
        unknown : {'error', 'ignore'} or None, default None
            As in `query`.

        Returns
        -------
        Explanation
            What each concept, and each entry of the row, adds to the value.
        """
        return explain(self.geometry, self._taken(row, unknown), self.columns.place(column), self.columns)

    # Similarity

    def similar_rows(
        self, row: Any, n: int = 10, *, by: By = "cosine", proof: bool = False, unknown: Unknown | None = None
    ) -> Ranking:
        """Find the stored rows that are most similar to a row.

        Parameters
        ----------
        row : str, int, array-like, dict, list of str or Query
            The row. A stored row is not compared with itself.
        n : int, default 10
            Number of rows.
        by : {'cosine', 'dot'}, default 'cosine'
            Similarity measure.
        proof : bool, default False
            Also bound the similarity of the complete rows, and count how many leading places it determines. For PCA and
            SVD.
        unknown : {'error', 'ignore'} or None, default None
            As in `query`.

        Returns
        -------
        Ranking
            Rows and similarities, highest first.
        """
        check_count("n", n, None)
        check_choice("by", by, ("cosine", "dot"))
        rows = self._stored_rows("similar_rows")
        query = self._taken(row, unknown)
        title = f"Rows like {query.name}"
        own = self._direction(query) if by == "cosine" else self.geometry.compared(query.coordinates[None, :])[0]
        if not own.any():
            return nothing(title, query.notes if query.cold else (*query.notes, NOTHING_SEEN))
        candidates = rows.directions if by == "cosine" else rows.compared
        scores = candidates @ (own.astype(candidates.dtype) if is_numpy(candidates) else on_device_of(own, candidates))
        hidden = np.zeros(0, np.int64) if query.place is None else np.array([query.place])
        bounded = None
        if proof:
            proofs.need_right_angles(self.geometry)
            seen = self.geometry.compared(query.coordinates[None, :])[0]
            bounded = proofs.bounds(rows.compared, rows.squares, seen, query.square, cosine=by == "cosine")
        unit = 1.0 if by == "cosine" else self.geometry.unit * self.geometry.unit
        return ranked(title, scores, n, rows.names, hidden=hidden, notes=query.notes, bounded=bounded, unit=unit)

    def similar_columns(self, column: str | int, n: int = 10, *, by: By = "cosine", proof: bool = False) -> Ranking:
        """Find the columns that are most similar to a column.

        Parameters
        ----------
        column : str or int
            Name of the column, or its index counted from 0.
        n : int, default 10
            Number of columns.
        by : {'cosine', 'dot'}, default 'cosine'
            Similarity measure.
        proof : bool, default False
            Also bound the similarity of the complete columns, as in `similar_rows`.

        Returns
        -------
        Ranking
            Columns and similarities, highest first.
        """
        check_count("n", n, None)
        check_choice("by", by, ("cosine", "dot"))
        place = self.columns.place(column)
        title = f"Columns like {self.columns.label(place)}"
        vectors = self.geometry.columns(None if self.rows is None else self.rows.coordinates)
        compared = directions(vectors, self.geometry.column_rounding(vectors)) if by == "cosine" else vectors
        own = compared[place, :]
        if by == "cosine" and not bool(namespace(own).any(own != 0)):
            return nothing(title, (f"{self.columns.label(place)} is orthogonal to all concepts.",))
        bounded = None
        if proof:
            proofs.need_right_angles(self.geometry)
            squares, skew = proofs.column_squares(self.geometry), proofs.column_skew(self.geometry, place)
            seen = to_numpy(vectors[place, :])
            bounded = proofs.bounds(vectors, squares, seen, squares[place], cosine=by == "cosine", skew=skew)
        unit = 1.0 if by == "cosine" else self.geometry.unit * self.geometry.unit
        return ranked(title, compared @ own, n, self.columns, hidden=[place], bounded=bounded, unit=unit)

    # What a concept is

    def top_columns(self, concept: int, n: int = 10) -> Ranking:
        """List the columns with the largest loadings of a concept.

        Parameters
        ----------
        concept : int
            Index of the concept, counted from 0.
        n : int, default 10
            Number of columns.

        Returns
        -------
        Ranking
            Columns and loadings, by absolute value.
        """
        self.geometry.need_linear("top_columns")
        weights = to_numpy(self.geometry.right[:, self._concept(concept)])
        return strongest(f"Columns of concept {concept}", weights, n, self.columns)

    def top_rows(self, concept: int, n: int = 10) -> Ranking:
        """List the stored rows with the largest coordinates on a concept.

        Parameters
        ----------
        concept : int
            Index of the concept, counted from 0.
        n : int, default 10
            Number of rows.

        Returns
        -------
        Ranking
            Rows and coordinates, by absolute value.
        """
        rows = self._stored_rows("top_rows")
        weights = to_numpy(rows.coordinates[:, self._concept(concept)])
        return strongest(f"Rows of concept {concept}", weights, n, rows.names)

    def _repr_html_(self) -> str:
        rows = "none" if self.rows is None else f"{self.rows.names.count:,}"
        facts = {"concepts": f"{self.d.k:,}", "columns": f"{self.columns.count:,}", "stored rows": rows}
        return html_facts("Concepts", {"method": self.d.method, **facts}.items())

    def __repr__(self) -> str:
        rows = "no rows" if self.rows is None else f"{self.rows.names.count:,} rows"
        return f"<Concepts: {self.d.k} of {self.columns.count:,} columns ({self.d.method}), {rows} stored>"

    # Steps

    def _stored_rows(self, what: str) -> StoredRowSet:
        if self.rows is None:
            raise InputError(
                f"{what} needs rows, but the model contains only its columns. Give the data{DATA}, "
                f"or fit with {KEEP_ROWS}."
            )
        return self.rows

    def _taken(self, row: Any, unknown: Unknown | None) -> Query:
        """A row by its name among the stored rows, or as in `query`."""
        return self.row(row) if isinstance(row, str) else self.query(row, unknown=unknown)

    def _query(self, entries: Entries) -> Query:
        row = self.geometry.filled(entries.columns, entries.values, whole=entries.whole)
        # The row goes where the concepts are; what comes back is one number a concept.
        there = from_numpy(row[None, :], self.geometry.right)
        return self._described(entries, to_numpy(project(self.d, there))[0])

    def _described(self, entries: Entries, coordinates: Numbers) -> Query:
        row = self.geometry.filled(entries.columns, entries.values, whole=entries.whole)
        standard = self.geometry.standard(row)
        square, unseen = float(standard @ standard), np.nan
        if self.geometry.linear and square > 0:
            rest = standard - self.geometry.along(coordinates / self.geometry.unit)
            unseen = float(rest @ rest) / square
        cold = not entries.values.any() if self.geometry.mean is None else not (entries.whole or len(entries.values))
        notes = (*entries.notes, NOTHING_KNOWN) if cold and not entries.notes else entries.notes
        return Query(
            entries.name, coordinates, entries.columns, entries.values, square, unseen, cold=cold, notes=notes,
            whole=entries.whole,
        )  # fmt: skip

    def _direction(self, query: Query) -> Numbers:
        """Where it lies, at length 1; 0 if the concepts see nothing of it but rounding."""
        seen = self.geometry.compared(query.coordinates[None, :])
        return directions(seen, self.geometry.rounding(seen, query.square))[0]

    def _scores(self, query: Query) -> Array:
        """The row made from the coordinates of the query, where the concepts are."""
        if not self.geometry.linear:
            there = from_numpy(query.coordinates[None, :], self.geometry.right)
            return to_numpy(reconstruct(self.d, there))[0]
        back = self.geometry.back
        return back @ on_device_of(self.geometry.forth(query.coordinates[None, :])[0], back)

    def _recommended(self, part: Rows, n: int, *, exclude_known: bool) -> tuple[Best, Numbers]:
        """The best columns of each row, and the rows that get none because nothing is known of them."""
        if exclude_known and part.opened is None:
            raise InputError(
                f"The model does not contain the known entries. Give the data{DATA}, or use {INCLUDE_KNOWN}."
            )
        forth, back = self.geometry.forth(part.coordinates), self.geometry.back
        if is_numpy(back):
            found = best(forth, back, n, part.known if exclude_known else None)
        else:
            found = best_there(forth, back, n, part.known_there if exclude_known else None)
        cold = blind_rows(self.geometry, part) if self.geometry.mean is None else np.zeros(0, np.int64)
        found.indices[cold], found.scores[cold] = -1, np.nan
        return found, cold

    def _concept(self, concept: Any) -> int:
        if not isinstance(concept, int | np.integer) or isinstance(concept, bool) or not 0 <= concept < self.d.k:
            raise ParameterError(f"concept={concept!r} does not exist: give an index from 0 to {self.d.k - 1}.")
        return int(concept)
