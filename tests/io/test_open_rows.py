"""The format of a file, given or by its suffix."""

from __future__ import annotations

import h5py
import numpy as np
import pytest

import eckart as ek
from eckart.errors import FileError


@pytest.mark.parametrize("format", ["h5", "hdf5", "H5AD"])
def test_a_format_overrides_the_suffix_of_a_stored_file(format, tmp_path):
    table = np.random.default_rng(5).normal(size=(20, 3))
    with h5py.File(tmp_path / "numbers.out", "w") as file:
        file["X"] = table
    found = ek.decompose(ek.open_data(tmp_path / "numbers.out", format=format), "svd", k=2)
    np.testing.assert_allclose(found.values, np.linalg.svd(table, compute_uv=False)[:2], rtol=1e-12)


def test_a_file_is_no_zarr_store_whatever_its_format(tmp_path):
    (tmp_path / "numbers.out").write_bytes(b"1,2\n")
    with pytest.raises(FileError, match="a Zarr store is a folder"):
        ek.open_data(tmp_path / "numbers.out", format="zarr")


def test_an_unknown_format_is_refused_with_the_known_ones(tmp_path):
    (tmp_path / "numbers.out").write_bytes(b"1,2\n")
    with pytest.raises(ValueError, match=r"format='foo' is not a supported format\. Use one of .*h5ad.*zarr"):
        ek.open_data(tmp_path / "numbers.out", format="foo")
