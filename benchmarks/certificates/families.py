"""Families of tables that make bounds hard to get right, each a function (rng, rows, columns, dtype) -> array.

A family must fill whatever shape it is given. Entries are rounded to the dtype before the truth is computed, so the
truth is that of the rounded table.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

Family = Callable[[np.random.Generator, int, int, np.dtype], np.ndarray]

FAMILIES: dict[str, Family] = {}
NAMED: dict[str, Family] = {}
"""Tables of named cases; a sweep does not draw them."""
SPARSE = {"empty rows and columns", "bernoulli", "counts", "indicator", "zero-padded", "low rank counts"}
"""Families with many zeros: stored as CSR more often."""
EXTREME = {"huge scale", "tiny scale", "subnormal", "mixed column scales"}
"""Families near the limits of the exponent range: PCA and SVD only."""


def family(make: Family) -> Family:
    FAMILIES[make.__name__.strip("_").replace("_", " ").replace("zero padded", "zero-padded")] = make
    return make


def of_spectrum(rng: np.random.Generator, rows: int, columns: int, values: np.ndarray) -> np.ndarray:
    """U diag(values) V^T with random orthonormal U and V."""
    size = min(rows, columns)
    left, right = (np.linalg.qr(rng.standard_normal((side, size)))[0] for side in (rows, columns))
    return np.asarray((left * values[:size]) @ right.T)


def _steps(rows: int, columns: int) -> np.ndarray:
    return np.arange(1, min(rows, columns) + 1, dtype=float)


@family
def flat(rng: np.random.Generator, rows: int, columns: int, dtype: np.dtype) -> np.ndarray:
    """All singular values equal, up to 1e-3, 1e-9 or rounding."""
    jitter = rng.choice([0.0, 1e-9, 1e-3]) * rng.random(min(rows, columns))
    return of_spectrum(rng, rows, columns, np.sort(1.0 + jitter)[::-1])


@family
def noise(rng: np.random.Generator, rows: int, columns: int, dtype: np.dtype) -> np.ndarray:
    return rng.standard_normal((rows, columns))


@family
def power_law(rng: np.random.Generator, rows: int, columns: int, dtype: np.dtype) -> np.ndarray:
    return of_spectrum(rng, rows, columns, _steps(rows, columns) ** -rng.uniform(0.2, 2.5))


@family
def geometric(rng: np.random.Generator, rows: int, columns: int, dtype: np.dtype) -> np.ndarray:
    return of_spectrum(rng, rows, columns, rng.uniform(0.3, 0.97) ** _steps(rows, columns))


@family
def spiked(rng: np.random.Generator, rows: int, columns: int, dtype: np.dtype) -> np.ndarray:
    i = _steps(rows, columns)
    tail = 10.0 ** rng.uniform(-8, -0.3)
    return of_spectrum(rng, rows, columns, np.where(i <= rng.integers(1, 9), 1.0 + 0.1 * rng.random(len(i)), tail / i))


@family
def clustered_at_the_cut(rng: np.random.Generator, rows: int, columns: int, dtype: np.dtype) -> np.ndarray:
    """Clusters of four to eight nearly equal values: most cuts go through one."""
    i = _steps(rows, columns)
    levels = 0.5 ** np.floor((i - 1) / rng.integers(4, 9))
    return of_spectrum(rng, rows, columns, levels * (1.0 + 10.0 ** -rng.uniform(3, 14) * rng.random(len(i))))


@family
def gap(rng: np.random.Generator, rows: int, columns: int, dtype: np.dtype) -> np.ndarray:
    """s_j / s_j+1 = 1 + 10^-g at every cut j."""
    g = rng.uniform(1, 15)
    return of_spectrum(rng, rows, columns, (1.0 + 10.0**-g) ** -_steps(rows, columns))


@family
def graded(rng: np.random.Generator, rows: int, columns: int, dtype: np.dtype) -> np.ndarray:
    """Rows, columns or both shrink by powers of ten, to 1e-16 of the largest."""
    table = rng.standard_normal((rows, columns))
    steps = 10.0 ** -rng.uniform(2, 16)
    if rng.random() < 0.7:
        table = table * steps ** np.linspace(0, 1, columns)
    if rng.random() < 0.5:
        table = table * (steps ** np.linspace(0, 1, rows))[:, None]
    return table[:, ::-1] if rng.random() < 0.5 else table


@family
def graded_spectrum(rng: np.random.Generator, rows: int, columns: int, dtype: np.dtype) -> np.ndarray:
    return of_spectrum(rng, rows, columns, 10.0 ** -np.linspace(0, rng.uniform(3, 18), min(rows, columns)))


@family
def low_rank(rng: np.random.Generator, rows: int, columns: int, dtype: np.dtype) -> np.ndarray:
    rank = int(rng.integers(1, max(2, min(rows, columns))))
    return rng.standard_normal((rows, rank)) @ rng.standard_normal((rank, columns))


@family
def low_rank_counts(rng: np.random.Generator, rows: int, columns: int, dtype: np.dtype) -> np.ndarray:
    """Products of small integers: exactly of low rank, in every precision."""
    rank = int(rng.integers(1, 5))
    return (rng.integers(0, 3, (rows, rank)) @ rng.integers(0, 4, (rank, columns))).astype(float)


@family
def duplicate_rows(rng: np.random.Generator, rows: int, columns: int, dtype: np.dtype) -> np.ndarray:
    few = rng.standard_normal((int(rng.integers(1, max(2, rows // 3))), columns)) + rng.choice([0.0, 100.0])
    return few[rng.integers(len(few), size=rows)]


@family
def duplicate_columns(rng: np.random.Generator, rows: int, columns: int, dtype: np.dtype) -> np.ndarray:
    few = rng.standard_normal((rows, int(rng.integers(1, max(2, columns // 3))))) + rng.choice([0.0, 100.0])
    return few[:, rng.integers(few.shape[1], size=columns)]


@family
def huge_row(rng: np.random.Generator, rows: int, columns: int, dtype: np.dtype) -> np.ndarray:
    table = rng.standard_normal((rows, columns))
    table[rng.integers(rows)] *= 10.0 ** rng.uniform(2, 12)
    return table


@family
def huge_column(rng: np.random.Generator, rows: int, columns: int, dtype: np.dtype) -> np.ndarray:
    table = rng.standard_normal((rows, columns))
    table[:, rng.integers(columns)] *= 10.0 ** rng.uniform(2, 12)
    return table


@family
def cauchy(rng: np.random.Generator, rows: int, columns: int, dtype: np.dtype) -> np.ndarray:
    return rng.standard_cauchy((rows, columns))


@family
def huge_offset(rng: np.random.Generator, rows: int, columns: int, dtype: np.dtype) -> np.ndarray:
    """One large number added to everything: centring cancels most digits."""
    most = 6 if dtype == np.float32 else 14
    return 10.0 ** rng.uniform(2, most) + rng.standard_normal((rows, columns))


@family
def mixed_offsets(rng: np.random.Generator, rows: int, columns: int, dtype: np.dtype) -> np.ndarray:
    """Some columns with an offset, some without: the sum over columns hides the few that cancel."""
    most = 6 if dtype == np.float32 else 13
    offsets = np.where(rng.random(columns) < 0.3, 10.0 ** rng.uniform(0, most, columns), 0.0)
    return offsets * rng.choice([-1.0, 1.0], columns) + rng.standard_normal((rows, columns))


@family
def nearly_constant_columns(rng: np.random.Generator, rows: int, columns: int, dtype: np.dtype) -> np.ndarray:
    """A large constant plus 0 or 1 in the last place: a relative threshold takes it for constant."""
    base = 10.0 ** rng.uniform(5, 7) if dtype == np.float32 else 10.0 ** rng.uniform(10, 15.5)
    table = np.where(rng.random((rows, columns)) < 0.5, 0.0, np.spacing(np.asarray(base, dtype)).astype(float))
    return np.where(rng.random(columns) < rng.choice([0.2, 1.0]), np.asarray(base, dtype).astype(float) + table, table)


@family
def few_valued(rng: np.random.Generator, rows: int, columns: int, dtype: np.dtype) -> np.ndarray:
    """Two to five different numbers in the whole table."""
    return rng.choice(rng.uniform(0.05, 1.0, int(rng.integers(2, 6))), (rows, columns))


@family
def constant(rng: np.random.Generator, rows: int, columns: int, dtype: np.dtype) -> np.ndarray:
    """One number everywhere, or one per column."""
    return np.broadcast_to(rng.uniform(0.05, 1.0, columns if rng.random() < 0.5 else 1), (rows, columns)).copy()


@family
def two_valued_columns(rng: np.random.Generator, rows: int, columns: int, dtype: np.dtype) -> np.ndarray:
    low, high = rng.uniform(0.01, 1.0, (2, columns))
    return np.where(rng.random((rows, columns)) < rng.random(columns), low, high)


@family
def bernoulli(rng: np.random.Generator, rows: int, columns: int, dtype: np.dtype) -> np.ndarray:
    return (rng.random((rows, columns)) < rng.choice([0.02, 0.1, 0.5, 0.9])).astype(float)


@family
def signs(rng: np.random.Generator, rows: int, columns: int, dtype: np.dtype) -> np.ndarray:
    return rng.choice([-1.0, 1.0], (rows, columns))


@family
def counts(rng: np.random.Generator, rows: int, columns: int, dtype: np.dtype) -> np.ndarray:
    return rng.poisson(rng.gamma(0.3, 2.0, columns), (rows, columns)).astype(float)


@family
def indicator(rng: np.random.Generator, rows: int, columns: int, dtype: np.dtype) -> np.ndarray:
    """One 1 in each row: all columns orthogonal, singular values the roots of integers, many of them equal."""
    return np.eye(columns)[rng.integers(columns, size=rows)]


@family
def ties(rng: np.random.Generator, rows: int, columns: int, dtype: np.dtype) -> np.ndarray:
    """Exactly equal singular values: a permuted diagonal of few different numbers."""
    size = min(rows, columns)
    table = np.zeros((rows, columns))
    levels = np.array([3.0, 2.0, 2.0, 1.0, 0.5, 0.0])
    table[rng.permutation(rows)[:size], rng.permutation(columns)[:size]] = rng.choice(levels, size)
    return table


@family
def large_integers(rng: np.random.Generator, rows: int, columns: int, dtype: np.dtype) -> np.ndarray:
    """Integers that just fit the significand: every product rounds."""
    most = 2**24 if dtype == np.float32 else 2**53
    return rng.integers(-most + 1, most, (rows, columns)).astype(float)


@family
def huge_scale(rng: np.random.Generator, rows: int, columns: int, dtype: np.dtype) -> np.ndarray:
    return power_law(rng, rows, columns, dtype) * (1e30 if dtype == np.float32 else 1e200)


@family
def tiny_scale(rng: np.random.Generator, rows: int, columns: int, dtype: np.dtype) -> np.ndarray:
    return power_law(rng, rows, columns, dtype) * (1e-30 if dtype == np.float32 else 1e-200)


@family
def subnormal(rng: np.random.Generator, rows: int, columns: int, dtype: np.dtype) -> np.ndarray:
    """Entries below the smallest normal number, with a few digits left."""
    tiny = float(np.finfo(dtype).tiny)
    return rng.standard_normal((rows, columns)) * tiny * 2.0 ** -rng.integers(0, 12)


@family
def mixed_column_scales(rng: np.random.Generator, rows: int, columns: int, dtype: np.dtype) -> np.ndarray:
    most = 15 if dtype == np.float32 else 140
    return rng.standard_normal((rows, columns)) * 10.0 ** rng.uniform(-most, most, columns)


@family
def empty_rows_and_columns(rng: np.random.Generator, rows: int, columns: int, dtype: np.dtype) -> np.ndarray:
    table = rng.standard_normal((rows, columns)) * (rng.random((rows, columns)) < rng.choice([0.05, 0.2]))
    table[rng.random(rows) < 0.3] = 0.0
    table[:, rng.random(columns) < 0.3] = 0.0
    return table


@family
def zero_padded(rng: np.random.Generator, rows: int, columns: int, dtype: np.dtype) -> np.ndarray:
    """Zero rows at both ends: rounding estimated from the first and last rows sees nothing."""
    table = few_valued(rng, rows, columns, dtype) if rng.random() < 0.5 else rng.standard_normal((rows, columns))
    edge = rows // 4
    table[:edge] = 0.0
    table[rows - edge :] = 0.0
    return table


@family
def cancelling(rng: np.random.Generator, rows: int, columns: int, dtype: np.dtype) -> np.ndarray:
    """Pairs of rows that nearly cancel in every product with a vector of constant sign."""
    half = rng.standard_normal((-(-rows // 2), columns)) * 10.0 ** rng.uniform(0, 4)
    table = np.empty((2 * len(half), columns))
    table[::2], table[1::2] = half, -half + 10.0 ** -rng.uniform(1, 6) * rng.standard_normal(half.shape)
    return table[:rows]


@family
def hilbert(rng: np.random.Generator, rows: int, columns: int, dtype: np.dtype) -> np.ndarray:
    return 1.0 / (np.arange(rows)[:, None] + np.arange(columns) + rng.uniform(0.5, 2.0))


@family
def vandermonde(rng: np.random.Generator, rows: int, columns: int, dtype: np.dtype) -> np.ndarray:
    return np.vander(rng.uniform(-1, 1, rows), columns, increasing=True)


@family
def nearly_dependent(rng: np.random.Generator, rows: int, columns: int, dtype: np.dtype) -> np.ndarray:
    """Each column the one before plus a little: the smallest singular values are rounding."""
    first = rng.standard_normal((rows, 1))
    return first + np.cumsum(10.0 ** -rng.uniform(1, 12) * rng.standard_normal((rows, columns)), axis=1)
