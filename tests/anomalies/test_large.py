"""What goes wrong with long work: full disks, folders that vanish, files that change, processes that are killed."""

from __future__ import annotations

import os
import resource
import shutil
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import h5py
import numpy as np
import pyarrow as pa
import pytest
import zarr
from pyarrow import feather

import eckart as ek
from eckart.cli import main
from eckart.errors import CheckpointError, FileError

LIMIT = 40_000


@pytest.fixture(autouse=True)
def small_steps(monkeypatch):
    monkeypatch.setattr("eckart.budget._BLOCK_BYTES", (20_000, 20_000))
    monkeypatch.setattr("eckart.engine.blocks.checkpoint._EVERY_SECONDS", 0.0)


@pytest.fixture
def full_disk():
    """Files can not grow beyond LIMIT bytes: writes fail half-way, as on a disk without room."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (LIMIT, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, before)
    signal.signal(signal.SIGXFSZ, handler)


@pytest.fixture
def table(tmp_path):
    rng = np.random.default_rng(0)
    data = rng.standard_normal((2000, 90)) * np.linspace(3, 0.1, 90)
    path = tmp_path / "table.npy"
    np.save(path, data)
    return path


def after(count, action):
    """A watcher that acts once, after so many blocks."""
    seen = []

    def callback(progress):
        seen.append(progress)
        if len(seen) == count:
            action()

    return callback


class TestFullDisk:
    def test_checkpoint(self, table, tmp_path, full_disk):
        """Ninety columns: a Gram matrix of 64,800 bytes does not fit, and the folder keeps what it held."""
        folder = tmp_path / "c"
        with pytest.raises(CheckpointError, match=r"c/partial \(\d\d,\d{3} bytes\) cannot be used: File too large"):
            ek.decompose(table, k=3, solver="gram", checkpoint=folder)
        assert {path.name for path in folder.iterdir()} <= {"run.json", "blocks"}

    def test_checkpoint_and_on(self, table, tmp_path, full_disk):
        folder = tmp_path / "c"
        with pytest.raises(CheckpointError):
            ek.decompose(table, k=3, solver="gram", checkpoint=folder)
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        again = ek.decompose(table, k=3, solver="gram", checkpoint=folder)
        straight = ek.decompose(table, k=3, solver="gram", stream=True)
        np.testing.assert_array_equal(again.right, straight.right)

    @pytest.mark.parametrize("suffix", [".npy", ".parquet", ".zarr"])
    def test_output(self, table, tmp_path, suffix, full_disk):
        if suffix == ".zarr":
            pytest.importorskip("zarr")
        d = ek.decompose(table, k=20)
        target = tmp_path / f"scores{suffix}"
        with pytest.raises(FileError, match=rf"scores{suffix}.* cannot be written: .*File too large"):
            ek.project_to(d, table, target)
        assert {path.name for path in tmp_path.iterdir()} == {"table.npy"}

    def test_output_names_the_bytes(self, table, tmp_path, full_disk):
        d = ek.decompose(table, k=20)
        with pytest.raises(FileError, match=r"scores.npy cannot be written: .* after [\d,]+ bytes\. Free"):
            ek.project_to(d, table, tmp_path / "scores.npy")

    def test_convert(self, table, tmp_path, full_disk):
        with pytest.raises(FileError, match=r"other.npy.* cannot be written: File too large"):
            ek.convert(table, tmp_path / "other.npy")
        assert {path.name for path in tmp_path.iterdir()} == {"table.npy"}


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root may mount")
def test_tmpfs_that_is_full(table, tmp_path):
    place = tmp_path / "small"
    place.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=96k", "tmpfs", place], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip("mounting is not allowed here")
    try:
        with pytest.raises(CheckpointError, match=r"bytes\) cannot be used: No space left.*Everything written so far"):
            ek.decompose(table, k=8, solver="lanczos", left=True, checkpoint=place / "c")
        d = ek.decompose(table, k=20)
        with pytest.raises(FileError, match=r"scores.npy.* cannot be written: No space left on device"):
            ek.project_to(d, table, place / "scores.npy")
        assert [path.name for path in place.iterdir()] == ["c"]
        moved = shutil.copytree(place / "c", tmp_path / "c")
        again = ek.decompose(table, k=8, solver="lanczos", left=True, checkpoint=moved)
        straight = ek.decompose(table, k=8, solver="lanczos", left=True, stream=True)
        np.testing.assert_array_equal(again.left, straight.left)
    finally:
        subprocess.run(["umount", place], check=True)


class TestFoldersThatVanish:
    def test_checkpoint(self, table, tmp_path):
        folder = tmp_path / "c"
        with pytest.raises(CheckpointError, match=r"c/\S+.* cannot be used: No such file or directory"):
            ek.decompose(table, k=3, checkpoint=folder, callback=after(5, lambda: shutil.rmtree(folder)))

    @pytest.mark.parametrize("suffix", [".npy", ".parquet"])
    def test_output(self, table, tmp_path, suffix):
        d = ek.decompose(table, k=3)
        place = tmp_path / "out"
        place.mkdir()
        with pytest.raises(FileError, match=rf"scores{suffix}.* cannot be written: No such file or directory"):
            ek.project_to(d, table, place / f"scores{suffix}", callback=after(5, lambda: shutil.rmtree(place)))
        assert not place.exists()


class TestFilesThatChange:
    def test_truncated(self, table):
        def cut():
            os.truncate(table, 500_000)

        with pytest.raises(FileError, match=r"table.npy shrank while Eckart read rows [\d,]+ to [\d,]+"):
            ek.decompose(table, k=3, stream=True, callback=after(5, cut))

    def test_written_again(self, table):
        def rewrite():
            with table.open("r+b") as file:
                file.seek(10_000)
                file.write(b"12345678")
            os.utime(table, ns=(1, 1))

        with pytest.raises(FileError, match=r"table.npy changed while Eckart read rows"):
            ek.decompose(table, k=3, stream=True, callback=after(5, rewrite))

    @pytest.mark.parametrize("kind", ["npy", "h5", "zarr", "arrow"])
    def test_written_again_with_the_old_time(self, table, tmp_path, kind):
        """As by `rsync --inplace -t`: same size and time of modification. The passes saw different numbers."""
        numbers, path = np.load(table), tmp_path / f"other.{kind}"
        if kind == "npy":
            shutil.copy(table, path)
        elif kind == "h5":
            with h5py.File(path, "w") as file:
                file["x"] = numbers
        elif kind == "zarr":
            zarr.create_array(str(path), data=numbers, chunks=(500, numbers.shape[1]), compressors=None)
        else:
            columns = {f"c{j}": np.ascontiguousarray(numbers[:, j]) for j in range(numbers.shape[1])}
            feather.write_feather(pa.table(columns), path, compression="uncompressed", chunksize=500)

        def rewrite():
            file = path if path.is_file() else path / "c" / "1" / "0"
            before, content = file.stat(), bytearray(file.read_bytes())
            content[len(content) // 2] ^= 1
            with file.open("r+b") as opened:
                opened.write(content)
            os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))

        with pytest.raises(FileError, match=r"changed while"):
            ek.decompose(path, k=3, solver="lanczos", stream=True, memory="2MB", callback=after(2, rewrite))

    def test_removed(self, table):
        with pytest.raises(FileError, match=r"table.npy became unreadable"):
            ek.decompose(table, k=3, stream=True, callback=after(5, table.unlink))

    def test_between_two_runs(self, table, tmp_path):
        class Stop(Exception):
            pass

        def stop():
            raise Stop

        with pytest.raises(Stop):
            ek.decompose(table, k=3, checkpoint=tmp_path / "c", callback=after(5, stop))
        np.save(table, np.load(table) + 1)
        with pytest.raises(CheckpointError, match=r"was made from other data|have changed since the checkpoint"):
            ek.decompose(table, k=3, checkpoint=tmp_path / "c")

    def test_of_a_gap_nothing_is_lost(self, table, tmp_path):
        """NaN in block 7: named, and the checkpoint of the reads before it is as it was."""
        data = np.load(table)
        rows = 20_000 // (90 * 8)
        data[6 * rows + 3, 5] = np.nan
        np.save(table, data)
        with pytest.raises(ek.errors.MissingValuesError, match=rf"row {6 * rows + 4}, column 6"):
            ek.decompose(table, k=3, checkpoint=tmp_path / "c")
        assert (tmp_path / "c" / "run.json").exists()


KILLED = """
    import sys, os, signal
    import eckart.budget as opening, eckart.engine.blocks.checkpoint as journal
    opening._BLOCK_BYTES, journal._EVERY_SECONDS = (20_000, 20_000), 0.0
    import eckart as ek
    path, folder, target, count, method = sys.argv[1:]
    left = int(count)
    def watch(_):
        global left
        left -= 1
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
    options = {"solver": "lanczos"} if method != "nmf" else {}
    d = ek.decompose(path, method, k=4, checkpoint=folder, callback=watch, **options)
    d.save(target, overwrite=True)
