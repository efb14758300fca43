"""LAPACK's own test of an SVD (ddrvbd): ratios below 35 on its matrix types, sizes and spectra."""

import numpy as np
import pytest

import eckart as ek
from eckart.errors import InputError
from eckart.testing import MODES, spectrum, with_spectrum

THRESHOLD = 35.0
SIDES = (1, 2, 3, 10, 16, 30, 40)
SIZES = [(m, n) for m in SIDES for n in SIDES if m in (n, 1, 40) or n in (1, 3, 40) or (m, n) in ((10, 16), (30, 16))]
TYPES = ("zero", "identity", "even", "tiny", "huge")
DTYPES = (np.float32, np.float64)
EXACT = ("auto", "direct", "gram")


def example(kind, rows, columns, dtype):
    """The five matrix types: zero, identity, evenly spaced from 1 to ulp, the same at either end of the range."""
    count, ulp = min(rows, columns), float(np.finfo(dtype).eps)
    if kind == "zero":
        return np.zeros((rows, columns), dtype)
    if kind == "identity":
        return np.eye(rows, columns, dtype=dtype)
    matrix = with_spectrum(np.linspace(1.0, ulp, count), rows, columns, seed=rows * 41 + columns).astype(dtype)
    smallest = float(np.finfo(dtype).tiny)
    factor = {"even": 1.0, "tiny": smallest / ulp, "huge": ulp / smallest}[kind]
    return matrix * dtype(factor)


def one_norm(matrix):
    return float(np.abs(matrix).sum(axis=0).max(initial=0.0))


def ratios(matrix, d, ulp):
    """(residual, left, right) of a full decomposition, computed in float64 at a safe scale."""
    rows, columns = matrix.shape
    left, right = d.left.astype(np.float64), d.right.astype(np.float64)
    exponent = -int(np.frexp(np.abs(matrix).max())[1]) if np.any(matrix) else 0
    scaled = np.ldexp(matrix.astype(np.float64), exponent)
    values = np.ldexp(d.values.astype(np.float64), exponent)
    residual = one_norm(scaled - (left * values) @ right.T)
    size = one_norm(scaled) or 1.0
    return (
        residual / (size * max(rows, columns) * ulp),
        one_norm(np.eye(d.k) - left.T @ left) / (rows * ulp),
        one_norm(np.eye(d.k) - right.T @ right) / (columns * ulp),
    )


def assert_in_order(values):
    assert np.all(np.isfinite(values))
    assert np.all(values >= 0.0)
    assert np.all(np.diff(values) <= 0.0)


def assert_ratios(matrix, d, ulp):
    assert_in_order(d.values)
    assert d.left.dtype == d.values.dtype == d.right.dtype == matrix.dtype
    for name, ratio in zip(("A - U S V'", "I - U'U", "I - V'V"), ratios(matrix, d, ulp), strict=True):
        assert ratio < THRESHOLD, f"|{name}| has the ratio {ratio:.3g}"


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("solver", EXACT)
def test_types_and_sizes(solver, kind, dtype):
    for rows, columns in SIZES:
        matrix = example(kind, rows, columns, dtype)
        d = ek.decompose(matrix, "svd", solver=solver, left=True)
        assert d.k == min(rows, columns)
        try:
            assert_ratios(matrix, d, float(np.finfo(dtype).eps))
        except AssertionError as error:
            raise AssertionError(f"{rows} x {columns}: {error}") from error


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("solver", EXACT)
def test_spectra(solver, mode, dtype):
    ulp = float(np.finfo(dtype).eps)
    for rows, columns in ((40, 40), (40, 16), (16, 40), (30, 3)):
        for condition in (1e1, 0.1 / ulp):
            values = spectrum(mode, min(rows, columns), condition, seed=rows)
            matrix = with_spectrum(values, rows, columns, seed=mode).astype(dtype)
            d = ek.decompose(matrix, "svd", solver=solver, left=True)
            try:
                assert_ratios(matrix, d, ulp)
            except AssertionError as error:
                raise AssertionError(f"{rows} x {columns}, condition {condition:.0e}: {error}") from error
            error = np.abs(d.values - values).max()
            assert error <= THRESHOLD * ulp * max(rows, columns) * values[0]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("mode", [3, 4, 5])
