"""Runs that end at `max_passes`: probes join in time to bound what the basis misses."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp

import eckart as ek
from eckart.errors import AccuracyWarning


def words(rows, columns, seed):
    """Counts of words with more topics than the components asked for."""
    rng = np.random.default_rng(seed)
    topics = rng.dirichlet(np.full(columns, 0.05), 20)
    shares = rng.dirichlet(np.full(20, 0.2), rows) @ topics
    return rng.poisson(60 * shares).astype(float)


@pytest.mark.parametrize("storage", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("limit", [8, 9, 12])
def test_a_limited_run_bounds_the_share_far_below_the_trace(storage, dtype, limit):
    table = words(900, 500, limit).astype(dtype)
    squares = np.linalg.svd(table.astype(float), compute_uv=False) ** 2
    best = squares[:10].sum() / squares.sum()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AccuracyWarning)
        d = ek.decompose(storage(table), "svd", k=10, solver="lanczos", max_passes=limit)
    low, high = d.certificate.explained
    assert low <= best * (1 + 1e-12)
    assert best * (1 - 1e-12) <= high <= 2.0 * best
