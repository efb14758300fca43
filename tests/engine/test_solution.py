"""How many values explain a share."""

from __future__ import annotations

import numpy as np
import pytest

import eckart as ek
from eckart.engine.solution import is_undecided, smallest_count

SEEDS = [int(seed) for seed in np.random.default_rng(150818).integers(0, 2**31, 3)]


def test_a_share_that_is_met_exactly_needs_no_further_value() -> None:
    assert smallest_count(np.array([4.0, 3.0, 2.0, 1.0]), 10.0, 0.7) == 2
    assert smallest_count(np.array([0.1] * 10), 1.0, 0.3) == 3
    assert smallest_count(np.array([4.0, 3.0, 2.0, 1.0]), 10.0, 0.7 + 1e-9) == 3
    assert smallest_count(np.array([4.0, 3.0]), 10.0, 0.8) is None


def test_a_count_that_rounding_decides_is_not_claimed():
    values, at = np.array([4.0, 3.0, 2.0]), 0.7 + 1e-8
    assert is_undecided(at, values[:2], values[:2], 10.0, 1e-6, 4)  # two may not be enough
    assert is_undecided(at, values - 1e-6, values + 1e-6, 10.0, 0.0, 4)  # two may be enough
    assert not is_undecided(at, values - 1e-9, values + 1e-9, 10.0, 0.0, 4)
    assert not is_undecided(at, values - 1e-9, values + 1e-9, 10.0, 0.0, 3)
    assert not is_undecided(None, values[:2], values[:2], 10.0, 1e-6, 4)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("solver", ["direct", "gram"])
def test_shares_at_a_boundary_give_k(seed: int, solver: str) -> None:
    rng = np.random.default_rng(seed)
    left, right = (np.linalg.qr(rng.standard_normal((n, 8)))[0] for n in (60, 8))
    squares = np.arange(8, 0, -1.0)
    data = (left * np.sqrt(squares)) @ right.T
    for k in range(1, 8):
        share = float(squares[:k].sum() / squares.sum())
        assert ek.decompose(data, "svd", explain=share, solver=solver).k == k
