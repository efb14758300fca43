"""Rows from inside large row groups and batches: the right ones, and little more than they take."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import ipc, parquet

from eckart.errors import MemoryBudgetError
from eckart.io.arrow.footer import batch_heads
from eckart.io.open_rows import open_rows

ROWS = 150_000
VALUES = np.random.default_rng(0).standard_normal((ROWS, 8))


def table() -> Any:
    columns = {f"c{j}": pa.array(VALUES[:, j], mask=np.arange(ROWS) % 1000 == j) for j in range(8)}
    return pa.table(columns | {"flag": pa.array(np.arange(ROWS) % 3 == 0)})


def truth() -> np.ndarray:
    found = VALUES.copy()
    for j in range(8):
        found[np.arange(ROWS) % 1000 == j, j] = np.nan
    return np.column_stack([found, np.arange(ROWS) % 3 == 0])


def write(path: Path, compression: str | None = None) -> Path:
    if path.suffix == ".parquet":
        parquet.write_table(table(), path, row_group_size=ROWS)
    else:
        options = ipc.IpcWriteOptions(compression=compression)  # type: ignore[arg-type]
        with pa.OSFile(str(path), "wb") as sink, ipc.new_file(sink, table().schema, options=options) as writer:
            writer.write_table(table(), max_chunksize=ROWS)
    return path


@pytest.mark.parametrize("name", ["a.parquet", "a.arrow", "lz4.arrow"])
def test_any_rows_of_one_piece(tmp_path: Path, name: str) -> None:
    rows: Any = open_rows(write(tmp_path / name, "lz4" if "lz4" in name else None))
    expected = truth()
    for start, stop in ((0, 10), (10, 5000), (149_993, ROWS), (77, 78), (77, 100_003), (3, 3 + 8)):
        np.testing.assert_array_equal(rows.read(start, stop), expected[start:stop])


@pytest.mark.parametrize("name", ["a.parquet", "a.arrow"])
def test_a_block_costs_little_more_than_itself(tmp_path: Path, name: str) -> None:
    large = pa.table({f"c{j}": np.arange(1_500_000.0) + j for j in range(8)})
    if name == "a.parquet":
        parquet.write_table(large, tmp_path / name, row_group_size=len(large), use_dictionary=False, compression="none")
    else:
        with pa.OSFile(str(tmp_path / name), "wb") as sink, ipc.new_file(sink, large.schema) as writer:
            writer.write_table(large, max_chunksize=len(large))
    size = large.nbytes
    del large
    rows: Any = open_rows(tmp_path / name)
    before = pa.total_allocated_bytes()
    peak = 0
    for start in range(0, 200_000, 10_000):
        assert rows.read(start, start + 10_000)[3, 2] == start + 5
        peak = max(peak, pa.total_allocated_bytes() - before)
    assert size > 90_000_000
    assert peak < size / 2


@pytest.fixture
def wide(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, np.ndarray]:
    """Three row groups of 700 rows and 300 columns, and little memory that is had whatever is allowed."""
    monkeypatch.setattr("eckart.budget.SMALL", 1 << 18)
    monkeypatch.setattr("eckart.environment.SMALL", 1 << 18)
    values = np.random.default_rng(1).standard_normal((2100, 300))
    path = tmp_path / "wide.parquet"
    parquet.write_table(pa.table({f"c{j}": values[:, j] for j in range(300)}), path, row_group_size=700)
    return path, values


def test_row_groups_of_many_columns_are_decoded_by_columns(
    wide: tuple[Path, np.ndarray], monkeypatch: pytest.MonkeyPatch
) -> None:
    path, values = wide
    monkeypatch.setattr("eckart.io.arrow.pieces._BATCH_BYTES", 1 << 18)  # forty columns at a time
    rows: Any = open_rows(path, memory=6_000_000)
    for start, stop in ((0, 10), (10, 1500), (650, 720), (3, 2100)):
        np.testing.assert_array_equal(rows.read(start, stop), values[start:stop])


def test_a_row_group_that_takes_too_much_is_refused_with_figures(wide: tuple[Path, np.ndarray]) -> None:
    said = r"row group 1 of 700 rows and 300 columns takes 1.68 MB .* the memory limit is 1.5 MB"
    with pytest.raises(MemoryBudgetError, match=said):
        open_rows(wide[0], memory=1_500_000)


def with_large_pages(path: Path, columns: int, rows: int, **options: Any) -> np.ndarray:
    """A Parquet file whose columns are one page each."""
    values = np.random.default_rng(3).standard_normal((rows, columns))
    table = pa.table({f"c{j}": values[:, j] for j in range(columns)})
    sizes = {"data_page_size": 1 << 28, "max_rows_per_page": rows}
    parquet.write_table(table, path, row_group_size=rows, use_dictionary=False, **sizes, **options)
    return values


@pytest.mark.parametrize("packing", ["none", "zstd"])
def test_large_pages_are_counted(tmp_path: Path, packing: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Six pages of 2.4 MB, instead of the usual 1 MB."""
    monkeypatch.setattr("eckart.budget.SMALL", 0)
    monkeypatch.setattr("eckart.environment.SMALL", 0)
    path = tmp_path / "a.parquet"
    values = with_large_pages(path, 6, 300_000, compression=packing)
    rows: Any = open_rows(path, memory=72_000_000 if packing == "none" else 100_000_000)
    decoded: list[int] = []
    iter_batches = parquet.ParquetFile.iter_batches

    def counted(self: Any, *args: Any, **options: Any) -> Any:
        decoded.append(len(options["columns"]))
        return iter_batches(self, *args, **options)

    monkeypatch.setattr(parquet.ParquetFile, "iter_batches", counted)
    np.testing.assert_array_equal(rows.read(1000, 31_000), values[1000:31_000])
    assert decoded == [1] * 6
    with pytest.raises(MemoryBudgetError, match=r"row group 1 of 300,000 rows and 6 columns takes 14\.4 MB"):
        open_rows(path, memory=14_000_000)


