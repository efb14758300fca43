"""AnnData and other groups: names of columns, and encodings that are not CSR."""

from __future__ import annotations

from pathlib import Path

import h5py
import numpy as np
import pytest
import zarr
from scipy import sparse

import eckart as ek
from eckart.errors import FileError, MemoryBudgetError, ParameterError
from eckart.io.open_rows import open_rows

MATRIX = sparse.random_array((9, 9), density=0.3, rng=np.random.default_rng(2), format="csr")


def write_group(path: Path, encoding: str) -> Path:
    with h5py.File(path, "w") as file:
        group = file.create_group("X")
        group.attrs["encoding-type"], group.attrs["shape"] = encoding, MATRIX.shape
        for part in ("data", "indices", "indptr"):
            group.create_dataset(part, data=getattr(MATRIX, part))
    return path


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("encoding", ["csc_matrix", "coo_matrix", "nullable-integer"])
def test_only_csr_is_read_as_csr(tmp_path: Path, encoding: str, stream: bool) -> None:
    """The three arrays of a square matrix would fit either way."""
    with pytest.raises(FileError, match=encoding):
        ek.decompose(write_group(tmp_path / "x.h5ad", encoding), k=1, stream=stream)
    right = ek.decompose(write_group(tmp_path / "y.h5ad", "csr_matrix"), "svd", k=1, stream=stream)
    np.testing.assert_allclose(right.values, np.linalg.svd(MATRIX.toarray(), compute_uv=False)[:1], rtol=1e-10)


def test_names_that_occur_twice_are_numbered(tmp_path: Path) -> None:
    with h5py.File(tmp_path / "x.h5ad", "w") as file:
        file["X"] = np.arange(12.0).reshape(4, 3) ** 2
        file["var/_index"] = np.array(["gene", "gene", "other"], dtype=h5py.string_dtype())
    opened = ek.open_data(tmp_path / "x.h5ad")
    assert opened.metadata.column_names == ("gene", "gene.2", "other")
    assert any("'gene' is now 'gene.2'" in note for note in opened.metadata.notes)


def test_an_array_stored_by_columns_is_read_a_few_columns_at_a_time(tmp_path, monkeypatch):
    """Zarr decodes all chunks that a block of rows touches at the same time: here that would be the whole array."""
    data = np.random.default_rng(5).standard_normal((300, 41))
    zarr.create_array(str(tmp_path / "a.zarr"), data=data, chunks=(300, 4))
    asked = []
    read = zarr.Array.__getitem__

    def watched(self, place):
        asked.append(place)
        return read(self, place)

    monkeypatch.setattr(zarr.Array, "__getitem__", watched)
    rows = open_rows(tmp_path / "a.zarr", memory=8 * 300 * 12 * 16)
    np.testing.assert_array_equal(rows.read(17, 60), data[17:60])
    assert {columns.stop - columns.start for _, columns in asked} == {12}
    asked.clear()
    rows = open_rows(tmp_path / "a.zarr", memory=10**9)
    np.testing.assert_array_equal(rows.read(17, 60), data[17:60])
    assert asked == [slice(17, 60)]


def test_a_file_can_be_written_again_after_it_was_read(tmp_path):
    """libhdf5 refuses to write a file that the same process still has open."""
    path = tmp_path / "a.h5"
    for factor in (1.0, 2.0):
        data = factor * np.random.default_rng(6).standard_normal((200, 5))
        with h5py.File(path, "w") as file:
            file.create_dataset("matrix", data=data, chunks=(50, 5))
        d = ek.decompose(path, k=2, stream=True)
        np.testing.assert_allclose(d.values, np.linalg.svd(data - data.mean(axis=0), compute_uv=False)[:2])