"""


@pytest.mark.parametrize("method", ["pca", "nmf"])
def test_killed_again_and_again(table, tmp_path, method):
    if method == "nmf":
        np.save(table, np.abs(np.load(table))[:500])
    arguments = [str(table), str(tmp_path / "c"), str(tmp_path / "m.eckart")]
    program = [sys.executable, "-c", textwrap.dedent(KILLED), *arguments]
    for count in (37, 150, 61):
        ended = subprocess.run([*program, str(count), method], check=False, capture_output=True)
        assert ended.returncode == -signal.SIGKILL, ended.stderr
        assert not (tmp_path / "m.eckart").exists()
    subprocess.run([*program, "0", method], check=True)
    options = {"solver": "lanczos"} if method != "nmf" else {}
    straight = ek.decompose(table, method, k=4, stream=True, **options)
    found = ek.load(tmp_path / "m.eckart")
    np.testing.assert_array_equal(found.right, straight.right)
    np.testing.assert_array_equal(found.values, straight.values)
    assert not (tmp_path / "c").exists()


def test_command_line_says_it_in_one_line(table, tmp_path, full_disk, capsys):
    arguments = ["fit", str(table), "-k", "3", "--checkpoint", str(tmp_path / "c"), "-o", str(tmp_path / "m.eckart")]
    with pytest.raises(SystemExit) as stopped:
        main(arguments)
    said = capsys.readouterr().err
    assert stopped.value.code == 1
    assert "bytes) cannot be used: File too large" in said
    assert said.count("\n") == 1
    assert Path(tmp_path / "c" / "run.json").exists()
