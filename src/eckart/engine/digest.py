"""A digest of every number of a matrix, from which the seeds of random probes are derived.

    digest(matrix) -> int                  128 bits, for RowBlocks and StackedBlocks
    generator(seed, matrix, purpose)       a random generator seeded by (seed, shape, digest, purpose)
    limbs(block, start), from_limbs(sums)  the contribution of some rows, as float64 numbers that add up exactly

A bound that holds with probability 1 - p over random probes means nothing to whoever can choose the matrix after the
probes. Probes seeded by all numbers of the matrix cannot be known before the matrix is complete.

For a 64-bit word w in row i and word column j (a float64 entry, a pair of float32 entries in neighbouring columns, or
one stored entry of a sparse matrix), with pseudo-random column keys c_j and odd constants r, a, b,

    v = ((w xor c_j) + r i),   x = a (v xor v >> 32),   y = b (x xor x >> 29),   digest = (sum x, sum y xor y >> 32),

both sums modulo 2^64. Sums do not depend on the order of rows, blocks or threads: every storage, block size, worker
count and device gives the same number. The digest is not cryptographic. Finding another matrix with the same digest
takes far more work than the 1/p trials after which some matrix fails by chance anyway.
"""

from __future__ import annotations

import itertools
import sys
from typing import Any

import numpy as np

from eckart.arrays import is_numpy, is_sparse, to_numpy
from eckart.engine.backends import digest as arrays
from eckart.engine.parallel import fold

_LIMBS = 4
"""16-bit pieces of a 64-bit sum: as float64 numbers they add up exactly over 2^37 blocks."""
_COMPILE_FROM = 2**23
"""Bytes from which on importing Numba (half a second, once) pays."""
_ROW_CHUNKS = 16
_WEIGHTS_SALT = 1


def digest(matrix: Any) -> int:
    """The digest of RowBlocks or StackedBlocks, row weights included; streamed rows that were read are not reread."""
    total = matrix.raw_digest() if hasattr(matrix, "raw_digest") else _of(matrix.matrix, 0, matrix.workers)
    roots = matrix.weight_roots
    if roots is not None:
        weights = arrays.dense_sums(np.asarray(to_numpy(roots), np.float64)[:, None], 0, _WEIGHTS_SALT)
        total = _plus(total, weights)
    return total[0] | total[1] << 64


def generator(seed: int | None, matrix: Any, purpose: str) -> np.random.Generator:
    """Random numbers for one purpose: a function of the seed, the shape and every number of the matrix."""
    words = [0 if seed is None else seed, *matrix.shape, digest(matrix), *purpose.encode()]
    return np.random.Generator(np.random.Philox(np.random.SeedSequence(words)))


def limbs(block: Any, start: int) -> np.ndarray:
    """Contribution of a block that begins with row `start`; add such arrays, in any order."""
    sums = _of(block, start, None)
    return np.array([sum_ >> (16 * i) & 0xFFFF for sum_ in sums for i in range(_LIMBS)], np.float64)


def from_limbs(sums: np.ndarray) -> tuple[int, int]:
    """The two 64-bit sums, from added limbs."""
    one, two = (sum(int(limb) << (16 * i) for i, limb in enumerate(half)) % 2**64 for half in np.split(sums, 2))
    return one, two


def _of(data: Any, first: int, workers: int | None) -> tuple[int, int]:
    """Both sums over an array, a CSR matrix, or CSR rows on a device."""
    if hasattr(data, "row_of_entry"):
        return arrays.stored_sums(data.data, data.indices, data.row_of_entry(), data.shape[1], first)
    if is_sparse(data):
        return _of_csr(data, first, workers)
    if not is_numpy(data):
        data = data if hasattr(data, "view") else to_numpy(data)
        if not is_numpy(data):
            return arrays.dense_sums(data, first)
    data = _as_float(data)
    if data.nbytes < _COMPILE_FROM and "numba" not in sys.modules:
        return arrays.dense_sums(data, first)
    return _of_dense(data, first, workers)


def _as_float(data: np.ndarray) -> np.ndarray:
    """float32 and float64 as they are; every other dtype as the products see it."""
    return data if data.dtype in (np.float32, np.float64) else data.astype(np.float64)


def _of_dense(data: np.ndarray, first: int, workers: int | None) -> tuple[int, int]:
    from eckart.engine.compiled import digest as compiled

    rows, columns = data.shape
    single = data.dtype == np.float32
    keys = arrays.column_keys((columns + 1) // 2 if single else columns)
    bits = np.uint32 if single and (columns % 2 or not data.flags.c_contiguous) else np.uint64
    by_columns = data.flags.f_contiguous and not data.flags.c_contiguous
    kernels = {
        (np.uint64, False): compiled.rows_of_words,
        (np.uint64, True): compiled.columns_of_words,
        (np.uint32, False): compiled.rows_of_halves,
        (np.uint32, True): compiled.columns_of_halves,
    }
    kernel = kernels[bits, by_columns]

    def step(piece: tuple[int, int]) -> tuple[int, int]:
        start, stop = piece
        if data.flags.forc:
            one, two = kernel((data.T if by_columns else data).view(bits), keys, start, stop, first)
        else:
            part = np.ascontiguousarray(data[start:stop]).view(bits)
            one, two = kernel(part, keys, 0, stop - start, first + start)
        return int(one), int(two)

    # Copies of rows that are not contiguous stay small.
    return fold(step, _pieces(rows, max(_ROW_CHUNKS, data.nbytes >> 22)), _plus, workers=workers)


def _of_csr(data: Any, first: int, workers: int | None) -> tuple[int, int]:
    values = _as_float(data.data)
    if values.nbytes < _COMPILE_FROM and "numba" not in sys.modules:
        owner = np.repeat(np.arange(data.shape[0]), np.diff(data.indptr))
        return arrays.stored_sums(values, data.indices, owner, data.shape[1], first)
    from eckart.engine.compiled import digest as compiled

    words = values.view(np.uint64 if values.dtype == np.float64 else np.uint32)
    keys = arrays.column_keys(data.shape[1])

    def step(piece: tuple[int, int]) -> tuple[int, int]:
        one, two = compiled.stored(words, data.indices, data.indptr, keys, *piece, first)
        return int(one), int(two)

    return fold(step, _pieces(data.shape[0], _ROW_CHUNKS), _plus, workers=workers)


def _pieces(rows: int, count: int) -> list[tuple[int, int]]:
    edges = np.unique(np.linspace(0, rows, min(count, max(rows, 1)) + 1).astype(int)).tolist()
    return list(itertools.pairwise(edges))


def _plus(first: tuple[int, int], second: tuple[int, int]) -> tuple[int, int]:
    return (first[0] + second[0]) % 2**64, (first[1] + second[1]) % 2**64
