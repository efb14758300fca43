"""The recommended number of components in words."""

from __future__ import annotations

import numpy as np

import eckart as ek


def test_proportional_columns_have_one_direction():
    column = np.random.default_rng(3).normal(size=(60, 1))
    found = ek.analyze(np.hstack([column, 2.0 * column, -3.0 * column]))
    assert found.recommendation.k == 1
    assert found.recommendation.sentence.startswith("The data vary in only one direction")
    text = found.summary()
    assert "PC2 is dominated" not in text
    assert "PC2: no variance" in text


def test_copies_are_not_called_unrelated():
    """Three copies of a column explain more than unrelated columns would, and the rules leave them out."""
    table = np.random.default_rng(8).normal(size=(40, 3))
    found = ek.analyze(np.column_stack([table, table[:, 0], 2 * table[:, 0]]), scale=True, rng=0)
    assert found.recommendation.k == 0
    assert (
        "the first component of unrelated columns with the same variances would explain as much"
        not in found.recommendation.sentence
    )
    assert "If multiples of other columns are left out" in found.recommendation.sentence
