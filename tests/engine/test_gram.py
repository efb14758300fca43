"""The Gram matrix of large float32 data: its error is measured in float64, not modelled."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

import eckart as ek
from eckart.engine import gram as module
from eckart.engine import iterated
from eckart.engine.backends import symmetric
from tests.engine.reference import ACCURACY, true_values, violation

SEEDS = [int(seed) for seed in np.random.default_rng(150816).integers(0, 2**31, 3)]


@pytest.fixture
def in_float32(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small tables take the route of large ones."""
    monkeypatch.setattr(module, "FAST_WORK", 0.0)
    monkeypatch.setattr(module, "_SAVING", 4)


def hidden_middle(seed: int) -> np.ndarray:
    """Zero rows at both ends: blocks there say nothing about the error of the others."""
    rng = np.random.default_rng(seed)
    data = np.zeros((3000, 160), "f4")
    data[600:-600] = rng.standard_normal((1800, 160)) * np.geomspace(1, 0.05, 160) + 3.0
    return data


def few_valued(seed: int) -> np.ndarray:
    return (np.random.default_rng(seed).integers(0, 2, (3000, 160)) * 0.1).astype("f4")


def constant(seed: int) -> np.ndarray:
    data = np.full((3000, 160), 0.1, "f4")
    data[:, :3] += np.random.default_rng(seed).standard_normal((3000, 3)).astype("f4")
    return data


@pytest.mark.parametrize("make", [hidden_middle, few_valued, constant])
@pytest.mark.parametrize("method", ["pca", "svd"])
@pytest.mark.parametrize("seed", SEEDS)
def test_float32_products_are_bounded_by_measurement(make, method, seed, in_float32: None) -> None:
    data = make(seed)
    k = 3
    d = ek.decompose(data, method, k=k, solver="gram", rng=seed)
    assert violation(d, true_values(data, center=method == "pca")) <= ACCURACY
    assert d.certificate.failure_probability > 0.0
    assert np.all(d.certificate.upper - d.certificate.lower <= 1e-4 * d.certificate.upper[0])


def test_float64_products_rest_on_no_chance() -> None:
    data = np.random.default_rng(SEEDS[0]).standard_normal((400, 30))
    assert ek.decompose(data, "pca", k=3, solver="gram").certificate.failure_probability == 0.0


@pytest.mark.parametrize("share", [0.3, 0.9])
def test_shares_in_float32(share: float, in_float32: None) -> None:
    data = hidden_middle(SEEDS[1])
    true = true_values(data)
    d = ek.decompose(data, "pca", explain=share, solver="gram")
    held = np.cumsum(true**2) / np.sum(true**2)
    assert d.k == int(np.searchsorted(held, share)) + 1
    assert violation(d, true) <= ACCURACY


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("decay", [1e-3, 1e-8])
def test_small_singular_values_are_refined(seed: int, decay: float) -> None:
    """Values far below the error of the Gram matrix take a second pass, also where the rank is not full."""
    rng = np.random.default_rng(seed)
    left, right = (np.linalg.qr(rng.standard_normal((n, 24)))[0] for n in (500, 24))
    values = np.append(np.geomspace(1, decay, 20), np.zeros(4))
    data = (left * values) @ right.T
    d = ek.decompose(data, "svd", k=24, solver="gram")
    assert violation(d, true_values(data, center=False)) <= ACCURACY
    assert np.all(d.certificate.upper - d.certificate.lower <= 1e-11)


def test_a_second_pass_does_not_compute_eigenpairs_again(monkeypatch):
    """The last of 20 values is too small for one float64 Gram matrix; the pairs for the second pass are there."""
    calls = []
    mrrr = symmetric._by_mrrr
    monkeypatch.setattr(symmetric, "_by_mrrr", lambda *given: calls.append(given[-1]) or mrrr(*given))
    rng = np.random.default_rng(8)
    X = rng.standard_normal((3000, 500)) * np.where(np.arange(500) < 3, 1e3, np.linspace(1.0, 0.5, 500))
    d = ek.decompose(X, "pca", k=20, solver="gram")
    assert calls == [29]
    assert d.certificate.proved
    assert d.certificate.passes == 2
    values = np.linalg.svd(X - X.mean(axis=0), compute_uv=False)[:20]
    assert np.all(d.certificate.lower <= values * (1 + 1e-12))
    assert np.all(values * (1 - 1e-12) <= d.certificate.upper)


