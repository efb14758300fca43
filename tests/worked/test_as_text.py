"""Text fits into 80 columns, whatever the numbers are, and no rounded number stands after a sign of equality."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from eckart import worked
from eckart.worked.solution import Solution

CASES: dict[str, Callable[[], Solution]] = {
    "svd of sizes far apart": lambda: worked.svd("0.000001 1; 1 1000000; 3 4"),
    "large integers": lambda: worked.svd("123456789012 2; 3 987654321098"),
    "kernel of fractions": lambda: worked.kernel_pca("1/3 2/7; 3/5 -4/9; 1/2 1/4"),
    "decimals": lambda: worked.pca("1.5 2.25; 3.1 -4.7; 0.001 7; 8 9", route="svd"),
    "large draws": lambda: worked.cur("123456789012 2; 3 987654321098"),
}


@pytest.mark.parametrize("case", list(CASES))
def test_lines_are_short_enough(case: str) -> None:
    solution = CASES[case]()
    for detail in ("brief", "normal", "full"):
        assert max(map(len, solution.at(detail).text().splitlines())) <= 80
    assert max(map(len, solution.at("full").text(120).splitlines())) <= 120


def test_long_exact_values_are_replaced_by_decimals() -> None:
    solution = worked.svd("0.000001 1; 1 1000000; 3 4")
    text = solution.text()
    assert "(exact values too long to print)" in text
    assert "too long to print" in solution.latex()
    assert "too long to print" in solution.html()
    assert re.search(r"For λ ≈ 8.99998, solve", text)
    assert "For λ = 8.99998" not in text


def test_one_column_is_not_a_range() -> None:
    row = " ".join(["123456789012345678901234567890"] * 3)
    text = worked.rank(f"{row}; 1 2 3").text()
    assert "columns 1 to 2:" in text
    assert "column 3:" in text


def test_a_percentage_is_not_broken() -> None:
    for width in range(60, 90):
        lines = worked.exercise("pca", seed=2026).question().text(width).splitlines()
        assert not [line for line in lines if line.strip().startswith("%")]
