"""Interrupted runs are resumed to the same bits, or refused: never with other data, other settings or damaged files."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import textwrap

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
import scipy.io
import scipy.sparse as sp

import eckart as ek
from eckart.errors import CheckpointError
from eckart.locks import FolderLock


@pytest.fixture(autouse=True)
def small_steps(monkeypatch):
    monkeypatch.setattr("eckart.budget._BLOCK_BYTES", (20_000, 20_000))
    monkeypatch.setattr("eckart.engine.blocks.checkpoint._EVERY_SECONDS", 0.0)


def table(rows=2000, columns=60):
    rng = np.random.default_rng(0)
    return (rng.standard_normal((rows, columns)) * np.linspace(3, 0.1, columns)).astype("f4")


class Stop(Exception):
    """Interrupted."""


def stopped(after):
    count = 0

    def callback(_progress):
        nonlocal count
        count += 1
        if count >= after:
            raise Stop

    return callback


def interrupt(data, folder, read, block, method="pca", **options):
    """Stop in a pass over the data, after a block of it."""

    def callback(progress):
        if (progress.current_pass, progress.block) >= (read, block):
            raise Stop

    with pytest.raises(Stop):
        ek.decompose(data, method, **{"k": 5, "solver": "lanczos", **options}, checkpoint=folder, callback=callback)


def resume(data, folder, method="pca", **options):
    return ek.decompose(data, method, **{"k": 5, "solver": "lanczos", **options}, checkpoint=folder)


def same(first, second):
    np.testing.assert_array_equal(first.values, second.values)
    np.testing.assert_array_equal(first.right, second.right)
    np.testing.assert_array_equal(first.certificate.upper, second.certificate.upper)
    assert first.info.passes == second.info.passes


@pytest.mark.parametrize("solver", ["gram", "lanczos"])
@pytest.mark.parametrize("shape", [(2000, 60), (60, 2000)])
def test_resumed_runs_give_the_same_bits(tmp_path, solver, shape):
    if solver == "gram" and shape[0] < shape[1]:
        pytest.skip("wide data in blocks have no Gram matrix")
    data = table(*shape)
    straight = ek.decompose(data, k=5, solver=solver, stream=True)
    for _ in range(12):
        try:
            resumed = ek.decompose(data, k=5, solver=solver, checkpoint=tmp_path / "c", callback=stopped(7))
        except Stop:
            continue
        break
    else:
        resumed = ek.decompose(data, k=5, solver=solver, checkpoint=tmp_path / "c")
    same(resumed, straight)
    assert not (tmp_path / "c").exists()


def test_finished_passes_are_not_repeated(tmp_path):
    data = table()
    blocks = []
    with pytest.raises(Stop):
        ek.decompose(data, k=5, solver="lanczos", checkpoint=tmp_path / "c", callback=stopped(60))
    ek.decompose(data, k=5, solver="lanczos", checkpoint=tmp_path / "c", callback=blocks.append)
    whole = []
    ek.decompose(data, k=5, solver="lanczos", stream=True, callback=whole.append)
    assert len(blocks) == len(whole) - 60


@pytest.mark.parametrize("change", [{"k": 4}, {"scale": True}, {"rng": 5}])
def test_other_settings_are_refused(tmp_path, change):
    data = table()
    interrupt(data, tmp_path / "c", 1, 3)
    with pytest.raises(CheckpointError, match=r"another run.*delete this folder"):
        resume(data, tmp_path / "c", **change)


def test_another_version_is_refused(tmp_path, monkeypatch):
    data = table()
    interrupt(data, tmp_path / "c", 1, 3)
    monkeypatch.setattr("eckart.__version__", "99.0")
    with pytest.raises(CheckpointError, match="another version of Eckart"):
        resume(data, tmp_path / "c")


def test_other_arrays_are_refused(tmp_path):
    interrupt(table(), tmp_path / "c", 1, 3)
    with pytest.raises(CheckpointError, match="content differs"):
        resume(table() + 1, tmp_path / "c")


# Files: every kind is resumed, and a changed one is told from a copy


def write_npy(path, data):
    np.save(path, data)


def write_parquet(path, data):
    columns = {f"c{i}": data[:, i] for i in range(data.shape[1])}
    pa.parquet.write_table(pa.table(columns), path, row_group_size=100, compression="none", use_dictionary=False)


def write_mtx(path, data):
    scipy.io.mmwrite(path, sp.coo_array(data), precision=9)


def write_triplets(path, data):
    rows, columns = np.nonzero(data)
    pa.parquet.write_table(
        pa.table({"row": rows, "column": columns, "value": data[rows, columns]}), path, compression="none"
    )


def write_h5ad(path, data):
    h5py = pytest.importorskip("h5py")
    with h5py.File(path, "w") as file:
        file.create_dataset("X", data=data, chunks=(100, data.shape[1]))


def write_zarr(path, data):
    zarr = pytest.importorskip("zarr")
    zarr.create_array(str(path), data=data, chunks=(100, data.shape[1]), compressors=None)


WRITERS = {
    "a.npy": write_npy,
    "a.parquet": write_parquet,
    "a.mtx": write_mtx,
    "b.parquet": write_triplets,
    "a.h5ad": write_h5ad,
    "a.zarr": write_zarr,
}


def sparse_table(rows=800, columns=30):
    rng = np.random.default_rng(3)
    data = (rng.standard_normal((rows, columns)) * np.linspace(3, 0.1, columns)).astype("f4")
    return np.where(rng.random(data.shape) < 0.3, data, 0).astype("f4")


@pytest.mark.parametrize("name", WRITERS)
def test_files_are_resumed(tmp_path, name):
    WRITERS[name](tmp_path / name, sparse_table())
    path = tmp_path / name
    straight = ek.decompose(path, "svd", k=5, solver="lanczos", stream=True)
    interrupt(path, tmp_path / "c", 1, 2, "svd")
    interrupt(path, tmp_path / "c", 2, 2, "svd")
    same(resume(path, tmp_path / "c", "svd"), straight)


def files_of(path):
    return [path] if path.is_file() else sorted(found for found in path.rglob("*") if found.is_file())


def copied(path, folder):
    """As cp -p and rsync -t copy: content and times of modification."""
    folder.mkdir()
    target = folder / path.name
    if path.is_dir():
        return shutil.copytree(path, target, copy_function=shutil.copy2)
    return shutil.copy2(path, target)


def changed(path, place):
    """The same size and times of modification, other numbers at `place` (a share of the file)."""
    files = files_of(path)
    file = files[int(place * (len(files) - 1))] if len(files) > 1 else files[0]
    before = file.stat()
    content = bytearray(file.read_bytes())
    middle = int(place * len(content)) & ~3
    if file.suffix == ".mtx":
        middle = content.index(b".", middle) + 1
        content[middle] = ord("1") if content[middle] != ord("1") else ord("2")
    else:
        content[middle] ^= 1
    file.write_bytes(content)
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))


@pytest.mark.parametrize("name", WRITERS)
def test_a_copy_is_resumed(tmp_path, name):
    WRITERS[name](tmp_path / name, sparse_table())
    straight = ek.decompose(tmp_path / name, "svd", k=5, solver="lanczos", stream=True)
    interrupt(tmp_path / name, tmp_path / "c", 2, 2, "svd")
    elsewhere = copied(tmp_path / name, tmp_path / "elsewhere")
    same(resume(elsewhere, tmp_path / "c", "svd"), straight)


@pytest.mark.parametrize("way", ["in place", "copied over", "elsewhere"])
@pytest.mark.parametrize("name", [name for name in WRITERS if name != "b.parquet"])
def test_changed_data_are_refused(tmp_path, name, way):
    path = tmp_path / name
    WRITERS[name](path, np.repeat(sparse_table(), 5, axis=0))
    interrupt(path, tmp_path / "c", 2, 2, "svd")
    for place in (0.31, 0.57):
        shutil.copytree(tmp_path / "c", tmp_path / "kept")
        target = path if way == "in place" else copied(path, tmp_path / "elsewhere")
        changed(target, place)
        if way == "copied over":
            shutil.rmtree(path) if path.is_dir() else path.unlink()
            target = shutil.move(target, path)
        with pytest.raises(CheckpointError, match=r"changed since|content differs"):
            resume(target, tmp_path / "c", "svd")
        shutil.rmtree(tmp_path / "c")
        shutil.rmtree(tmp_path / "elsewhere", ignore_errors=True)
        shutil.move(tmp_path / "kept", tmp_path / "c")


def test_a_change_that_was_not_sampled_is_found_in_the_blocks(tmp_path, monkeypatch):
    """Even where the file system says that nothing happened, every block is compared once when it is read again."""
    data = table(6000)
    np.save(tmp_path / "a.npy", data)
    interrupt(tmp_path / "a.npy", tmp_path / "c", 2, 2)
    before = (tmp_path / "a.npy").stat()
    place = (tmp_path / "a.npy").stat().st_size - 100_004
    with (tmp_path / "a.npy").open("r+b") as file:
        file.seek(place)
        old = file.read(1)
        file.seek(place)
        file.write(bytes([old[0] ^ 1]))
    os.utime(tmp_path / "a.npy", ns=(before.st_atime_ns, before.st_mtime_ns))
    monkeypatch.setattr("eckart.fingerprint._sampled", lambda *_: iter(()))
    record = json.loads((tmp_path / "c" / "run.json").read_text())
    from eckart.engine.blocks import checkpoint_files
    from eckart.io.open_rows import open_rows

    forged = {key: record[key] for key in ("identity", "run")}
    forged["data"] = open_rows(tmp_path / "a.npy").fingerprint()
    checkpoint_files.write_record(tmp_path / "c" / "run.json", forged)
    with pytest.raises(CheckpointError, match=r"Rows .* changed since"):
        resume(tmp_path / "a.npy", tmp_path / "c")


# Damage


def damages(rng, content):
    """One of the ways in which a file goes wrong."""
    way, place = rng.integers(5), int(rng.integers(len(content)))
    if way == 0:
        return content[:place]
    if way == 1:
        return content[:place] + bytes(rng.integers(0, 256, 16, dtype=np.uint8)) + content[place + 16 :]
    if way == 2:
        return content + content[:10]
    if way == 3:
        return b""
    return content[:place] + bytes([content[place] ^ (1 << int(rng.integers(8)))]) + content[place + 1 :]


def test_damaged_checkpoints_are_refused_or_give_the_same_bits(tmp_path):
    data = table(600, 60)
    straight = ek.decompose(data, k=3, solver="lanczos", stream=True)
    interrupt(data, tmp_path / "c", 3, 2, k=3)
    whole = {path.name: path.read_bytes() for path in (tmp_path / "c").iterdir()}
    assert {"run.json", "blocks", "partial", "read-000001"} <= set(whole)
    rng = np.random.default_rng(11)
    refused = unhelpful = 0
    for number in range(200):
        shutil.rmtree(tmp_path / "c", ignore_errors=True)
        (tmp_path / "c").mkdir()
        name = sorted(whole)[number % len(whole)]
        for other, content in whole.items():
            (tmp_path / "c" / other).write_bytes(damages(rng, content) if other == name else content)
        try:
            found = resume(data, tmp_path / "c", k=3)
        except CheckpointError as error:
            refused += 1
            unhelpful += "delete" not in str(error)
        else:
            same(found, straight)
    assert refused >= 190
    assert not unhelpful


def test_missing_files_are_computed_again_or_missed(tmp_path):
    data = table(600, 60)
    straight = ek.decompose(data, k=3, solver="lanczos", stream=True)
    for name in ("read-000001", "partial", "blocks", "run.json"):
        interrupt(data, tmp_path / name, 3, 2, k=3)
        (tmp_path / name / name).unlink()
        if name in ("blocks", "run.json"):
            with pytest.raises(CheckpointError, match=r"missing|does not contain a checkpoint"):
                resume(data, tmp_path / name, k=3)
        else:
            same(resume(data, tmp_path / name, k=3), straight)


def test_parts_of_other_checkpoints_are_refused(tmp_path):
    interrupt(table(600, 60), tmp_path / "a", 3, 2, k=3)
    interrupt(table(600, 60) * 2, tmp_path / "b", 3, 2, k=3)
    shutil.copy(tmp_path / "b" / "read-000001", tmp_path / "a" / "read-000001")
    with pytest.raises(CheckpointError, match="another checkpoint"):
        resume(table(600, 60), tmp_path / "a", k=3)
    shutil.copy(tmp_path / "b" / "read-000002", tmp_path / "b" / "read-000001")
    with pytest.raises(CheckpointError, match="does not match this pass"):
        resume(table(600, 60) * 2, tmp_path / "b", k=3)


@pytest.mark.parametrize("name", ["run.json", "read-000001"])
@pytest.mark.parametrize("version", [1, 3])
def test_checkpoints_of_other_versions_are_refused(tmp_path, name, version):
    interrupt(table(600, 60), tmp_path / "c", 3, 2, k=3)
    path = tmp_path / "c" / name
    if name == "run.json":
        path.write_text(json.dumps({**json.loads(path.read_text()), "version": version}))
    else:
        path.write_bytes(path.read_bytes().replace(b"eckart checkpoint 2", f"eckart checkpoint {version}".encode(), 1))
    with pytest.raises(CheckpointError, match=f"a[n]? {'newer' if version > 2 else 'older'} version"):
        resume(table(600, 60), tmp_path / "c", k=3)


def test_a_folder_with_other_things_is_left_alone(tmp_path):
    (tmp_path / "mine.txt").write_text("precious")
    with pytest.raises(CheckpointError, match="not empty"):
        ek.decompose(table(), k=2, checkpoint=tmp_path)
    assert (tmp_path / "mine.txt").read_text() == "precious"
    with pytest.raises(CheckpointError, match="is a file"):
        ek.decompose(table(), k=2, checkpoint=tmp_path / "mine.txt")


@pytest.mark.skipif(sys.platform == "win32", reason="links and pipes are POSIX")
def test_checkpoints_made_to_hurt(tmp_path):
    """Somebody else's folder: nothing outside it is written, and no pipe is waited for."""
    (tmp_path / "precious").write_text("mine")
    for name in ("linked", "own", "pipe"):
        (tmp_path / name).mkdir()
    (tmp_path / "linked" / "lock").symlink_to(tmp_path / "precious")
    (tmp_path / "own" / "lock").write_text("[package]\n")
    os.mkfifo(tmp_path / "pipe" / "run.json")
    for name in ("linked", "own", "pipe"):
        with pytest.raises(CheckpointError):
            ek.decompose(table(), k=2, checkpoint=tmp_path / name)
    assert (tmp_path / "precious").read_text() == "mine"
    assert (tmp_path / "own" / "lock").read_text() == "[package]\n"
    data = table()
    interrupt(data, tmp_path / "c", 2, 3)
    (tmp_path / "c" / "read-000001").unlink()
    os.mkfifo(tmp_path / "c" / "read-000001")
    with pytest.raises(CheckpointError, match="it is not a file"):
        resume(data, tmp_path / "c")


