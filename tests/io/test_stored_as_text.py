"""Numbers stored as text in data frames are refused by name, unless they name or number the rows."""

from __future__ import annotations

from pathlib import Path

import pytest

import eckart as ek
from eckart.errors import InputError
from eckart.io.frames import frame_source

pd = pytest.importorskip("pandas")


@pytest.mark.parametrize("values", [["1.5", "2.5"], ["1,5", "2,5"], ["1,234", "12,345"], ["3 %", "4 %"], ["$3", "$4"]])
def test_measurements_stored_as_text_are_refused(values: list[str]) -> None:
    frame = pd.DataFrame({"x": [1.0, 2], "price": values})
    with pytest.raises(InputError, match="'price' contains numbers that are stored as text"):
        frame_source(frame)
    named = frame_source(frame, row_names="price")
    assert named is not None
    assert named.metadata.row_names == tuple(values)
    numbered = frame_source(frame.assign(price=["776", "12"]))
    assert numbered is not None
    assert numbered.metadata.row_names == ("776", "12")


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("suffix", ["parquet", "feather"])
def test_measurements_stored_as_text_in_a_file_are_labels(tmp_path: Path, suffix: str, stream: bool) -> None:
    """They do not name the rows in silence. The names, codes and categories of the other columns do."""
    path = tmp_path / f"t.{suffix}"
    frame = pd.DataFrame({"price": ["1.5", "2.5", "4"], "x": [1.0, 2, 3], "y": [2.0, 1, 5]})
    getattr(frame, f"to_{suffix}")(path)
    d = ek.decompose(path, "svd", k=1, stream=stream)
    note = next(note for note in d.notes if note.code == "numbers_as_text")
    assert note.startswith("The column 'price' contains numbers that are stored as text, so it is used as a label.")
    assert d.row_names is None
    getattr(frame.assign(code=["007", "010", "009"]), f"to_{suffix}")(path)
    assert ek.decompose(path, "svd", k=1, stream=stream).row_names == ("007", "010", "009")
    getattr(frame.astype({"price": "category"}), f"to_{suffix}")(path)
    assert ek.decompose(path, "svd", k=1, stream=stream).row_names == ("1.5", "2.5", "4")
