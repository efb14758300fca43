"""Chosen columns of rows that are read in blocks."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
import scipy.sparse as sp
from pyarrow import parquet

import eckart as ek
from eckart.errors import ParameterError
from eckart.io import columns
from eckart.io.columns import keep


class Watched:
    """A source that notes how many rows are asked for at once."""

    def __init__(self, source):
        self._source, self.most = source, 0

    def __getattr__(self, name):
        return getattr(self._source, name)

    def read(self, start, stop):
        self.most = max(self.most, stop - start)
        return self._source.read(start, stop)


def test_few_columns_of_many_are_read_in_pieces(tmp_path, monkeypatch):
    """Blocks are sized by the chosen columns; with all columns the same rows would take a hundred times the memory."""
    monkeypatch.setattr(columns, "_PIECE", 8 * 200 * 10)
    data = np.random.default_rng(0).standard_normal((505, 200))
    np.save(tmp_path / "a.npy", data)
    source = Watched(ek.open_data(tmp_path / "a.npy", stream=True))
    chosen = keep(source, [199, 3])
    np.testing.assert_array_equal(chosen.read(0, 505), data[:, [199, 3]])
    np.testing.assert_array_equal(chosen.read(13, 14), data[13:14, [199, 3]])
    assert source.most == 10


def test_sparse_rows_in_pieces(tmp_path, monkeypatch):
    monkeypatch.setattr(columns, "_PIECE", 600)
    data = sp.random_array((90, 40), density=0.2, rng=np.random.default_rng(1), format="csr")
    sp.save_npz(tmp_path / "a.npz", data)
    source = Watched(ek.open_data(tmp_path / "a.npz", stream=True))
    chosen = keep(source, [5, 0, 39])
    np.testing.assert_array_equal(chosen.read(7, 80).toarray(), data.toarray()[7:80, [5, 0, 39]])
    assert source.most < 30


@pytest.mark.parametrize("column", [True, np.False_, 1.5, None])
def test_only_names_and_positions_choose_columns(column):
    """True is not the second column: a list of truth values is meant as a mask."""
    with pytest.raises(ParameterError, match="neither a column name nor a position"):
        ek.open_data(np.ones((4, 3)), columns=[column, 0])


@pytest.mark.parametrize("stream", [False, True])
def test_the_roles_of_columns_left_out(tmp_path, stream):
    path = tmp_path / "a.parquet"
    parquet.write_table(pa.table({"a": [1.0, 2.0], "b": [3.0, 1.0], "name": ["u", "v"]}), path)
    found = ek.open_data(path, columns=["b"], stream=stream).metadata.column_roles
    assert found == {"a": "left out, as requested", "b": "analysed", "name": "used as row names"}
