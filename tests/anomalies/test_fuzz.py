"""Two thousand damaged files of every kind, both ways of reading: right or refused (see `make fuzz` for more)."""

from __future__ import annotations

import pytest

from tests.anomalies.fuzz.__main__ import run


@pytest.mark.parametrize("seed", range(4))
def test_damaged_files_are_refused_or_read_right(seed: int) -> None:
    assert run(500, seed) == []
