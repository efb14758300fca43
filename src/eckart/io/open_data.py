"""open_data: the single entry point from user data to a matrix, for every public function and the command line.

Arrays and sparse matrices are returned unchanged, because they are processed on their device. Everything else becomes a
source: rows with names, in memory or read in blocks. Unknown objects are refused by the name of their type.
"""

from __future__ import annotations

import io
import itertools
import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any, BinaryIO, cast

import numpy as np

from eckart.arrays import is_array, is_sparse
from eckart.cleanup import RemovedOnError
from eckart.documentation import document
from eckart.engine.blocks.dask_rows import dask_rows, is_dask, is_dask_table
from eckart.engine.blocks.source import DataSource, RowSource, Source, mapped_rows
from eckart.errors import EckartError, FileError, InputError
from eckart.io.coded_missing import with_missing
from eckart.io.guard import reading_frame
from eckart.io.not_tables import not_rectangular, refuse
from eckart.io.objects.tensors import plain_array, refuse_nested
from eckart.io.read_options import DEFAULT, ReadOptions
from eckart.io.selected import chosen, masked, refuse_parts
from eckart.mapped import in_memory, sparse_in_memory
from eckart.options import hint_keywords, memory_bytes


@document
@hint_keywords
def open_data(
    data: object,
    *,
    format: str | None = None,
    key: str | None = None,
    delimiter: str | None = None,
    decimal: str | None = None,
    encoding: str | None = None,
    header: bool | int | None = None,
    missing_values: Sequence[str | float] | None = None,
    row_names: str | None = "auto",
    columns: Sequence[str | int] | None = None,
    layer: str | None = None,
    mask: object = None,
    memory: str | int | None = None,
    stream: bool | None = None,
) -> Source | RowSource:
    """Open data of any kind with explicit reading options.

    You can pass the result to every function of Eckart that takes data.

    Parameters
    ----------
    data : array-like, sparse matrix, data frame, path or stream
        Any data that `decompose` accepts. In addition to arrays and data frames, it accepts Arrow tables and
        streams, database cursors and connection strings, lists of paths, dicts of columns, lists of dicts, iterators of
        batches, AnnData and xarray objects.
    format : str, default None
        Format of a file: csv, tsv, parquet, arrow, npy, npz, mtx, h5, h5ad or zarr. None detects the format from the
        name and the content of the file.
    key : str, default None
        What to read. For an .npz, HDF5 or Zarr file, a group or a dict, it is the name of an array. For a database, it
        is the name of a table or an SQL query.
    delimiter : str, default None
        Delimiter of a text file. None detects it.
    decimal : str, default None
        Decimal separator of a text file. None detects it.
    encoding : str, default None
        Encoding of a text file. None detects it.
    header : bool or int, default None
        Whether the first line of a text file contains column names, or the number of the line that does, counted from
        1. Eckart skips the lines above it. None detects the header.
    missing_values : sequence of str or float, default None
        Numbers and texts that stand for missing values, such as `[-999, "unknown"]`, in addition to NaN, empty cells
        and notations such as NA. Columns that identify the rows keep these numbers.
    row_names : str or None, default 'auto'
        Column that contains the row names. 'auto' uses the first suitable text column. None uses no column.
    columns : sequence of str or int, default None
        Names, or positions counted from 0, of the columns to keep. If all names are whole numbers, such as years, an
        int is a name.
    layer : str, default None
        Layer of an AnnData object to use instead of X.
    mask : array of bool or str, default None
        Genes of an AnnData object to keep: an array of booleans, or the name of a boolean column of `var`.
    memory : str or int, default None
        Memory limit. Files and streams larger than a quarter of this limit are read in blocks. Without a
        limit, those larger than a third of the free memory are.
    stream : bool, default None
        True reads the data in blocks, and False reads them as a whole. None decides by their size.

    Returns
    -------
    array or source
        Arrays are returned unchanged. All other data are returned as a source of rows with names.

    Raises
    ------
    InputError
        If the type of the data is not supported.
    FileError
        If a file cannot be read.

    {See Also: decompose, convert}

    Examples
    --------
    >>> import eckart as ek
    >>> source = ek.open_data({"a": [1.0, 2.0, 4.0], "b": [0.0, 1.0, 1.0], "name": ["x", "y", "z"]})
    >>> source.metadata.column_names, source.metadata.row_names
    (('a', 'b'), ('x', 'y', 'z'))
    >>> ek.PCA(1).fit(source).n_features_in_
    2
    """
    options = ReadOptions(
        format=format, key=key, layer=layer, delimiter=delimiter, decimal=decimal, encoding=encoding, header=header,
        missing_values=missing_values or (), row_names=row_names, columns=columns, mask=mask,
    )  # fmt: skip
    with RemovedOnError(returned=True):  # a callback of another call may open data
        found: Source | RowSource = open_with(data, options, memory=memory_bytes(memory), stream=stream)
    return found


