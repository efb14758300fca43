"""Every operator keeps the protocol: products, reads, wrappers; also around an operator that has nothing else."""

import numpy as np
import pytest
from scipy import sparse

import eckart as ek
from eckart.engine.transformed import Centered, Scaled, Transposed
from eckart.testing import MinimalOperator, check_operator, counted, with_spectrum

RNG = np.random.default_rng(0)
SHAPES = [(1, 1), (7, 3), (3, 7), (900, 40), (40, 900)]


def table(shape, *, thin=False):
    values = np.random.default_rng(shape).standard_normal(shape)
    return np.where(np.random.default_rng(1).uniform(size=shape) < 0.2, values, 0.0) if thin else values


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int16, np.bool_])
@pytest.mark.parametrize("shape", SHAPES)
def test_dense(shape, dtype):
    data = (3 * table(shape)).astype(dtype)
    check_operator(ek.open_matrix(data).matrix, data.astype(np.float64))


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int16])
@pytest.mark.parametrize("shape", SHAPES)
def test_sparse(shape, dtype):
    data = (9 * table(shape, thin=True)).astype(dtype)
    check_operator(ek.open_matrix(sparse.csr_array(data)).matrix, data.astype(np.float64))


@pytest.mark.parametrize("shape", SHAPES)
def test_views_of_dense_rows(shape):
    data = table(shape)
    matrix = ek.open_matrix(data).matrix
    shift, weights = np.arange(shape[1], dtype=float), np.linspace(0.5, 2.0, shape[0])
    check_operator(matrix.shifted(shift), data - shift)
    check_operator(matrix.transposed(), data.T)
    check_operator(matrix.shifted(shift).transposed(), (data - shift).T)
    weighted = np.sqrt(weights)[:, None] * data
    check_operator(matrix.weighted(weights), weighted, moments_and_product=False)
    check_operator(matrix.weighted(weights).transposed(), weighted.T)
    moments_and_product = matrix.weighted(weights).moments_and_product()
    np.testing.assert_allclose(moments_and_product.sums, weights @ data, atol=1e-12)
    np.testing.assert_allclose(moments_and_product.weight, weights.sum())


@pytest.mark.parametrize("shape", SHAPES)
def test_views_of_sparse_rows(shape):
    data = table(shape, thin=True)
    matrix = ek.open_matrix(sparse.csr_array(data)).matrix
    weights, factors = np.linspace(0.5, 2.0, shape[0]), np.linspace(1.0, 3.0, shape[1])
    check_operator(matrix.transposed(), data.T)
    check_operator(matrix.scaled_columns(factors), data * factors)
    check_operator(matrix.weighted(weights), np.sqrt(weights)[:, None] * data, moments_and_product=False)


@pytest.mark.parametrize("base", ["dense", "sparse", "minimal"])
@pytest.mark.parametrize("shape", [(7, 3), (900, 40)])
def test_wrappers(base, shape):
    data = table(shape, thin=True)
    operator = {
        "dense": lambda: ek.open_matrix(data).matrix,
        "sparse": lambda: ek.open_matrix(sparse.csr_array(data)).matrix,
        "minimal": lambda: MinimalOperator(data),
    }[base]()
    check_operator(operator, data)
    mean, scale = data.mean(axis=0), 1.0 + np.arange(shape[1])
    centered = Centered(operator, np.ones(shape[0]), mean, data.sum(axis=0), float(shape[0]))
    check_operator(centered, data - mean, moments_and_product=False)
    check_operator(Scaled(operator, scale), data / scale, moments_and_product=False)
    check_operator(Scaled(centered, scale), (data - mean) / scale, moments_and_product=False)
    transposed = Transposed(operator)
    assert transposed.shape == shape[::-1]
    left, right = np.ones((shape[0], 2)), np.ones((shape[1], 2))
    np.testing.assert_allclose(transposed.matmat(left), data.T @ left, atol=1e-12)
    np.testing.assert_allclose(transposed.rmatmat(right), data @ right, atol=1e-12)
    np.testing.assert_allclose(transposed.normal(left), data @ (data.T @ left), atol=1e-11)
    np.testing.assert_allclose(transposed.gram(), data @ data.T, atol=1e-11)


def test_a_false_operator_is_found_out():
    data = table((7, 3))
    with pytest.raises(AssertionError, match="matmat"):
        check_operator(MinimalOperator(data), data + 1e-9)
    with pytest.raises(AssertionError, match="normal made 2 passes"):
        check_operator(TwoReads(data), data)


class TwoReads(MinimalOperator):
    def normal(self, right):
        return self.rmatmat(self.matmat(right))


def test_rows_and_columns_as_they_are_stored():
    data = table((9, 4)).astype(np.float32)
    for operator in (ek.open_matrix(data).matrix, MinimalOperator(data)):
        np.testing.assert_array_equal(operator.rows([2, 5]), data[[2, 5]])
        np.testing.assert_array_equal(operator.columns([0, 3]), data[:, [0, 3]])


@pytest.mark.parametrize("thin", [False, True])
@pytest.mark.parametrize("center", [False, True])
def test_reads_are_counted_and_few(thin, center):
    """Gram: one read. Lanczos: one a step, the first of them with the means. Left vectors: one more."""
    data = table((900, 40), thin=thin)
    data = sparse.csr_array(data) if thin else data
    method = "pca" if center else "svd"
    assert ek.decompose(data, method, k=3, solver="gram").info.passes == 1
    assert ek.decompose(data, method, k=3, solver="gram", left=True).info.passes == 2
    # With enough passes, small sparse data are multiplied with single vectors first.
    info = ek.decompose(data, method, k=3, solver="lanczos", max_passes=100).info
    assert info.passes == info.steps
    opened = ek.open_matrix(data).matrix
    with counted(opened) as count:
        opened.moments_and_product(np.ones((40, 2)))
    assert count.passes == 1


def test_scaling_takes_no_more_than_one_read_more():
    data = table((900, 40))
    assert ek.decompose(data, "pca", k=3, scale=True, solver="gram").info.passes == 1
    info = ek.decompose(data, "pca", k=3, scale=True, solver="lanczos").info
    assert info.passes <= info.steps + 1


def test_the_plan_foretells_the_reads_of_an_exact_solver():
    data = table((900, 40))
    for solver in ("direct", "gram"):
        plan, info = ek.plan(data, "pca", k=3, solver=solver), ek.decompose(data, "pca", k=3, solver=solver).info
        assert plan.passes == info.passes


def test_known_spectra_are_what_they_say():
    values = np.array([3.0, 2.0, 2.0, 1e-3])
    found = np.linalg.svd(with_spectrum(values, 9, 4, seed=1), compute_uv=False)
    np.testing.assert_allclose(found, values, atol=1e-14)
