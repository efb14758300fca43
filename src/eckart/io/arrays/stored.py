"""Rows of arrays in HDF5 files, AnnData files and Zarr stores: dense, or CSR as AnnData writes it.

Arrays of both libraries have `shape`, `dtype`, `chunks`, `attrs` and lazy slices, so the same code serves both; only
opening differs (`containers`).
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from eckart.aliases import JsonObject, Keywords
from eckart.engine.blocks.csr_check import csr_block
from eckart.engine.blocks.source import Block, Metadata
from eckart.environment import check_piece, free_memory
from eckart.errors import EckartError, FileError, ParameterError
from eckart.fingerprint import fingerprint
from eckart.io.arrays.annotations import axis_names, cell_labels
from eckart.io.arrays.containers import Container, kept_container, open_container
from eckart.io.arrays.gaps import named_array
from eckart.io.arrays.npy import precision_notes
from eckart.io.arrays.packing import layout_notes, packing_notes
from eckart.io.guard import reading, reads_rows
from eckart.io.roles import quoted, unique_names
from eckart.io.rows import FileState, OfStored
from eckart.notes import Note
from eckart.wording import KEY

_PIECE = 1 << 20
"""Number of row pointers checked at a time."""


@dataclass(frozen=True)
class StoredRows(OfStored):
    """Rows of a dense array, or of a group with data, indices and indptr."""

    state: FileState
    kind: str
    """"hdf5" or "zarr"."""
    place: str
    """Path of the array or group inside the file."""
    shape: tuple[int, int]
    stored: np.dtype
    sparse: bool
    count: int
    chunk: int
    metadata: Metadata = field(default_factory=Metadata)
    columns: int = 0
    """Columns of a dense array read at a time; 0 for all of them."""
    _opened: dict[str, Container] = field(default_factory=dict, compare=False, repr=False)
    """The container, open while this source is in use; empty in the workers of a cluster."""

    @property
    def entries(self) -> int:
        return self.count

    def cuts(self) -> Sequence[int]:
        return range(0, self.shape[0], self.chunk) if self.chunk else ()

    def pointers(self) -> Iterator[np.ndarray]:
        """Row pointers of a CSR matrix, piece by piece."""
        with reading(self.metadata.name, "the list of row pointers"):
            container = self._container()
            indptr = container.get(container.get(container.root, self.place), "indptr")
            for start in range(0, self.shape[0] + 1, _PIECE):
                _check_rows(container, indptr, start, min(start + _PIECE, self.shape[0] + 1))
                yield np.asarray(indptr[start : start + _PIECE])

    @reads_rows
    def read(self, start: int, stop: int) -> Block:
        if self.kind == "hdf5":
            self.state.check(self.metadata.name, start, stop)
        container = self._container()
        found = container.get(container.root, self.place)
        if self.sparse:
            return self._csr(container, found, start, stop)
        _check_rows(container, found, start, stop)
        out = self._dense(found, start, stop)
        container.check_unchanged(found, start, stop)
        return out

    def _dense(self, array: Any, start: int, stop: int) -> np.ndarray:
        if not self.columns:
            return np.asarray(array[start:stop], dtype=self.dtype)
        out = np.empty((stop - start, self.shape[1]), self.dtype)
        for first in range(0, self.shape[1], self.columns):
            some = slice(first, first + self.columns)
            out[:, some] = array[start:stop, some]
        return out

    def _csr(self, container: Container, group: object, start: int, stop: int) -> Block:
        parts = {name: container.get(group, name) for name in ("data", "indices", "indptr")}
        _check_rows(container, parts["indptr"], start, stop + 1)
        pointers = np.asarray(parts["indptr"][start : stop + 1]).astype(np.int64)
        first, last = int(pointers[0]), int(pointers[-1])
        if (start == 0 and first) or (stop == self.shape[0] and last != self.count) or not 0 <= first <= last:
            raise ValueError(f"'indptr' goes from {first:,} to {last:,}, but there are {self.count:,} values")
        if last > self.count:
            raise ValueError(f"'indptr' goes up to {last:,}, but there are {self.count:,} values")
        for part in ("data", "indices"):
            _check_rows(container, parts[part], first, last)
        data = np.asarray(parts["data"][first:last])
        indices = np.asarray(parts["indices"][first:last])
        container.check_unchanged(parts["indptr"], start, stop + 1)
        for part in ("data", "indices"):
            container.check_unchanged(parts[part], first, last)
        return csr_block(data, indices, pointers - first, (stop - start, self.shape[1]), self.dtype)

    def _container(self) -> Container:
        return self._opened.get("container") or kept_container(self.state, self.kind)

    def __getstate__(self) -> Keywords:
        return {**self.__dict__, "_opened": {}}

    def fingerprint(self) -> JsonObject:
        return fingerprint([self.state], place=self.place, shape=list(self.shape))


def _check_rows(container: Container, array: object, start: int, stop: int) -> None:
    """Refuse rows that have changed, or whose chunks cannot be decoded. A chunk that is a pipe now is not opened."""
    container.check_unchanged(array, start, stop)
    container.check_chunks(array, start, stop)


def stored_rows(path: str, kind: str, key: str | None = None, memory: int | None = None) -> StoredRows:
    """The matrix of a file: the array `key`, AnnData's X, or the only two-dimensional array."""
    name = Path(path).name
    state = FileState.of(path)
    container = open_container(path, kind)
    place = key if key is not None else _place(container, name)
    found = container.get(container.root, place)
    unread = () if key is not None else unread_notes(container.names, container.get, container.root, place)
    if found is None:
        names = container.names(container.root)
        raise ParameterError(
            f"{name}: {place!r} is a link to an array that is not in the file. Write the file again, or choose another "
            f"array with {KEY}."
            if place in names
            else f"{name} has no array or group {place!r}. It contains {', '.join(names[:20]) or 'no named arrays'}."
        )
    if _is_group(found):
        rows = _sparse(state, kind, place, container, found, memory)
    else:
        rows = _dense(state, kind, place, container, found, memory)
    metadata = replace(rows.metadata, notes=(*rows.metadata.notes, *unread))
    rows = replace(rows, metadata=metadata, _opened={"container": container})
    if place.strip("/") != "X" and not place.strip("/").startswith("layers/"):
        return rows
    sides = zip(("obs", "var"), rows.shape, strict=True)
    row_names, column_names = (axis_names(container, side, size, name, memory) for side, size in sides)
    labels = cell_labels(container, rows.shape[0], name, memory)
    return _with_names(rows, row_names, column_names, labels)


