"""What kind of noise is left: the tests that choose between rules."""

from __future__ import annotations

import numpy as np
import pytest

import eckart as ek
from eckart.rank.noise import is_white, neighbours_are_correlated, rows_are_exchangeable, spectrum_is_wide
from eckart.rank.remainder import Remainder

RULES = ["sign_flip", "permutation", "gap"]
FOUND = "neighbouring rows have a correlation of"


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


def series(rows, columns, correlation, seed):
    """Columns of stationary autoregressive series without components."""
    near = float(correlation) ** np.abs(np.subtract.outer(np.arange(rows), np.arange(rows)))
    return np.linalg.cholesky(near) @ np.random.default_rng([22, seed]).standard_normal((rows, columns))


def with_two(noise, left):
    """The noise and two strong components with these scores."""
    left = np.linalg.qr(left - left.mean(axis=0))[0]
    right = np.linalg.qr(np.random.default_rng(1).standard_normal((noise.shape[1], 2)))[0]
    return (left * [3.0, 2.0] * np.linalg.norm(noise, 2)) @ right.T + noise


@pytest.mark.parametrize(("shape", "correlation"), [((40, 20), 0.6), ((40, 20), -0.6), ((100, 20), 0.6)])
def test_spurious_components_of_a_series_are_not_certain(shape, correlation):
    found = [ek.choose_rank(series(*shape, correlation, seed), RULES) for seed in range(6)]
    wrong = [choice for choice in found if choice.k]
    assert len(wrong) >= 3
    assert all(not choice.certain and choice.lowest == 0 for choice in wrong)
    assert sum(FOUND in choice.reason for choice in wrong) >= len(wrong) - 1


def test_strong_components_in_dependent_noise_are_still_the_lowest_number():
    for seed in range(4):
        noise = series(60, 20, 0.5, seed)
        choice = ek.choose_rank(with_two(noise, np.random.default_rng(seed).standard_normal((60, 2))), RULES)
        assert (choice.lowest, choice.certain) == (2, False)
        assert choice.k >= 2


@pytest.mark.parametrize("scores", ["smooth", "sorted classes", "sorted by a column", "growing noise", "random walk"])
def test_independent_noise_is_not_taken_for_a_series(scores):
    """At 3 standard deviations, 3 of 40 tables have a chance of 2e-4."""
    flagged = 0
    for seed in range(40):
        rng = np.random.default_rng([23, seed])
        noise, left = rng.standard_normal((40, 15)), rng.standard_normal((40, 2))
        if scores == "smooth":
            left = np.cos(np.pi * np.outer(np.arange(40) + 0.5, [1, 2]) / 40)
        elif scores == "sorted classes":
            left = np.eye(3)[np.sort(np.arange(40) % 3)][:, :2]
        elif scores == "random walk":
            left = np.cumsum(left, axis=0)
        elif scores == "growing noise":
            noise *= np.linspace(0.3, 3.0, 40)[:, None]
        table = with_two(noise, left)
        if scores == "sorted by a column":
            table = table[np.argsort(table[:, 3])]
        flagged += FOUND in ek.choose_rank(table, RULES).reason
    assert flagged <= 2


def test_only_the_certainty_depends_on_the_order_of_the_rows():
    table = series(40, 20, 0.6, 3)
    given, mixed = (ek.choose_rank(rows, RULES) for rows in (table, np.random.default_rng(0).permutation(table)))
    assert [v.k for v in given.verdicts] == [v.k for v in mixed.verdicts]
    assert given.k == mixed.k
    assert FOUND in given.reason
    assert FOUND not in mixed.reason
