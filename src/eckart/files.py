"""A file or folder that appears under its name only when it is complete: write a draft, fsync, rename.

`input_conflict` detects a target that would replace an input or become a part of it.
"""

from __future__ import annotations

import errno
import fnmatch
import glob
import hashlib
import os
import secrets
import shutil
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING

from eckart.cleanup import removed_on_signal
from eckart.errors import FileError
from eckart.wording import OVERWRITE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

ZARR_MARKS = ("zarr.json", ".zarray", ".zgroup")
"""A folder with one of these files is a Zarr store."""

_FULL = {errno.ENOSPC, errno.EFBIG, getattr(errno, "EDQUOT", errno.ENOSPC)}
"""Errors of a full disk, of a limit on the size of files and of a quota."""


@contextmanager
def new_file(
    path: str | os.PathLike[str], *, overwrite: bool, error: type[FileError] = FileError
) -> Iterator[IO[bytes]]:
    """Open a draft in the same folder. It takes the name `path` if the block succeeds and is removed otherwise."""
    target = Path(path)
    if not is_replaceable(target):
        raise error(
            f"{target} is a pipe, a device or a folder, but Eckart writes only regular files. Choose another name."
        )
    if not overwrite and os.path.lexists(target):
        raise error(f"{target} already exists, so nothing was written. To overwrite it, use {OVERWRITE}.")
    draft = target.with_name(f".{target.name[:50]}.{secrets.token_hex(6)}.tmp")
    try:
        with removed_on_signal(lambda: draft.unlink(missing_ok=True)):
            with draft.open("x+b") as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            _publish(draft, target, overwrite=overwrite)
    except FileExistsError as cause:
        message = (
            f"Another process created {target} in the meantime, so nothing was written. To overwrite "
            f"it, use {OVERWRITE}."
        )
        raise error(message) from cause
    except OSError as cause:
        written = f" after {_length(draft):,} bytes" if _length(draft) else ""
        message = (
            f"{target} cannot be written: {cause.strerror or cause}{written}. {_remedy(cause)} If the file existed "
            "before, it is unchanged."
        )
        raise error(message) from cause
    finally:
        with suppress(OSError):  # a read-only file system refuses even names that do not exist
            draft.unlink(missing_ok=True)


def is_full(error: BaseException | None) -> bool:
    """Whether the system refused to write more: the disk is full, or a quota or a limit on the file size is reached."""
    return isinstance(error, OSError) and error.errno in _FULL


def _remedy(error: OSError) -> str:
    return "Free some disk space, or choose a folder on another disk." if is_full(error) else "Choose another folder."


@contextmanager
def new_folder(path: str | os.PathLike[str], *, overwrite: bool, known: Iterable[str]) -> Iterator[Path]:
    """A draft of a folder, which takes the name `path` if the block succeeds and is removed otherwise.

    Only a folder with one of the files `known` is replaced; Eckart does not remove anything else.
    """
    target = Path(path)
    if os.path.lexists(target):
        if not overwrite:
            raise FileError(f"{target} already exists, so nothing was written. To overwrite it, use {OVERWRITE}.")
        if target.is_symlink() or not any((target / name).is_file() for name in known):
            raise FileError(
                f"{target} is a folder that Eckart did not write ({' or '.join(known)} is missing), "
                "so Eckart does not replace it. Delete it yourself, or choose another name."
            )
    draft, old = (target.with_name(f".{target.name[:50]}.{secrets.token_hex(6)}.{end}") for end in ("tmp", "old"))

    def undo() -> None:
        if old.exists() and not os.path.lexists(target):  # between the two renames: restore the old content
            old.rename(target)
        shutil.rmtree(draft, ignore_errors=True)
        shutil.rmtree(old, ignore_errors=True)

    try:
        with removed_on_signal(undo):
            yield draft
            if os.path.lexists(target):
                target.rename(old)
            draft.rename(target)
    except OSError as cause:
        message = (
            f"{target} cannot be written: {cause.strerror or cause}. {_remedy(cause)} If the folder existed before, "
            "it is unchanged."
        )
        raise FileError(message) from cause
    finally:
        undo()


