"""Data frames of any library as sources: pandas, polars, Arrow, through narwhals.

The types of a frame are explicit, so a text column is text: it is set aside, and numbers stored as text are refused by
name.
"""

from __future__ import annotations

import datetime as dt
import sys
import uuid
from collections.abc import Sequence
from typing import Any

import numpy as np

from eckart.engine.blocks.rounded import is_rounded, rounding_notes
from eckart.engine.blocks.source import MemorySource, Metadata
from eckart.errors import InputError
from eckart.formatting import about_columns
from eckart.io.arrow.mapped_columns import frame_in_memory
from eckart.io.arrow.plain_columns import expanded_batch, expanded_schema, place_names
from eckart.io.not_tables import refuse_empty_frame, refuse_without_numbers, remedy_for_lists
from eckart.io.roles import (
    MOST_NAMES,
    NOT_NUMBERS,
    TRUTH_VALUES,
    Parts,
    Text,
    assemble,
    check_row_names,
    listed,
    quoted,
    unique_names,
)
from eckart.io.stored_as_text import without_numbers
from eckart.mapped import in_memory, is_mapped
from eckart.notes import Note

Frame = Any
"""A frame or a series of narwhals or of the user's library."""


def frame_source(frame: object, row_names: str | None = "auto") -> MemorySource | None:
    """A data frame in memory as a source; None for other objects, including lazy frames."""
    if type(frame).__module__.partition(".")[0] in ("builtins", "numpy", "scipy"):
        return None
    import narwhals as nw

    frame = _arrow_table(frame_in_memory(frame))
    native = nw.from_native(_renamed(frame), pass_through=True)
    if not isinstance(native, nw.DataFrame):
        return None
    if (sparse := _pandas_sparse(frame)) is not None:
        return sparse
    expanded = _expanded(native)
    frame, native = (frame, native) if expanded is native else (expanded.to_native(), expanded)
    columns, notes = unique_names(column_labels(frame if _is_pandas(frame) else native))
    refuse_empty_frame(native.shape)
    check_row_names(row_names, columns, "The data frame")
    parts = _parts(native, columns, frame, row_names)
    parts.notes[:0] = notes
    if row_names == "auto":
        parts.row_names, parts.index = index_names(frame), _whole_numbers(frame)
        parts.texts += _index_dates(frame, columns)
    return assemble(parts, "data", row_names)


def _expanded(native: Frame) -> Frame:
    """Columns of fixed-length arrays, such as embeddings, as one column per element: name[0], name[1], ..."""
    import narwhals as nw

    if not any(isinstance(kind, nw.Array) for kind in native.schema.values()):
        return native
    columns: list[Frame] = []
    for name, kind in native.schema.items():
        is_vector = isinstance(kind, nw.Array) and len(kind.shape) == 1
        values = _elements(native[name]) if is_vector else None
        if values is None:
            columns.append(native[name])
            continue
        for place, label in enumerate(place_names(name, values.shape[1])):
            columns.append(nw.new_series(label, np.ascontiguousarray(values[:, place]), backend=native.implementation))
    return native.select(*columns)


def _elements(series: Frame) -> np.ndarray | None:
    """One column per element of the arrays of a series; None if they are not numbers."""
    values: np.ndarray = series.to_numpy()
    if values.ndim != 2 or values.dtype.kind not in "fiub":
        return None
    return values.astype(np.float64) if values.dtype == bool else values


def _arrow_table(frame: object) -> Frame:
    """An Arrow table or batch as a table with plain columns; other frames as they are."""
    pa = sys.modules.get("pyarrow")
    if pa is None:
        return frame
    table = pa.Table.from_batches([frame]) if isinstance(frame, pa.RecordBatch) else frame
    if not isinstance(table, pa.Table):
        return frame
    schema = expanded_schema(table.schema)
    if schema is table.schema or schema == table.schema:
        return table
    return pa.Table.from_batches([expanded_batch(batch, schema) for batch in table.to_batches()], schema)


