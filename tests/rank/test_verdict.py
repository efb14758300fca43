import numpy as np

import eckart as ek


def _two_strong_components(extra: int) -> np.ndarray:
    """Two strong components in 5 columns with noise, and `extra` columns of small independent noise."""
    rng = np.random.default_rng(0)
    table = 10 * (rng.normal(size=(60, 2)) @ rng.normal(size=(2, 5)) + 0.3 * rng.normal(size=(60, 5)))
    return np.hstack([table, rng.uniform(5, 9, size=(60, extra))])


def test_two_possible_numbers_are_named_and_not_described_as_a_range():
    choice = ek.choose_rank(_two_strong_components(0))
    assert (choice.lowest, choice.highest) == (1, 2)
    assert choice.uncertainty == "The number of components is uncertain: it could be 1 or 2."


def test_a_wider_range_is_described_by_its_ends():
    choice = ek.choose_rank(_two_strong_components(2))
    assert choice.highest > choice.lowest + 1
    assert choice.uncertainty.endswith(f"it could be anywhere from {choice.lowest} to {choice.highest}.")


def test_the_summary_says_that_no_voting_rule_agrees_with_the_deciding_rule():
    choice = ek.choose_rank(_two_strong_components(2))
    voting = [verdict.k for verdict in choice.verdicts if verdict.votes and verdict.counts and verdict.k is not None]
    assert choice.k == 2
    assert set(voting) == {5}
    assert f"None of the {len(voting)} rules that separate signal from noise agree; they find 5." in choice.summary
