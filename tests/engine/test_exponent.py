"""Powers of two are exact: tables that differ by one for each column have the same scaled components."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse

import eckart as ek
from eckart.engine.exponent import SAFE, safe_exponent, safe_exponents, steps_of, times_power_of_two


@pytest.mark.parametrize("precision", ["float32", "float64"])
def test_exponents_bring_every_size_into_the_safe_range(precision: str) -> None:
    info = np.finfo(precision)
    sizes = np.array([0.0, info.smallest_subnormal, info.tiny, 1e-12, 1.0, 1e12, info.max, np.nan], float)
    found = safe_exponents(sizes, precision)
    assert found.tolist() == [safe_exponent(float(size), precision) for size in sizes]
    scaled = np.ldexp(sizes[1:-1], found[1:-1])
    assert (scaled > SAFE[precision][0]).all()
    assert (scaled < SAFE[precision][1]).all()
    assert found[[0, 4, 7]].tolist() == [0, 0, 0]


def test_steps_multiply_to_the_powers() -> None:
    exponents = np.array([-1074, -100, 0, 7, 333])
    product = np.sum([np.log2(step) for step in steps_of(exponents)], axis=0)
    assert product.tolist() == exponents.tolist()
    torch = pytest.importorskip("torch")
    table = np.array([[2.0**-300, 3.0], [1.5, 2.0**-400]])
    wanted = np.ldexp(table, [300, -2])
    assert np.array_equal(times_power_of_two(torch.asarray(table), np.array([300, -2])).numpy(), wanted)


def routes(data: np.ndarray) -> list[tuple[Any, str, dict[str, Any]]]:
    wide = data.shape[1] > data.shape[0]
    found: list[tuple[Any, str, dict[str, Any]]] = [
        (data, "direct", {}), (data, "gram", {}), (data, "lanczos", {}), (np.asfortranarray(data), "lanczos", {}),
        (data, "lanczos", {"stream": True}), (sparse.csr_array(data), "lanczos", {"stream": True}),
        (sparse.csr_array(data), "lanczos", {}), (sparse.csr_array(data), "direct", {}),
    ]  # fmt: skip
    return found if wide else [*found, (data, "gram", {"stream": True}), (sparse.csr_array(data), "gram", {})]


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("shape", [(50, 9), (9, 40)])
@pytest.mark.parametrize("weighted", [False, True])
def test_columns_of_all_sizes_are_scaled(dtype: str, shape: tuple[int, int], weighted: bool) -> None:
    """Columns from 1e-300 to 1e300: one power of two for all would lose the small ones."""
    rng = np.random.default_rng(shape[0] + weighted)
    plain = (rng.standard_normal(shape) * (rng.random(shape) < 0.4) + 0.25 * (rng.random(shape[1]) < 0.2)).astype(dtype)
    plain[:, 3] = 0.5
    powers = np.round(np.linspace(-120, 120, shape[1]) * (1.0 if dtype == "f4" else 8.0)).astype(int)
    rng.shuffle(powers)
    data = np.ldexp(plain, powers)
    weights = rng.uniform(0.1, 3.0, shape[0]) if weighted else None
    right = ek.decompose(plain.astype(float), "pca", k=3, scale=True, sample_weight=weights, solver="direct")
    for stored, solver, options in routes(data):
        d = ek.decompose(stored, "pca", k=3, scale=True, sample_weight=weights, solver=solver, left=True, **options)
        certificate = d.certificate
        assert certificate is not None
        assert (certificate.lower <= right.values * (1 + 1e-13)).all(), (solver, options)
        assert (certificate.upper >= right.values * (1 - 1e-13)).all(), (solver, options)
        assert certificate.proved
        scale = np.where(np.arange(shape[1]) == 3, d.scale, np.ldexp(d.scale.astype(float), -powers))
        np.testing.assert_allclose(scale, np.asarray(right.scale), rtol=1e-6)
        scores = ek.project(d, stored)
        product = d.left * d.values / (1.0 if weights is None else np.sqrt(weights)[:, None])
        np.testing.assert_allclose(scores, product, atol=1e-4 if dtype == "f4" else 1e-10)


@pytest.mark.parametrize("size", [1e-250, 1.0, 1e140])
def test_columns_that_vary_in_their_last_bit_keep_their_units(size: float) -> None:
    """Nothing is scaled, whatever the size: the components are those without scale=True."""
    rng = np.random.default_rng(3)
    data = size + np.spacing(size) * (rng.random((400, 5)) < 0.01)
    plain = ek.decompose(data, "pca", k=2)
    for solver in ("direct", "gram", "lanczos"):
        scaled = ek.decompose(data, "pca", k=2, scale=True, solver=solver)
        assert np.asarray(scaled.scale).tolist() == [1.0] * 5
        np.testing.assert_allclose(scaled.values, plain.values, rtol=1e-10)
        np.testing.assert_allclose(scaled.certificate.upper, plain.certificate.upper, rtol=1e-6)
