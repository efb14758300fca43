"""Gap: ratios of neighbouring eigenvalues against simulation."""

from __future__ import annotations

import numpy as np

import eckart as ek
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
