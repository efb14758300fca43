"""Missing entries by EM: fill them, fit k components, replace them by the fit, repeat until convergence.

Each round lowers ∑ (x_ij - μ_j - (Z V^T)_ij)^2 over the known entries: the components minimise it for filled data (M
step), and the new values make the residual of the unknown entries zero (E step).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import sympy as sp
from numpy.typing import NDArray

from eckart.documentation import document
from eckart.errors import InputError
from eckart.worked.checks import whole
from eckart.worked.matrices import matrix, text_cells
from eckart.worked.messages import tr, trn
from eckart.worked.pca import data_steps
from eckart.worked.pca_data import prepared
from eckart.worked.solution import Equation, Solution, SolutionTable, Step
from eckart.worked.spectral_steps import spectral_steps

if TYPE_CHECKING:
    from eckart.worked.solution import Value

UNKNOWN = ("?", "na", "nan", ".", "")
_SHOWN = 10
Array = NDArray[np.float64]


@document
def missing(given: object, k: int = 1, *, iterations: int = 100) -> Solution:
    """Impute missing entries by expectation-maximisation with k components.

    Parameters
    ----------
    given : str, list, array or sympy.Matrix
        The table, at most 20 rows and 5 columns; rows are observations. Missing entries are written `?` or NaN.
    {k [1]}
    iterations : int, default 100
        Number of iterations. The first one is computed exactly, the others in floating point.

    {Returns: Solution}
        Named parts: start, first, filled, values, objective.

    {Raises: InputError [exact]; See Also: eckart.fill_missing}

    Examples
    --------
    >>> found = missing("1 2; 2 4; 3 6; 4 ?", iterations=500)
    >>> round(float(found["filled"][3, 1]), 4)
    8.0
    """
    table, holes = _table_and_holes(given)
    _check(table, holes, k, iterations)
    means = _known_means(table, holes)
    start = table.copy()
    for hole in holes:
        start[hole] = means[hole[1]]
    data = prepared(start, center=True, scale=False, divide="n-1")
    first = data.reconstruction(k)
    history, filled = _run(start, holes, k, iterations)
    steps = (
        Step(tr("The table. A missing entry is shown as $?$."), numbers=(_shown(table, holes),)),
        Step(
            tr("Start: replace each missing entry by the mean of the known entries of its column."),
            numbers=(Equation("μ", sp.Matrix([means])), Equation("M", start)),
        ),
        *data_steps(data, "1")[1:],
        *spectral_steps(data.cross_products, data.found, "S"),
        Step(
            trn(
                "First iteration, M step: compute the mean and {n} component of the completed table, "
                "and the values that they reconstruct.",
                (
                    "First iteration, M step: compute the mean and {n} components of the completed "
                    "table, and the values that they reconstruct."
                ),
                k,
            ),
            "M~ = 1 μ + X V_k V_k^T",
            (Equation("M~", first),),
        ),
        Step(
            tr(
                "First iteration, E step: replace the missing entries by these values. The known entries stay the same."
            ),
            numbers=_entries(first, holes),
        ),
        _rounds_step(history, holes),
        Step(tr("The completed table."), numbers=(Equation("M", filled),)),
    )
    parts = {
        "start": start,
        "first": sp.Matrix([[first[hole] for hole in holes]]),
        "filled": filled,
        "values": sp.Matrix([[filled[hole] for hole in holes]]),
        "objective": [sp.Float(error, 17) for _, error in history],
    }
    answer = _entries(filled, holes)
    return Solution(tr("Missing entries by EM with principal components"), steps, answer, parts)


def _entries(table: sp.Matrix, holes: list[tuple[int, int]]) -> tuple[Equation, ...]:
    return tuple(Equation(f"x_{{{i + 1},{j + 1}}}", table[i, j]) for i, j in holes)


def _table_and_holes(given: object) -> tuple[sp.Matrix, list[tuple[int, int]]]:
    """The table with 0 for missing entries, and their positions."""
    cells = _cells(given)
    holes = [(i, j) for i, row in enumerate(cells) for j, cell in enumerate(row) if cell is None]
    return matrix([["0" if c is None else c for c in row] for row in cells], "missing", rows=20, columns=5), holes


def _cells(given: object) -> list[list[Value]]:
    """The cells, with None for missing entries."""
    if isinstance(given, str):
        rows: list[list[Value]] = [list(row) for row in text_cells(given)]
    elif isinstance(given, sp.MatrixBase):
        rows = given.tolist()
    else:
        rows = [list(row) for row in np.asarray(given, dtype=object).tolist()]
    return [[None if _is_unknown(cell) else cell for cell in row] for row in rows]


def _is_unknown(cell: object) -> bool:
    if isinstance(cell, str):
        return cell.strip().lower() in UNKNOWN
    return cell is None or (isinstance(cell, float) and cell != cell) or cell is sp.nan


def _check(table: sp.Matrix, holes: list[tuple[int, int]], k: int, iterations: int) -> None:
    if not holes:
        raise InputError(tr('No entry is missing. Write ? for a missing entry, such as "1 2; 2 ?; 3 6".'))
    whole("iterations", iterations, 1, 10_000)
    for j in range(table.cols):
        if sum(column == j for _, column in holes) == table.rows:
            raise InputError(
                tr("Column {number} has no known entry, so its values cannot be estimated. Leave it out.", number=j + 1)
            )
    for i in range(table.rows):
        if sum(row == i for row, _ in holes) == table.cols:
            raise InputError(
                tr("Row {number} has no known entry, so its values cannot be estimated. Leave it out.", number=i + 1)
            )
    whole("k", k, 1, min(table.rows - 1, table.cols))


def _known_means(table: sp.Matrix, holes: list[tuple[int, int]]) -> list[Value]:
    means = []
    for j in range(table.cols):
        known = [table[i, j] for i in range(table.rows) if (i, j) not in holes]
        means.append(sum(known, sp.Integer(0)) / len(known))
    return means


def step(x: Array, k: int) -> Array:
    """The reconstruction of a filled table from its mean and k components."""
    mean = x.mean(axis=0)
    _, _, vt = np.linalg.svd(x - mean, full_matrices=False)
    near: Array = mean + (x - mean) @ vt[:k].T @ vt[:k]
    return near


def _run(
    start: sp.Matrix, holes: list[tuple[int, int]], k: int, iterations: int
) -> tuple[list[tuple[Value, float]], sp.Matrix]:
    x = np.array(start.tolist(), dtype=float)
    known = np.ones(x.shape, dtype=bool)
    indices = tuple(np.array(holes).T)
    known[indices] = False
    history = []
    for _ in range(iterations):
        near = step(x, k)
        history.append((x[indices].copy(), float(((x - near)[known] ** 2).sum())))
        x[indices] = near[indices]
    history.append((x[indices].copy(), float(((x - step(x, k))[known] ** 2).sum())))
    filled = start.copy()
    for i, j in holes:
        filled[i, j] = sp.Float(x[i, j], 17)
    return history, filled


def _rounds_step(history: list[tuple[Value, float]], holes: list[tuple[int, int]]) -> Step:
    last = len(history) - 1
    shown = [*range(min(_SHOWN, last) + 1), *([last] if last > _SHOWN else [])]
    rows = tuple((sp.Integer(t), *[sp.Float(x, 17) for x in history[t][0]], sp.Float(history[t][1], 17)) for t in shown)
    table = SolutionTable((tr("round"), *[f"x_{{{i + 1},{j + 1}}}" for i, j in holes], "Q"), rows)
    return Step(
        tr("Repeat both steps. $Q$ is the squared error of the known entries, which never increases."),
        "Q = ∑ (m_{ij} - m~_{ij})^2",
        (table,),
        tr(
            "If the missing entries still change, more iterations are needed: EM converges slowly if few "
            "entries are known."
        ),
    )


def _shown(table: sp.Matrix, holes: list[tuple[int, int]]) -> SolutionTable:
    rows = tuple(tuple("?" if (i, j) in holes else table[i, j] for j in range(table.cols)) for i in range(table.rows))
    return SolutionTable(tuple(f"x_{j + 1}" for j in range(table.cols)), rows)
