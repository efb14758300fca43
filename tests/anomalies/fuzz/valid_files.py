"""Small valid files of every format, as a starting point for mutations."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import scipy.io
from pyarrow import feather, ipc, parquet
from scipy import sparse

from tests.anomalies.fuzz import optional

h5py, zarr = optional("h5py"), optional("zarr")

RNG = np.random.default_rng(20)
DENSE = np.round(RNG.standard_normal((40, 5)) * 100, 3)
SPARSE = sparse.csr_array(DENSE * (RNG.random(DENSE.shape) < 0.3))
NAMES = ("alpha", "beta", "gamma", "delta", "epsilon")
TOWNS = tuple(f"town {i}" for i in range(40))


def text(delimiter: str = ",", decimal: str = ".", *, names: bool = True, quoted: bool = False) -> bytes:
    lines = [delimiter.join(("", *NAMES) if names else NAMES)]
    for town, row in zip(TOWNS, DENSE, strict=True):
        cells = [repr(float(x)).replace(".", decimal) for x in row]
        name = f'"{town}{delimiter} by\nthe sea"' if quoted else town.replace(" ", "-")
        lines.append(delimiter.join((name, *cells) if names else cells))
    return ("\n".join(lines) + "\n").encode()


def table(*, mixed: bool = False) -> pa.Table:
    columns: dict[str, Any] = {name: DENSE[:, j] for j, name in enumerate(NAMES)}
    if mixed:
        columns |= {
            "town": pa.array(TOWNS),
            "kind": pa.array([f"k{i % 3}" for i in range(40)]).dictionary_encode(),
            "count": pa.array(range(40), pa.int32()),
            "flag": pa.array([i % 2 == 0 for i in range(40)]),
            "gap": pa.array([None if i == 7 else float(i) for i in range(40)]),
            "single": pa.array(DENSE[:, 0].astype(np.float32)),
        }
    return pa.table(columns)


def _npz(path: Path, matrix: Any = None, *, packed: bool = True) -> None:
    if matrix is None:
        np.savez(path, x=DENSE, line=np.arange(3))
    else:
        sparse.save_npz(path, matrix, compressed=packed)


def _market(path: Path, matrix: Any, **options: Any) -> None:
    scipy.io.mmwrite(path, matrix, **options)


def _triplets(path: Path) -> None:
    entries = SPARSE.tocoo()
    columns = {"row": entries.row, "column": entries.col, "value": entries.data}
    parquet.write_table(pa.table(columns), path, row_group_size=20)


def _arrow(path: Path, *, stream: bool = False) -> None:
    kind = ipc.new_stream if stream else ipc.new_file
    with pa.OSFile(str(path), "wb") as sink, kind(sink, table(mixed=True).schema) as writer:
        writer.write_table(table(mixed=True), max_chunksize=15)


def _hdf5(path: Path, *, chunks: Any = None) -> None:
    with h5py.File(path, "w") as file:
        file.create_dataset("matrix", data=DENSE, chunks=chunks, compression="gzip" if chunks else None)


def _groups(root: Any, matrix: Any, put: Callable[..., Any]) -> None:
    if sparse.issparse(matrix):
        group = root.create_group("X")
        group.attrs["encoding-type"], group.attrs["shape"] = "csr_matrix", list(matrix.shape)
        for part in ("data", "indices", "indptr"):
            put(group, part, getattr(matrix, part))
    else:
        put(root, "X", matrix)
    for side, names in (("obs", TOWNS), ("var", NAMES)):
        group = root.create_group(side)
        group.attrs["_index"] = "_index"
        put(group, "_index", np.array([name.encode() for name in names]))


def _packed_h5ad(path: Path) -> None:
    """As AnnData writes it with compression="gzip": names of variable length, in compressed chunks."""

    def put(group: Any, name: str, data: Any) -> None:
        names = {"data": data.astype(str).tolist(), "dtype": h5py.string_dtype()} if data.dtype.kind == "S" else None
        group.create_dataset(name, **(names or {"data": data}), chunks=(len(data) // 2 + 1,), compression="gzip")

    with h5py.File(path, "w") as file:
        _groups(file, SPARSE, put)


def _h5ad(path: Path, matrix: Any) -> None:
    with h5py.File(path, "w") as file:
        _groups(file, matrix, lambda group, name, data: group.create_dataset(name, data=data))


def _zarr(path: Path, matrix: Any, version: int) -> None:
    def put(group: Any, name: str, data: Any) -> None:
        if data.dtype.kind == "S":
            return
        rows = -(-data.shape[0] // 3)
        chunks, config = (rows, *data.shape[1:]), {"write_empty_chunks": True}
        array = group.create_array(name, shape=data.shape, chunks=chunks, dtype=data.dtype, config=config)
        array[:] = data

    root = zarr.open_group(str(path), mode="w", zarr_format=version)
    _groups(root, matrix, put)


SQUARE = sparse.coo_array(np.tril(SPARSE.toarray()[:5]))

FILES: dict[str, Callable[[Path], Any]] = {
    "plain.csv": lambda path: path.write_bytes(text(names=False)),
    "named.csv": lambda path: path.write_bytes(text(quoted=True)),
    "comma.csv": lambda path: path.write_bytes(text(";", ",")),
    "tabs.tsv": lambda path: path.write_bytes(text("\t")),
    "blanks.txt": lambda path: path.write_bytes(text(" ", names=False)),
    "packed.csv.gz": lambda path: path.write_bytes(gzip.compress(text())),
    "rows.npy": lambda path: np.save(path, DENSE),
    "columns.npy": lambda path: np.save(path, np.asfortranarray(DENSE)),
    "whole.npy": lambda path: np.save(path, DENSE.astype(np.int16)),
    "single.npy": lambda path: np.save(path, DENSE.astype(">f4")),
    "dense.npz": _npz,
    "csr.npz": lambda path: _npz(path, SPARSE),
    "stored.npz": lambda path: _npz(path, SPARSE, packed=False),
    "csc.npz": lambda path: _npz(path, SPARSE.tocsc()),
    "coo.npz": lambda path: _npz(path, SPARSE.tocoo(), packed=False),
    "entries.mtx": lambda path: _market(path, sparse.coo_array(SPARSE)),
    "symmetric.mtx": lambda path: _market(path, SQUARE + SQUARE.T, symmetry="symmetric"),
    "dense.mtx": lambda path: _market(path, DENSE),
    "table.parquet": lambda path: parquet.write_table(table(), path, row_group_size=15),
    "mixed.parquet": lambda path: parquet.write_table(table(mixed=True), path, row_group_size=15),
    "triplets.parquet": _triplets,
    "mixed.feather": lambda path: feather.write_feather(table(mixed=True), path, chunksize=15),
    "mixed.arrow": _arrow,
    "stream.arrow": lambda path: _arrow(path, stream=True),
    "plain.h5": _hdf5,
    "chunks.h5": lambda path: _hdf5(path, chunks=(16, 5)),
    "dense.h5ad": lambda path: _h5ad(path, DENSE),
    "csr.h5ad": lambda path: _h5ad(path, SPARSE),
    "packed.h5ad": _packed_h5ad,
    "dense2.zarr": lambda path: _zarr(path, DENSE, 2),
    "dense3.zarr": lambda path: _zarr(path, DENSE, 3),
    "csr3.zarr": lambda path: _zarr(path, SPARSE, 3),
}
