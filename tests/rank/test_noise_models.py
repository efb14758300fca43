"""Noise of unequal variance or with correlated neighbours: planted components are counted, the noise is not."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.decomposition import FactorAnalysis

import eckart as ek
from eckart.rank.noise_models import factors

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


def correlated(rows, columns, rank, seed, *, correlation=0.0, deviations=1.0, strength=2.5):
    rng = np.random.default_rng([columns, rank, seed])
    near = correlation ** np.abs(np.subtract.outer(np.arange(columns), np.arange(columns)))
    noise = rng.standard_normal((rows, columns)) @ np.linalg.cholesky(near).T * deviations
    left, right = (np.linalg.qr(rng.standard_normal((size, rank)))[0] for size in (rows, columns))
    return (left * strength * np.linalg.norm(noise, 2)) @ right.T + noise + rng.normal(0.0, 3.0, columns)


@pytest.mark.parametrize("columns", [5, 8, 20])
@pytest.mark.parametrize("correlation", [0.5, 0.7, -0.5])
def test_components_in_correlated_noise(columns, correlation):
    right = 0
    for seed in range(4):
        choice = ek.choose_rank(correlated(60, columns, 1, seed, correlation=correlation), RULES)
        right += choice.k == 1
        if choice.decorrelated is not None:
            assert choice.correlated
            assert choice.neighbours == pytest.approx(correlation, abs=0.25)
            assert choice.decided_by == "decorrelated"
            assert f"{choice.neighbours:.2f}" in choice["decorrelated"].reason
            assert choice.to_dict()["decorrelated"] == choice.k
    assert right >= 3


def test_the_correlation_is_estimated():
    """400 rows determine it to within 0.05: the standard error is about sqrt((1 - r^2) / (400 x 9))."""
    found = [ek.choose_rank(correlated(400, 10, 0, seed, correlation=0.4), RULES).neighbours for seed in range(3)]
    np.testing.assert_allclose(found, 0.4, atol=0.051)


def test_weak_components_in_correlated_noise():
    """Components below the largest direction of the noise do not stand apart, but are found once it is independent."""
    found = []
    for seed in range(4):
        rng = np.random.default_rng(seed)
        near = 0.7 ** np.abs(np.subtract.outer(np.arange(30), np.arange(30)))
        noise = rng.standard_normal((200, 30)) @ np.linalg.cholesky(near).T
        signs = (-1.0) ** np.arange(30) / 30**0.5  # across neighbours, where the noise is small
        table = np.outer(rng.standard_normal(200), 2.0 * signs) + noise
        found.append(ek.choose_rank(table, RULES).k)
    assert found.count(1) >= 3


def test_unequal_columns_are_not_taken_for_correlated():
    deviations = np.array([0.5, 2.0, 0.5, 0.6, 2.0, 1.0, 0.5, 2.0])
    for rank in (0, 2):
        for seed in range(4):
            choice = ek.choose_rank(correlated(60, 8, rank, seed, deviations=deviations), RULES)
            assert choice.neighbours == 0.0
