"""The files of a checkpoint: a header, arrays in .npy format, and a SHA-256 of everything at the end.

    eckart checkpoint 2\\n {"identity": ..., "key": ..., "arrays": n}\\n array 1 ... array n sha256

`run.json` is a JSON document with its own checksum, so that people can see which run it belongs to.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import numpy as np

from eckart.aliases import JsonObject
from eckart.errors import CheckpointError
from eckart.files import HashingWriter, is_full, new_file

VERSION = 2
_MAGIC = "eckart checkpoint "
_HEAD_BYTES = 4096
_RECORD_BYTES = 1 << 24
_CHUNK = 1 << 22
_DIGEST_BYTES = hashlib.sha256().digest_size


@dataclass(frozen=True)
class Part:
    """A file of a checkpoint: what was computed, and the result."""

    key: str
    arrays: list[np.ndarray]


def write_arrays(path: Path, identity: str, key: str, arrays: list[np.ndarray]) -> None:
    """Write arrays under `path`, complete or not at all."""
    head = json.dumps({"identity": identity, "key": key, "arrays": len(arrays)})
    try:
        with new_file(path, overwrite=True, error=CheckpointError) as file:
            stream = HashingWriter(file)
            stream.write(f"{_MAGIC}{VERSION}\n{head}\n".encode())
            for array in arrays:
                np.lib.format.write_array(stream, np.asarray(array), allow_pickle=False)
            file.write(stream.digest.digest())
    except CheckpointError as error:
        raise _explained(path, error, sum(int(array.nbytes) for array in arrays)) from error


def read_arrays(path: Path, identity: str) -> Part | None:
    """The arrays that `write_arrays` wrote; None if there is no such file, an error if a single bit differs."""
    try:
        with _opened(path) as file:
            _check_magic(path, file.read(_HEAD_BYTES))
            _check_digest(path, file)
            file.seek(0)
            file.readline()
            return _read_part(path, file, identity)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise cannot(path, error) from error


def _opened(path: Path) -> IO[bytes]:
    """The open file; opening a pipe would block, and a folder cannot be read."""
    number = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    if not stat.S_ISREG(os.fstat(number).st_mode):
        os.close(number)
        raise damaged(path, "it is not a file")
    return os.fdopen(number, "rb")


def _check_magic(path: Path, start: bytes) -> None:
    first = start.partition(b"\n")[0].decode("latin-1")
    if not first.startswith(_MAGIC):
        raise damaged(path, "it does not start like a checkpoint file")
    _check_version(path, first.removeprefix(_MAGIC))


def _check_version(path: Path, version: object) -> None:
    text = str(version)
    if text == str(VERSION):
        return
    if text.isascii() and text.isdigit() and len(text) < 10:
        newer = int(text) > VERSION
        remedy = "Use the version that wrote it, or delete" if newer else "This run can no longer be resumed. Delete"
        raise CheckpointError(
            f"{path} was written by {'a newer' if newer else 'an older'} version of Eckart "
            f"(checkpoint format {text}; this version uses {VERSION}). {remedy} "
            f"{path.parent} to start again."
        )
    raise damaged(path, "its version is not a number")


def _check_digest(path: Path, file: IO[bytes]) -> None:
    left = os.fstat(file.fileno()).st_size - _DIGEST_BYTES
    file.seek(0)
    digest = hashlib.sha256()
    while left > 0 and (chunk := file.read(min(_CHUNK, left))):
        digest.update(chunk)
        left -= len(chunk)
    if left or file.read() != digest.digest():
        raise damaged(path, "its checksum is wrong")


def _read_part(path: Path, file: IO[bytes], identity: str) -> Part:
    try:
        head = json.loads(file.readline(_HEAD_BYTES))
        if head["identity"] != identity:
            raise damaged(path, "it belongs to another checkpoint")
        arrays = [np.lib.format.read_array(file, allow_pickle=False) for _ in range(int(head["arrays"]))]
        return Part(str(head["key"]), arrays)
    except (ValueError, KeyError, TypeError, EOFError, OverflowError, MemoryError, RecursionError) as error:
        if isinstance(error, CheckpointError):
            raise
        raise damaged(path, "its content was not written by Eckart") from error


def write_record(path: Path, record: JsonObject) -> None:
    """Write `run.json`, complete or not at all."""
    document = {"format": _MAGIC.strip(), "version": VERSION, "sha256": _checksum(record), **record}
    content = json.dumps(document, indent=1).encode()
    try:
        with new_file(path, overwrite=True, error=CheckpointError) as file:
            file.write(content)
    except CheckpointError as error:
        raise _explained(path, error, len(content)) from error


def read_record(path: Path) -> JsonObject | None:
    """The content of `run.json`; None if there is none."""
    try:
        document = _document(path)
    except FileNotFoundError:
        return None
    if not isinstance(document, dict) or "version" not in document:
        raise damaged(path, "required fields are missing or have the wrong type")
    _check_version(path, document["version"])
    record = {key: document.get(key) for key in ("identity", "run", "data")}
    if document.get("sha256") != _checksum(record):
        raise damaged(path, "its checksum is wrong")
    kinds = {"identity": str, "run": dict, "data": dict}
    if not all(isinstance(record[key], kind) for key, kind in kinds.items()):
        raise damaged(path, "required fields are missing or have the wrong type")
    return record


def _document(path: Path) -> object:
    try:
        with _opened(path) as file:
            return json.loads(file.read(_RECORD_BYTES))
    except (CheckpointError, FileNotFoundError):  # a ValueError and an OSError, too
        raise
    except OSError as error:
        raise cannot(path, error) from error
    except (ValueError, RecursionError) as error:
        raise damaged(path, "it is not a JSON document") from error


def _checksum(record: JsonObject) -> str:
    return hashlib.sha256(json.dumps(record, sort_keys=True).encode()).hexdigest()


def damaged(path: Path, why: str) -> CheckpointError:
    """The error for a file that cannot be trusted."""
    return CheckpointError(
        f"The checkpoint file {path} is damaged: {why}. Restore the file from a copy, or delete "
        f"{path.parent} to start again."
    )


def cannot(path: Path, error: OSError, size: int | None = None) -> CheckpointError:
    """The error for a file that the system refuses to read or write."""
    wanted = "" if size is None else f" ({size:,} bytes)"
    remedy = "Free some disk space" if is_full(error) else "Check that the folder can be read and written,"
    return CheckpointError(
        f"The checkpoint {path}{wanted} cannot be used: {error.strerror or error}. Everything written "
        f"so far is valid. {remedy} or choose another folder, then repeat the call."
    )


def _explained(path: Path, error: CheckpointError, size: int) -> CheckpointError:
    cause = error.__cause__
    return cannot(path, cause, size) if isinstance(cause, OSError) else error
