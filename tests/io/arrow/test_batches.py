"""Batches of Arrow files: files that are cut off while they are read, and columns of every width."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from pyarrow import ipc

import eckart as ek
from eckart.errors import FileError, MemoryBudgetError
from eckart.io.open_rows import open_rows, open_table
from eckart.io.open_source import open_source

ROWS = 4000


def write(path: Path, table: Any, rows: int = 500) -> Path:
    with pa.OSFile(str(path), "wb") as sink, ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table, max_chunksize=rows)
    return path


@pytest.mark.parametrize("wanted", [0, 1, 2], ids=["numbers", "decimals", "text"])
def test_a_file_that_is_cut_off_does_not_end_the_process(tmp_path: Path, wanted: int) -> None:
    """After its size was compared and before its rows are read: a map of the file would give SIGBUS here."""
    numbers = pa.array(np.arange(float(ROWS)), mask=np.arange(ROWS) % 7 == 0)
    prices = pa.array([Decimal(i) / 4 for i in range(ROWS)], pa.decimal128(12, 2))
    table = pa.table({"a": numbers, "price": prices, "name": pa.array([f"town {i}" for i in range(ROWS)])})
    path = write(tmp_path / "x.arrow", table)
    program = """
        import os, sys
        from eckart.fingerprint import FileState
        from eckart.io.arrow.batches import ArrowPieces
        pieces = ArrowPieces(FileState.of(sys.argv[1]), [int(sys.argv[2])])
        assert len(next(pieces.read(0, 0, 10))[int(sys.argv[2])]) == 10
        os.truncate(sys.argv[1], 4096)
        for first in (10, 499):
            try:
                next(pieces.read(5, first, 1))
            except Exception as error:
                print("refused")
    """
    command = [sys.executable, "-c", textwrap.dedent(program), str(path), str(wanted)]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout.split()) == (0, ["refused", "refused"]), ended.stderr


@pytest.mark.parametrize("offset", [0, 3, 8, 13])
def test_columns_of_every_width_from_any_row(tmp_path: Path, offset: int) -> None:
    """Bits, bytes and words with gaps, decimals next to them, and slices that begin inside a byte."""
    rng = np.random.default_rng(offset)
    gaps = rng.random(ROWS) < 0.2
    table = pa.table({
        "bit": pa.array(rng.random(ROWS) < 0.5, mask=gaps),
        "byte": pa.array(rng.integers(-100, 100, ROWS).astype(np.int8), mask=gaps),
        "half": pa.array(rng.standard_normal(ROWS).astype(np.float16)),
        "word": pa.array(rng.integers(0, 2**40, ROWS).astype(np.uint64), mask=~gaps),
        "price": pa.array([None if gap else Decimal(i) / 10 for i, gap in enumerate(gaps)], pa.decimal128(12, 1)),
        "coded": pa.array([f"k{i % 3}" for i in range(ROWS)]).dictionary_encode(),
    }).slice(offset)  # fmt: skip
    expected = np.array([[np.nan if x is None else float(x) for x in table.column(j).to_pylist()] for j in range(5)]).T
    rows: Any = open_rows(write(tmp_path / "x.arrow", table, rows=901))
    for start, stop in ((0, 1), (5, 17), (890, 1900), (0, len(table)), (len(table) - 3, len(table))):
        np.testing.assert_array_equal(rows.read(start, stop), expected[start:stop])


def test_columns_that_are_decoded_whole_are_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Decimals of one batch; the doubles next to them are read from where they are."""
    monkeypatch.setattr("eckart.environment.SMALL", 1_000_000)
    doubles = {f"c{j}": np.zeros(300_000) for j in range(9)}
    path = write(tmp_path / "x.arrow", pa.table(doubles), rows=300_000)
    assert ek.open_data(path, memory=4_000_000).shape == (300_000, 9)
    prices = pa.array(np.arange(300_000)).cast(pa.decimal128(19, 0))
    path = write(tmp_path / "y.arrow", pa.table(doubles | {"price": prices}), rows=300_000)
    with pytest.raises(MemoryBudgetError, match=r"record batch of 300,000 rows takes 4.8 MB"):
        ek.open_data(path, memory=4_000_000)


def test_more_rows_than_the_file_has_room_for_are_refused(tmp_path: Path) -> None:
    """Edges of blocks for so many rows would fill the memory."""
    path = write(tmp_path / "x.arrow", pa.table({"a": np.arange(1234.0), "b": np.arange(1234.0)}), 1234)
    content = path.read_bytes()
    declared = (1234).to_bytes(8, "little")
    assert declared in content
    path.write_bytes(content.replace(declared, (2**50).to_bytes(8, "little")))
    for call in (open_rows, lambda path: ek.decompose(path, k=1, stream=True, memory=200_000)):
        with pytest.raises(FileError, match="1,125,899,906,842,624 rows, which is more than the file can contain"):
            call(path)


def test_damage_in_a_column_that_is_left_out(tmp_path: Path) -> None:
    """Whole and in blocks, other columns are read; Arrow reports this damage as OSError."""
    runs = pc.run_end_encode(pa.array(["x"] * 1234))
    path = write(tmp_path / "x.arrow", pa.table({"a": np.arange(1234.0), "run": runs}), 1234)
    content = path.read_bytes()
    node = (1234).to_bytes(8, "little") + bytes(8)  # rows and missing values of a column
    assert content.count(node) == 2
    place = content.rindex(node)
    path.write_bytes(content[:place] + (1235).to_bytes(8, "little") + content[place + 8 :])
    with pytest.raises(OSError, match="length"):
        ipc.open_file(path).get_batch(0)
    np.testing.assert_array_equal(open_rows(path).read(0, 1234), np.asarray(open_source(path).matrix))


def test_a_batch_of_a_negative_number_of_rows_is_refused_in_the_same_words_whole_and_in_blocks(tmp_path: Path) -> None:
    count = 12_347
    table = pa.table({"a": np.arange(count, dtype=float), "b": np.ones(count)})
    path = write(tmp_path / "damaged.arrow", table, rows=count)
    content = path.read_bytes()
    position = content.index(count.to_bytes(8, "little"))
    path.write_bytes(content[:position] + (-count).to_bytes(8, "little", signed=True) + content[position + 8 :])
    said = []
    for stream in (False, True):
        with pytest.raises(FileError, match="declares -12,347 rows") as info:
            open_table(path, stream=stream)
        said.append(str(info.value))
    assert said[0] == said[1]
