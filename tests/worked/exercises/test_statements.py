"""Names, words and values of an answer, told apart before anything is computed."""

from __future__ import annotations

import pytest

from eckart.worked.exercises.statements import flat, statements


@pytest.mark.parametrize(("text", "expected"), [
    ("det A = -36 + 48 = 12", [("det A", "12")]),
    ("A^3 = V D^3 V^-1 = [1 2; 3 4]", [("A^3", "1 2 3 4")]),
    ("r1=-0.6 r2=0.1 columns 1 and 3", [("r1", "-0.6"), ("r2", "0.1"), ("columns", "1 3")]),
    ("A^3: \n-1 2\n3 4", [("A^3", "-1 2"), ("", "3 4")]),
    ("for lambda = 5: v = (1, 2)", [("for lambda", "5"), ("v", "1 2")]),
    ("2 det A = 4; A - B = 3; eigenspace for -6: (1, 2)",
     [("2 det A", "4"), ("A - B", "3"), ("eigenspace for", "-6"), ("", "1 2")]),
    ("k = 1 (50 %); 3: 0.6 0.8", [("k", "1"), ("", "0.5"), ("", "3"), ("", "0.6 0.8")]),
    ("x1, x3 (r = 1, 2)", [("", "1 3"), ("r", "1 2")]),
    ("lambda: -4; -10. v: (1, 2)", [("lambda", "-4"), ("", "-10"), ("v", "1 2")]),
    ("12 components; 12 = det(A)", [("components", "12"), ("det(A)", "12")]),
    ("3 is the rank and (1, 2) is its vector", [("is the rank", "3"), ("is its vector", "1 2")]),
    ("row 3 = 2 r1 - r2", [("row_3", "")]),
])  # fmt: skip
def test_statements(text: str, expected: list[tuple[str, str]]) -> None:
    found = statements(text, (0, False), [])
    assert [(one.text, " ".join(map(str, flat(one.entries)))) for one in found] == expected
