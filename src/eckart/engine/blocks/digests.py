"""Digests of the numbers of every block, which show that a resumed run, or the next pass, has the same data.

A checkpoint stores SHA-256. Passes of one run are compared by the sums of `engine.digest`, which take a tenth of the
time: they find changes that happen by accident.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from threading import Lock
from typing import TYPE_CHECKING

import numpy as np

from eckart.engine.blocks.source import MemoryRows
from eckart.engine.digest import from_limbs, limbs
from eckart.errors import CheckpointError, InputError
from eckart.fingerprint import in_files

if TYPE_CHECKING:
    from eckart.arrays import Array

_WIDTH = 256
"""Columns of a table of the entries of sparse rows."""


def digest_of(block: Array) -> str:
    """SHA-256 of a block: its shape and its numbers, to the last bit."""
    digest = hashlib.sha256(f"{block.shape} {block.dtype}".encode())
    if isinstance(block, np.ndarray):
        digest.update(np.ascontiguousarray(block).data)
        return digest.hexdigest()
    for array, dtype in ((block.indptr, np.int64), (block.indices, np.int64), (block.data, block.data.dtype)):
        digest.update(np.ascontiguousarray(array, dtype=dtype).data)
    return digest.hexdigest()


def sums_of(block: Array) -> str:
    """The shape of a block and 128-bit sums over its numbers, or over the arrays of CSR rows."""
    arrays = [block]
    if not isinstance(block, np.ndarray):
        arrays = [piece for part in (block.indptr, block.indices, block.data) for piece in _as_tables(part)]
    sums = (from_limbs(limbs(array, 0)) for array in arrays)
    return f"{block.shape} {block.dtype} " + " ".join(f"{one:016x}{two:016x}" for one, two in sums)


def _as_tables(part: np.ndarray) -> list[np.ndarray]:
    """All bits of a flat array as two tables of floats, which are digested faster than entries of sparse rows."""
    floats = np.ascontiguousarray(part).view(f"f{part.dtype.itemsize}")
    whole = len(floats) // _WIDTH * _WIDTH
    return [floats[:whole].reshape(-1, _WIDTH), floats[whole:].reshape(1, -1)]


class BlockDigests:
    """Digests by the first row of a block, recorded by the threads that read blocks."""

    unsaved: bool

    def __init__(self, known: Mapping[int, str], blocks: int, where: str) -> None:
        self._known = dict(known)
        self._verified: set[int] = set()
        self._blocks, self._where = blocks, where
        self._lock = Lock()
        self.unsaved = False

    @property
    def complete(self) -> bool:
        """Whether every block has a digest."""
        return len(self._known) >= self._blocks

    @property
    def pending(self) -> bool:
        """Whether some block has not yet been compared with its digest in this run."""
        return len(self._verified) < self._blocks

    def recorded(self) -> dict[int, str]:
        """A copy of the digests, in the order of the rows."""
        with self._lock:
            return dict(sorted(self._known.items()))

    def __len__(self) -> int:
        return len(self._known)

    def take(self, start: int, stop: int, block: object) -> None:
        """Record the rows start..stop, or compare them with their digest, once per run."""
        if start not in self._verified:
            self.confirm(start, stop, digest_of(block))

    def confirm(self, start: int, stop: int, digest: str) -> None:
        """Record a digest computed on a worker, or compare it with the known one."""
        with self._lock:
            self.unsaved = self.unsaved or start not in self._known
            known = self._known.setdefault(start, digest)
            self._verified.add(start)
        if known != digest:
            raise CheckpointError(
                f"Rows {start + 1:,} to {stop:,} of the data have changed since the checkpoint "
                f"{self._where} was written. Restore the data, or delete the folder of the checkpoint "
                "to start again."
            )


class RepeatedBlocks:
    """Sums over the blocks of earlier passes, for data without a state that tells whether they have changed.

    Files have such a state. Arrays of other libraries (Dask, h5py, Zarr) may return other numbers in every pass, for
    example if a Dask graph draws random numbers. No bound would hold for a mixture of them.
    """

    def __init__(self) -> None:
        self._known: dict[tuple[int, int], str] = {}

    def are_compared(self, source: object) -> bool:
        """Whether the blocks of this source need to be compared."""
        return not in_files(source) and not isinstance(source, MemoryRows)

    def confirm(self, start: int, stop: int, sums: str) -> None:
        """Compare the rows start..stop with those of the first pass."""
        if self._known.setdefault((start, stop), sums) != sums:
            raise InputError(
                f"Rows {start + 1:,} to {stop:,} differ between two passes over the data, so any result would be "
                "wrong. Load the data into memory first: for a Dask array, use array.persist()."
            )
