"""Test families: the kinds of `families_tuning` made in other ways. No constant may be chosen with these in view."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from benchmarks.families_tuning import counted, unit_rows, zipf

SEED = 7


def decaying(rows: int, columns: int, rng: np.random.Generator) -> np.ndarray:
    """A mixture of groups with smooth profiles, each row with an amplitude of its own, and noise that differs."""
    groups = min(12, columns)
    profiles = np.cumsum(rng.standard_normal((groups, columns)), axis=1) / columns**0.5
    rows_of = profiles[rng.integers(groups, size=rows)] * rng.lognormal(0.0, 0.5, (rows, 1))
    return rows_of + rng.uniform(0.05, 0.3, columns) * rng.standard_normal((rows, columns))


def flat(rows: int, columns: int, rng: np.random.Generator) -> np.ndarray:
    """Heavy-tailed columns without a common direction."""
    return rng.standard_t(8, (rows, columns))


def offset(rows: int, columns: int, rng: np.random.Generator) -> np.ndarray:
    """Sensors: a level of each, a slow common drift, and noise."""
    drift = np.cumsum(rng.standard_normal((rows, 3)), axis=0) / rows**0.5
    level = rng.uniform(50.0, 5000.0, columns)
    return level + drift @ rng.standard_normal((3, columns)) + 0.2 * rng.standard_normal((rows, columns))


def text(rows: int, columns: int, rng: np.random.Generator) -> Any:
    """Documents of two of 60 topics each, a steeper Zipf law, bursts of repeated words."""
    lengths = np.maximum(rng.gamma(2.0, 22.0, rows), 3).astype(np.int64)
    document = np.repeat(np.arange(rows), lengths)
    topics = rng.integers(60, size=(rows, 2))[document, rng.integers(2, size=len(document))]
    rank = zipf(rng, len(document), columns, 1.2)
    term = np.where(rng.random(len(document)) < 0.6, (rank * 31 + topics * 977) % columns, rank)
    return unit_rows(counted(document, term, (rows, columns)))


def uniform(rows: int, columns: int, rng: np.random.Generator) -> Any:
    """Ratings of 1 to 5 anywhere, 1 % of all."""
    count = rows * columns // 100
    table = counted(rng.integers(rows, size=count), rng.integers(columns, size=count), (rows, columns))
    table.data = rng.integers(1, 6, len(table.data)).astype(np.float64)
    return table


def blocks(rows: int, columns: int, rng: np.random.Generator) -> Any:
    """25 groups of unequal size that share some columns, entries of gamma size."""
    group = np.minimum(rng.exponential(6.0, rows).astype(np.int64), 24)[:, None]
    width = max(columns // 20, 8)
    taken = (group * (columns // 27) + rng.integers(width, size=(rows, max(columns // 300, 5)))) % columns
    table = counted(np.repeat(np.arange(rows), taken.shape[1]), taken.ravel(), (rows, columns))
    table.data *= rng.gamma(2.0, 0.5, len(table.data))
    return table


def parts(rows: int, columns: int, rng: np.random.Generator) -> np.ndarray:
    """Smooth bumps, few of them in each row, with multiplicative noise."""
    centres, widths = rng.random(14), rng.uniform(0.02, 0.15, 14)
    bumps = np.exp(-(((np.linspace(0, 1, columns) - centres[:, None]) / widths[:, None]) ** 2))
    weights = rng.exponential(1.0, (rows, 14)) * (rng.random((rows, 14)) < 0.3)
    return (weights @ bumps) * rng.lognormal(0.0, 0.1, (rows, columns))


def positive(rows: int, columns: int, rng: np.random.Generator) -> np.ndarray:
    """Gamma noise of columns with different scales."""
    return rng.gamma(2.0, 1.0, (rows, columns)) * rng.uniform(0.5, 2.0, columns)


def counts(rows: int, columns: int, rng: np.random.Generator) -> Any:
    """Sparse counts of 12 overlapping profiles, overdispersed."""
    rate = rng.dirichlet(np.full(12, 0.3), rows) @ rng.dirichlet(np.full(columns, 0.1), 12)
    return sp.csr_array(rng.poisson(30.0 * rate * rng.gamma(2.0, 0.5, (rows, 1))).astype(np.float64))


def curved(rows: int, columns: int, rng: np.random.Generator) -> np.ndarray:
    """An S-shaped sheet through random features of its two coordinates."""
    along, across = 3 * np.pi * (rng.random(rows) - 0.5), 2.0 * rng.random(rows)
    sheet = np.column_stack([np.sin(along), across, np.sign(along) * (np.cos(along) - 1)])
    more = rng.standard_normal((3, max(columns - 3, 0)))
    return np.column_stack([sheet, 0.3 * np.sin(sheet @ more)])[:, :columns] + 0.01 * rng.standard_normal(
        (rows, columns)
    )
