"""Every number that kernel PCA states about its accuracy, against all eigenvalues of the kernel in long double."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy import sparse

import eckart as ek
from eckart.kernel_pca import exact, leading
from eckart.kernel_pca.kernel_functions import Kernel
from eckart.kernel_pca.rounding import kernel_error, shortfall

bounds = pytest.importorskip("benchmarks.bounds.kernel_pca", reason="run from the root of the repository")


@pytest.mark.parametrize("first", range(770_000, 770_040, 10))
def test_no_statement_is_false(first: int) -> None:
    for seed in range(first, first + 10):
        given = bounds.case(seed, most=120)
        assert not bounds.false_statements(given), given.metadata


@pytest.mark.parametrize("seed", range(6))
def test_float32_factors_state_their_rounding(seed: int) -> None:
    """A factor in float32 that takes every row has errors of 1e-7, not none."""
    rng = np.random.default_rng([9, seed])
    data = rng.standard_normal((60, 3))
    options = {"k": 5, "solver": "cholesky", "gamma": 5.0, "approximation_error": 1e-3}
    d = ek.decompose(data, "kernel_pca", left=True, rng=seed, **options)
    assert d.certificate is not None
    assert d.details.approximation_error > 0.0
    assert 0.0 < d.certificate.failure_probability < 1e-6
    kernel = bounds.exact_kernel(data, "rbf", 5.0, 3, 1)
    assert not bounds.compared(bounds.centred(kernel), kernel, d, d.certificate)
    # The bounds are of use: no wider than what is missing and a few units of float32.
    width = d.certificate.upper**2 - d.certificate.lower**2
    assert np.all(width <= 1.01 * d.details.approximation_error * 60 + 1e-4)


@pytest.mark.parametrize("kernel", ["rbf", "laplacian", "poly", "sigmoid"])
def test_products_in_float32_are_measured(kernel: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exact, "DOUBLE_SIZE", 0)
    for seed in range(3):
        rng = np.random.default_rng([10, seed])
        data = rng.standard_normal((150, 6)) * rng.choice([0.1, 1.0, 3.0])
        options = {"kernel": kernel, "gamma": 0.05, "degree": 3, "coef0": 1.0}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            d = ek.decompose(data, "kernel_pca", k=4, solver="lanczos", left=True, rng=seed, **options)
        assert d.certificate is not None
        matrix = bounds.exact_kernel(data, kernel, 0.05, 3, 1.0)
        assert not bounds.compared(bounds.centred(matrix), matrix, d, d.certificate)


@pytest.mark.filterwarnings("ignore:The kernel is indefinite")
@pytest.mark.parametrize("solver", ["direct", "lanczos"])
@pytest.mark.parametrize("degree", [0.5, -1.0])
def test_powers_with_an_unknown_rounding_error_prove_nothing(degree: float, solver: str) -> None:
    """Near zero, the slope of x^degree is unbounded."""
    data = np.random.default_rng(12).random((30, 4))
    with pytest.warns(ek.errors.AccuracyWarning, match="could not be proved"):
        d = ek.decompose(data, "kernel_pca", kernel="poly", gamma=1.0, coef0=1.0, degree=degree, k=2, solver=solver)
    assert d.certificate is not None
    assert not d.certificate.proved
    assert np.isinf(d.certificate.upper).all()


@pytest.mark.parametrize("solver", ["direct", "lanczos", "cholesky"])
def test_the_diagonal_of_sparse_float32_data_is_computed_in_float64(solver: str) -> None:
    """The trace of the kernel is the sum of its diagonal, and shares are relative to it."""
    rng = np.random.default_rng(0)
    data = (rng.uniform(size=(150, 8)) * (rng.uniform(size=(150, 8)) < 0.5)).astype(np.float32)
    matrix = bounds.exact_kernel(data, "poly", 0.3, 3, 1.0)
    options = {"kernel": "poly", "gamma": 0.3, "degree": 3, "coef0": 1.0}
    d = ek.decompose(sparse.csr_array(data), "kernel_pca", k=3, solver=solver, left=True, rng=1, **options)
    assert d.certificate is not None
    assert not bounds.compared(bounds.centred(matrix), matrix, d, d.certificate)
    entries = np.asarray(Kernel("poly", 0.3, 3, 1.0).diagonal(sparse.csr_array(data)))
    np.testing.assert_allclose(entries, np.diagonal(matrix).astype(float), rtol=1e-14)


@pytest.mark.parametrize("name", ["rbf", "laplacian", "poly", "sigmoid"])
def test_the_rounding_of_a_kernel_is_bounded(name: str) -> None:
    rng = np.random.default_rng(11)
    for power in (-3, 0, 2):
        data = rng.standard_normal((40, 5)) * 10.0**power + 10.0**power
        kernel = Kernel(name, gamma=10.0 ** rng.uniform(-2, 0) / 10.0 ** (2 * power), degree=3.0, coef0=1.0)
        points = kernel.points(data, kernel.shift(data))
        made = kernel.tile(points, points)
        truth = bounds.exact_kernel(data, name, kernel.gamma, kernel.degree, kernel.coef0)
        off = np.linalg.norm(np.asarray(made - truth, float), 2)
        assert off <= kernel_error(kernel, data, kernel.shift(data)) <= 1e-9 * np.linalg.norm(made, 2)


def test_measured_errors_fall_short_as_often_as_stated() -> None:
    """||E Z||_F / c is below ||E||_F with the probability that c belongs to, for the worst E, of rank 1."""
    draws = np.random.default_rng(12).standard_normal((20_000, 4))
    below = np.mean(np.linalg.norm(draws, axis=1) < shortfall(4, 0.05))
    assert 0.04 < below < 0.06


@pytest.mark.parametrize("seed", [9376, 9439])
def test_values_that_count_as_zero_explain_nothing(seed: int) -> None:
    """Linear kernels in float32: the share of values that were set to zero was counted."""
    given = bounds.case(seed)
    assert not bounds.false_statements(given), given.metadata


@pytest.mark.filterwarnings("ignore::eckart.errors.AccuracyWarning")
@pytest.mark.filterwarnings("ignore::eckart.errors.DataWarning")
def test_the_proof_of_the_smallest_eigenvalue_adds_its_failure_probability(monkeypatch: pytest.MonkeyPatch) -> None:
    run, chances = leading.block_lanczos, []

    def recorded(*arguments: object, **options: object) -> object:
        pairs = run(*arguments, **options)
        chances.append(pairs.failure_probability)
        return pairs

    monkeypatch.setattr(leading, "block_lanczos", recorded)
    factor = np.random.default_rng(3).standard_normal((200, 200))
    kernel = factor @ factor.T - 20.0 * np.eye(200)
    d = ek.decompose(kernel, "kernel_pca", k=3, kernel="precomputed", solver="lanczos")
    assert d.certificate is not None
    assert len(chances) == 2
    assert d.certificate.failure_probability == pytest.approx(sum(chances))
