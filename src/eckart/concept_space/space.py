"""Concepts: queries, recommendations, similarity and explanations in the space of a decomposition."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

import numpy as np

from eckart.arrays import Array, from_numpy, to_numpy
from eckart.concept_space import entries as given_as
from eckart.concept_space.entries import Entries, Unknown
from eckart.concept_space.explanation import Explanation, explain
from eckart.concept_space.folding import Folded, Ledger, cold_rows, shares
from eckart.concept_space.geometry import Geometry
from eckart.concept_space.names import Names
from eckart.concept_space.queries import By, columns_like, described, direction, recommended, rows_like
from eckart.concept_space.ranking import nothing, ranked, strongest
from eckart.concept_space.results import NOTHING_SEEN, Query, Ranking, Rankings
from eckart.concept_space.stored_rows import StoredRowSet, rows_of
from eckart.concept_space.vectors import on_device_of
from eckart.displays import html_facts
from eckart.documentation import document
from eckart.errors import DataWarning, InputError, ParameterError
from eckart.options import check_choice, check_count
from eckart.projecting import project, reconstruct
from eckart.result import Decomposition
from eckart.wording import DATA, INCLUDE_KNOWN, KEEP_ROWS


@document
@dataclass(frozen=True, repr=False)
class Concepts:
    """Search and recommendations in the space of the components of a decomposition.

    `eckart.concepts` creates this object. A stored row can be given by its name or its index (counted from 0). If the
    names of the rows are whole numbers, an int is a name. Any other row can be given as numbers, as a dict
    {column: value}, as a list of words, or as a `Query`.

    Attributes
    ----------
    d : Decomposition
        The decomposition.
    geometry : Geometry
        Mean, scale and components, which are used for projections.
    columns : Names
        Names of the columns.
    rows : StoredRowSet or None
        The rows that can be searched. None if there are none.
    vectorizer : object or None
        Transformer for texts.
    folded : Ledger
        Statistics of the rows folded in so far.

    {See Also: concepts}

    {Examples: ratings}
    >>> [hit.name for hit in space.recommend({"Two Summers": 5}, 2)]
    ['A Letter from Rome', 'Star Harbour']
    """

    d: Decomposition
    geometry: Geometry = field(repr=False)
    columns: Names = field(repr=False)
    rows: StoredRowSet | None = field(repr=False)
    vectorizer: object = field(default=None, repr=False)
    folded: Ledger = field(default_factory=Ledger)

    # A row in the concept space

    def query(self, row: object, *, unknown: Unknown | None = None) -> Query:
        """Compute the coordinates of a row on the concepts.

        Parameters
        ----------
        row : array-like, dict, list of str, str or int
            The row. A dict maps columns to values; all other columns count as 0, or as the mean if the data were
            centred. A list of words is counted. A text is split into words or converted by the vectorizer. An integer
            is the index of a stored row, counted from 0, or its name, if the names of the rows are whole numbers.
        unknown : {'error', 'ignore'} or None, default None
            How to treat names that are not columns. None raises an error for a dict, and ignores unknown words with a
            note.

        Returns
        -------
        Query
            The coordinates, and the share of the row that lies outside the concepts. For PCA and SVD the coordinates
            are ``(row - mean) / scale @ right``.
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
            Name of the row, or its index counted from 0. If the names are whole numbers, an int is a name.

        Returns
        -------
        Query
            The row in the space of the concepts.
        """
        rows = self._stored_rows("Finding a row by name")
        place = rows.names.place(name)
        label, entries = rows.names.label(place), rows.entries(place)
        coordinates = to_numpy(rows.coordinates[place, :])
        if entries is not None:
            return replace(described(self.geometry, given_as.of_dense(entries, label), coordinates), place=place)
        square = float(rows.squares[place]) if rows.measured else np.nan
        seen = to_numpy(rows.compared[place, :]).astype(np.float64)
        unseen = max(1.0 - float(seen @ seen) / square, 0.0) if square > 0 and self.geometry.orthonormal else np.nan
        none = np.zeros(0)
        return Query(label, coordinates, none.astype(np.int64), none, square, unseen, place=place)

    def fold_in(self, rows: object, *, row_names: Iterable[str] | None = None) -> Folded:
        """Add new rows by projecting them onto the concepts.

        The concepts do not change.

        Parameters
        ----------
        rows : array-like, sparse matrix, data frame or path
            New rows with the same columns as the fitted data.
        row_names : sequence of str, default None
            Names of the rows. None uses the names in `rows`.

        Returns
        -------
        Folded
            Coordinates of the rows, the share of each row that lies outside the concepts, and a new space that contains
            the rows.

        Warns
        -----
        DataWarning
            If the rows added so far suggest that you should fit the model again.
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

    @document
    def recommend(
        self, row: object, n: int = 10, *, exclude_known: bool = True, unknown: Unknown | None = None
    ) -> Ranking:
        """Recommend the columns with the highest predicted values for a row.

        Parameters
        ----------
        {row [any], n [columns]}
        exclude_known : bool, default True
            Leave out columns that are already known for the row: entries other than 0, and all columns that a dict
            names.
        {unknown}

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
                f"To leave out columns in which {query.name} already has an entry, Eckart needs the "
                f"rows of the data, but the model does not contain them. {DATA}, or keep these "
                f"columns with {INCLUDE_KNOWN}."
            )
        if self.geometry.mean is None and not direction(self.geometry, query).any():
            return nothing(title, query.notes if query.cold else (*query.notes, NOTHING_SEEN))
        scores = self._scores(query)
        known = query.columns if exclude_known else np.zeros(0, np.int64)
        return ranked(title, scores, n, self.columns, hidden=known, notes=query.notes)

    def recommend_many(self, rows: object = None, n: int = 10, *, exclude_known: bool = True) -> Rankings:
        """Recommend columns for many rows, without storing all scores.

        Parameters
        ----------
        rows : array-like, sparse matrix, data frame or path, default None
            The rows. None uses the stored rows.
        n : int, default 10
            Number of columns per row.
        exclude_known : bool, default True
            Leave out columns that are already known for a row.

        Returns
        -------
        Rankings
            One ranking per row.
        """
        check_count("n", n, None)
        self.geometry.need_linear("recommend_many")
        parts = (
            self._stored_rows("Recommending columns for all rows").parts
            if rows is None
            else (rows_of(self.geometry, rows)[0],)
        )
        found = [recommended(self.geometry, part, n, exclude_known=exclude_known) for part in parts]
        first = np.cumsum([0] + [int(part.coordinates.shape[0]) for part in parts]).tolist()
        return Rankings(
            "Columns for row",
            np.concatenate([one.indices for one, _ in found]),
            np.concatenate([one.scores for one, _ in found]),
            np.concatenate([cold + start for (_, cold), start in zip(found, first, strict=False)]),
            self.columns,
        )

    @document
    def explain(self, row: object, column: str | int, *, unknown: Unknown | None = None) -> Explanation:
        """Explain the predicted value of a row in a column.

        {Parameters: row [any], column [concept], unknown}

        Returns
        -------
        Explanation
            Amount that each concept, and each entry of the row, adds to the value.
        """
        return explain(self.geometry, self._taken(row, unknown), self.columns.place(column), self.columns)

    # Similarity

    @document
    def similar_rows(
        self, row: object, n: int = 10, *, by: By = "cosine", proof: bool = False, unknown: Unknown | None = None
    ) -> Ranking:
        """Find the stored rows that are most similar to a row.

        Parameters
        ----------
        row : str, int, array-like, dict, list of str or Query
            The row. If it is a stored row, it is not compared with itself.
        {n [rows], by [similarity]}
        proof : bool, default False
            Also compute bounds on the similarities of the full rows, and report how many of the first results they
            confirm. Available for PCA and SVD.
        {unknown}

        Returns
        -------
        Ranking
            Rows and similarities, highest first.
        """
        _check_similarity(n, by)
        rows = self._stored_rows("Finding similar rows")
        query = self._taken(row, unknown)
        return rows_like(self.geometry, rows, query, n, by=by, proof=proof)

    @document
    def similar_columns(self, column: str | int, n: int = 10, *, by: By = "cosine", proof: bool = False) -> Ranking:
        """Find the columns that are most similar to a column.

        Parameters
        ----------
        {column [concept], n [columns], by [similarity]}
        proof : bool, default False
            Also compute bounds for the full columns, as in `similar_rows`.

        Returns
        -------
        Ranking
            Columns and similarities, highest first.
        """
        _check_similarity(n, by)
        place = self.columns.place(column)
        coordinates = None if self.rows is None else self.rows.coordinates
        return columns_like(self.geometry, self.columns, place, coordinates, n, by=by, proof=proof)

    # What a concept is

    @document
    def top_columns(self, concept: int, n: int = 10) -> Ranking:
        """List the columns with the largest loadings on a concept.

        {Parameters: concept, n [columns]; Returns: Ranking}
            Columns and loadings, in decreasing order of their absolute values.
        """
        self.geometry.need_linear("top_columns")
        weights = to_numpy(self.geometry.right[:, self._concept(concept)])
        return strongest(f"Columns of concept {concept + 1}", weights, n, self.columns)

    @document
    def top_rows(self, concept: int, n: int = 10) -> Ranking:
        """List the stored rows with the largest coordinates on a concept.

        {Parameters: concept, n [rows]; Returns: Ranking}
            Rows and coordinates, in decreasing order of their absolute values.
        """
        rows = self._stored_rows("Listing the top rows")
        weights = to_numpy(rows.coordinates[:, self._concept(concept)])
        return strongest(f"Rows of concept {concept + 1}", weights, n, rows.names)

    def _repr_html_(self) -> str:
        rows = "none" if self.rows is None else f"{self.rows.names.count:,}"
        facts = {"concepts": f"{self.d.k:,}", "columns": f"{self.columns.count:,}", "stored rows": rows}
        return html_facts("Concepts", {"method": self.d.method, **facts}.items())

    def __repr__(self) -> str:
        rows = "no rows" if self.rows is None else f"{self.rows.names.count:,} rows"
        return f"<Concepts: {self.d.k} concepts of {self.columns.count:,} columns ({self.d.method}), {rows} stored>"

    # Steps

    def _stored_rows(self, what: str) -> StoredRowSet:
        if self.rows is None:
            raise InputError(
                f"{what} needs the rows of the data, but the model contains only the columns. {DATA}, "
                f"or fit the model with {KEEP_ROWS}."
            )
        return self.rows

    def _taken(self, row: object, unknown: Unknown | None) -> Query:
        """A row by its name among the stored rows, or as in `query`."""
        return self.row(row) if isinstance(row, str) else self.query(row, unknown=unknown)

    def _query(self, entries: Entries) -> Query:
        row = self.geometry.filled(entries.columns, entries.values, whole=entries.whole)
        # The row is copied to the device of the concepts; one number per concept comes back.
        there = from_numpy(row[None, :], self.geometry.right)
        return described(self.geometry, entries, to_numpy(project(self.d, there))[0])

    def _scores(self, query: Query) -> Array:
        """The row reconstructed from the coordinates of the query, on the device of the concepts."""
        if not self.geometry.linear:
            there = from_numpy(query.coordinates[None, :], self.geometry.right)
            return to_numpy(reconstruct(self.d, there))[0]
        back = self.geometry.back
        return back @ on_device_of(self.geometry.forth(query.coordinates[None, :])[0], back)

    def _concept(self, concept: object) -> int:
        if not isinstance(concept, int | np.integer) or isinstance(concept, bool) or not 0 <= concept < self.d.k:
            raise ParameterError(f"concept={concept!r} does not exist. Use an index from 0 to {self.d.k - 1}.")
        return int(concept)


def _check_similarity(n: int, by: str) -> None:
    check_count("n", n, None)
    check_choice("by", by, ("cosine", "dot"))
