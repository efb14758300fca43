"""Temporary folders for sorted copies of the data, removed in every case but SIGKILL; the next run removes those.

A folder `eckart-*` is locked by its process. It is removed when its Spool is garbage-collected, at exit, at the end of
a process of `multiprocessing`, and by `cleanup` on SIGTERM and SIGHUP. A folder whose lock is free was left behind by a
process that was killed; so was one that is empty and old, between its creation and its lock.
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
    """A temporary folder in `parent`, which goes away with this object and with the process."""

    def __init__(self, parent: str | os.PathLike[str] | None = None) -> None:
        place = spool_folder() if parent is None else Path(parent)
        remove_stale(place)
        try:
            while not self._made(place.absolute() / f"{_PREFIX}{secrets.token_hex(4)}"):
                pass
        except OSError as error:
            raise FileError(
                f"No temporary folder can be made in {place}: {error.strerror or error}. Set {VARIABLE} to a folder "
                "with room for a copy of the data."
            ) from error

    def _made(self, folder: Path) -> bool:
        """Make the folder and lock it; False if the name or the lock was taken. Interrupted, nothing is left behind."""
        making = _Making(folder)
        number = cleanup.add(making.undo)  # first: a signal between the folder and its remover would leave it behind
        try:
            try:
                folder.mkdir(mode=0o700)
            except FileExistsError:
                making.folder = None
                return False
            making.lock = lock = FolderLock.acquire(folder)
            if lock is None:  # by a run that took it for stale and removes it
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


@dataclass
class _Making:
    """A folder on its way, and its lock once it is held."""

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
    """Where temporary copies are made: the folder in ECKART_SPOOL, or the temporary folder of the system."""
    stated = stated_folder()
    if stated is not None:
        return stated
    try:
        return Path(tempfile.gettempdir())
    except FileNotFoundError as error:  # it tries to write to each of them
        raise FileError(
            f"No temporary folder can be written to ({error.strerror or error}). Set {VARIABLE} to a folder with room "
            "for a copy of the data."
        ) from error


def stated_folder() -> Path | None:
    """The folder that the user named for temporary copies."""
    stated = os.environ.get(VARIABLE)
    return Path(stated).absolute() if stated else None


def remove_stale(place: Path) -> int:
    """Remove the folders in `place` whose processes were killed; gives their number."""
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
        # Folders of other programs have no lock file; ours lack it only while they are being made or removed.
        if not _MADE.fullmatch(folder.name) or time.time() - found.st_mtime < _OLD:
            return False
        folder.rmdir()  # refused by the system if anything is in it
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
    cleanup.discard(number)  # last: a signal on the way ends the process, and would leave the rest behind


def _empty(folder: Path) -> None:
    """Remove all but the lock, so that a folder that is half removed can still be recognised and removed by another
    run.
    """
    for path in folder.iterdir() if folder.is_dir() else ():
        if path.name in NAMES:
            continue
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)
        else:
            with contextlib.suppress(OSError):
                path.unlink()