def _is_pandas(frame: object) -> bool:
    pd = sys.modules.get("pandas")
    return pd is not None and isinstance(frame, pd.DataFrame)


def _renamed(frame: Frame) -> Frame:
    """Number the columns of frames with duplicate or unusual names, because narwhals requires distinct ones."""
    if _is_pandas(frame) and not (frame.columns.is_unique and all(isinstance(name, str) for name in frame.columns)):
        numbered = frame.copy(deep=False)  # set_axis of pandas 2 copies the numbers
        numbered.columns = [str(position) for position in range(frame.shape[1])]
        return numbered
    if "pyarrow" in sys.modules and isinstance(frame, sys.modules["pyarrow"].Table):
        return frame.rename_columns(unique_names(frame.column_names)[0])
    return frame


def column_labels(frame: Frame) -> list[str]:
    """The names of the columns as text; the levels of pandas labels are joined."""
    return [" ".join(map(str, name)) if isinstance(name, tuple) else str(name) for name in frame.columns]


def index_names(frame: Frame) -> tuple[str, ...] | None:
    """The row names of a pandas frame, if its index consists of words, or of whole numbers under a name."""
    if not _is_pandas(frame) or not len(frame.index):
        return None
    if frame.index.nlevels > 1:
        return tuple(" ".join(map(str, levels)) for levels in frame.index)
    if all(isinstance(name, str) for name in frame.index):
        return tuple(frame.index)
    return None if frame.index.name is None else _whole_numbers(frame)


def _whole_numbers(frame: Frame) -> tuple[str, ...] | None:
    """The index of a pandas frame, if its whole numbers tell the rows apart and do not just count them from 0."""
    if not _is_pandas(frame) or frame.index.dtype.kind not in "iu" or len(frame.index) > MOST_NAMES:
        return None
    numbers = frame.index.to_numpy()
    counts = np.array_equal(numbers, np.arange(len(numbers)))
    return None if counts or not frame.index.is_unique else tuple(map(str, numbers.tolist()))


def _index_dates(frame: Frame, columns: Sequence[str]) -> list[Text]:
    """The dates or times in the index of a pandas frame, which become labels like those in a column."""
    if not _is_pandas(frame) or type(frame.index).__name__ not in ("DatetimeIndex", "PeriodIndex", "TimedeltaIndex"):
        return []
    name = "index" if frame.index.name is None else str(frame.index.name)
    values = tuple("" if _absent(value) else str(value) for value in frame.index)
    return [] if name in columns else [Text(name, values, False, False, "date")]


def _pandas_sparse(frame: Frame) -> MemorySource | None:
    if not _is_pandas(frame):
        return None
    pd = sys.modules["pandas"]
    kinds = list(frame.dtypes)
    if not kinds or not all(isinstance(kind, pd.SparseDtype) for kind in kinds):
        return None
    from eckart.io.arrays.sparse import canonical

    filled = [str(name) for name, kind in zip(frame.columns, kinds, strict=True) if kind.fill_value != 0]
    if filled:
        raise InputError(
            f"The sparse columns {listed(filled)} have a fill value other than 0, but Eckart treats "
            "entries that are not stored as 0. Set the fill value of these columns to 0."
        )
    columns, notes = unique_names([str(name) for name in frame.columns])
    matrix = canonical(frame.sparse.to_coo())
    return MemorySource(
        matrix, Metadata("data", index_names(frame) or _whole_numbers(frame), tuple(columns), {}, tuple(notes))
    )


def _of_kind(kinds: dict[str, str], *wanted: str) -> list[str]:
    return [name for name, kind in kinds.items() if kind in wanted]


