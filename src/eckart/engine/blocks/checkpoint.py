"""Checkpoints: the results of the passes over the data, on disk, so that an interrupted run can be resumed.

A run is a fixed sequence of passes, and the arithmetic between them depends only on their results. The results are
therefore the whole state. A repeated call takes them from the checkpoint, in order, and gives the same bits as an
uninterrupted run. A long pass also stores partial sums.

A checkpoint is trusted only for the data it was made from. The fingerprint of the files must agree, and so must the
SHA-256 of one random block, or of every block read before if the files were modified, copied or moved. Files are
written completely, flushed and renamed. Each has a checksum and the identity of its checkpoint.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import itertools
import json
import os
import secrets
import time
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np

from eckart.aliases import JsonObject
from eckart.engine.blocks.checkpoint_files import (
    cannot,
    damaged,
    read_arrays,
    read_record,
    write_arrays,
    write_record,
)
from eckart.engine.blocks.digests import BlockDigests
from eckart.errors import CheckpointError, ParameterError
from eckart.locks import NAMES, FolderLock, holder
from eckart.wording import assigned

_EVERY_SECONDS = 20.0
"""Partial sums are written at this interval."""
_RECORD, _DIGESTS, _PARTIAL = "run.json", "blocks", "partial"


@dataclass
class Journal:
    """A checkpoint folder, locked while it is open.

    It contains `run.json` (which run this is), `blocks` (digests of the data), `read-N` (the result of pass N) and
    `partial` (sums of the current pass).
    """

    folder: Path
    identity: str
    matrix: Any
    """What is read, with `source` and `edges`."""
    digests: BlockDigests
    lock: FolderLock
    written: float = field(default_factory=time.monotonic)

    @staticmethod
    def open(path: object, run: JsonObject, matrix: object) -> Journal:
        """Open the checkpoint of this run of `matrix`, new or existing; refuse that of another run."""
        if not isinstance(path, str | os.PathLike) or not os.fspath(path):
            raise ParameterError(f"{assigned('checkpoint', path)} is not the path of a folder. Choose a new folder.")
        folder = Path(path).absolute()
        run = json.loads(json.dumps({**run, "eckart": _version()}, sort_keys=True, default=str))
        lock = _locked(folder)
        try:
            return _opened(folder, run, matrix, lock)
        except BaseException:
            lock.release()
            raise

    def __enter__(self) -> Journal:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Remove a checkpoint that is no longer needed; keep that of an interrupted run."""
        if kind is None:
            self.close()
        self.lock.release()
        self.matrix = None  # it refers back to this object: the cycle would keep a temporary copy of the data

    def close(self) -> None:
        """Remove the files of the checkpoint when the work is done, and the folder if it is then empty."""
        drafts = self.folder.glob(".*.tmp")  # left by runs that were killed while writing
        kept = (self.folder / name for name in (_PARTIAL, _DIGESTS, _RECORD))
        for path in [*drafts, *self.folder.glob("read-*"), *kept]:
            with contextlib.suppress(OSError):
                path.unlink(missing_ok=True)
        self.lock.release()
        with contextlib.suppress(OSError):
            self.folder.rmdir()

    def result(self, number: int, key: str) -> list[np.ndarray] | None:
        """The result of pass `number`, if it was completed; `key` identifies the computation."""
        path = self.folder / _read_name(number)
        found = read_arrays(path, self.identity)
        if found is None:
            return None
        if found.key != f"{number}:{key}":
            raise CheckpointError(
                f"{path} does not match this pass over the data. Either the data changed, or earlier "
                "passes were rounded differently. (Rounding depends on the processor, the number of "
                "threads and the version of NumPy.) Resume on the machine that wrote the checkpoint, "
                f"or delete {self.folder} to start again."
            )
        return found.arrays

    def finish(self, number: int, key: str, arrays: list[np.ndarray]) -> None:
        """Keep the result of pass `number`."""
        if not len(self.digests):
            self._verify(first_only=True)
        self._save(_read_name(number), f"{number}:{key}", arrays)
        (self.folder / _PARTIAL).unlink(missing_ok=True)

    def partial(self, number: int, key: str) -> tuple[int, list[np.ndarray]]:
        """(blocks done, their sum) of pass `number`."""
        found = read_arrays(self.folder / _PARTIAL, self.identity)
        if found is None or found.key != f"{number}:{key}":  # left from an earlier pass
            return 0, []
        *arrays, done = found.arrays
        return int(done[0]), arrays

    def advance(self, number: int, key: str, blocks: int, arrays: list[np.ndarray]) -> None:
        """Store from time to time that blocks 0..blocks-1 of pass `number` sum to `arrays`."""
        if time.monotonic() - self.written >= _EVERY_SECONDS:
            self.keep(number, key, blocks, arrays)

    def keep(self, number: int, key: str, blocks: int, arrays: list[np.ndarray]) -> None:
        """The same at once."""
        self._save(_PARTIAL, f"{number}:{key}", [*arrays, np.array([blocks])])

    def _save(self, name: str, key: str, arrays: list[np.ndarray]) -> None:
        if self.digests.unsaved:  # before the sums that they verify
            self.digests.unsaved = False
            text = json.dumps({str(start): digest for start, digest in self.digests.recorded().items()})
            write_arrays(self.folder / _DIGESTS, self.identity, _DIGESTS, [np.frombuffer(text.encode(), np.uint8)])
        write_arrays(self.folder / name, self.identity, key, arrays)
        self.written = time.monotonic()

    def _verify(self, *, first_only: bool = False) -> None:
        """Read one block, or all that were read before, and compare them with their digests."""
        spans = list(itertools.pairwise(self.matrix.edges))
        known = self.digests.recorded()
        wanted = [(start, stop) for start, stop in spans if start in known]
        if first_only:
            wanted = [secrets.choice(wanted)] if wanted else spans[:1]
        for start, stop in wanted:
            self.digests.take(start, stop, self.matrix.source.read(start, stop))


