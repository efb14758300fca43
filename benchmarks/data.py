"""Matrices with realistic spectra, the same on every machine. `shrink` divides the rows and the larger widths."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

Matrix = Any
Maker = Callable[[int], Matrix]

BLOCK = 10_000


def decaying(
    rows: int, columns: int, dtype: str, *, rank: int = 100, power: float = 0.7, noise: float = 0.1, offset: float = 0.0
) -> Maker:
    """Signal of the given rank with singular values ~ i^-power, white noise, and one offset for all columns."""

    def make(shrink: int) -> Matrix:
        rng = np.random.default_rng(1936)
        height, width = max(rows // shrink, 60), columns if columns < 1000 else columns // shrink
        signal = min(rank, height // 2, width // 2)
        loadings = rng.standard_normal((signal, width), dtype=np.float32) * np.arange(1, signal + 1)[:, None] ** -power
        data = np.empty((height, width), dtype)
        for start in range(0, height, BLOCK):
            stop = min(start + BLOCK, height)
            scores = rng.standard_normal((stop - start, signal), dtype=np.float32)
            data[start:stop] = scores @ loadings + noise * rng.standard_normal((stop - start, width), dtype=np.float32)
            data[start:stop] += offset
        return data

    return make


def text(
    rows: int, columns: int, tokens: float, *, topics: int = 100, slope: float = 1.05, weighted: bool = True
) -> Maker:
    """Documents x terms, float32: Zipf frequencies, half of the words from the document's topic.

    Weighted: (1 + log count) x inverse document frequency, rows of unit length. Otherwise plain counts.
    """

    def make(shrink: int) -> sp.csr_array:
        rng = np.random.default_rng(1936)
        height, width = rows // shrink, columns // shrink
        lengths = np.maximum(rng.lognormal(np.log(tokens) - 0.18, 0.6, height), 3).astype(np.int64)
        document = np.repeat(np.arange(height), lengths)
        common = zipf(rng, len(document), width, slope)
        topic = rng.integers(topics, size=height)[document]
        special = (zipf(rng, len(document), min(width, 400), slope) * 7919 + topic * 104_729) % width
        term = np.where(rng.random(len(document)) < 0.5, common, special)
        counts = sp.coo_array((np.ones(len(term), np.float32), (document, term)), (height, width)).tocsr()
        counts.sum_duplicates()
        counts.indptr, counts.indices = counts.indptr.astype(np.int32), counts.indices.astype(np.int32)
        return tfidf(counts) if weighted else counts

    return make


def zipf(rng: np.random.Generator, size: int, width: int, slope: float) -> np.ndarray:
    """Ranks 0 .. width - 1 with probability ~ (rank + 3)^-slope."""
    cumulative = np.cumsum((np.arange(width) + 3.0) ** -slope)
    return np.searchsorted(cumulative, rng.random(size) * cumulative[-1])


def tfidf(counts: sp.csr_array) -> sp.csr_array:
    seen = np.maximum(np.bincount(counts.indices, minlength=counts.shape[1]), 1)
    counts.data = (1 + np.log(counts.data)) * np.log(counts.shape[0] / seen)[counts.indices]
    length = np.sqrt(counts.multiply(counts).sum(axis=1))
    counts.data /= np.repeat(np.where(length > 0, length, 1.0), np.diff(counts.indptr))
    return counts.astype(np.float32)


def iris(*, offset: float = 0.0, factor: float = 1.0) -> Maker:
    def make(_: int) -> Matrix:
        from sklearn.datasets import load_iris

        return (load_iris().data + offset) * factor

    return make


def clock(_: int) -> Matrix:
    """60 x 3: one measurement per second stamped in UNIX time, and two ordinary columns."""
    rng = np.random.default_rng(1936)
    return np.column_stack([1.7e9 + np.arange(60.0), rng.standard_normal((60, 2))])