@pytest.fixture
def iterating(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Small matrices take the route of large ones; whether the iteration found the pairs, for each call."""
    monkeypatch.setattr(iterated, "WORTH_FROM", {"float32": 100, "float64": 100})
    monkeypatch.setattr(iterated, "_PER_VECTOR", 10)
    monkeypatch.setattr(iterated, "_SHARE", 1)
    calls: list[bool] = []
    found = iterated.iterated
    monkeypatch.setattr(module, "iterated", lambda *given: calls.append((it := found(*given)) is not None) or it)
    return calls


def noise_and_signals(seed: int, rows: int, columns: int, offset: float) -> np.ndarray:
    rng = np.random.default_rng(seed)
    signals = rng.standard_normal((rows, 2)) @ rng.standard_normal((2, columns))
    return 20.0 * signals + rng.standard_normal((rows, columns)) + offset * rng.standard_normal(columns)


@pytest.mark.parametrize("shape", [(900, 200), (200, 900)])
@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("offset", [0.0, 1e4])
def test_pairs_of_large_gram_matrices_by_iteration(shape, dtype, offset, iterating, in_float32) -> None:
    for seed in SEEDS:
        data = noise_and_signals(seed, *shape, offset).astype(dtype)
        d = ek.decompose(data, "pca", k=4, solver="gram")
        assert d.certificate.proved
        assert violation(d, true_values(data)) <= ACCURACY
    assert any(iterating)


@pytest.fixture
def iterations(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Whether the iteration found the pairs, for each call."""
    calls: list[bool] = []
    found = iterated.iterated
    monkeypatch.setattr(module, "iterated", lambda *given: calls.append((it := found(*given)) is not None) or it)
    return calls


@pytest.mark.parametrize("shape", [(500, 330), (330, 500)])
@pytest.mark.parametrize("method", ["pca", "svd"])
def test_pairs_by_iteration_with_single_vectors(shape, method, iterations) -> None:
    data = noise_and_signals(7, *shape, 3.0)
    for given in (data, sparse.csr_array(np.where(np.abs(data) > 30.0, data, 0.0))):
        d = ek.decompose(given, method, k=4, solver="gram")
        dense = given if given is data else given.toarray()
        assert d.certificate.proved
        assert violation(d, true_values(dense, center=method == "pca")) <= ACCURACY
    assert any(iterations)


def test_iteration_that_misses_equal_values_is_refuted(iterations) -> None:
    """Single vectors show one direction of each eigenspace; the Cholesky factorisation does not end."""
    half = noise_and_signals(5, 260, 170, 0.0)
    data = np.kron(np.eye(2), half)
    d = ek.decompose(data, "svd", k=4, solver="gram")
    assert iterations == [False]
    assert d.certificate.proved
    np.testing.assert_allclose(d.values, np.linalg.svd(half, compute_uv=False)[:2].repeat(2), rtol=1e-9)


def test_a_second_pass_with_pairs_by_iteration(iterating) -> None:
    """One float64 Gram matrix is not accurate enough for the last value, which is known after a second pass."""
    data = noise_and_signals(1, 3000, 200, 0.0)
    data[:, :2] *= 300.0
    d = ek.decompose(data, "pca", k=4, solver="gram")
    assert iterating == [True]
    assert d.certificate.proved
    assert d.certificate.passes == 2
    assert violation(d, true_values(data)) <= ACCURACY


def test_iteration_gives_the_same_bits_with_any_number_of_threads(iterating, in_float32) -> None:
    from threadpoolctl import threadpool_limits

    for dtype in ("f4", "f8"):
        data = noise_and_signals(2, 900, 300, 0.0).astype(dtype)
        found = []
        for count in (1, 2):
            with threadpool_limits(count):
                found.append(ek.decompose(data, "pca", k=4, solver="gram"))
        assert np.array_equal(found[0].right, found[1].right)
        assert np.array_equal(found[0].certificate.upper, found[1].certificate.upper)
    assert all(iterating)


@pytest.mark.parametrize("seed", range(4))
def test_shares_of_wide_float32_rows_far_from_zero(seed: int, in_float32: None) -> None:
    """Means of float32 rows are rounded, so the total variance is computed again in float64."""
    rng = np.random.default_rng(seed)
    data = (rng.standard_normal((150, 400)) + 3e4 * rng.standard_normal(400)).astype("f4")
    d = ek.decompose(data, "pca", k=3, solver="gram")
    assert d.certificate.failure_probability > 0.0
    assert violation(d, true_values(data)) <= ACCURACY
