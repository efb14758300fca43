"""Loops over CSR rows by SciPy: against dense arrays, and against the compiled ones."""

import numpy as np
import pytest
import scipy.sparse as sp

from eckart.engine.backends import csr_scipy
from eckart.engine.compiled import csr

LOOPS = {"scipy": csr_scipy, "compiled": csr}


@pytest.fixture(scope="module")
def matrix():
    return sp.random_array((50, 20), density=0.2, rng=np.random.default_rng(0), format="csr")


@pytest.mark.parametrize("loops", LOOPS.values(), ids=LOOPS)
def test_products_are_those_of_dense_rows(loops, matrix):
    rows, rng = matrix.toarray()[7:31], np.random.default_rng(1)
    parts, right, left = (matrix.indptr, matrix.indices, matrix.data), rng.random((20, 3)), rng.random((50, 3))
    found = np.ones((20, 3))
    loops.multiply_transposed(*parts, left, 7, 31, found)
    assert np.allclose(found, rows.T @ left[7:31] + 1.0)
    product = np.zeros((50, 3))
    loops.multiply(*parts, right, 7, 31, product)
    assert np.allclose(product[7:31], rows @ right)
    assert not product[:7].any()


def test_compiled_rows_of_the_gram_matrix_are_those_of_dense_rows(matrix):
    gram = np.zeros((20, 20))
    csr.gram(matrix.indptr, matrix.indices, matrix.data, 5, 12, gram)
    whole = np.triu(matrix.toarray().T @ matrix.toarray())
    assert np.allclose(np.triu(gram)[5:12], whole[5:12])
    assert not gram[:5].any()
    assert not gram[12:].any()


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("density", [0.002, 0.3])  # pairs of stored entries, and dense rows
def test_the_gram_matrix_of_a_small_matrix_is_exactly_symmetric(density, dtype):
    matrix = sp.random_array((300, 120), density=density, rng=np.random.default_rng(3), format="csr", dtype=dtype)
    found, rows = csr_scipy.gram(matrix), matrix.toarray().astype(np.float64)
    assert found.dtype == np.float64
    assert np.array_equal(found, found.T)
    np.testing.assert_allclose(found, rows.T @ rows, rtol=1e-13, atol=1e-15)


def test_compiled_normal_product_is_that_of_dense_rows(matrix):
    rows, right, found = matrix.toarray()[7:31], np.random.default_rng(1).random((20, 3)), np.ones((20, 3))
    csr.normal(matrix.indptr, matrix.indices, matrix.data, right, 7, 31, found)
    assert np.allclose(found, rows.T @ rows @ right + 1.0)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("loops", LOOPS.values(), ids=LOOPS)
def test_sums_are_those_of_dense_rows(loops, matrix, weighted):
    rows, parts = matrix.toarray()[7:31], (matrix.indptr, matrix.indices, matrix.data)
    roots = np.random.default_rng(2).random(50) if weighted else np.zeros(0)
    root = roots[7:31, None] if weighted else np.ones((24, 1))
    stored = rows != 0.0
    sums = np.zeros((20, 4))
    loops.column_sums(*parts, roots, 7, 31, sums)
    wanted = [(root * rows).sum(axis=0), (rows**2).sum(axis=0), (root**2 * stored).sum(axis=0)]
    assert np.allclose(sums[:, :3].T, wanted)
    assert sums[0, 3] == pytest.approx(((rows**2).sum(axis=1) ** 8).sum())
    mean, squares = np.linspace(0.0, 1.0, 20), np.zeros((20, 4))
    loops.column_squares(*parts, roots, mean, 7, 31, squares)
    assert np.allclose(squares[:, 0], ((rows - root * mean) ** 2 * stored).sum(axis=0))


def test_large_matrices_take_the_compiled_loops():
    assert csr_scipy.loops(1000) is csr_scipy
    assert csr_scipy.loops(10**6) is csr
