"""Several Parquet files as one table, and damaged batches."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import feather, ipc, parquet

import eckart as ek
from eckart.errors import FileError, MemoryBudgetError
from eckart.io.arrow.batches import ArrowPieces


@pytest.mark.parametrize(
    ("other", "words"),
    [
        ({"a": [1, 2], "b": [0.5, 1.5]}, "The column 'a' has type double in one file and int64 in the other"),
        ({"b": [0.5, 1.5], "a": [1.0, 2.0]}, "One file has the column 'a' where the other has 'b'"),
        ({"a": [1.0, 2.0], "b": [0.5, 1.5], "c": [1, 2]}, "Only one of the files has the column 'c'"),
    ],
)
def test_files_that_do_not_fit_together(tmp_path: Path, other: dict[str, Any], words: str) -> None:
    parquet.write_table(pa.table({"a": [1.0, 2.0], "b": [0.5, 1.5]}), tmp_path / "1.parquet")
    parquet.write_table(pa.table(other), tmp_path / "2.parquet")
    with pytest.raises(FileError, match=words):
        ek.open_data(tmp_path)


def test_errors_in_columns_of_text_name_the_batch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In memory, columns of text are read first; the message is that of the same batch of numbers."""
    columns = {"town": [f"town {i}" for i in range(40)], "a": np.arange(40.0), "b": np.arange(40.0) ** 2}
    feather.write_feather(pa.table(columns), tmp_path / "x.feather", chunksize=15)
    read = ArrowPieces.read

    def damaged(self: Any, group: int, first: int, count: int) -> Any:
        if group == 1:
            raise OSError("Array length did not match record batch length")
        return read(self, group, first, count)

    monkeypatch.setattr(ArrowPieces, "read", damaged)
    for stream in (False, True):
        with pytest.raises(FileError, match=r"x\.feather', batch 2 cannot be read \(Array length did not match"):
            ek.open_data(tmp_path / "x.feather", stream=stream).read(0, 40)


def test_a_file_of_a_folder_that_was_rewritten_is_named(tmp_path):
    for part in range(3):
        parquet.write_table(
            pa.table({"a": np.arange(50.0), "b": np.arange(50.0) ** 2}), tmp_path / f"part{part}.parquet"
        )
    source = ek.open_data(tmp_path, stream=True)
    place = tmp_path / "part1.parquet"
    content, before = place.read_bytes(), place.stat()
    place.write_bytes(content)
    os.utime(place, ns=(before.st_atime_ns, before.st_mtime_ns + 10**9))
    message = rf"{tmp_path.name}: part1\.parquet changed .* still has {len(content):,} bytes, but it was written again"
    with pytest.raises(FileError, match=message):
        source.read(60, 70)
    np.testing.assert_array_equal(source.read(0, 50)[:, 0], np.arange(50.0))


@pytest.mark.parametrize("stream", [None, True])
@pytest.mark.parametrize("encoding", ["PLAIN", "DELTA_BYTE_ARRAY", "dictionary", "arrow", "batches"])
def test_texts_that_exceed_the_memory_limit_are_dropped(tmp_path: Path, encoding: str, stream: bool | None) -> None:
    """A compressed file of a few hundred kilobytes may contain gigabytes of text."""
    count = 4000
    texts = pa.array([f"{'x' * 20_000}{i}" for i in range(count)])
    table = pa.table({"name": texts, "a": np.arange(count) * 1.0, "b": np.ones(count)})
    if encoding in ("arrow", "batches"):
        path = tmp_path / "table.arrow"
        feather.write_feather(table, path, "zstd", chunksize=count if encoding == "arrow" else 100)
    else:
        path = tmp_path / "table.parquet"
        plain = encoding != "dictionary"
        parquet.write_table(
            table, path, compression="zstd", use_dictionary=not plain,
            column_encoding={"name": encoding} if plain else None, dictionary_pagesize_limit=1 << 30,
        )  # fmt: skip
    source = ek.open_data(path, memory="100MB", stream=stream)
    assert source.metadata.row_names is None
    assert not source.metadata.labels
    notes = [note for note in source.metadata.all_notes if "dropped" in note]
    assert notes == ["The names and labels in 'name' were dropped, because they take more than 67.1 MB."]
    assert ek.decompose(source, "svd", k=1).columns == 2


def test_a_compressed_stream_larger_than_the_memory_limit_is_refused(tmp_path: Path) -> None:
    table = pa.table({"a": np.zeros(20_000_000), "b": np.ones(20_000_000)})
    path = tmp_path / "table.arrow"
    options = ipc.IpcWriteOptions(compression="zstd")
    with pa.OSFile(str(path), "wb") as file, ipc.new_stream(file, table.schema, options=options) as writer:
        writer.write_table(table, max_chunksize=1 << 20)
    with pytest.raises(MemoryBudgetError, match="can only be read as a whole"):
        ek.open_data(path, memory="100MB")


def test_a_dictionary_that_exceeds_the_memory_limit_is_refused(tmp_path: Path) -> None:
    words = pa.DictionaryArray.from_arrays(pa.array([0, 0], pa.int32()), pa.array(["x" * 80_000_000]))
    path = tmp_path / "table.arrow"
    feather.write_feather(pa.table({"name": words, "a": [1.0, 2.0]}), path, "zstd")
    with pytest.raises(MemoryBudgetError, match="list of dictionaries"):
        ek.open_data(path, memory="100MB", stream=True)
