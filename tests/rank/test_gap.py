"""Gap: ratios of neighbouring eigenvalues against simulation."""

from __future__ import annotations

import numpy as np
import pytest

import eckart as ek
from eckart.rank.gap import smooth_ratio, smooth_share
from eckart.rank.white import white_ratio


def test_ratio_of_white_noise_is_that_of_gaussian_tables():
    rng = np.random.default_rng(0)
    for rows, columns in ((12, 5), (6, 30)):
        values = np.linalg.svd(rng.standard_normal((2000, rows, columns)), compute_uv=False) ** 2
        expected = np.quantile(values[:, 0] / values[:, 1], 0.9)
        assert abs(white_ratio(rows, columns, 0.9) / expected - 1) < 0.06
    assert white_ratio(500, 400, 0.99) == 1.0


def test_last_component_that_stands_apart():
    rng = np.random.default_rng(1)
    noise = rng.standard_normal((200, 15))
    left, right = (np.linalg.qr(rng.standard_normal((size, 4)))[0] for size in (200, 15))
    table = (left * [200.0, 190, 60, 58]) @ right.T + noise
    verdict = ek.choose_rank(table, ["gap"])["gap"]
    values = np.linalg.svd(table - table.mean(axis=0), compute_uv=False) ** 2
    assert verdict.k == 4
    assert f"{values[3] / values[4]:.3g} times as much" in verdict.reason
    assert ek.choose_rank(noise, ["gap"]).k == 0
    assert ek.choose_rank(table, ["gap"], most=3)["gap"].k is None
    assert ek.choose_rank(rng.standard_normal((20, 3)), ["gap"])["gap"].k is None


@pytest.mark.parametrize(("rows", "columns"), [(60, 8), (12, 20)])
def test_limits_are_those_of_drawn_tables(rows, columns):
    """Half of 1 - level each, at the level 0.9: 5 % of 1,000 drawn tables, with a standard error of 0.7 %."""
    rng = np.random.default_rng(0)
    factor = np.linalg.cholesky(0.5 ** np.abs(np.subtract.outer(range(columns), range(columns))))
    values = np.linalg.svd(rng.standard_normal((1000, rows, columns)) @ factor.T, compute_uv=False) ** 2
    ratio, share = values[:, 0] / values[:, 1], values[:, 0] / values.sum(axis=1)
    assert 0.02 < np.mean(ratio > smooth_ratio(rows, columns, 0.9)) < 0.08
    assert 0.02 < np.mean(share > smooth_share(rows, columns, 0.9)) < 0.08


def test_edge_of_many_columns():
    """The edge of the spectrum, for more than 30 columns, is at most 8 % above the limit of drawn tables."""
    rng = np.random.default_rng(0)
    factor = np.linalg.cholesky(0.5 ** np.abs(np.subtract.outer(range(31), range(31))))
    values = np.linalg.svd(rng.standard_normal((400, 90, 31)) @ factor.T, compute_uv=False) ** 2
    drawn = np.quantile(values[:, 0] / values.sum(axis=1), 0.95)
    assert 1.0 < smooth_share(90, 31, 0.9) / drawn < 1.08


def test_falling_components_without_a_step():
    """Each component is 1.7 times the next: none stands apart, but all exceed noise with weak correlations."""
    rng = np.random.default_rng(1)
    left, right = (np.linalg.qr(rng.standard_normal((size, 4)))[0] for size in (400, 24))
    noise = rng.standard_normal((400, 24)) * np.geomspace(1.3, 0.8, 24)
    table = (left * np.sqrt(1.7 ** np.arange(4, 0, -1)) * 32.0) @ right.T + noise
    verdict = ek.choose_rank(table, ["gap"])["gap"]
    assert verdict.k == 4
    noise = (
        rng.standard_normal((400, 24)) @ np.linalg.cholesky(0.5 ** np.abs(np.subtract.outer(range(24), range(24)))).T
    )
    assert ek.choose_rank(noise, ["gap"])["gap"].k == 0
    assert ek.choose_rank(noise[:, rng.permutation(24)], ["gap"])["gap"].k == 0
