"""One holder per folder; a lock whose process is gone is free."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from eckart import locks
from eckart.locks import FolderLock, holder

HOLD = """
import sys, time
from pathlib import Path
from eckart import locks
{patch}
lock = locks.FolderLock.acquire(Path(sys.argv[1]))
print(lock is not None, flush=True)
time.sleep(60)
"""


def no_flock(_descriptor):
    raise OSError("no flock here")


PATCH = "def no(_): raise OSError\nlocks._flock = no"


@pytest.fixture(params=["flock", "created"])
def patch(request, monkeypatch):
    if request.param == "created":
        monkeypatch.setattr(locks, "_flock", no_flock)
        return PATCH
    return ""


def held_by_another(folder, patch):
    process = subprocess.Popen([sys.executable, "-c", HOLD.format(patch=patch), folder], stdout=subprocess.PIPE)
    assert process.stdout.readline() == b"True\n"
    return process


def test_one_holder(tmp_path, patch):
    lock = FolderLock.acquire(tmp_path)
    assert lock is not None
    assert FolderLock.acquire(tmp_path) is None
    assert holder(tmp_path).startswith(f"process {os.getpid()} on ")
    lock.release()
    lock.release()
    again = FolderLock.acquire(tmp_path)
    assert again is not None
    again.release()
    assert not list(tmp_path.iterdir())


@pytest.mark.skipif(sys.platform == "win32", reason="kill -9 is POSIX")
def test_a_killed_holder(tmp_path, patch):
    process = held_by_another(tmp_path, patch)
    try:
        assert FolderLock.acquire(tmp_path) is None
        assert holder(tmp_path).startswith(f"process {process.pid} on ")
    finally:
        process.kill()
        process.wait()
        process.stdout.close()
    lock = FolderLock.acquire(tmp_path)
    assert lock is not None
    lock.release()


def test_a_lock_of_another_host_is_believed(tmp_path, monkeypatch):
    monkeypatch.setattr(locks, "_flock", no_flock)
    (tmp_path / "lock.owner").write_text("1 elsewhere\n")
    assert FolderLock.acquire(tmp_path) is None
    (tmp_path / "lock.owner").write_bytes(b"\xff\x00")
    assert FolderLock.acquire(tmp_path) is None
    assert holder(tmp_path) == "another process"
