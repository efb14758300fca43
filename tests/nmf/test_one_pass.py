"""Steps of W that also form A^T W: the same as two separate products, for any block size, dtype and thread count."""

from __future__ import annotations

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

import eckart as ek
from eckart.nmf.one_pass import OnePassSquares
from eckart.nmf.problem import Penalties, Penalty
from eckart.nmf.squares import Squares


def _factors(rows: int, columns: int, k: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(3)
    return rng.random((rows, columns)), rng.random((rows, k)), rng.random((columns, k))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shape", [(1, 7), (3, 2000), (700, 90), (3000, 120)])
@pytest.mark.parametrize("compiled", [False, True])
def test_steps_equal_those_with_two_products(dtype: str, shape: tuple[int, int], compiled: bool) -> None:
    data, left, right = _factors(*shape, 4)
    data = data.astype(dtype)
    exact = data.astype(np.float64)
    penalties = Penalties(Penalty(0.3, 0.2), Penalty(0.1, 0.4))
    products = (lambda other: exact @ other), (lambda other: exact.T @ other)
    plain = Squares(*products, float(np.vdot(exact, exact)), penalties, sweeps=3, compiled=compiled)
    fused = OnePassSquares(data, *products, float(np.vdot(exact, exact)), penalties, sweeps=3, compiled=compiled)
    for first, second in zip(
        (plain.rows(left, right, 0.5 * left, 0.4), fused.rows(left, right, 0.5 * left, 0.4)),
        (fused.rows(left, right, 0.5 * left, 0.4), plain.rows(left, right, 0.5 * left, 0.4)),
        strict=True,
    ):
        np.testing.assert_allclose(first.new, second.new, rtol=1e-10, atol=1e-12)
        np.testing.assert_allclose(first.ahead, second.ahead, rtol=1e-10, atol=1e-12)
        assert first.value == pytest.approx(second.value, rel=1e-10)
        assert first.violation == pytest.approx(second.violation, rel=1e-10)
    moved = fused.rows(left, right, 0.5 * left, 0.4).ahead
    for other in (moved, left):  # kept from the step of W, and formed anew for any other W
        expected = plain.columns(right, other, 0.5 * right, 0.4)
        found = fused.columns(right, other, 0.5 * right, 0.4)
        np.testing.assert_allclose(found.new, expected.new, rtol=1e-10, atol=1e-12)
        np.testing.assert_allclose(found.ahead, expected.ahead, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("shape", [(3000, 120, 5), (9000, 110, 8)])
def test_bits_do_not_depend_on_threads(shape: tuple[int, int, int]) -> None:
    data = np.random.default_rng(0).random(shape[:2])
    found = []
    for threads in (1, 2, 3):
        with threadpool_limits(threads):
            found.append(ek.NMF(shape[2], max_iter=15, tol=0.0).fit_transform(data))
    assert all(np.array_equal(found[0], other) for other in found[1:])