@pytest.mark.parametrize("name", ["run.json", "blocks", "read-000001"])
def test_folder_in_place_of_a_file(tmp_path, name):
    data = table()
    interrupt(data, tmp_path / "c", 2, 3)
    (tmp_path / "c" / name).unlink()
    (tmp_path / "c" / name).mkdir()
    with pytest.raises(CheckpointError, match=rf"{name} is damaged: it is not a file\. Restore"):
        resume(data, tmp_path / "c")


@pytest.mark.skipif(sys.platform == "win32", reason="links are POSIX")
def test_only_a_full_disk_is_to_be_freed(tmp_path):
    data = table()
    interrupt(data, tmp_path / "c", 2, 3)
    (tmp_path / "c" / "read-000001").unlink()
    (tmp_path / "c" / "read-000001").symlink_to("read-000001")
    with pytest.raises(CheckpointError, match=r"symbolic links\. .* Check that the folder can be read and written"):
        resume(data, tmp_path / "c")


def test_two_runs_on_one_folder(tmp_path):
    data = table()
    interrupt(data, tmp_path / "c", 1, 3)
    lock = FolderLock.acquire(tmp_path / "c")
    with pytest.raises(CheckpointError, match=f"in use by process {os.getpid()} on .*another folder"):
        resume(data, tmp_path / "c")
    lock.release()
    resume(data, tmp_path / "c")


