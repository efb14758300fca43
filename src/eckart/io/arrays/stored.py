"""Rows of arrays in HDF5 files, AnnData files and Zarr stores: dense, or CSR as AnnData writes it.

Both libraries give objects with `shape`, `dtype`, `chunks`, `attrs` and slices that are read when they are taken, so
one text serves both; only opening differs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from eckart.engine.blocks.source import About, Block
from eckart.errors import FileError, ParameterError, require
from eckart.fingerprint import fingerprint
from eckart.io.bytes import reason, shown
from eckart.io.rows import FileState

_NAMES = ("_index", "index", "cell_id", "gene_id")
_MOST_NAMES = 1_000_000


@dataclass(frozen=True)
class StoredRows:
    """Rows of a dense array, or of a group with data, indices and indptr."""

    state: FileState
    kind: str
    """"hdf5" or "zarr"."""
    place: str
    """Where in the file the array or group is."""
    shape: tuple[int, int]
    stored: np.dtype[Any]
    sparse: bool
    count: int
    chunk: int
    about: About = field(default_factory=About)

    @property
    def dtype(self) -> np.dtype[Any]:
        return np.dtype(np.float32 if self.stored.newbyteorder("=") == np.float32 else np.float64)

    @property
    def entries(self) -> int:
        return self.count

    def cuts(self) -> Sequence[int]:
        return range(0, self.shape[0], self.chunk) if self.chunk else ()

    def read(self, start: int, stop: int) -> Block:
        if self.kind == "hdf5":
            self.state.check(self.about.name, start, stop)
        try:
            found = _open(self.state, self.kind)[self.place] if self.place else _open(self.state, self.kind)
            return self._csr(found, start, stop) if self.sparse else np.asarray(found[start:stop], dtype=self.dtype)
        except (OSError, KeyError, ValueError, RuntimeError) as error:
            raise FileError(
                f"{self.about.name}: rows {start:,} to {stop:,} cannot be read ({reason(error)}). Copy the file again."
            ) from error

    def _csr(self, group: Any, start: int, stop: int) -> Block:
        from scipy import sparse

        pointers = np.asarray(group["indptr"][start : stop + 1], dtype=np.int64)
        first, last = int(pointers[0]), int(pointers[-1])
        data = np.asarray(group["data"][first:last], dtype=self.dtype)
        indices = np.asarray(group["indices"][first:last])
        if indices.size and not 0 <= int(indices.min()) <= int(indices.max()) < self.shape[1]:
            raise ValueError(f"a column index lies outside 0..{self.shape[1] - 1}")
        shape = (stop - start, self.shape[1])
        return sparse.csr_array((data, indices.astype(np.int32, copy=False), pointers - first), shape=shape)

    def fingerprint(self) -> dict[str, Any]:
        return fingerprint([self.state], place=self.place, shape=list(self.shape))


@lru_cache(maxsize=4)
def _open(state: FileState, kind: str) -> Any:
    if kind == "hdf5":
        return require("h5py", extra="hdf5", purpose="HDF5 and AnnData files").File(state.path, "r")
    return require("zarr", extra="zarr", purpose="Zarr stores").open(state.path, mode="r")


def stored_rows(path: str, kind: str, key: str | None = None) -> StoredRows:
    """The matrix of a file: the array `key`, or AnnData's X, or the only array of two dimensions."""
    name = Path(path).name
    state = FileState.of(path)
    try:
        root = _open(state, kind)
    except (OSError, ValueError, KeyError) as error:
        raise FileError(
            f"{shown(path)} cannot be opened ({reason(error)}). Copy it again, or write it again."
        ) from error
    place = key if key is not None else _place(root, name)
    found = root[place] if place else root
    anndata = place == "X"
    about = About(
        name,
        row_names=_index(root, "obs") if anndata else None,
        column_names=_index(root, "var") if anndata else None,
    )
    if hasattr(found, "keys"):
        return _sparse(state, kind, place, found, about)
    if len(found.shape) != 2 or np.dtype(found.dtype).kind not in "fiub":
        raise FileError(
            f"{name}, array {place!r}: shape {tuple(found.shape)} of {found.dtype} is no matrix of numbers."
        )
    shape = (int(found.shape[0]), int(found.shape[1]))
    chunk = int(found.chunks[0]) if found.chunks else 0
    return StoredRows(state, kind, place, shape, np.dtype(found.dtype), False, shape[0] * shape[1], chunk, about)


def _sparse(state: FileState, kind: str, place: str, group: Any, about: About) -> StoredRows:
    encoding = str(group.attrs.get("encoding-type", group.attrs.get("h5sparse_format", "")))
    if "csc" in encoding:
        raise FileError(
            f"{about.name}, {place!r} is stored by columns ({encoding}), and rows cannot be read from it in blocks. "
            "Write it as CSR, for example with X.tocsr()."
        )
    missing = [part for part in ("data", "indices", "indptr") if part not in group]
    if missing:
        raise FileError(f"{about.name}, {place!r} is a group without {', '.join(missing)}; it is no CSR matrix.")
    shape = tuple(int(size) for size in np.asarray(group.attrs.get("shape", group.attrs.get("h5sparse_shape", ()))))
    if len(shape) != 2 or shape[0] + 1 != int(group["indptr"].shape[0]):
        raise FileError(f"{about.name}, {place!r}: the shape {shape} does not fit its row pointers.")
    data = group["data"]
    both = (shape[0], shape[1])
    return StoredRows(state, kind, place, both, np.dtype(data.dtype), True, int(data.shape[0]), 0, about)


def _place(root: Any, name: str) -> str:
    if not hasattr(root, "keys"):
        return ""
    if "X" in root:
        return "X"
    if "indptr" in root and "data" in root:
        return ""
    tables = [key for key in root if not hasattr(root[key], "keys") and len(root[key].shape) == 2]
    if len(tables) == 1:
        return str(tables[0])
    seen = ", ".join(repr(key) for key in tables) if tables else "none"
    raise ParameterError(f"{name} holds {len(tables)} arrays of two dimensions: {seen}. Say which with key=...")


def _index(root: Any, side: str) -> tuple[str, ...] | None:
    """Names of the rows or columns of AnnData, where they are few enough to keep."""
    group = root.get(side)
    if group is None or not hasattr(group, "keys"):
        return None
    key = str(group.attrs.get("_index", "_index"))
    names = group[key] if key in group else next((group[other] for other in _NAMES if other in group), None)
    if names is None or names.shape[0] > _MOST_NAMES:
        return None
    return tuple(value.decode() if isinstance(value, bytes) else str(value) for value in names[:])
