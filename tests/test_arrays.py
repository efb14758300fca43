"""The solvers on every array library: factors come back in the library of the data, equal to NumPy's to rounding."""

import numpy as np
import pytest

import eckart as ek
from eckart.arrays import unmasked

SOLVERS = ("direct", "gram", "lanczos", "auto")
DTYPES = ("float32", "float64")
SHAPES = ((120, 30), (30, 120))


def library(name):
    if name == "numpy":
        return np
    reason = f"{name} is not installed"
    if name == "torch":
        pytest.importorskip("array_api_compat", reason=reason)
    return pytest.importorskip(name, reason=reason)


LIBRARIES = ("numpy", "array_api_strict", "torch")


def host(array):
    return np.from_dlpack(array) if not isinstance(array, np.ndarray) else array


def table(shape, dtype, offset=0.0):
    rng = np.random.default_rng(shape)
    count = min(shape)
    values = 0.8 ** np.arange(count)
    left = np.linalg.qr(rng.standard_normal((shape[0], count)))[0]
    return ((left * values) @ np.linalg.qr(rng.standard_normal((shape[1], count)))[0].T + offset).astype(dtype)


def assert_beside(array, data, xp):
    """In the library and dtype of the data."""
    assert type(array) is type(data)
    assert array.dtype == data.dtype
    assert xp.all(xp.isfinite(array))


@pytest.mark.parametrize("prepared", ["svd", "pca", "scaled"])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("name", LIBRARIES)
def test_equal_to_numpy(name, solver, dtype, shape, prepared):
    xp = library(name)
    method, scale = ("svd", False) if prepared == "svd" else ("pca", prepared == "scaled")
    given = table(shape, dtype, offset=0.0 if prepared == "svd" else 3.0)
    data = xp.asarray(given)
    options = {"k": 5, "solver": solver, "scale": scale, "left": True}
    d, wanted = ek.decompose(data, method, **options), ek.decompose(given, method, **options)
    for array in (d.values, d.right, d.left):
        assert_beside(array, data, xp)
    eps = float(np.finfo(dtype).eps)
    tolerance = 200 * eps * (1 if prepared == "svd" else 10)
    if solver == "lanczos":
        tolerance = max(tolerance, 10 * {"float32": 1e-5, "float64": 1e-9}[dtype])
    np.testing.assert_allclose(host(d.values), wanted.values, rtol=tolerance)
    overlap = np.abs(np.sum(host(d.right).astype(float) * wanted.right.astype(float), axis=0))
    np.testing.assert_allclose(overlap, 1.0, atol=max(tolerance, 1e-6 if dtype == "float32" else 1e-12) * 10)
    if method == "pca":
        assert_beside(d.mean, data, xp)
        np.testing.assert_allclose(host(d.mean), wanted.mean, rtol=4 * eps)
    assert d.certificate.explained == pytest.approx(wanted.certificate.explained, abs=tolerance)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", LIBRARIES)
def test_project_and_reconstruct(name, dtype):
    xp = library(name)
    given = table((60, 8), dtype, offset=2.0)
    data = xp.asarray(given)
    d = ek.decompose(data, "pca", scale=True, left=True)
    scores = ek.project(d, data)
    assert_beside(scores, data, xp)
    size = float(np.abs(given).max())
    tolerance = 100 * float(np.finfo(dtype).eps)
    np.testing.assert_allclose(host(scores), host(d.left) * host(d.values), atol=tolerance * float(host(d.values)[0]))
    back = ek.reconstruct(d, scores)
    assert_beside(back, data, xp)
    np.testing.assert_allclose(host(back), given, atol=tolerance * size)


@pytest.mark.parametrize("name", LIBRARIES)
@pytest.mark.parametrize("solver", SOLVERS)
def test_shares_smallest_and_weights(name, solver):
    xp = library(name)
    given = table((120, 30), "float64", offset=1.0)
    data = xp.asarray(given)
    assert ek.decompose(data, "pca", explain=0.9, solver=solver).k == ek.decompose(given, "pca", explain=0.9).k
    smallest = ek.decompose(data, "pca", k=2, which="smallest", solver=solver)
    wanted = ek.decompose(given, "pca").values
    np.testing.assert_allclose(host(smallest.values), wanted[::-1][:2], rtol=1e-6)
    weights = np.arange(120) % 3 + 1
    heavy = ek.decompose(data, "pca", k=3, sample_weight=weights, solver=solver)
    wanted = ek.decompose(given, "pca", k=3, sample_weight=weights).values
    np.testing.assert_allclose(host(heavy.values), wanted, rtol=1e-8)


@pytest.mark.parametrize("name", ["array_api_strict", "torch"])
@pytest.mark.parametrize("kind", ["int64", "bool"])
def test_other_dtypes_become_float64(name, kind):
    xp = library(name)
    given = np.trunc(table((40, 6), "float64") * 20).astype(kind)
    d = ek.decompose(xp.asarray(given), "pca", k=2)
    assert d.values.dtype == xp.float64
    np.testing.assert_allclose(host(d.values), ek.decompose(given, "pca", k=2).values, rtol=1e-13)


@pytest.mark.parametrize("name", ["array_api_strict", "torch"])
@pytest.mark.parametrize("factor", [1e200, 1e-200])
def test_the_ends_of_the_range(name, factor):
    xp = library(name)
    given = table((50, 9), "float64")
    d = ek.decompose(xp.asarray(given * factor), "svd", k=3)
    np.testing.assert_allclose(host(d.values) / factor, ek.decompose(given, "svd", k=3).values, rtol=1e-12)


@pytest.mark.parametrize("name", ["array_api_strict", "torch"])
def test_a_missing_value_is_named(name):
    xp = library(name)
    given = table((50, 9), "float64")
    given[7, 2] = np.nan
    with pytest.raises(ek.errors.MissingValuesError, match="row 8, column 3"):
        ek.decompose(xp.asarray(given), "pca", k=2)


def test_libraries_do_not_mix():
    strict = library("array_api_strict")
    d = ek.decompose(strict.asarray(table((40, 6), "float64")), "pca", k=2)
    with pytest.raises(ek.errors.InputError, match="array_api_strict"):
        ek.project(d, table((40, 6), "float64"))


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("name", LIBRARIES)
def test_a_single_axis(name, solver):
    data = table((120, 60), "float64")
    found = ek.decompose(library(name).asarray(data), "pca", k=1, solver=solver)
    np.testing.assert_allclose(host(found.values), ek.decompose(data, "pca", k=1).values, rtol=1e-9)


def test_masked_entries_become_nan() -> None:
    data = np.ma.masked_equal(np.array([[1, 2], [3, 4]]), 2)
    np.testing.assert_array_equal(unmasked(data), [[1.0, np.nan], [3.0, 4.0]])
    assert unmasked(data.astype("f4")).dtype == np.float32
    plain = np.eye(2)
    assert unmasked(plain) is plain
