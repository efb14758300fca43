"""Number of parts of an NMF: bi-cross-validation with non-negative factors (Owen and Perry, 2009).

A = [[A11, A12], [A21, A22]]: with A22 ~ W H of k parts, A12 ~ W' H and A21 ~ W H' by non-negative least squares, and
A11 is predicted by W' H'. Factorisations of different k have nothing in common, so each k is fitted independently.
"""

from __future__ import annotations

import numpy as np

from eckart.arrays import Matrix, is_sparse
from eckart.formatting import counted
from eckart.nmf.constants import HELD_OUT_RATIO, MOST_TRIED, SPLITS, WORSE_IN_A_ROW
from eckart.nmf.loss import squared_error
from eckart.nmf.options import NMFOptions
from eckart.nmf.result import coordinates, factorise
from eckart.nmf.table import open_nonnegative
from eckart.rank.cross_validation import fewest_not_worse


def by_parts(table: Matrix, most: int | None, seed: int) -> tuple[int | None, str]:
    """The number of components that predicts held-out quarters best."""
    rows, columns = table.shape
    if rows < 8 or columns < 4:
        return None, (f"This rule needs at least 8 rows and 4 columns, but the table is {rows:,} x {columns:,}.")
    open_nonnegative(table, missing="error")  # messages about parts of the table would count its rows differently
    errors = parts_errors(table, min(most or MOST_TRIED, rows // 2 - 1, columns // 2 - 1), seed=seed)
    k = fewest_not_worse(errors, overlap=HELD_OUT_RATIO)
    mean = errors.mean(axis=1)
    if k == len(mean) - 1 and k > 0:
        return (
            None,
            (
                "Predictions of held-out quarters of the table keep improving up to "
                f"{counted(k, 'component')}. There may be more."
            ),
        )
    beyond = f"; with {k + 1} it is {mean[k + 1]:.4f}" if k + 1 < len(mean) else ""
    return (
        k,
        (
            f"With {counted(k, 'component')}, held-out quarters of the table are predicted with a "
            f"relative error of {mean[k]:.4f}{beyond}."
        ),
    )


def parts_errors(table: Matrix, most: int, *, seed: int) -> np.ndarray:
    """Squared errors of the held-out quarters (columns) for k = 0, 1, ... components, as shares."""
    rng = np.random.Generator(np.random.Philox(key=[seed, 6]))
    cuts = []
    for _ in range(SPLITS):
        halves = np.array_split(rng.permutation(table.shape[0]), 2)
        sides = np.array_split(rng.permutation(table.shape[1]), 2)
        cuts += [(halves[i], halves[1 - i], sides[j], sides[1 - j]) for i in range(2) for j in range(2)]
    errors = [np.ones(len(cuts))]
    squares = np.array([_squares(table[out][:, far]) for out, _, far, _ in cuts])
    for k in range(1, most + 1):
        errors.append(np.array([_quarter(table, *cut, k) for cut in cuts]) / np.maximum(squares, 1e-300))
        if k - int(np.argmin([error.mean() for error in errors])) >= WORSE_IN_A_ROW:
            break
    return np.asarray(errors)


def _squares(block: Matrix) -> float:
    return float(np.sum(np.asarray(block.data if is_sparse(block) else block, dtype=np.float64) ** 2))


def _quarter(table: Matrix, out: np.ndarray, kept: np.ndarray, far: np.ndarray, near: np.ndarray, k: int) -> float:
    """||A11 - W' H'||^2."""
    above, below = table[out], table[kept]
    d, rows, parts = factorise(below[:, near], NMFOptions(k=k, rng=0))
    given = d.details.options
    others = coordinates(above[:, near], parts, given)
    columns = coordinates(_turned(below[:, far]), np.ascontiguousarray(rows.T), given)
    return squared_error(_rows(above[:, far]), np.asarray(others, np.float64), np.asarray(columns, np.float64))


def _turned(block: Matrix) -> Matrix:
    return _rows(block.T) if is_sparse(block) else np.ascontiguousarray(block.T)


def _rows(block: Matrix) -> Matrix:
    return block.tocsr() if is_sparse(block) else np.ascontiguousarray(block)
