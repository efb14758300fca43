"""Leading eigenpairs of large symmetric matrices by iteration, and the Cholesky bound of all others."""

from __future__ import annotations

import numpy as np
import pytest

from eckart.engine import iterated as module
from eckart.engine.iterated import Leading, bound_outside, iterated, iteration_seconds, product_in_tiles

SIZE, K, EXTRA = 480, 5, 8


@pytest.fixture(params=["blocks", "vectors"])
def steps(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Whether float64 takes blocks, as on large matrices, or one vector at a time."""
    if request.param == "blocks":
        monkeypatch.setitem(module.WORTH_FROM, "float64", 100)
    return str(request.param)


@pytest.fixture
def larger_basis(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small matrices need a larger share of all vectors."""
    monkeypatch.setattr(module, "_SHARE", 1)


def symmetric(values: np.ndarray, seed: int = 3) -> tuple[np.ndarray, np.ndarray]:
    """(a matrix with these eigenvalues, its eigenvectors)."""
    basis = np.linalg.qr(np.random.default_rng(seed).standard_normal((len(values), len(values))))[0]
    matrix = (basis * values) @ basis.T
    return (matrix + matrix.T) / 2.0, basis


def noise() -> np.ndarray:
    return np.sort(np.linalg.svd(np.random.default_rng(4).standard_normal((900, SIZE)), compute_uv=False) ** 2)[::-1]


def strong() -> np.ndarray:
    return np.append([1e6, 1e5, 1e4], noise() / 100.0)[:SIZE]


def low_rank() -> np.ndarray:
    return np.append(np.arange(20.0, 0.0, -1.0), np.zeros(SIZE - 20))


def outside(matrix: np.ndarray, found: Leading) -> float:
    """The largest x^T A x for unit vectors orthogonal to V."""
    rest = np.eye(len(matrix)) - found.vectors @ found.vectors.T
    return float(np.linalg.eigvalsh(rest @ matrix @ rest)[-1])


@pytest.mark.parametrize("make", [noise, strong, low_rank])
@pytest.mark.parametrize(("precision", "tolerance"), [("float32", 1e-5), ("float64", 1e-9)])
def test_pairs_and_the_bound_of_the_others(
    make, precision: str, tolerance: float, steps: str, larger_basis: None
) -> None:
    values = make()
    matrix = symmetric(values)[0]
    found = iterated(matrix, K, EXTRA, tolerance, precision)
    assert found is not None
    rounding = 1e-6 * values[0] if precision == "float32" else 0.0
    assert np.all(np.abs(found.values[:K] - values[:K]) <= tolerance * values[K - 1] + rounding)
    assert K < len(found.values) == found.vectors.shape[1] <= K + EXTRA
    assert np.linalg.norm(found.vectors.T @ found.vectors - np.eye(len(found.values))) < 1e-12
    assert outside(matrix, found) <= found.beyond < values[K - 1]


def test_equal_values_at_the_cut_are_left_to_lapack(steps: str) -> None:
    values = np.append(np.full(60, 2.0), np.linspace(1.0, 0.1, SIZE - 60))
    assert iterated(symmetric(values)[0], K, EXTRA, 1e-9, "float64") is None


def test_a_value_that_one_start_vector_shows_once_is_not_missed() -> None:
    """Of an eigenspace of two dimensions, iteration with single vectors finds one vector: the proof must fail."""
    values = np.concatenate([[9.0, 9.0, 8.0, 7.0, 6.0, 5.0, 4.0], np.linspace(1.0, 0.1, SIZE - 7)])
    assert iterated(symmetric(values)[0], K, EXTRA, 1e-9, "float64") is None


def test_a_missed_eigenvector_refutes_the_bound() -> None:
    values = np.append([9.0, 8.0, 7.0], np.linspace(1.0, 0.1, 97))
    matrix, basis = symmetric(values)
    held = basis[:, [0, 2]]
    assert bound_outside(matrix, values[[0, 2]], held, 7.5) is None
    bound = bound_outside(matrix, values[[0, 2]], held, 8.0 + 1e-9)
    assert bound is not None
    assert 8.0 <= bound <= 8.0 + 1e-8


def test_rounding_of_the_factorisation_is_in_the_bound() -> None:
    """At a level that is equal to the largest value outside, M is singular, and only rounding decides."""
    for seed in range(20):
        values = np.append([9.0, 8.0], np.full(98, 3.0))
        matrix, basis = symmetric(values, seed)
        bound = bound_outside(matrix, values[:2], basis[:, :2], 3.0)
        true = outside(matrix, Leading(values[:2], basis[:, :2], 0.0))
        assert bound is None or bound >= true - 1e-14


def test_products_in_tiles_have_the_stated_error() -> None:
    rng = np.random.default_rng(2)
    matrix, vectors = rng.standard_normal((700, 700)), rng.standard_normal((700, 3))
    matrix += matrix.T
    vectors /= np.linalg.norm(vectors, axis=0)
    found, error = product_in_tiles(matrix, vectors)
    true = matrix.astype(np.longdouble) @ vectors.astype(np.longdouble)
    assert np.all(np.linalg.norm((found - true).astype(float), axis=0) <= error)


def test_small_matrices_and_many_components_are_left_to_lapack() -> None:
    assert iteration_seconds(300, 5, "float32") == np.inf
    assert iteration_seconds(2000, 300, "float64") == np.inf
    assert iteration_seconds(2000, 5, "float32") < iteration_seconds(2000, 5, "float64") < np.inf
