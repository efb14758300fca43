"""Open h5py and Zarr objects: they follow the rules of a file given by its path."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import eckart as ek
from eckart.errors import FileError, InputError, ParameterError

h5py = pytest.importorskip("h5py")
VALUES = np.random.default_rng(2).normal(size=(12, 3))


@pytest.fixture
def file(tmp_path: Path) -> Any:
    with h5py.File(tmp_path / "a.h5", "w") as opened:
        opened["table"], opened["nothing"], opened["rows"] = VALUES, h5py.Empty("f8"), np.zeros(5)
        yield opened


@pytest.mark.parametrize("stream", [None, False, True])
def test_arrays_without_numbers_are_refused(file: Any, stream: bool | None) -> None:
    file["none"] = np.zeros((0, 4))
    with pytest.raises(InputError, match=r"none has the shape \(0, 4\), so it contains no numbers"):
        ek.decompose(file["none"], stream=stream)
    with pytest.raises(InputError, match="nothing of shape"):
        ek.decompose(file["nothing"], stream=stream)


def test_the_only_table_beside_arrays_without_numbers(file: Any) -> None:
    assert ek.decompose(file, "svd", k=1).values[0] == pytest.approx(np.linalg.norm(VALUES, 2))


def test_a_view_of_another_type(file: Any) -> None:
    found = ek.decompose(file["table"].astype("f4"), "svd", k=1)
    assert found.values[0] == pytest.approx(np.linalg.norm(VALUES, 2), rel=1e-5)


@pytest.mark.parametrize("key", [None, "table"])
def test_a_closed_file_is_refused(file: Any, key: str | None) -> None:
    file.close()
    with pytest.raises(InputError, match="its file was closed"):
        ek.decompose(file, key=key)


@pytest.mark.parametrize("chunks", [None, (4, 3)])
def test_unwritten_values_of_an_open_dataset_are_refused(tmp_path: Path, chunks: tuple[int, int] | None) -> None:
    with h5py.File(tmp_path / "gaps.h5", "w") as opened:
        array = opened.create_dataset("x", (12, 3), "f8", chunks=chunks)
        if chunks:
            array[:8] = VALUES[:8]
        for data in (array, opened, array.astype("f4")):
            with pytest.raises(FileError, match="would be replaced with a fill value"):
                ek.decompose(data, "svd", k=1)
        array[:] = VALUES
        assert ek.decompose(array, "svd", k=1).values[0] == pytest.approx(np.linalg.norm(VALUES, 2))


def test_links_of_an_open_group_to_other_files_are_refused(file: Any, tmp_path: Path) -> None:
    with h5py.File(tmp_path / "links.h5", "w") as opened:
        opened["far"] = h5py.ExternalLink("a.h5", "/table")
        with pytest.raises(FileError, match="is a link to another file"):
            ek.decompose(opened, "svd", k=1, key="far")


def test_a_virtual_dataset_that_is_open_is_refused(file: Any, tmp_path: Path) -> None:
    layout = h5py.VirtualLayout((12, 3), "f8")
    layout[:] = h5py.VirtualSource("a.h5", "table", (12, 3))
    with h5py.File(tmp_path / "virtual.h5", "w") as opened:
        opened.create_virtual_dataset("x", layout)
        with pytest.raises(FileError, match="is a virtual dataset"):
            ek.decompose(opened["x"], "svd", k=1)


def test_unwritten_values_of_a_backed_anndata_are_refused(tmp_path: Path) -> None:
    anndata = pytest.importorskip("anndata")
    path = tmp_path / "cells.h5ad"
    anndata.AnnData(VALUES).write_h5ad(path)
    with h5py.File(path, "r+") as opened:
        attributes = dict(opened["X"].attrs)
        del opened["X"]
        array = opened.create_dataset("X", (12, 3), "f8", chunks=(4, 3))
        array[:8] = VALUES[:8]
        array.attrs.update(attributes)
    with pytest.raises(FileError, match="would be replaced with a fill value"):
        ek.decompose(anndata.read_h5ad(path, backed="r"), "svd", k=1)


def _zarr_store(kind: str, folder: Path) -> Any:
    zarr = pytest.importorskip("zarr")
    return zarr.storage.MemoryStore() if kind == "memory" else zarr.storage.LocalStore(folder / "x.zarr")


@pytest.mark.parametrize("store", ["memory", "local"])
@pytest.mark.parametrize("name", [None, "x"])
def test_unwritten_chunks_of_an_open_zarr_array_are_refused(store: str, name: str | None, tmp_path: Path) -> None:
    zarr = pytest.importorskip("zarr")
    array = zarr.create_array(_zarr_store(store, tmp_path), name=name, shape=(12, 3), chunks=(4, 3), dtype="f8")
    array[:8] = VALUES[:8]
    with pytest.raises(FileError, match="needs 3 chunks, but the file contains only 2") as refused:
        ek.decompose(array, "svd", k=1)
    assert "array ''" not in str(refused.value)
    array[8:] = VALUES[8:]
    assert ek.decompose(array, "svd", k=1).values[0] == pytest.approx(np.linalg.norm(VALUES, 2))


def _linked(chunk: Path) -> None:
    chunk.rename(chunk.parent.parent.parent / "elsewhere")
    chunk.symlink_to(chunk.parent.parent.parent / "elsewhere")


def _expanding(chunk: Path) -> None:
    numcodecs = pytest.importorskip("numcodecs")
    chunk.write_bytes(numcodecs.Zstd().encode(bytes(10**7)))


def _unwritten_in_shard(chunk: Path) -> None:
    content = bytearray(chunk.read_bytes())
    content[-20:-4] = b"\xff" * 16
    chunk.write_bytes(content)


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (_linked, "is a symbolic link"),
        (_expanding, "is damaged: it decodes to more than"),
        (_unwritten_in_shard, "needs 4 chunks, but the file contains only 3"),
        (Path.unlink, "needs 1 chunks, but the file contains only 0"),
    ],
    ids=["linked", "expanding", "gap", "lost"],
)
def test_an_open_zarr_array_is_checked_like_a_path(damage: Any, words: str, tmp_path: Path) -> None:
    zarr = pytest.importorskip("zarr")
    shards = (12, 3) if damage is _unwritten_in_shard else None
    chunks = (3, 3) if shards else (12, 3)
    array = zarr.create_array(str(tmp_path / "x.zarr"), shape=(12, 3), chunks=chunks, shards=shards, dtype="f8")
    array[:] = VALUES
    assert ek.decompose(array, "svd", k=1).values[0] == pytest.approx(np.linalg.norm(VALUES, 2))
    damage(tmp_path / "x.zarr" / "c" / "0" / "0")
    for data in (array, tmp_path / "x.zarr"):
        with pytest.raises(FileError, match=words):
            ek.decompose(data, "svd", k=1)


@pytest.mark.parametrize("key", ["../b", "..", ".", "table/../table", "missing", "", "/", "a\udcffb", "table/inner"])
@pytest.mark.parametrize("kind", ["h5py", "zarr"])
def test_keys_that_name_no_array_are_refused(file: Any, kind: str, key: str) -> None:
    group = file
    if kind == "zarr":
        zarr = pytest.importorskip("zarr")
        group = zarr.open_group({}, mode="w")
        for name in ("table", "other"):
            group.create_array(name, shape=VALUES.shape, dtype="f8")[:] = VALUES
    with pytest.raises((InputError, FileError)):
        ek.open_data(group, key=key)


def test_a_group_that_contains_itself_is_refused(file: Any) -> None:
    group = file.create_group("X")
    group["X"] = group
    with pytest.raises(InputError, match=r"The group contains 'X'\. Choose an array with key="):
        ek.open_data(file, key="X")


@pytest.mark.parametrize("by_path", [False, True])
def test_x_is_preferred_to_other_matrices_only_in_annotated_data(file: Any, by_path: bool) -> None:
    file["X"] = 2 * VALUES
    file.flush()
    source = file.filename if by_path else file
    with pytest.raises((InputError, ParameterError), match="Choose an array with key="):
        ek.decompose(source, "svd", k=1)
    file.create_group("obs")
    file.flush()
    assert ek.decompose(source, "svd", k=1).values[0] == pytest.approx(2 * np.linalg.norm(VALUES, 2))


@pytest.mark.parametrize("name", [None, "table"])
def test_stores_in_memory_do_not_depend_on_the_folders_of_the_machine(name: str | None, monkeypatch: Any) -> None:
    zarr = pytest.importorskip("zarr")
    monkeypatch.setattr(Path, "is_dir", lambda _: True)  # as if any folder existed
    group = zarr.open_group({}, mode="w")
    array = group.create_array("table", shape=VALUES.shape, dtype="f8")
    array[:] = VALUES
    found = ek.decompose(array if name is None else group, "svd", k=1)
    assert found.values[0] == pytest.approx(np.linalg.norm(VALUES, 2))


def test_an_empty_group_is_refused(file: Any) -> None:
    with pytest.raises(InputError, match="The group is empty"):
        ek.open_data(file.create_group("without members"))