@pytest.mark.parametrize("solver", EXACT)
def test_a_part_equals_that_part_of_the_whole(solver, mode, dtype):
    """Tests 5 to 7 and 30, 33: k axes are the first k of all of them, and U'AV = S."""
    ulp = float(np.finfo(dtype).eps)
    for rows, columns in ((40, 30), (30, 40), (16, 16)):
        values = spectrum(mode, min(rows, columns), 1e1, seed=3)
        matrix = with_spectrum(values, rows, columns, seed=mode).astype(dtype)
        whole = ek.decompose(matrix, "svd", solver=solver, left=True)
        for k in (1, 5, min(rows, columns) - 1):
            part = ek.decompose(matrix, "svd", k=k, solver=solver, left=True)
            # Vectors are as well determined as their values are apart.
            gap = float(np.min(-np.diff(values)[: k + 1]))
            assert one_norm(part.left - whole.left[:, :k]) / (rows * ulp) * gap < THRESHOLD
            assert one_norm(part.right - whole.right[:, :k]) / (columns * ulp) * gap < THRESHOLD
            assert np.abs(part.values - whole.values[:k]).max() / (min(rows, columns) * ulp * values[0]) < THRESHOLD
            product = part.left.T.astype(np.float64) @ matrix.astype(np.float64) @ part.right.astype(np.float64)
            residual = one_norm(product - np.diag(part.values.astype(np.float64)))
            assert residual / (one_norm(matrix) * max(rows, columns) * ulp) < THRESHOLD


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("mode", MODES)
def test_lanczos_to_its_tolerance(mode, dtype):
    """The same ratios with the promised accuracy in the place of ulp; the short side stays orthonormal to ulp."""
    ulp = float(np.finfo(dtype).eps)
    tol = 1e-5 if dtype is np.float32 else 1e-9
    for rows, columns in ((40, 40), (40, 16), (16, 40), (300, 120), (120, 300)):
        values = spectrum(mode, min(rows, columns), 1e1, seed=rows)
        matrix = with_spectrum(values, rows, columns, seed=mode).astype(dtype)
        for k in (1, 6, min(rows, columns)):
            d = ek.decompose(matrix, "svd", k=k, solver="lanczos", tol=tol, left=True)
            assert_in_order(d.values)
            short, long = (d.right, d.left) if rows >= columns else (d.left, d.right)
            departure = one_norm(np.eye(k) - short.T @ short) / (min(rows, columns) * ulp)
            assert departure < THRESHOLD, f"{rows} x {columns}, k={k}: short side"
            departure = one_norm(np.eye(k) - long.T @ long) / (max(rows, columns) * tol)
            assert departure < THRESHOLD, f"{rows} x {columns}, k={k}: long side"
            product = d.left.T.astype(np.float64) @ matrix.astype(np.float64) @ d.right.astype(np.float64)
            residual = one_norm(product - np.diag(d.values.astype(np.float64)))
            assert residual / (one_norm(matrix) * max(rows, columns) * tol) < THRESHOLD
            if d.certificate.proved:
                lost = np.sum(values[:k] ** 2) - np.sum(d.values.astype(np.float64) ** 2)
                assert abs(lost) <= tol * values[k - 1] ** 2 + 64 * k * ulp * np.sum(values**2)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("kind", TYPES)
def test_lanczos_on_the_types(kind, dtype):
    for rows, columns in ((1, 1), (2, 3), (10, 10), (40, 16), (16, 40), (40, 1), (1, 40)):
        matrix = example(kind, rows, columns, dtype)
        k = max(1, min(rows, columns) // 3)
        d = ek.decompose(matrix, "svd", k=k, solver="lanczos", left=True)
        assert_in_order(d.values)
        ulp = 1e-5 if dtype is np.float32 else 1e-9
        _, left, right = ratios(matrix, d, ulp)
        assert left < THRESHOLD, f"{rows} x {columns}: |I - U'U| has the ratio {left:.3g}"
        assert right < THRESHOLD, f"{rows} x {columns}: |I - V'V| has the ratio {right:.3g}"
        wanted = np.linalg.svd(matrix.astype(np.float64), compute_uv=False)[:k]
        np.testing.assert_allclose(d.values, wanted, rtol=ulp)


@pytest.mark.parametrize("shape", [(0, 0), (0, 1), (0, 3), (1, 0), (3, 0)])
def test_no_rows_or_columns_are_refused(shape):
    with pytest.raises(InputError, match=r"0 sample|0 feature"):
        ek.decompose(np.zeros(shape), "svd")