def _foreign(name: str) -> bool:
    """Whether a file is neither the lock nor the draft of a record left by a killed run."""
    return name not in NAMES and not (name.startswith(f".{_RECORD}.") and name.endswith(".tmp"))


def _locked(folder: Path) -> FolderLock:
    """Create the folder of a checkpoint, if it does not exist, and lock it; refuse folders with other files."""
    try:
        if folder.exists() and not folder.is_dir():  # a name that is too long is an OSError here
            raise CheckpointError(f"{folder} is a file, but a checkpoint is a folder. Choose a new folder.")
        folder.mkdir(parents=True, exist_ok=True)
        if not (folder / _RECORD).exists() and any(_foreign(path.name) for path in folder.iterdir()):
            raise CheckpointError(f"{folder} is not empty, and it does not contain a checkpoint. Choose a new folder.")
        lock = FolderLock.acquire(folder)
    except OSError as error:
        raise cannot(folder, error) from error
    if lock is None:
        raise CheckpointError(
            f"The checkpoint {folder} is in use by {holder(folder)}. Wait until that run ends, or choose another "
            "folder for this run."
        )
    return lock


def _opened(folder: Path, run: JsonObject, matrix: Any, lock: FolderLock) -> Journal:
    blocks, data = len(matrix.edges) - 1, matrix.source.fingerprint()
    record = read_record(folder / _RECORD)
    if record is None:
        identity = secrets.token_hex(16)
        write_record(folder / _RECORD, {"identity": identity, "run": run, "data": data})
        return Journal(folder, identity, matrix, BlockDigests({}, blocks, str(folder)), lock)
    _refuse_other_run(folder, record, run)
    _refuse_other_data(folder, record["data"], data)
    identity = record["identity"]
    journal = Journal(folder, identity, matrix, BlockDigests(_digests(folder, identity), blocks, str(folder)), lock)
    if record["data"]["state"] == data["state"]:
        if len(journal.digests):
            journal._verify(first_only=True)
        return journal
    if not journal.digests.complete and any(folder.glob("read-*")):
        raise CheckpointError(
            f"The data were modified, copied or moved after the checkpoint {folder} was written. The "
            "checkpoint does not cover all rows, so the data cannot be verified. Delete the folder "
            "to start again."
        )
    journal._verify()
    write_record(folder / _RECORD, {**record, "data": data})
    return journal


def _digests(folder: Path, identity: str) -> dict[int, str]:
    found = read_arrays(folder / _DIGESTS, identity)
    if found is None:
        if any(folder.glob("read-*")) or (folder / _PARTIAL).exists():
            raise damaged(folder / _DIGESTS, "it is missing, and without it the data cannot be verified")
        return {}
    try:
        known = json.load(io.BytesIO(found.arrays[0].tobytes()))
        return {int(start): str(digest) for start, digest in known.items()}
    except (ValueError, AttributeError, IndexError) as error:
        raise damaged(folder / _DIGESTS, "its content is not a list of digests") from error


def _refuse_other_run(folder: Path, record: JsonObject, run: JsonObject) -> None:
    before = record["run"]
    keys = [key for key in sorted({*before, *run}) if before.get(key) != run.get(key)]
    if keys:
        raise CheckpointError(
            f"{folder} contains the checkpoint of another run ({', '.join(map(_words, keys))}). "
            "Repeat the call that wrote it, choose another folder, or delete this folder to start "
            "again."
        )


def _words(key: str) -> str:
    return f"other {key}" if key != "eckart" else "another version of Eckart"


def _refuse_other_data(folder: Path, before: JsonObject, now: JsonObject) -> None:
    if before["content"] == now["content"]:
        return
    what = "their content differs"
    for name, unit in (("files", "files"), ("bytes", "bytes"), ("shape", "rows and columns")):
        then, found = before["content"].get(name), now["content"].get(name)
        if (then is None) != (found is None):  # an array has no files
            what = (
                "read from memory before, from files now" if then is None else "read from files before, from memory now"
            )
        elif then != found:
            what = f"{then} {unit} before, {found} now"
            break
    raise CheckpointError(
        f"The checkpoint {folder} was made from other data ({what}). Restore the data, choose another "
        "folder, or delete this folder to start again."
    )


def _read_name(number: int) -> str:
    return f"read-{number:06d}"


def _version() -> str:
    from eckart import __version__

    return __version__


def key_of(what: str, *arrays: np.ndarray | None) -> str:
    """A short name for the computation of a pass: the operation and its operand, to the last bit."""
    digest = hashlib.sha256(what.encode())
    for array in arrays:
        digest.update(b"none" if array is None else np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()