def _parts(native: Frame, columns: list[str], frame: Frame, row_names: str | None) -> Parts:
    series = _by_name(native, columns)
    kinds = kinds_of(series, row_names)
    names = _of_kind(kinds, "number", "truth", "object")
    texts = set_aside(series, kinds, row_names)  # names columns of numbers that are stored as text
    refuse_without_numbers(names, columns, [name for name, column in series.items() if _has_lists(column)])
    whole = names == columns and _one_block(frame) and not _several_maps(frame, series)
    matrix = in_memory(frame.to_numpy()) if whole else stacked_numbers({name: series[name] for name in names})
    large = [name for j, name in enumerate(names) if series[name].dtype.is_integer() and is_rounded(matrix[:, j])]
    left_out = dict.fromkeys(_left_out(series, kinds), "left out, because its values are not numbers")
    return Parts(matrix, names, texts, kind_notes(series, kinds, large), column_roles=left_out)


def _has_lists(series: Frame) -> bool:
    import narwhals as nw

    return isinstance(series.dtype, nw.List)


def _by_name(native: Frame, columns: Sequence[str]) -> dict[str, Frame]:
    return {name: native[place] for name, place in zip(columns, native.columns, strict=True)}


def series_of(frame: Frame, columns: Sequence[str]) -> dict[str, Frame]:
    """The columns of a pandas frame as narwhals series, under other names."""
    import narwhals as nw

    return _by_name(nw.from_native(_renamed(frame)), columns)


def kinds_of(series: dict[str, Frame], row_names: str | None = None) -> dict[str, str]:
    """Kind of each column: number, truth, object, text, date or other. Numbers that name the rows count as text."""
    kinds = {name: _kind(name, column) for name, column in series.items()}
    if row_names in kinds and kinds[row_names] in ("number", "truth", "object"):
        kinds[row_names] = "text"
    return kinds


def set_aside(series: dict[str, Frame], kinds: dict[str, str], row_names: str | None = None) -> list[Text]:
    """The columns of text and of dates; numbers stored as text are refused."""
    texts = [_text(name, series[name], kind) for name, kind in kinds.items() if kind in ("text", "date")]
    declared = {text.name for text in texts if _is_declared(series[text.name].dtype)}
    return without_numbers(texts, declared, row_names)


def kind_notes(series: dict[str, Frame], kinds: dict[str, str], rounded: Sequence[str] = ()) -> list[Note]:
    """Notes on columns of truth values, of `rounded` integers, and of values that are not numbers."""
    truths = _of_kind(kinds, "truth")
    left_out = _left_out(series, kinds)
    notes = [Note("truth_values", about_columns(truths, *TRUTH_VALUES))] if truths else []
    notes += rounding_notes(rounded)
    return notes + ([Note("not_numbers", about_columns(left_out, *NOT_NUMBERS))] if left_out else [])


def _left_out(series: dict[str, Frame], kinds: dict[str, str]) -> list[str]:
    return [f"{name} ({_dtype_name(series[name])})" for name in _of_kind(kinds, "other")]


def _dtype_name(series: Frame) -> str:
    """The type of a column; the library's own name of a type that narwhals does not know."""
    import narwhals as nw

    native = series.to_native()
    known = series.dtype != nw.Unknown
    return str(series.dtype if known else getattr(native, "dtype", getattr(native, "type", series.dtype)))


def _one_block(frame: Frame) -> bool:
    """The memory of a pandas frame of one floating dtype, without a copy."""
    kinds = set(frame.dtypes) if _is_pandas(frame) else set()
    return len(kinds) == 1 and kinds <= {np.dtype(np.float32), np.dtype(np.float64)}


def _several_maps(frame: Frame, series: dict[str, Frame]) -> bool:
    """Whether columns of a pandas frame map files separately, so that pandas would read them to join them."""
    if getattr(frame._mgr, "nblocks", 2) == 1:
        return False
    return any(is_mapped(np.asarray(column.to_native().values)) for column in series.values())


def stacked_numbers(series: dict[str, Frame], first: int = 0) -> np.ndarray:
    """Columns of numbers as one matrix: float32 if all of them are, otherwise float64; `first` is the first row."""
    numbers = [_numbers(name, column, first) for name, column in series.items()]
    single = all(column.dtype == np.float32 for column in numbers)
    if len(numbers) == 1 and numbers[0].dtype in (np.float32, np.float64):
        return numbers[0].reshape(-1, 1)
    return np.stack(numbers, axis=1, dtype=np.float32 if single else np.float64, casting="unsafe")