def test_a_full_disk_leaves_the_old_checkpoint(tmp_path, monkeypatch):
    data = table()
    straight = ek.decompose(data, k=5, solver="lanczos", stream=True)
    interrupt(data, tmp_path / "c", 2, 2)
    before = {path.name: path.read_bytes() for path in (tmp_path / "c").iterdir()}

    def full(_fd):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("eckart.files.os.fsync", full)
        with pytest.raises(CheckpointError, match=r"bytes.*No space left on device.*valid"):
            resume(data, tmp_path / "c")
    assert {path.name: path.read_bytes() for path in (tmp_path / "c").iterdir()} == before
    same(resume(data, tmp_path / "c"), straight)


def test_nmf_knows_its_data(tmp_path):
    np.save(tmp_path / "a.npy", np.abs(table(800, 30)))
    options = {"k": 3, "max_iter": 8, "tol": 0.0, "stream": True}
    straight = ek.decompose(tmp_path / "a.npy", "nmf", **options)
    for after in (6, 25):
        with pytest.raises(Stop):
            ek.decompose(tmp_path / "a.npy", "nmf", **options, checkpoint=tmp_path / "c", callback=stopped(after))
    shutil.copytree(tmp_path / "c", tmp_path / "d")
    resumed = ek.decompose(tmp_path / "a.npy", "nmf", **options, checkpoint=tmp_path / "c")
    np.testing.assert_array_equal(resumed.right, straight.right)
    changed(tmp_path / "a.npy", 0.5)
    with pytest.raises(CheckpointError):
        ek.decompose(tmp_path / "a.npy", "nmf", **options, checkpoint=tmp_path / "d")


