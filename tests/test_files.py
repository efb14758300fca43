"""Nothing that is read is ever the target, under whatever name; a folder that is not ours is never replaced."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import numpy as np
import pytest

import eckart as ek
from eckart.cli import main
from eckart.errors import EckartError, FileError, ModelFileError, ParameterError
from eckart.files import input_conflict, is_replaceable, new_file, new_folder
from eckart.io.convert import convert

DATA = np.random.default_rng(1).standard_normal((60, 4))
needs_links = pytest.mark.skipif(os.name != "posix", reason="needs POSIX links")


def names_of(path):
    """The same file by other names: relative, through links of both kinds, and through a linked folder."""
    yield path
    yield os.path.relpath(path)
    for kind, name in ((os.symlink, "soft"), (os.link, "hard")):
        other = path.with_name(f"{name}{path.suffix}")
        if kind is os.link and path.is_dir():
            continue
        kind(path, other)
        yield other
    linked = path.parent.parent / f"linked-{path.suffix[1:]}"
    linked.symlink_to(path.parent)
    yield linked / path.name


def tables(folder):
    folder.mkdir()
    np.save(folder / "in.npy", DATA)
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    parquet.write_table(pa.table({f"c{j}": DATA[:, j] for j in range(4)}), folder / "in.parquet")
    store = pytest.importorskip("zarr").create_array(str(folder / "in.zarr"), shape=DATA.shape, dtype="f8")
    store[:] = DATA


def content(path):
    files = [path] if path.is_file() else sorted(file for file in path.rglob("*") if file.is_file())
    return [file.read_bytes() for file in files]


@needs_links
@pytest.mark.parametrize("suffix", [".npy", ".parquet", ".zarr"])
def test_scores_and_rows_never_replace_what_is_read(tmp_path, suffix):
    tables(tmp_path / "data")
    source = tmp_path / "data" / f"in{suffix}"
    d, before = ek.decompose(DATA), content(source)
    for name in names_of(source):
        for given, target in ((source, name), (name, source)):
            with pytest.raises(ParameterError, match="is the input"):
                ek.project_to(d, given, target, overwrite=True)
            with pytest.raises(ParameterError, match="is the input"):
                ek.reconstruct_to(d, given, target, overwrite=True)
    assert content(source) == before


def test_sources_patterns_maps_and_folders_are_inputs(tmp_path):
    tables(tmp_path / "data")
    d, folder = ek.decompose(DATA, k=2), tmp_path / "data"
    from eckart.io.open_rows import open_rows

    for given, target in (
        (open_rows(folder / "in.npy"), folder / "in.npy"),
        (np.load(folder / "in.npy", mmap_mode="r")[:30], folder / "in.npy"),
        (str(folder / "*.parquet"), folder / "in.parquet"),
        (folder, folder / "in.parquet"),
        (folder / "in.zarr", folder / "in.zarr" / "zarr.json.npy"),
    ):
        if not os.path.lexists(target):
            target.touch()
        with pytest.raises(ParameterError, match="is the input"):
            ek.project_to(d, given, target, overwrite=True)
    # A target that is a folder with the input in it would take the input along.
    inner = folder / "in.zarr" / "inner.npy"
    np.save(inner, DATA)
    with pytest.raises(ParameterError, match="is the input"):
        ek.project_to(d, inner, folder / "in.zarr", overwrite=True)
    assert np.array_equal(np.load(folder / "in.npy"), DATA)
    assert input_conflict(tmp_path / "new.npy", [folder / "in.npy"]) is None
    (tmp_path / "other").mkdir()
    assert input_conflict(tmp_path / "other", [folder / "in.npy"]) is None
    ek.project_to(d, folder / "in.npy", tmp_path / "out.npy")
    ek.project_to(d, folder / "in.npy", tmp_path / "out.npy", overwrite=True)


def test_files_below_a_recursive_pattern_are_inputs(tmp_path):
    """** stands for any number of folders; Python's glob takes it for one unless told otherwise."""
    deep = tmp_path / "a" / "b"
    deep.mkdir(parents=True)
    for place in (tmp_path, deep):
        np.save(place / "in.npy", DATA)
        with pytest.raises(ParameterError, match="is the input"):
            ek.project_to(ek.decompose(DATA, k=2), str(tmp_path / "**" / "*.npy"), place / "in.npy", overwrite=True)
        assert np.array_equal(np.load(place / "in.npy"), DATA)


def test_new_files_do_not_become_a_part_of_the_input(tmp_path, capsys):
    """The next run on the same folder or pattern would read them."""
    tables(tmp_path / "data")
    d, folder = ek.decompose(DATA, k=2), tmp_path / "data"
    (folder / "deep").mkdir()
    for given, target in (
        (folder, folder / "scores.parquet"),
        (folder, folder / "deep" / "scores.parquet"),
        (folder / "in.zarr", folder / "in.zarr" / "scores.npy"),
        (str(folder / "*.npy"), folder / "scores.npy"),
        (str(folder / "**" / "*.npy"), folder / "deep" / "scores.npy"),
    ):
        with pytest.raises(ParameterError, match=r"part of the input .* in the next run. Choose another name"):
            ek.project_to(d, given, target)
        assert not target.exists()
    with pytest.raises(ParameterError, match="would become part of the input"):
        convert(str(folder / "*.npy"), folder / "whole.npy")
    d.save(tmp_path / "model.eckart")
    with pytest.raises(SystemExit, match="2"):
        main(["transform", str(tmp_path / "model.eckart"), str(folder), "-o", str(folder / "scores.parquet")])
    assert "would become part of the input" in capsys.readouterr().err
    # Files of another kind stay allowed, and those that the pattern does not name.
    ek.reconstruct_to(d, ek.project(d, DATA), folder / "deep" / "rows.parquet")
    ek.project_to(d, folder / "deep", folder / "deep" / "scores.npy")
    with pytest.raises(SystemExit, match="0"):
        main(["fit", str(folder / "deep"), "-k", "1", "-o", str(folder / "deep" / "model.eckart")])
    ek.project_to(d, str(folder / "*.parquet"), folder / "deep" / "scores.parquet")