class HashingWriter:
    """Passes bytes on to a stream and computes their SHA-256."""

    def __init__(self, stream: IO[bytes]) -> None:
        self.stream, self.digest = stream, hashlib.sha256()

    def write(self, content: bytes | memoryview) -> int:
        self.digest.update(content)
        return self.stream.write(content)


def is_replaceable(target: Path) -> bool:
    """Whether a file may take this name: a rename would replace a device (/dev/null!) or a pipe."""
    try:
        if not os.path.lexists(target):
            return True
        place = target.parent.resolve()
        system = any(place.is_relative_to(folder) for folder in ("/dev", "/proc", "/sys"))
        if system and not place.is_relative_to("/dev/shm"):
            return False  # also for a link such as /dev/stdout, whatever its target
        return target.is_file() or not target.exists()
    except (OSError, RuntimeError):
        return True  # reported by the attempt to write


def input_conflict(target: str | os.PathLike[str], inputs: Iterable[str | os.PathLike[str]]) -> str | None:
    """What writing to `target` would do to an input, as the predicate of a sentence about it; None if nothing.

    An input is a file, a folder or a pattern. It is lost if the target, under any name or link, is the same file, is
    inside an input folder, or is a folder that contains the input. A new file changes it if the next run would read it
    as a part of the input: it matches the pattern, is inside a store, or is of the kind of other files in the folder.
    """
    place = Path(target)
    for given in map(os.fsdecode, inputs):
        if os.path.lexists(place):
            found = map(Path, [given, *glob.glob(given, recursive=True)])  # noqa: PTH207 - it may begin at the root
            if any(_overlap(place, source) for source in found):
                return f"is the input {given!r}"
        elif _would_be_read(place, given):
            return f"would become part of the input {given!r} in the next run"
    return None


def _overlap(target: Path, source: Path) -> bool:
    try:
        if target.exists() and source.exists() and target.samefile(source):
            return True
        real, read = target.resolve(), source.resolve()
        return (source.is_dir() and read in real.parents) or (target.is_dir() and real in read.parents)
    except (OSError, RuntimeError, ValueError):  # a loop of links or an invalid name: nothing is read from there
        return False


def _would_be_read(target: Path, given: str) -> bool:
    """Whether a file that does not exist yet would become a part of the folder or pattern `given`."""
    try:
        if not os.path.lexists(given):
            return _matches(_parts(target), _parts(given))
        folder, real = Path(given).resolve(), target.resolve()
        if folder not in real.parents or not folder.is_dir():
            return False
        if any((folder / mark).exists() for mark in ZARR_MARKS):
            return True
        others = (file for file in folder.rglob("*") if file.suffix.lower() == target.suffix.lower())
        return any(file.is_file() for file in others)
    except (OSError, RuntimeError, ValueError):  # as above
        return False


def _parts(path: str | os.PathLike[str]) -> tuple[str, ...]:
    return Path(os.path.abspath(path)).parts  # noqa: PTH100 - links stay as they are: they may match a pattern


def _matches(parts: tuple[str, ...], pattern: tuple[str, ...]) -> bool:
    """Whether a path matches a pattern, in which ** stands for any number of folders."""
    if not parts or not pattern:
        return not parts and (not pattern or pattern == ("**",))
    if pattern[0] == "**":
        return _matches(parts, pattern[1:]) or _matches(parts[1:], pattern)
    return fnmatch.fnmatchcase(parts[0], pattern[0]) and _matches(parts[1:], pattern[1:])


def _length(draft: Path) -> int:
    try:
        return draft.stat().st_size
    except OSError:
        return 0


def _publish(draft: Path, target: Path, *, overwrite: bool) -> None:
    if overwrite:
        draft.replace(target)
    else:
        _rename_to_free_name(draft, target)
    if os.name == "posix":
        folder = os.open(target.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def _rename_to_free_name(draft: Path, target: Path) -> None:
    try:
        target.hardlink_to(draft)  # unlike a rename, this fails if the name is taken
    except FileExistsError:
        raise
    except OSError:  # a file system without hard links
        draft.rename(target)
