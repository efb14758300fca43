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

        assert "Multiplicity of 2: 2" in said("2 0; 0 2")
        assert "roots are complex" in said("0 -1; 1 0")
        assert "cannot be diagonalised" in said("1 1; 0 1")
        assert "no general formula" in said("1 2 0 0 1; 2 0 1 0 0; 0 1 3 1 0; 0 0 1 1 2; 1 0 0 2 5")

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
        assert same(found["components"], Matrix([[1, -1], [1, 1]]) / sqrt(2))
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
        eigenpairs = np.array(found["components"].tolist(), float)
        assert np.allclose(array @ eigenpairs, scores, atol=1e-10)
        assert np.isclose(float(found["error_squared"]), values[2:].sum(), rtol=1e-9)

    def test_scaled_is_exact(self) -> None:
        found = worked.pca("1 2; 2 1; 4 3; 5 8", scale=True, k=1)
        assert found["covariance"][0, 0] == 1
        v, values = found["components"], sp.diag(*found["eigenvalues"])
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


class TestQuery:
    def test_a_new_user(self) -> None:
        found = worked.query(RATINGS, "4 0 0 0 0")
        assert same(found["concepts"], [[4 / sqrt(3), 0]])
        assert found["back"] == Matrix([[Rational(4, 3)] * 3 + [0, 0]])
        assert "suggest columns 2, 3" in found.text()

    def test_alike_in_concept_space(self) -> None:
        """Two users on the same axis are at cosine distance 0, whatever the size of their ratings."""
        from eckart.worked.query import cosine

        assert cosine(Matrix([[Rational(232, 100), 0]]), Matrix([[Rational(174, 100), 0]]), sp.eye(2)) == 1
        assert list(worked.query(RATINGS, "4 0 0 0 0")["cosines"]) == [1, 1, 1, 1, 0, 0, 0]

    def test_fewer_concepts(self) -> None:
        assert worked.query(RATINGS, "0 0 0 3 0", k=1)["back"].is_zero_matrix


class TestEnergy:
    def test_both_rules(self) -> None:
        found = worked.energy(RATINGS, 0.6)
        assert (found["k"], found["k_by_sum"], found["energy"]) == (1, 2, 243)

    def test_zero_matrix(self) -> None:
        assert worked.energy("0 0; 0 0")["k"] == 0


class TestPowerIteration:
    def test_settles(self) -> None:
        found = worked.power_iteration("30 28; 28 30")
        assert found["converged"]
        assert found["dominant"] == 58
        assert abs(found["eigenvalue"] - 58) < 1e-10

    @pytest.mark.parametrize(
        ("matrix", "start", "converged", "words"),
        [
            ("-3 1; 1 -2", None, True, "negative, so the vector changes sign"),
            ("0 1; 1 0", "1 0", False, "have the largest modulus"),
            ("0 -1; 1 0", "1 0", False, "keeps rotating"),
            ("2 0; 0 1", "0 1", True, "not the dominant eigenvalue. Use another start vector"),
            ("1 1; 0 1", None, False, "fewer eigenvectors than"),
            ("2 0; 0 2", "1 3", True, "already an eigenvector for λ = 2"),
            ("0 1; 0 0", "1 0", False, "cannot be divided by its length"),
        ],
    )
    def test_what_goes_wrong_is_explained(self, matrix: str, start: str | None, converged: bool, words: str) -> None:
        found = worked.power_iteration(matrix, start)
        assert found["converged"] is converged
        assert words in found.text(width=2000)


class TestDeflation:
    def test_hotelling(self) -> None:
        found = worked.deflation("30 28; 28 30")
        assert list(found["eigenvalues"]) == [58, 2]
        assert "Hotelling" in found.title

    def test_the_notes_example_needs_wielandt(self) -> None:
        found = worked.deflation("1 3 5; 2 4 1; 6 1 9")
        assert [round(float(v), 3) for v in found["eigenvalues"]] == [12.288, 3.981, -2.269]
        with pytest.raises(ValueError, match="wielandt"):
            worked.deflation("1 3 5; 2 4 1; 6 1 9", method="hotelling")

    @pytest.mark.parametrize("text", ["2 1; 3 4", "4 1 0; 2 3 0; 1 1 1", "2 0; 0 2", "1 2; 2 4", "3 1 1; 0 2 1; 0 0 2"])
    def test_wielandt_gives_eigenvectors_exactly(self, text: str) -> None:
        if text.startswith("3 1 1"):
            with pytest.raises(ValueError, match="fewer eigenvectors than"):
                worked.deflation(text, method="wielandt")
            return
        found = worked.deflation(text, method="wielandt")
        a = worked.matrices.matrix(text, "svd", rows=9, columns=9)
        for step in found:
            for item in step.numbers:
                if item.name.startswith("v_"):
                    value = found["eigenvalues"][int(item.name[2:]) - 1]
                    assert (a * item.value - value * item.value).is_zero_matrix
                    assert not item.value.is_zero_matrix


