"""Objects that provide Arrow record batches: databases, datasets, lazy frames, and `__arrow_c_stream__` in general.

Protocols: the Arrow PyCapsule interface (`__arrow_c_stream__`) and the data frame interchange protocol
(`__dataframe__`). Libraries whose own reader takes a batch size are configured for small batches, which bounds memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from eckart.engine.blocks.source import MemorySource
from eckart.errors import EckartError, InputError
from eckart.formatting import counted
from eckart.io.arrow.columns import long_integers, matrix_of
from eckart.io.arrow.mapped_columns import frame_in_memory
from eckart.io.arrow.plain_columns import expanded_batch, expanded_schema
from eckart.io.arrow.roles import Roles, empty_matrix, roles_of, source_of
from eckart.io.guard import reason
from eckart.io.objects.collected import CollectedRows, Collector
from eckart.io.roles import MOST_NAMES, listed, names_dropped

if TYPE_CHECKING:
    import pyarrow as pa

_BATCH_ROWS = 65_536
_BLOCK_BYTES = 1 << 23


def arrow_reader(data: object) -> pa.RecordBatchReader | None:
    """A pyarrow.RecordBatchReader of the rows of `data`; None if it provides none."""
    module = type(data).__module__.partition(".")[0].lstrip("_")
    for owner, attributes, read in _READERS:
        if owner in (None, module) and all(hasattr(data, name) for name in attributes):
            try:
                reader: pa.RecordBatchReader = read(data)
            except EckartError:
                raise
            except Exception as error:
                kind = type(data).__name__
                remedy = "Execute a query first" if hasattr(data, "execute") else "Check the query"
                raise InputError(f"The {kind} cannot be read: {reason(error)}. {remedy}.") from error
            return reader
    return None


def _capsule_reader(data: object) -> pa.RecordBatchReader:
    import pyarrow as pa

    try:
        return pa.RecordBatchReader.from_stream(data)
    except pa.ArrowInvalid as error:
        kind = type(data).__name__
        raise InputError(
            f"This {kind} is a single column, but a table is needed. Pass a data frame, or reshape the numbers to "
            "(-1, 1)."
        ) from error


def _ibis_reader(table: Any) -> pa.RecordBatchReader:
    """Batches of an Ibis table; DuckDB's from the connection, because Ibis 12 calls a method that DuckDB 2 dropped."""
    backend = table.get_backend()
    if backend.name != "duckdb":
        return table.to_pyarrow_batches(chunk_size=_BATCH_ROWS)
    table.limit(0).to_pyarrow()  # registers tables in memory with the connection
    return _duckdb_reader(backend.con.sql(str(backend.compile(table))))


def _duckdb_reader(data: object) -> pa.RecordBatchReader:
    """A relation or a connection with a result; older versions give the method other names."""
    for name in ("to_arrow_reader", "fetch_record_batch", "fetch_arrow_reader"):
        if hasattr(data, name):
            return getattr(data, name)(_BATCH_ROWS)
    return None


def _lazy_reader(frame: Any) -> pa.RecordBatchReader:
    """A polars LazyFrame, collected in batches; at once by versions that cannot."""
    import pyarrow as pa

    if not hasattr(frame, "collect_batches"):
        return frame.collect().to_arrow().to_reader()
    batches = iter(frame.collect_batches(chunk_size=_BATCH_ROWS, maintain_order=True))
    first = next(batches, None)
    if first is None:
        return frame.collect().to_arrow().to_reader()
    schema = first.to_arrow().schema

    def parts() -> Iterator[pa.RecordBatch]:
        yield from first.to_arrow().to_batches()
        for batch in batches:
            yield from batch.to_arrow().cast(schema).to_batches()

    return pa.RecordBatchReader.from_batches(schema, parts())


def _dataset_reader(dataset: Any) -> pa.RecordBatchReader:
    """Batches of a dataset; the keys of its folders (year=2024) become text that labels rows, as for a path."""
    import pyarrow as pa
    import pyarrow.dataset as ds

    keys = getattr(getattr(dataset, "partitioning", None), "schema", None)
    if not keys:
        return dataset.scanner(batch_size=_BATCH_ROWS).to_reader()
    names = dataset.schema.names
    columns = {name: ds.field(name).cast(pa.string()) if name in keys.names else ds.field(name) for name in names}
    return dataset.scanner(columns=columns, batch_size=_BATCH_ROWS).to_reader()