@pytest.mark.skipif(sys.platform == "win32", reason="kill -9 is POSIX")
def test_killed_again_and_again(tmp_path):
    np.save(tmp_path / "a.npy", table(6000, 120))
    program = textwrap.dedent("""
        import os, signal, sys, numpy as np, eckart as ek
        from eckart.engine import matrix
        from eckart.engine.blocks import checkpoint
        matrix._BLOCK_BYTES, checkpoint._EVERY_SECONDS = (100_000, 100_000), 0.0
        left = int(sys.argv[4])
        def watch(progress):
            global left
            left -= 1
            if left == 0:
                os.kill(os.getpid(), signal.SIGKILL)
        d = ek.decompose(sys.argv[1], k=6, solver="lanczos", checkpoint=sys.argv[2], callback=watch)
        np.savez(sys.argv[3], values=d.values, right=d.right)
    """)

    def run(folder, out, kill_after):
        command = [sys.executable, "-c", program, tmp_path / "a.npy", folder, out, str(kill_after)]
        return subprocess.run(command, capture_output=True, env={**os.environ, "PYTHONWARNINGS": "ignore"}, check=False)

    assert run(tmp_path / "c0", tmp_path / "straight.npz", 10**9).returncode == 0
    rng = np.random.default_rng(3)
    for _ in range(4):
        done = run(tmp_path / "c", tmp_path / "resumed.npz", int(rng.integers(1, 120)))
        assert done.returncode in (0, -signal.SIGKILL), done.stderr.decode()
    assert run(tmp_path / "c", tmp_path / "resumed.npz", 10**9).returncode == 0
    with np.load(tmp_path / "straight.npz") as straight, np.load(tmp_path / "resumed.npz") as resumed:
        np.testing.assert_array_equal(straight["values"], resumed["values"])
        np.testing.assert_array_equal(straight["right"], resumed["right"])


