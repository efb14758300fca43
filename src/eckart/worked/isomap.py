"""Isomap by hand: neighbours, shortest paths in their graph, double centring, eigenvectors.

B = -1/2 J D^2 J with J = I - 1 1^T / n; B v = λ v; coordinates sqrt(λ) v. With straight distances in D this is
classical scaling; with path lengths it unfolds a curve.
"""

from __future__ import annotations

from functools import partial
from itertools import product
from typing import TYPE_CHECKING

import sympy as sp

from eckart.documentation import document
from eckart.errors import InputError
from eckart.worked.checks import whole
from eckart.worked.matrices import matrix
from eckart.worked.messages import tr, trn
from eckart.worked.numerals import text_number
from eckart.worked.pictures import graph
from eckart.worked.solution import Equation, Solution, SolutionTable, Step
from eckart.worked.spectral_steps import columns, spectral_steps
from eckart.worked.spectrum import Spectrum, spectrum
from eckart.worked.written_out import squares as sum_of_squares
from eckart.worked.written_out import written

if TYPE_CHECKING:
    from eckart.worked.solution import Value


@document
def isomap(given: object, k: int = 1, *, neighbors: int = 2) -> Solution:
    """Compute Isomap coordinates of a few points.

    Parameters
    ----------
    given : str, list, array or sympy.Matrix
        The table, at most 8 rows and 4 columns; rows are observations.
    k : int, default 1
        Number of coordinates.
    neighbors : int, default 2
        Number of neighbours of each point.

    {Returns: Solution}
        Named parts: distances, edges, paths, B, eigenvalues, coordinates.

    Raises
    ------
    InputError
        If the matrix is too large for exact arithmetic, an entry cannot be parsed, or the graph of neighbours is not
        connected.

    {See Also: kernel_pca, eckart.Isomap}

    Examples
    --------
    >>> found = isomap("0 2; 0 1; 0 0; 1 0; 2 0", neighbors=1)
    >>> found["paths"][0, 4], found["eigenvalues"]
    (4, Matrix([[10]]))
    """
    table = matrix(given, "isomap", rows=8, columns=4)
    n = table.rows
    if n < 3:
        raise InputError(tr("Isomap needs at least three points. Enter one row for each point."))
    whole("neighbors", neighbors, 1, n - 1)
    straight = sp.Matrix(n, n, lambda i, j: sp.sqrt(_squared(table[i, :] - table[j, :])))
    edges = neighbour_graph(straight, neighbors)
    paths, routes = shortest_paths(straight, edges)
    if paths.has(sp.oo):
        raise InputError(
            tr(
                "With neighbors={neighbors}, the graph of neighbours is not connected, so some "
                "points are not joined by a path. Use more neighbours.",
                neighbors=neighbors,
            )
        )
    squares = paths.applyfunc(lambda d: sp.expand(d * d))
    b = _centred(squares)
    found = spectrum(b, symmetric=True)
    eigenpairs = found.positive(1e-20)[: whole("k", k, 1, n - 1)]
    if not eigenpairs:
        raise InputError(tr("All points coincide, so there are no distances to embed. Use other points."))
    # ‖y‖^2 = λ: scale the eigenvector x by sqrt(λ) / ‖x‖, inside the root.
    scores = columns([pair.unit * sp.sqrt(pair.value) for pair in eigenpairs], n).applyfunc(sp.radsimp)
    steps = (
        Step(tr("The points, one per row."), numbers=(Equation("X", table),)),
        Step(tr("Straight-line distances between all pairs of points."), "d_{ij} = ‖x_i - x_j‖",
             (Equation("D_0", straight),), more=partial(_distances, table, straight)),
        _neighbour_step(edges, straight, neighbors),
        _path_step(paths, routes),
        Step(
            tr("Double centring of the squared path lengths: subtract the row means and the column "
            "means, add the overall mean, and multiply by -1/2."),
            "B = -1/2 J D^2 J,  J = I - 1 1^T / n",
            (Equation("D^2", squares), Equation("B", b)),
            more=partial(_centring, squares, b),
        ),
        *spectral_steps(b, found, "B", zero=False),
        Step(
            tr("Coordinates: unit eigenvectors times the square roots of their eigenvalues, largest first."),
            "y = sqrt(λ) v",
            (*[Equation(f"λ_{i}", pair.value) for i, pair in enumerate(eigenpairs, 1)], Equation("Y", scores)),
            _negative(found),
        ),
    )  # fmt: skip
    values = sp.Matrix([pair.value for pair in eigenpairs])
    parts = {"distances": straight, "edges": [[sp.Integer(i + 1), sp.Integer(j + 1)] for i, j in sorted(edges)],
             "paths": paths, "B": b, "eigenvalues": values, "coordinates": scores}  # fmt: skip
    answer = (Equation("D", paths), Equation("Y", scores))
    title = trn("Isomap of {rows} points, {n} neighbour", "Isomap of {rows} points, {n} neighbours", neighbors, rows=n)
    figures = (partial(graph, table, tuple(sorted(edges))),) if table.cols == 2 else ()
    return Solution(title, steps, answer, parts, figures=figures)


