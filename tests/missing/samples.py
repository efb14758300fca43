"""Tables of known rank with missing values."""

from __future__ import annotations

import numpy as np


def low_rank(rows=80, columns=10, rank=2, noise=0.1, holes=0.1, seed=0):
    """(whole table, table with gaps)"""
    rng = np.random.default_rng(seed)
    whole = rng.standard_normal((rows, rank)) @ rng.standard_normal((rank, columns))
    whole = (whole + noise * rng.standard_normal(whole.shape)) * rng.uniform(0.5, 20, columns) + rng.normal(
        0, 9, columns
    )
    table = whole.copy()
    table[rng.random(whole.shape) < holes] = np.nan
    return whole, table


def scaled_error(filled, whole, gone):
    return float(np.sqrt(np.mean((((filled - whole) / whole.std(axis=0))[gone]) ** 2)))
