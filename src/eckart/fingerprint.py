"""Identity of the files of a run: their size and content, and their state in the file system.

`content` (sizes and a hash of samples) must agree; it is the same for a copy. `state` (path, times of modification and
of change, inode) is the same only if the files were not touched. If it differs, the content must be verified in full.
"""

from __future__ import annotations

import dataclasses
import hashlib
import os
import secrets
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import numpy as np

from eckart.aliases import JsonObject
from eckart.errors import FileError, ReadError

_PIECE = 4096
_PIECES = (2, 64)
"""Number of hashed pieces: 64 for a single file, at least 2 for each of many files."""
_PIECES_IN_ALL = 1024
_Source = TypeVar("_Source")


@dataclass(frozen=True)
class FileState:
    """State of a file when it was opened; a change while it is being read is an error.

    `status` is the time of the last change of content or attributes. Programs can reset the time of modification
    (`cp -p`, `rsync -t`), but not this one.
    """

    path: str
    """Absolute, because the working directory may change and workers have their own."""
    size: int
    changed: int
    inode: int = 0
    status: int = 0

    @staticmethod
    def of(path: str) -> FileState:
        place = os.path.abspath(path)  # noqa: PTH100 - symbolic links stay as they were given
        found = Path(place).stat()
        return FileState(place, found.st_size, found.st_mtime_ns, found.st_ino, found.st_ctime_ns)

    def check(self, name: str, start: int, stop: int) -> None:
        """Refuse a file that has changed; `start` and `stop` are the rows about to be read."""
        try:
            now = FileState.of(self.path)
        except OSError as error:
            raise ReadError(
                f"{name} became unreadable while Eckart read rows {start + 1:,} to {stop:,}: "
                f"{error.strerror}. Nothing was written."
            ) from error
        if now != self:
            grown = "shrank" if now.size < self.size else "changed"
            seen = f"{self.size:,} bytes before, {now.size:,} now"
            if now.size == self.size:
                seen = f"it still has {self.size:,} bytes, but it was written again"
            if dataclasses.replace(now, status=self.status) == self:
                seen = (
                    "the size and modification time are the same, but the file was rewritten, or its "
                    "permissions or links changed"
                )
            raise FileError(
                f"{name} {grown} while Eckart read rows {start + 1:,} to {stop:,} ({seen}). Wait "
                "until the file is completely written, then run the analysis again."
            )


def fingerprint(states: Sequence[FileState], **content: object) -> JsonObject:
    """{"content": ..., "state": ...} of files and of all files in folders, in this order."""
    try:
        files = [(place, name, place.stat()) for state in states for place, name in _files(Path(state.path))]
        pieces = min(max(_PIECES_IN_ALL // max(len(files), 1), _PIECES[0]), _PIECES[1])
        sample, known = hashlib.sha256(), hashlib.sha256()
        for place, name, found in files:
            sample.update(f"{name}\0{found.st_size}\0".encode("utf-8", "surrogateescape"))
            for piece in _sampled(place, found.st_size, pieces):
                sample.update(piece)
            state = (found.st_mtime_ns, found.st_ctime_ns, found.st_ino)
            known.update(f"{place}\0{state}\0".encode("utf-8", "surrogateescape"))
    except OSError as error:
        raise ReadError(f"{error.filename} cannot be read: {error.strerror or error}. Check the path.") from error
    size = sum(found.st_size for _, _, found in files)
    content = {"files": len(files), "bytes": size, "sample": sample.hexdigest(), **content}
    return {"content": content, "state": known.hexdigest()}


def unknown_state() -> str:
    """The state of data of which nobody knows whether they changed: different each time, so they are verified."""
    return secrets.token_hex(8)


def _files(place: Path) -> Iterator[tuple[Path, str]]:
    """(path, name inside the folder) of every file; a single file has no name, because it may be renamed."""
    if not place.is_dir():
        yield place, ""
        return
    for folder, folders, names in os.walk(place):
        folders.sort()
        for name in sorted(names):
            path = Path(folder) / name
            yield path, path.relative_to(place).as_posix()


def _sampled(place: Path, size: int, count: int) -> Iterator[bytes]:
    """A small file whole, otherwise pieces at equal distances, including the first and the last."""
    with place.open("rb", buffering=0) as stream:
        if size <= count * _PIECE:
            yield stream.read()
            return
        for i in range(count):
            stream.seek(i * (size - _PIECE) // (count - 1))
            yield stream.read(_PIECE)


def in_files(source: object) -> bool:
    """Whether the rows of a source come from files."""
    return bool(_file_states(source))


def paths_of(data: object) -> list[str]:
    """The files and folders that `data` is read from: paths, a source of rows, or an array that maps a file."""
    if isinstance(data, str | os.PathLike):
        return [os.fsdecode(os.fspath(data))]
    if isinstance(data, list | tuple):
        return [os.fsdecode(os.fspath(item)) for item in data if isinstance(item, str | os.PathLike)]
    if isinstance(data, np.memmap) and data.filename is not None:
        return [os.fsdecode(data.filename)]
    if isinstance(data, np.ndarray):
        return paths_of(data.base)  # it may be a view of a memory map
    return [path for value in _file_states(data).values() for path in _paths_of_states(value)]


def _paths_of_states(value: object) -> list[str]:
    """The paths of a field: a file, a source, or several of either."""
    items = value if isinstance(value, tuple) else (value,)
    return [path for item in items for path in ([item.path] if isinstance(item, FileState) else paths_of(item))]


def on_this_machine(source: _Source) -> _Source:
    """A source with the files of this machine: a worker may have its own copies, with other times."""
    changed: JsonObject = {}
    for name, value in _file_states(source).items():
        if isinstance(value, FileState):
            changed[name] = FileState.of(value.path)
        elif isinstance(value, tuple):
            changed[name] = tuple(
                FileState.of(item.path) if isinstance(item, FileState) else on_this_machine(item) for item in value
            )
        else:
            changed[name] = on_this_machine(value)
    return dataclasses.replace(source, **changed) if changed else source  # type: ignore[type-var]


def _file_states(source: object) -> JsonObject:
    """Fields that are file states, sources with such fields, or tuples of these."""
    if not dataclasses.is_dataclass(source):
        return {}
    found = {}
    for field in dataclasses.fields(source):
        value = getattr(source, field.name)
        items = value if isinstance(value, tuple) else (value,)
        if any(isinstance(item, FileState) or (hasattr(item, "fingerprint") and in_files(item)) for item in items):
            found[field.name] = value
    return found
