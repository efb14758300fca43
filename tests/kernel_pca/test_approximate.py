"""Approximation by pivoted Cholesky: the error asked for is reached, rounding of the factor included."""

from __future__ import annotations

import numpy as np
import pytest

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
