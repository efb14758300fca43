"""Exercises on basic linear algebra: rank, determinants, eigenpairs, orthogonal vectors."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations

import numpy as np
import sympy as sp

from eckart.worked.exercises.families import (
    floats,
    is_triangular,
    largest,
    no_parallel_rows,
    real_roots,
    symmetric,
    unimodular,
    whole,
)  # fmt: skip
from eckart.worked.exercises.problem import Criterion, Kind, Problem, Random
from eckart.worked.exercises.targets import Target
from eckart.worked.messages import mark
from eckart.worked.solution import Equation, Solution
from eckart.worked.spectrum import spectrum


def _rank(rng: Random, difficulty: int, rows: int, cols: int) -> Problem:
    full = min(rows, cols)
    rank = max(1, full - 1 if difficulty < 3 or full < 4 else int(rng.integers(2, full)))
    left, right = whole(rng, rows, rank, 2), whole(rng, rank, cols, 3)
    return Problem(left * right, {}, values={"rank": rank})


def _determinant(rng: Random, difficulty: int, side: int, _: int) -> Problem:
    matrix = unimodular(rng, side) * sp.diag(*[int(rng.choice([1, 2, 3, -1, -2])) for _ in range(side)])
    matrix = matrix * unimodular(rng, side)
    if difficulty == 3:
        matrix = matrix.extract([int(i) for i in rng.permutation(side)], list(range(side)))
    return Problem(matrix)


def _is_good_determinant(problem: Problem) -> bool:
    a = problem.matrix
    zeros = sum(entry == 0 for entry in a)
    return largest(a) <= 9 and not is_triangular(a) and zeros <= a.rows and 2 <= abs(a.det()) <= 60


def _eigen(rng: Random, difficulty: int, side: int, _: int) -> Problem:
    if difficulty == 2:
        return Problem(symmetric(rng, side))
    return Problem(real_roots(rng, side))


def _power(rng: Random, difficulty: int, side: int, _: int) -> Problem:
    matrix = symmetric(rng, side) if difficulty != 2 else real_roots(rng, side, moduli=True)
    start = sp.Matrix([1] + [0] * (side - 1))
    return Problem(matrix, {"start": start, "eps": 1e-8}, (Equation("x_0", start),))


def _is_good_power(problem: Problem) -> bool:
    """One dominant eigenvalue, and a start with a component along its vector that is not only rounding."""
    values, vectors = np.linalg.eig(floats(problem.matrix))
    if not _is_good_eigen(problem):
        return False
    sizes = np.sort(np.abs(values))[::-1]
    start = floats(problem.arguments["start"])[:, 0]
    part = np.linalg.solve(vectors, start)[np.argmax(np.abs(values))]
    return bool(sizes[1] <= 0.7 * sizes[0] and abs(part) > 1e-6)


def _deflation(rng: Random, difficulty: int, side: int, _: int) -> Problem:
    return Problem(symmetric(rng, side) if difficulty < 3 else real_roots(rng, side, moduli=True))


def _has_different_moduli(problem: Problem) -> bool:
    sizes = np.sort(np.abs(np.linalg.eigvals(floats(problem.matrix))))
    return _is_good_eigen(problem) and bool(np.all(np.diff(sizes) > 0.5))


def _diagonalize(rng: Random, difficulty: int, side: int, _: int) -> Problem:
    power = int(rng.integers(3, 6)) if side == 2 else 3
    matrix = symmetric(rng, side) if difficulty == 2 else real_roots(rng, side)
    return Problem(matrix, {"power": power}, values={"power": power})


def _is_good_power_of(problem: Problem) -> bool:
    """Whether the entries of the power have at most four digits."""
    raised = np.linalg.matrix_power(floats(problem.matrix), problem.arguments["power"])
    return _is_good_eigen(problem) and bool(np.abs(raised).max() < 10_000)


def _is_good_eigen(problem: Problem) -> bool:
    a = problem.matrix
    if is_triangular(a) or largest(a) > 30 or sum(entry == 0 for entry in a) > a.rows - 2:
        return False
    values = np.linalg.eigvals(floats(a))
    gaps = np.abs(values[:, None] - values[None, :])[~np.eye(len(values), dtype=bool)]
    return bool(np.abs(values.imag).max() < 1e-9 and np.abs(values).min() > 0.5 and gaps.min() > 0.5)


def _gram_schmidt(rng: Random, difficulty: int, rows: int, cols: int) -> Problem:
    return Problem(whole(rng, rows, cols, 3))


def _is_good_basis(problem: Problem) -> bool:
    a = problem.matrix
    if a.rank() < a.cols or any(x.dot(y) == 0 for x, y in combinations(map(a.col, range(a.cols)), 2)):
        return False
    few = list(a).count(0) < a.cols
    return few and all(entry.q <= 12 for entry in _orthogonalized(a))


def _orthogonalized(a: sp.Matrix) -> sp.Matrix:
    """Gram-Schmidt without division by the lengths."""
    work: list[sp.Matrix] = []
    for j in range(a.cols):
        rest = a[:, j]
        for w in work:
            rest = rest - w * (w.dot(a[:, j]) / w.dot(w))
        work.append(rest)
    return sp.Matrix.hstack(*work)


def _spectral_targets(problem: Problem, solution: Solution) -> tuple[Target, ...]:
    found = spectrum(problem.matrix)
    vectors = sp.Matrix.hstack(*[axis.unit for axis in found.eigenpairs])
    return (
        Target(("lambda", mark("eigenvalues"), "l"), "numbers", list(found.values), "eigenpairs"),
        Target(("e", "v", "x", mark("eigenvectors")), "directions", vectors, "eigenpairs"),
    )


def _dominant(problem: Problem, solution: Solution) -> tuple[Target, ...]:
    root = spectrum(problem.matrix, symmetric=False).roots[0]
    return (
        Target(
            ("lambda", "l", mark("eigenvalue")),
            "number",
            root.value,
            label="λ",
            extreme="largest",
            iterated=True,
            reserved=("x_0", "x0", "v_0", "v0"),
        ),
        Target(("x", "v", "e", mark("eigenvector")), "directions", root.eigenpairs[0].unit, label="x"),
    )


def _diagonal_targets(problem: Problem, solution: Solution) -> tuple[Target, ...]:
    power = problem.arguments["power"]
    inverses = ("V^-1", "P^-1", "S^-1", *(("V^T", "P^T", "S^T") if problem.matrix.is_symmetric() else ()))
    return (
        Target(("D", "lambda", mark("eigenvalues"), "Lambda"), "numbers", list(solution["D"].diagonal()), "eigenpairs"),
        Target(("V", "P", "S", mark("eigenvectors")), "axes", solution["V"], "eigenpairs"),
        Target((f"A^{power}", "power", f"A{power}"), "matrix", solution["power"]),
        Target(inverses, "inverse", solution["V_inverse"], optional=True),
    )


def _real(problem: Problem, solution: Solution) -> bool:
    return _is_good_eigen(problem)


_REAL = (mark("real eigenvalues, different and not zero; not triangular"), _real)


def _eigen_kind(
    question: str,
    make: Callable[[Random, int, int, int], Problem],
    targets: Callable[[Problem, Solution], tuple[Target, ...]],
    quick: Callable[[Problem], bool],
    *criteria: Criterion,
    medium: int = 3,
) -> Kind:
    """A kind on eigenpairs of a matrix of order 2 or 3; `medium` is the order for difficulty 2."""
    sizes = (2, 2), (medium, medium), (3, 3)
    return Kind(question, sizes, (2, 2), (3, 3), make, targets, (*criteria, _REAL), quick, square=True)


def _dependent(solution: Solution) -> tuple[sp.Matrix, ...]:
    """The coordinates without those of the basis rows, which are unit vectors."""
    others = [i for i in range(solution["coordinates"].rows) if i + 1 not in solution["basis_rows"]]
    return (solution["coordinates"].extract(others, list(range(solution["rank"]))),) if others else ()


KINDS = {
    "rank": Kind(
        mark(
            "Find the rank, a basis taken from the rows (the first independent ones), and the coordinates of every "
            "row in it."
        ),
        ((3, 3), (4, 4), (5, 5)),
        (3, 3),
        (6, 6),
        _rank,
        lambda p, s: (
            Target((mark("rank"), "rg", "r", "rk"), "count", s["rank"]),
            Target((mark("basis"), "B"), "set", s["basis_rows"], also=(Target(("B",), "matrix", s["basis"]),)),
            Target(("C", mark("coordinates")), "matrix", s["coordinates"], also=_dependent(s)),
        ),
        (
            (
                mark("the rank is at least 2 and not full; no row is a multiple of another"),
                lambda p, s: 2 <= s["rank"] < min(p.matrix.shape) and no_parallel_rows(p.matrix),
            ),
        ),
        lambda p: largest(p.matrix) <= 12 and no_parallel_rows(p.matrix) and p.matrix.rank() == p.values["rank"] >= 2,
    ),
    "determinant": Kind(
        mark("Compute the determinant by Chio's condensation."),
        ((3, 3), (4, 4), (4, 4)),
        (3, 3),
        (5, 5),
        _determinant,
        lambda p, s: (Target(("det", mark("determinant")), "number", s["determinant"]),),
        (
            (
                mark("not triangular, few zeros, determinant from 2 to 60 in absolute value"),
                lambda p, s: _is_good_determinant(p),
            ),
        ),
        _is_good_determinant,
        square=True,
    ),
    "eigen": _eigen_kind(
        mark("Find the eigenvalues and the unit eigenvectors."), _eigen, _spectral_targets, _is_good_eigen
    ),
    "power_iteration": _eigen_kind(
        mark(
            "Find the dominant eigenvalue and its unit eigenvector by power iteration from $x_0$; give the exact limit "
            "if you can."
        ),
        _power,
        _dominant,
        _is_good_power,
        (
            mark(
                "one dominant eigenvalue, at least 1.4 times the next; the start vector is not orthogonal to its "
                "eigenvector"
            ),
            lambda p, s: bool(s["converged"]) and abs(s["eigenvalue"] - sp.N(s["dominant"])) < 1e-4,
        ),
        medium=2,
    ),
    "deflation": _eigen_kind(
        mark("Find all eigenvalues and unit eigenvectors by deflation."),
        _deflation,
        _spectral_targets,
        _has_different_moduli,
        (mark("eigenvalues of different moduli"), lambda p, s: _has_different_moduli(p)),
    ),
    "diagonalize": _eigen_kind(
        mark("Diagonalise the matrix (give $D$ and $V$ with $A = V D V^{{-1}}$) and compute $A^{power}$."),
        _diagonalize,
        _diagonal_targets,
        _is_good_power_of,
    ),
    "gram_schmidt": Kind(
        mark(
            "Make the columns orthonormal by Gram-Schmidt, in order, and give $Q$ and $R$ (with a positive diagonal)."
        ),
        ((3, 2), (3, 3), (4, 3)),
        (2, 2),
        (5, 3),
        _gram_schmidt,
        lambda p, s: (Target(("Q", "q"), "frame", s["Q"]), Target(("R",), "matrix", s["R"])),
        ((mark("independent columns, no two of them orthogonal"), lambda p, s: s["rank"] == p.matrix.cols),),
        _is_good_basis,
        allows=lambda rows, cols: cols <= rows,
        allowed=mark("independent columns need at least as many rows as columns"),
    ),
}
