"""Exercises on tables: principal components, new rows, correlations, missing entries, kernels, curves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import sympy as sp

from eckart.worked.exercises.factoring import SHARES
from eckart.worked.exercises.families import floats, largest, no_equal_rows, off_diagonal, table
from eckart.worked.exercises.problem import Kind, Problem, Random
from eckart.worked.exercises.questions import COMPARED, KERNEL, most_correlated, projected
from eckart.worked.exercises.targets import Target
from eckart.worked.messages import mark
from eckart.worked.numerals import figure
from eckart.worked.solution import Equation, Solution, SolutionTable

if TYPE_CHECKING:
    from eckart.worked.solution import Value


def _pca(rng: Random, difficulty: int, rows: int, cols: int) -> Problem:
    share = str(rng.choice(SHARES))
    matrix = table(rng, rows, cols, centred=True)
    return Problem(matrix, {"share": float(share)}, values={"percent": f"{figure(100 * float(share))} %"})


def _plain(rng: Random, difficulty: int, rows: int, cols: int) -> Problem:
    return Problem(table(rng, rows, cols, centred=True), values={"difficulty": difficulty})


def _divided(problem: Problem, solution: Solution) -> tuple[list[Value], ...]:
    """The eigenvalues of the covariance matrix, with n - 1 and with n: the question leaves the divisor open."""
    n = problem.matrix.rows
    return tuple([value / divisor for value in solution["eigenvalues"]] for divisor in (n - 1, n))


def _centred(matrix: sp.Matrix) -> sp.Matrix:
    return matrix - sp.ones(matrix.rows, 1) * sp.Matrix([[sum(matrix[:, j]) for j in range(matrix.cols)]]) / matrix.rows


def _is_good_table(problem: Problem) -> bool:
    """Covariances that are not zero, different eigenvalues, no equal rows, small entries."""
    x = _centred(problem.matrix)
    values = np.linalg.svd(floats(x), compute_uv=False) ** 2
    return (
        largest(problem.matrix) <= 40
        and no_equal_rows(problem.matrix)
        and off_diagonal(x.T * x)
        and bool(values[-1] > 0.5 and np.all(np.diff(values) < -0.5))
    )


def _drops_some(problem: Problem, solution: Solution) -> bool:
    """The share is reached before all components are used, with some margin."""
    shares = np.cumsum([float(sp.N(value)) for value in solution["pve"]])
    k = int(solution["k"])
    return k < len(shares) and bool(np.abs(shares - problem.arguments["share"]).min() > 1e-3)


def _principal(solution: Solution, *, optional: bool = False) -> Target:
    names = ("v", "V", "w", mark("components"))
    return Target(names, "directions", solution["components"], "components", True, optional=optional, ordered=True)


def _pca_targets(problem: Problem, solution: Solution) -> tuple[Target, ...]:
    covariances = (solution["cross_products"] / problem.matrix.rows,)
    share = sum(solution["pve"][: int(solution["k"])])
    return (
        _principal(solution),
        Target(("t", "T", "z", mark("scores")), "scores", solution["scores"], "components", signed=True),
        Target(("k",), "count", solution["k"]),
        Target(("lambda", "l", mark("variances"), mark("eigenvalues")), "numbers", list(solution["eigenvalues"]),
               "components", also=_divided(problem, solution), optional=True),
        Target((mark("share"),), "number", share, optional=True),
        Target(("C", mark("covariance")), "matrix", solution["covariance"], optional=True, also=covariances),
        Target(("S",), "matrix", solution["cross_products"], optional=True),
        Target(("mu", mark("means")), "list", list(solution["means"]), optional=True),
        Target(("PVE",), "list", list(solution["pve"]), optional=True),
    )  # fmt: skip


def _project(rng: Random, difficulty: int, rows: int, cols: int) -> Problem:
    matrix = table(rng, rows, cols, centred=True)
    new = sp.Matrix(rng.integers(-3, 12, (1 if difficulty == 1 else 2, cols)).tolist())
    k = 1 if cols == 2 else 2
    return Problem(matrix, {"new": new, "k": k}, (Equation("X'", new),), values={"k": k})


def _leaves_the_line(problem: Problem, solution: Solution) -> bool:
    return all(x != 0 for x in solution["scores"]) and all(d != 0 for d in solution["distances"])


def _is_good_correlation(problem: Problem) -> bool:
    x = _centred(problem.matrix)
    s = x.T * x
    ratio = max(s[0, 0], s[1, 1]) / max(1, min(s[0, 0], s[1, 1]))
    return _is_good_table(problem) and ratio >= 3 and abs(s[0, 1]) ** 2 < s[0, 0] * s[1, 1]


def _correlation_targets(problem: Problem, solution: Solution) -> tuple[Target, ...]:
    both, own, names = solution["correlation"], solution["covariance"], ("R", "correlation matrix", "correlation")
    return (
        Target(names, "matrix", both, scale=1, also=(Target(("r",), "number", both[0, 1], scale=1),)),
        _components(("v", "V"), "covariance", solution["components"]),
        _components(("w", "W"), "correlation", solution["scaled_components"]),
        Target(("C", mark("covariance")), "matrix", own, optional=True, also=(own - own / problem.matrix.rows,)),
    )


def _components(letters: tuple[str, str], which: str, vectors: sp.Matrix) -> Target:
    return Target((*letters, f"components of the {which} matrix"), "directions", vectors, which, ordered=True)


def _minor_targets(problem: Problem, solution: Solution) -> tuple[Target, ...]:
    values = ("lambda", "l", mark("variances"), mark("eigenvalues"), mark("eigenvalue"), "variance")
    vectors = ("w", "W", "v", mark("components"), "component", mark("eigenvector"))
    return (
        Target(values, "numbers", list(solution["eigenvalues"]), also=_divided(problem, solution), extreme="smallest"),
        Target(vectors, "directions", solution["components"], extreme="smallest"),
    )


def _select(rng: Random, difficulty: int, rows: int, cols: int) -> Problem:
    matrix = sp.Matrix(rng.integers(-4, 8, (rows, cols)).tolist())
    target = sp.Matrix(rng.integers(-4, 10, (rows, 1)).tolist())
    count = 1 if difficulty == 1 or cols == 2 else 2
    return Problem(matrix, {"target": target, "count": count}, (Equation("y", target),), values={"count": count})


def _is_good_select(problem: Problem) -> bool:
    a, y = floats(problem.matrix), floats(problem.arguments["target"])[:, 0]
    if min(a.std(axis=0).min(), y.std()) < 0.5 or problem.arguments["count"] >= a.shape[1]:
        return False
    r = np.sort(np.abs([np.corrcoef(a[:, j], y)[0, 1] for j in range(a.shape[1])]))[::-1]
    count = problem.arguments["count"]
    return bool(r[0] < 0.999 and r[count - 1] > 0.4 and r[count - 1] - r[count] > 0.1)


def _missing(rng: Random, difficulty: int, rows: int, cols: int) -> Problem:
    matrix = table(rng, rows, cols, centred=True)
    x = _centred(matrix)
    holes = [(i, j) for i in range(rows) for j in range(cols) if x[i, j] == 0]
    if not holes:
        return Problem(matrix, values={"holes": []})
    i, j = holes[int(rng.integers(len(holes)))]
    cells = matrix.tolist()
    cells[i][j] = "?"
    heads = tuple(f"x_{b + 1}" for b in range(cols))
    shown = (SolutionTable(heads, tuple(map(tuple, cells))),)
    text = "; ".join(" ".join(map(str, row)) for row in cells)
    return Problem(matrix, {"given": text, "k": 1, "iterations": 50}, shown, {"holes": [(i, j)]})


def _hole(problem: Problem) -> tuple[int, int]:
    i, j = problem.values["holes"][0]
    return i + 1, j + 1


_WHOLE = 12
"""Eigenvalues of exercises are whole multiples of 1 / 12."""


def _kernel(rng: Random, difficulty: int, rows: int, cols: int) -> Problem:
    points = sp.Matrix(rng.integers(-2, 3, (rows, cols)).tolist())
    if difficulty == 3:
        gamma = str(rng.choice(["1/2", "1/4", "1/8"]))
        return Problem(
            points, {"kernel": "rbf", "gamma": gamma}, values={"kernel": f"k(x, y) = exp(-‖x - y‖^2 / {gamma[2:]})"}
        )
    constant = int(rng.integers(0, 3))
    formula = f"k(x, y) = (x · y + {constant})^2" if constant else "k(x, y) = (x · y)^2"
    return Problem(points, {"kernel": "poly", "degree": 2, "coef0": constant}, values={"kernel": formula})


def _is_good_cloud(problem: Problem) -> bool:
    """Different points, two eigenvalues separated from the next.

    Fractions for a polynomial kernel, so no nested roots.
    """
    x = floats(problem.matrix)
    spread = np.linalg.matrix_rank(x - x.mean(axis=0)) == min(x.shape[0] - 1, x.shape[1])
    if not spread or not no_equal_rows(problem.matrix):
        return False
    centring = np.eye(len(x)) - 1 / len(x)
    values = np.linalg.eigvalsh(centring @ _gram(problem, x) @ centring)[::-1]
    if values[0] < 1.001 * values[1] or values[1] < 1.001 * values[2] + 1e-9:
        return False
    whole = values[:2] * _WHOLE
    return problem.arguments["kernel"] == "rbf" or bool(np.abs(whole - whole.round()).max() < 1e-9)


def _clean_scores(problem: Problem, solution: Solution) -> bool:
    """Whether the squared scores have small denominators, so that scores are roots of small numbers."""
    return problem.arguments["kernel"] == "rbf" or all(sp.expand(x * x).q <= 300 for x in solution["scores"])


def _gram(problem: Problem, x: Any) -> Any:
    own = problem.arguments
    if own["kernel"] != "rbf":
        return (x @ x.T + own["coef0"]) ** 2
    return np.exp(-float(sp.Rational(own["gamma"])) * ((x[:, None] - x[None]) ** 2).sum(axis=2))


def _two_components(problem: Problem, solution: Solution) -> bool:
    values = [float(sp.N(value)) for value in solution["eigenvalues"]]
    exact = problem.arguments["kernel"] == "rbf" or all(value.is_Rational for value in solution["eigenvalues"])
    return exact and len(values) == 2 and values[1] > 1e-3 * values[0] and values[0] > 1.001 * values[1]


def _isomap(rng: Random, difficulty: int, rows: int, _: int) -> Problem:
    """A right-angled chain whose links shrink towards one place and grow again, so that each joins the next."""
    valley = int(rng.integers(rows - 1))
    lengths = [1] * (rows - 1)
    for place in range(valley + 1, rows - 1):
        lengths[place] = lengths[place - 1] + int(rng.integers(1, 3))
    for place in range(valley - 1, -1, -1):
        lengths[place] = lengths[place + 1] + int(rng.integers(1, 3))
    position, heading = rng.integers(-4, 5, 2), np.array([(1, 0), (0, 1), (-1, 0), (0, -1)][int(rng.integers(4))])
    points = [[int(v) for v in position]]
    for length in lengths:
        position = position + heading * length
        points.append([int(v) for v in position])
        turn = int(rng.integers(-1, 2))
        heading = heading if turn == 0 else np.array([-turn * heading[1], turn * heading[0]])
    order = rng.permutation(rows)
    matrix = sp.Matrix([points[int(i)] for i in order])
    return Problem(matrix, {"k": 1, "neighbors": 1}, values={"links": rows - 1})


def _unfolds(problem: Problem, solution: Solution) -> bool:
    """Whether the graph is a chain, and at least two paths are longer than the straight line."""
    edges = {tuple(int(v) for v in edge) for edge in solution["edges"]}
    longer = sum(
        bool(sp.N(solution["paths"][i, j] - solution["distances"][i, j]) > 1e-9)
        for i in range(problem.matrix.rows)
        for j in range(i)
    )
    return len(edges) == problem.values["links"] and longer >= 2


def _is_connected_chain(problem: Problem) -> bool:
    x = floats(problem.matrix)
    gaps = np.linalg.norm(x[:, None] - x[None], axis=2)
    np.fill_diagonal(gaps, np.inf)
    near = gaps <= gaps.min(axis=1, keepdims=True) + 1e-9
    reach = np.eye(len(x), dtype=bool) | near | near.T
    for _ in range(len(x)):
        reach = reach @ reach
    links = near | near.T
    if near.sum(axis=1).max() > 1:
        return False  # two nearest neighbours would make the choice ambiguous
    if links.sum(axis=1).max() > 2:
        return False
    whole = bool(np.all(gaps[links] == np.round(gaps[links])))
    return whole and no_equal_rows(problem.matrix) and bool(reach.all()) and int(links.sum()) == 2 * (len(x) - 1)


_COVARIANCE = (
    mark("covariances that are not zero, different variances of the components, no two rows equal"),
    lambda p, s: _is_good_table(p),
)
_SIZES, _LIMITS = ((4, 2), (5, 2), (5, 3)), ((4, 2), (6, 3))
_SCORES = ("Z'", "z", "Z", "t", "T", mark("scores"))
KINDS = {
    "pca": Kind(
        mark("Find the principal components and the scores. How many components explain {percent} of the variance?"),
        _SIZES,
        *_LIMITS,
        _pca,
        _pca_targets,
        ((mark("not all components are needed"), _drops_some), _COVARIANCE),
        _is_good_table,
    ),
    "minor_components": Kind(
        mark("Find the component along which the rows vary least, and its eigenvalue."),
        _SIZES,
        *_LIMITS,
        _plain,
        _minor_targets,
        (_COVARIANCE,),
        _is_good_table,
    ),
    "project": Kind(
        projected,
        _SIZES,
        *_LIMITS,
        _project,
        lambda p, s: (
            Target(_SCORES, "scores", s["scores"], "components", signed=True, by_row=True),
            Target(("d", mark("distances")), "list", list(s["distances"]), squared=True, by_row=True),
            _principal(s, optional=True),
        ),
        ((mark("no new row lies at the centre or in the space of the components"), _leaves_the_line), _COVARIANCE),
        _is_good_table,
    ),
    "correlation": Kind(
        COMPARED,
        ((4, 2), (5, 2), (6, 2)),
        (4, 2),
        (6, 2),
        _plain,
        _correlation_targets,
        (
            (
                mark("correlated columns, and one variance at least three times the other"),
                lambda p, s: _is_good_correlation(p),
            ),
        ),
        _is_good_correlation,
    ),
    "select": Kind(
        most_correlated,
        ((4, 2), (5, 3), (6, 4)),
        (4, 2),
        (8, 5),
        _select,
        lambda p, s: (
            Target((mark("columns"), "choice"), "set", s["chosen"], label=mark("Columns"), extreme="largest"),
            Target(("r", mark("correlations")), "list", list(s["correlations"]), label="r", scale=1),
        ),
        (
            (
                mark(
                    "the last chosen correlation exceeds the next by at least 0.1; no column determines the target "
                    "exactly"
                ),
                lambda p, s: _is_good_select(p),
            ),
        ),
        _is_good_select,
    ),
    "missing": Kind(
        mark(
            "Carry out one iteration of EM: replace the missing entry by the mean of its column, fit one principal "
            "component, and give the reconstruction of the entry."
        ),
        ((4, 2), (5, 2), (5, 3)),
        (4, 2),
        (6, 3),
        _missing,
        lambda p, s: (Target(("x", "M", "hole"), "list", list(s["first"]), label="x_{{{},{}}}".format(*_hole(p))),),
        (
            (
                mark("the first iteration changes the missing entry and lowers the error of the known entries"),
                lambda p, s: (
                    all(s["first"][0] != p.matrix[i, j] for i, j in p.values["holes"])
                    and s["objective"][1] < s["objective"][0] * 0.999
                ),
            ),
        ),
        lambda p: bool(p.values["holes"]) and _is_good_table(p),
    ),
    "kernel_pca": Kind(
        KERNEL,
        ((3, 2), (4, 2), (4, 2)),
        (3, 1),
        (5, 3),
        _kernel,
        lambda p, s: (
            Target(("lambda", "l", mark("eigenvalues")), "numbers", list(s["eigenvalues"]), "components"),
            Target(("t", "T", mark("scores"), mark("components")), "scores", s["scores"], "components"),
            Target(("K~", "K_c"), "matrix", s["centred"], optional=True),
            Target(("K",), "matrix", s["K"], optional=True, also=(s["centred"],)),
        ),
        (
            (mark("a kernel that is not linear, and two components of different size"), _two_components),
            (mark("eigenvalues that are fractions, and scores that are roots of small numbers"), _clean_scores),
        ),
        _is_good_cloud,
        allows=lambda rows, cols: rows + cols <= 7,
        allowed=mark(
            "five points in three columns hardly ever have eigenvalues that are fractions; use fewer points or columns"
        ),
    ),
    "isomap": Kind(
        mark(
            "Apply Isomap with one neighbour: give the edges of the graph (such as 1-2), the matrix of shortest paths, "
            "and one coordinate for every point."
        ),
        ((4, 2), (5, 2), (6, 2)),
        (4, 2),
        (7, 2),
        _isomap,
        lambda p, s: (
            Target((mark("edges"), "E"), "edges", [tuple(edge) for edge in s["edges"]], label=mark("Edges")),
            Target(("D", mark("paths")), "matrix", s["paths"], label="D", reserved=("B", "X", "W", "S", "J", "H")),
            Target(("y", "Y", mark("coordinates")), "scores", s["coordinates"], label="y"),
        ),
        (
            (
                mark("every point has one nearest neighbour, and the graph joins all points in a chain with bends"),
                _unfolds,
            ),
        ),
        _is_connected_chain,
    ),
}