def test_packed_names_that_expand_to_gigabytes_are_refused(tmp_path):
    path = tmp_path / "a.h5ad"
    with h5py.File(path, "w") as file:
        file.create_dataset("X", data=np.ones((1000, 2)))
        group = file.create_group("obs")
        group.attrs["_index"] = "_index"
        names = group.create_dataset("_index", (1000,), "S400000", chunks=(100,), compression="gzip")
        for start in range(0, 1000, 100):
            names[start : start + 100] = b"x"
    assert path.stat().st_size < 2_000_000
    with pytest.raises(MemoryBudgetError, match=r"the list of names in 'obs' takes 400 MB"):
        open_rows(path, memory=300_000_000)


def test_matrices_in_groups_are_named_if_there_is_no_other(tmp_path: Path) -> None:
    with h5py.File(tmp_path / "x.h5", "w") as file:
        file["first/A"], file["second/B"], file["second/line"] = np.eye(3), np.eye(4), np.ones(3)
    with pytest.raises(ParameterError, match=r"Its groups contain 'first/A', 'second/B'\. Choose one with key="):
        ek.open_data(tmp_path / "x.h5")
    assert ek.decompose(tmp_path / "x.h5", "svd", k=1, key="second/B").rows == 4


def test_an_array_without_a_shape_is_named(tmp_path: Path) -> None:
    with h5py.File(tmp_path / "x.h5", "w") as file:
        file["nothing"] = h5py.Empty("f8")
    with pytest.raises(ParameterError, match=r"no two-dimensional array at the top level.*key="):
        ek.open_data(tmp_path / "x.h5")
    with pytest.raises(FileError, match="is not a matrix of numbers"):
        ek.open_data(tmp_path / "x.h5", key="nothing")


@pytest.mark.parametrize(
    ("stated", "fault"),
    [
        ([9.0, 9.0], "but it should be two whole numbers"),
        ([9], "but it should be two whole numbers"),
        ([-9, 9], "but it should be two whole numbers"),
        (None, "the attribute 'shape' is missing"),
        ([8, 9], "but 'indptr' has 10 entries"),
    ],
)
def test_a_wrong_shape_is_refused_with_its_reason(tmp_path: Path, stated: list[float] | None, fault: str) -> None:
    path = write_group(tmp_path / "x.h5ad", "csr_matrix")
    with h5py.File(path, "r+") as file:
        del file["X"].attrs["shape"]
        if stated is not None:
            file["X"].attrs["shape"] = stated
    with pytest.raises(FileError, match=fault):
        ek.decompose(path, k=2)


@pytest.mark.parametrize("door", ["path", "object"])
def test_arrays_in_groups_that_are_not_read_are_named(tmp_path, door):
    rows, path = np.random.default_rng(0).normal(size=(20, 3)), tmp_path / "runs.h5"
    with h5py.File(path, "w") as file:
        file["x"], file["run/y"], file["run/short"], file["empty/deep/z"] = rows, 2 * rows, rows[:, 0], rows
    with h5py.File(path) as file:
        given = path if door == "path" else file
        d = ek.decompose(given, k=1)
        (note,) = (note for note in d.notes if note.code == "unread_arrays")
        assert "Eckart read 'x', the only matrix outside groups. The groups contain 'run/y'." in note
        np.testing.assert_allclose(d.values, ek.decompose(rows, k=1).values)
        assert not ek.decompose(given, k=1, key="x").notes
        assert not ek.decompose(given, k=1, key="run/y").notes


def test_names_of_variable_length_that_share_one_text_are_counted(tmp_path):
    """Every name of an HDF5 file refers to a text in it, so many names may be one long text."""
    path, count = tmp_path / "cells.h5ad", 4000
    with h5py.File(path, "w") as file:
        file.create_dataset("X", data=np.ones((count, 2)))
        names = np.array(["x" * 50_000, *map(str, range(1, count))], dtype=object)
        file.create_group("obs").create_dataset("_index", data=names)
        place = file["obs/_index"].id.get_offset()
    content = bytearray(path.read_bytes())
    content[place : place + 16 * count] = content[place : place + 16] * count
    path.write_bytes(content)
    with pytest.raises(MemoryBudgetError, match=r"the list of names in 'obs' takes [\d.]+ MB"):
        ek.open_data(path, memory="100MB")