def _with_names(
    rows: StoredRows,
    row_names: tuple[str, ...] | None,
    column_names: tuple[str, ...] | None,
    labels: dict[str, tuple[str, ...]],
) -> StoredRows:
    own, notes = (None, []) if column_names is None else unique_names(column_names)
    columns = None if own is None else tuple(own)
    notes = [*rows.metadata.notes, *notes]
    metadata = replace(rows.metadata, row_names=row_names, column_names=columns, labels=labels, notes=tuple(notes))
    return replace(rows, metadata=metadata)


def _is_group(found: object) -> bool:
    return hasattr(found, "keys")


def _dense(state: FileState, kind: str, place: str, container: Container, array: Any, memory: int | None) -> StoredRows:
    name = Path(state.path).name
    sizes = array.shape or ()  # HDF5 has arrays without any shape
    if len(sizes) != 2 or np.dtype(array.dtype).kind not in "fiub" or 0 in sizes:
        raise FileError(
            f"{named_array(name, place)}: an array of shape {tuple(sizes)} and type {array.dtype} is not "
            f"a matrix of numbers. Choose another array with {KEY}."
        )
    container.check(array, place)
    shape = (int(array.shape[0]), int(array.shape[1]))
    _check_chunk(array, name, memory)
    chunk = int(array.chunks[0]) if array.chunks else 0
    columns = _columns_at_a_time(array, memory) if kind == "zarr" else 0
    return StoredRows(
        state,
        kind,
        place,
        shape,
        np.dtype(array.dtype),
        False,
        shape[0] * shape[1],
        chunk,
        Metadata(name, notes=_number_notes(array, place)),
        columns,
    )


