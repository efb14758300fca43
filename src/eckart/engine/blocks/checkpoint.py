"""What each read of the data gave, on disk: a run that was broken off is played back and goes on where it stood.

A run is a fixed sequence of reads, and between them arithmetic that depends on their results alone. So the results are
the whole state: the same call again takes them from the journal, in order, and comes to the same bits. A read that is
long leaves partial sums on the way. Files are written whole, flushed, and renamed; each carries a checksum.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from eckart.errors import CheckpointError
from eckart.files import new_file

_VERSION = 1
_MAGIC = b"eckart journal\n"
_EVERY_SECONDS = 20.0
"""Partial sums are written when this much time has passed since the last."""


@dataclass
class Journal:
    """A folder with `run.json` (whose run this is), `read-N` (its results) and `partial` (sums of the present read)."""

    folder: Path
    written: float = field(default_factory=time.monotonic)

    @staticmethod
    def open(path: str | os.PathLike[str], run: dict[str, Any]) -> Journal:
        """The journal of this very run, new or as it was left; that of another run is refused."""
        folder = Path(path)
        about = {"version": _VERSION, "run": json.loads(json.dumps(run, sort_keys=True, default=str))}
        try:
            folder.mkdir(parents=True, exist_ok=True)
            present = folder / "run.json"
            content = present.read_text() if present.exists() else None
            strangers = content is None and any(folder.iterdir())
        except OSError as error:
            raise _cannot(folder, error) from error
        if strangers:
            raise CheckpointError(f"{folder} is not empty and holds no checkpoint. Name a new folder.")
        if content is None:
            _replace(present, json.dumps(about, indent=1).encode())
            return Journal(folder)
        try:
            known = json.loads(content)
        except ValueError as error:
            raise CheckpointError(f"{present} is damaged. Remove the folder {folder} to start afresh.") from error
        if known != about:
            raise CheckpointError(
                f"{folder} holds the checkpoint of another run ({_difference(known, about)}). "
                "Name another folder, or remove it to start afresh."
            )
        return Journal(folder)

    def result(self, number: int, key: str) -> list[np.ndarray] | None:
        """What read `number` gave, if it was finished; `key` stands for what was asked of it."""
        return self._load(f"read-{number:06d}", key)

    def finish(self, number: int, key: str, arrays: list[np.ndarray]) -> None:
        self._save(f"read-{number:06d}", key, arrays)
        self._forget_partial()

    def partial(self, number: int, key: str) -> tuple[int, list[np.ndarray]]:
        """(blocks done, their sum) of read `number`."""
        found = self._load("partial", f"{number}:{key}")
        return (0, []) if not found else (int(found[-1][0]), found[:-1])

    def advance(self, number: int, key: str, blocks: int, arrays: list[np.ndarray]) -> None:
        """Blocks 0..blocks-1 of read `number` add up to `arrays`."""
        if time.monotonic() - self.written >= _EVERY_SECONDS:
            self.keep(number, key, blocks, arrays)

    def keep(self, number: int, key: str, blocks: int, arrays: list[np.ndarray]) -> None:
        """The same now, whenever the last was."""
        self._save("partial", f"{number}:{key}", [*arrays, np.array([blocks])])

    def close(self) -> None:
        """The work is done: the journal is not needed any more."""
        drafts = self.folder.glob(".*.tmp")  # of runs that were killed while they wrote
        for path in [*drafts, *self.folder.glob("read-*"), self.folder / "partial", self.folder / "run.json"]:
            path.unlink(missing_ok=True)
        if not any(self.folder.iterdir()):
            self.folder.rmdir()

    def _forget_partial(self) -> None:
        (self.folder / "partial").unlink(missing_ok=True)
        self.written = time.monotonic()

    def _save(self, name: str, key: str, arrays: list[np.ndarray]) -> None:
        body = io.BytesIO()
        np.savez(body, *arrays)
        content = body.getvalue()
        head = json.dumps({"key": key, "sha256": hashlib.sha256(content).hexdigest(), "bytes": len(content)})
        _replace(self.folder / name, _MAGIC + head.encode() + b"\n" + content)
        self.written = time.monotonic()

    def _load(self, name: str, key: str) -> list[np.ndarray] | None:
        path = self.folder / name
        try:
            whole = path.read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise _cannot(path, error) from error
        if not whole.startswith(_MAGIC):
            raise CheckpointError(f"{path} is not a part of a checkpoint. Remove the folder to start afresh.")
        head, _, content = whole[len(_MAGIC) :].partition(b"\n")
        about = json.loads(head)
        if hashlib.sha256(content).hexdigest() != about["sha256"]:
            raise CheckpointError(f"{path} is damaged: its checksum is wrong. Remove it to repeat that read.")
        if about["key"] != key:
            if name == "partial":
                return None  # left over from an earlier read
            raise CheckpointError(f"{path} belongs to another read. Remove the folder to start afresh.")
        with np.load(io.BytesIO(content), allow_pickle=False) as archive:
            return [archive[f"arr_{i}"] for i in range(len(archive.files))]


def key_of(what: str, *arrays: np.ndarray | None) -> str:
    """A short name for what is asked of a read: the operation and its operand, to the last bit."""
    digest = hashlib.sha256(what.encode())
    for array in arrays:
        digest.update(b"none" if array is None else np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


def _replace(path: Path, content: bytes) -> None:
    try:
        with new_file(path, overwrite=True, error=CheckpointError) as stream:
            stream.write(content)
    except CheckpointError as error:
        cause = error.__cause__
        raise _cannot(path, cause, len(content)) if isinstance(cause, OSError) else error from error


def _difference(known: Any, wanted: Any) -> str:
    if not isinstance(known, dict) or known.get("version") != _VERSION:
        return "of another version"
    before, now = known.get("run", {}), wanted["run"]
    keys = [key for key in sorted({*before, *now}) if before.get(key) != now.get(key)]
    return f"another {', '.join(keys)}"


def _cannot(path: Path, error: OSError, size: int | None = None) -> CheckpointError:
    wanted = "" if size is None else f" ({size:,} bytes)"
    return CheckpointError(
        f"The checkpoint {path}{wanted} cannot be used: {error.strerror or error}. What was written before is valid: "
        "make room or choose another folder, and run the same call again."
    )
