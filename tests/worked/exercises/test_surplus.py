"""Values whose numbers cannot be right: a third eigenvalue of a 2 x 2 matrix, sigma_1 < sigma_2."""

from __future__ import annotations

import pytest

from eckart import worked


@pytest.mark.parametrize(("answer", "right"), [
    ("λ1 = 9, λ2 = -7; e1 = (3, 1)/√10, e2 = (1, 1)/√2", True),
    ("λ1 = 9, λ2 = -7, λ3 = 1; e1 = (3, 1)/√10, e2 = (1, 1)/√2", False),
    ("λ1 = 9: (3, 1)/√10; λ2 = -7: (1, 1)/√2; λ3 = 5: (1, 0)", False),
])  # fmt: skip
def test_a_matrix_has_no_further_eigenvalues(answer: str, right: bool) -> None:
    assert bool(worked.exercise("eigen", seed=307).check(answer)) is right


@pytest.mark.parametrize(("answer", "right"), [
    ("σ1 = 6√10, σ2 = 3√10; k = 1", True),
    ("σ1 = 6√10, σ2 = 3√10, σ3 = 0; k = 1", True),
    ("σ = 3√10, 6√10; k = 1", True),
    ("σ1 = 3√10, σ2 = 6√10; k = 1", False),
    ("σ1 = 6√10, σ2 = 3√10, σ3 = 1; k = 1", False),
])  # fmt: skip
def test_singular_values_are_numbered_from_the_largest(answer: str, right: bool) -> None:
    verdict = worked.exercise("energy", seed=323).check(answer)
    assert bool(verdict) is right
    if "σ1 = 3√10" in answer:
        assert verdict.message == "Singular values are numbered from the largest to the smallest."


@pytest.mark.parametrize(("last", "right"), [("0", True), ("5", False)])
def test_a_kernel_matrix_has_more_eigenvalues_than_are_asked_for(last: str, right: bool) -> None:
    scores = "T = [-√51/3 2√3; -√51/3 -2√3; 2√51/3 0]"
    assert bool(worked.exercise("kernel_pca", seed=344).check(f"λ1 = 34, λ2 = 24, λ3 = {last}; {scores}")) is right


def test_other_components_may_be_given_with_the_smallest() -> None:
    made = worked.exercise("minor_components", seed=330)
    assert made.check("λ1 = 80, W = (2, 1)/√5")
