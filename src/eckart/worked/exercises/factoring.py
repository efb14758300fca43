"""Exercises on factorisations: SVD, pseudo-inverse, energy, concepts, bounds, CUR, NMF."""

from __future__ import annotations

from fractions import Fraction
from math import isqrt
from typing import TYPE_CHECKING, Any

import numpy as np
import sympy as sp

from eckart.worked.exercises.families import (
    floats,
    largest,
    no_equal_rows,
    no_parallel_rows,
    off_diagonal,
    table,
    whole,
)
from eckart.worked.exercises.problem import Kind, Problem, Random
from eckart.worked.exercises.targets import Target
from eckart.worked.fields import tidy_root
from eckart.worked.messages import mark
from eckart.worked.nmf import step
from eckart.worked.numerals import figure
from eckart.worked.solution import Equation, Solution

if TYPE_CHECKING:
    from eckart.worked.solution import Value

SHARES = ("0.7", "0.75", "0.8", "0.85", "0.9", "0.95")


def _svd(rng: Random, difficulty: int, rows: int, cols: int) -> Problem:
    return Problem(table(rng, rows, cols, centred=False))


def _is_good_table(problem: Problem) -> bool:
    """Cross-products without off-diagonal zeros, different singular values, small entries."""
    a = problem.matrix
    values = np.linalg.svd(floats(a), compute_uv=False)
    return (
        largest(a) <= (15 if a.shape == (2, 2) else 25)
        and no_equal_rows(a)
        and off_diagonal(a.T * a)
        and bool(values[-1] > 0.5 and np.all(np.diff(values**2) < -0.5))
    )


def _pseudo_inverse(rng: Random, difficulty: int, rows: int, cols: int) -> Problem:
    if difficulty == 1:
        return Problem(whole(rng, rows, cols, 2))
    rank = cols if rows > cols and (difficulty == 2 or cols == 2) else cols - 1
    return Problem(whole(rng, rows, rank, 2) * whole(rng, rank, cols, 1) if rank < cols else whole(rng, rows, cols, 2))


def _is_good_pseudo_inverse(problem: Problem) -> bool:
    a = problem.matrix
    if a.rows == a.cols == a.rank() or not no_parallel_rows(a) or largest(a) > 9:
        return False
    gram = a.T * a
    return (
        off_diagonal(gram)
        and a.rank() > 1
        and a.pinv().applyfunc(lambda x: sp.Integer(x.q <= 120)) == sp.ones(*a.T.shape)
    )


def _energy(rng: Random, difficulty: int, rows: int, cols: int) -> Problem:
    matrix = table(rng, rows, cols, centred=False)
    share = str(rng.choice(SHARES))
    return Problem(matrix, {"share": float(share)}, values={"percent": f"{figure(100 * float(share))} %"})


def _needs_fewer(problem: Problem, solution: Solution) -> bool:
    """Not all singular values are needed, and the energy is not within 1 per mille of the limit."""
    squares = np.array([float(sp.N(value)) ** 2 for value in solution["singular_values"]])
    shares = squares.cumsum() / squares.sum()
    k = int(solution["k"])
    return k < len(squares) and bool(np.abs(shares - problem.arguments["share"]).min() > 1e-3)


def _share(solution: Solution) -> Value:
    """The share of the energy in the k singular values of the answer."""
    squares = [sp.expand(value**2) for value in solution["singular_values"]]
    return sum(squares[: int(solution["k"])]) / sum(squares)


