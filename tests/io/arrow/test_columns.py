"""Numbers of other Arrow types as doubles, compared with Python's own conversion."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import compute, feather, ipc, parquet

import eckart as ek

RNG = np.random.default_rng(271)
DIGITS = [int(RNG.integers(10**16, 10**17)) * 10**9 + int(RNG.integers(10**9)) for _ in range(300)]
CASES = {
    "tenths": (pa.decimal128(10, 1), [Decimal(i) / 10 for i in range(-150, 150)]),
    "cents": (pa.decimal128(18, 2), [Decimal(digits // 10**9) / 100 for digits in DIGITS]),
    "long": (pa.decimal128(38, 20), [Decimal(digits).scaleb(-20) for digits in DIGITS]),
    "longer": (pa.decimal256(70, 40), [Decimal(digits).scaleb(-15) for digits in DIGITS]),
}


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("suffix", [".parquet", ".arrow"])
@pytest.mark.parametrize("case", CASES)
def test_decimals_are_rounded_once(tmp_path: Path, case: str, suffix: str, stream: bool) -> None:
    kind, numbers = CASES[case]
    table, path = (
        pa.table({"price": pa.array([None, *numbers[1:]], kind), "b": np.arange(300.0)}),
        tmp_path / f"x{suffix}",
    )
    parquet.write_table(table, path) if suffix == ".parquet" else feather.write_feather(table, path)
    source = ek.open_data(path, stream=stream)
    found = source.read(0, 300) if stream else source.matrix
    np.testing.assert_array_equal(found[:, 0], [np.nan, *map(float, numbers[1:])])


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("kind", [pa.int64(), pa.int8(), pa.float32(), pa.bool_()], ids=str)
def test_a_dictionary_of_numbers_is_read_as_its_numbers(tmp_path: Path, kind: pa.DataType, stream: bool) -> None:
    """Parquet stores such a column like any other, so Arrow files must give the same matrix, names and notes."""
    codes = pa.array([1, 0, None, 1, 1], pa.int8()).cast(kind).dictionary_encode()
    table = pa.table({"code": codes, "b": pa.array(range(5), pa.float32())})
    parquet.write_table(table, tmp_path / "x.parquet")
    feather.write_feather(table, tmp_path / "x.arrow", compression="uncompressed")
    first, second = (ek.open_data(tmp_path / name, stream=stream) for name in ("x.parquet", "x.arrow"))
    matrices = [source.read(0, 5) if stream else source.matrix for source in (first, second)]
    np.testing.assert_array_equal(matrices[1][:, 0], [1, 0, np.nan, 1, 1])
    np.testing.assert_array_equal(*matrices)
    assert matrices[0].dtype == matrices[1].dtype
    for name in ("column_names", "notes", "column_roles"):
        assert getattr(first.metadata, name) == getattr(second.metadata, name)


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("compression", ["uncompressed", "zstd"])
def test_runs_bytes_for_bits_and_lists_of_decimals_are_read_as_numbers(
    tmp_path: Path, compression: str, stream: bool
) -> None:
    rows = 3000
    steps = np.repeat(RNG.normal(size=rows // 100), 100)
    bits = RNG.integers(0, 2, rows, dtype=np.int8)
    tenths = RNG.integers(-99, 99, 2 * rows)
    decimals = pa.array([Decimal(int(i)) / 10 for i in tenths], pa.decimal128(5, 1))
    columns = {
        "steps": compute.run_end_encode(pa.array(steps)),
        "codes": compute.run_end_encode(pa.array([None] * 10 + [7] * (rows - 10))),
        "bits": pa.ExtensionArray.from_storage(pa.bool8(), pa.array(bits)) if hasattr(pa, "bool8") else pa.array(bits),
        "pair": pa.FixedSizeListArray.from_arrays(decimals, 2),
    }
    with pa.OSFile(str(tmp_path / "x.arrow"), "wb") as file:
        table = pa.table(columns)
        options = ipc.IpcWriteOptions(compression=None if compression == "uncompressed" else compression)
        with ipc.new_file(file, table.schema, options=options) as writer:
            writer.write_table(table, max_chunksize=1111)
    codes = np.r_[np.full(10, np.nan), np.full(rows - 10, 7)]
    expected = np.column_stack([steps, codes, bits, [float(Decimal(int(i)) / 10) for i in tenths[::2]]])
    source = ek.open_data(tmp_path / "x.arrow", stream=stream)
    found = source.read(0, rows) if stream else source.matrix
    assert source.metadata.column_names == ("steps", "codes", "bits", "pair[0]", "pair[1]")
    np.testing.assert_array_equal(found[:, :4], expected)
    np.testing.assert_array_equal(ek.open_data(table).matrix, found)
    named = ek.open_data(tmp_path / "x.arrow", stream=stream, row_names="codes")
    assert named.metadata.column_names == ("steps", "bits", "pair[0]", "pair[1]")


@pytest.mark.parametrize("stream", [False, True])
def test_intervals_are_left_out(tmp_path: Path, stream: bool) -> None:
    """Months, days and nanoseconds are temporal, but Arrow does not write them as text."""
    spans = pa.array([(1, 2, 3)] * 5, pa.month_day_nano_interval())
    feather.write_feather(pa.table({"a": np.arange(5.0), "span": spans}), tmp_path / "x.arrow")
    source = ek.open_data(tmp_path / "x.arrow", stream=stream)
    assert source.metadata.column_names == ("a",)
    assert any("span (month_day_nano_interval)" in note for note in source.metadata.notes)
