"""Evidence on eigenvalues, determinants, power iteration, rank and norms."""

from __future__ import annotations

import numpy as np
import sympy as sp

from eckart.worked.determinant import determinant
from eckart.worked.eigen import eigen
from eckart.worked.energy import energy
from eckart.worked.errata.erratum import Evidence
from eckart.worked.messages import tr
from eckart.worked.power_iteration import iterate, power_iteration
from eckart.worked.rank import rank
from eckart.worked.svd import svd

RATINGS = "1 1 1 0 0; 3 3 3 0 0; 4 4 4 0 0; 5 5 5 0 0; 0 0 0 4 4; 0 0 0 5 5; 0 0 0 2 2"
MIXED = "1 1 1 0 0; 3 3 3 0 0; 4 4 4 0 0; 5 5 5 0 0; 0 2 0 4 4; 0 0 0 5 5; 0 1 0 2 2"


def characteristic() -> list[Evidence]:
    m = sp.Matrix([[2, 1], [3, 2]])
    at_roots = [sp.expand((m - value * sp.eye(2)).det()) for value in eigen(m)["eigenvalues"]]
    elsewhere = (m - sp.eye(2)).nullspace()
    return [
        Evidence(tr("det(M - λ I) at the eigenvalues 2 ± √3 of [[2, 1], [3, 2]]"), at_roots, at_roots == [0, 0]),
        Evidence(tr("solutions e of (M - I) e = 0, where the determinant is -2"), elsewhere, elsewhere == []),
    ]


def chio() -> list[Evidence]:
    a = sp.Matrix([[0, 1, 3], [1, 0, 2], [4, 5, 0]])
    value = determinant(a)["determinant"]
    return [
        Evidence(
            tr("zero diagonal: Chio's condensation with row swaps, and the determinant"),
            (value, a.det()),
            value == a.det(),
        )
    ]


def stopping() -> list[Evidence]:
    run = iterate(np.array([[-3.0, 1.0], [1.0, -2.0]]), np.ones(2), 1e-6, 100)
    swings = power_iteration("0 1; 1 0", "1 0")["converged"]
    blind = round(float(power_iteration("2 0; 0 1", "0 1")["eigenvalue"]), 6)
    return [
        Evidence(tr("dominant eigenvalue -3.618: last distance ‖x - x'‖ and Rayleigh quotient"),
                 (round(run.plain[-1], 3), round(run.quotients[-1], 5)), run.converged and run.plain[-1] > 1.9),
        Evidence(tr("[[0, 1], [1, 0]] from (1, 0) converges"), swings, not swings),
        Evidence(tr("power iteration on diag(2, 1) from (0, 1) finds the eigenvalue"), blind, blind == 1.0),
    ]  # fmt: skip


def deflating() -> list[Evidence]:
    a = np.array([[1.0, 3, 5], [2, 4, 1], [6, 1, 9]])
    first = iterate(a, np.ones(3), 1e-12, 1000)
    v = first.iterates[-1]
    u = iterate(a - first.quotients[-1] * np.outer(v, v), np.ones(3), 1e-12, 1000).iterates[-1]
    residual = float(np.linalg.norm(a @ u - (u @ a @ u) * u))
    return [
        Evidence(
            tr("residual ‖A u - λ u‖ of the second vector that the program prints"), round(residual, 2), residual > 1
        )
    ]


def wielandt() -> list[Evidence]:
    a, v1 = sp.Matrix([[2, 1], [3, 4]]), sp.Matrix([1, 3])
    x = sp.Matrix([sp.Rational(1, 5), sp.Rational(4, 15)])
    u = (a - 5 * v1 * x.T - sp.eye(2)).nullspace()[0]
    right, wrong = (1 - 5) * u + 5 * x.dot(u) * v1, (5 - 1) * u + 5 * x.dot(u) * v1
    return [
        Evidence(tr("(λ_i - λ_1) u + λ_1 (x · u) v_1 is an eigenvector"), a * right == right, a * right == right),
        Evidence(tr("(λ_1 - λ_i) u + λ_1 (x · u) v_1 is an eigenvector"), a * wrong == wrong, a * wrong != wrong),
    ]


