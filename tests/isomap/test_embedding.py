"""Every number that Isomap states about its accuracy, against SciPy's distances along the same graph."""

from __future__ import annotations

import pytest

bounds = pytest.importorskip("benchmarks.bounds.isomap", reason="run from the root of the repository")


@pytest.mark.parametrize("first", range(770_000, 770_030, 10))
def test_no_statement_is_false(first: int) -> None:
    for seed in range(first, first + 10):
        given = bounds.case(seed, most=120)
        assert not bounds.false_statements(given), given.metadata
