"""Temporary folders for sorted copies of the data, removed in all cases except SIGKILL; the next run removes those.

A folder `eckart-*` is locked by its process. It is removed when its Spool is garbage-collected, at exit, at the end of
a `multiprocessing` process, and by `cleanup` on SIGTERM and SIGHUP. A folder with a free lock was left by a killed
process. So was an old empty folder, whose process was killed between creation and locking.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import re
import secrets
import shutil
import tempfile
import time
import weakref
from dataclasses import dataclass
from multiprocessing.util import Finalize
from pathlib import Path

from eckart import cleanup
from eckart.errors import FileError
from eckart.locks import NAMES, FolderLock

VARIABLE = "ECKART_SPOOL"
"""Environment variable that names the folder for temporary copies."""
_PREFIX = "eckart-"
_MADE = re.compile(rf"{_PREFIX}[a-z0-9_]{{8}}")
"""Names of such folders."""
_OLD = 3600.0
"""An empty folder older than this many seconds is not one being created."""


class Spool:
    """A temporary folder in `parent`, removed with this object and at the end of the process."""

    def __init__(self, parent: str | os.PathLike[str] | None = None) -> None:
        place = spool_folder() if parent is None else Path(parent)
        remove_stale(place)
        try:
            while not self._made(place.absolute() / f"{_PREFIX}{secrets.token_hex(4)}"):
                pass
        except OSError as error:
            raise FileError(
                f"No temporary folder can be created in {place}: {error.strerror or error}. Set the "
                f"environment variable {VARIABLE} to a folder with enough free space for a copy of "
                "the data."
            ) from error
        cleanup.remove_on_error(weakref.WeakMethod(self.remove))

    def _made(self, folder: Path) -> bool:
        """Create and lock the folder; False if the name or the lock was taken.

        An interruption leaves nothing behind.
        """
        making = _Making(folder)
        # first: a signal between creating the folder and registering its removal would leave it behind
        number = cleanup.add(making.undo)
        try:
            try:
                folder.mkdir(mode=0o700)
            except FileExistsError:
                making.folder = None
                return False
            making.lock = lock = _lock_of(folder)
            if lock is None:  # by a run that considered it stale and removes it
                making.folder = None
                return False
            self.folder = folder
            self._finalizer = weakref.finalize(self, _remove, folder, lock, number)
            if multiprocessing.parent_process() is not None:
                Finalize(self, self._finalizer, exitpriority=0)  # forked workers end without `atexit`
        except BaseException:
            making.undo()
            making.folder = None
            raise
        finally:
            if making.folder is None:
                cleanup.discard(number)
        return True

    def remove(self) -> None:
        """Remove the folder now."""
        self._finalizer()

    def __enter__(self) -> Path:
        return self.folder

    def __exit__(self, *_: object) -> None:
        self.remove()


def _lock_of(folder: Path) -> FolderLock | None:
    """The lock of a new folder; None if another run took it, or has already removed the folder."""
    try:
        return FolderLock.acquire(folder)
    except FileNotFoundError:
        if folder.exists():
            raise
        return None


@dataclass
class _Making:
    """A folder being created, and its lock once it is held."""

    folder: Path | None
    lock: FolderLock | None = None

    def undo(self) -> None:
        if self.folder is None:
            return
        if self.lock is None:
            shutil.rmtree(self.folder, ignore_errors=True)
        else:
            _remove(self.folder, self.lock)


def spool_folder() -> Path:
    """The parent of temporary folders: the folder in ECKART_SPOOL, or the system's temporary folder."""
    stated = stated_folder()
    if stated is not None:
        return stated
    try:
        return Path(tempfile.gettempdir())
    except FileNotFoundError as error:  # it tries to write to each of them
        raise FileError(
            f"No temporary folder is writable ({error.strerror or error}). Set the environment "
            f"variable {VARIABLE} to a folder with enough free space for a copy of the data."
        ) from error


def stated_folder() -> Path | None:
    """The folder that the user named for temporary copies."""
    stated = os.environ.get(VARIABLE)
    return Path(stated).absolute() if stated else None


def remove_stale(place: Path) -> int:
    """Remove the folders in `place` whose processes were killed; return their number."""
    removed = 0
    with contextlib.suppress(OSError):
        for folder in list(place.glob(f"{_PREFIX}*")):
            with contextlib.suppress(OSError):
                removed += _removed_if_stale(folder)
    return removed


def _removed_if_stale(folder: Path) -> bool:
    found = folder.lstat()
    if folder.is_symlink() or not folder.is_dir() or (hasattr(os, "getuid") and found.st_uid != os.getuid()):
        return False
    if not any(os.path.lexists(folder / name) for name in NAMES):
        # Folders of other programs have no lock file; ours lack it only while they are created or removed.
        if not _MADE.fullmatch(folder.name) or time.time() - found.st_mtime < _OLD:
            return False
        folder.rmdir()  # the system refuses if it is not empty
        return True
    lock = FolderLock.acquire(folder)
    if lock is None:
        return False
    _remove(folder, lock)
    return True


def _remove(folder: Path, lock: FolderLock, number: int = -1) -> None:
    if lock.process == os.getpid():  # in a forked child the folder belongs to its parent
        _empty(folder)
        lock.release()
        shutil.rmtree(folder, ignore_errors=True)
    cleanup.discard(number)  # last: a signal before that ends the process and would leave the rest behind


def _empty(folder: Path) -> None:
    """Remove everything except the lock, so that another run can recognise and remove a half-removed folder."""
    for path in folder.iterdir() if folder.is_dir() else ():
        if path.name in NAMES:
            continue
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)
        else:
            with contextlib.suppress(OSError):
                path.unlink()
