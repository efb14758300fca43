"""LAPACK's SVD: thread counts, residuals as returned, and how far its own error is from its bound."""

from __future__ import annotations

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

import eckart as ek
from eckart.engine.standardize.rounding import lapack_eigenvalue_error, lapack_svd_error
from tests.engine.reference import standardized

SEEDS = [int(seed) for seed in np.random.default_rng(150817).integers(0, 2**31, 3)]


@pytest.mark.parametrize("shape", [(300, 90), (90, 300)])
@pytest.mark.parametrize("solver", ["direct", "gram"])
def test_the_same_bits_for_any_number_of_threads(shape: tuple[int, int], solver: str) -> None:
    data = np.random.default_rng(SEEDS[0]).standard_normal(shape)
    found = []
    for count in (1, 2, 4):
        with threadpool_limits(count, user_api="blas"):
            found.append(ek.decompose(data, "pca", k=8, solver=solver))
    for other in found[1:]:
        np.testing.assert_array_equal(other.values, found[0].values)
        np.testing.assert_array_equal(other.right, found[0].right)
        np.testing.assert_array_equal(other.certificate.upper, found[0].certificate.upper)


@pytest.mark.parametrize("shape", [(80, 25), (25, 80)])
@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("solver", ["direct", "gram", "lanczos"])
@pytest.mark.parametrize("seed", SEEDS)
def test_residuals_hold_for_the_vectors_that_are_returned(
    shape: tuple[int, int], dtype: str, solver: str, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    data = (rng.standard_normal(shape) * np.geomspace(1, 1e-2, shape[1])).astype(dtype)
    d = ek.decompose(data, "pca", k=5, solver=solver)
    b = standardized(data).astype(np.longdouble)
    right, values = d.right.astype(np.longdouble), d.values.astype(np.longdouble)
    residuals = np.sqrt(np.sum((b.T @ (b @ right) - right * values**2) ** 2, axis=0)) / values[0] ** 2
    assert np.all(residuals <= d.certificate.residuals + 1e-16)


@pytest.mark.parametrize("shape", [(40, 40), (300, 20), (150, 150)])
def test_errors_of_lapack_are_half_of_their_bound_at_most(shape: tuple[int, int]) -> None:
    """Backward errors, with products in extended precision: ||A - U S V^T|| and ||G - V L V^T||."""
    for seed in SEEDS:
        rng = np.random.default_rng(seed)
        matrix = rng.standard_normal(shape) * np.geomspace(1, 1e-6, shape[1])
        left, values, right = np.linalg.svd(matrix, full_matrices=False)
        rest = matrix - (left.astype(np.longdouble) * values) @ right
        assert np.linalg.norm(rest.astype(float), 2) <= 0.5 * lapack_svd_error(max(shape), values[0])
        gram = matrix.T @ matrix
        levels, vectors = np.linalg.eigh(gram)
        rest = gram - (vectors.astype(np.longdouble) * levels) @ vectors.T
        assert np.linalg.norm(rest.astype(float), 2) <= 0.5 * lapack_eigenvalue_error(shape[1], levels[-1])
