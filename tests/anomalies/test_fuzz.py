"""Two thousand damaged files of every kind, both ways of reading: right or refused (see `make fuzz` for more)."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.anomalies.fuzz.__main__ import run
from tests.anomalies.fuzz.mutations import mutate
from tests.anomalies.fuzz.outcomes import judge
from tests.anomalies.fuzz.valid_files import FILES


@pytest.mark.parametrize("seed", range(4))
def test_damaged_files_are_refused_or_read_right(seed: int) -> None:
    assert run(500, seed) == []


@pytest.mark.parametrize(
    ("name", "seed"), [("triplets.parquet", (90101, 3337)), ("mixed.parquet", (90101, 8730))], ids=["triplets", "mixed"]
)
def test_damage_that_one_way_of_reading_overlooked(tmp_path: Path, name: str, seed: tuple[int, int]) -> None:
    """The type of a column that is left out differs between a row group and the schema."""
    FILES[name](tmp_path / name)
    mutate(tmp_path / name, np.random.default_rng(seed))
    assert judge(tmp_path / name) == ""
