"""Numbers of other Arrow types as doubles, compared with Python's own conversion."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import feather, parquet

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
