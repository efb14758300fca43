"""Every number that NMF states about its loss, against the returned factors multiplied out in long double."""

from __future__ import annotations

import numpy as np
import pytest

import eckart as ek
from eckart.errors import InputError, NotFiniteError

bounds = pytest.importorskip("benchmarks.bounds.nmf", reason="run from the root of the repository")


@pytest.mark.parametrize("first", range(770_000, 770_040, 20))
def test_no_statement_is_false(first: int) -> None:
    for seed in range(first, first + 20):
        given = bounds.case(seed, most=60)
        assert not bounds.false_statements(given), given.metadata


@pytest.mark.parametrize("scale", [1e-310, 1e-290, 1e-160, 1e155, 4e306])
@pytest.mark.parametrize("init", [None, "random"])
def test_tables_at_the_ends_of_the_range(scale, init):
    """Factors, lengths and shares are those of the same table at size 1: a power of two changes nothing."""
    table = np.abs(np.random.default_rng(1).standard_normal((43, 12)))
    exponent = int(np.log2(scale))
    d = ek.decompose(np.ldexp(table, exponent), "nmf", k=3, left=True, init=init, rng=0)
    wanted = ek.decompose(table, "nmf", k=3, left=True, init=init, rng=0)
    np.testing.assert_allclose(np.ldexp(d.values, -exponent), wanted.values, rtol=1e-3)
    np.testing.assert_allclose(np.linalg.norm(d.left, axis=0), 1.0, rtol=1e-12)
    model = (d.left * np.ldexp(d.values, -exponent)) @ d.right.T
    share = 1.0 - np.sum((table - model) ** 2) / np.sum(table**2)
    low, high = d.certificate.explained
    assert share - 1e-10 < low <= share + 1e-10
    assert low <= high < 1.0
    assert np.isfinite(d.certificate.upper).all()
    assert np.isfinite(d.details.lengths).all()


def test_lengths_beyond_the_range_are_refused():
    with pytest.raises(NotFiniteError, match="overflow float64"):
        ek.decompose(np.full((30, 20), 1e307), "nmf", k=1)


@pytest.mark.parametrize("scale", [1e-160, 1e155])
def test_blocks_whose_squares_leave_the_range_are_refused(scale):
    table = np.abs(np.random.default_rng(1).standard_normal((40, 6))) * scale
    with pytest.raises(InputError, match="range of float64"):
        ek.decompose(table, "nmf", k=2, stream=True)
    with pytest.raises(InputError, match="range of float64"):
        ek.NMF(2).partial_fit(table)


def test_the_share_of_float32_factors_includes_their_rounding():
    rng = np.random.default_rng(2)
    for _ in range(20):
        m, n, k = int(rng.integers(10, 40)), int(rng.integers(10, 40)), int(rng.integers(2, 9))
        A = (rng.random((m, k + 1)) @ rng.random((k + 1, n))).astype(np.float32)
        d = ek.decompose(A, "nmf", k=k, left=True)
        left, values, right = (np.asarray(part, np.longdouble) for part in (d.left, d.values, d.right))
        rest = float(np.sqrt(np.sum((A - (left * values) @ right.T) ** 2)))
        squares = float(np.sum(A.astype(np.longdouble) ** 2))
        assert d.certificate.explained[0] <= 1.0 - rest**2 / squares
        assert abs(rest - d.details.error) <= d.details.error_rounding


@pytest.mark.parametrize(("dtype", "size"), [("float32", 1e-44), ("float64", 1e-321)])
def test_the_error_of_subnormal_tables_includes_their_rounding(dtype, size):
    table = (np.random.default_rng(4).random((12, 5)) * size).astype(dtype)
    d = ek.decompose(table, "nmf", k=2, left=True)
    left, values, right = (np.asarray(part, np.longdouble) for part in (d.left, d.values, d.right))
    rest = np.sqrt(np.sum((table.astype(np.longdouble) - (left * values) @ right.T) ** 2))
    assert abs(rest - np.longdouble(d.details.error)) <= np.longdouble(d.details.error_rounding)
    assert d.certificate.explained[0] <= 1.0 - float(rest**2 / np.sum(table.astype(np.longdouble) ** 2))
