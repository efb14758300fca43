"""Bounds for what is returned: shares of smallest components, residuals of subnormal data, the stated tolerance."""

from __future__ import annotations

import numpy as np
import pytest

import eckart as ek
from eckart.errors import NotFiniteError


@pytest.mark.parametrize("shape", [(11, 13), (10, 30), (23, 31), (13, 11)])
@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("solver", ["gram", "direct", "auto"])
def test_the_share_of_the_smallest_components_is_that_of_the_returned_vectors(
    shape: tuple[int, int], dtype: str, solver: str
) -> None:
    rows, columns = np.ogrid[: shape[0], : shape[1]]
    hilbert = (1.0 / (rows + columns + 1.0)).astype(dtype)
    d = ek.decompose(hilbert, "svd", k=5, which="smallest", solver=solver)
    assert d.certificate is not None
    low, high = d.certificate.explained
    table = hilbert.astype(np.longdouble)
    share = float(np.sum((table @ d.right.astype(np.longdouble)) ** 2) / np.sum(table**2))
    assert low - 1e-15 <= share <= high + 1e-15
    values = np.linalg.svd(hilbert.astype(float), compute_uv=False)
    least = float(np.sum(values[-5:] ** 2) / np.sum(values**2))
    assert low - 1e-15 <= least <= high + 1e-15
    assert high - low < 2.0 * share + 1e-12


@pytest.mark.parametrize("largest", [5e-324, 1e-321, 1e-318])
@pytest.mark.parametrize("solver", ["gram", "direct", "lanczos"])
def test_residuals_include_the_rounding_of_values_to_subnormal_numbers(largest: float, solver: str) -> None:
    table = np.rint(np.random.default_rng(1).uniform(0.0, 1.0, (40, 7)) * (largest / 5e-324)) * 5e-324
    table[0] = 5e-324
    d = ek.decompose(table, "svd", k=4, solver=solver)
    assert d.certificate is not None
    exact, values = np.ldexp(table.astype(np.longdouble), 1060), np.ldexp(d.values.astype(np.longdouble), 1060)
    right = d.right.astype(np.longdouble)
    residuals = exact.T @ (exact @ right) - right * values**2
    largest_square = np.linalg.svd(exact.astype(float), compute_uv=False)[0] ** 2
    measured = np.sqrt(np.sum(residuals**2, axis=0)).astype(float) / largest_square
    assert np.all(measured <= d.certificate.residuals + 1e-13)


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("weight", [0.2, 0.3, 0.35, 0.5, 1.0])
@pytest.mark.filterwarnings("ignore::eckart.errors.DataWarning")
def test_residuals_hold_for_a_largest_value_below_the_smallest_subnormal_number(weight: float, dtype: str) -> None:
    """With row weights, s_1 may be any share of the smallest number: 1 times that is returned, but 0 is refused.

    A stream of batches returns 0, because further batches may be larger.
    """
    least = np.finfo(dtype).smallest_subnormal
    table = np.array([[0, 0], [least, 0]], dtype)
    square = weight / (1.0 + weight)
    batch = ek.IncrementalPCA(1).partial_fit(table, sample_weight=np.array([1.0, weight]))
    found = [batch.decomposition_]
    if square > 0.25:
        found.append(ek.decompose(table, "pca", k=1, sample_weight=[1.0, weight]))
    else:
        with pytest.raises(NotFiniteError, match="underflow"):
            ek.decompose(table, "pca", k=1, sample_weight=[1.0, weight])
    for d in found:
        value = float(d.values[0]) / float(least)
        assert abs(square - value**2) / square <= float(d.certificate.residuals[0]) * (1.0 + 1e-13)


@pytest.mark.parametrize("solver", ["gram", "direct", "lanczos"])
def test_the_certificate_states_the_tolerance_that_was_used(solver: str) -> None:
    table = np.random.default_rng(3).standard_normal((54, 56))
    single = ek.decompose(table.astype("f4"), k=3, solver=solver).certificate
    double = ek.decompose(table, k=3, solver=solver).certificate
    assert single is not None
    assert double is not None
    assert (single.tolerance, double.tolerance) == (1e-5, 1e-9)
