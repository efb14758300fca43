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


@pytest.mark.skipif(sys.platform != "linux", reason="namespaces are Linux")
def test_a_process_of_another_container_is_believed(tmp_path, monkeypatch):
    """Its number means nothing here, though the host may have the same name."""
    monkeypatch.setattr(locks, "_flock", no_flock)
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    me = locks._me().split(maxsplit=1)[1]
    (tmp_path / "lock.owner").write_text(f"{process.pid} {me.split()[0]} pid:[4711]\n")
    assert FolderLock.acquire(tmp_path) is None
    (tmp_path / "lock.owner").write_text(f"{process.pid} {me}")
    lock = FolderLock.acquire(tmp_path)
    assert lock is not None
    lock.release()


@pytest.mark.skipif(sys.platform == "win32", reason="links and pipes are POSIX")
def test_a_file_that_is_no_lock_is_left_alone(tmp_path):
    precious = tmp_path / "precious"
    precious.write_text("mine")
    for name, make in (
        ("link", lambda path: path.symlink_to(precious)),
        ("text", lambda path: path.write_text("name = 'package'\n")),
        ("pipe", os.mkfifo),
    ):
        (tmp_path / name).mkdir()
        make(tmp_path / name / "lock")
        with pytest.raises(OSError):  # noqa: PT011
            FolderLock.acquire(tmp_path / name)
        assert holder(tmp_path / name) == "another process"
    assert precious.read_text() == "mine"
    assert (tmp_path / "text" / "lock").read_text() == "name = 'package'\n"


def test_a_lock_of_another_host_is_believed(tmp_path, monkeypatch):
    monkeypatch.setattr(locks, "_flock", no_flock)
    (tmp_path / "lock.owner").write_text("1 elsewhere\n")
    assert FolderLock.acquire(tmp_path) is None
    (tmp_path / "lock.owner").write_bytes(b"\xff\x00")
    assert FolderLock.acquire(tmp_path) is None
    assert holder(tmp_path) == "another process"
