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


@pytest.mark.parametrize("seed", range(3))
def test_a_loose_tolerance_takes_no_more_passes_than_a_strict_one(seed):
    table = sp.random_array((1200, 600), density=0.02, rng=np.random.default_rng(seed), format="csr")
    loose, strict = (
        ek.decompose(table, "svd", k=10, solver="lanczos", tol=tol).certificate.passes for tol in (1e-1, 1e-9)
    )
    assert loose <= strict


def test_probes_join_before_a_fast_run_converges():
    """i^-.5 in float32: probes that wait for small residuals join too late to end the run when it has converged."""
    rng = np.random.default_rng(0)
    left, right = (np.linalg.qr(rng.standard_normal((n, 300)))[0] for n in (600, 300))
    table = ((left * np.arange(1, 301) ** -0.5) @ right.T).astype(np.float32)
    d = ek.decompose(table, "svd", k=10, solver="lanczos", tol=1e-1)
    assert d.certificate.proved
    assert d.certificate.passes <= 7
