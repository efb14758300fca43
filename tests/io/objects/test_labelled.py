"""Names of rows and columns from the coordinates of xarray objects."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import eckart as ek

xr = pytest.importorskip("xarray")
TABLE = np.random.default_rng(0).standard_normal((4, 3))
TIMES = np.array(["2020-01-01T06", "2020-01-02T18", "2020-01-03", "2020-01-04"], "datetime64[ns]")


@pytest.mark.parametrize(
    ("coordinate", "names"),
    [
        (["n", "e", "s", "w"], ("n", "e", "s", "w")),
        (TIMES, tuple(f"2020-01-{time}:00:00" for time in ("01T06", "02T18", "03T00", "04T00"))),
        (TIMES[:1].repeat(4).astype("datetime64[D]"), ("2020-01-01",) * 4),
        (np.array([1, 2, 3, 60], "timedelta64[s]"), ("0:00:01", "0:00:02", "0:00:03", "0:01:00")),
        ([0, 1, 2, 3], None),
    ],
    ids=["words", "times", "days", "spans", "count"],
)
def test_coordinates_name_the_rows(coordinate: Any, names: tuple[str, ...] | None) -> None:
    data = xr.DataArray(TABLE, dims=("t", "v"), coords={"t": coordinate, "v": ["a", "b", "c"]})
    found = ek.decompose(data, k=2)
    assert found.column_names == ("a", "b", "c")
    assert found.row_names == names
