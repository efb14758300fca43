"""Sparse columns without a zero and with a large mean: shifted before they are multiplied, in memory and streamed."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy import sparse

import eckart as ek


def table(rng, rows=900, columns=30):
    matrix = sparse.random_array((rows, columns), density=0.05, rng=rng, format="lil")
    matrix[:, [3]] = 1e6 + rng.standard_normal((rows, 1))
    matrix[:, [7]] = -3e7 + 0.1 * rng.standard_normal((rows, 1))
    return sparse.csr_array(matrix)


def centred(matrix, weights):
    """diag(sqrt(w)) (A - 1 mean^T), with a row of A subtracted first so that no digit is lost."""
    dense = matrix.toarray()
    dense = dense - dense[5]
    return np.sqrt(weights)[:, None] * (dense - weights @ dense / weights.sum())


@pytest.mark.parametrize("weighted", ["no", "yes", "zeros"])
@pytest.mark.parametrize("solver", ["gram", "lanczos"])
@pytest.mark.parametrize("stream", [False, True])
def test_large_means_cost_no_digits(weighted, solver, stream):
    rng = np.random.default_rng(8)
    matrix, weights = table(rng), rng.uniform(0.1, 3.0, 900)
    if weighted == "zeros":  # rows that do not count may lack the entry
        weights[::50] = 0.0
        matrix = matrix.tolil()
        matrix[100, 3] = 0.0
        matrix = sparse.csr_array(matrix)
        matrix.eliminate_zeros()
    given = None if weighted == "no" else weights
    truth = np.linalg.svd(centred(matrix, np.ones(900) if given is None else weights), compute_uv=False)
    d = ek.decompose(matrix, k=4, sample_weight=given, solver=solver, stream=stream, memory="2MB")
    np.testing.assert_allclose(d.values, truth[:4], rtol=1e-9)
    share = np.sum(truth[:4] ** 2) / np.sum(truth**2)
    assert d.certificate.explained == pytest.approx((share, share), rel=1e-6)


@pytest.mark.parametrize("seed", range(6))
def test_bounds_are_true_where_centring_cancels_every_digit(seed):
    """A column that lacks entries of next to no weight cannot be shifted: little is known then, and nothing false."""
    rng = np.random.default_rng(seed)
    matrix, weights = table(rng).tolil(), rng.uniform(0.1, 3.0, 900)
    lacking = rng.integers(0, 900, 5)
    matrix[lacking, 3] = matrix[lacking, 7] = 0.0
    weights[lacking] = 10.0 ** rng.uniform(-30, -8)
    matrix = sparse.csr_array(matrix)
    matrix.eliminate_zeros()
    exact = centred(matrix, weights)
    total, best = np.sum(exact**2), np.sum(np.linalg.svd(exact, compute_uv=False)[:5] ** 2)
    for stream in (False, True):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            d = ek.decompose(matrix, k=5, sample_weight=weights, solver="gram", stream=stream, memory="2MB")
        low, high = d.certificate.explained
        assert low <= np.sum((exact @ d.right) ** 2) / total * (1 + 1e-9)
        assert high >= best / total * (1 - 1e-9)


def dominated(seed):
    """One row outweighs all others together: every column is centred at that row, and varies in the others only."""
    rng = np.random.default_rng(seed)
    rows, columns = int(rng.integers(10, 200)), int(rng.integers(2, 20))
    dense = 10.0 ** rng.uniform(-2, 6, columns) + rng.standard_normal((rows, columns))
    density = rng.choice([0.05, 0.4, 0.9, 0.97], columns)
    dense = np.where(rng.random(dense.shape) < density, dense, 0.0)
    weights = np.full(rows, 1e-20)
    weights[rng.integers(rows)] = 1.0
    return sparse.csr_array(dense), weights


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("solver", ["gram", "lanczos"])
def test_bounds_are_true_where_one_row_dominates(solver, stream):
    for seed in range(12):
        matrix, weights = dominated(seed)
        dense = matrix.toarray().astype(np.longdouble)
        dense -= dense[np.argmax(weights)]
        exact = np.sqrt(weights)[:, None] * (dense - weights @ dense / weights.sum())
        k = min(4, *matrix.shape)
        truth = np.linalg.svd(exact.astype(float), compute_uv=False)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            memory = "2MB" if stream else None
            d = ek.decompose(matrix, k=k, sample_weight=weights, solver=solver, stream=stream, memory=memory)
        c, slack = d.certificate, 1e-12 * truth[0]
        assert np.all(c.lower <= truth[:k] + slack)
        assert np.all(c.upper >= truth[:k] - slack)
        share = np.sum(truth[:k] ** 2) / np.sum(truth**2)
        assert c.explained[0] - 1e-12 <= share <= c.explained[1] + 1e-12


def test_scaling_by_a_deviation_that_is_lost_to_rounding_is_refused():
    """A stored entry of weight 1 and a zero of weight 1e-20: the deviation, 1e-10 of the mean, is not in the sums."""
    dense = np.zeros((12, 6))
    dense[:, 0], dense[::2, 1], dense[1::5, 2] = 1e6, np.arange(6.0), 2.0
    dense[1, 0] = 0.0
    matrix = sparse.csr_array(dense)
    weights = np.ones(12)
    weights[1] = 1e-20
    with pytest.raises(ek.errors.InputError, match=r"column 1 .* cannot be computed accurately from sparse data"):
        ek.decompose(matrix, k=1, sample_weight=weights, scale=True, stream=True, memory="2MB", solver="gram")
    assert ek.decompose(dense, k=1, sample_weight=weights, scale=True).certificate.proved


@pytest.mark.parametrize("seed", [1, 5])
def test_bounds_of_millions_of_rows_that_are_almost_all_zero(seed: int) -> None:
    """Once centred, each column has as many nonzero entries as rows, nearly all equal, and their rounding adds up."""
    rng = np.random.default_rng(seed)
    rows, stored = 2_000_000, 200
    columns = [(1.0 + rng.random(stored)) * 10.0 ** (-4 * j) for j in range(3)]
    place = np.concatenate([np.arange(stored) + 500 * j for j in range(3)])
    entries = np.concatenate(columns), (place, np.repeat(np.arange(3), stored))
    sums = np.array([np.sum(column.astype(np.longdouble)) for column in columns])
    squares = np.diag([np.sum(column.astype(np.longdouble) ** 2) for column in columns])
    largest = np.sqrt(np.linalg.eigvalsh((squares - np.outer(sums, sums) / rows).astype(float))[-1])
    bounds = ek.decompose(sparse.csr_array(entries, shape=(rows, 3)), "pca", k=3).certificate
    assert bounds.lower[0] <= largest * (1.0 + 2e-15)
    assert bounds.upper[0] >= largest * (1.0 - 2e-15)
