"""Random numbers that nobody can know before the data are complete: seeded by the user's seed and all data bytes.

A bound that holds but for a small chance over random vectors means nothing to whoever can choose the data after them.
"""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np

from eckart.arrays import is_sparse, to_numpy


class Digest:
    """Of all bytes of rows, block by block."""

    def __init__(self) -> None:
        self._hash = hashlib.blake2b(digest_size=16)

    def add(self, data: Any) -> Digest:
        for array in (data.data, data.indices, data.indptr) if is_sparse(data) else (to_numpy(data),):
            self._hash.update(np.ascontiguousarray(array).data)
        return self

    def generator(self, seed: int, purpose: str) -> np.random.Generator:
        """Random numbers for one purpose."""
        words = np.frombuffer(self._hash.digest(), np.uint32).tolist()
        return np.random.Generator(np.random.Philox(np.random.SeedSequence([seed, *words, *purpose.encode()])))


def probe_generator(seed: int, data: Any, purpose: str) -> np.random.Generator:
    """A generator seeded by the seed and every byte of an array or CSR matrix."""
    return Digest().add(data).generator(seed, f"{purpose} {tuple(data.shape)}")
