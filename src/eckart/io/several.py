"""Several files as one table: lists, patterns and folders, with the keys of hive folders (year=2024) as labels."""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePath

import numpy as np

from eckart.aliases import JsonObject
from eckart.engine.blocks.source import (
    Block,
    DataSource,
    MemoryRows,
    MemorySource,
    Metadata,
    RowSource,
    stack_blocks,
)
from eckart.errors import FileError
from eckart.io.bytes import refuse_link, shown
from eckart.io.columns import column_names
from eckart.io.roles import MOST_NAMES

_HIVE = re.compile(r"([^=/]+)=([^/]*)")


@dataclass(frozen=True)
class SeveralRows:
    """Row sources with equal columns, in order."""

    sources: tuple[RowSource, ...]
    edges: tuple[int, ...]
    metadata: Metadata

    @property
    def shape(self) -> tuple[int, int]:
        return self.edges[-1], self.sources[0].shape[1]

    @property
    def dtype(self) -> np.dtype:
        return np.dtype(np.result_type(*(source.dtype for source in self.sources)))

    @property
    def sparse(self) -> bool:
        return self.sources[0].sparse

    @property
    def entries(self) -> int:
        return sum(source.entries for source in self.sources)

    def cuts(self) -> Sequence[int]:
        return sorted({first + cut for first, source in zip(self.edges, self.sources, strict=False)
                       for cut in (0, *source.cuts())})  # fmt: skip

    def read(self, start: int, stop: int) -> Block:
        pieces = []
        for first, source in zip(self.edges, self.sources, strict=False):
            begin, end = max(start - first, 0), min(stop - first, source.shape[0])
            if begin < end:
                pieces.append(source.read(begin, end).astype(self.dtype, copy=False))
        return stack_blocks(pieces)

    def fingerprint(self) -> JsonObject:
        found = [source.fingerprint() for source in self.sources]
        return {"content": {"files": [one["content"] for one in found]}, "state": [one["state"] for one in found]}


def stacked_sources(sources: Sequence[DataSource], paths: Sequence[str], name: str) -> DataSource:
    """Sources read from `paths` as one; their columns must agree."""
    first = sources[0]
    for source, path in zip(sources[1:], paths[1:], strict=True):
        if source.shape[1] != first.shape[1] or source.metadata.column_names != first.metadata.column_names:
            raise FileError(
                f"{shown(path)} does not have the same columns as {shown(paths[0])}, but all files "
                "need the same columns. Columns in only one of these files: "
                f"{_difference(first, source)}."
            )
        if source.sparse != first.sparse:
            raise FileError(
                f"One of {shown(path)} and {shown(paths[0])} is sparse and the other is dense. "
                "Convert one of them, so that all files are of the same kind."
            )
    metadata = _metadata(sources, paths, name)
    if all(hasattr(source, "matrix") for source in sources):
        return MemorySource(stack_blocks([source.matrix for source in sources]), metadata)
    edges = (0, *itertools.accumulate(source.shape[0] for source in sources))
    return SeveralRows(tuple(_as_rows(source, metadata) for source in sources), edges, metadata)


def _as_rows(source: DataSource, whole: Metadata) -> DataSource:
    """Rows that record rounded integers for the whole table."""
    metadata = replace(source.metadata, rounded=whole.rounded)
    return MemoryRows(source.matrix, metadata) if hasattr(source, "matrix") else replace(source, metadata=metadata)


def _difference(first: object, second: object) -> str:
    names = set(column_names(first)) ^ set(column_names(second))
    return ", ".join(map(repr, sorted(names)[:6])) or "none (only the order of the columns differs)"


def _metadata(sources: Sequence[DataSource], paths: Sequence[str], name: str) -> Metadata:
    """Concatenated names and labels, if all files have them; the keys of hive folders as further labels."""
    metadata: Metadata = sources[0].metadata
    total = sum(source.shape[0] for source in sources)
    rows, labels = None, {}
    if total <= MOST_NAMES:
        rows, labels = _joined_names(sources), _joined_labels(sources)
        labels |= hive_labels(paths, [source.shape[0] for source in sources])
    notes = tuple(dict.fromkeys(note for source in sources for note in source.metadata.notes))
    return replace(metadata, name=name, row_names=rows, labels=labels, notes=notes)


def _joined_names(sources: Sequence[DataSource]) -> tuple[str, ...] | None:
    parts = [source.metadata.row_names for source in sources]
    return None if any(part is None for part in parts) else tuple(itertools.chain.from_iterable(parts))


def _joined_labels(sources: Sequence[DataSource]) -> dict[str, tuple[str, ...]]:
    """Labels that all files have."""
    parts = [source.metadata.labels for source in sources]
    common = [key for key in parts[0] if all(key in labels for labels in parts)]
    return {key: tuple(itertools.chain.from_iterable(labels[key] for labels in parts)) for key in common}


def hive_labels(paths: Sequence[str], counts: Sequence[int]) -> dict[str, tuple[str, ...]]:
    """Labels from folder names such as year=2024, one for each row; keys that every path has."""
    keys = [dict(_HIVE.fullmatch(part).groups() for part in PurePath(path).parts[:-1] if _HIVE.fullmatch(part))  # type: ignore[union-attr, misc]
            for path in paths]  # fmt: skip
    common = [key for key in keys[0] if all(key in found for found in keys)] if keys else []
    return {
        key: tuple(
            itertools.chain.from_iterable([found[key]] * count for found, count in zip(keys, counts, strict=True))
        )
        for key in common
    }


_MOST_OTHERS = 10_000


def files_below(folder: str, suffixes: Sequence[str]) -> list[str]:
    """Files of these kinds in a folder and, if it is partitioned, in its subfolders; hidden files are left out.

    Symbolic links to such files and to folders are refused. The search ends if the first 10,000 entries are others: the
    folder is probably not a table.
    """
    found, links, seen = list[Path](), list[Path](), 0
    for place, folders, files in os.walk(folder):
        folders[:] = sorted(_visible(folders))
        below = Path(place).joinpath
        tables = _with_suffix(map(below, _visible(files)), suffixes)
        found += [path for path in tables if not path.is_symlink()]
        links += [path for path in (*map(below, folders), *tables) if path.is_symlink()]
        seen += len(folders) + len(files)
        if not found and seen > _MOST_OTHERS:
            return []
    if links:
        refuse_link(min(links), folder, "folder")
    return list(map(str, sorted(found)))


def _with_suffix(paths: Iterable[Path], suffixes: Sequence[str]) -> list[Path]:
    return [path for path in paths if path.suffix.lower() in suffixes]


def _visible(names: Sequence[str]) -> list[str]:
    return [name for name in names if name[0] not in "._"]
