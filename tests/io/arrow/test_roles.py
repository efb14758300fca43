"""What columns of a frame are for, once it was written by pandas."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import feather, parquet

import eckart as ek


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("suffix", [".parquet", ".feather"])
def test_levels_of_an_index_are_labels(tmp_path: Path, suffix: str, stream: bool) -> None:
    """Numbers that say where a row belongs are not measurements, as in the frame itself."""
    pd = pytest.importorskip("pandas")
    index = pd.MultiIndex.from_product([[1, 2], [10, 20, 30]], names=["site", " visit "])
    frame = pd.DataFrame({"a": range(6), "b": [0.5, 2, 1, 7, 3, 4]}, index=index)
    path = tmp_path / f"x{suffix}"
    table = pa.Table.from_pandas(frame)
    parquet.write_table(table, path) if suffix == ".parquet" else feather.write_feather(table, path)
    found = ek.open_data(path, stream=stream).metadata
    assert found.column_names == ek.open_data(frame).metadata.column_names == ("a", "b")
    assert found.labels == {"site": ("1", "1", "1", "2", "2", "2"), "visit": ("10", "20", "30") * 2}