def trace() -> list[Evidence]:
    a = sp.Matrix([[-2, 0], [0, 1]])
    values, singular = list(eigen(a)["eigenvalues"]), list(svd(a)["singular_values"])
    return [
        Evidence(tr("diag(-2, 1): trace, eigenvalues, singular values"), (a.trace(), values, singular),
                 sum(values) == a.trace() != sum(singular)),
    ]  # fmt: skip


def ratings_rank() -> list[Evidence]:
    few, all_rows = rank("1 1 1 0 0; 3 3 3 0 0; 4 4 4 0 0; 5 5 5 0 0")["rank"], rank(RATINGS)["rank"]
    last = rank("0 0 0 4 4; 0 0 0 5 5; 0 0 0 2 2")["rank"]
    return [
        Evidence(
            tr("rank of the first four rows, of the last three, and of all rows"),
            (few, last, all_rows),
            (few, last, all_rows) == (1, 1, 2),
        )
    ]


def mixed_first() -> list[Evidence]:
    found = [round(float(value), 4) for value in svd(MIXED)["V"][:, 0]]
    return [Evidence(tr("first row of V^T"), found, found[0] == 0.5623)]


def mixed_second() -> list[Evidence]:
    u = np.array([[0.13, 0.02], [0.41, 0.07], [0.55, 0.09], [0.68, 0.11], [0.15, -0.59], [0.07, -0.73], [0.07, -0.29]])
    vt = np.array([[0.56, 0.59, 0.56, 0.09, 0.09], [0.12, -0.02, 0.12, 0.69, 0.69]])
    printed = round(float((u[5] * [12.4, 9.5] * vt[:, 3]).sum()), 2)
    vt[1] *= -1
    corrected = round(float((u[5] * [12.4, 9.5] * vt[:, 3]).sum()), 2)
    return [
        Evidence(tr("entry (6, 4) of the printed product, where M has 5"), printed, abs(printed + 4.71) < 0.01),
        Evidence(tr("the same with the sign of the second row of V^T changed"), corrected, abs(corrected - 5) < 0.2),
    ]  # fmt: skip


def rounded_query() -> list[Evidence]:
    from eckart.worked.query import query

    found = query(RATINGS, "4 0 0 0 0")
    return [
        Evidence(
            "q V", [round(float(x), 3) for x in found["concepts"]], round(float(found["concepts"][0]), 3) == 2.309
        ),
        Evidence("q V V^T", list(found["back"]), found["back"][0] == sp.Rational(4, 3)),
    ]


def frobenius() -> list[Evidence]:
    a = sp.Matrix([[3, 0], [4, 5]])
    squares = sum(value**2 for value in svd(a)["singular_values"])
    return [Evidence("[[3, 0], [4, 5]]: ‖A‖_F, ∑ σ^2", (a.norm(), squares), a.norm() ** 2 == squares != a.norm())]


def energy_rule() -> list[Evidence]:
    found = energy(RATINGS, 0.6)
    return [
        Evidence(tr("∑ a_ij^2 and ∑ σ^2 of the ratings"),
                 (found["energy"], sum(v**2 for v in found["singular_values"])),
                 found["energy"] == 243),
        Evidence(tr("k for 60 %: squares, plain sum"), (found["k"], found["k_by_sum"]),
                 found["k"] != found["k_by_sum"]),
    ]  # fmt: skip


def rmse() -> list[Evidence]:
    error = sp.sqrt(svd(RATINGS, 1)["error_squared"])
    return [
        Evidence(
            tr("rank 1: Frobenius norm of the error, RMSE"),
            (error, error / sp.sqrt(35)),
            error != error / sp.sqrt(35),
        )
    ]