class TestDiagonalize:
    @pytest.mark.parametrize(
        "text", ["2 1; 3 2", "30 28; 28 30", "2 0 0; 0 2 0; 0 0 3", "1 2 0; 0 3 0; 2 -4 2", "0 -1; 1 0"]
    )
    def test_identities(self, text: str) -> None:
        found = worked.diagonalize(text, 4)
        a = worked.matrices.matrix(text, "svd", rows=9, columns=9)
        v, d, back = found["V"], found["D"], found["V_inverse"]
        assert same(a * v, v * d)
        assert same(v * back, sp.eye(a.rows))
        assert found["power"] == a**4

    def test_irreducible(self) -> None:
        a = Matrix([[1, 3, 5], [2, 4, 1], [6, 1, 9]])
        assert worked.diagonalize(a, 3)["power"] == a**3

    def test_not_possible(self) -> None:
        assert worked.diagonalize("1 1; 0 1")["diagonalizable"] is False

    def test_zero_eigenvalue(self) -> None:
        assert "not invertible" in worked.diagonalize("1 2; 2 4").text()


class TestMinorComponents:
    def test_reverse_order(self) -> None:
        found = worked.minor_components(PAIRS, 2)
        assert list(found["eigenvalues"]) == [2, 10]
        assert same(found["scores"][:, 0], Matrix([-1, -1, 1, 1]) / sqrt(2))


class TestCUR:
    def test_pseudo_inverse_of_a_diagonal(self) -> None:
        found = worked.pseudo_inverse("2 0 0 0; 0 0 0 0; 0 0 3 0")["pseudo_inverse"]
        assert found == Matrix([[Rational(1, 2), 0, 0], [0, 0, 0], [0, 0, Rational(1, 3)], [0, 0, 0]])

    @pytest.mark.parametrize("text", ["1 2; 2 4; 3 6", "1 2 3; 4 5 6; 7 8 9", "0 0; 0 0", "1 sqrt(2); sqrt(2) 3"])
    def test_pseudo_inverse_identities(self, text: str) -> None:
        found = worked.pseudo_inverse(text)["pseudo_inverse"]
        a = worked.matrices.matrix(text, "svd", rows=9, columns=9)
        assert same(a * found * a, a)
        assert same(found * a * found, found)
        assert same(a * found, (a * found).T)
        assert same(found * a, (found * a).T)

    @pytest.mark.parametrize("core", ["intersection", "best"])
    @pytest.mark.parametrize("seed", range(4))
    def test_agrees_with_numpy(self, core: str, seed: int) -> None:
        found = worked.cur("1 2 0; 2 3 1; 0 1 4; 1 1 1", 3, seed=seed, core=core)
        a = np.array([[1, 2, 0], [2, 3, 1], [0, 1, 4], [1, 1, 1]], float)
        c, u, r = (np.array(found[name].tolist(), float) for name in ("C", "U", "R"))
        assert np.allclose(c @ u @ r, np.array(found["product"].tolist(), float), atol=1e-10)
        if core == "best":
            assert np.allclose(u, np.linalg.pinv(c) @ a @ np.linalg.pinv(r), atol=1e-10)
        assert np.isclose(float(found["error_squared"]), ((a - c @ u @ r) ** 2).sum(), atol=1e-9)

    def test_scale_and_duplicates(self) -> None:
        found = worked.cur("1 2; 2 1", rows=[1, 2], columns=[1, 1])
        assert found["q"] == Matrix([Rational(1, 2), Rational(1, 2)])
        assert same(found["C"], Matrix([1, 2]) * sqrt(2))
        assert same(found["R"], Matrix([[1, 2], [2, 1]]))

    def test_ten_times_the_matrix_is_ten_times_the_product(self) -> None:
        one = worked.cur("1 2; 2 1; 1 1", rows=[1, 2], columns=[1])
        ten = worked.cur("10 20; 20 10; 10 10", rows=[1, 2], columns=[1])
        assert ten["product"] == 10 * one["product"]

    def test_exact_when_the_rank_is_met(self) -> None:
        assert worked.cur(RATINGS, rows=[4, 6], columns=[1, 5])["error_squared"] == 0

    def test_refusals(self) -> None:
        with pytest.raises(ValueError, match="row or column of zeros"):
            worked.cur("1 0; 1 0", rows=[1], columns=[2])
        with pytest.raises(ValueError, match="from 1 to 2"):
            worked.cur("1 0; 1 0", rows=[3], columns=[1])
        with pytest.raises(ValueError, match="zero"):
            worked.cur("0 0; 0 0")