def test_a_page_that_takes_too_much_is_refused_with_figures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("eckart.environment.SMALL", 1 << 18)
    monkeypatch.setattr("eckart.budget.SMALL", 0)
    with_large_pages(tmp_path / "a.parquet", 2, 100_000, compression="zstd")
    with pytest.raises(MemoryBudgetError, match=r"one page of a column takes 1\.\d+ MB .* limit of 2 MB"):
        open_rows(tmp_path / "a.parquet", memory=2_000_000)
    open_rows(tmp_path / "a.parquet", memory=4_000_000)


def test_no_other_library_is_imported_for_numbers(tmp_path: Path) -> None:
    """pandas takes 50 MB and half a second, and nothing of it is needed. Old versions of PyArrow load it themselves."""
    parquet.write_table(table().slice(0, 1000), tmp_path / "a.parquet")
    code = "import sys, pyarrow.parquet; known = 'pandas' in sys.modules; from eckart.io.open_rows import open_rows; "
    code += "r = open_rows(sys.argv[1]); r.read(0, 1000); sys.exit('pandas' in sys.modules and not known)"
    subprocess.run([sys.executable, "-c", code, str(tmp_path / "a.parquet")], check=True)


def test_a_compressed_batch_is_counted_before_it_is_decoded(tmp_path: Path) -> None:
    path = tmp_path / "a.arrow"
    zeros = pa.table({f"c{j}": np.zeros(2_000_000) for j in range(8)})
    with pa.OSFile(str(path), "wb") as sink:
        options = ipc.IpcWriteOptions(compression="zstd")
        with ipc.new_file(sink, zeros.schema, options=options) as writer:
            writer.write_table(zeros, max_chunksize=2_000_000)
    before = pa.total_allocated_bytes()
    del zeros
    with pytest.raises(MemoryBudgetError, match=r"2,000,000 rows takes 128 MB .* half of the memory limit of 100 MB"):
        open_rows(path, memory=100_000_000)
    # Other tests of the process may change this by a few hundred bytes; a decoded column takes 16 MB.
    assert pa.total_allocated_bytes() - before < 2_000_000


@pytest.mark.parametrize("compression", [None, "lz4", "zstd"])
def test_footers_agree_with_the_library(tmp_path: Path, compression: str | None) -> None:
    path = tmp_path / "a.arrow"
    with pa.OSFile(str(path), "wb") as sink:
        options = ipc.IpcWriteOptions(compression=compression)  # type: ignore[arg-type]
        with ipc.new_file(sink, table().schema, options=options) as writer:
            for size in (7, 1, 0, 400):
                writer.write_batch(
                    table().slice(0, size).combine_chunks().to_batches(max_chunksize=500)[0]
                    if size
                    else pa.RecordBatch.from_pylist([], table().schema)
                )
    heads = batch_heads(path.read_bytes())
    assert [head.rows for head in heads] == [7, 1, 0, 400]
    assert {head.packed for head in heads} == {compression is not None}


def test_small_blocks_do_not_decode_a_row_group_many_times(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a small budget, a row group is decoded by columns, several megabytes of rows at a time."""
    path = write(tmp_path / "a.parquet")
    monkeypatch.setattr("eckart.budget.SMALL", 0)
    rows: Any = open_rows(path, memory=4 * 40_000 * 9 * 8)
    decoded: list[object] = []
    iter_batches = parquet.ParquetFile.iter_batches

    def counted(self: Any, *args: Any, **options: Any) -> Any:
        decoded.append(options["columns"])
        return iter_batches(self, *args, **options)

    monkeypatch.setattr(parquet.ParquetFile, "iter_batches", counted)
    expected = truth()
    for start in range(0, ROWS, 1000):
        np.testing.assert_array_equal(rows.read(start, start + 1000), expected[start : start + 1000])
    assert len(decoded) == 4 * 9  # 150,000 rows in pieces of 40,000, one column at a time
    np.testing.assert_array_equal(rows.read(5, 100_005), expected[5:100_005])
    np.testing.assert_array_equal(rows.read(39_000, 41_000), expected[39_000:41_000])
