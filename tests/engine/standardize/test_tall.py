"""Dense NumPy rows by a Gram matrix without preparation, against LAPACK's singular values of the centred matrix."""

import warnings

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

import eckart as ek
from eckart.engine.standardize import cross_products
from eckart.errors import MissingValuesError, NotFiniteError


def table(rows, columns, seed, dtype="f8"):
    rng = np.random.default_rng(seed)
    return (rng.standard_normal((rows, columns)) * rng.uniform(0.3, 3.0, columns)).astype(dtype)


def exact(X):
    X = X.astype(np.longdouble)
    return np.linalg.svd((X - X.mean(axis=0)).astype(np.float64), compute_uv=False)


@pytest.mark.parametrize("dtype", ["f8", "f4"])
@pytest.mark.parametrize(
    ("shape", "k"), [((6, 6), 2), ((100, 5), 2), ((300, 40), 40), ((5000, 30), 4), ((3000, 120), 5)]
)
@pytest.mark.parametrize("offset", [0.0, 3.0, 1e5])
@pytest.mark.parametrize("unpacked", [0, 1_000_000])
def test_values_and_bounds(monkeypatch, shape, k, dtype, offset, unpacked):
    monkeypatch.setattr(cross_products, "largest_unpacked_product", lambda: unpacked)
    X = table(*shape, seed=shape[0], dtype=dtype) + np.array(offset, dtype)
    d = ek.decompose(X, "pca", k=k)
    right = exact(X)[:k]
    slack = 1e-13 * right[0]
    assert d.plan.solver == "gram"
    assert np.all(d.certificate.lower <= right + slack)
    assert np.all(right <= d.certificate.upper + slack)
    np.testing.assert_allclose(np.asarray(d.values, np.float64), right, rtol=1e-6 if dtype == "f4" else 1e-9)
    assert d.values.dtype == d.right.dtype == d.mean.dtype == X.dtype


def test_drifting_means():
    """The first rows say nothing about the level of the others."""
    rng = np.random.default_rng(3)
    X = np.linspace(0.0, 1e6, 4000)[:, None] ** [[1.0, 0.5, 0.2]] + rng.standard_normal((4000, 3))
    d = ek.decompose(X, "pca")
    np.testing.assert_allclose(d.values, exact(X), rtol=1e-9)


@pytest.mark.parametrize(("rows", "columns"), [(1800, 90), (9000, 40)])
def test_one_pass_for_a_series_with_drift_and_flat_noise(rows, columns):
    """Levels far above the spread, a drift, and no gap after the last component: nothing has to be formed twice."""
    rng = np.random.default_rng([rows, columns])
    drift = np.cumsum(rng.standard_normal((rows, 2)), axis=0) / rows**0.5
    X = rng.uniform(100.0, 9000.0, columns) + drift @ rng.standard_normal((2, columns))
    X += 0.2 * rng.standard_normal((rows, columns))
    d = ek.decompose(X, "pca", k=8)
    assert d.certificate.proved
    assert d.certificate.passes == 1
    np.testing.assert_allclose(d.values, exact(X)[:8], rtol=1e-9)


def test_small_values_are_recomputed():
    """Where the rounding of the Gram matrix hides the last values, they come from the matrix itself."""
    rng = np.random.default_rng(5)
    X = rng.standard_normal((200, 8)) * np.geomspace(1.0, 1e-9, 8)
    np.testing.assert_allclose(ek.PCA().fit(X).singular_values_, exact(X), rtol=1e-6)


def test_constant_columns():
    X = table(400, 6, seed=1)
    X[:, 2], X[:, 4] = 0.1, 1e7
    d = ek.decompose(X, "pca", k=3)
    assert (d.mean[2], d.mean[4], d.rank) == (0.1, 1e7, 4)
    np.testing.assert_allclose(d.right[[2, 4]], 0.0, atol=1e-15)
    assert "2 columns are constant" in " ".join(d.notes)


@pytest.mark.parametrize("factor", [1e-200, 1e200])
def test_extreme_sizes(factor):
    X = table(90, 4, seed=2)
    np.testing.assert_allclose(ek.decompose(X * factor, "pca").values / factor, exact(X), rtol=1e-9)


@pytest.mark.parametrize(("value", "error"), [(np.nan, MissingValuesError), (np.inf, NotFiniteError)])
def test_not_finite(value, error):
    X = table(60, 4, seed=2)
    X[31, 2] = value
    with pytest.raises(error, match="row 32, column 3"):
        ek.PCA(2).fit(X)


def test_without_centring():
    X = table(500, 20, seed=4) + 2.0
    values = np.linalg.svd(X, compute_uv=False)[:3]
    np.testing.assert_allclose(ek.decompose(X, "svd", k=3).values, values, rtol=1e-10)
    np.testing.assert_allclose(ek.TruncatedSVD(3).fit(X).singular_values_, values, rtol=1e-10)


def test_same_bits_for_any_number_of_threads():
    X = table(6000, 90, seed=6)
    found = []
    for count in (1, 2):
        with threadpool_limits(count):
            found.append(ek.PCA(5).fit(X))
    assert found[0].components_.tobytes() == found[1].components_.tobytes()
    assert found[0].transform(X).tobytes() == found[1].transform(X).tobytes()


def test_leading_pairs_are_refined_in_one_pass():
    """Values 1e-5 of the largest: a Gram matrix alone does not resolve them to 1e-9."""
    rng = np.random.default_rng(8)
    strong = rng.standard_normal((1500, 30)) * np.arange(1, 31) ** -0.7
    X = strong @ rng.standard_normal((30, 400)) * 3.0 + 0.1 * rng.standard_normal((1500, 400))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        d = ek.decompose(X, "pca", k=40, solver="gram")
    right = exact(X)[:40]
    slack = 1e-13 * right[0]
    assert d.certificate.passes == 2
    assert np.all(d.certificate.lower <= right + slack)
    assert np.all(right <= d.certificate.upper + slack)
    np.testing.assert_allclose(d.values, right, rtol=1e-11)
