"""CUR, written out."""

from __future__ import annotations

import re

import pytest
import sympy as sp

from eckart import worked


@pytest.mark.parametrize("matrix", ["2 1 0; 1 2 1; 0 1 3", "1 1; 2 0; 0 3"])
def test_the_factors_of_drawn_columns_and_rows_are_written_out(matrix: str) -> None:
    """The vector that is drawn, times the factor, is the column of C or the row of R."""
    solution = worked.cur(matrix)
    given, text = solution.steps[0].numbers[0].value, solution.at("full").text()
    columns = re.findall(r"C e_(\d) = .* = \((.*)\) A e_(\d)", text)
    rows = re.findall(r"e_(\d)\^T R = .* = \((.*)\) e_(\d)\^T A", text)
    assert (len(columns), len(rows)) == (solution["C"].cols, solution["R"].rows)
    for found, place in ((solution["C"], columns), (solution["R"].T, rows)):
        source = given if place is columns else given.T
        for to, factor, origin in place:
            scale = sp.sympify(re.sub(r"√(\d+)", r"*sqrt(\1)", factor).removeprefix("*"))
            assert sp.simplify(found[:, int(to) - 1] - scale * source[:, int(origin) - 1]).is_zero_matrix
