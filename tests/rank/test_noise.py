"""What kind of noise is left: the tests that choose between rules."""

from __future__ import annotations

import numpy as np
import pytest

import eckart as ek
from eckart.rank.noise import is_white, neighbours_are_correlated, rows_are_exchangeable, spectrum_is_wide
from eckart.rank.remainder import Remainder

RULES = ["sign_flip", "permutation", "gap"]


def remainder(table: np.ndarray, k: int = 0) -> Remainder:
    centred = table - table.mean(axis=0)
    left, _, right = np.linalg.svd(centred, full_matrices=False)
    return Remainder(centred, left[:, :k], right[:k].T, True, min(table.shape[0] - 1, table.shape[1]) - k)


def near(rng, rows, columns, rho=0.6):
    return (
        rng.standard_normal((rows, columns))
        @ np.linalg.cholesky(rho ** np.abs(np.subtract.outer(np.arange(columns), np.arange(columns)))).T
    )


def test_kinds_of_noise():
    rng = np.random.default_rng(0)
    white = rng.standard_normal((60, 12))
    correlated, unequal = near(rng, 60, 12), white * rng.uniform(0.3, 3.0, (60, 1))
    basis = np.linalg.qr(rng.standard_normal((12, 12)))[0] * np.geomspace(1.0, 0.2, 12)
    assert is_white(remainder(white), rng)
    assert not is_white(remainder(unequal), rng)
    assert not is_white(remainder(white * np.linspace(0.5, 2.0, 12)), rng)
    assert rows_are_exchangeable(remainder(white * np.linspace(0.5, 2.0, 12)), rng)
    assert not rows_are_exchangeable(remainder(unequal), rng)
    assert neighbours_are_correlated(remainder(correlated), remainder(correlated), rng)
    assert not neighbours_are_correlated(remainder(correlated.T), remainder(correlated.T), rng)  # rows have no order
    for table in (white, unequal):
        assert not neighbours_are_correlated(remainder(table), remainder(table), rng)
        assert not spectrum_is_wide(remainder(table), rng)
    assert spectrum_is_wide(remainder(rng.standard_normal((100, 12)) @ basis @ basis.T), rng)


def test_what_components_take_is_given_back():
    """HC2: after k components, the corrected remainder has the noise's variance in every column."""
    rng = np.random.default_rng(1)
    signal = 50 * rng.standard_normal((400, 2)) @ rng.standard_normal((2, 6))
    deviations = np.array([0.5, 1.0, 2.0, 0.5, 1.0, 2.0])
    left = remainder(signal + rng.standard_normal((400, 6)), 2)
    np.testing.assert_allclose(left.noise.var(axis=0), 1.0, atol=0.25)
    assert left.table.var(axis=0).min() < 0.7
    assert np.linalg.matrix_rank(left.projected(rng.standard_normal((400, 6)) * deviations)) == 4


@pytest.mark.parametrize("shape", [(100, 20), (15, 40)])
def test_correlated_noise_is_not_counted(shape):
    right = 0
    for seed in range(4):
        rng = np.random.default_rng([shape[0], seed])
        noise = near(rng, *shape, rho=0.5)
        left, components = (np.linalg.qr(rng.standard_normal((size, 2)))[0] for size in shape)
        table = (left * 2.5 * np.linalg.norm(noise, 2)) @ components.T + noise
        right += ek.choose_rank(table, RULES).k == 2
    assert right >= 3


def test_smooth_components_are_no_correlated_noise():
    """Peaks of spectra have correlated neighbours, but white noise is left when they are taken out."""
    x = np.linspace(0.0, 1.0, 40)
    peaks = np.exp(-(((x - np.array([[0.2], [0.5], [0.8]])) / 0.1) ** 2))
    for seed in range(4):
        rng = np.random.default_rng(seed)
        choice = ek.choose_rank(rng.random((60, 3)) @ peaks * 2 + 0.3 * rng.standard_normal((60, 40)), RULES)
        assert choice.k == 3
        assert not choice.correlated
