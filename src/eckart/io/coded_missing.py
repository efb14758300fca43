"""Missing values that the user states with `missing_values`: numbers such as -999 and texts such as "unknown".

Numbers are replaced in the columns that are analysed, whatever the data are. A column that identifies the rows or
contains codes keeps them: its 99 is the name of a row. Texts in columns of numbers are replaced where a text file is
parsed (`text/layout.py`), because such a column would not be one of numbers otherwise.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeGuard

import numpy as np

from eckart.aliases import JsonObject
from eckart.engine.blocks.dask_rows import DaskRows
from eckart.engine.blocks.source import Block, DataSource, MemorySource, Metadata, OfSource, RowSource, Source
from eckart.errors import InputError
from eckart.wording import MISSING_VALUES

_NOTES = frozenset({"missing_values", "missing_code", "empty_columns", "empty_rows", "numbering_column"})
"""Codes of notes on the numbers of a table, which change with the missing values."""


@dataclass(frozen=True)
class CodedRows(OfSource):
    """The rows of another source with missing values for `codes` in the columns `indices`."""

    source: RowSource
    codes: tuple[float, ...]
    indices: tuple[int, ...]
    metadata: Metadata

    def read(self, start: int, stop: int) -> Block:
        return _without_codes(self.source.read(start, stop), self.codes, self.indices)

    def fingerprint(self) -> JsonObject:
        found = self.source.fingerprint()
        coded = {"codes": list(self.codes), "columns": list(self.indices)}
        return {**found, "content": {**found["content"], "missing": coded}}


def with_missing(found: DataSource, given: Sequence[str | float], memory: int | None = None) -> DataSource:
    """The data with missing values for the codes `given`."""
    codes = tuple(code for code in given if not isinstance(code, str))
    if isinstance(found, np.ndarray):
        return _without_codes(found, codes, range(found.shape[1])) if codes and found.ndim == 2 else found
    if not _is_dense_source(found):
        _refuse(found)
    found = _with_labels(found, {_typed(code) for code in given})
    return _coded(found, codes, memory) if codes else found


def _is_dense_source(found: DataSource) -> TypeGuard[Source | RowSource]:
    """Whether the data are dense rows that Eckart itself reads."""
    return isinstance(found, Source | RowSource) and not isinstance(found, DaskRows) and not found.sparse


def _coded(found: DataSource, codes: tuple[float, ...], memory: int | None) -> DataSource:
    from eckart.io.columns import column_names
    from eckart.io.identifiers import set_aside
    from eckart.io.roles import Parts, column_notes

    kept = set_aside(found, memory)
    indices = tuple(j for j in range(found.shape[1]) if j not in kept)
    metadata = found.metadata
    if not hasattr(found, "matrix"):
        notes = tuple(note for note in metadata.notes if note.code not in _NOTES)
        return CodedRows(found, codes, indices, replace(metadata, notes=notes))
    matrix = _without_codes(found.matrix, codes, indices)
    parts = Parts(matrix, list(column_names(found)), column_roles=metadata.column_roles)
    notes = tuple(note for note in metadata.notes if note.code not in _NOTES)
    notes += tuple(column_notes(parts, metadata.row_names))
    return MemorySource(matrix, replace(metadata, notes=notes))


def _without_codes(block: np.ndarray, codes: Sequence[float], indices: Sequence[int]) -> np.ndarray:
    floating = block.dtype if np.issubdtype(block.dtype, np.floating) else np.dtype(np.float64)
    out = block.astype(floating)
    if len(indices) == out.shape[1]:
        out[np.isin(block, codes)] = np.nan
        return out
    for j in indices:
        out[np.isin(block[:, j], codes), j] = np.nan
    return out


def _typed(code: str | float) -> str:
    """A code as it is written in a column of text."""
    return code if isinstance(code, str) else f"{code:.0f}" if code.is_integer() else repr(code)


def _with_labels(found: Any, words: set[str]) -> DataSource:
    """The source with empty labels for the codes."""
    labels = {
        name: tuple("" if value in words else value for value in values)
        for name, values in found.metadata.labels.items()
    }
    if labels == found.metadata.labels:
        return found
    return replace(found, metadata=replace(found.metadata, labels=labels))


def _refuse(found: Any) -> None:
    what = f"an object of type {type(found).__name__} does not, or is on another device"
    if isinstance(found, Source | RowSource):
        what = f"{found.metadata.name} is sparse"
    raise InputError(
        f"{MISSING_VALUES} applies to tables that store every value, but {what}. Replace the codes before you pass the "
        "data."
    )
