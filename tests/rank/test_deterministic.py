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
