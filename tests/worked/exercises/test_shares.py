"""Shares of single components between their eigenvalues."""

from __future__ import annotations

import pytest

from eckart import worked

OTHERS = "V = [1 2; -2 1]/√5; T = 3√5 [3 1; 1 -1; -3 1; -1 -1]; one component"


@pytest.mark.parametrize(("values", "right"), [
    ("eigenvalues 900 (83.3 %) and 180 (16.7 %)", True), ("λ1 = 900 (83.3 %), λ2 = 180 (16.7 %)", True),
    ("λ = 900 (83 %), 160 (17 %)", False), ("λ = 900, 180; share 80.3 %", False),
])  # fmt: skip
def test_eigenvalues_around_shares(values: str, right: bool) -> None:
    assert bool(worked.exercise("pca", seed=11).check(f"{values}; {OTHERS}")) == right