class TestNMF:
    @pytest.mark.parametrize("loss", ["euclidean", "kl"])
    @pytest.mark.parametrize("seed", range(5))
    def test_the_objective_never_rises(self, loss: str, seed: int) -> None:
        found = worked.nmf("1 2 0 3; 0 1 1 1; 2 4 0 5", 2, loss=loss, seed=seed, iterations=30)
        history = np.array([float(x) for x in found["history"]])
        assert (np.diff(history) <= 1e-12 * history[0]).all()
        assert min(found["W"]) >= 0
        assert min(found["H"]) >= 0

    def test_first_round_is_exact(self) -> None:
        found = worked.nmf("1 2; 2 4", 1, w="1; 1", h="1 1")
        assert found["first_W"] == Matrix([Rational(3, 2), 3])
        assert found["first_W"] * found["first_H"] == Matrix([[1, 2], [2, 4]])

    def test_probabilities_both_ways(self) -> None:
        from eckart.worked.plsa import plsa

        w, h = Matrix([[1, 0], [1, 2]]), Matrix([[1, 1], [0, 3]])
        topics, terms, documents, total = plsa(w, h)
        assert sum(topics) == 1
        assert [sum(terms[:, k]) for k in range(2)] == [1, 1]
        assert [sum(documents[k, :]) for k in range(2)] == [1, 1]
        assert total * terms * sp.diag(*topics) * documents == w * h

    def test_refusals(self) -> None:
        with pytest.raises(ValueError, match="negative"):
            worked.nmf("-1 2; 2 1")
        with pytest.raises(ValueError, match="initial factors"):
            worked.nmf("1 2; 2 1", 1, w="1 1", h="1 1")


class TestKernelPCA:
    def test_linear_gives_pca_back(self) -> None:
        found = worked.kernel_pca(PAIRS, kernel="linear", new="2 2")
        assert list(found["eigenvalues"]) == [10, 2]
        plain = worked.pca(PAIRS)
        signs = [1 if same(found["scores"][:, i], plain["scores"][:, i]) else -1 for i in range(2)]
        assert same(found["scores"] * sp.diag(*signs), plain["scores"])
        assert same(found["new_scores"] * sp.diag(*signs), (Matrix([[2, 2]]) - plain["means"]) * plain["components"])

    @pytest.mark.parametrize("kernel", ["linear", "poly", "rbf", "sigmoid", "cosine"])
    def test_agrees_with_numpy(self, kernel: str) -> None:
        x = np.array([[1.0, 2], [2, 1], [3, 5], [4, 3], [0, 1]])
        found = worked.kernel_pca(x, kernel=kernel, gamma="1/5")
        centred = np.array(found["centred"].tolist(), float)
        assert np.allclose(centred.sum(axis=0), 0, atol=1e-10)
        values, vectors = np.linalg.eigh(centred)
        assert np.allclose(np.array(found["eigenvalues"].tolist(), float).ravel(), values[::-1][:2], rtol=1e-9)
        scores = np.array(found["scores"].tolist(), float)
        assert np.allclose(abs(scores), abs(vectors[:, ::-1][:, :2] * np.sqrt(values[::-1][:2])), atol=1e-9)
        weights = np.array(found["weights"].tolist(), float)
        assert np.allclose(np.diag(weights.T @ centred @ weights), 1, atol=1e-9)

    def test_a_training_point_as_a_new_one(self) -> None:
        found = worked.kernel_pca("1 0; 0 1; 2 1", new="0 1")
        assert same(found["new_scores"], found["scores"][1, :])


class TestSelect:
    def test_correlations(self) -> None:
        found = worked.select("1 2 5; 2 1 5; 3 5 5; 4 2 5", "1 2 3 4")
        assert list(found["correlations"]) == [1, 2 * sqrt(5) / 15, 0]
        assert found["chosen"] == [1]


class TestRoots:
    """Entries with roots, also where the cross-products have none."""

    @pytest.mark.parametrize(
        "text", ["sqrt(2) 0; 0 sqrt(2)", "1 sqrt(2); 2 1", "1 sqrt(2); sqrt(3) 1", "sqrt(3) sqrt(3); 1 1"]
    )
    def test_svd(self, text: str) -> None:
        found = worked.svd(text)
        a = np.array(worked.matrices.matrix(text, "svd", rows=9, columns=9).evalf().tolist(), float)
        u, s, v = (np.array(found[name].evalf().tolist(), float) for name in ("U", "S", "V"))
        assert np.allclose(u @ s @ v.T, a, atol=1e-12)
        assert np.allclose(u.T @ u, np.eye(len(s)), atol=1e-12)

    @pytest.mark.parametrize("scale", [False, True])
    def test_pca(self, scale: bool) -> None:
        found = worked.pca("sqrt(2) 0; 0 sqrt(2); 0 0", scale=scale, route="svd")
        assert same(found["scores"], found["centred"] * found["components"])

    def test_query_and_new_point(self) -> None:
        assert same(worked.query("1 2; 2 1", "1 sqrt(2)")["back"], [[1, sqrt(2)]])
        found = worked.kernel_pca("1 2; 2 1; 3 5", kernel="linear", new="sqrt(2) 1")
        assert found["new_scores"].shape == (1, 2)