def _number_notes(array: Any, place: str) -> tuple[Note, ...]:
    """What users must know about stored numbers: digits lost in float64, and attributes that are not applied."""
    title = place.lstrip("/")
    return precision_notes(np.dtype(array.dtype)) + packing_notes(array, title) + layout_notes(array, title)


def _columns_at_a_time(array: Any, memory: int | None) -> int:
    """Number of columns whose chunks take a sixteenth of the allowed memory, at least one chunk; 0 if all columns fit.

    Zarr decodes all chunks of a block of rows at once, h5py one after another. For an array stored by columns, the
    chunks are decoded again for every block.
    """
    rows, columns = array.chunks
    limit = (free_memory() if memory is None else memory) // 16
    size = rows * columns * np.dtype(array.dtype).itemsize
    count = max(1, limit // max(size, 1))
    return 0 if count * columns >= array.shape[1] else int(count * columns)


def _check_chunk(array: Any, name: str, memory: int | None) -> None:
    """Check the size of a chunk, which is unpacked whole even if few of its numbers are wanted.

    While it is unpacked, the packed chunk is in memory as well. It may be as large.
    """
    if array.chunks:
        copies = 2 if _is_packed(array) else 1
        size = copies * math.prod(array.chunks) * np.dtype(array.dtype).itemsize
        check_piece(size, name, f"reading one chunk of {' x '.join(map(str, array.chunks))} values", memory)


def _is_packed(array: Any) -> bool:
    """Whether there are two copies of a chunk while it is read: Zarr reads all chunks as bytes first."""
    return not hasattr(array, "id") or bool(array.id.get_create_plist().get_nfilters())


def _named_group(file: str, place: str) -> str:
    """A group in words; the root has no name."""
    return f"{file}, group {place!r}" if place else file


def _check_encoding(encoding: str, name: str, place: str) -> None:
    if "csc" in encoding:
        raise FileError(
            f"{_named_group(name, place)}: the matrix is stored by columns ({encoding}), so it cannot be read in "
            "blocks of rows. Save it in CSR format, for example with X.tocsr()."
        )
    if encoding and "csr" not in encoding:
        raise FileError(
            f"{_named_group(name, place)}: the encoding is {quoted(encoding)}, but Eckart reads "
            "only dense arrays and CSR matrices. Save the matrix in CSR format, or choose another "
            f"array with {KEY}."
        )


def _check_part(found: Any, name: str, place: str, part: str) -> None:
    allowed = "fiub" if part == "data" else "iu"
    if len(found.shape or ()) != 1 or np.dtype(found.dtype).kind not in allowed:
        raise FileError(
            f"{_named_group(name, place)}: {part!r} is not a one-dimensional array of numbers. Save the "
            "matrix again in CSR format."
        )


def _csr_members(container: Container, group: Any, place: str, name: str, memory: int | None) -> list[Any]:
    """The arrays data, indices and indptr of a group, checked one by one."""
    parts = {part: container.get(group, part) for part in ("data", "indices", "indptr")}
    missing = [part for part, found in parts.items() if found is None or _is_group(found)]
    if missing:
        raise FileError(
            f"{_named_group(name, place)}: there is no {', '.join(missing)}, so this is not a CSR "
            f"matrix. Choose another array with {KEY}."
        )
    for part, found in parts.items():
        _check_part(found, name, place, part)
        container.check(found, f"{place}/{part}".lstrip("/"))
        _check_chunk(found, name, memory)
    return list(parts.values())


def _sparse(
    state: FileState, kind: str, place: str, container: Container, group: Any, memory: int | None
) -> StoredRows:
    name = Path(state.path).name
    attributes = dict(group.attrs)
    _check_encoding(str(attributes.get("encoding-type", attributes.get("h5sparse_format", ""))), name, place)
    data, indices, indptr = _csr_members(container, group, place, name, memory)
    stated = attributes.get("shape", attributes.get("h5sparse_shape", ()))
    shape = _shape(stated)
    if shape is None:
        raise FileError(
            f"{_named_group(name, place)}: the attribute 'shape' is {stated!s:.60}, but it should be two whole numbers "
            "greater than 0. Save the matrix again."
            if "shape" in attributes or "h5sparse_shape" in attributes
            else f"{_named_group(name, place)}: the attribute 'shape' is missing. Save the matrix again."
        )
    if shape[0] + 1 != int(indptr.shape[0]):
        raise FileError(
            f"{_named_group(name, place)}: the attribute 'shape' is {stated!s:.60}, but 'indptr' has "
            f"{int(indptr.shape[0])} entries. It must have one entry more than there are rows. Save "
            "the matrix again."
        )
    count = int(data.shape[0])
    if count != int(indices.shape[0]):
        raise FileError(
            f"{_named_group(name, place)}: there are {indices.shape[0]:,} indices but {count:,} values. Save "
            "the matrix again."
        )
    metadata = Metadata(name, notes=_number_notes(data, f"{place}/data".lstrip("/")))
    return StoredRows(state, kind, place, shape, np.dtype(data.dtype), True, count, 0, metadata)


def _shape(sizes: object) -> tuple[int, int] | None:
    """Two whole numbers of at least 1, or None."""
    found = np.asarray(sizes)
    if found.shape != (2,) or found.dtype.kind not in "iu" or (found < 1).any() or (found > 2**62).any():
        return None
    return int(found[0]), int(found[1])


def _is_table(found: Any) -> bool:
    return not _is_group(found) and len(getattr(found, "shape", None) or ()) == 2


def matrices_of(names: Sequence[str], is_table: Callable[[str], bool]) -> list[str]:
    """Members of a group that may be the matrix: only the X of AnnData, which may be sparse, or all tables."""
    if "X" in names and {"obs", "var"} & set(names):
        return ["X"]
    return [name for name in names if name == "X" or is_table(name)]


def _tables_in(names: Callable[[Any], list[str]], get: Callable[[Any, str], Any], root: Any, title: str) -> list[str]:
    """Paths of the tables in a member that is a group."""
    group = get(root, title)
    inner = names(group) if _is_group(group) else []
    return [f"{title}/{name}" for name in inner if _is_table(get(group, name))]


def unread_notes(
    names: Callable[[Any], list[str]], get: Callable[[Any, str], Any], root: Any, place: str
) -> tuple[Note, ...]:
    """A note on arrays in groups, if the matrix `place` was read because it is the only one outside groups."""
    if not place or not _is_group(root) or {"obs", "var"} & set(names(root)):  # groups of AnnData are not alternatives
        return ()
    seen = _seen_in_groups(names, get, root, place)
    if not seen:
        return ()
    text = f"Eckart read {place!r}, the only matrix outside groups. The groups contain {seen}. Choose one with {KEY}."
    return (Note("unread_arrays", text),)


def _seen_in_groups(
    names: Callable[[Any], list[str]], get: Callable[[Any, str], Any], root: Any, place: str = ""
) -> str:
    """The paths of the tables in groups, other than `place`, in words; empty if there are none."""
    others: list[str] = []
    for title in names(root):
        with contextlib.suppress(EckartError, OSError, KeyError, RuntimeError, ValueError):
            others += _tables_in(names, get, root, title) if title != place else []
    return f"{', '.join(map(repr, others[:5]))}{' and others' if len(others) > 5 else ''}" if others else ""


def _place(container: Container, name: str) -> str:
    root = container.root
    if not _is_group(root):
        return ""
    names = container.names(root)
    if "indptr" in names and "data" in names:
        return ""
    tables = matrices_of(names, lambda key: _is_table(container.get(root, key)))
    if len(tables) == 1:
        return tables[0]
    seen = ", ".join(repr(key) for key in tables[:20])
    if not tables:
        inner = _seen_in_groups(container.names, container.get, root)
        raise ParameterError(
            f"{name} contains no two-dimensional array at the top level. "
            + (
                f"Its groups contain {inner}. Choose one with {KEY}."
                if inner
                else f"To read an array inside a group, give its path, such as 'group/array', with {KEY}."
            )
        )
    raise ParameterError(f"{name} contains {len(tables)} two-dimensional arrays: {seen}. Choose an array with {KEY}.")
