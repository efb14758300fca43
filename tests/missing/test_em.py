"""EM imputation against the truth: exact tables, noisy tables, and standard errors that hold by column."""

from __future__ import annotations

import numpy as np
import pytest

import eckart as ek
from eckart.missing.em import complete_by_all, fill_rows
from tests.missing.samples import low_rank, scaled_error

RATINGS = np.array(
    [[1, 1, 1, 0, 0], [3, 3, 3, 0, 0], [4, 4, 4, 0, 0], [5, 5, 5, 0, 0], [0, 2, 0, 4, 4], [0, 0, 0, 5, 5],
     [0, 1, 0, 2, 2]], dtype=float,
)  # fmt: skip


def iterated_svd(table, rank):
    """The least-squares reference, which is told the rank."""
    gone = np.isnan(table)
    mean, deviation = np.nanmean(table, axis=0), np.nanstd(table, axis=0)
    filled = np.where(gone, 0.0, (table - mean) / deviation)
    for _ in range(200):
        center = filled.mean(axis=0)
        left, values, right = np.linalg.svd(filled - center, full_matrices=False)
        filled[gone] = ((left[:, :rank] * values[:rank]) @ right[:rank] + center)[gone]
    return filled * deviation + mean


def test_a_gap_is_its_expectation_given_the_values_present():
    """Both forms, by scores (few components) and by gaps (all of them), are the Gaussian conditional expectation."""
    _, table = low_rank(rows=120, columns=8, holes=0.3, seed=8)
    few, every = ek.fill_missing(table, k=2), complete_by_all(table, 0.1, np.ones(len(table)))[0]
    for filled, model in ((few.table, few.model), (every.table, every.model)):
        covariance = model.loadings @ model.loadings.T + np.diag(model.noise)
        assert np.allclose(fill_rows(table, model), filled, atol=1e-3 * np.nanstd(table))
        for row, given_row in zip(fill_rows(table, model), table, strict=True):
            gone = np.isnan(given_row)
            known = ((given_row - model.mean) / model.scale)[~gone]
            inverse = np.linalg.inv(covariance[np.ix_(~gone, ~gone)])
            expected = covariance[np.ix_(gone, ~gone)] @ inverse @ known
            assert np.allclose(((row - model.mean) / model.scale)[gone], expected, atol=1e-8)


@pytest.mark.parametrize("k", [None, 2, 3, 5])
def test_surplus_components_do_not_harm_an_exact_table(k):
    for seed in (11, 12):
        whole, table = low_rank(rows=60, columns=8, noise=0.0, holes=0.15, seed=seed)
        filled = ek.fill_missing(table, k=k)
        assert filled.k == 2
        assert scaled_error(filled.table, whole, np.isnan(table)) < 1e-11
        assert (np.abs(filled.values - whole[np.isnan(table)]) < 1.96 * filled.errors).all()


def test_nearly_low_rank_tables_are_filled_to_their_noise():
    """Rank 2, 60 x 6, noise 1e-8: once off by 0.63 with a stated error of 0."""
    for seed in range(4):
        whole, table = low_rank(rows=60, columns=6, noise=1e-8, holes=0.1, seed=seed)
        filled = ek.fill_missing(table)
        gone = np.isnan(table)
        assert scaled_error(filled.table, whole, gone) < 3e-7
        assert np.mean(np.abs(filled.values - whole[gone]) < 1.96 * filled.errors) > 0.85


def test_ratings_with_one_blank():
    """Every blank in turn: no crash, and the truth lies within the stated error."""
    inside = []
    for i, j in np.ndindex(RATINGS.shape):
        table = RATINGS.copy()
        table[i, j] = np.nan
        filled = ek.fill_missing(table, k=3)
        assert np.isfinite(filled.table).all()
        inside.append(abs(filled.values[0] - RATINGS[i, j]) <= 1.96 * filled.errors[0] + 1e-12)
    assert np.mean(inside) > 0.85


def test_what_the_values_leave_open_has_a_wide_error():
    """A row with one value of an exact rank-3 table says little about the others; a full row says all."""
    whole, table = low_rank(rows=60, columns=8, rank=3, noise=0.0, holes=0.05, seed=21)
    table[0, 1:] = np.nan
    filled = ek.fill_missing(table)
    spread = whole.std(axis=0)[filled.columns]
    sparse_row = filled.rows == 0
    assert (filled.errors[sparse_row] > 0.05 * spread[sparse_row]).all()
    assert np.median(filled.errors[~sparse_row] / spread[~sparse_row]) < 1e-9
    assert np.mean(np.abs(filled.values - whole[np.isnan(table)]) < 1.96 * filled.errors) > 0.95


