"""Every number that NMF states about its loss, against the returned factors multiplied out in long double."""

from __future__ import annotations

import pytest

bounds = pytest.importorskip("benchmarks.bounds.nmf", reason="run from the root of the repository")


@pytest.mark.parametrize("first", range(770_000, 770_040, 20))
def test_no_statement_is_false(first: int) -> None:
    for seed in range(first, first + 20):
        given = bounds.case(seed, most=60)
        assert not bounds.false_statements(given), given.metadata