def _query(rng: Random, difficulty: int, rows: int, cols: int) -> Problem:
    """Groups of columns that are rated together; rows mix them at difficulty 2, and one of three is dropped at 3.

    Three columns are too few for three groups, one of which needs two columns: they get two mixed groups.
    """
    dropped = difficulty == 3 and cols > 3
    count = 3 if dropped else 2
    member = rng.integers(0, count, cols)
    groups = np.array([[int(member[j] == g) * int(rng.integers(1, 3)) for j in range(cols)] for g in range(count)])
    mixed = difficulty > 1 and not dropped
    left = rng.integers(0, 4, (rows, count)) if mixed else _one_group_each(rng, rows, count)
    matrix = sp.Matrix(left.tolist()) * sp.Matrix(groups.tolist())
    q = [0] * cols
    q[int(rng.integers(cols))] = int(rng.integers(1, 6))
    arguments: dict[str, Value] = {"q": q} | ({"k": 2} if dropped else {})
    products = left.T @ left
    clean = not mixed or (products[0, 1] != 0 and _has_whole_spectrum(products @ groups @ groups.T))
    return Problem(matrix, arguments, (Equation("q", sp.Matrix([q])),), values={"k": 2, "rank": count, "clean": clean})


def _one_group_each(rng: Random, rows: int, count: int) -> np.ndarray:
    """How much each row likes each group: exactly one of them."""
    return np.eye(count, dtype=int)[rng.integers(0, count, rows)] * rng.integers(1, 6, (rows, 1))


def _has_whole_spectrum(m: Any) -> bool:
    """Whether the eigenvalues of a whole 2 x 2 matrix are whole: its discriminant is a square.

    The eigenvalues of A^T A other than 0 are those of L^T L G G^T, for A = L G with one row of G for each group.
    """
    discriminant = int((m[0, 0] - m[1, 1]) ** 2 + 4 * m[0, 1] * m[1, 0])
    return isqrt(discriminant) ** 2 == discriminant


def _is_good_query(problem: Problem) -> bool:
    a = problem.matrix
    if not problem.values["clean"]:
        return False
    values = np.linalg.svd(floats(a), compute_uv=False)
    return (
        bool(np.all(np.diff(values[: problem.values["rank"]]) < -0.01))
        and no_equal_rows(a)
        and a.rank() == problem.values["rank"] < a.cols
        and not any(a[:, j].is_zero_matrix for j in range(a.cols))
        and not any(a[i, :].is_zero_matrix for i in range(a.rows))
    )


def _is_real_query(problem: Problem, solution: Solution) -> bool:
    """The query is not in the concept space, and its reconstruction suggests something new."""
    q = problem.arguments["q"]
    back = [float(sp.N(x)) for x in solution["back"]]
    gains = [back[j] for j in range(len(q)) if q[j] == 0 and back[j] > 1e-9]
    moved = any(abs(b - x) > 1e-9 for b, x in zip(back, q, strict=True))
    return bool(gains) and moved


def _has_clean_concepts(problem: Problem, solution: Solution) -> bool:
    """Concepts that are roots of fractions, with no root inside a root."""
    return all(sp.expand(x * x).is_Rational for x in solution["concepts"])


def _suggested(problem: Problem, solution: Solution) -> list[int]:
    q, back = problem.arguments["q"], solution["back"]
    return [j + 1 for j in range(len(q)) if q[j] == 0 and float(sp.N(back[j])) > 1e-9]


def _bounds(rng: Random, difficulty: int, rows: int, cols: int) -> Problem:
    k = 1 if min(rows, cols) == 2 or difficulty < 3 else 2
    return Problem(table(rng, rows, cols, centred=False), {"k": k}, values={"k": k})


def _cur(rng: Random, difficulty: int, rows: int, cols: int) -> Problem:
    matrix = whole(rng, rows, cols, 3)
    seed = int(rng.integers(1, 10**6))
    return Problem(matrix, {"r": 2, "seed": seed}, values={"r": 2})


def _is_good_cur(problem: Problem) -> bool:
    a = problem.matrix
    return a.rank() >= 3 and no_parallel_rows(a) and no_parallel_rows(a.T)


def _is_real_draw(problem: Problem, solution: Solution) -> bool:
    """Whether different columns and rows are drawn, their intersection is invertible, and the error is not zero."""
    columns, rows = {int(j) for j in solution["columns"]}, {int(i) for i in solution["rows"]}
    return len(columns) == len(rows) == 2 and solution["W"].rank() == 2 and solution["error_squared"] != 0


