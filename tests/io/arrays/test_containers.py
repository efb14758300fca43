"""HDF5 and Zarr: only the file that was named is read, all of it must be there, and no codec may run code."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse

import eckart as ek
from eckart.cli import main
from eckart.errors import EckartError, FileError, MemoryBudgetError
from eckart.io.open_rows import open_rows
from tests.anomalies.fuzz.valid_files import DENSE, FILES, SPARSE

h5py = pytest.importorskip("h5py")
zarr = pytest.importorskip("zarr")


def refused(path: Path, word: str, error: type[EckartError] = FileError) -> None:
    with pytest.raises(error, match=word):
        whole(path)


def whole(path: Path) -> Any:
    rows: Any = open_rows(path)
    return rows.read(0, rows.shape[0])


def external_link(file: Any, folder: Path) -> None:
    with h5py.File(folder / "secret.h5", "w") as other:
        other["X"] = DENSE
    file["X"] = h5py.ExternalLink("secret.h5", "/X")


def behind_a_soft_link(file: Any, folder: Path) -> None:
    external_link(file, folder)
    file.move("X", "hidden")
    file["X"] = h5py.SoftLink("/hidden")


def external_storage(file: Any, folder: Path) -> None:
    (folder / "raw").write_bytes(DENSE.tobytes())
    file.create_dataset("X", DENSE.shape, "f8", external=[(str(folder / "raw"), 0, DENSE.nbytes)])


def virtual(file: Any, folder: Path) -> None:
    layout = h5py.VirtualLayout(DENSE.shape, "f8")
    layout[...] = h5py.VirtualSource(str(folder / "lost.h5"), "X", DENSE.shape)
    file.create_virtual_dataset("X", layout)


def larger_than_stored(file: Any, _folder: Path) -> None:
    file.create_dataset("X", (10**9, 10**6), "f8", chunks=(100, 100))[:40, :5] = DENSE


def never_written(file: Any, _folder: Path) -> None:
    file.create_dataset("X", (10**6, 10**3), "f8")


def a_circle(file: Any, _folder: Path) -> None:
    file["X"] = h5py.SoftLink("/Y")
    file["Y"] = h5py.SoftLink("/X")


@pytest.mark.parametrize(
    ("make", "word"),
    [
        (external_link, "link to another file"),
        (behind_a_soft_link, "link to another file"),
        (external_storage, "external storage"),
        (virtual, "virtual dataset"),
        (larger_than_stored, "the file contains only 1. The"),
        (never_written, "the file contains only 0. The"),
        (a_circle, "leads back to itself"),
    ],
)
def test_hdf5(tmp_path: Path, make: Callable[..., None], word: str) -> None:
    with h5py.File(tmp_path / "a.h5", "w") as file:
        make(file, tmp_path)
    refused(tmp_path / "a.h5", word)


def test_a_soft_link_inside_the_file_is_followed(tmp_path: Path) -> None:
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file["data/matrix"] = DENSE
        file["X"] = h5py.SoftLink("/data/matrix")
    np.testing.assert_array_equal(open_rows(tmp_path / "a.h5").read(0, 40), DENSE)  # type: ignore[union-attr]


def test_a_chunk_larger_than_the_budget_is_refused_with_figures(tmp_path: Path) -> None:
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file.create_dataset("X", (40_000, 300), "f8", chunks=(40_000, 300), compression="gzip")[:] = 0
    with pytest.raises(
        MemoryBudgetError, match=r"40000 x 300 values takes 192 MB .* half of the memory limit of 100 MB"
    ):
        open_rows(tmp_path / "a.h5", memory=100_000_000)


@pytest.mark.parametrize("change", [(30, 10**7), (-1, -20), (0, 5), (7, -1)])
@pytest.mark.parametrize("name", ["csr.h5ad", "csr3.zarr"])
def test_row_pointers_that_lie(tmp_path: Path, name: str, change: tuple[int, int]) -> None:
    path = tmp_path / name
    FILES[name](path)
    place, value = change
    root = h5py.File(path, "r+") if name.endswith("ad") else zarr.open(str(path))
    pointers = root["X/indptr"][...]
    pointers[place] = pointers[place] + value if value == -20 else value
    root["X/indptr"][...] = pointers
    if name.endswith("ad"):
        root.close()
    refused(path, "indptr")
    with pytest.raises(SystemExit) as stopped:
        main(["convert", str(path), str(tmp_path / "out.npz")])
    assert stopped.value.code == 2


def chunks(path: Path) -> list[Path]:
    return sorted(file for file in (path / "X").rglob("*") if file.is_file() and file.name[0] in "0123456789c")


@pytest.mark.parametrize("name", ["dense2.zarr", "dense3.zarr"])
def test_chunks_that_are_lost_or_elsewhere(tmp_path: Path, name: str) -> None:
    FILES[name](tmp_path / name)
    chunk = chunks(tmp_path / name)[1]
    chunk.replace(tmp_path / "moved")
    refused(tmp_path / name, "needs 3 chunks, but the file contains only 2")
    chunk.symlink_to(tmp_path / "moved")
    refused(tmp_path / name, "is a symbolic link")


def test_a_blosc_chunk_that_is_cut_off_is_not_decoded(tmp_path: Path) -> None:
    FILES["dense2.zarr"](tmp_path / "a.zarr")
    chunk = chunks(tmp_path / "a.zarr")[0]
    chunk.write_bytes(chunk.read_bytes()[:-40])
    refused(tmp_path / "a.zarr", "is damaged: its header declares")


def test_codecs_that_are_not_known_are_refused(tmp_path: Path) -> None:
    FILES["dense2.zarr"](tmp_path / "a.zarr")
    meta = tmp_path / "a.zarr" / "X" / ".zarray"
    codec = '{"id": "fixedscaleoffset", "scale": 10, "offset": 0, "dtype": "<f8"}'
    meta.write_text(meta.read_text().replace('"filters": null', f'"filters": [{codec}]'))
    refused(tmp_path / "a.zarr", "compressed with fixedscaleoffset")


def test_a_shape_that_exceeds_the_stored_chunks(tmp_path: Path) -> None:
    FILES["dense3.zarr"](tmp_path / "a.zarr")
    meta = tmp_path / "a.zarr" / "X" / "zarr.json"
    meta.write_text(meta.read_text().replace("40", "40000000000"))
    refused(tmp_path / "a.zarr", "chunks, but the file contains only 3")


def test_sound_files_are_read(tmp_path: Path) -> None:
    for name, truth in (("csr.h5ad", SPARSE.toarray()), ("csr3.zarr", SPARSE.toarray())):
        FILES[name](tmp_path / name)
        rows = open_rows(tmp_path / name)
        assert rows is not None
        np.testing.assert_array_equal(rows.read(0, 40).toarray(), truth)


@pytest.mark.parametrize("kind", ["dense", "csr", "shards"])
@pytest.mark.parametrize("how", ["lost", "replaced", "written"])
def test_a_chunk_that_changes_while_the_store_is_read_is_an_error(tmp_path, kind, how):
    """Zarr reads zeros where a chunk is gone, and any chunk of the right size where it was replaced."""
    data = np.random.default_rng(3).standard_normal((400, 6)) + 5
    place, options = str(tmp_path / "a.zarr"), {"compressors": None}
    if kind == "csr":
        matrix = sparse.csr_array(data)
        group = zarr.open_group(place, mode="w").create_group("X")
        group.attrs["encoding-type"], group.attrs["shape"] = "csr_matrix", [400, 6]
        for part in ("data", "indices", "indptr"):
            group.create_array(part, data=getattr(matrix, part), chunks=(100,), **options)
        chunks = tmp_path / "a.zarr" / "X" / "data" / "c"
        first, last = chunks / "0", chunks / "23"
    else:
        chunks = {"chunks": (25, 3), "shards": (50, 3)} if kind == "shards" else {"chunks": (50, 3)}
        zarr.create_array(place, data=data, **chunks, **options)
        first, last = (tmp_path / "a.zarr" / "c" / row / "1" for row in ("0", "7"))
    rows = ek.open_data(place, stream=True)
    expected = rows.read(0, 400)
    np.testing.assert_array_equal(expected.toarray() if kind == "csr" else expected, data)
    if how == "lost":
        last.unlink()
    elif how == "replaced":
        first.replace(last)
    else:
        last.write_bytes(last.read_bytes()[::-1])
    if how != "replaced":
        rows.read(0, 100)
    with pytest.raises(FileError, match=r"(disappeared|changed) while the store was being read|cannot be read"):
        rows.read(350, 400)


def test_rows_without_entries(tmp_path):
    matrix = sparse.csr_array((7, 3))
    group = zarr.open_group(str(tmp_path / "a.zarr"), mode="w").create_group("X")
    group.attrs["encoding-type"], group.attrs["shape"] = "csr_matrix", [7, 3]
    for part in ("data", "indices", "indptr"):
        values, config = getattr(matrix, part), {"write_empty_chunks": True}
        group.create_array(part, shape=values.shape, chunks=(4,), dtype=values.dtype, config=config)[:] = values
    rows = ek.open_data(tmp_path / "a.zarr", stream=True)
    np.testing.assert_array_equal(rows.read(2, 7).toarray(), np.zeros((5, 3)))


def test_names_packed_by_blosc_are_of_any_length(tmp_path: Path) -> None:
    """AnnData stores names so: their decoded size does not follow from shape and dtype."""
    from numcodecs import Blosc, VLenUTF8

    root = zarr.open_group(tmp_path / "a.zarr", mode="w", zarr_format=2)
    root.attrs["encoding-type"] = "anndata"
    root.create_array("X", data=DENSE, compressors=Blosc())
    for group, count in (("obs", DENSE.shape[0]), ("var", DENSE.shape[1])):
        member = root.create_group(group, attributes={"_index": "_index", "encoding-type": "dataframe"})
        names = np.array([f"{group} {'x' * i}" for i in range(count)], dtype=object)
        member.create_array("_index", data=names.astype("T"), filters=[VLenUTF8()], compressors=Blosc())
    source: Any = open_rows(tmp_path / "a.zarr")
    np.testing.assert_array_equal(source.read(0, len(DENSE)), DENSE)
    assert source.metadata.column_names[1] == "var x"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_chunk_that_becomes_a_pipe_is_refused(tmp_path):
    """Opening it would wait for a writer."""
    zarr = pytest.importorskip("zarr")
    zarr.create_array(str(tmp_path / "a.zarr"), data=np.arange(40.0).reshape(10, 4), chunks=(2, 4))
    rows = ek.open_data(tmp_path / "a.zarr")
    (tmp_path / "a.zarr" / "c" / "2" / "0").unlink()
    os.mkfifo(tmp_path / "a.zarr" / "c" / "2" / "0")
    np.testing.assert_array_equal(rows.read(0, 2), [[0, 1, 2, 3], [4, 5, 6, 7]])
    with pytest.raises(FileError, match="c/2/0 disappeared"):
        rows.read(4, 6)


@pytest.mark.parametrize("stream", [False, True])
def test_large_metadata_of_a_zarr_store_are_refused_unread(tmp_path: Path, stream: bool) -> None:
    zarr = pytest.importorskip("zarr")
    zarr.create_array(str(tmp_path / "a.zarr"), data=np.ones((6, 3)))
    os.truncate(tmp_path / "a.zarr" / "zarr.json", 3 << 30)
    with pytest.raises(FileError, match=r"metadata in zarr.json have 3.22 GB, but Eckart reads at most 67.1 MB"):
        ek.decompose(tmp_path / "a.zarr", k=1, stream=stream)
