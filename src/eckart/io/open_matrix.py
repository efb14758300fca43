"""Open anything with a matrix for the engine, with names: arrays, sparse matrices, frames, files.

Data that do not fit into memory become StackedBlocks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from eckart.arrays import Matrix, is_sparse
from eckart.documentation import document
from eckart.engine.backends.select import stored_elsewhere, transfer_to
from eckart.engine.blocks.dask_rows import DaskRows
from eckart.engine.blocks.source import MemoryRows, MemorySource, Metadata, RowSource, Source, stack_blocks
from eckart.engine.matrix import Opened, as_given, open_blocks, open_dense, open_sparse
from eckart.io.columns import compare_names
from eckart.io.open_data import open_with
from eckart.io.open_rows import too_large
from eckart.mapped import is_mapped
from eckart.options import hint_keywords


@hint_keywords
@document
def open_matrix(data: object, *, name: str = "X", memory: int | None = None, stream: bool | None = None) -> Opened:
    """Open data as a matrix for the solvers.

    This function is for advanced use; `decompose` calls it for you. It copies data only if necessary, and makes all
    checks that do not need a pass over the data.

    Parameters
    ----------
    data : array-like, sparse matrix, data frame, path or source
        The data.
    name : str, default 'X'
        Name of the data in error messages.
    memory : int, default None
        Memory limit in bytes. Files larger than a quarter of the limit are read in blocks. Without a limit, files
        larger than a third of the free memory are.
    stream : bool, default None
        True reads the data in blocks, and False reads them as a whole. None decides by their size.

    Returns
    -------
    Opened
        The matrix and its metadata.

    Raises
    ------
    InputError
        If the data are not a matrix of numbers.

    {See Also: open_data}

    Examples
    --------
    >>> import eckart as ek
    >>> ek.open_matrix([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]).matrix.shape
    (3, 2)
    """
    metadata = Metadata(name=name)
    if not _are_numbers(data) or (isinstance(data, np.ndarray) and is_mapped(data)):
        data = _source(data, memory, stream)
        if isinstance(data, _Blocks):
            return open_blocks(data.rows, memory)
    if not _are_numbers(data) and isinstance(data, Source):
        metadata = data.metadata
        blocks = list(data.blocks())
        data = stack_blocks(blocks) if blocks else np.empty(data.shape)  # refused below if it has no rows
    elif (stored := stored_elsewhere(data)) is not None:
        return open_sparse(stored, metadata)
    opened = open_sparse(data, metadata) if is_sparse(data) else open_dense(data, metadata)
    if stream and _are_numbers(data):
        return open_blocks(MemoryRows(as_given(opened), metadata), memory)
    return opened


def _are_numbers(data: object) -> bool:
    """Whether it is a NumPy or SciPy matrix without records; checked first, because testing for protocols is slow."""
    return data.dtype.kind != "V" if isinstance(data, np.ndarray) else is_sparse(data)


def with_columns_of(data: object, fitted: Sequence[str] | None, memory: int | None = None) -> object:
    """Data for a model, opened if they may have column names, which must be those of the model in the same order."""
    if fitted is None or _are_numbers(data):
        return data
    found = open_with(data, memory=memory)
    if not _are_numbers(found) and isinstance(found, Source | RowSource):
        compare_names(found.metadata.column_names, fitted)
    return found


class _Blocks(NamedTuple):
    """Rows that must be read in blocks."""

    rows: RowSource


def _source(data: object, memory: int | None, stream: bool | None) -> object:
    """The content of `data`: numbers, a source in memory, or rows that must be read in blocks."""
    data = open_with(data, memory=memory, stream=stream)
    if _are_numbers(data) or not isinstance(data, RowSource):
        return data
    if stream or isinstance(data, DaskRows) or too_large(data, memory):
        return _Blocks(data)
    return MemorySource(data.read(0, data.shape[0]), data.metadata)


def open_on_device(data: object, device: str, memory: int | None, *, stream: bool) -> Opened:
    """Host data for another device: copied whole if they fit, otherwise block by block as they are read."""
    transfer = transfer_to(device, data)
    opened = open_matrix(data, memory=memory, stream=stream)
    if opened.matrix.resident:
        given = as_given(opened)
        moved = transfer.whole(given)
        if moved is not None:
            return replace(open_matrix(moved), metadata=opened.metadata)
        opened = open_blocks(MemoryRows(given, opened.metadata), memory, size=transfer.block_bytes)
    opened.matrix.reading.transfer = transfer
    return opened


def taken_to(data: object, device: str) -> tuple[Matrix, Metadata]:
    """All host data on a device, in its library, with their metadata; refused if they do not fit."""
    transfer = transfer_to(device, data)
    opened = open_matrix(data)  # a file that is too large for the host stays on disk
    moved = transfer.whole(as_given(opened)) if opened.matrix.resident else None
    if moved is None:
        transfer.refuse(opened.matrix.shape)
    return moved, opened.metadata
