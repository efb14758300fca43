"""Rows that depend on their neighbours, as in a time series: what they add is never counted with certainty."""

from __future__ import annotations

import numpy as np
import pytest

import eckart as ek

RULES = ["sign_flip", "permutation", "gap"]
FOUND = "neighbouring rows have a correlation of"


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
