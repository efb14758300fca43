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
from eckart.errors import DataWarning, InputError, ParameterError
from eckart.options import check_choice, check_count
from eckart.result import Decomposition
from eckart.wording import DATA, INCLUDE_KNOWN, KEEP_ROWS

By = Literal["cosine", "dot"]


@dataclass(frozen=True, repr=False)
class Concepts:
    """What a decomposition says of rows and columns; made by `eckart.concepts`.

    Wherever a row is asked for, give one of: its name or number (counted from 0) among the rows at hand, its numbers, a
    dict {column: value}, a list of words, or a `Query`. `query` takes a text too.
    """

    d: Decomposition
    geometry: Geometry = field(repr=False)
    columns: Names = field(repr=False)
    rows: StoredRowSet | None = field(repr=False)
    vectorizer: Any = field(default=None, repr=False)
    folded: Ledger = field(default_factory=Ledger)

    # A row in the space of the concepts

    def query(self, row: Any, *, unknown: Unknown | None = None) -> Query:
        """Coordinates of a row: (row - mean) / scale right for PCA and SVD.

        Parameters
        ----------
        row : numbers, dict, list of words, text, or number of a row at hand
            A dict names columns and gives their values; the others count as 0, or as the mean where means were
            subtracted. Words are counted; a text is split into
            words, or goes through the vectorizer that was given to `concepts`.
        unknown : "error" or "ignore", optional
            What to do with names that are no column. Default: an error in a dict, left out (and noted) in words.
        """
        if isinstance(row, Query):
            return row
        if isinstance(row, int | np.integer) and not isinstance(row, bool):
            return self.row(int(row))
        return self._query(given_as.take(row, self.columns, unknown=unknown, vectorizer=self.vectorizer))

    def row(self, name: str | int) -> Query:
        """A row at hand, by its name or its number counted from 0."""
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
        """Coordinates of new rows, the share of each that the concepts cannot see, and whether to fit again.

        The concepts stay as they are; `.space` of the result has the new rows at hand. Warns when what the rows folded
        in so far have outside the concepts says that it is time to fit again.
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
        """The n columns with the largest entries in the row made from its coordinates, best first.

        Parameters
        ----------
        row : name, number, numbers, dict, list of words or Query
        n : int
        exclude_known : bool
            Leave out the columns where the row has an entry: a number that is not 0, or any that a dict names.
        unknown : "error" or "ignore", optional
            As in `query`.
        """
        check_count("n", n, None)
        query = self._taken(row, unknown)
        title = f"Columns for {query.name}"
        if exclude_known and query.place is not None and self._stored_rows(title).entries(query.place) is None:
            raise InputError(
                f"What {query.name} has already is not in the model. Give the data{DATA}, or ask with {INCLUDE_KNOWN}."
            )
        if self.geometry.mean is None and not self._direction(query).any():
            return nothing(title, query.notes if query.cold else (*query.notes, NOTHING_SEEN))
        scores = self._scores(query)
        known = query.columns if exclude_known else np.zeros(0, np.int64)
        return ranked(title, scores, n, self.columns, hidden=known, notes=query.notes)

    def recommend_many(self, rows: Any = None, n: int = 10, *, exclude_known: bool = True) -> Rankings:
        """`recommend` for each row of `rows`, or of the rows at hand: all at once, in memory bounded by a tile."""
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
        """Which concepts, and which of the row's own entries, make its score in a column; each adds up to the score."""
        return explain(self.geometry, self._taken(row, unknown), self.columns.place(column), self.columns)

    # What is alike

    def similar_rows(
        self, row: Any, n: int = 10, *, by: By = "cosine", proof: bool = False, unknown: Unknown | None = None
    ) -> Ranking:
        """The rows at hand that are most like a row, in the space of the concepts; the row itself is left out.

        Parameters
        ----------
        row : name, number, numbers, dict, list of words or Query
        n : int
        by : "cosine" or "dot"
        proof : bool
            Also bound the cosine (or dot product) of the whole rows, with what the concepts dropped, and count the
            first places that are the same for it. For PCA and SVD.
        unknown : "error" or "ignore", optional
            As in `query`.
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
        """The columns most like a column, by the columns made from the concepts; the column itself is left out.

        `proof` bounds the same of the whole columns, as in `similar_rows`.
        """
        check_count("n", n, None)
        check_choice("by", by, ("cosine", "dot"))
        place = self.columns.place(column)
        title = f"Columns like {self.columns.label(place)}"
        vectors = self.geometry.columns(None if self.rows is None else self.rows.coordinates)
        compared = directions(vectors, self.geometry.column_rounding(vectors)) if by == "cosine" else vectors
        own = compared[place, :]
        if by == "cosine" and not bool(namespace(own).any(own != 0)):
            return nothing(title, (f"The concepts see nothing of {self.columns.label(place)}.",))
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
        """The columns that make a concept (counted from 0): the largest entries of its vector, in modulus."""
        self.geometry.need_linear("top_columns")
        weights = to_numpy(self.geometry.right[:, self._concept(concept)])
        return strongest(f"Columns of concept {concept}", weights, n, self.columns)

    def top_rows(self, concept: int, n: int = 10) -> Ranking:
        """The rows at hand with the largest coordinates on a concept (counted from 0), in modulus."""
        rows = self._stored_rows("top_rows")
        weights = to_numpy(rows.coordinates[:, self._concept(concept)])
        return strongest(f"Rows of concept {concept}", weights, n, rows.names)

    def __repr__(self) -> str:
        rows = "no rows" if self.rows is None else f"{self.rows.names.count:,} rows"
        return f"<Concepts: {self.d.k} of {self.columns.count:,} columns ({self.d.method}), {rows} at hand>"

    # Steps

    def _stored_rows(self, what: str) -> StoredRowSet:
        if self.rows is None:
            raise InputError(
                f"{what} needs rows, and the model holds only its columns. Give the data{DATA}, "
                f"or fit with {KEEP_ROWS}."
            )
        return self.rows

    def _taken(self, row: Any, unknown: Unknown | None) -> Query:
        """A row by its name among the rows at hand, or as in `query`."""
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
                f"What the rows have already is not in the model. Give the data{DATA}, or ask with {INCLUDE_KNOWN}."
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
            raise ParameterError(
                f"concept={concept!r} is not possible: the concepts are counted from 0 to {self.d.k - 1}."
            )
        return int(concept)