def _has_clean_core(problem: Problem, solution: Solution) -> bool:
    return all(entry.is_Rational and entry.q <= 60 for entry in solution["product"])


def _nmf(rng: Random, difficulty: int, rows: int, cols: int) -> Problem:
    k = 1 if difficulty == 1 or min(rows, cols) == 2 else 2
    matrix = sp.Matrix(rng.integers(0, 10 if difficulty == 1 else 5, (rows, cols)).tolist())
    w, h = sp.Matrix(rng.integers(1, 3, (rows, k)).tolist()), sp.Matrix(rng.integers(1, 3, (k, cols)).tolist())
    loss = "kl" if difficulty == 3 else "euclidean"
    arguments = {"k": k, "w": w, "h": h, "loss": loss, "iterations": 20}
    return Problem(
        matrix,
        arguments,
        (Equation("W", w), Equation("H", h)),
        values={"loss": "$KL(A | W H)$" if loss == "kl" else "$‖A - W H‖_F^2$"},
    )


def _fractions(matrix: sp.Matrix) -> np.ndarray:
    """Fractions of integers are ten times as fast as the exact numbers of the solution."""
    return np.array([[Fraction(int(x)) for x in row] for row in matrix.tolist()], dtype=object)


def _is_good_nmf(problem: Problem) -> bool:
    a, w = problem.matrix, problem.arguments["w"]
    h, k, loss = problem.arguments["h"], problem.arguments["k"], problem.arguments["loss"]
    ranks = [np.linalg.matrix_rank(floats(matrix)) for matrix in (a, w, h)]
    if min(ranks) < k or ranks[0] == k or not no_equal_rows(a):
        return False
    exact = _fractions(a)
    if not all(exact.sum(axis=0)) or not all(exact.sum(axis=1)):
        return False
    first = step(exact, _fractions(w), _fractions(h), loss)
    most = 2000 if a.rows * a.cols <= 9 else 5000
    return all(entry.denominator <= most for factor in first for entry in factor.ravel())


def _moves(problem: Problem, solution: Solution) -> bool:
    """One round lowers the objective by at least a tenth."""
    return float(solution["history"][1]) < 0.9 * float(solution["history"][0])


def _factor_targets(problem: Problem, solution: Solution) -> tuple[Target, ...]:
    return (
        Target(("sigma", "s", mark("singular values")), "numbers", list(solution["singular_values"]), "triplets",
               unsigned=True),
        Target(("v", "V", "right singular vectors"), "directions", solution["V"], "triplets", signed=True),
        Target(("u", "U", "left singular vectors"), "directions", solution["U"], "triplets", signed=True),
    )  # fmt: skip


def _bounds_targets(problem: Problem, solution: Solution) -> tuple[Target, ...]:
    k = problem.values["k"]
    error, spectral = tidy_root(solution["error_squared"]), solution["singular_values"][k]
    return (
        Target((f"A_{k}", "A_k", "approximation"), "matrix", solution["approximation"]),
        Target((mark("error"), "e", mark("Frobenius norm")), "number", error, unsigned=True),
        Target((mark("spectral norm"),), "number", spectral, optional=True, unsigned=True),
    )


