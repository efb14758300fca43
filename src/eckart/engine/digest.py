"""Digests of all numbers of the data, from which the seeds of random probes are derived.

    digest(matrix) -> int                  128 bits, for RowBlocks and StackedBlocks
    begin_digest(matrix)                   the same, not waited for
    generator(seed, matrix, purpose)       a random generator seeded by (seed, shape, digest, purpose)
    limbs(block, start), from_limbs(sums)  the contribution of some rows, as float64 numbers that add up exactly
    ArrayDigest, array_generator           the same for arrays on the host that come one after the other

A bound that holds with probability 1 - p over random probes is worthless if the matrix can be chosen after the probes.
Probes seeded by all numbers of the matrix cannot be known before the matrix is complete.

**Matrices** are digested while they are read, by sums that do not depend on the order of rows, blocks or threads. Every
storage, block size, worker count and device therefore gives the same number. For a 64-bit word w in row i and word
column j (a float64 entry, a pair of float32 entries in neighbouring columns, or one stored entry of a sparse matrix),
with pseudo-random column keys c_j and odd constants r, a, b,

    v = ((w xor c_j) + r i),   x = a (v xor v >> 32),   y = b (x xor x >> 29),   digest = (sum x, sum y xor y >> 32),

both sums modulo 2^64. Two different matrices have the same digest with probability 2^-128, unless they were constructed
for it. The digest is not cryptographic: two matrices with the same sums can be computed.

**Arrays** that take a method longer to process than to read (points of a kernel, edges of a graph) are digested by
BLAKE2b, in order.
"""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np

from eckart.arrays import Array, is_sparse, to_numpy
from eckart.engine.backends.digest import added, dense_sums
from eckart.engine.backends.select import backend_of

_LIMBS = 4
"""Number of 16-bit pieces of a 64-bit sum: as float64 numbers they sum exactly over 2^37 blocks."""
_WEIGHTS_SALT = 1


def digest(matrix: Any) -> int:
    """The digest of RowBlocks or StackedBlocks, row weights included; streamed rows already read are not read again."""
    if not matrix.resident:
        total = matrix.raw_digest()
    else:
        total = (matrix.memo.get("digest") or matrix.backend.digest(matrix.matrix, 0, matrix.workers))()
    roots = matrix.weight_roots
    if roots is not None:
        total = added(total, dense_sums(np.asarray(to_numpy(roots), np.float64)[:, None], 0, _WEIGHTS_SALT))
    return int(total[0] | total[1] << 64)


def begin_digest(matrix: Any) -> None:
    """Start digesting rows in memory, if that can run while the host queues other work."""
    if matrix.resident and not matrix.backend.synchronous:
        matrix.memo["digest"] = matrix.backend.digest(matrix.matrix, 0, matrix.workers)


def generator(seed: int | None, matrix: Any, purpose: str) -> np.random.Generator:
    """A random generator for one purpose, seeded by the seed, the shape and every number of the matrix."""
    return _seeded(0 if seed is None else seed, *matrix.shape, digest(matrix), *purpose.encode())


def limbs(block: object, start: int) -> np.ndarray:
    """Contribution of a block that starts at row `start`; such arrays can be added in any order."""
    sums = backend_of(block).digest(block, start)()
    return np.array([sum_ >> (16 * i) & 0xFFFF for sum_ in sums for i in range(_LIMBS)], np.float64)


def from_limbs(sums: np.ndarray) -> tuple[int, int]:
    """The two 64-bit sums from the added limbs."""
    one, two = (sum(int(limb) << (16 * i) for i, limb in enumerate(half)) % 2**64 for half in np.split(sums, 2))
    return one, two


class ArrayDigest:
    """BLAKE2b of all bytes of several arrays and CSR matrices, in turn."""

    def __init__(self) -> None:
        self._hash = hashlib.blake2b(digest_size=16)

    def add(self, data: Array) -> ArrayDigest:
        for array in (data.data, data.indices, data.indptr) if is_sparse(data) else (to_numpy(data),):
            self._hash.update(np.ascontiguousarray(array).data)
        return self

    def generator(self, seed: int, purpose: str) -> np.random.Generator:
        """Random numbers for one purpose."""
        return _seeded(seed, *np.frombuffer(self._hash.digest(), np.uint32).tolist(), *purpose.encode())


def array_generator(seed: int, data: Array, purpose: str) -> np.random.Generator:
    """A generator seeded by the seed and every byte of an array or CSR matrix."""
    return ArrayDigest().add(data).generator(seed, f"{purpose} {tuple(data.shape)}")


def _seeded(*words: int) -> np.random.Generator:
    return np.random.Generator(np.random.Philox(np.random.SeedSequence(words)))
