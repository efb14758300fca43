"""Constant columns and multiples of other columns do not change the number of components."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

import eckart as ek

RULES = ["sign_flip", "permutation", "gap", "deterministic"]


def answers(table, rules=RULES, **options):
    choice = ek.choose_rank(table, rules, **options)
    return [choice.k, choice.certain, choice.lowest, choice.highest, choice.columns, *(v.k for v in choice.verdicts)]


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(3)
    return 2.0 * rng.standard_normal((80, 2)) @ rng.standard_normal((2, 14)) + rng.standard_normal((80, 14))


@pytest.mark.parametrize("scale", [False, True])
def test_constant_columns_change_nothing(table, scale):
    wider = np.insert(table, [0, 7, 14], 0.1, axis=1)
    rules = [*RULES, "variance", "kaiser", "broken_stick", "unknown_noise", "minka"]
    assert answers(wider, rules, scale=scale) == answers(table, rules, scale=scale)
    assert "constant_columns" in [note.code for note in ek.choose_rank(wider, RULES, scale=scale).notes]


@pytest.mark.parametrize("scale", [False, True])
def test_copies_change_no_rule_about_noise(table, scale):
    wider = np.hstack([table, 2.54 * table[:, :3] + 1.0, -table[:, :1]])
    assert answers(wider, scale=scale) == answers(table, scale=scale)
    assert answers(sparse.csr_array(wider), scale=scale) == answers(wider, scale=scale)
    assert "copied_columns" in [note.code for note in ek.choose_rank(wider, RULES, scale=scale).notes]


@pytest.mark.parametrize("rules", [RULES, "quick"])
@pytest.mark.parametrize("times", [2, 3])
def test_repeated_noise_has_no_components(rules, times):
    noise = np.random.default_rng(1).standard_normal((200, 8))
    choice = ek.choose_rank(np.tile(noise, times), rules)
    assert (choice.k, choice.certain) == (0, True)


def test_descriptive_rules_keep_copies(table):
    wider = np.hstack([table, np.repeat(table[:, :1], 9, axis=1)])
    ratios = ek.decompose(wider, k=14).explained_variance_ratio
    choice = ek.choose_rank(wider, ["variance", "gap"])
    np.testing.assert_allclose(choice.explained_variance_ratio[:14], ratios)
    assert choice["variance"].k == np.searchsorted(np.cumsum(ratios), 0.9) + 1


def test_without_centring_constant_columns_count_and_zero_columns_do_not(table):
    zero = np.hstack([table, np.zeros((80, 2))])
    assert answers(zero, method="svd") == answers(table, method="svd")
    assert answers(np.hstack([table, np.ones((80, 1))]), method="svd")[4] == 15


def test_the_given_decomposition_is_not_used_for_other_columns(table):
    wider = np.hstack([table, np.ones((80, 2)), table[:, :1]])
    known = ek.decompose(wider, k=14)
    assert answers(wider, decomposition=known) == answers(wider)


def test_few_rows_are_not_mistaken_for_copies():
    assert ek.choose_rank(np.random.default_rng(0).standard_normal((3, 9)), ["gap"]).columns == 9


@pytest.mark.parametrize("scale", [False, True])
@pytest.mark.parametrize("k", [None, 6])
def test_constant_columns_of_a_model_change_nothing(k, scale):
    table = np.random.default_rng(8).standard_normal((60, 10)) * np.geomspace(1, 2, 10)
    wider = np.insert(table, [0, 3, 3, 10], [0.1, 0.0, 7.0, 1e9], axis=1)
    plain, found = (ek.choose_rank(ek.decompose(x, k=k, scale=scale)) for x in (table, wider))
    assert (found.k, found.columns) == (plain.k, plain.columns)
    assert [v.k for v in found.verdicts] == [v.k for v in plain.verdicts]