def test_few_values_for_each_parameter():
    """40 x 8 of rank 4 with a fifth of the values missing: about 2 values for each score and loading."""
    whole, table = low_rank(rows=40, columns=8, rank=4, noise=0.0, holes=0.2, seed=31)
    filled = ek.fill_missing(table)
    determined = filled.errors < 1e-6 * whole.std(axis=0)[filled.columns]
    error = np.abs(filled.values - whole[np.isnan(table)]) / whole.std(axis=0)[filled.columns]
    assert determined.mean() > 0.5
    assert error[determined].max() < 1e-9


def test_the_lowest_of_many_minima():
    """20 x 9 of rank 5, 139 values for 124 parameters: steps from one start once ended in another minimum."""
    whole, table = low_rank(rows=20, columns=9, rank=5, noise=1e-6, holes=0.22, seed=9)
    gone = np.isnan(table)
    filled = ek.fill_missing(table)
    assert filled.k == 5
    assert scaled_error(filled.table, whole, gone) < 1e-4
    assert np.mean(np.abs(filled.values - whole[gone]) < 1.96 * filled.errors) > 0.85


def test_three_degrees_of_freedom_suffice_without_noise():
    """30 x 6 of rank 4: the noise held in the search once left residuals above the level that counts as exact."""
    _, table = low_rank(rows=30, columns=6, rank=4, noise=0.0, holes=0.3, seed=4)
    assert ek.fill_missing(table, k=4).k == 4


@pytest.mark.parametrize(("noise", "seed"), [(0.0, 10), (1e-7, 20)])
def test_one_or_two_degrees_of_freedom_suffice_almost_without_noise(noise, seed):
    """21 x 5 of rank 4: one and two values more than there are scores, means and loadings."""
    whole, table = low_rank(rows=21, columns=5, rank=4, noise=noise, holes=0.18, seed=seed)
    filled = ek.fill_missing(table)
    assert filled.k == 4
    spread = whole.std(axis=0)[filled.columns]
    determined = filled.errors < 0.01 * spread
    assert determined.mean() > 0.4
    error = (np.abs(filled.values - whole[np.isnan(table)]) / spread)[determined]
    assert error.max() < max(1e3 * noise, 1e-10)


def test_error_and_coverage_by_column():
    """At most twice the error of a reference that knows the rank; 95 % intervals right overall and by column scale."""
    inside, quarter = [], []
    for seed in range(24):
        rng = np.random.default_rng([9, seed])
        rank, noise = int(rng.integers(1, 6)), (1e-4, 0.01, 0.1, 0.3, 1.0, 0.5)[seed % 6]
        rows, columns, holes = int(rng.integers(40, 150)), int(rng.integers(rank + 4, 16)), rng.uniform(0.05, 0.3)
        whole, table = low_rank(rows, columns, rank, noise, holes, seed=1000 + seed)
        gone = np.isnan(table)
        filled = ek.fill_missing(table, k=rank + 1)
        assert scaled_error(filled.table, whole, gone) < 2 * scaled_error(iterated_svd(table, rank), whole, gone)
        inside.append(np.abs(filled.values - whole[gone]) < 1.96 * filled.errors)
        order = np.argsort(np.argsort(np.nanstd(table, axis=0))) * 4 // columns
        quarter.append(order[filled.columns])
    inside, quarter = np.concatenate(inside), np.concatenate(quarter)
    assert 0.92 < inside.mean() < 0.98
    for one in range(4):
        assert 0.92 < inside[quarter == one].mean() < 0.98


def test_standard_errors_follow_the_noise_of_the_column():
    """Columns with noise 0.1 and 0.8 have errors in that proportion, not one for the table."""
    rng = np.random.default_rng(41)
    noise = np.where(np.arange(12) % 2, 0.8, 0.1)
    whole = rng.standard_normal((300, 2)) @ rng.standard_normal((2, 12)) + noise * rng.standard_normal((300, 12))
    table = np.where(rng.random(whole.shape) < 0.1, np.nan, whole)
    gone = np.isnan(table)
    filled = ek.fill_missing(table, k=2)
    for chosen in (filled.columns % 2 == 0, filled.columns % 2 == 1):
        error = np.sqrt(np.mean((filled.values - whole[gone])[chosen] ** 2))
        assert np.sqrt(np.mean(filled.errors[chosen] ** 2)) == pytest.approx(error, rel=0.2)
