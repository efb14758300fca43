"""Runs that are broken off go on where they stood, to the last bit."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap

import numpy as np
import pytest

import eckart as ek
from eckart.engine.blocks.checkpoint import Journal
from eckart.errors import CheckpointError


@pytest.fixture(autouse=True)
def small_steps(monkeypatch):
    monkeypatch.setattr("eckart.engine.matrix._BLOCK_BYTES", (20_000, 20_000))
    monkeypatch.setattr("eckart.engine.blocks.checkpoint._EVERY_SECONDS", 0.0)


def table(rows=2000, columns=60):
    rng = np.random.default_rng(0)
    return (rng.standard_normal((rows, columns)) * np.linspace(3, 0.1, columns)).astype("f4")


class Stop(Exception):
    """Broken off."""


def broken_off(after):
    count = 0

    def watch(_progress):
        nonlocal count
        count += 1
        if count >= after:
            raise Stop

    return watch


def same(first, second):
    np.testing.assert_array_equal(first.values, second.values)
    np.testing.assert_array_equal(first.right, second.right)
    np.testing.assert_array_equal(first.certificate.upper, second.certificate.upper)
    assert first.info.reads == second.info.reads


@pytest.mark.parametrize("solver", ["gram", "lanczos"])
@pytest.mark.parametrize("shape", [(2000, 60), (60, 2000)])
def test_a_run_goes_on_to_the_same_bits(tmp_path, solver, shape):
    if solver == "gram" and shape[0] < shape[1]:
        pytest.skip("wide data in blocks have no Gram matrix")
    data = table(*shape)
    straight = ek.decompose(data, k=5, solver=solver, stream=True)
    for _ in range(12):
        try:
            resumed = ek.decompose(data, k=5, solver=solver, checkpoint=tmp_path / "c", watch=broken_off(7))
        except Stop:
            continue
        break
    else:
        resumed = ek.decompose(data, k=5, solver=solver, checkpoint=tmp_path / "c")
    same(resumed, straight)
    assert not (tmp_path / "c").exists()


def test_finished_reads_are_not_read_again(tmp_path):
    data = table()
    blocks = []
    with pytest.raises(Stop):
        ek.decompose(data, k=5, solver="lanczos", checkpoint=tmp_path / "c", watch=broken_off(60))
    ek.decompose(data, k=5, solver="lanczos", checkpoint=tmp_path / "c", watch=blocks.append)
    whole = []
    ek.decompose(data, k=5, solver="lanczos", stream=True, watch=whole.append)
    assert len(blocks) == len(whole) - 60


@pytest.mark.parametrize("change", [{"k": 4}, {"scale": True}, {"rng": 5}, {"data": 1}])
def test_another_run_is_refused(tmp_path, change):
    data = table()
    with pytest.raises(Stop):
        ek.decompose(data, k=5, checkpoint=tmp_path / "c", watch=broken_off(3))
    if change.pop("data", None):
        data = data + 1
    with pytest.raises(CheckpointError, match="another run"):
        ek.decompose(data, **{"k": 5, **change}, checkpoint=tmp_path / "c")


def test_damage_is_noticed(tmp_path):
    data = table()
    with pytest.raises(Stop):
        ek.decompose(data, k=5, solver="lanczos", checkpoint=tmp_path / "c", watch=broken_off(60))
    part = min((tmp_path / "c").glob("read-*"))
    content = bytearray(part.read_bytes())
    content[-9] ^= 1
    part.write_bytes(content)
    with pytest.raises(CheckpointError, match="checksum"):
        ek.decompose(data, k=5, solver="lanczos", checkpoint=tmp_path / "c")


def test_a_folder_with_other_things_is_left_alone(tmp_path):
    (tmp_path / "mine.txt").write_text("precious")
    with pytest.raises(CheckpointError, match="not empty"):
        ek.decompose(table(), k=2, checkpoint=tmp_path)
    assert (tmp_path / "mine.txt").read_text() == "precious"


def test_a_full_disk_leaves_the_old_checkpoint(tmp_path, monkeypatch):
    data = table()
    straight = ek.decompose(data, k=5, solver="lanczos", stream=True)
    with pytest.raises(Stop):
        ek.decompose(data, k=5, solver="lanczos", checkpoint=tmp_path / "c", watch=broken_off(40))
    before = {path.name: path.read_bytes() for path in (tmp_path / "c").iterdir()}

    def full(_fd):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("eckart.files.os.fsync", full)
        with pytest.raises(CheckpointError, match=r"bytes.*No space left on device.*valid"):
            ek.decompose(data, k=5, solver="lanczos", checkpoint=tmp_path / "c")
    assert {path.name: path.read_bytes() for path in (tmp_path / "c").iterdir()} == before
    same(ek.decompose(data, k=5, solver="lanczos", checkpoint=tmp_path / "c"), straight)


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
        d = ek.decompose(sys.argv[1], k=6, solver="lanczos", checkpoint=sys.argv[2], watch=watch)
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


def test_a_journal_by_itself(tmp_path):
    journal = Journal.open(tmp_path / "j", {"what": 1})
    journal.finish(1, "key", [np.arange(3.0)])
    again = Journal.open(tmp_path / "j", {"what": 1})
    found = again.result(1, "key")
    assert found is not None
    np.testing.assert_array_equal(found[0], np.arange(3.0))
    with pytest.raises(CheckpointError, match="another read"):
        again.result(1, "other")
    assert again.result(2, "key") is None
    again.close()
    assert not (tmp_path / "j").exists()
