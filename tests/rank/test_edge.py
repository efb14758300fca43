"""The edge of noise against drawn tables, with equal and with unequal rows."""

from __future__ import annotations

import numpy as np
import pytest

import eckart as ek
from eckart.rank.edge import MEAN, upper_edge


@pytest.mark.parametrize(("rows", "columns"), [(200, 40), (40, 120), (150, 150)])
def test_unequal_rows_and_columns(rows, columns):
    rng = np.random.default_rng([7, rows])
    a, b = rng.uniform(0.5, 2.0, rows) ** 2, rng.uniform(0.5, 2.0, columns) ** 2
    spread = np.sqrt(a)[:, None] * np.sqrt(b)
    drawn = [np.linalg.norm(rng.standard_normal((rows, columns)) * spread, 2) ** 2 for _ in range(60)]
    assert np.mean(drawn) == pytest.approx(upper_edge(b * a.sum(), rows, MEAN, profile=a), rel=0.03)
    # Rows that are taken as equal would put the edge too low.
    assert upper_edge(b * a.sum(), rows, MEAN) < 0.96 * np.mean(drawn)


def test_equal_rows_are_the_special_case():
    for rows, columns in ((60, 12), (30, 100)):
        squares = np.random.default_rng(3).uniform(1.0, 3.0, columns)
        equal = upper_edge(squares, rows, 1.0)
        assert upper_edge(squares, rows, 1.0, profile=np.full(rows, 5.0)) == pytest.approx(equal, rel=1e-5)


def test_quick_counts_no_noise_of_unequal_rows():
    """At the level of 99 %, more than 2 of 30 have a chance of 3e-3; with equal rows assumed, about 10 are wrong."""
    wrong = 0
    for seed in range(30):
        rng = np.random.default_rng([8, seed])
        rows, columns = ((60, 12), (30, 100), (200, 40))[seed % 3]
        noise = rng.standard_normal((rows, columns)) * rng.uniform(0.5, 2.0, (rows, 1)) * rng.uniform(0.5, 2.0, columns)
        wrong += ek.choose_rank(noise, ["deterministic"]).k != 0
    assert wrong <= 2


def test_quick_counts_no_row_of_large_variance():
    """Row deviations of exp(z / 2): the largest of 150 rows has a component of its own, which is its noise."""
    found = []
    for seed in range(12):
        rng = np.random.default_rng([9, seed])
        noise = rng.standard_normal((150, 60)) * rng.lognormal(0.0, 0.5, (150, 1))
        found.append(ek.choose_rank(noise, ["deterministic"]).k)
    assert sum(k not in (0, None) for k in found) <= 1
