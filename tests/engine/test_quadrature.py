"""Lanczos quadrature: exact for polynomials of low degree, with weights that sum to 1."""

from __future__ import annotations

import numpy as np
import pytest

from eckart.engine.quadrature import lanczos_quadrature


@pytest.mark.parametrize("steps", [1, 2, 5])
def test_moments_up_to_degree_2k_minus_1_are_exact(steps: int) -> None:
    rng = np.random.default_rng(steps)
    matrix = rng.standard_normal((30, 30))
    matrix = (matrix + matrix.T) / 10.0
    start = rng.standard_normal((30, 3))
    start /= np.linalg.norm(start, axis=0)
    rules = lanczos_quadrature(lambda columns: matrix @ columns, start, steps)
    for u, (nodes, weights) in zip(start.T, rules, strict=True):
        for degree in range(2 * steps):
            exact = u @ np.linalg.matrix_power(matrix, degree) @ u
            assert weights @ nodes**degree == pytest.approx(exact, rel=1e-10, abs=1e-12)


def test_an_invariant_subspace_ends_the_recurrence_without_division_by_zero() -> None:
    matrix, start = np.diag([2.0, -3.0, 5.0]), np.eye(3)[:, :1]
    ((nodes, weights),) = lanczos_quadrature(lambda columns: matrix @ columns, start, 3)
    assert weights @ nodes == pytest.approx(2.0)
    assert weights.sum() == pytest.approx(1.0)
