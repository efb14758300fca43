"""Tables that analysts know: rows in any order, related columns, rows of unequal variance."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn import datasets

import eckart as ek

RULES = ["sign_flip", "permutation", "gap"]


@pytest.mark.parametrize("scale", [True, False])
def test_the_order_of_rows_does_not_change_the_number(scale):
    """Rows of wine are sorted by class. The order can only show that neighbours depend on each other."""
    table = datasets.load_wine().data
    shuffled = table[np.random.default_rng(0).permutation(len(table))]
    choices = [ek.choose_rank(rows, [*RULES, "bicross"], scale=scale) for rows in (table, shuffled)]
    assert choices[0].to_dict()["rules"] == choices[1].to_dict()["rules"]
    assert choices[0].k == choices[1].k
    assert "neighbouring rows" not in choices[1].reason


@pytest.mark.parametrize("scale", [True, False])
def test_units_offsets_and_precision_do_not_matter(scale):
    """The same random tables are drawn, because the rows are sorted by their numbers."""
    rng = np.random.default_rng(101)
    table = 2 * rng.standard_normal((60, 3)) @ rng.standard_normal((3, 12)) + rng.standard_normal((60, 12))
    rules = [*RULES, "bicross", "cells", "stability"]
    choices = [
        ek.choose_rank(rows, rules, scale=scale)
        for rows in (table, 1e-3 * table, 1e30 * table, table + 100.0, table.astype(np.float32))
    ]
    found = [(*(v.k for v in choice.verdicts), choice.lowest, choice.highest) for choice in choices]
    assert set(found) == {found[0]}


def test_wine_has_three_components():
    choice = ek.choose_rank(datasets.load_wine().data, scale=True)
    assert choice.k == 3
    assert (choice.lowest, choice.highest) == (2, 3)
    assert choice.trusted == ("sign_flip",)  # rows of the three classes differ in variance
    assert choice["permutation"].k > 3


def test_the_seed_hardly_matters():
    """Component 4 of wine is just below the limit: more tables are drawn until the answer is clear."""
    table = datasets.load_wine().data
    found = [ek.choose_rank(table, RULES, scale=True, rng=seed).k for seed in range(1, 9)]
    assert found.count(3) >= 7


def test_raw_columns_of_different_units():
    """Two areas have 99.8 % of the variance; the tests find no end, and the seed used to decide between 1 and 22."""
    table = datasets.load_breast_cancer().data
    assert [ek.choose_rank(table, RULES, rng=seed).k for seed in (1, 3)] == [1, 1]


def test_columns_that_are_related_in_many_ways():
    """Ten properties of cell nuclei, three figures of each: Horn's analysis has 5, Kaiser 6 components."""
    choice = ek.choose_rank(datasets.load_breast_cancer().data, RULES, scale=True)
    assert choice.decided_by == "horn"
    assert choice.k == choice.horn == 5
    assert choice.lowest == 5
    assert 6 <= choice.highest < 20
    assert not choice.certain
    assert "After removing them, the columns are still correlated" in choice.summary
    assert "Parallel analysis (Horn) finds 5" in choice.summary


def test_images_have_components():
    """Without a step of the eigenvalues, and with neighbours that are correlated: not none, and not nearly all."""
    digits = datasets.load_digits().data[:300, 16:48]
    scaled = ek.choose_rank(digits, RULES, scale=True)
    assert 3 <= scaled.k <= 15
    assert not scaled.certain


@pytest.mark.parametrize(("rows", "columns", "k"), [(50, 12, 10), (100, 20, 17)])
def test_many_strong_components_of_similar_size_in_quick_mode(rows, columns, k):
    """They mask each other in shuffled tables, which then find none; the eigenvalues fall clearly after the last."""
    rng = np.random.default_rng(rows)
    left, right = (np.linalg.qr(rng.standard_normal((n, k)))[0] for n in (rows, columns))
    table = 2 * (rows**0.5 + columns**0.5) * left @ right.T + rng.standard_normal((rows, columns))
    choice = ek.choose_rank(table, "quick")
    assert (choice.k, choice.certain, choice.horn) == (k, False, None)


def test_images_have_components_in_quick_mode():
    """Pixels at the border are nearly always 0; a few rows in which they are not had seemed to have large noise."""
    for scale in (False, True):
        choice = ek.choose_rank(datasets.load_digits().data, "quick", scale=scale)
        assert 5 <= choice.k <= 20
        assert not choice.certain


def test_no_visible_noise():
    """13 mixtures of 4 ingredients that add up to nearly 100 %: two components explain 95 % of the variance."""
    hald = [[7, 26, 6, 60], [1, 29, 15, 52], [11, 56, 8, 20], [11, 31, 8, 47], [7, 52, 6, 33], [11, 55, 9, 22],
            [3, 71, 17, 6], [1, 31, 22, 44], [2, 54, 18, 22], [21, 47, 4, 26], [1, 40, 23, 34], [11, 66, 9, 12],
            [10, 68, 8, 12]]  # fmt: skip
    choice = ek.choose_rank(np.array(hald, dtype=float), RULES, scale=True)
    assert choice.tested == []
    assert (choice.k, choice.lowest, choice.highest) == (2, 0, None)  # nothing excludes correlated noise
    assert "no noise to compare" in choice.reason


@pytest.mark.parametrize("rows", [60, 150, 300])
def test_one_factor_in_three_of_five_columns(rows):
    found = []
    for seed in range(4):
        rng = np.random.default_rng([5, seed])
        factor = rng.standard_normal((rows, 1))
        table = np.hstack([factor + 0.6 * rng.standard_normal((rows, 3)), rng.standard_normal((rows, 2))])
        found.append(ek.choose_rank(table, RULES, scale=True).k)
    assert found.count(1) >= 3
