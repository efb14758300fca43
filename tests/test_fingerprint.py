"""Fingerprints: a copy has the same content in another state; any change of size, samples or names is seen."""

from __future__ import annotations

import os
import pickle
import shutil

import numpy as np
import pytest

import eckart as ek
from eckart.engine.blocks.source import MemoryRows
from eckart.errors import FileError, ParameterError
from eckart.fingerprint import FileState, fingerprint, in_files, on_this_machine, paths_of
from eckart.io.columns import ChosenColumns
from eckart.io.open_rows import open_rows


def of(*paths):
    return fingerprint([FileState.of(str(path)) for path in paths])


def test_several_files_are_known_as_inputs(tmp_path):
    paths = [str(tmp_path / name) for name in ("a.npy", "b.npy")]
    for path in paths:
        np.save(path, np.ones((50, 3)))
    rows = ek.open_data(paths, memory=100)
    assert in_files(rows)
    assert paths_of(rows) == paths_of(paths) == paths
    for path in paths:
        os.utime(path, ns=(0, 0))  # as a copy on another machine
    with pytest.raises(FileError, match="changed while Eckart read rows 1 to 50"):
        rows.read(0, 50)
    np.testing.assert_array_equal(on_this_machine(rows).read(0, 100), np.ones((100, 3)))
    for data in (paths, ek.open_data(paths, memory=100)):
        with pytest.raises(ParameterError, match="is the input"):
            ek.project_to(ek.decompose(np.eye(3), k=1), data, paths[1], overwrite=True)


def test_the_same_file_twice_and_a_copy(tmp_path):
    (tmp_path / "a").write_bytes(os.urandom(1_000_000))
    shutil.copy2(tmp_path / "a", tmp_path / "b")
    first, copy = of(tmp_path / "a"), of(tmp_path / "b")
    assert first == of(tmp_path / "a")
    assert first["content"] == copy["content"]
    assert first["state"] != copy["state"]


@pytest.mark.parametrize("place", [0, 999_999, 500])
def test_sampled_bytes(tmp_path, place):
    content = bytearray(1_000_000)
    (tmp_path / "a").write_bytes(content)
    before = of(tmp_path / "a")
    content[place] = 1
    (tmp_path / "a").write_bytes(content)
    assert of(tmp_path / "a")["content"] != before["content"]


def test_a_restored_time_is_seen(tmp_path):
    (tmp_path / "a").write_bytes(bytes(1_000_000))
    status, before = (tmp_path / "a").stat(), of(tmp_path / "a")
    with (tmp_path / "a").open("r+b") as file:
        file.seek(10_000)  # between two samples
        file.write(b"x")
    os.utime(tmp_path / "a", ns=(status.st_atime_ns, status.st_mtime_ns))
    after = of(tmp_path / "a")
    assert after["content"] == before["content"]
    assert after["state"] != before["state"]


def test_every_file_of_a_folder_counts(tmp_path):
    for name in ("c/0", "c/1", "zarr.json"):
        (tmp_path / "s" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "s" / name).write_text(name)
    before = of(tmp_path / "s")
    assert before["content"]["files"] == 3
    (tmp_path / "s" / "c" / "0").rename(tmp_path / "s" / "c" / "2")
    assert of(tmp_path / "s")["content"] != before["content"]


def test_relative_paths_become_absolute(tmp_path, monkeypatch):
    np.save(tmp_path / "a.npy", np.eye(4))
    monkeypatch.chdir(tmp_path)
    rows = open_rows("a.npy")
    monkeypatch.chdir("/")
    np.testing.assert_array_equal(rows.read(0, 4), np.eye(4))


def test_a_source_on_another_machine(tmp_path):
    np.save(tmp_path / "a.npy", np.eye(4))
    rows = ChosenColumns(open_rows(tmp_path / "a.npy"), (0, 2), open_rows(tmp_path / "a.npy").metadata)
    wire = pickle.dumps(rows)
    os.utime(tmp_path / "a.npy", ns=(0, 0))
    there = pickle.loads(wire)
    with pytest.raises(FileError, match="changed"):
        there.read(0, 4)
    np.testing.assert_array_equal(on_this_machine(there).read(0, 4), np.eye(4)[:, [0, 2]])
    assert in_files(there)
    assert not in_files(MemoryRows(np.eye(3)))
