"""Tables that cannot be filled."""

from __future__ import annotations

import pytest

from eckart import worked
from eckart.errors import InputError


@pytest.mark.parametrize(("table", "words"), [
    ("1 2 ?", "Column 3 has no known entry"),
    ("1; ?", "Row 2 has no known entry"),
    ("1 2; ? ?; 3 4", "Row 2 has no known entry"),
])  # fmt: skip
def test_nothing_known_is_said_first(table: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        worked.missing(table)


def test_the_filled_table_has_one_name() -> None:
    """M is centred to X, so the reconstruction from X is that of M."""
    formulas = [step.formula for step in worked.missing("1 2; 2 ?; 3 6; 4 8").steps]
    assert "X = M - 1 μ" in formulas
    assert "M~ = 1 μ + X V_k V_k^T" in formulas
    assert not any("X~" in formula or "x~" in formula for formula in formulas)