def neighbour_graph(distances: sp.Matrix, count: int) -> set[tuple[int, int]]:
    """Pairs (i < j) of which one is among the nearest `count` of the other; ties are all included.

    >>> sorted(neighbour_graph(sp.Matrix([[0, 1, 3], [1, 0, 2], [3, 2, 0]]), 1))
    [(0, 1), (1, 2)]
    """
    edges = set()
    for i in range(distances.rows):
        others = sorted((sp.N(distances[i, j], 20), j) for j in range(distances.rows) if j != i)
        limit = others[count - 1][0]
        edges |= {(min(i, j), max(i, j)) for size, j in others if size <= limit + sp.Float("1e-15")}
    return edges


def _squared(entries: sp.Matrix) -> sp.Expr:
    return sum(x * x for x in entries)


def shortest_paths(distances: sp.Matrix, edges: set[tuple[int, int]]) -> tuple[Value, dict[tuple[int, int], list[int]]]:
    """Floyd-Warshall: the shortest path through vertices 1 to m, for m = 1 to n; and the vertices on each path."""
    n = distances.rows
    joined = edges | {(j, i) for i, j in edges}
    length = sp.Matrix(n, n, lambda i, j: 0 if i == j else sp.oo)
    for i, j in joined:
        length[i, j] = distances[i, j]
    routes = {(i, j): [i, j] for i, j in sorted(joined)}
    for m, i, j in product(range(n), repeat=3):
        through = length[i, m] + length[m, j]
        if len({i, j, m}) == 3 and through != sp.oo and sp.N(through, 30) < sp.N(length[i, j], 30) - 1e-20:
            length[i, j] = through
            routes[i, j] = [*routes[i, m], *routes[m, j][1:]]
    return length, routes


def _centred(squares: sp.Matrix) -> sp.Matrix:
    n = squares.rows
    j = sp.eye(n) - sp.ones(n, n) / n
    return (-(j * squares * j) / 2).applyfunc(sp.expand)


def _distances(table: sp.Matrix, straight: sp.Matrix) -> tuple[Step, ...]:
    return written(
        f"d_{{{i + 1},{j + 1}}} = sqrt({sum_of_squares(table[i, :] - table[j, :])}) = {text_number(straight[i, j])}"
        for i in range(table.rows)
        for j in range(i + 1, table.rows)
    )


def _centring(squares: sp.Matrix, b: sp.Matrix) -> tuple[Step, ...]:
    """b_ij = -1/2 (d_ij^2 - m_i - m_j + m) with the row means m_i and the overall mean m."""
    n = squares.rows
    means = [sp.expand(sum(squares[i, :]) / n) for i in range(n)]
    whole = text_number(sp.expand(sum(means) / n))
    shown = [text_number(mean) for mean in means]
    lines = [f"m_{i + 1} = {mean}" for i, mean in enumerate(shown)] + [f"m = {whole}"]
    for i in range(n):
        for j in range(i, n):
            inside = f"{text_number(squares[i, j])} - ({shown[i]}) - ({shown[j]}) + {whole}"
            lines.append(f"b_{{{i + 1},{j + 1}}} = -1/2 ({inside}) = {text_number(b[i, j])}")
    return written(lines)


def _neighbour_step(edges: set[tuple[int, int]], straight: sp.Matrix, count: int) -> Step:
    rows = tuple((f"{i + 1} - {j + 1}", straight[i, j]) for i, j in sorted(edges))
    statement = trn(
        "Join each point to its nearest neighbour (and to all others at the same distance). "
        "Edges count in both directions.",
        "Join each point to its {n} nearest neighbours (and to all others at the same distance). "
        "Edges count in both directions.",
        count,
    )
    return Step(statement, numbers=(SolutionTable((tr("edge"), tr("length")), rows),))


def _path_step(paths: sp.Matrix, routes: dict[tuple[int, int], list[int]]) -> Step:
    longer = [(pair, route) for pair, route in sorted(routes.items()) if pair[0] < pair[1] and len(route) > 2]
    rows = tuple((" - ".join(str(v + 1) for v in route), paths[pair]) for pair, route in longer)
    numbers: tuple[Equation | SolutionTable, ...] = (Equation("D", paths),)
    if rows:
        numbers = (SolutionTable((tr("path"), tr("length")), rows), *numbers)
    statement = tr(
        "Replace the straight-line distances by the lengths of the shortest paths through the graph, "
        "which follow the curve."
    )
    return Step(statement, "d_{ij} = min(d_{ij}, d_{im} + d_{mj})", numbers)


def _negative(found: Spectrum) -> str:
    if any(sp.N(sp.re(value)) < -1e-20 for value in found.values):
        return tr("A negative eigenvalue is dropped. It shows that no Euclidean space has exactly these distances.")
    return ""
