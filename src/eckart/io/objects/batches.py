"""Rows in batches: generators, PyTorch data loaders, database cursors. Read once and kept (`collected`)."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from eckart.arrays import is_array, is_sparse, to_numpy, unmasked
from eckart.engine.blocks.source import Block, MemorySource, Metadata, Source
from eckart.errors import EckartError, InputError
from eckart.formatting import counted, joined
from eckart.io.frames import frame_source
from eckart.io.guard import reason
from eckart.io.objects.arrow_stream import reader_source
from eckart.io.objects.batch_labels import BatchLabels
from eckart.io.objects.collected import CollectedRows, Collector
from eckart.io.objects.records import mapping_table, record_table
from eckart.io.objects.tensors import plain_array
from eckart.io.roles import listed

if TYPE_CHECKING:
    import pyarrow as pa

_ROWS = 4096


def is_cursor(data: object) -> bool:
    """A cursor of the Python database API (PEP 249), or a result of SQLAlchemy."""
    return hasattr(data, "fetchmany") and (hasattr(data, "description") or hasattr(data, "keys"))


def is_loader(data: object) -> bool:
    """A PyTorch DataLoader."""
    return any(base.__module__.startswith("torch.utils.data") and base.__name__ == "DataLoader"
               for base in type(data).__mro__)  # fmt: skip


def cursor_source(cursor: Any, row_names: str | None, memory: int | None) -> MemorySource | CollectedRows:
    """The remaining rows of a cursor, with its column names."""
    import pyarrow as pa

    names = list(cursor.keys()) if hasattr(cursor, "keys") else [column[0] for column in cursor.description or ()]
    if not names:
        raise InputError("The cursor has no result. Execute a query that selects rows first.")
    chunks = iter(lambda: [_values(row) for row in cursor.fetchmany(_ROWS)], [])
    first = next(chunks, [])
    if not first:
        raise InputError("The query returned no rows. If the cursor was already read, execute the query again.")
    schema = _number_schema(record_table(names, list(zip(*first, strict=True))).schema)

    def batches() -> Iterator[object]:
        for rows in itertools.chain([first], chunks):
            yield from record_table(names, list(zip(*rows, strict=True)), schema).to_batches()

    return reader_source(pa.RecordBatchReader.from_batches(schema, batches()), "query", row_names, memory)


def _values(row: object) -> object:
    return tuple(row.values()) if isinstance(row, Mapping) else row


def _number_schema(schema: pa.Schema) -> pa.Schema:
    """The first numbers of a column may be integers and later ones not.

    A column that starts with missing values may be numeric.
    """
    import pyarrow as pa

    types = pa.types
    wide = [
        pa.field(field.name, pa.float64())
        if types.is_integer(field.type) or types.is_decimal(field.type) or types.is_null(field.type)
        else field
        for field in schema
    ]
    return pa.schema(wide)


def batch_source(batches: Iterable[object], name: str, memory: int | None) -> MemorySource | CollectedRows:
    """Batches (or single rows) as one source; the first entry is used for tuples such as (X, y)."""
    items = iter(batches)
    collector, labels = Collector(name, memory), BatchLabels(name)
    metadata = Metadata(name)
    try:
        first = next(items, None)
        items = itertools.chain([first], items) if first is not None else items
        for block, known in _grouped(items) if _is_row(first) else map(_block, items):
            metadata = metadata if collector.rows else known
            collector.add(_in_order(block, known, metadata, collector))
            labels.add(known, int(block.shape[0]))
        return labels.source(collector)
    except EckartError:
        collector.close()
        raise
    except Exception as error:
        collector.close()
        raise InputError(f"{name}: reading failed after {counted(collector.rows, 'row')}: {reason(error)}.") from error


def _in_order(block: Block, known: Metadata, first: Metadata, collector: Collector) -> Block:
    """The columns of a batch in the order of the first batch, matched by name if both have names."""
    names, wanted = known.column_names, first.column_names
    if names is None or wanted is None or names == wanted or len(names) != len(wanted):
        return block
    where = {name: j for j, name in enumerate(names)}
    if missing := [name for name in wanted if name not in where]:
        raise InputError(
            f"{collector.name}: after row {collector.rows:,}, a batch does not have {listed(missing)}, but the batches "
            "before it do. All batches must have the same columns."
        )
    return block[:, [where[name] for name in wanted]]


def _is_row(item: Any) -> bool:
    """Whether an item is one row: a mapping, or a sequence or array of one dimension."""
    if isinstance(item, Mapping):
        return all(np.ndim(value) == 0 for value in item.values())
    if is_array(item):
        return int(item.ndim) == 1
    return isinstance(item, Sequence) and bool(item) and all(isinstance(v, str) or np.ndim(v) == 0 for v in item)


def _grouped(rows: Iterator[Any]) -> Iterator[tuple[Block, Metadata]]:
    """Single rows in groups of a few thousand."""
    while chunk := list(itertools.islice(rows, _ROWS)):
        if isinstance(chunk[0], Mapping):
            names = list(chunk[0])
            table = record_table(names, [[row.get(name) for row in chunk] for name in names])
            yield _block(table)
        else:
            yield _block(np.stack([np.asarray(unmasked(row)) for row in chunk]))


def _is_matrix(item: object) -> bool:
    return is_array(item) or is_sparse(item)


def _numpy_or_csr(item: Any) -> Any:
    if is_sparse(item):
        return item.tocsr()
    if is_array(item) and not isinstance(item, np.generic):
        return to_numpy(item)
    try:
        return np.asarray(item)
    except ValueError as error:  # such as (index, row) of DataFrame.iterrows
        kinds = joined(list(dict.fromkeys(type(entry).__name__ for entry in item)))
        raise InputError(
            f"A batch is a {type(item).__name__} with entries of type {kinds}, which do not form a table. Each "
            "batch must be a two-dimensional table of numbers."
        ) from error


def _table_of(item: Any) -> Any:
    """The table of a batch: the first of (X, y), or the content of a mapping."""
    if isinstance(item, list | tuple) and item and _is_matrix(item[0]):
        return item[0]
    return mapping_table(item, None) if isinstance(item, Mapping) else item


def _block(item: Any) -> tuple[Block, Metadata]:
    """One batch as rows of float32 or float64."""
    item = _table_of(item)
    if isinstance(item, Source):
        return item.matrix, item.metadata  # type: ignore[attr-defined]
    if not _is_matrix(item) and (frame := frame_source(item, None)) is not None:
        return frame.matrix, frame.metadata
    item = _numpy_or_csr(plain_array(unmasked(item)))
    if item.ndim != 2 or item.dtype.kind not in "fiub":
        raise InputError(
            f"A batch is an array of shape {tuple(item.shape)} and dtype {item.dtype}. Each batch must be a "
            "two-dimensional table of numbers."
        )
    return item.astype(np.float32 if item.dtype in (np.float16, np.float32) else np.float64), Metadata()
