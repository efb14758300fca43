"""Shares of the energy."""

from __future__ import annotations

from eckart import worked


def test_shares_in_the_table_are_cumulative() -> None:
    table = worked.energy("3 0; 4 5").steps[1].numbers[1]
    assert [head.split("$")[0].strip() for head in table.headings[-2:]] == ["cumulative share of"] * 2
    assert [row[3] for row in table.rows][-1] == 1