def open_with(
    data: object, options: ReadOptions | None = None, *, memory: int | None = None, stream: bool | None = None
) -> DataSource:
    """`open_data` with its options as one value."""
    options = DEFAULT if options is None else options
    if (options.key, options.layer, options.row_names) != (None, None, "auto"):
        refuse_parts(data, options)
    found = _opened(data, options, memory, stream)
    if options.missing_values:
        found = with_missing(found, options.missing_values, memory)
    if options.mask is not None:
        place = _place(data) if isinstance(data, str | os.PathLike) else None
        found = masked(data, place, found, options)
    if options.columns is not None:
        found = chosen(found, options.columns)
    return found


def _opened(data: object, options: ReadOptions, memory: int | None, stream: bool | None) -> DataSource:
    if isinstance(data, np.ndarray):
        return _numpy(data, options, memory, stream)
    if isinstance(data, type):  # a class has the methods that the protocols ask for, but no rows
        raise InputError(f"{data.__name__} is a class, not a table. Pass an instance of this class.")
    if is_dask(data):  # before the protocols: a delayed value claims to have every attribute
        return _dask(data, options)
    refuse_nested(data)  # PyTorch raises when a nested tensor is asked for its shape
    if (stored := _stored(data, options, memory)) is not None:  # h5py raises when a closed array is asked for its shape
        return stored
    if isinstance(data, Source | RowSource):
        return data
    if is_sparse(data):
        return sparse_in_memory(data)
    if isinstance(data, str | os.PathLike):
        return _path(_place(data), options, memory, stream)
    for adapter in (_narwhals, _labelled, _frame, _stream, _python):
        found = adapter(data, options, memory)
        if found is not None:
            return found
    return _array_like(data)


def _numpy(data: np.ndarray, options: ReadOptions, memory: int | None, stream: bool | None) -> DataSource:
    if data.dtype.names is not None and data.ndim == 1:  # records: their fields are columns
        return _python({name: data[name] for name in data.dtype.names}, options, memory)
    return _large_map(data, memory, stream) or plain_array(data)


def _large_map(data: np.ndarray, memory: int | None, stream: bool | None) -> RowSource | None:
    """Rows of a mapped file that must be read in blocks, like those of a file of the same size."""
    from eckart.io.open_rows import too_large

    rows = None if stream is False else mapped_rows(data)
    return rows if rows is not None and (stream or too_large(rows, memory)) else None


def _dask(data: Any, options: ReadOptions) -> RowSource:
    from eckart.io.objects.dask_frames import dask_frame_rows

    if not is_dask_table(data):
        refuse(data)
    return dask_frame_rows(data, options.row_names) if hasattr(data, "columns") else dask_rows(data)


def _narwhals(data: object, options: ReadOptions, memory: int | None) -> DataSource:
    if type(data).__module__.partition(".")[0] != "narwhals" or not hasattr(data, "to_native"):
        return None
    return _opened(data.to_native(), options, memory, None)


def _path(place: str, options: ReadOptions, memory: int | None, stream: bool | None) -> DataSource:
    from eckart.io.objects.databases import database_source, is_database
    from eckart.io.open_rows import open_table

    if not place:
        raise FileError("The path is an empty string. Give the path of a file.")
    if options.format is None and is_database(place):
        return database_source(place, options.key, options.row_names, memory)
    return open_table(place, memory=memory, stream=stream, options=options)


def _labelled(data: object, options: ReadOptions, memory: int | None) -> DataSource:
    """AnnData and xarray."""
    from eckart.io.objects.cells import cell_source, is_anndata
    from eckart.io.objects.labelled import is_labelled, labelled_source

    if is_anndata(data):
        return cell_source(data, options.layer, options.key)
    return labelled_source(data, options.key, options.row_names) if is_labelled(data) else None


def _stored(data: object, options: ReadOptions, memory: int | None) -> DataSource:
    """h5py and Zarr."""
    from eckart.io.objects.stored import is_stored, stored_object

    return stored_object(data, options.key, memory) if is_stored(data) else None


def _frame(data: object, options: ReadOptions, memory: int | None) -> DataSource:
    """Frames in memory: pandas, polars, pyarrow and others that narwhals supports."""
    from eckart.io.frames import frame_source

    if is_array(data):
        return None
    with reading_frame():
        return frame_source(data, options.row_names)


def _stream(data: object, options: ReadOptions, memory: int | None) -> DataSource:
    """Objects that provide Arrow batches or the interchange protocol, and cursors."""
    from eckart.io.objects.arrow_stream import arrow_reader, interchange_table, reader_source
    from eckart.io.objects.batches import cursor_source, is_cursor
    from eckart.io.objects.databases import bounded_cache

    if is_array(data):
        return None
    name = type(data).__name__
    with bounded_cache(data, memory):
        reader = arrow_reader(data)
        if reader is None and (table := interchange_table(data)) is not None:
            reader = table.to_reader()
        if reader is not None:
            return reader_source(reader, name, options.row_names, memory)
    return cursor_source(data, options.row_names, memory) if is_cursor(data) else None