def _kind(name: str, series: Frame) -> str:
    """number, truth, object, text, date or other; complex numbers are refused by name."""
    import narwhals as nw

    dtype = series.dtype
    declared = (
        ("date", dtype.is_temporal()),
        ("number", dtype.is_numeric()),
        ("truth", dtype == nw.Boolean),
        ("text", dtype in (nw.String, nw.Categorical, nw.Enum)),
        ("other", isinstance(dtype, nw.Array | nw.List | nw.Struct)),
    )
    if kind := next((kind for kind, applies in declared if applies), None):
        return kind
    try:
        values = series.to_numpy()
    except NotImplementedError:  # Arrow's unions
        return "other"
    if values.dtype.kind == "c":
        raise InputError(
            f"The column {quoted(name)} contains complex numbers. Use the real part or the imaginary part instead."
        )
    if values.dtype.kind == "f":
        return "number"
    if values.dtype.kind == "O" and (kind := _kind_of_objects(values.tolist())):
        return kind
    return "object" if dtype == nw.Object else "other"


def _values(series: Frame) -> np.ndarray:
    """The values of a column, in memory if they map a file."""
    stored = getattr(series.to_native(), "values", None)
    if isinstance(stored, np.ndarray) and is_mapped(stored):
        return in_memory(stored)  # narwhals looks for missing values of pandas before it returns an array
    values: np.ndarray = series.to_numpy()
    return in_memory(values)


def _kind_of_objects(values: Sequence[object]) -> str | None:
    """date or text if all known Python objects are dates, times or periods, or unique identifiers; otherwise None."""
    kinds = {type(value) for value in values if not _absent(value)}
    if not kinds:
        return None
    if all(issubclass(kind, dt.date | dt.time | dt.timedelta) for kind in kinds):
        return "date"
    if all(kind.__name__ == "Period" for kind in kinds):
        return "date"
    return "text" if all(issubclass(kind, uuid.UUID) for kind in kinds) else None


def _numbers(name: str, series: Frame, first: int) -> np.ndarray:
    import narwhals as nw

    if series.dtype in (nw.Int128, nw.UInt128):
        series = series.cast(nw.Float64)
    values = _values(series)
    if values.dtype.kind == "O":
        return np.array([_number(name, row, value) for row, value in enumerate(values.tolist(), first)], np.float64)
    if not (series.dtype.is_float() and values.dtype in (np.float32, np.float64)):
        values = values.astype(np.float64)
    return values


def _absent(value: object) -> bool:
    return (
        value is None or type(value).__name__ in ("NAType", "NaTType") or (isinstance(value, float) and value != value)
    )


def _number(name: str, row: int, value: Any) -> float:
    """One Python object as a number: None and NA are missing, text is refused with its position."""
    if _absent(value):
        return np.nan
    if isinstance(value, str | bytes):
        raise InputError(
            f"The column {quoted(name)} mixes numbers and text: row {row + 1} contains "
            f"{quoted(str(value))}. Correct this value, or convert the whole column to numbers or to "
            "text."
        )
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError) as error:
        is_list = isinstance(value, list | tuple | np.ndarray)
        remedy = remedy_for_lists(name) if is_list else "Leave out this column, or convert it to numbers."
        kind = type(value).__name__
        raise InputError(
            f"The column {quoted(name)}, row {row + 1}: a value of type {kind} is not a number. {remedy}"
        ) from error


def _text(name: str, series: Frame, kind: str) -> Text:
    values = tuple("" if _absent(value) else str(value) for value in series.to_list())
    return Text(name, values, len(set(values)) == len(values) and "" not in values, kind == "text", kind)


def _is_declared(dtype: Any) -> bool:
    """Whether the type of a column says that its values are categories or dates."""
    return dtype.is_temporal() or repr(dtype) != "String"
