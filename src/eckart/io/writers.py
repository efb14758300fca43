"""Rows written block by block to .npy, .parquet or .zarr; the file gets its name only when it is complete."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from eckart.errors import ParameterError, require
from eckart.files import ZARR_MARKS, new_file, new_folder

KINDS = (".npy", ".parquet", ".zarr")
Write = Callable[[np.ndarray], None]


@contextmanager
def row_writer(
    path: str | os.PathLike[str], shape: tuple[int, int], dtype: np.dtype, names: Sequence[str], *, overwrite: bool
) -> Iterator[Write]:
    """A function that accepts blocks of rows, in order, until there are `shape[0]` of them."""
    target = Path(path)
    top_loadings = {".npy": _npy, ".parquet": _parquet, ".zarr": _zarr}
    make = top_loadings.get(target.suffix.lower())
    if make is None:
        raise ParameterError(
            f"{target.name}: to write rows in blocks, the name of the file must end in one of "
            f"{', '.join(KINDS)}. Choose another name."
        )
    with make(target, shape, np.dtype(dtype), list(names), overwrite) as write:
        yield write


@contextmanager
def _npy(target: Path, shape: tuple[int, int], dtype: np.dtype, _names: list[str], overwrite: bool) -> Iterator[Write]:
    with new_file(target, overwrite=overwrite) as file:
        header = {"descr": dtype.newbyteorder("<").str, "fortran_order": False, "shape": shape}
        np.lib.format.write_array_header_1_0(file, header)

        def write(block: np.ndarray) -> None:
            file.write(np.ascontiguousarray(block, dtype=dtype).data)

        yield write


@contextmanager
def _parquet(
    target: Path, _shape: tuple[int, int], dtype: np.dtype, names: list[str], overwrite: bool
) -> Iterator[Write]:
    import pyarrow as pa
    from pyarrow import parquet

    schema = pa.schema([(name, pa.from_numpy_dtype(dtype)) for name in names])
    with new_file(target, overwrite=overwrite) as file, parquet.ParquetWriter(file, schema) as writer:

        def write(block: np.ndarray) -> None:
            columns = [np.ascontiguousarray(block[:, j], dtype=dtype) for j in range(len(names))]
            writer.write_table(pa.table(columns, schema=schema))

        yield write


@contextmanager
def _zarr(target: Path, shape: tuple[int, int], dtype: np.dtype, _names: list[str], overwrite: bool) -> Iterator[Write]:
    zarr = require("zarr", extra="zarr", purpose="Zarr stores")
    rows = max(1, min(shape[0], 2**22 // max(1, shape[1] * dtype.itemsize)))
    done = 0
    with new_folder(target, overwrite=overwrite, known=ZARR_MARKS) as draft:
        array = zarr.create_array(str(draft), shape=shape, chunks=(rows, shape[1]), dtype=dtype)

        def write(block: np.ndarray) -> None:
            nonlocal done
            array[done : done + len(block)] = block
            done += len(block)

        yield write
