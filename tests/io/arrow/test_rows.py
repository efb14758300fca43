"""Several Parquet files as one table."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet

import eckart as ek
from eckart.errors import FileError


@pytest.mark.parametrize(
    ("other", "words"),
    [
        ({"a": [1, 2], "b": [0.5, 1.5]}, "The column 'a' has type double in one file and int64 in the other"),
        ({"b": [0.5, 1.5], "a": [1.0, 2.0]}, "One file has the column 'a' where the other has 'b'"),
        ({"a": [1.0, 2.0], "b": [0.5, 1.5], "c": [1, 2]}, "Only one of the files has the column 'c'"),
    ],
)
def test_files_that_do_not_fit_together(tmp_path: Path, other: dict[str, Any], words: str) -> None:
    parquet.write_table(pa.table({"a": [1.0, 2.0], "b": [0.5, 1.5]}), tmp_path / "1.parquet")
    parquet.write_table(pa.table(other), tmp_path / "2.parquet")
    with pytest.raises(FileError, match=words):
        ek.open_data(tmp_path)
