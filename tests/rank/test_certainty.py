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
    left = rng.standard_normal((rows, len(strengths)))
    left, _ = np.linalg.qr(left - left.mean(axis=0))  # what the means would take is not planted
    right, _ = np.linalg.qr(rng.standard_normal((columns, len(strengths))))
    return (left * np.asarray(strengths) * np.linalg.norm(noise, 2)) @ right.T + noise


def test_many_columns_are_certain():
    for seed in range(3):
        choice = ek.choose_rank(planted(100, 24, (3.0, 2.0), seed), RULES)
        assert (choice.k, choice.certain, choice.lowest, choice.highest, choice.reason) == (2, True, 2, 2, "")


def test_the_seed_hardly_matters_for_the_range():
    """Eigenvalues 10 and 11 are close to the limit of a break: more tables are drawn until the answer is clear."""
    rng = np.random.default_rng(101)
    table = 2 * rng.standard_normal((60, 3)) @ rng.standard_normal((3, 12)) + rng.standard_normal((60, 12))
    found = [ek.choose_rank(table, RULES, rng=seed) for seed in range(10)]
    assert [(choice.lowest, choice.highest) for choice in found].count((3, 3)) >= 9


def test_few_columns_are_certain_only_far_from_noise():
    far = [ek.choose_rank(planted(200, 5, (6.0,), seed), RULES) for seed in range(4)]
    assert [(choice.k, choice.certain) for choice in far] == [(1, True)] * 4
    near = ek.choose_rank(planted(40, 5, (1.3, 1.2, 1.2), 3), RULES)
    assert not near.certain
    assert near.lowest < near.highest
    assert near.lowest <= near.k <= near.highest
    assert near.reason
    assert "The number of components is uncertain" in " ".join(str(near).split())
    assert {"certain", "lowest", "highest", "reason"} <= set(near.to_dict())


def test_correlated_noise_in_few_columns_is_not_counted_with_certainty():
    """Of 30 tables without components, at most 2 may be given some: more have a chance of 1e-3 at a level of 99 %."""
    counted = 0
    for seed in range(30):
        choice = ek.choose_rank(planted(40, 5, (), seed, 0.5), RULES)
        counted += choice.k != 0
        assert choice.lowest == 0 or choice.certain
        assert choice.certain <= (choice.k == 0)
    assert counted <= 2


@pytest.mark.parametrize(("shape", "rank"), [((15, 30), 11), ((15, 30), 12), ((60, 12), 10), ((31, 30), 25)])
def test_nearly_as_many_components_as_directions(shape, rank):
    """Strong components that leave 2 to 5 directions of noise are counted; weaker ones are, or are in doubt."""
    strong, weaker = (
        [ek.choose_rank(planted(*shape, np.linspace(1.6 * least, least, rank), seed), RULES) for seed in range(5)]
        for least in (2.5, 1.5)
    )
    assert sum(choice.k == rank for choice in strong) >= 4
    for choice in strong + weaker:
        assert choice.k == rank or not choice.certain
        assert choice.highest is None or choice.highest >= rank


@pytest.mark.parametrize(("shape", "rank"), [((15, 30), 13), ((60, 12), 11), ((200, 5), 4)])
def test_one_direction_of_noise_leaves_the_number_in_doubt(shape, rank):
    """One direction left over has no other to be compared with: no number of components may be called certain."""
    found = [ek.choose_rank(planted(*shape, np.linspace(6.0, 5.0, rank), seed), RULES) for seed in range(6)]
    assert sum(choice.certain for choice in found) <= 1
    assert sum(choice.highest is None or choice.highest >= rank for choice in found) >= 5


def test_eigenvalues_of_zero_are_no_noise():
    """A constant column, or exactly low rank, leaves eigenvalues that are rounding: nothing falls steeply to them."""
    noise = planted(60, 8, (), 5)
    noise[:, 3] = 5.0
    choice = ek.choose_rank(noise, RULES)
    assert (choice.k, choice["gap"].k, choice.certain) == (0, 0, True)
    rng = np.random.default_rng(6)
    choice = ek.choose_rank(rng.standard_normal((30, 2)) @ rng.standard_normal((2, 6)), RULES)
    assert (choice.k, choice["gap"].k) == (2, 2)


def test_a_component_that_is_one_column():
    """Before scaling, one column of USArrests has 96 % of the variance: its noise or a component, nobody can tell."""
    choice = ek.choose_rank(datasets.load("usarrests").values)
    assert not choice.certain
    assert "single column" in choice.reason or "look the same" in choice.reason


def test_descriptive_rules_make_no_statement():
    choice = ek.choose_rank(planted(60, 12, (3.0,), 1), ["variance", "elbow"])
    assert not choice.certain
    assert choice.reason == ""


@pytest.mark.parametrize("columns", [5, 24])
def test_quick_is_certain_where_it_can_test(columns):
    choice = ek.choose_rank(planted(100, columns, (3.0,), 2), "quick")
    assert choice.k == 1
    assert choice.certain == (columns == 24)


@pytest.mark.parametrize("seed", [3, 5])
def test_one_component_is_counted_in_the_singular(seed):
    """Three related columns and two of their own: the tests find one component, `gap` none."""
    rng = np.random.default_rng(seed)
    common = rng.normal(size=(180, 1))
    table = np.column_stack([common + 1.2 * rng.normal(size=(180, 3)), rng.normal(size=(180, 2))])
    choice = ek.choose_rank(table, scale=True)
    assert choice.tested == [1, 1]
    assert "find 1 component" in choice.reason
    assert "1 components" not in choice.summary


