"""Noise of unequal variance: planted components are counted, columns and rows of large noise are not."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.decomposition import FactorAnalysis

import eckart as ek
from eckart.rank.unequal import factors

RULES = ["sign_flip", "permutation", "gap"]


def planted(rows, columns, rank, seed, *, by_rows=False):
    rng = np.random.default_rng([rows, columns, rank, seed])
    deviations = rng.lognormal(0.0, 0.5, (rows, 1) if by_rows else columns)
    noise = rng.standard_normal((rows, columns)) * deviations
    left, right = (np.linalg.qr(rng.standard_normal((size, rank)))[0] for size in (rows, columns))
    return (left * rng.uniform(1.5, 3.0, rank) * np.linalg.norm(noise, 2)) @ right.T + noise + rng.normal(0, 3, columns)


@pytest.mark.parametrize(("rows", "columns", "rank"), [(60, 12, 0), (60, 12, 2), (200, 30, 5)])
def test_columns_of_large_noise_are_not_components(rows, columns, rank):
    found = [ek.choose_rank(planted(rows, columns, rank, seed), RULES) for seed in range(6)]
    assert [choice.k for choice in found].count(rank) >= 5
    assert all(choice.k == rank or not choice.certain for choice in found)


def test_rows_of_large_noise_are_not_components():
    found = [ek.choose_rank(planted(25, 60, 3, seed, by_rows=True), RULES) for seed in range(6)]
    assert [choice.k for choice in found].count(3) >= 5


@pytest.mark.parametrize("by_rows", [False, True])
def test_the_unit_does_not_matter(by_rows):
    table = planted(25, 60, 2, 1, by_rows=by_rows)
    found = [ek.choose_rank(unit * table, RULES) for unit in (1.0, 2.0**-200, 2.0**200)]
    assert len({(choice.k, choice.equalised, choice.lowest, choice.highest) for choice in found}) == 1


@pytest.mark.parametrize("rows", [60, 200])
def test_columns_without_the_factor_are_not_components(rows):
    """A factor in three of five columns: the other two have more noise once the columns are scaled."""
    found = []
    for seed in range(6):
        rng = np.random.default_rng([rows, seed])
        table = 0.6 * rng.standard_normal((rows, 5))
        table[:, :3] += rng.standard_normal((rows, 1))
        choice = ek.choose_rank(table, RULES, scale=True)
        found.append(choice.k)
        if choice.equalised is not None:
            assert choice.decided_by == "equalised"
            assert choice["equalised"].title in choice.summary
            assert choice.to_dict()["equalised"] == choice.equalised
    assert found.count(1) >= 5


def test_equal_noise_is_left_alone():
    rng = np.random.default_rng(5)
    table = 3.0 * rng.standard_normal((80, 2)) @ rng.standard_normal((2, 15)) + rng.standard_normal((80, 15))
    choice = ek.choose_rank(table, RULES)
    assert (choice.k, choice.equalised) == (2, None)


@pytest.mark.parametrize(("rows", "columns", "k"), [(200, 30, 6), (500, 8, 2)])
def test_factors_have_the_largest_likelihood(rows, columns, k):
    rng = np.random.default_rng(rows)
    table = rng.standard_normal((rows, k)) @ rng.standard_normal((k, columns))
    table += rng.standard_normal((rows, columns)) * rng.uniform(0.5, 2.0, columns)
    table -= table.mean(axis=0)
    reference = FactorAnalysis(k, tol=1e-8, max_iter=20_000, svd_method="lapack").fit(table)
    found = factors(table.T @ table / rows, rows, k)
    parameters = columns * k - k * (k - 1) // 2 + columns
    constant = 0.5 * rows * columns * (np.log(2 * np.pi) + 1.0)
    likelihood = found.criterion + 0.5 * np.log(rows) * parameters - constant
    assert likelihood == pytest.approx(rows * reference.score(table), abs=0.5)
    np.testing.assert_allclose(found.noise, reference.noise_variance_, rtol=0.1)