@pytest.mark.parametrize("kind", ["h5py", "zarr", "dask"])
def test_arrays_of_other_libraries_that_changed_are_refused(tmp_path, kind):
    """Nobody knows whether they changed, so every block that is part of a stored sum is read again."""
    data = table()
    open_array = {"h5py": _h5py_array, "zarr": _zarr_array, "dask": _dask_array}[kind]
    straight = ek.decompose(open_array(tmp_path, data), k=5, solver="gram", stream=True)
    interrupt(open_array(tmp_path, data), tmp_path / "c", 1, 15, solver="gram", stream=True)
    kept = shutil.copytree(tmp_path / "c", tmp_path / "kept")
    same(resume(open_array(tmp_path, None), tmp_path / "c", solver="gram", stream=True), straight)
    data[500:510] *= 2
    with pytest.raises(CheckpointError, match=r"changed|differ|made from other data"):
        resume(open_array(tmp_path, data), kept, solver="gram", stream=True)


def _h5py_array(folder, data):
    h5py = pytest.importorskip("h5py")
    if data is not None:
        with h5py.File(folder / "new.h5", "w") as file:
            file.create_dataset("x", data=data, chunks=(100, 60))
        (folder / "new.h5").replace(folder / "a.h5")
    return h5py.File(folder / "a.h5", "r")["x"]


