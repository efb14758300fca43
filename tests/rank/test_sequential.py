"""The sequential tests: components that hide each other, heavy tails, and the error rate on noise."""

from __future__ import annotations

import numpy as np
import pytest

import eckart as ek

TESTS = ["sign_flip", "permutation"]


def planted(rng, rows, columns, strengths, noise):
    rank = len(strengths)
    left, right = rng.standard_normal((rows, rank)), rng.standard_normal((columns, rank))
    left, right = np.linalg.qr(left - left.mean(axis=0))[0], np.linalg.qr(right)[0]
    return (left * strengths * np.linalg.norm(noise - noise.mean(axis=0), 2)) @ right.T + noise


@pytest.mark.parametrize(("rows", "columns", "rank"), [(60, 6, 3), (80, 20, 12), (20, 40, 8)])
def test_equal_components_do_not_hide_each_other(rows, columns, rank):
    """Together they make up most of the variance that references are drawn from."""
    right = 0
    for seed in range(4):
        rng = np.random.default_rng([rows, seed])
        table = planted(rng, rows, columns, np.full(rank, 2.0), rng.standard_normal((rows, columns)))
        right += ek.choose_rank(table, TESTS).k == rank
    assert right >= 3


def test_an_outlying_entry_is_not_a_component():
    """Heavy tails: both tests keep the largest entries in their references. At 1 %, 3 of 24 have a chance of 0.002."""
    rng = np.random.default_rng(778)
    found = [ek.choose_rank(rng.standard_t(2.5, (30, 10)), TESTS) for _ in range(24)]
    for rule in TESTS:
        assert sum(choice[rule].k != 0 for choice in found) <= 2, rule


def test_rows_of_unequal_variance_call_for_random_signs():
    rng = np.random.default_rng(5)
    wrong = dict.fromkeys(("verdict", *TESTS), 0)
    for _ in range(12):
        noise = rng.standard_normal((60, 12)) * np.exp(rng.standard_normal((60, 1)))
        choice = ek.choose_rank(noise, TESTS)
        wrong["verdict"] += choice.k != 0
        for rule in TESTS:
            wrong[rule] += choice[rule].k != 0
    assert wrong["permutation"] >= 6  # it takes for granted what is not so
    assert wrong["sign_flip"] <= 1
    assert wrong["verdict"] <= 2


def test_reason_states_the_quantile_of_its_level():
    """A test that stops early states the quantile of its draws, not the draw nearest to the statistic."""
    rng = np.random.default_rng(1)
    table = 2 * rng.standard_normal((200, 3)) @ rng.standard_normal((3, 30)) + rng.standard_normal((200, 30))
    limits = []
    for level in (0.8, 0.9, 0.97, 0.995):
        reason = ek.choose_rank(table, ["permutation"], level=level)["permutation"].reason
        assert f"in {100 * level:g} % of shuffled tables" in reason
        limits.append(float(reason.split("at most ")[1].split()[0]))
    shares = []
    for _ in range(1000):  # white noise of the remaining dimensions
        squares = np.linalg.svd(rng.standard_normal((196, 27)), compute_uv=False) ** 2
        shares.append(100 * squares[0] / squares.sum())
    np.testing.assert_allclose(limits, np.quantile(shares, (0.8, 0.9, 0.97, 0.995)), atol=0.25)


def test_limit_is_an_order_statistic_of_the_draws():
    """Of 19 draws and the table itself, each is as likely as any other to be among the 4 largest: level 80 %."""
    rng = np.random.default_rng(2)
    passed = sum(
        ek.choose_rank(rng.standard_normal((25, 6)), ["sign_flip"], level=0.8, repeats=19).k > 0 for _ in range(60)
    )
    assert 4 <= passed <= 22  # binomial (60, 0.2): 3 standard deviations
