"""From Arrow columns to the parts of a table: numbers in one matrix, texts and dates set aside."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from eckart.engine.blocks.rounded import is_rounded, rounding_notes
from eckart.environment import check_fits
from eckart.errors import NotFiniteError
from eckart.formatting import about_columns, quoted
from eckart.io.arrow.plain_columns import decoded, is_bool8, list_parts, stored_type, width_of
from eckart.io.roles import TRUTH_VALUES, Text
from eckart.notes import Note

if TYPE_CHECKING:
    import pyarrow as pa

_TILE = 64
"""Number of columns written at a time."""
TRUTHS = "true and false values, analysed as 1 and 0"
_FLOATS = {"halffloat": "float16", "float": "float32", "double": "float64"}
"""Arrow's names of types that NumPy calls by another name."""


def kind_of(arrow_type: pa.DataType) -> str:
    """number, truth, text, date, empty or other."""
    from pyarrow import types

    if types.is_dictionary(arrow_type):
        kind = kind_of(arrow_type.value_type)
        return kind if kind in ("number", "truth", "text") else "other"
    if types.is_run_end_encoded(arrow_type):
        kind = kind_of(arrow_type.value_type)
        return kind if kind in ("number", "truth") else "other"
    tests = (
        ("number", (types.is_integer, types.is_floating, types.is_decimal)),
        ("truth", (types.is_boolean, is_bool8)),
        ("text", (types.is_string, types.is_large_string, lambda found: str(found) == "string_view")),
        # Intervals (months, days and nanoseconds) are temporal but cannot be written as text.
        ("date", (lambda found: types.is_temporal(found) and not types.is_interval(found),)),
        ("empty", (types.is_null,)),
    )
    return next((kind for kind, of_kind in tests if any(test(arrow_type) for test in of_kind)), "other")


def text_of(name: str, column: pa.ChunkedArray, kind: str = "text") -> Text:
    """A column as strings, one per row, missing ones empty. Equal strings are one object."""
    import pyarrow as pa
    import pyarrow.compute as pc

    column = decoded(column)
    if kind_of(column.type) != "text":
        column = pc.cast(column, pa.string())
    known: dict[str, str] = {"": ""}
    values: list[str] = []
    # each with its own dictionary: a shared one would cost the square of the number of chunks
    for chunk in column.chunks:
        coded = chunk if pa.types.is_dictionary(chunk.type) else chunk.dictionary_encode()
        words = [known.setdefault(word, word) for word in map(_word, coded.dictionary.to_pylist())] + [""]
        indices = pc.fill_null(coded.indices.cast(pa.int64()), _scalar(len(words) - 1, pa.int64()))
        values.extend(map(words.__getitem__, stored_numbers(indices).tolist()))
    unique = len(set(values)) == len(values) and "" not in values
    return Text(name, tuple(values), unique, kind == "text", kind)


def _word(word: str | None) -> str:
    return "" if word is None else word


