"""CSR matrices in .npz files, read in blocks."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

import eckart as ek
from eckart.errors import FileError, MemoryBudgetError, ParameterError
from eckart.io.open_rows import open_table

RNG = np.random.default_rng(9)
DATA = RNG.standard_normal((500, 7)) * 100


@pytest.mark.parametrize("index", [-1, 5, 2**31])
@pytest.mark.parametrize("compressed", [False, True])
def test_an_index_outside_the_matrix_is_refused_in_the_same_words_whole_and_in_blocks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, index: int, *, compressed: bool
) -> None:
    matrix = sparse.random_array((40, 5), density=0.5, format="csr", rng=np.random.default_rng(3))
    indices = matrix.indices.astype(np.int64)
    indices[-2] = index
    parts = {"indices": indices, "indptr": matrix.indptr, "format": b"csr", "shape": matrix.shape, "data": matrix.data}
    path = tmp_path / "damaged.npz"
    (np.savez_compressed if compressed else np.savez)(path, **parts)
    fault = f"entry {len(indices) - 2} of 'indices' is {index}, outside 0 to 4"
    monkeypatch.chdir(tmp_path)
    for given in (path, "damaged.npz"):
        said = []
        for stream in (False, True):
            with pytest.raises(FileError, match=fault) as info:
                open_table(given, stream=stream).read(0, 40)
            said.append(str(info.value))
        assert said[0] == said[1]


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
@pytest.mark.parametrize("dtype", ["f8", "f4", ">f4", "i2", "u8", "bool"])
def test_rows_are_those_of_numpy(tmp_path, save, dtype):
    save(tmp_path / "a.npz", x=DATA.astype(dtype))
    rows = ek.open_data(tmp_path / "a.npz", stream=True)
    with np.load(tmp_path / "a.npz") as archive:
        expected = archive["x"]
    for start, stop in ((0, 500), (499, 500), (13, 400), (0, 1)):
        np.testing.assert_array_equal(rows.read(start, stop), expected[start:stop])
    assert rows.dtype == (np.float32 if dtype in ("f4", ">f4") else np.float64)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(rows)).read(3, 5), expected[3:5])


def test_both_ways_choose_and_report_the_same(tmp_path):
    np.savez(tmp_path / "a.npz", x=DATA, line=np.arange(3))
    whole, rows = (ek.open_data(tmp_path / "a.npz", stream=stream) for stream in (False, True))
    assert whole.metadata == rows.metadata
    np.savez(tmp_path / "b.npz", x=DATA, y=DATA + 1)
    for stream in (False, True):
        with pytest.raises(FileError, match="several matrices"):
            ek.open_data(tmp_path / "b.npz", stream=stream)
        with pytest.raises(ParameterError, match="no array 'z'"):
            ek.open_data(tmp_path / "b.npz", key="z", stream=stream)
    rows = ek.open_data(tmp_path / "b.npz", key="y", stream=True)
    np.testing.assert_array_equal(rows.read(0, 500), DATA + 1)


def test_a_decomposition_in_blocks(tmp_path):
    np.savez_compressed(tmp_path / "a.npz", DATA)
    d = ek.decompose(tmp_path / "a.npz", k=3, stream=True)
    assert "blocks" in d.plan.why
    expected = np.linalg.svd(DATA - DATA.mean(axis=0), compute_uv=False)[:3]
    np.testing.assert_allclose(d.values, expected, rtol=1e-10)


@pytest.mark.parametrize("kind", ["by columns", "csc"])
def test_what_cannot_be_read_in_blocks_counts_against_the_limit(tmp_path, monkeypatch, kind):
    from scipy import sparse

    monkeypatch.setattr("eckart.environment.SMALL", 0)
    if kind == "csc":
        sparse.save_npz(tmp_path / "a.npz", sparse.csc_array(DATA))
    else:
        np.savez(tmp_path / "a.npz", x=np.asfortranarray(DATA))
    assert ek.open_data(tmp_path / "a.npz", memory="1MB").shape == DATA.shape
    with pytest.raises(
        MemoryBudgetError,
        match=r"can only be read as a whole, which takes about [\d.]+ kB, but the memory limit is 20 kB",
    ):
        ek.open_data(tmp_path / "a.npz", memory="20kB")
