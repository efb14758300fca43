"""What columns are: dates in many formats, categories, labels."""

from __future__ import annotations

import numpy as np
import pytest

from eckart.analysis.column_roles import dates_of, label_role


@pytest.mark.parametrize(
    "values",
    [
        ["2021-01-03", "2022-06-30", "2020-12-31"],
        ["2021-01-03 10:00", "2022-06-30 11:30", "2020-12-31 00:00"],
        ["03.01.2021", "30.06.2022", "31.12.2020"],
        ["01/03/2021", "06/30/2022", "12/31/2020"],
        ["03/01/2021", "30/06/2022", "31/12/2020"],
        ["Jan 2021", "Jun 2022", "Dec 2020"],
        ["2021Q1", "2022Q2", "2020Q4"],
    ],
)
def test_dates(values: list[str]) -> None:
    years = dates_of("when", [*values, ""])
    assert years is not None
    assert np.argsort(years[:3]).tolist() == [2, 0, 1]
    assert years[:3].astype(int).tolist() == [2021, 2022, 2020]
    assert np.isnan(years[3])
    assert label_role("when", values) == "date"


def test_years_need_a_name_that_says_so() -> None:
    assert dates_of("year", ["1999", "2000"]) is not None
    assert dates_of("part", ["1999", "2000"]) is None


def test_categories_and_labels() -> None:
    assert label_role("kind", ["a", "b"] * 10) == "category"
    assert label_role("name", [f"n{i}" for i in range(20)]) == "label"
    assert label_role("one", ["a"] * 20) == "label"
