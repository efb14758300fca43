"""Every number that CUR states about its error, against C U R in long double and a float64 SVD."""

from __future__ import annotations

import numpy as np
import pytest

import eckart as ek

bounds = pytest.importorskip("benchmarks.bounds.cur", reason="run from the root of the repository")


@pytest.mark.parametrize("first", range(770_000, 770_060, 20))
def test_no_statement_is_false(first: int) -> None:
    for seed in range(first, first + 20):
        given = bounds.case(seed, most=80)
        assert not bounds.false_statements(given), given.metadata


def test_theory_is_stated_for_the_sampling_used() -> None:
    data = np.random.default_rng(0).standard_normal((40, 12))
    for select, proved in (("norm", "additive"), ("volume", "volume"), ("pivot", "pivot"), ("leverage", None)):
        stated = ek.decompose(data, "cur", k=3, select=select).details.bounds
        assert [name for name, bound in stated.items() if bound.proved] == ([proved] if proved else [])