def _zarr_array(folder, data):
    zarr = pytest.importorskip("zarr")
    if data is not None:
        zarr.create_array(str(folder / "a.zarr"), data=data, chunks=(100, 60), overwrite=True)
    return zarr.open(str(folder / "a.zarr"), mode="r")


def _dask_array(folder, data):
    array = pytest.importorskip("dask.array")
    _zarr_array(folder, data)
    return array.from_zarr(str(folder / "a.zarr"))


@pytest.mark.parametrize("folder", ["", 3, True, ["folder"]])
@pytest.mark.parametrize("method", ["pca", "nmf"])
def test_a_folder_that_is_not_a_path_is_refused(tmp_path, monkeypatch, folder, method):
    monkeypatch.chdir(tmp_path)  # an empty path would be the current folder
    with pytest.raises(ek.errors.ParameterError, match=r"checkpoint=.* is not the path of a folder"):
        ek.decompose(np.abs(table(50, 4)), method, k=2, checkpoint=folder)
    assert not list(tmp_path.iterdir())


def test_the_checkpoint_of_a_file_is_refused_for_an_array(tmp_path):
    np.save(tmp_path / "x.npy", table())
    interrupt(tmp_path / "x.npy", tmp_path / "run", 1, 3)
    with pytest.raises(CheckpointError, match="read from files before, from memory now"):
        ek.decompose(table(), k=5, solver="lanczos", checkpoint=tmp_path / "run")


def test_a_folder_with_a_name_that_is_too_long(tmp_path):
    np.save(tmp_path / "a.npy", np.eye(40, 4))
    with pytest.raises(CheckpointError, match=r"The checkpoint .* cannot be used: .*choose another folder"):
        ek.decompose(tmp_path / "a.npy", k=1, stream=True, checkpoint=tmp_path / ("x" * 300))
