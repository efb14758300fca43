"""Approximation by pivoted Cholesky: the error asked for is reached, rounding of the factor included."""

from __future__ import annotations

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

import eckart as ek
from eckart.errors import AccuracyWarning, InputError


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


@pytest.mark.parametrize("seed", range(5))
def test_residuals_are_relative_to_the_true_largest_eigenvalue(seed: int) -> None:
    """Of a constant kernel, only rounding is left after centring: computed values exceed the true ones many times."""
    rng = np.random.default_rng(seed)
    kernel = np.full((84, 84), 19.0) + 1e-7 * rng.standard_normal((84, 84))
    kernel = (kernel + kernel.T) / 2.0
    d = ek.decompose(
        kernel, "kernel_pca", k=4, kernel="precomputed", solver="cholesky", approximation_error=1e-7, left=True
    )
    centred = kernel - kernel.mean(axis=0) - kernel.mean(axis=1)[:, None] + kernel.mean()
    largest = np.abs(np.linalg.eigvalsh(centred)).max()
    residuals = np.linalg.norm(centred @ d.left - d.left * d.values**2, axis=0)
    assert (residuals <= d.certificate.residuals * largest * (1 + 1e-9)).all()


@pytest.mark.parametrize(("kernel", "more"), [("poly", {"gamma": 1.0, "coef0": 0.0}), ("precomputed", {})])
def test_a_kernel_of_zeros(kernel: str, more: dict[str, float]) -> None:
    d = ek.decompose(np.zeros((40, 40)), "kernel_pca", k=2, kernel=kernel, solver="cholesky", **more)
    assert not d.values.any()
    assert d.certificate.proved
    assert not d.certificate.residuals.any()


def test_rows_whose_distances_overflow_are_refused() -> None:
    rows = np.random.default_rng(0).standard_normal((30, 5))
    graded = rows * 10.0 ** np.linspace(-200.0, 180.0, 30)[:, None]
    for kernel, table in (("rbf", graded), ("sigmoid", 1e200 * rows)):
        with pytest.raises(InputError, match="Overflow in kernel"):
            ek.KernelPCA(kernel=kernel, gamma=0.01, eigen_solver="cholesky", random_state=0).fit(table)


def test_blocks_of_indefinite_kernels_are_not_proved() -> None:
    rows = np.random.default_rng(0).standard_normal((40, 1))
    options = {"kernel": "sigmoid", "gamma": 0.2, "coef0": 5.0, "solver": "cholesky"}
    with pytest.warns(AccuracyWarning, match=r"may be indefinite.*solver='lanczos'"):
        d = ek.decompose(rows, "kernel_pca", k=1, stream=True, **options)
    assert d.certificate is not None
    assert not d.certificate.proved


def test_a_share_is_not_proved_if_nothing_is_known_of_it() -> None:
    """Negative eigenvalues that no pivot shows leave the explained share unknown."""
    rows = np.random.default_rng(0).standard_normal((40, 1))
    options = {"kernel": "sigmoid", "gamma": 0.2, "coef0": 5.0, "solver": "cholesky"}
    with pytest.warns(AccuracyWarning, match="explain the requested share"):
        d = ek.decompose(rows, "kernel_pca", explain=0.5, **options)
    assert d.certificate is not None
    assert d.certificate.explained == (0.0, 1.0)
    assert not d.certificate.proved
