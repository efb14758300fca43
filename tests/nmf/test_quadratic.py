"""Quadratic programs of many rows: both back ends, against active sets."""

import numpy as np
import pytest
from scipy.optimize import nnls

from eckart.nmf import quadratic


def programs(k=6, rows=40, seed=0, rank=None):
    rng = np.random.default_rng(seed)
    roots = rng.standard_normal((rows, rank or k + 3, k))
    hessians = np.einsum("rji,rjk->rik", roots, roots)
    begin = rng.random((k, rows)) * (rng.random((k, rows)) > 0.4)
    gradient = np.einsum("rij,jr->ir", hessians, rng.standard_normal((k, rows)))
    first, second = np.triu_indices(k)
    return hessians, np.ascontiguousarray(hessians[:, first, second].T), gradient, begin


@pytest.mark.parametrize("compiled", [False, True])
def test_the_minimum_is_that_of_active_sets(compiled):
    hessians, triangles, gradient, begin = programs()
    found = quadratic.solve(triangles, gradient, begin, sweeps=30, exact=True, compiled=compiled)
    for r, hessian in enumerate(hessians):
        root = np.linalg.cholesky(hessian).T
        goal = root @ begin[:, r] - np.linalg.solve(root.T, gradient[:, r])
        wanted = nnls(root, goal)[0] - begin[:, r]
        assert np.allclose(found.step[:, r], wanted, atol=1e-8)
        assert found.descent[r] == pytest.approx(-gradient[:, r] @ wanted)
        assert found.curvature[r] == pytest.approx(wanted @ hessian @ wanted)


@pytest.mark.parametrize("rank", [None, 3])
def test_few_sweeps_descend_and_both_back_ends_take_the_same_steps(rank):
    hessians, triangles, gradient, begin = programs(rank=rank, rows=20)
    options = {"sweeps": 3, "exact": False}
    plain, compiled = (quadratic.solve(triangles, gradient, begin, compiled=c, **options) for c in (False, True))
    assert np.allclose(plain.step, compiled.step, rtol=1e-9, atol=1e-12)
    model = 0.5 * np.einsum("ir,rij,jr->r", plain.step, hessians, plain.step) + np.sum(gradient * plain.step, axis=0)
    assert np.all(model <= 0.0)
    assert np.all(begin + plain.step >= 0.0)


@pytest.mark.parametrize("compiled", [False, True])
def test_without_curvature_a_rising_line_ends_at_its_bound(compiled):
    triangles, begin = np.zeros((3, 2)), np.array([[1.0, 2.0], [3.0, 0.0]])
    gradient = np.array([[1.0, 0.0], [2.0, 1.0]])
    found = quadratic.solve(triangles, gradient, begin, sweeps=2, exact=False, compiled=compiled)
    assert np.array_equal(begin + found.step, [[0.0, 2.0], [0.0, 0.0]])