_TALL = (2, 2), (6, 3)
_TABLE = (
    mark("different singular values, no two columns orthogonal, no two rows equal"),
    lambda p, s: _is_good_table(p),
)
KINDS = {
    "svd": Kind(
        mark("Find the singular value decomposition."),
        ((2, 2), (3, 2), (4, 3)),
        *_TALL,
        _svd,
        _factor_targets,
        (_TABLE,),
        _is_good_table,
    ),
    "pseudo_inverse": Kind(
        mark("Find the pseudo-inverse."),
        ((3, 2), (3, 3), (4, 3)),
        (3, 2),
        (5, 3),
        _pseudo_inverse,
        lambda p, s: (Target(("A+", "A^+", "pinv", "pseudo-inverse"), "matrix", s["pseudo_inverse"]),),
        (
            (
                mark("not invertible: rectangular or of deficient rank, and of rank at least 2"),
                lambda p, s: _is_good_pseudo_inverse(p),
            ),
        ),
        _is_good_pseudo_inverse,
    ),
    "energy": Kind(
        mark("Find the singular values. How many capture {percent} of the energy?"),
        ((3, 2), (3, 3), (4, 3)),
        (2, 2),
        (6, 3),
        _energy,
        lambda p, s: (
            Target(("k",), "count", s["k"], label="k"),
            Target(
                ("sigma", "s", mark("singular values")), "numbers", list(s["singular_values"]), label="σ", unsigned=True
            ),
            Target((mark("share"),), "number", _share(s), optional=True),
        ),
        ((mark("not all singular values are needed"), _needs_fewer), _TABLE),
        _is_good_table,
    ),
    "query": Kind(
        mark(
            "Map the row $q$ to concept space ({k} concepts) and back: give $q V V^T$. Suggest all columns where "
            "$q$ is 0 and $q V V^T$ is positive."
        ),
        ((4, 3), (4, 4), (5, 5)),
        (3, 3),
        (6, 6),
        _query,
        lambda p, s: (
            Target(("q V V^T", mark("back"), "qVVT", "q'"), "matrix", s["back"], label="q V V^T", reserved=("q",)),
            Target((mark("columns"), mark("suggest"), mark("column")), "set", _suggested(p, s), label=mark("Columns")),
            Target(("qV", mark("concepts")), "scores", s["concepts"], optional=True),
        ),
        (
            (mark("fewer concepts than columns, and the reconstruction suggests a new column"), _is_real_query),
            (mark("the coordinates in concept space are fractions or square roots of fractions"), _has_clean_concepts),
        ),
        _is_good_query,
    ),
    "bounds": Kind(
        mark("Find the best approximation of rank {k} and its error in the Frobenius norm."),
        ((2, 2), (3, 3), (4, 3)),
        *_TALL,
        _bounds,
        _bounds_targets,
        (
            (
                mark("another matrix of the same rank, made of columns, has a larger error"),
                lambda p, s: s["other_error_squared"] > s["error_squared"] > 0,
            ),
            _TABLE,
        ),
        _is_good_table,
    ),
    "cur": Kind(
        mark(
            "Draw {r} columns and {r} rows with the numbers $u$ below and probabilities proportional to squared norms. "
            "Give the product $C U R$ (with $U = W^+$) and its squared error."
        ),
        ((3, 3), (4, 3), (4, 4)),
        (3, 3),
        (5, 5),
        _cur,
        lambda p, s: (
            Target(("CUR", "product"), "matrix", s["product"], label="C U R", reserved=("C", "U", "R", "W")),
            Target((mark("error"), "e"), "number", s["error_squared"], label="‖A - C U R‖_F^2", squared=True),
            Target(("p",), "probabilities", list(s["p"]), optional=True),
            Target(("q",), "probabilities", list(s["q"]), optional=True),
            Target((mark("columns"),), "set", s["columns"], optional=True),
            Target((mark("rows"),), "set", s["rows"], optional=True),
        ),
        (
            (
                mark(
                    (
                        "two different columns and rows are drawn, their intersection is invertible, the error is not "
                        "zero"
                    )
                ),
                _is_real_draw,
            ),
            (mark("the product has small denominators"), _has_clean_core),
        ),
        _is_good_cur,
    ),
    "nmf": Kind(
        mark("Compute the first round of multiplicative updates ($W$, then $H$) from the start shown; loss: {loss}."),
        ((2, 2), (3, 3), (3, 3)),
        (2, 2),
        (4, 4),
        _nmf,
        lambda p, s: (
            Target(("W",), "matrix", s["first_W"], label="W"),
            Target(("H",), "matrix", s["first_H"], label="H"),
        ),
        ((mark("the first update lowers the objective by at least a tenth"), _moves),),
        _is_good_nmf,
    ),
}
