"""Bi-cross-validation (Owen and Perry, 2009): hold out some rows of some columns, and predict them from the rest.

A = [[A11, A12], [A21, A22]]: A11 is predicted by A12 (A22)_k^+ A21 = (A12 V) S^-1 (U^T A21), where A22 ~ U S V^T. One
decomposition of A22 gives the errors for all k. Means are those of the rows that are not held out.
"""

from __future__ import annotations

import numpy as np

from eckart.arrays import Matrix, is_sparse
from eckart.components.find import find_components
from eckart.formatting import counted
from eckart.rank.evidence import Evidence


def by_bicross(e: Evidence) -> tuple[int | None, str]:
    if e.rows < 8 or e.columns < 4:
        return None, (
            f"This rule needs at least 8 rows and 4 columns, but the table has {e.rows} rows and {e.columns} columns."
        )
    errors = bicross_errors(e.table, e.most, center=e.center, rng=e.rng(3), repeats=max(1, e.repeats(4, 40) // 4))
    k = int(np.argmin(errors))
    if k == len(errors) - 1:
        return None, _too_small(k - 1)
    if (more := e.falls_beyond(k)) is not None:
        return (
            None,
            (
                f"The eigenvalues fall steeply after component {more}, but this rule predicts "
                f"quarters of the table, which can show at most {len(errors) - 2} components."
            ),
        )
    beyond = f"; with {k + 1} it is {errors[k + 1]:.4f}" if k + 1 < len(errors) else ""
    best = counted(k, "component")
    return k, (
        f"Predictions of held-out quarters of the table are most accurate with {best}: the relative error "
        f"is {errors[k]:.4f}{beyond}."
    )


def _too_small(most: int) -> str:
    """Why a table in which a quarter shows at most this many components gives no answer."""
    if most < 1:
        return "This rule compares quarters of the table, and a quarter of this table is too small."
    return (
        "This rule compares quarters of the table, which can show at most "
        f"{counted(most, 'component')}. There may be more."
    )


def bicross_errors(table: Matrix, most: int, *, center: bool, rng: np.random.Generator, repeats: int = 1) -> np.ndarray:
    """Squared error of held-out quarters for k = 0, 1, ..., as a share of their sum of squares."""
    rows, columns = table.shape
    most = min(most, rows // 2 - 2, columns // 2 - 1)
    errors = np.zeros(most + 1)
    for _ in range(repeats):
        halves = np.array_split(rng.permutation(rows), 2)
        sides = np.array_split(rng.permutation(columns), 2)
        for i in range(2):
            for j in range(2):
                errors += _quarter(table, halves[i], halves[1 - i], sides[j], sides[1 - j], most, center=center)
    return errors / errors[0] if errors[0] > 0.0 else errors


def _quarter(
    table: Matrix, out: np.ndarray, kept: np.ndarray, far: np.ndarray, near: np.ndarray, most: int, *, center: bool
) -> np.ndarray:
    """||A11 - A12 (A22)_k^+ A21||^2 for k = 0..most, from products with U and V alone."""
    above, below = table[out], table[kept]
    held, beside, under, corner = above[:, far], above[:, near], below[:, far], below[:, near]
    d = find_components(corner, "pca" if center else "svd", k=most, tol=1e-6, left=True)
    values = np.asarray(d.values, dtype=np.float64)
    good = values > 1e-10 * max(float(values[0]), 1e-300)
    right, left = np.asarray(d.right, dtype=np.float64)[:, good], np.asarray(d.left, dtype=np.float64)[:, good]
    rows = beside @ right - (np.asarray(d.mean, dtype=np.float64) @ right if d.mean is not None else 0.0)
    columns = (under.T @ left) / values[good]
    mean = np.asarray(under.mean(axis=0)).ravel() if center else np.zeros(len(far))
    cross = np.einsum("ik,ik->k", held.T @ rows, columns) - rows.sum(axis=0) * (mean @ columns)
    squares = (rows.T @ rows) * (columns.T @ columns)
    total = _sum_of_squares(held, mean)
    steps = np.array([np.sum(squares[: k + 1, : k + 1]) for k in range(len(cross))])
    errors = np.full(most + 1, np.inf)
    errors[0] = total
    errors[1 : len(cross) + 1] = total - 2.0 * np.cumsum(cross) + steps
    return errors


def _sum_of_squares(block: Matrix, mean: np.ndarray) -> float:
    """||A - 1 mean^T||^2, without filling the zeros of a sparse block."""
    if not is_sparse(block):
        return float(np.sum((block - mean) ** 2, dtype=np.float64))
    sums = np.asarray(block.sum(axis=0)).ravel()
    return float(np.sum(block.data.astype(np.float64) ** 2) - 2.0 * mean @ sums + block.shape[0] * mean @ mean)
