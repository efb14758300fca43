"""The stored rows: their coordinates, and their entries if the data were given."""

from __future__ import annotations

import itertools
import os
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from eckart.arrays import (
    Array,
    Matrix,
    astype,
    from_numpy,
    is_numpy,
    is_sparse,
    namespace,
    refuse_other_device,
    to_numpy,
)
from eckart.concept_space.accuracy import Measured, fitted_errors, projection_errors
from eckart.concept_space.best import Numbers
from eckart.concept_space.geometry import Geometry
from eckart.concept_space.names import Names
from eckart.concept_space.ranking import directions
from eckart.concept_space.vectors import in_float64, joined, unit_of
from eckart.engine.backends.cuda.device_rows import DeviceCsr
from eckart.engine.backends.cuda.gather import dense, entries_per_row
from eckart.engine.matrix import Opened
from eckart.errors import InputError
from eckart.io.open_matrix import open_matrix, with_columns_of
from eckart.io.open_rows import open_table
from eckart.projecting import project
from eckart.result import SVDDetails
from eckart.wording import DATA


@dataclass(frozen=True)
class Rows:
    """Some rows, with coordinates always and with the matrix if it was given."""

    coordinates: Array
    """Where the model is."""
    opened: Opened | None = None
    norms: Numbers | None = None
    """Lengths of the rows in the units of the decomposition, if known without the data."""
    roots: Numbers | None = None
    """Roots of the weights that coordinates and lengths were divided by."""
    kept: Numbers | None = None
    """False for rows whose coordinates were replaced by 0; None if there are none."""

    def entries(self, place: int) -> Numbers | None:
        """One row as given, dense."""
        if self.opened is None:
            return None
        row = self._stored(place, place + 1)
        if is_sparse(row):
            exponent = self.opened.exponent if self.opened.matrix.resident else 0
            return np.ldexp(row.toarray()[0].astype(np.float64), -exponent)
        return row[0].astype(np.float64)

    def counts(self) -> Numbers:
        """Number of non-zero entries of each row, on the host."""
        assert self.opened is not None
        matrix = self.opened.matrix
        if matrix.resident and isinstance(matrix.matrix, DeviceCsr):
            return entries_per_row(matrix.matrix)
        if is_numpy(matrix.prototype) or not matrix.resident:
            return np.diff(self.known(0, len(self.coordinates))[0])
        xp = namespace(matrix.prototype)
        blocks = (block for _, block in matrix.blocks(0, matrix.shape[0]))
        return np.concatenate([to_numpy(xp.sum(astype(block != 0, xp.int64), axis=1)) for block in blocks])

    def known_there(self, start: int, stop: int) -> Array:
        """Mask of the non-zero entries of rows start..stop, as a dense array on their device."""
        assert self.opened is not None
        rows = self.opened.matrix.backend.rows_between(self.opened.matrix.matrix, start, stop)
        return (dense(rows) if isinstance(rows, DeviceCsr) else rows) != 0

    def known(self, start: int, stop: int) -> tuple[Numbers, Numbers]:
        """(starts, columns) of the non-zero entries of rows start..stop."""
        rows = self._stored(start, stop)
        if not is_sparse(rows):
            return _starts(np.count_nonzero(rows, axis=1)), np.nonzero(rows)[1]
        there = rows.data != 0
        if there.all():
            return rows.indptr.astype(np.int64), rows.indices
        indices = np.repeat(np.arange(stop - start), np.diff(rows.indptr))
        return _starts(np.bincount(indices[there], minlength=stop - start)), rows.indices[there]

    def _stored(self, start: int, stop: int) -> Matrix:
        """Rows as they are stored, on the host."""
        assert self.opened is not None
        matrix = self.opened.matrix
        if matrix.resident and isinstance(matrix.matrix, DeviceCsr):
            return matrix.backend.rows_between(matrix.matrix, start, stop).to_host()
        rows = matrix.rows(slice(start, stop))
        return rows if is_sparse(rows) else to_numpy(rows)

    def squares(self, geometry: Geometry) -> Numbers | None:
        """||row||^2 in the units of the decomposition."""
        if self.opened is not None:
            return geometry.squares(self.opened)
        return None if self.norms is None else (self.norms / geometry.unit) ** 2

    def errors(self, geometry: Geometry, squares: Numbers) -> tuple[Numbers, Numbers]:
        """(error, squares_error) of these rows (`accuracy.Measured`)."""
        if self.opened is not None:
            return projection_errors(geometry, self.coordinates, squares, sparse=self.opened.matrix.sparse)
        roots = 1.0 if self.roots is None else self.roots
        error, squares_error = fitted_errors(geometry, self.coordinates, squares * roots**2)
        error = error / roots
        if self.kept is not None:
            error = np.where(self.kept, error, np.maximum(error, np.sqrt(squares)))
        return error, squares_error


