"""Weights of new rows for parts that overlap, compared with SciPy's active set method."""

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import nnls

import eckart as ek

pytestmark = pytest.mark.filterwarnings("ignore:Maximum number of iterations")
ACCURACY = 4e-6
"""The bound of each coefficient, 1e-6, times the square root of the largest number of parts."""


def table(seed, k, spread, rows=60):
    """(rows, parts): the parts differ from one another by about `spread`."""
    rng = np.random.default_rng(seed)
    parts = np.abs(rng.random(30) + spread * rng.normal(size=(k, 30)))
    data = rng.random((rows, k)) @ parts
    return np.abs(data * (1 + 0.01 * rng.normal(size=data.shape))), parts


def with_parts(data, parts, **options):
    model = ek.NMF(len(parts), max_iter=20, random_state=0, **options).fit(data)
    model.components_ = parts
    return model


def least_squares(data, parts, ridge=0.0, lasso=0.0):
    """1/2 |x - w H|^2 + ridge / 2 |w|^2 + lasso sum(w), as a problem without penalties."""
    gram = parts @ parts.T + ridge * np.eye(len(parts))
    root = np.linalg.cholesky(gram)
    return np.array([nnls(root.T, np.linalg.solve(root, parts @ row - lasso))[0] for row in data])


@pytest.mark.parametrize("spread", [1.0, 0.1, 0.01, 0.003])
@pytest.mark.parametrize("k", [2, 4, 8])
@pytest.mark.parametrize("seed", range(3))
def test_weights_are_those_of_exact_least_squares(seed, k, spread):
    data, parts = table(seed, k, spread)
    expected = np.array([nnls(parts.T, row)[0] for row in data])
    found = with_parts(data, parts).transform(data)
    np.testing.assert_allclose(found, expected, rtol=0, atol=ACCURACY * expected.max())


@pytest.mark.parametrize("rows", [60, 4000])
def test_tables_of_any_size_and_storage_have_the_same_weights(rows):
    data, parts = table(1, 12, 0.01, rows)
    expected = np.array([nnls(parts.T, row)[0] for row in data[:60]])
    model = with_parts(data[:60], parts)
    for form in (data, sparse.csr_array(data)):
        np.testing.assert_allclose(model.transform(form)[:60], expected, rtol=0, atol=ACCURACY * expected.max())


@pytest.mark.parametrize("ratio", [0.0, 0.5, 1.0])
def test_penalties_are_included(ratio):
    data, parts = table(2, 5, 0.003)
    alpha = 1e-6
    model = with_parts(data, parts, alpha_W=alpha, l1_ratio=ratio)
    # scikit-learn multiplies the penalty of each row by the number of columns.
    ridge, lasso = alpha * (1 - ratio) * data.shape[1], alpha * ratio * data.shape[1]
    expected = least_squares(data, parts, ridge, lasso)
    np.testing.assert_allclose(model.transform(data), expected, rtol=0, atol=ACCURACY * expected.max())


def test_parts_that_are_linearly_dependent_still_have_the_smallest_error():
    data, parts = table(3, 4, 0.1)
    parts[3] = parts[0] + parts[1]
    found = with_parts(data, parts).transform(data)
    best = sum(nnls(parts.T, row)[1] ** 2 for row in data)
    assert np.sum((data - found @ parts) ** 2) <= best * (1 + 1e-6)
    assert found.min() >= 0


def test_parts_without_entries_have_no_weights():
    data, parts = table(4, 4, 0.01)
    parts[2] = 0.0
    found = with_parts(data, parts).transform(data)
    expected = np.array([nnls(np.delete(parts, 2, axis=0).T, row)[0] for row in data])
    np.testing.assert_allclose(np.delete(found, 2, axis=1), expected, rtol=0, atol=ACCURACY * expected.max())
