"""Entries with large column numbers are kept, never wrapped."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
import scipy.sparse as sp
from pyarrow import parquet

from eckart.io.convert import convert
from eckart.io.open_rows import open_rows

COLUMN = 2**32 + 1
"""1 once its upper half is lost."""


def triplets(path):
    table = {"row": [0, 1, 2], "column": [0, COLUMN, 3], "value": [1.0, 2.0, 3.0]}
    parquet.write_table(pa.table(table), path)


def market(path):
    header = f"%%MatrixMarket matrix coordinate real general\n3 {COLUMN + 1} 3\n"
    path.write_text(f"{header}1 1 1.0\n2 {COLUMN + 1} 2.0\n3 4 3.0\n")


@pytest.mark.parametrize(("name", "write"), [("a.parquet", triplets), ("a.mtx", market)])
def test_columns_beyond_32_bits(tmp_path, name, write):
    write(tmp_path / name)
    convert(tmp_path / name, tmp_path / "out.npz")
    found = sp.load_npz(tmp_path / "out.npz").tocoo()
    assert found.shape == (3, COLUMN + 1)
    entries = zip(found.row.tolist(), found.col.tolist(), found.data.tolist(), strict=True)
    assert sorted(entries) == [(0, 0, 1.0), (1, COLUMN, 2.0), (2, 3, 3.0)]
    rows = open_rows(tmp_path / name)
    block = rows.read(1, 2)
    np.testing.assert_array_equal((block.indices, block.data), ([COLUMN], [2.0]))
