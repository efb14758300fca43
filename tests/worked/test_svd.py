"""Worked singular value decompositions: simple roots, and the zero matrix."""

from __future__ import annotations

from eckart import worked


def test_singular_values_without_nested_roots_have_no_common_factor() -> None:
    text = worked.svd("1 1; 0 1").text()
    assert "σ_1 = 1/2 + √5/2 ≈ 1.61803" in text
    assert "σ_2 = -1/2 + √5/2 ≈ 0.618034" in text


def test_a_zero_matrix_has_no_singular_vectors() -> None:
    text = worked.svd("0 0; 0 0").text()
    assert "All eigenvalues are 0, so the rank is 0." in text
    assert "Left singular vectors" not in text
