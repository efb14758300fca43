"""Every number of the lecture notes, by SymPy equality."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp
from sympy import Matrix, Rational, sqrt

from eckart import worked

RATINGS = "1 1 1 0 0; 3 3 3 0 0; 4 4 4 0 0; 5 5 5 0 0; 0 0 0 4 4; 0 0 0 5 5; 0 0 0 2 2"
MIXED = "1 1 1 0 0; 3 3 3 0 0; 4 4 4 0 0; 5 5 5 0 0; 0 2 0 4 4; 0 0 0 5 5; 0 1 0 2 2"
POINTS = "1 2; 2 1; 3 4; 4 3"
PAIRS = "1 3; 0 2; 0 0; 3 3"


def same(found: object, wanted: object) -> bool:
    return bool((sp.Matrix(found) - sp.Matrix(wanted)).applyfunc(sp.simplify).is_zero_matrix)


class TestRank:
    def test_three_rows(self) -> None:
        found = worked.rank("1 2 1; -2 -3 1; 3 5 0")
        assert found["rank"] == 2
        assert found["basis"] == Matrix([[1, 2, 1], [-2, -3, 1]])
        assert found["coordinates"] == Matrix([[1, 0], [0, 1], [1, -1]])

    def test_ratings(self) -> None:
        found = worked.rank(RATINGS)
        assert (found["rank"], found["basis_rows"]) == (2, [1, 5])

    def test_zero(self) -> None:
        assert worked.rank("0 0; 0 0")["rank"] == 0

    def test_surds(self) -> None:
        assert worked.rank("1 sqrt(2); sqrt(2) 2")["rank"] == 1


class TestDeterminant:
    def test_swap(self) -> None:
        found = worked.determinant("0 1 3; 1 4 2; 0 5 6")
        assert found["determinant"] == 9
        assert "swap" in found.text()

    def test_zero_on_the_diagonal_does_no_harm(self) -> None:
        assert (
            worked.determinant("1 2 3; 4 0 6; 7 8 0")["determinant"] == Matrix([[1, 2, 3], [4, 0, 6], [7, 8, 0]]).det()
        )

    @pytest.mark.parametrize(
        ("text", "value"), [("0 1 2; 0 3 4; 0 5 6", 0), ("7", 7), ("1 2; 3 4", -2), ("1 1; 1 1", 0)]
    )
    def test_small_and_singular(self, text: str, value: int) -> None:
        assert worked.determinant(text)["determinant"] == value

    def test_every_condensed_matrix_is_shown(self) -> None:
        found = worked.determinant("2 1 0 1; 1 3 1 0; 0 1 4 1; 1 0 1 5")
        shown = [item.value for step in found for item in step.numbers if item.name == "B"]
        assert [b.shape for b in shown] == [(3, 3), (2, 2)]


class TestEigen:
    def test_two_by_two(self) -> None:
        found = worked.eigen("2 1; 3 2")
        x = sp.Symbol("lambda")
        assert sp.expand(found["characteristic_polynomial"] - (x**2 - 4 * x + 1)) == 0
        assert same(found["eigenvalues"], [2 + sqrt(3), 2 - sqrt(3)])
        assert same(found["eigenvectors"], [[Rational(1, 2), -Rational(1, 2)], [sqrt(3) / 2, sqrt(3) / 2]])

    def test_the_example_that_was_deflated_wrongly(self) -> None:
        found = worked.eigen("1 3 5; 2 4 1; 6 1 9")
        assert [round(float(v), 3) for v in found["eigenvalues"]] == [12.288, 3.981, -2.269]
        assert found["exact"] is False
        assert "irreducible" in found.text()

    def test_repeated_complex_and_defective_roots_are_said(self) -> None:
        def said(text: str) -> str:
            return worked.eigen(text).text(width=400)

        assert "is a root 2 times" in said("2 0; 0 2")
        assert "not real" in said("0 -1; 1 0")
        assert "cannot be diagonalised" in said("1 1; 0 1")
        assert "no formula exists" in said("1 2 0 0 1; 2 0 1 0 0; 0 1 3 1 0; 0 0 1 1 2; 1 0 0 2 5")

    def test_entries_with_roots(self) -> None:
        found = worked.eigen("1 sqrt(2); sqrt(2) 3")
        assert same(found["eigenvalues"], [2 + sqrt(3), 2 - sqrt(3)])
        v = found["eigenvectors"]
        assert same(Matrix([[1, sqrt(2)], [sqrt(2), 3]]) * v, v * sp.diag(2 + sqrt(3), 2 - sqrt(3)))

    def test_too_many_roots_are_worked_as_numbers_and_said(self) -> None:
        found = worked.eigen("sqrt(2) sqrt(3) sqrt(5); sqrt(3) sqrt(7) sqrt(11); sqrt(5) sqrt(11) sqrt(13)")
        array = np.sqrt([[2, 3, 5], [3, 7, 11], [5, 11, 13]])
        assert np.allclose(np.array(found["eigenvalues"].tolist(), float).ravel(), np.linalg.eigvalsh(array)[::-1])
        assert "40 digits" in found.text()


class TestPCA:
    def test_not_centred(self) -> None:
        found = worked.pca(POINTS, center=False, flip=[2])
        assert found["cross_products"] == Matrix([[30, 28], [28, 30]])
        assert list(found["eigenvalues"]) == [58, 2]
        assert same(found["axes"], Matrix([[1, -1], [1, 1]]) / sqrt(2))
        assert same(found["scores"], Matrix([[3, 1], [3, -1], [7, 1], [7, -1]]) / sqrt(2))

    def test_centred(self) -> None:
        found = worked.pca(PAIRS)
        assert found["cross_products"] == Matrix([[6, 4], [4, 6]])
        assert list(found["eigenvalues"]) == [10, 2]
        assert same(found["scores"], Matrix([[1, -1], [-1, -1], [-3, 1], [3, 1]]) / sqrt(2))
        assert list(found["pve"]) == [Rational(5, 6), Rational(1, 6)]
        assert list(found["variances"]) == [Rational(10, 3), Rational(2, 3)]

    def test_divisors(self) -> None:
        assert list(worked.pca(PAIRS, divide="n")["variances"]) == [Rational(5, 2), Rational(1, 2)]
        assert list(worked.pca(PAIRS, divide="1")["variances"]) == [10, 2]

    @pytest.mark.parametrize("route", ["variance", "reconstruction", "svd"])
    @pytest.mark.parametrize("scale", [False, True])
    def test_routes_agree(self, route: str, scale: bool) -> None:
        table = "2 1 4; 3 5 1; 7 2 2; 1 1 6; 4 4 3"
        found = worked.pca(table, k=2, route=route, scale=scale)
        array = np.array([[2, 1, 4], [3, 5, 1], [7, 2, 2], [1, 1, 6], [4, 4, 3]], float)
        array = array - array.mean(axis=0)
        array = array / array.std(axis=0, ddof=1) if scale else array
        values = np.linalg.eigvalsh(array.T @ array)[::-1]
        assert np.allclose(np.array(found["eigenvalues"].tolist(), float).ravel(), values, rtol=1e-10)
        scores = np.array(found["scores"].tolist(), float)
        assert np.allclose(scores.T @ scores, np.diag(values), atol=1e-10)
        axes = np.array(found["axes"].tolist(), float)
        assert np.allclose(array @ axes, scores, atol=1e-10)
        assert np.isclose(float(found["error_squared"]), values[2:].sum(), rtol=1e-9)

    def test_scaled_is_exact(self) -> None:
        found = worked.pca("1 2; 2 1; 4 3; 5 8", scale=True, k=1)
        assert found["covariance"][0, 0] == 1
        v, values = found["axes"], sp.diag(*found["eigenvalues"])
        assert same(found["cross_products"] * v, v * values)
        assert same(v.T * v, sp.eye(2))

    def test_error_two_ways(self) -> None:
        assert "‖X - X_1‖_F^2 = 2\n    dropped λ = 2" in worked.pca(POINTS, 1, center=False).text()

    def test_constant_table(self) -> None:
        assert list(worked.pca("1 1; 1 1; 1 1")["eigenvalues"]) == [0, 0]


class TestSVD:
    def test_ratings(self) -> None:
        found = worked.svd(RATINGS, 1)
        assert list(found["singular_values"]) == [3 * sqrt(17), 3 * sqrt(10)]
        third, half = 1 / sqrt(3), 1 / sqrt(2)
        assert same(found["V"], [[third, 0], [third, 0], [third, 0], [0, half], [0, half]])
        assert same(
            found["U"] * found["S"] * found["V"].T,
            worked.svd(RATINGS)["U"] * sp.diag(3 * sqrt(17), 3 * sqrt(10)) * found["V"].T,
        )
        assert found["error_squared"] == 90

    def test_mixed_ratings(self) -> None:
        found = worked.svd(MIXED)
        assert [round(float(v), 3) for v in found["singular_values"]] == [12.481, 9.509, 1.346]
        assert [round(float(v), 4) for v in found["V"][:, 0]] == [0.5623, 0.5929, 0.5623, 0.0901, 0.0901]

    def test_full(self) -> None:
        found = worked.svd(RATINGS, form="full")
        u, s, v = found["U"], found["S"], found["V"]
        assert (u.shape, s.shape, v.shape) == ((7, 7), (7, 5), (5, 5))
        assert same(u.T * u, sp.eye(7))
        assert same(v.T * v, sp.eye(5))
        assert u * s * v.T == worked.matrices.matrix(RATINGS, "svd", rows=9, columns=9)

    def test_zero_matrix(self) -> None:
        found = worked.svd("0 0; 0 0", form="full")
        assert found["rank"] == 0
        assert same(found["U"], sp.eye(2))
        assert "rank is 0" in found.text()
