"""Options that select a part of the data, where the data have no such parts."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import eckart as ek
from eckart.errors import ParameterError

TABLE = np.random.default_rng(8).normal(size=(20, 3))


@pytest.mark.parametrize("data", [TABLE, sparse.csr_array(TABLE), pd.DataFrame(TABLE, columns=list("abc"))], ids=type)
@pytest.mark.parametrize("name", ["key", "layer"])
def test_an_object_with_a_single_table_has_no_parts(data, name):
    with pytest.raises(ParameterError, match=rf"^{name}='k' does not apply to an object of type {type(data).__name__}"):
        ek.open_data(data, **{name: "k"})


@pytest.mark.parametrize("data", [TABLE, sparse.csr_array(TABLE)], ids=type)
def test_an_array_has_no_column_of_row_names(data):
    with pytest.raises(ParameterError, match=r"^row_names='k' does not apply to an object of type"):
        ek.open_data(data, row_names="k")
    assert ek.open_data(data, row_names=None) is data


def test_an_array_of_records_has_a_column_of_row_names():
    records = np.array([("x", 1.0, 2.0), ("y", 2.0, 1.0)], dtype=[("name", "U3"), ("a", "f8"), ("b", "f8")])
    assert ek.open_data(records, row_names="name").metadata.row_names == ("x", "y")


def test_numbers_of_a_frame_name_the_rows_if_asked():
    """As in files and in dicts of columns."""
    frame = pd.DataFrame({"id": [3, 1, 2], "a": [1.0, 2.0, 4.0], "b": [2.0, 1.0, 5.0]})
    source = ek.open_data(frame, row_names="id")
    assert (source.metadata.row_names, source.metadata.column_names) == (("3", "1", "2"), ("a", "b"))
    with pytest.raises(ParameterError, match=r"no column 'x' to use as row names\. Its columns are 'id', 'a', 'b'\."):
        ek.open_data(frame, row_names="x")


def test_a_mask_counts_columns_also_if_their_names_are_numbers():
    frame = pd.DataFrame(np.arange(12.0).reshape(3, 4), columns=["3", "2", "1", "0"])
    found = ek.open_data(frame, mask=[True, False, False, True])
    assert found.metadata.column_names == ("3", "0")
    np.testing.assert_array_equal(found.matrix, frame[["3", "0"]])
    with pytest.raises(ParameterError, match="mask= is false everywhere"):
        ek.open_data(frame, mask=[False] * 4)
