"""Rows of Parquet files (one, a folder, a pattern) and of Arrow files: row groups and batches are read as asked for."""

from __future__ import annotations

import bisect
import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from eckart.engine.blocks.source import About
from eckart.errors import FileError
from eckart.fingerprint import fingerprint
from eckart.io.arrow.columns import kind_of, matrix_of
from eckart.io.bytes import reason, shown
from eckart.io.roles import listed, refuse_empty, unique_names
from eckart.io.rows import FileState


@dataclass(frozen=True)
class ArrowRows:
    """Pieces (row groups or record batches) of files, one after the other; `edges` are the rows where they begin."""

    files: tuple[FileState, ...]
    pieces: tuple[tuple[int, int], ...]
    """(file, row group or batch) of each piece."""
    edges: tuple[int, ...]
    columns: tuple[str, ...]
    """The columns that hold numbers, as they are called in the file."""
    single: bool
    parquet: bool
    about: About = field(default_factory=About)
    sparse: bool = False

    @property
    def shape(self) -> tuple[int, int]:
        return self.edges[-1], len(self.columns)

    @property
    def dtype(self) -> np.dtype[Any]:
        return np.dtype(np.float32 if self.single else np.float64)

    @property
    def entries(self) -> int:
        return self.shape[0] * self.shape[1]

    def cuts(self) -> Sequence[int]:
        return self.edges

    def read(self, start: int, stop: int) -> np.ndarray:
        first = bisect.bisect_right(self.edges, start) - 1
        last = bisect.bisect_left(self.edges, stop)
        blocks = [self._piece(piece, start, stop) for piece in range(first, last)]
        whole = blocks[0] if len(blocks) == 1 else np.concatenate(blocks)
        return whole[start - self.edges[first] : stop - self.edges[first]]

    def _piece(self, piece: int, start: int, stop: int) -> np.ndarray:
        import pyarrow as pa

        number, group = self.pieces[piece]
        state = self.files[number]
        state.check(self.about.name, start, stop)
        try:
            if self.parquet:
                table = _parquet(state).read_row_group(group, columns=list(self.columns))
            else:
                table = pa.Table.from_batches([_arrow(state).get_batch(group)])
            columns = [table.column(name) for name in self.columns]
        except (pa.ArrowException, OSError, ValueError, KeyError) as error:
            raise FileError(
                f"{shown(state.path)}: rows {start:,} to {stop:,} cannot be read ({reason(error)}). Copy it again."
            ) from error
        expected = self.edges[piece + 1] - self.edges[piece]
        if table.num_rows != expected:
            raise FileError(f"{shown(state.path)} promises {expected} rows in a piece and holds {table.num_rows}.")
        return matrix_of(columns, table.num_rows, self.about.name).astype(self.dtype, copy=False)

    def fingerprint(self) -> dict[str, Any]:
        return fingerprint(self.files, shape=list(self.shape), columns=list(self.columns))


@lru_cache(maxsize=8)
def _parquet(state: FileState) -> Any:
    from pyarrow import parquet

    return parquet.ParquetFile(state.path)


@lru_cache(maxsize=8)
def _arrow(state: FileState) -> Any:
    import pyarrow as pa
    from pyarrow import ipc

    return ipc.open_file(pa.memory_map(state.path))


def parquet_rows(paths: Sequence[str], name: str) -> ArrowRows:
    """One Parquet file, or several of one schema in the order given."""
    import pyarrow as pa

    states = tuple(FileState.of(path) for path in paths)
    pieces, counts, schema = [], [], None
    for number, state in enumerate(states):
        try:
            file = _parquet(state)
            found = file.schema_arrow.remove_metadata()
        except (pa.ArrowException, OSError, ValueError) as error:
            raise FileError(
                f"{shown(state.path)} is a broken Parquet file ({reason(error)}). Copy it again."
            ) from error
        if schema is None:
            schema = found
        elif not schema.equals(found):
            raise FileError(f"{shown(state.path)} has other columns than {shown(states[0].path)}; all need the same.")
        for group in range(file.metadata.num_row_groups):
            pieces.append((number, group))
            counts.append(file.metadata.row_group(group).num_rows)
    return _assembled(states, pieces, counts, schema, name, parquet=True)


def arrow_rows(path: str, name: str) -> ArrowRows | None:
    """An Arrow or Feather file with batches; None for a stream or Feather's first version, which are read whole."""
    import pyarrow as pa

    with Path(path).open("rb") as stream:
        if stream.read(6) != b"ARROW1":
            return None
    state = FileState.of(path)
    try:
        file = _arrow(state)
        counts = [file.get_batch(i).num_rows for i in range(file.num_record_batches)]
    except (pa.ArrowException, OSError, ValueError) as error:
        raise FileError(f"{shown(path)} is a broken Arrow file ({reason(error)}). Copy it again.") from error
    pieces = [(0, i) for i in range(len(counts))]
    return _assembled((state,), pieces, counts, file.schema, name, parquet=False)


def _assembled(
    states: tuple[FileState, ...], pieces: list[Any], counts: list[int], schema: Any, name: str, *, parquet: bool
) -> ArrowRows:
    import pyarrow as pa

    kept = [(piece, count) for piece, count in zip(pieces, counts, strict=True) if count]
    edges = (0, *itertools.accumulate(count for _, count in kept))
    numbers = [field for field in schema if kind_of(field.type) in ("number", "truth")]
    others = [field.name for field in schema if kind_of(field.type) not in ("number", "truth")]
    refuse_empty(edges[-1], len(numbers), name)
    labels, notes = unique_names([field.name for field in numbers])
    if others:
        notes.append(f"Left out, because the table is read in blocks and these are not numbers: {listed(others)}.")
    single = all(field.type == pa.float32() for field in numbers)
    about = About(name, column_names=tuple(labels), notes=tuple(notes))
    columns = tuple(field.name for field in numbers)
    return ArrowRows(states, tuple(piece for piece, _ in kept), edges, columns, single, parquet, about)
