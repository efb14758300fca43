"""Rows of an external array that provides slices: h5py and Zarr arrays, AnnData's backed matrices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from threading import Lock
from typing import Any

import numpy as np

from eckart.aliases import JsonObject
from eckart.engine.blocks.dask_rows import as_block
from eckart.engine.blocks.rounded import is_long
from eckart.engine.blocks.source import Block, Metadata
from eckart.errors import InputError
from eckart.fingerprint import unknown_state
from eckart.io.arrays.containers import Container, Hdf5, Zarr
from eckart.io.arrays.gaps import refuse_gaps
from eckart.io.arrays.npy import precision_notes
from eckart.io.arrays.packing import layout_notes, packing_notes
from eckart.io.guard import reads_rows
from eckart.wording import KEY


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
