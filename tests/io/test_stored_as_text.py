"""Numbers stored as text in data frames are refused by name, unless they name or number the rows."""

from __future__ import annotations

import pytest

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