@dataclass(frozen=True)
class StoredRowSet:
    """All stored rows, in the order in which they were added."""

    geometry: Geometry
    parts: tuple[Rows, ...]
    names: Names

    @cached_property
    def coordinates(self) -> Array:
        return joined([part.coordinates for part in self.parts])

    @cached_property
    def compared(self) -> Array:
        """Coordinates whose dot products compare rows."""
        return self.geometry.compared(self.coordinates)

    @cached_property
    def directions(self) -> Array:
        """The same scaled to length 1; 0 for rows whose part in the concepts is only rounding."""
        if self.measured:
            return directions(self.compared, self.geometry.rounding(self.compared, self.squares))
        xp = namespace(self.compared)
        largest = float(xp.max(xp.abs(self.compared))) if self.compared.shape[0] else 0.0
        return directions(self.compared, unit_of(self.compared) * largest)

    @property
    def measured(self) -> bool:
        """Whether the lengths of all rows are known."""
        return all(part.opened is not None or part.norms is not None for part in self.parts)

    @cached_property
    def squares(self) -> Numbers:
        """||row||^2 of each row, in the units of the decomposition."""
        squares = [part.squares(self.geometry) for part in self.parts]
        if not self.measured:
            raise InputError(
                f"A proof needs the lengths of the rows, but the model contains only their coordinates. {DATA}."
            )
        return np.concatenate([square for square in squares if square is not None])

    @cached_property
    def with_errors(self) -> Measured:
        """The rows with bounds of their rounding."""
        edges = np.cumsum([0, *(len(part.coordinates) for part in self.parts)])
        found = [
            part.errors(self.geometry, self.squares[start:stop])
            for part, (start, stop) in zip(self.parts, itertools.pairwise(edges), strict=True)
        ]
        errors, doubts = (np.concatenate(each) for each in zip(*found, strict=True))
        return Measured(self.compared, self.squares, errors, doubts)

    def entries(self, place: int) -> Numbers | None:
        """One row as given, or None if only its coordinates are stored."""
        for part in self.parts:
            if place < len(part.coordinates):
                return part.entries(place)
            place -= len(part.coordinates)
        raise IndexError(place)

    def with_rows(self, rows: Rows, names: tuple[str, ...] | None) -> StoredRowSet:
        """These rows too."""
        before, count = self.names, len(rows.coordinates)
        together = None
        if before.given is not None or names is not None:
            new = names or tuple(str(before.count + i + 1) for i in range(count))
            together = before.labels(range(before.count)) + new
        return StoredRowSet(self.geometry, (*self.parts, rows), Names(before.what, before.count + count, together))


def rows_of(geometry: Geometry, data: object) -> tuple[Rows, tuple[str, ...] | None]:
    """Data -> rows with coordinates, in one pass, and their names."""
    if isinstance(data, str | os.PathLike):
        data = open_table(data)
    data = with_columns_of(data, geometry.d.column_names)
    opened = open_matrix(data)
    here = is_numpy(geometry.right)
    if not here:
        refuse_other_device(geometry.right, opened.matrix.prototype, "The model")
    coordinates = project(geometry.d, data)
    return Rows(to_numpy(coordinates) if here else coordinates, opened), opened.metadata.row_names


def rows_of_model(geometry: Geometry) -> Rows | None:
    """The fitted rows, if the decomposition kept them: left diag(values), without their weights."""
    d = geometry.d
    if d.left is None:
        return None
    coordinates = d.left * d.values
    details = d.details if isinstance(d.details, SVDDetails) else SVDDetails()
    roots = kept = None
    norms = None if details.row_norms is None else to_numpy(details.row_norms).astype(np.float64)
    if norms is not None:
        kept = _exceed_rounding(norms, d.norm, coordinates)
        coordinates = coordinates * astype(from_numpy(kept.astype(np.float64), coordinates), coordinates.dtype)[:, None]
    if details.row_weights is not None:
        roots = np.sqrt(to_numpy(details.row_weights))
        coordinates = astype(in_float64(coordinates) / from_numpy(roots, coordinates)[:, None], coordinates.dtype)
        norms = None if norms is None else norms / roots
    return Rows(coordinates, norms=norms, roots=roots, kept=kept)


def _exceed_rounding(norms: Numbers, norm: float, coordinates: Array) -> Numbers:
    """Which rows are longer than the rounding errors of their coordinates, which are relative to the longest rows.

    The others get the coordinates 0. Otherwise a row of zeros, such as an empty document, would have a direction.
    """
    return norms > 4 * unit_of(coordinates) * norm


def _starts(counts: Numbers) -> Numbers:
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
