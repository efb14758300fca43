"""An exclusive lock on a folder, released by the operating system when its process ends, however it ends.

POSIX: flock on the file `lock` in the folder. Where the file system or the system has no flock, a file that is created
exclusively, with the process and the host in it; it is stale when that process is gone from the same host.
"""

from __future__ import annotations

import contextlib
import os
import platform
import sys
from dataclasses import dataclass
from pathlib import Path

NAMES = ("lock", "lock.owner")
"""Files in a locked folder that belong to the lock."""
_ATTEMPTS = 10


@dataclass
class FolderLock:
    """A held lock; `release` gives it back and removes its file."""

    path: Path
    descriptor: int
    process: int

    @staticmethod
    def acquire(folder: Path) -> FolderLock | None:
        """Lock `folder`; None if another run holds the lock."""
        for _ in range(_ATTEMPTS):
            descriptor = os.open(folder / NAMES[0], os.O_RDWR | os.O_CREAT, 0o600)
            try:
                locked = _flock(descriptor)
            except OSError:  # no flock on this system or file system
                os.close(descriptor)
                with contextlib.suppress(OSError):
                    (folder / NAMES[0]).unlink()
                return _created(folder / NAMES[1])
            if not locked:
                os.close(descriptor)
                return None
            if _is_at(descriptor, folder / NAMES[0]):
                return _owned(folder / NAMES[0], descriptor)
            os.close(descriptor)  # the previous holder removed the file between opening and locking
        return None

    def release(self) -> None:
        """Give the lock back; in a forked child it stays with the parent."""
        if self.descriptor < 0 or self.process != os.getpid():
            return
        descriptor, self.descriptor = self.descriptor, -1
        if sys.platform == "win32":
            os.close(descriptor)  # an open file cannot be removed
            descriptor = -1
        with contextlib.suppress(OSError):
            self.path.unlink()
        if descriptor >= 0:
            os.close(descriptor)


def holder(folder: Path) -> str:
    """Who holds the lock of `folder`, for messages: 'process 4711 on host'."""
    for name in reversed(NAMES):
        with contextlib.suppress(OSError, ValueError):
            process, host = (folder / name).read_text(encoding="utf-8").split(maxsplit=1)
            return f"process {int(process)} on {host.strip()[:100]}"
    return "another process"


def _owned(path: Path, descriptor: int) -> FolderLock:
    with contextlib.suppress(OSError):  # a full disk: the lock holds without its owner's name
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, _me().encode(), 0) if hasattr(os, "pwrite") else os.write(descriptor, _me().encode())
    return FolderLock(path, descriptor, os.getpid())


def _me() -> str:
    return f"{os.getpid()} {platform.node() or 'this host'}\n"


def _flock(descriptor: int) -> bool:
    if sys.platform == "win32":
        raise OSError("no flock")
    import fcntl

    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _is_at(descriptor: int, path: Path) -> bool:
    try:
        found = path.stat()
    except FileNotFoundError:
        return False
    mine = os.fstat(descriptor)
    return (found.st_ino, found.st_dev) == (mine.st_ino, mine.st_dev)


def _created(path: Path) -> FolderLock | None:
    for _ in range(_ATTEMPTS):
        try:
            return _owned(path, os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
        except FileExistsError:
            if not _removed_stale(path):
                return None
    return None


def _removed_stale(path: Path) -> bool:
    """Remove a lock file whose process is gone. Windows refuses to remove a file that its holder has open."""
    try:
        if sys.platform != "win32":
            process, host = path.read_text(encoding="utf-8").split(maxsplit=1)
            if host.strip() != _me().split(maxsplit=1)[1].strip() or _alive(int(process)):
                return False
        path.unlink()
    except FileNotFoundError:
        return True
    except (OSError, ValueError):
        return False
    return True


def _alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:  # it belongs to another user
        return True
    return True
