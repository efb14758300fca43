"""Linear and cosine kernels: the bounds of components that count as zero, and of rows in nearly one direction."""

import numpy as np
import pytest
from scipy import sparse

import eckart as ek
from eckart.errors import NotFiniteError
from eckart.kernel_pca.kernel_functions import unit_rows


def centred_rows(X: np.ndarray, kernel: str) -> np.ndarray:
    rows = X.astype(np.longdouble)
    if kernel == "cosine":
        rows = rows / np.sqrt(np.sum(rows**2, axis=1))[:, None]
    rows = rows - rows[0]
    for _ in range(2):
        rows = rows - rows.mean(axis=0)
    return rows


def residuals(rows: np.ndarray, d: ek.Decomposition) -> np.ndarray:
    left, values = np.asarray(d.left).astype(np.longdouble), np.asarray(d.values).astype(np.longdouble)
    largest = np.linalg.svd(rows.astype(float), compute_uv=False)[0]
    return np.sqrt(np.sum((rows @ (rows.T @ left) - left * values**2) ** 2, axis=0)) / largest**2


@pytest.mark.parametrize("kernel", ["linear", "cosine"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_residuals_of_components_beyond_the_columns_include_rounding(kernel: str, dtype: str) -> None:
    for seed in range(5):
        X = np.random.default_rng(seed).standard_normal((40, 3)).astype(dtype)
        d = ek.decompose(X, "kernel_pca", kernel=kernel, k=6, left=True)
        assert d.certificate is not None
        assert np.all(residuals(centred_rows(X, kernel), d) <= d.certificate.residuals + 5e-14)


def test_the_residual_of_a_value_that_counts_as_zero_includes_the_value() -> None:
    rng = np.random.default_rng(0)
    left, right = (np.linalg.qr(rng.standard_normal((n, 4)))[0] for n in (6, 30))
    X = (left * [1.0, 0.1, 1e-3, 8e-7]) @ right.T
    d = ek.decompose(X, "kernel_pca", kernel="linear", k=4, left=True)
    assert d.certificate is not None
    assert d.values[-1] == 0.0
    assert np.all(residuals(centred_rows(X, "linear"), d) <= d.certificate.residuals + 5e-14)


@pytest.mark.parametrize("kernel", ["cosine", "poly"])
def test_a_kernel_that_differs_by_rounding_only_is_not_proved(kernel: str) -> None:
    X = np.ones((12, 5)) + 2.0**-50 * np.random.default_rng(0).integers(0, 4, (12, 5))
    X[:, 0] = 1.0 if kernel == "cosine" else 1e9
    with pytest.warns(ek.errors.AccuracyWarning, match="Rounding errors limit the bounds") as heard:
        d = ek.decompose(X, "kernel_pca", kernel=kernel, k=2)
    assert len(heard) == 1
    assert d.certificate is not None
    assert not d.certificate.proved
    low, high = d.certificate.explained
    assert low < 0.01
    assert high == 1.0
    assert f"explain {100 * low:.2f}" in d.certificate.summary


def test_small_rows_keep_their_direction_in_sparse_data() -> None:
    rows = np.random.default_rng(0).standard_normal((4, 3)) * np.array([[1.0], [1e-170], [1e-310], [1e200]])
    found = unit_rows(sparse.csr_array(rows))
    np.testing.assert_allclose(found.toarray(), unit_rows(rows), rtol=1e-14)


def test_eigenvalues_that_overflow_are_refused() -> None:
    rows = np.random.default_rng(1).standard_normal((20, 4))
    with pytest.raises(NotFiniteError, match="eigenvalues overflow float64"):
        ek.KernelPCA(2).fit(rows * 1e200)
    with pytest.raises(NotFiniteError, match="eigenvalues overflow float32"):
        ek.KernelPCA(2).fit((rows * 1e20).astype("f4"))
    with pytest.raises(NotFiniteError, match="singular values overflow float32"):
        ek.KernelPCA(2, kernel="poly", degree=3).fit((rows * 1e18).astype("f4"))


@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_zero_eigenvalues_do_not_cause_numpy_warnings() -> None:
    rng = np.random.default_rng(2)
    ek.KernelPCA(eigen_solver="lanczos").fit(rng.standard_normal((56, 14)) @ rng.standard_normal((14, 17)))


@pytest.mark.parametrize("kernel", ["linear", "cosine"])
@pytest.mark.parametrize("offset", [0.0, 100.0])
@pytest.mark.parametrize("solver", ["auto", "direct", "lanczos"])
def test_the_angle_is_that_of_the_components_of_the_rows(kernel: str, offset: float, solver: str) -> None:
    # The directions of as many components as columns are exact, but rounding in B v is divided by the value.
    rng = np.random.default_rng(1)
    rows = rng.standard_normal((200, 3)) * [1.0, 1e-2, 1e-4]
    rows = rows @ np.linalg.qr(rng.standard_normal((3, 3)))[0] + offset
    for k in (2, 3):
        d = ek.decompose(rows, "kernel_pca", k=k, kernel=kernel, solver=solver, left=True)
        wide = rows.astype(np.longdouble)
        wide = wide / np.sqrt(np.sum(wide**2, axis=1))[:, None] if kernel == "cosine" else wide
        wide = wide - wide.mean(axis=0)
        if k == 2:
            # Of a reference in float64, only the space of the first two components is accurate enough.
            leading = np.linalg.svd(wide.astype(np.float64), full_matrices=False)[2][:2].T
            wide, slack = wide @ leading, 1e-9
        else:
            slack = 0.0
        basis = orthonormal(wide)
        left = orthonormal(np.asarray(d.left, np.longdouble))
        sine = float(np.linalg.norm((left - basis @ (basis.T @ left)).astype(np.float64), 2))
        assert sine <= d.certificate.angle + slack


def orthonormal(columns: np.ndarray) -> np.ndarray:
    """Gram-Schmidt, twice, in long double."""
    result = columns.copy()
    for _ in range(2):
        for j in range(result.shape[1]):
            result[:, j] -= result[:, :j] @ (result[:, :j].T @ result[:, j])
            result[:, j] /= np.sqrt(np.sum(result[:, j] ** 2))
    return result
