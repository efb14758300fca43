"""The reasons of the rule 'deterministic'."""

import numpy as np

import eckart as ek


def test_one_dominant_column_is_described_in_the_singular():
    table = np.random.default_rng(0).standard_normal((200, 12))
    table[:, 0] *= 100.0
    found = ek.choose_rank(table, ["deterministic"], scale=False)["deterministic"]
    assert found.k is None
    assert found.reason == (
        "The first component dominates the variances of the columns, so this test cannot distinguish it from noise."
    )


def test_a_limit_that_no_component_could_exceed_is_no_answer():
    table = np.random.default_rng(3).standard_normal((12, 10)) * np.geomspace(30, 0.5, 10)
    found = ek.choose_rank(table, ["deterministic"], scale=False)["deterministic"]
    assert found.k is None
    assert found.reason.startswith("The limit for a component of pure noise is above 100 % of the variance")