def test_a_strong_component_may_be_missed_in_a_tiny_table():
    found = [ek.choose_rank(np.random.default_rng(seed).standard_normal((8, 4)), RULES) for seed in range(3)]
    assert all(not choice.certain and choice.highest >= 1 for choice in found)
    assert any("miss even a strong component" in choice.reason for choice in found)


def test_more_components_than_noise_are_not_certain():
    rng = np.random.default_rng(5)
    noise = rng.standard_normal((200, 8))
    sums = ek.choose_rank(np.hstack([noise, noise[:, :7] + noise[:, 1:]]), RULES)
    assert not sums.certain
    assert (sums.lowest, sums.highest) == (0, 8)
    strong = ek.choose_rank(planted(200, 5, (30.0, 28.0, 26.0), 1), RULES)
    assert (strong.k, strong.certain, strong.lowest, strong.highest) == (3, False, 2, 3)


@pytest.mark.parametrize("correlation", [0.7, 0.9])
def test_quick_does_not_exclude_noise_with_strongly_correlated_neighbours(correlation):
    choice = ek.choose_rank(planted(200, 40, (), 1, correlation), "quick")
    assert choice.correlated
    assert not choice.certain
    assert choice.lowest == 0


@pytest.mark.parametrize(("rows", "columns"), [(100, 24), (60, 90), (25, 60)])
def test_an_outlying_row_is_not_certainly_a_component(rows, columns):
    table = planted(rows, columns, (4.0,), 11)
    table[5] += 40.0 * np.random.default_rng(3).standard_normal(columns)
    choice = ek.choose_rank(table, RULES)
    assert not choice.certain
    assert choice.lowest <= 1 <= choice.highest
    assert "A single row accounts for" in choice.reason


@pytest.mark.parametrize("signs", [(1, -1), (1, 1), (1, 1, -1)])
def test_a_component_of_two_or_three_rows_is_not_certain(signs):
    noise = np.random.default_rng(len(signs)).standard_normal((40, 8))
    choice = ek.choose_rank(np.vstack([noise, *(30 * sign * np.ones((1, 8)) for sign in signs)]), RULES)
    assert (choice.certain, choice.lowest) == (False, 0)
    assert f"{len(signs)} rows account for" in choice.reason


@pytest.mark.parametrize("shape", [(3, 8), (3, 3), (3, 2), (5, 2), (20, 2)])
def test_noise_without_directions_to_compare_is_within_the_range(shape):
    """Components in all directions would be compared with nothing."""
    choices = [ek.choose_rank(np.random.default_rng([7, seed]).standard_normal(shape)) for seed in range(12)]
    assert not any(choice.certain for choice in choices)
    assert all((choice.lowest, choice.highest) == (0, None) for choice in choices)


def test_an_outlying_row_lowers_the_range_even_if_the_number_is_uncertain_for_another_reason():
    """Two related columns and a row far out in six columns: the row makes the first component."""
    table = np.random.default_rng(42).standard_normal((40, 6))
    table[:, 1] += table[:, 0]
    table[17] = [500, -400, 300, 600, -700, 800]
    choice = ek.choose_rank(table, scale=True)
    assert (choice.certain, choice.lowest) == (False, 0)
    assert "A single row accounts for" in choice.reason


@pytest.mark.parametrize(("rows", "columns", "seed"), [(120, 25, 4), (60, 25, 6), (60, 25, 7)])
def test_a_gradual_decrease_of_the_eigenvalues_is_not_certainly_signal(rows, columns, seed):
    """Correlated noise whose columns are in random order: nothing but the gradual decrease shows that it is noise."""
    table = planted(rows, columns, (), seed, correlation=0.6)
    choice = ek.choose_rank(table[:, np.random.default_rng(seed).permutation(columns)], RULES)
    assert choice.k > 2
    assert not choice.certain
    assert choice.lowest <= 2
    assert "decrease gradually" in choice.reason


def test_without_tests_the_lowest_number_allows_for_correlated_noise():
    """In 7 columns, 'quick' has no test: a gap after component 1 does not exclude that there are none."""
    found = [ek.choose_rank(planted(35, 7, (), seed, correlation=0.5), "quick") for seed in range(12)]
    assert sum(choice.k > 0 for choice in found) >= 3
    assert sum(choice.lowest > 0 for choice in found) <= 1


@pytest.mark.parametrize("strengths", [(), (3.0,)])
@pytest.mark.parametrize(("rows", "columns"), [(24, 60), (40, 20)])
def test_copies_of_rows_are_not_certainly_components(rows, columns, strengths):
    table = planted(rows // 2, columns, strengths, 5)
    choice = ek.choose_rank(np.repeat(table, 2, axis=0), RULES)
    assert not choice.certain
    assert choice.lowest <= len(strengths) <= choice.highest
    assert f"{rows // 2} of {rows} rows are copies" in choice.reason


def test_equal_rows_of_answers_are_no_copies():
    answers = np.random.default_rng(3).integers(0, 2, (300, 6)).astype(float)  # 64 rows can differ
    assert "copies" not in ek.choose_rank(answers, RULES).reason
