"""How many values explain a share."""

from __future__ import annotations

import numpy as np
import pytest

import eckart as ek
from eckart.engine.solution import smallest_count

SEEDS = [int(seed) for seed in np.random.default_rng(150818).integers(0, 2**31, 3)]


def test_a_share_that_is_met_exactly_needs_no_further_value() -> None:
    assert smallest_count(np.array([4.0, 3.0, 2.0, 1.0]), 10.0, 0.7) == 2
    assert smallest_count(np.array([0.1] * 10), 1.0, 0.3) == 3
    assert smallest_count(np.array([4.0, 3.0, 2.0, 1.0]), 10.0, 0.7 + 1e-9) == 3
    assert smallest_count(np.array([4.0, 3.0]), 10.0, 0.8) is None
    assert smallest_count(np.array([4.0, 3.0]), 10.0, 0.7 + 1e-8, error=1e-6) == 2


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
