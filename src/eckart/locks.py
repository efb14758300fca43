"""An exclusive lock on a folder, released by the operating system when its process ends, however it ends.

POSIX: flock on the file `lock` in the folder. Without flock, a file is created exclusively, with the process, the host
and the namespace of process numbers (containers have their own). It is stale when that process no longer exists. A file
of that name that is a link or has other content is left alone.
"""

from __future__ import annotations

import contextlib
import errno
import os
import platform
import re
import stat
import sys
from dataclasses import dataclass
from pathlib import Path

NAMES = ("lock", "lock.owner")
"""Files in a locked folder that belong to the lock."""
_ATTEMPTS = 10
_NO_LINKS = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
_OWNER = re.compile(rb"[0-9]+ [^\n]*\n?")


@dataclass
class FolderLock:
    """A held lock; `release` releases it and removes its file."""

    path: Path
    descriptor: int
    process: int

    @staticmethod
    def acquire(folder: Path) -> FolderLock | None:
        """Lock `folder`; None if another run holds the lock."""
        for _ in range(_ATTEMPTS):
            descriptor = os.open(folder / NAMES[0], os.O_RDWR | os.O_CREAT | _NO_LINKS, 0o600)
            try:
                _refuse_other_content(descriptor, folder / NAMES[0])
            except OSError:
                os.close(descriptor)
                raise
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
        """Release the lock; in a forked child it stays with the parent."""
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
    """The holder of the lock of `folder`, for messages: 'process 4711 on host'."""
    for name in reversed(NAMES):
        with contextlib.suppress(OSError, ValueError):
            process, host = _read(folder / name).split(maxsplit=2)[:2]
            return f"process {int(process)} on {host[:100]}"
    return "another process"


def _read(path: Path) -> str:
    """The text of a lock file, never read through a link or from a pipe."""
    descriptor = os.open(path, os.O_RDONLY | _NO_LINKS)
    try:
        return os.read(descriptor, 4096).decode("utf-8")
    finally:
        os.close(descriptor)


def _refuse_other_content(descriptor: int, path: Path) -> None:
    """Refuse a file with other content: taking the lock overwrites it and releasing the lock removes it."""
    content = b""
    if stat.S_ISREG(os.fstat(descriptor).st_mode):
        content = os.read(descriptor, 4096)
        if not content or _OWNER.fullmatch(content):
            return
    raise FileExistsError(errno.EEXIST, "the file is not an Eckart lock file; move or delete it", str(path))


def _owned(path: Path, descriptor: int) -> FolderLock:
    with contextlib.suppress(OSError):  # the disk is full: the lock works without its owner's name
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, _me().encode(), 0) if hasattr(os, "pwrite") else os.write(descriptor, _me().encode())
    return FolderLock(path, descriptor, os.getpid())


def _me() -> str:
    try:
        namespace = str(Path("/proc/self/ns/pid").readlink())
    except OSError:
        namespace = "pid"
    return f"{os.getpid()} {platform.node().replace(' ', '-') or 'this-host'} {namespace}\n"


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
    """Remove a lock file whose process has ended. Windows refuses to remove a file that its holder has open."""
    try:
        if sys.platform != "win32":
            process, place = _read(path).split(maxsplit=1)
            if place.strip() != _me().split(maxsplit=1)[1].strip() or _alive(int(process)):
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