def _place(path: str | os.PathLike[str]) -> str:
    """A path as text, with ~ replaced by the home folder."""
    return os.path.expanduser(os.fsdecode(os.fspath(path)))  # noqa: PTH111 - a path may also be an address


def _items(data: Sequence[Any], options: ReadOptions, memory: int | None) -> DataSource:
    """A list of paths, records, frames or sparse blocks; None for other lists."""
    from eckart.io.objects.arrow_stream import reader_source
    from eckart.io.objects.batches import batch_source
    from eckart.io.objects.records import columns_of, field_names, records_table
    from eckart.io.open_rows import open_paths

    if not data:
        return None
    if (names := field_names(data[0])) is not None:
        return _python(columns_of(data, names), options, memory)
    if all(isinstance(item, str | os.PathLike) for item in data):
        return open_paths([_place(item) for item in data], options, memory=memory)
    if is_dataclass(data[0]):
        data = list(map(_as_record, data))
    if isinstance(data[0], Mapping):
        return reader_source(records_table(data).to_reader(), "data", options.row_names, memory)
    return batch_source(data, "data", memory) if is_frame(data[0]) or is_sparse(data[0]) else None


def _as_record(row: Any) -> dict[str, Any]:
    return {field.name: getattr(row, field.name) for field in fields(row)}


def is_frame(data: object) -> bool:
    """Whether it is a data frame or a record batch, by the attributes that all of them have."""
    return hasattr(data, "columns") and (hasattr(data, "__arrow_c_stream__") or hasattr(data, "__dataframe__"))


def _python(data: Any, options: ReadOptions, memory: int | None) -> DataSource:
    """Mappings, lists of paths or dicts, iterators, data loaders, open files."""
    from eckart.io.objects.arrow_stream import reader_source
    from eckart.io.objects.batches import is_loader
    from eckart.io.objects.records import mapping_table, named_table
    from eckart.io.open_source import open_source

    if isinstance(data, Mapping):
        found = mapping_table(data, options.key)
        if hasattr(found, "to_reader"):
            return reader_source(found.to_reader(), "data", options.row_names, memory)
        return _opened(found, options, memory, None)
    if isinstance(data, list | tuple):
        return named_table(data) or _items(data, options, memory)
    if (stream := _open_file(data)) is not None:
        return open_source(stream, options)
    if is_loader(data) or isinstance(data, Iterator):
        return _batches(data, options, memory)
    return None


def _batches(data: Iterator[Any], options: ReadOptions, memory: int | None) -> DataSource:
    """Batches or rows in order; a generator of paths counts as a list of paths."""
    from eckart.io.objects.batches import batch_source

    items = iter(data)
    first = next(items, None)
    items = items if first is None else itertools.chain([first], items)
    if isinstance(first, str | os.PathLike):
        return _items(list(items), options, memory)
    return batch_source(items, type(data).__name__, memory)


def _open_file(data: Any) -> BinaryIO | None:
    """The bytes of an open file, whether it was opened as text or not; None for everything else."""
    data = data.file if isinstance(data, tempfile._TemporaryFileWrapper) else data
    if not isinstance(data, io.IOBase) or not hasattr(data, "read"):
        return None
    if data.closed or not data.readable():
        state = "closed" if data.closed else "open for writing only"
        raise InputError(f"The file is {state}. Open it for reading.")
    if isinstance(data, io.TextIOBase):
        data = getattr(data, "buffer", None) or io.BytesIO(data.read().encode())
    return cast("BinaryIO", data)


def _array_like(data: object) -> DataSource:
    """Arrays, lists, buffers and objects that convert to NumPy arrays; everything else is refused."""
    if is_array(data) or type(data).__module__.startswith("cupyx."):
        return plain_array(data)
    if not _is_convertible(data):
        refuse(data)
    if isinstance(data, list | tuple) and any(isinstance(part, np.ndarray) for part in data):
        parts = (in_memory(part) if isinstance(part, np.ndarray) else part for part in data)
        data = tuple(parts) if isinstance(data, tuple) else list(parts)
    try:
        return plain_array(_converted(data))
    except EckartError:
        raise
    except Exception as error:
        raise not_rectangular(data, error) from error


def _converted(data: object) -> np.ndarray:
    if hasattr(data, "__dlpack__") and not hasattr(data, "__array__"):
        return np.from_dlpack(cast("Any", data))
    return np.asarray(data)


def _is_convertible(data: object) -> bool:
    """Whether NumPy can convert an object: by a protocol, or because it is a sequence, a buffer or a number."""
    if isinstance(data, str | bytes | bytearray):
        return False
    if any(hasattr(data, name) for name in ("__array__", "__array_interface__", "__dlpack__")):
        return True
    return isinstance(data, Sequence | memoryview | int | float | complex | np.generic)