def matrix_of(columns: Sequence[pa.ChunkedArray], rows: int, name: str) -> np.ndarray:
    """Numeric Arrow columns as one row-major matrix; float32 only if all are. Lists become several columns."""
    import pyarrow as pa

    columns = [part for column in columns for part in (list_parts(column) if width_of(column.type) else [column])]
    single = all(stored_type(column.type) == pa.float32() for column in columns)
    target, dtype = (pa.float32(), np.float32) if single else (pa.float64(), np.float64)
    check_fits(rows * len(columns) * np.dtype(dtype).itemsize, name, "the matrix")
    flat = [_plain(column, target) for column in columns]
    out = np.empty((rows, len(columns)), dtype)
    step = max(1, (1 << 16) // min(len(columns), _TILE))
    # Write tile by tile: whole columns would miss the cache at every entry.
    for first in range(0, len(flat), _TILE):
        tile, some = out[:, first : first + _TILE], flat[first : first + _TILE]
        for start in range(0, rows, step):
            np.stack([column[start : start + step] for column in some], axis=1, out=tile[start : start + step])
    return out


def _plain(column: pa.ChunkedArray, target: pa.DataType) -> np.ndarray:
    import pyarrow as pa
    import pyarrow.compute as pc

    column = pc.cast(decoded(column), stored_type(column.type))
    if pa.types.is_boolean(column.type):
        column = pc.cast(column, pa.uint8())
    if pa.types.is_decimal(column.type):
        # Convert through text: Arrow multiplies by a rounded power of ten, and 0.3 becomes 0.30000000000000004.
        column = pc.cast(column, pa.string())
    column = pc.cast(column, target, safe=False)
    if column.null_count:
        column = pc.fill_null(column, _scalar(np.nan, target))
    return stored_numbers(column)


def stored_numbers(column: pa.ChunkedArray | pa.Array) -> np.ndarray:
    """Numbers without missing values, as a view of their memory.

    Arrow's `to_numpy` and `pa.scalar` would import pandas: 50 MB, and half a second of a first call.
    """
    import pyarrow as pa

    if column.null_count:
        raise ValueError(f"{column.null_count} numbers are missing")
    parts = [_stored(chunk) for chunk in (column.chunks if isinstance(column, pa.ChunkedArray) else [column])]
    return parts[0] if len(parts) == 1 else np.concatenate([np.empty(0, _dtype(column.type)), *parts])


def _dtype(kind: pa.DataType) -> np.dtype:
    """The dtype of an Arrow type of numbers; Arrow's `to_pandas_dtype` imports pandas in old versions."""
    return np.dtype(_FLOATS.get(str(kind), str(kind)))


def _scalar(number: float, kind: pa.DataType) -> pa.Scalar:
    """A number of an Arrow type."""
    import pyarrow as pa

    return pa.Array.from_buffers(kind, 1, [None, pa.py_buffer(np.full(1, number, _dtype(kind)))])[0]


def _stored(array: pa.Array) -> np.ndarray:
    dtype = _dtype(array.type)
    if not len(array):
        return np.empty(0, dtype)
    return np.frombuffer(array.buffers()[1], dtype, len(array), array.offset * dtype.itemsize)


def number_notes(names: Sequence[str], columns: Sequence[pa.ChunkedArray], matrix: np.ndarray) -> list[Note]:
    """Notes on truth values and on integers too large for a float."""
    truths = list(truth_roles(names, columns))
    long = long_integers([column.type for column in columns])
    notes = [Note("truth_values", about_columns(truths, *TRUTH_VALUES))] if truths else []
    return [*notes, *rounding_notes([names[j] for j in long if is_rounded(matrix[:, j])])]


def long_integers(types: Sequence[pa.DataType]) -> list[int]:
    """Positions of the types with integers that float64 rounds."""
    import pyarrow as pa

    kinds = map(stored_type, types)
    return [j for j, kind in enumerate(kinds) if pa.types.is_integer(kind) and kind.bit_width == 64]


def truth_roles(names: Sequence[str], columns: Sequence[pa.ChunkedArray]) -> dict[str, str]:
    """How columns of true and false were used."""
    truths = [name for name, column in zip(names, columns, strict=True) if kind_of(column.type) == "truth"]
    return dict.fromkeys(truths, TRUTHS)


def refuse_infinite(matrix: np.ndarray, names: Sequence[str], place: Callable[[int], str]) -> None:
    """Refuse infinite cells; `place(row)` locates the row in the file."""
    step = max(1, (1 << 20) // matrix.shape[1])
    for start in range(0, len(matrix), step):
        infinite = np.isinf(matrix[start : start + step])
        if infinite.any():
            row, column = np.argwhere(infinite)[0]
            raise NotFiniteError(
                f"{place(start + int(row))}, column {quoted(names[int(column)])}: the value is infinite, or too "
                "large for float64 (above 1.8e308). Correct the value, or leave the cell empty."
            )
