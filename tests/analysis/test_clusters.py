"""Clusters of rows: found where they are, and not in one normal distribution."""

from __future__ import annotations

import numpy as np
import pytest

import eckart as ek


@pytest.mark.parametrize("count", [2, 3, 4])
def test_clusters_that_are_there(count: int) -> None:
    rng = np.random.default_rng(count)
    codes = rng.integers(count, size=300)
    middles = 9 * rng.standard_normal((count, 5))
    found = ek.analyze(middles[codes] + rng.standard_normal((300, 5))).clusters
    assert found is not None
    assert found.count == count
    pairs = {(a, b) for a, b in zip(codes.tolist(), found.codes.tolist(), strict=True)}
    assert len(pairs) == count, "every cluster is one group"


def test_one_normal_distribution_has_none() -> None:
    wrong = 0
    for seed in range(12):
        rng = np.random.default_rng(100 + seed)
        table = rng.standard_normal((80, 2)) @ np.diag([3.0, 1.0]) @ rng.standard_normal((2, 6))
        found = ek.analyze(table + 0.1 * rng.standard_normal((80, 6)), ranks=None).clusters
        assert found is not None
        wrong += found.count > 1
    assert wrong <= 2  # one in 40 is expected; more than 2 of 12 has a probability of 0.3 %