_READERS: tuple[tuple[str | None, tuple[str, ...], Callable[[Any], pa.RecordBatchReader]], ...] = (
    ("duckdb", (), _duckdb_reader),
    ("polars", ("collect",), _lazy_reader),
    ("pyarrow", ("to_reader", "projected_schema"), lambda scanner: scanner.to_reader()),
    ("pyarrow", ("scanner",), _dataset_reader),
    ("pyarrow", ("read_next_batch",), lambda reader: reader),
    ("ibis", ("to_pyarrow_batches", "columns"), _ibis_reader),
    (None, ("fetch_record_batch",), lambda cursor: cursor.fetch_record_batch()),  # ADBC
    (None, ("__arrow_c_stream__",), _capsule_reader),
)
"""Library (None for any), attributes that identify the object, and how to get its reader; the first match decides."""


def interchange_table(data: object) -> pa.Table | None:
    """A pyarrow.Table from `__dataframe__`; None for objects without it."""
    if not hasattr(data, "__dataframe__"):
        return None
    from pyarrow import interchange

    try:
        return interchange.from_dataframe(data)
    except Exception as error:
        raise InputError(f"The {type(data).__name__} cannot be read as a data frame: {reason(error)}.") from error


def reader_source(
    reader: pa.RecordBatchReader, name: str, row_names: str | None = "auto", memory: int | None = None
) -> MemorySource | CollectedRows:
    """The rows of a RecordBatchReader, read once. The reader is then closed to free its connection."""
    with reader:
        schema = expanded_schema(reader.schema)
        roles = roles_of(schema, name, row_names)
        if not roles.numbers:
            raise InputError(
                f"{name} has no numeric column. Its columns are {listed(schema.names)}. Convert at "
                "least one column to numbers."
            )
        collector = Collector(name, memory)
        texts: dict[int, list[pa.Array]] = {j: [] for j in roles.texts}
        try:
            for batch in reader:
                _take(batch, schema, roles, collector, texts)
        except EckartError:
            collector.close()
            raise
        except Exception as error:
            collector.close()
            cause = reason(error).partition(". Detail:")[0]
            raise InputError(f"{name}: reading failed after {counted(collector.rows, 'row')}: {cause}.") from error
    return _assembled(collector, roles, texts, name)


def _take(
    batch: pa.RecordBatch, schema: object, roles: Roles, collector: Collector, texts: dict[int, list[pa.Array]]
) -> None:
    batch = expanded_batch(frame_in_memory(batch), schema)
    step = max(1, _BLOCK_BYTES // (8 * max(1, len(roles.numbers))))
    long = long_integers(roles.types)
    for start in range(0, batch.num_rows, step):
        part = batch.slice(start, step)
        block = matrix_of([part.column(j) for j in roles.numbers], part.num_rows, collector.name)
        collector.rounded.check(block, long, roles.columns)
        collector.add(block)
    if collector.rows > MOST_NAMES:
        texts.clear()
    for j, chunks in texts.items():
        chunks.append(batch.column(j))


def _assembled(
    collector: Collector, roles: Roles, texts: dict[int, list[pa.Array]], name: str
) -> MemorySource | CollectedRows:
    import pyarrow as pa

    whole = {j: pa.chunked_array(chunks, roles.schema.field(j).type) for j, chunks in texts.items()}
    metadata = source_of(roles, whole, empty_matrix(roles), name).metadata
    if len(texts) < len(roles.texts):
        note = names_dropped([roles.names[j] for j in roles.texts])
        metadata = replace(metadata, notes=(*metadata.notes, note))
    found = collector.finish(replace(metadata, rounded=collector.rounded))
    if isinstance(found, CollectedRows) or not isinstance(found.matrix, np.ndarray):
        return found
    return source_of(roles, whole, found.matrix, name)
