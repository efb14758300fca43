"""Scores of NumPy and CSR rows, and rows from scores, as one product with an offset computed once per model.

    scores = A V - mean^T V,    rows = scores V^T + mean.

A V exceeds the scores by at most a factor of max_i |mean|^T |v_i| / deviation_i, and loses as many digits. Beyond
`_AMPLIFIED` the rows are centred first.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any

import numpy as np

from eckart.arrays import Array, Matrix, is_sparse
from eckart.engine.backends.csr_scipy import COMPILE_FROM
from eckart.engine.backends.host_csr import matmat
from eckart.engine.blocks.csr_check import check_sparse
from eckart.engine.parallel import fold
from eckart.engine.rows import RowBlocks
from eckart.engine.standardize.rounding import euclidean
from eckart.engine.threads import one_blas_thread
from eckart.mapped import sparse_in_memory, view_copier
from eckart.result import Decomposition

_AMPLIFIED = {"f": 30.0, "d": 1e4}
_UNTHREADED = 2**18
"""Up to this many multiplications, BLAS does not use several threads."""
_SERIAL = 2**22
"""Up to this many multiplications, threads cost more than they save."""
_SEGMENTS = (4, 8)
"""Number of segments for threads: the first number, up to the second if each has at least `_ROWS` rows."""
_ROWS = 1024
_BLOCK_ENTRIES, _BLOCK_ROWS, _CENTRED_ROWS = 2**17, 2048, 256
"""Entries per block, but at least this many rows, because BLAS packs the factor again for every block; fewer if the
block is a copy.
"""
_SAFE = {"f": (1e-30, 1e38), "d": (1e-280, 1e300)}
"""Magnitudes of scores that neither overflowed nor were rounded to subnormal numbers."""


@dataclass(frozen=True)
class Projector:
    """V in the dtype of the data (scaled and whitened), and the offset to subtract from the product or the rows."""

    factor: np.ndarray
    offset: np.ndarray | None
    mean: np.ndarray | None


def _are_floats(data: np.ndarray) -> bool:
    return data.ndim == 2 and data.dtype.char in "fd" and data.dtype.isnative


def _fits(d: Decomposition, shape: tuple[int, int]) -> bool:
    return shape[0] > 0 and shape[1] == d.columns and isinstance(d.right, np.ndarray) and bool(d.k)


def plain_scores(d: Decomposition, data: Matrix, whitening: Array | None) -> np.ndarray | None:
    """(A - mean) / scale V for a NumPy or CSR array of floats; None if the general method must decide.

    `whitening` is the divisor of the scores, or None. Missing and infinite entries propagate to the scores of their
    row.
    """
    sparse = is_sparse(data) and data.format == "csr"
    data = data.view(np.ndarray) if type(data) is np.memmap else data
    if not (sparse or type(data) is np.ndarray) or not _are_floats(data) or not _fits(d, data.shape):
        return None
    data = sparse_in_memory(data) if sparse else data
    with np.errstate(over="ignore", invalid="ignore", under="ignore"):
        projector = _projector(d, data.dtype, whitening)
        if not sparse:
            scores, largest = _product(data, projector.factor, projector.mean, projector.offset)
        elif projector.mean is None:
            scores = _sparse_product(data, projector.factor)
            largest = _finished(scores, projector.offset)
        else:
            return None
    low, high = _SAFE[data.dtype.char]
    return scores if low < largest < high else None


def _sparse_product(data: Matrix, factor: np.ndarray) -> np.ndarray:
    """A F: by SciPy for few rows, by compiled loops on several threads for many."""
    check_sparse(data)
    if data.nnz < COMPILE_FROM:
        return np.asarray(data @ factor)
    return matmat(RowBlocks(data, str(data.dtype)), factor)


def plain_rows(d: Decomposition, scores: object, whitening: Array | None) -> np.ndarray | None:
    """(scores V^T) scale + mean for a NumPy array of floats; None if the general method must decide.

    `whitening` is what the scores were divided by, or None.
    """
    if type(scores) is not np.ndarray or not _are_floats(scores) or scores.shape[1] != d.k or not scores.shape[0]:
        return None
    if not isinstance(d.right, np.ndarray):
        return None
    dtype = np.result_type(scores, d.right)
    offset = None if d.mean is None else -np.asarray(d.mean, dtype)
    scores, back = scores.astype(dtype, copy=False), _in_units(d, whitening).astype(dtype, copy=False).T
    return _product(scores, back, None, offset, measure=False)[0]


def _in_units(d: Decomposition, whitening: Array | None) -> np.ndarray:
    """diag(scale) V diag(whitening), in float64 unless it is V itself."""
    if whitening is None and d.scale is None:
        return np.asarray(d.right)
    factor = np.asarray(d.right, np.float64)
    factor = factor if whitening is None else factor * np.asarray(whitening, np.float64)
    return factor if d.scale is None else factor * np.asarray(d.scale, np.float64)[:, None]


def _product(
    data: np.ndarray, factor: np.ndarray, mean: np.ndarray | None, offset: np.ndarray | None, *, measure: bool = True
) -> tuple[np.ndarray, float]:
    """(A - 1 mean^T) F - 1 offset^T and, with `measure`, its largest modulus.

    The same bits for any number of threads: rows are shared by the shape alone. Blocks are finished in cache. Those of
    a mapped file are copied into memory in their layout, so that the bits are those of data in memory.
    """
    rows, columns = data.shape
    work = rows * columns * factor.shape[1]
    copied = view_copier(data)
    if work <= _UNTHREADED:
        data = data if copied is None else copied(data)
        result = np.asarray((data if mean is None else data - mean) @ factor)
        return result, _finished(result, offset, measure=measure)
    result = np.empty((rows, factor.shape[1]), factor.dtype)
    size = max(_BLOCK_ENTRIES // max(columns, factor.shape[1]), _BLOCK_ROWS if mean is None else _CENTRED_ROWS)
    least, most = _SEGMENTS
    count = 1 if work <= _SERIAL else min(max(least, rows // _ROWS), most, rows)
    edges = [rows * place // count for place in range(count + 1)]

    def step(segment: tuple[int, int]) -> float:
        largest = 0.0
        for start in range(*segment, size):
            stop = min(start + size, segment[1])
            block = data[start:stop] if copied is None else copied(data[start:stop])
            block = block if mean is None else block - mean
            np.matmul(block, factor, out=result[start:stop])
            largest = _larger(largest, _finished(result[start:stop], offset, measure=measure))
        return largest

    with one_blas_thread():
        return result, fold(step, list(itertools.pairwise(edges)), _larger)


def _finished(block: np.ndarray, offset: np.ndarray | None, *, measure: bool = True) -> float:
    """Subtract the offset in place and return the largest remaining modulus, or NaN if an entry is NaN."""
    if offset is not None:
        block -= offset
    return _larger(float(block.max()), -float(block.min())) if measure else 0.0


def _larger(first: float, second: float) -> float:
    """The larger one; NaN if one is NaN."""
    return first if first >= second or first != first else second


def _projector(d: Decomposition, dtype: np.dtype, whitening: object) -> Projector:
    """The factor of `plain_scores`, cached with the model and not written to files or pickles."""
    kept: dict[Any, Projector] = d.__dict__.setdefault("_projectors", {})
    key = (dtype.char, whitening is None)
    if key not in kept:
        kept[key] = _make(d, dtype, whitening)
    return kept[key]


def _make(d: Decomposition, dtype: np.dtype, whitening: object) -> Projector:
    right = np.asarray(d.right, np.float64)
    if d.scale is not None:
        right = right / np.asarray(d.scale, np.float64)[:, None]
    if whitening is not None:
        right = right / np.asarray(whitening, np.float64)
    factor = np.ascontiguousarray(right, dtype)
    if d.mean is None:
        return Projector(factor, None, None)
    mean = np.asarray(d.mean, np.float64)
    deviation = np.asarray(d.values, np.float64) / max(d.weight - 1.0, 1.0) ** 0.5
    if whitening is not None:
        deviation = deviation / np.asarray(whitening, np.float64)
    if _amplified(mean, right, deviation, _AMPLIFIED[dtype.char]):
        return Projector(factor, None, mean.astype(dtype))
    # The offset belongs to the factor in use, so that rows at the mean have scores of zero.
    return Projector(factor, (mean @ factor.astype(np.float64, copy=False)).astype(dtype, copy=False), None)


def _amplified(mean: np.ndarray, right: np.ndarray, deviation: np.ndarray, most: float) -> bool:
    """Whether |mean|^T |v_i| exceeds this many deviations on some component that varies."""
    if euclidean(mean) * float(np.abs(right).max(initial=0.0)) * len(mean) ** 0.5 <= most * float(deviation.min()):
        return False  # no column can exceed it: |mean|^T |v| <= ||mean|| ||v||
    varying = deviation > 1e-6 * deviation.max(initial=0.0)
    return bool(np.any(np.abs(mean) @ np.abs(right[:, varying]) > most * deviation[varying]))
