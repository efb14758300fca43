"""Tuning families: constants of the library may be chosen with these data in view. `families_test` has the others.

Each function makes one kind of data: (rows, columns, generator) -> float64 array or CSR array.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

SEED = 1936


def decaying(rows: int, columns: int, rng: np.random.Generator) -> np.ndarray:
    """40 directions of falling length, and white noise."""
    count = min(40, columns // 2 + 1)
    loadings = rng.standard_normal((count, columns)) * np.arange(1, count + 1)[:, None] ** -0.7
    return rng.standard_normal((rows, count)) @ loadings + 0.1 * rng.standard_normal((rows, columns))


def flat(rows: int, columns: int, rng: np.random.Generator) -> np.ndarray:
    """White noise."""
    return rng.standard_normal((rows, columns))


def offset(rows: int, columns: int, rng: np.random.Generator) -> np.ndarray:
    """The decaying kind with means of a thousand times the noise."""
    return decaying(rows, columns, rng) + 100.0 * rng.standard_normal(columns)


def text(rows: int, columns: int, rng: np.random.Generator) -> Any:
    """Documents x terms with Zipf frequencies, half of the words from one topic, rows of unit length."""
    lengths = np.maximum(rng.lognormal(np.log(50.0) - 0.18, 0.6, rows), 3).astype(np.int64)
    document = np.repeat(np.arange(rows), lengths)
    frequent = zipf(rng, len(document), columns, 1.05)
    topic = rng.integers(100, size=rows)[document]
    special = (zipf(rng, len(document), min(columns, 400), 1.05) * 7919 + topic * 104_729) % columns
    term = np.where(rng.random(len(document)) < 0.5, frequent, special)
    return unit_rows(counted(document, term, (rows, columns)))


def uniform(rows: int, columns: int, rng: np.random.Generator) -> Any:
    """Entries anywhere, 1 % of all."""
    return sp.random_array((rows, columns), density=0.01, format="csr", rng=rng)


def blocks(rows: int, columns: int, rng: np.random.Generator) -> Any:
    """Ten blocks on the diagonal, 4 % full."""
    place = rng.integers(10, size=(rows, 1))
    taken = (place * (columns // 10) + rng.integers(columns // 10, size=(rows, max(columns // 250, 4)))).ravel()
    return counted(np.repeat(np.arange(rows), max(columns // 250, 4)), taken, (rows, columns))


def parts(rows: int, columns: int, rng: np.random.Generator) -> np.ndarray:
    """Non-negative of rank 10, and noise."""
    low = rng.gamma(0.5, 1.0, (rows, 10)) @ rng.gamma(0.5, 1.0, (10, columns))
    return np.maximum(low + 0.05 * low.std() * rng.standard_normal(low.shape), 0.0)


def positive(rows: int, columns: int, rng: np.random.Generator) -> np.ndarray:
    """Moduli of noise: nothing to find."""
    return np.abs(rng.standard_normal((rows, columns)))


def counts(rows: int, columns: int, rng: np.random.Generator) -> Any:
    """Sparse counts of a mixture of 10 topics."""
    rate = rng.dirichlet(np.full(10, 0.1), rows) @ rng.dirichlet(np.full(columns, 0.05), 10)
    return sp.csr_array(rng.poisson(40.0 * rate).astype(np.float64))


def curved(rows: int, columns: int, rng: np.random.Generator) -> np.ndarray:
    """A surface that is rolled up, turned in `columns` dimensions, with a little noise."""
    angle, height = 1.5 * np.pi * (1 + 2 * rng.random(rows)), 20.0 * rng.random(rows)
    sheet = np.column_stack([angle * np.cos(angle), height, angle * np.sin(angle)])
    turn = np.linalg.qr(rng.standard_normal((max(columns, 3), 3)))[0]
    return np.asarray(sheet @ turn.T)[:, :columns] + 0.05 * rng.standard_normal((rows, columns))


def zipf(rng: np.random.Generator, size: int, width: int, slope: float) -> np.ndarray:
    """Ranks 0 ... width - 1 with probability ~ (rank + 3)^-slope."""
    cumulative = np.cumsum((np.arange(width) + 3.0) ** -slope)
    return np.searchsorted(cumulative, rng.random(size) * cumulative[-1])


def counted(rows: np.ndarray, columns: np.ndarray, shape: tuple[int, int]) -> Any:
    """How often each pair occurs, as CSR with indices of 4 bytes."""
    table = sp.coo_array((np.ones(len(rows)), (rows, columns)), shape).tocsr()
    table.sum_duplicates()
    table.indptr, table.indices = table.indptr.astype(np.int32), table.indices.astype(np.int32)
    return table


def unit_rows(table: Any) -> Any:
    """(1 + log count) x inverse document frequency, rows of length 1."""
    seen = np.maximum(np.bincount(table.indices, minlength=table.shape[1]), 1)
    table.data = (1 + np.log(table.data)) * np.log1p(table.shape[0] / seen)[table.indices]
    length = np.sqrt(table.multiply(table).sum(axis=1))
    table.data /= np.repeat(np.where(length > 0, length, 1.0), np.diff(table.indptr))
    return table
