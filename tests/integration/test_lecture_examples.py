"""Every numbered example of the five sets of notes, in full detail and in each language: the same numbers."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from eckart import worked
from eckart.worked.errata.linear_algebra import MIXED, RATINGS
from eckart.worked.messages import LANGUAGES
from eckart.worked.solution import Solution

FIRST = "1 1 1 0 0; 2 2 2 0 0; 1 1 1 0 0; 5 5 5 0 0; 0 0 0 2 2; 0 0 0 3 3; 0 0 0 1 1"
POINTS = "1 2; 2 1; 3 4; 4 3"
EXAMPLES: dict[str, tuple[Callable[[], Solution], tuple[str, ...]]] = {
    "003, 3.1.4 seven rows": (lambda: worked.rank(FIRST), ("rg(A) = 2", "⎢ 5    0 ⎥")),
    "003, 3.1.4 three rows": (
        lambda: worked.rank("1 2 1; -2 -3 1; 3 5 0"), ("rg(A) = 2", "C = ⎢ 0   1 ⎥", "⎣ 1  -1 ⎦")),
    "003, 3.2.2": (
        lambda: worked.eigen("2 1; 3 2"),
        ("(2 - λ) (2 - λ) - 1 · 3", "λ^2 - 4λ + 1", "λ_1 = 2 + √3", "λ_2 = 2 - √3")),
    "003, 3.2.5": (lambda: worked.deflation("1 3 5; 2 4 1; 6 1 9"), ("12.2884", "3.98075", "-2.26915")),
    "003, PCA example": (
        lambda: worked.pca(POINTS, center=False, flip=[2]),
        ("S = ⎡ 30  28 ⎤", "λ_1 = 58", "λ_2 = 2", "⎢ 3√2/2  -√2/2 ⎥", "⎢ 7√2/2   √2/2 ⎥")),
    "003, PCA to one dimension": (
        lambda: worked.pca(POINTS, 1, center=False), ("‖X - X_1‖_F^2 = 2", "⎢ 3√2/2 ", "⎢ 7√2/2 ", "⎢ 7/2  7/2 ⎥")),
    "003, ratings": (
        lambda: worked.svd(RATINGS), ("σ_1 = 3√17 ≈ 12.3693", "σ_2 = 3√10 ≈ 9.48683", "0.57735", "0.707107",
                                      "0.140028", "0.420084", "0.560112", "0.70014", "0.596285", "0.745356",
                                      "0.298142")),
    "003, second ratings": (lambda: worked.svd(MIXED), ("12.481", "9.50861", "1.34556", "0.562258")),
    "003, 3.3.3 to two dimensions": (
        lambda: worked.svd(MIXED, 2), ("0.994042", "1.29216", "‖A - A_2‖_F^2 ≈ 1.81053", "‖A - A_2‖_F ≈ 1.34556")),
    "003, energy": (lambda: worked.energy(RATINGS, 0.8), ("‖A‖_F^2 = 243", "k = 2")),
    "003, query": (
        lambda: worked.query(RATINGS, "4 0 0 0 0"), ("q V = [ 4√3/3  0 ]", "2.3094", "4/3  4/3  4/3  0  0", "2, 3")),
    "003, pseudo-inverse": (lambda: worked.pseudo_inverse("2 0 0 0; 0 0 0 0; 0 0 3 0"), ("1/2", "1/3")),
    "004, 3.2": (
        lambda: worked.pca("1 3; 0 2; 0 0; 3 3"),
        ("S = ⎡ 6  4 ⎤", "λ_1 = 10", "λ_2 = 2", "⎢ -3√2/2   √2/2 ⎥")),
    "004, 1.3": (lambda: worked.minor_components("1 3; 0 2; 0 0; 3 3"), ("λ_1 = 2",)),
}  # fmt: skip


@pytest.mark.parametrize("name", list(LANGUAGES))
@pytest.mark.parametrize("example", list(EXAMPLES))
def test_the_numbers_of_the_notes(example: str, name: str) -> None:
    make, expected = EXAMPLES[example]
    with worked.language(name):
        text = make().at("full").text(width=120)
    for line in expected:
        shown = line.replace("rg(", "rank(") if name == "en" else line.replace(".", ",")
        assert shown in text, text
