"""Scores and rows written as they are read."""

from __future__ import annotations

import numpy as np
import pytest
from pyarrow import parquet

import eckart as ek
from eckart.errors import FileError, ParameterError

DATA = np.random.default_rng(0).standard_normal((700, 9)) @ np.diag(np.arange(1.0, 10.0)) + 3


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr("eckart.budget._BLOCK_BYTES", (4000, 4000))


def read_back(path):
    if path.suffix == ".npy":
        return np.load(path)
    if path.suffix == ".parquet":
        return np.column_stack([column.to_numpy() for column in parquet.read_table(path).columns])
    return np.asarray(pytest.importorskip("zarr").open(str(path), mode="r")[:])


@pytest.mark.parametrize("suffix", [".npy", ".parquet", ".zarr"])
def test_there_and_back(tmp_path, suffix):
    np.save(tmp_path / "in.npy", DATA)
    d = ek.decompose(DATA)
    target, rows = tmp_path / f"scores{suffix}", tmp_path / f"rows{suffix}"
    assert ek.project_to(d, tmp_path / "in.npy", target) == 700
    np.testing.assert_allclose(read_back(target), ek.project(d, DATA), atol=1e-9)
    assert ek.reconstruct_to(d, target, rows) == 700
    np.testing.assert_allclose(read_back(rows), DATA, atol=1e-9)
    with pytest.raises(FileError, match="already exists"):
        ek.project_to(d, DATA, target)
    ek.project_to(d, DATA[:100], target, overwrite=True)
    assert len(read_back(target)) == 100


def test_nothing_half_written(tmp_path):
    d = ek.decompose(DATA, k=2)

    def stop(_progress):
        raise RuntimeError("stopped")

    for suffix in (".npy", ".parquet", ".zarr"):
        with pytest.raises(RuntimeError, match="stopped"):
            ek.project_to(d, DATA, tmp_path / f"scores{suffix}", callback=stop)
    assert list(tmp_path.iterdir()) == []


def test_other_suffixes(tmp_path):
    with pytest.raises(ParameterError, match=r"scores.csv.*\.npy"):
        ek.project_to(ek.decompose(DATA, k=2), DATA, tmp_path / "scores.csv")
