"""When the number of components is certain: planted ranks in white, unequal and correlated noise."""

from __future__ import annotations

import numpy as np
import pytest

import eckart as ek
from eckart import datasets

RULES = ["sign_flip", "permutation", "gap"]


def planted(rows, columns, strengths, seed, correlation=0.0):
    rng = np.random.default_rng([22, seed])
    near = correlation ** np.abs(np.subtract.outer(np.arange(columns), np.arange(columns)))
    noise = rng.standard_normal((rows, columns)) @ np.linalg.cholesky(near).T
    left, _ = np.linalg.qr(rng.standard_normal((rows, len(strengths))))
    right, _ = np.linalg.qr(rng.standard_normal((columns, len(strengths))))
    return (left * np.asarray(strengths) * np.linalg.norm(noise, 2)) @ right.T + noise


def test_many_columns_are_certain():
    for seed in range(3):
        choice = ek.choose_rank(planted(100, 24, (3.0, 2.0), seed), RULES)
        assert (choice.k, choice.certain, choice.lowest, choice.highest, choice.reason) == (2, True, 2, 2, "")


def test_few_columns_are_certain_only_far_from_noise():
    far = [ek.choose_rank(planted(200, 5, (6.0,), seed), RULES) for seed in range(4)]
    assert [(choice.k, choice.certain) for choice in far] == [(1, True)] * 4
    near = ek.choose_rank(planted(40, 5, (1.3, 1.2, 1.2), 3), RULES)
    assert not near.certain
    assert near.lowest < near.highest
    assert near.lowest <= near.k <= near.highest
    assert near.reason
    assert "uncertain" in str(near)
    assert {"certain", "lowest", "highest", "reason"} <= set(near.to_dict())


def test_correlated_noise_in_few_columns_is_not_counted_with_certainty():
    """Of 30 tables without components, at most 2 may be given some with certainty: more have a chance of 1e-3."""
    wrong = certain = 0
    for seed in range(30):
        choice = ek.choose_rank(planted(40, 5, (), seed, 0.5), RULES)
        wrong += choice.k != 0
        certain += choice.certain and choice.k != 0
        assert choice.lowest == 0 or choice.certain
    assert wrong > 10  # the tests assume independent noise
    assert certain <= 2


def test_a_component_that_is_one_column():
    """Before scaling, one column of USArrests has 96 % of the variance: its noise or a component, nobody can tell."""
    choice = ek.choose_rank(datasets.load("usarrests").values)
    assert not choice.certain
    assert "single column" in choice.reason or "cannot be distinguished" in choice.reason


def test_descriptive_rules_make_no_statement():
    choice = ek.choose_rank(planted(60, 12, (3.0,), 1), ["variance", "elbow"])
    assert not choice.certain
    assert choice.reason == ""


@pytest.mark.parametrize("columns", [5, 24])
def test_quick_is_certain_where_it_can_test(columns):
    choice = ek.choose_rank(planted(100, columns, (3.0,), 2), "quick")
    assert choice.k == 1
    assert choice.certain == (columns == 24)
