"""Open h5py and Zarr objects: an array, or the member `key` of a group, whose rows are read as slices.

AnnData's backed matrices are read in the same way.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Lock
from typing import Any, NoReturn

import numpy as np

from eckart.aliases import JsonObject
from eckart.engine.blocks.dask_rows import as_block
from eckart.engine.blocks.rounded import is_long
from eckart.engine.blocks.source import Block, Metadata, RowSource
from eckart.errors import InputError, translated
from eckart.fingerprint import unknown_state
from eckart.io.arrays.containers import Container, Hdf5, Zarr, check_inside
from eckart.io.arrays.gaps import refuse_gaps
from eckart.io.arrays.npy import precision_notes
from eckart.io.arrays.packing import layout_notes, packing_notes
from eckart.io.arrays.stored import matrices_of, stored_rows, unread_notes
from eckart.io.guard import reads_rows, reason
from eckart.wording import KEY


def is_stored(data: object) -> bool:
    """An h5py Dataset, Group or File, or a Zarr array or group."""
    module = type(data).__module__.partition(".")[0]
    known = hasattr(type(data), "shape") or hasattr(data, "keys") or lacks_shape(data)
    return module in ("h5py", "zarr") and known


def _only_table(data: Any, names: list[str]) -> str | None:
    """The X of AnnData, or the only member of two dimensions."""
    tables = matrices_of(names, lambda name: len(getattr(_member(data, name), "shape", ()) or ()) == 2)
    return tables[0] if len(tables) == 1 else None


def stored_object(data: Any, key: str | None, memory: int | None) -> RowSource:
    """The rows of an array, or of the member `key` of a group, or of its only matrix."""

    def unreadable(error: Exception) -> InputError:
        """Of h5py and Zarr, for example for objects whose file was closed."""
        kind = "array" if hasattr(type(data), "shape") else "group"
        return InputError(f"The {kind} cannot be read: {reason(error)}. Keep its file open, or pass its path.")

    with translated(unreadable):
        return _opened(ShapedView(data) if lacks_shape(data) else data, key, memory)


def _opened(data: Any, key: str | None, memory: int | None) -> RowSource:
    if (own := _array_rows(data, memory)) is not None:
        return own
    names = _members(data)
    chosen = _only_key(data, names) if key is None else key
    found = None if chosen is None else _member(data, chosen) if chosen else data
    if found is None:
        _refuse_group(names)
    rows: Any = _rows(found, memory)
    if rows is None:
        _refuse_group(_members(found))
    unread = unread_notes(_members, _member, data, chosen or "") if key is None else ()
    known = rows.metadata
    noted: RowSource = replace(rows, metadata=replace(known, notes=(*known.notes, *unread))) if unread else rows
    return noted


def _only_key(data: Any, names: list[str]) -> str | None:
    """The key of the only matrix; empty if the group itself is one, and None if there are none or several."""
    return "" if "indptr" in names else _only_table(data, names)


def _refuse_group(names: list[str]) -> NoReturn:
    if not names:
        raise InputError("The group is empty. Pass a group or a file that contains an array.")
    members = ", ".join(map(repr, names[:20]))
    raise InputError(f"The group contains {members}. Choose an array with {KEY}.")


def _rows(data: Any, memory: int | None) -> RowSource | None:
    """The rows of an array or of a CSR group; None for other groups."""
    rows = _array_rows(data, memory)
    return stored_rows(*_place(data), memory) if rows is None and "indptr" in _members(data) else rows


def _member(group: Any, key: str) -> Any:
    """The array or group `key`, or None; links to other HDF5 files are refused, as in a file given by its path."""
    if is_hdf5(group):
        return Hdf5.of(group).get(group, key)
    parts = [part for part in key.split("/") if part]
    check_inside(parts, f"The key {key!r}")
    return group.get("/".join(parts)) if parts else None


def _members(group: Any) -> list[str]:
    try:
        return [str(name) for name in group]
    except (KeyError, RuntimeError, ValueError) as error:  # of h5py
        raise InputError(
            "The group cannot be read, because its file was closed. Keep the file open, or pass its path."
        ) from error


def _array_rows(data: Any, memory: int | None) -> RowSource | None:
    """The rows of an array; None for a group. A Zarr array in a local folder is read as if given by its path."""
    if not hasattr(data, "shape"):
        return None
    folder = _folder(data) if hasattr(data, "store") else None
    if folder is not None and folder.is_dir():
        return stored_rows(*_place(data), memory)
    return sliced_rows(data, str(getattr(data, "name", "") or "").lstrip("/") or "array")


def _folder(member: Any) -> Path | None:
    """The folder of a local Zarr store; None for other stores."""
    root = getattr(member.store, "root", None)
    return Path(root) if root else None


def _place(group: Any) -> tuple[str, str, str]:
    """(file or folder, kind, path inside) of a CSR matrix on disk."""
    path: Path | None
    if is_hdf5(group):
        path, kind, inside = Path(str(group.file.filename)), "hdf5", str(group.name)
    else:
        path, kind, inside = _folder(group), "zarr", str(group.path)
    if path is None or not path.exists():
        raise InputError(
            "The sparse matrix is in a Zarr store in memory, which Eckart does not read. Pass it as a "
            "scipy.sparse matrix instead."
        )
    return str(path), kind, inside.strip("/")


@dataclass(frozen=True)
class SlicedRows:
    """The rows of `array`, read with array[start:stop] on demand."""

    array: Any
    metadata: Metadata = field(default_factory=Metadata)
    sparse: bool = False
    stored: int | None = None
    """Stored entries of a sparse array."""
    checked: Container | None = None
    """The HDF5 file or Zarr store of `array`, whose chunks are checked before they are decoded."""
    _lock: Any = field(default_factory=Lock, compare=False, repr=False)

    @property
    def shape(self) -> tuple[int, int]:
        rows, columns = self.array.shape
        return int(rows), int(columns)

    @property
    def dtype(self) -> np.dtype:
        return np.dtype(np.float32 if self.array.dtype in (np.float16, np.float32) else np.float64)

    @property
    def integers(self) -> Sequence[int]:
        """Positions of columns whose numbers float64 may round."""
        return range(self.shape[1]) if is_long(np.dtype(self.array.dtype)) else ()

    @property
    def entries(self) -> int:
        return self.shape[0] * self.shape[1] if self.stored is None else self.stored

    def cuts(self) -> Sequence[int]:
        chunks = None if self.sparse else getattr(self.array, "chunks", None)
        return range(0, self.shape[0], int(chunks[0])) if chunks else ()

    @reads_rows
    def read(self, start: int, stop: int) -> Block:
        with self._lock:  # HDF5 libraries are not thread-safe
            if self.checked is None:
                return as_block(self.array[start:stop], self.dtype)
            array = _dataset(self.array)
            self.checked.check_unchanged(array, start, stop)
            self.checked.check_chunks(array, start, stop)
            block = as_block(self.array[start:stop], self.dtype)
            self.checked.check_unchanged(array, start, stop)
            return block

    def fingerprint(self) -> JsonObject:
        name = str(getattr(self.array, "name", ""))
        content = {"shape": list(self.shape), "dtype": str(self.dtype), "name": name}
        return {"content": content, "state": unknown_state()}


def sliced_rows(array: Any, name: str) -> SlicedRows:
    """A stored two-dimensional array of numbers."""
    shape, kind = tuple(array.shape or ()), np.dtype(array.dtype).kind
    if len(shape) != 2 or kind not in "fiub":
        raise InputError(
            f"{name} of shape {shape} and type {array.dtype} is not a matrix of numbers. Choose "
            f"another array with {KEY}."
        )
    if not all(shape):
        raise InputError(f"{name} has the shape {shape}, so it contains no numbers. Choose another array with {KEY}.")
    notes = precision_notes(np.dtype(array.dtype)) + packing_notes(array, name) + layout_notes(array, name)
    return SlicedRows(array, Metadata(name, notes=notes), checked=complete_array(array, name))


class ShapedView:
    """The view dataset.astype(dtype) of h5py 3.11, with the shape and the dtype that views of newer versions have."""

    def __init__(self, view: Any) -> None:
        self._dset, self.shape, self.dtype = view._dset, view._dset.shape, view._dtype
        self._view = view

    def __getitem__(self, rows: object) -> Any:
        return self._view[rows]


def lacks_shape(data: object) -> bool:
    """Whether it is such a view."""
    return is_hdf5(data) and hasattr(data, "_dset") and hasattr(data, "_dtype") and not hasattr(type(data), "shape")


def is_hdf5(data: object) -> bool:
    """Whether it is an object of h5py."""
    return type(data).__module__.partition(".")[0] == "h5py"


def complete_array(array: Any, name: str) -> Container | None:
    """Refuse an open array with chunks that were never written; return its container, None if it is not a local file.

    The rule is that of a file given by its path: HDF5 and Zarr would replace missing chunks with a fill value.
    """
    array = _dataset(array)
    container = Hdf5.of(array) if is_hdf5(array) else Zarr.of(array)
    if container is not None:
        container.check(array, name)
        return container
    refuse_gaps("Zarr store", name, array.shape, array.nchunks, array.nchunks_initialized, "chunks")
    return None


def _dataset(array: Any) -> Any:
    """The dataset of a view such as dataset.astype(float)."""
    return getattr(array, "_dset", array)
