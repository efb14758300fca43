"""Approximation by pivoted Cholesky: the error asked for is reached, rounding of the factor included."""

from __future__ import annotations

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

import eckart as ek


@pytest.mark.parametrize("asked", [0.0012, 0.01])
def test_the_stated_error_is_the_one_asked_for(asked: float) -> None:
    """In float32, rounding alone would take the first beyond it, with a warning that nobody can follow."""
    rng = np.random.default_rng(3)
    points = np.sin(rng.uniform(-1, 1, (3000, 2)) @ rng.standard_normal((2, 6)) * 2.0).astype("f4")
    found = ek.decompose(points, "kernel_pca", k=4, gamma=2.0, solver="cholesky", approximation_error=asked)
    assert found.certificate.proved
    exact = np.exp(-2.0 * ((points[:, None].astype(float) - points[None, found.details.pivots]) ** 2).sum(axis=2))
    block = exact[found.details.pivots]
    captured = np.einsum("ij,ji->", exact, np.linalg.lstsq(block, exact.T, rcond=1e-13)[0])
    assert 1.0 - captured / len(points) <= found.details.approximation_error <= asked


@pytest.mark.parametrize("kernel", ["rbf", "poly", "laplacian"])
def test_the_same_bits_for_any_number_of_threads(kernel):
    points = np.abs(np.random.default_rng(1).standard_normal((700, 8)))
    found = []
    for count in (1, 2, 4):
        with threadpool_limits(count, "blas"):
            d = ek.decompose(points, "kernel_pca", k=4, kernel=kernel, solver="cholesky", left=True)
        found.append([d.values, d.left, d.certificate.lower, d.certificate.upper, d.details.pivots])
    for other in found[1:]:
        for one, two in zip(found[0], other, strict=True):
            np.testing.assert_array_equal(one, two)


@pytest.mark.parametrize(("scale", "gamma"), [(1e-100, 1e200), (1e100, 1e-200)])
def test_rows_out_of_the_range_of_float32(scale, gamma):
    points = np.random.default_rng(0).standard_normal((40, 6))
    d = ek.decompose(points * scale, "kernel_pca", k=3, kernel="poly", gamma=gamma, solver="cholesky")
    wanted = ek.decompose(points, "kernel_pca", k=3, kernel="poly", gamma=1.0, solver="direct")
    np.testing.assert_allclose(d.values, wanted.values, rtol=0.02)