@needs_links
def test_convert_and_save_never_replace_the_data(tmp_path):
    tables(tmp_path / "data")
    source = tmp_path / "data" / "in.npy"
    d = ek.decompose(source, k=2)
    for name in names_of(source):
        with pytest.raises(ParameterError, match="Choose another name"):
            convert(source, name, overwrite=True)
        with pytest.raises(ModelFileError, match="Eckart does not replace it"):
            d.save(name, overwrite=True)
    assert np.array_equal(np.load(source), DATA)
    d.save(tmp_path / "m.eckart")
    d.save(tmp_path / "m.eckart", overwrite=True)
    (tmp_path / "empty").touch()
    d.save(tmp_path / "empty", overwrite=True)
    assert ek.load(tmp_path / "empty").k == 2


def test_only_stores_are_replaced(tmp_path):
    d, target = ek.decompose(DATA, k=2), tmp_path / "photos.zarr"
    target.mkdir()
    (target / "precious").write_text("mine")
    with pytest.raises(FileError, match="Delete it yourself"):
        ek.project_to(d, DATA, target, overwrite=True)
    assert [path.name for path in tmp_path.rglob("*")] == ["photos.zarr", "precious"]


def test_a_folder_that_cannot_be_replaced_is_kept(tmp_path, monkeypatch):
    target = tmp_path / "old"
    target.mkdir()
    (target / "mark").write_text("before")

    def write():
        with new_folder(target, overwrite=True, known=["mark"]) as draft:
            draft.mkdir()
            (draft / "mark").write_text("after")

    rename = type(target).rename

    def broken(self, goal):
        if self.suffix == ".tmp":
            raise OSError(28, "No space left on device")
        return rename(self, goal)

    with monkeypatch.context() as patch:
        patch.setattr(type(target), "rename", broken)
        with pytest.raises(
            EckartError, match=r"No space left on device\. Free .* If the folder existed before, it is unchanged"
        ):
            write()
    assert (target / "mark").read_text() == "before"
    write()
    assert (target / "mark").read_text() == "after"
    assert [path.name for path in tmp_path.iterdir()] == ["old"]


@needs_links
def test_pipes_and_devices_are_never_replaced(tmp_path):
    """A rename puts a file in the place of anything, and root may do so with /dev/null."""
    d = ek.decompose(DATA, k=2)
    for suffix, write in {
        ".eckart": lambda target: d.save(target, overwrite=True),
        ".npy": lambda target: ek.project_to(d, DATA, target, overwrite=True),
        ".html": lambda target: ek.report(d, target, overwrite=True),
    }.items():
        pipe, link = tmp_path / f"pipe{suffix}", tmp_path / f"link{suffix}"
        os.mkfifo(pipe)
        link.symlink_to(pipe)
        for target in (pipe, link):
            with pytest.raises(FileError, match="writes only regular files"):
                write(target)
        assert pipe.is_fifo()
    for place in ("/dev/null", "/dev/stdout", "/proc/self/fd/1"):
        assert not is_replaceable(Path(place))
    assert is_replaceable(tmp_path / "new.npy")


PROGRAM = textwrap.dedent("""
    import sys, time, numpy as np, eckart as ek
    def watch(progress):
        print("begun", flush=True)
        time.sleep(30)
    data = np.random.default_rng(0).standard_normal((2000, 5))
    ek.project_to(ek.decompose(data, k=2), data, sys.argv[1], memory="64kB", callback=watch)
""")


@pytest.mark.skipif(sys.platform == "win32", reason="signals are POSIX")
@pytest.mark.parametrize("suffix", [".npy", ".zarr"])
def test_a_draft_is_removed_when_a_signal_ends_the_process(tmp_path, suffix):
    target = tmp_path / f"out{suffix}"
    process = subprocess.Popen([sys.executable, "-c", PROGRAM, target], stdout=subprocess.PIPE)
    assert process.stdout.readline() == b"begun\n"
    assert [path.suffix for path in tmp_path.iterdir()] == [".tmp"]
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=60)
    assert process.returncode == -signal.SIGTERM
    deadline = time.monotonic() + 10
    while list(tmp_path.iterdir()) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not list(tmp_path.iterdir())


def test_a_read_only_file_system_is_named(tmp_path, monkeypatch):
    """It refuses to remove the draft too, though there is none."""

    def refuse(*_, **__):
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    monkeypatch.setattr(Path, "open", refuse)
    monkeypatch.setattr(Path, "unlink", refuse)
    with (
        pytest.raises(FileError, match=r"m\.eckart cannot be written: Read-only file system"),
        new_file(tmp_path / "m.eckart", overwrite=False),
    ):
        pass
