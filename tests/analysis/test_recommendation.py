"""The recommended number of components in words."""

from __future__ import annotations

import numpy as np

import eckart as ek


def test_proportional_columns_have_one_direction():
    column = np.random.default_rng(3).normal(size=(60, 1))
    found = ek.analyze(np.hstack([column, 2.0 * column, -3.0 * column]))
    assert found.recommendation.k == 1
    assert found.recommendation.sentence.startswith("There is only one direction")
    text = found.summary()
    assert "PC2 is dominated" not in text
    assert "PC2: no variance" in text
