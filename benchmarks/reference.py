"""The right answer in float64 (small tables: in rational arithmetic), whatever the data's dtype.

Dense: LAPACK's eigenvalues of the centred float64 Gram on the small side; its error is far below what is compared.
Sparse: ARPACK in float64 at full accuracy, since no LAPACK routine fits.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator, svds

from benchmarks.workloads import Workload

CHUNK = 5000


def reference(data: Any, workload: Workload) -> list[float]:
    """Singular values in falling order: the k asked for, or as many as the share needs."""
    if workload.exact:
        return rational(data)[: int(workload.k)]
    centred = workload.method == "pca"
    if sp.issparse(data):
        return sparse_values(data, workload.k, centred=centred)
    squares = scipy.linalg.eigvalsh(gram(data, centred=centred))[::-1].clip(min=0.0)
    return np.sqrt(squares[: count(squares, float(squares.sum()), workload.k)]).tolist()


def count(squares: np.ndarray, total: float, k: int | float) -> int:
    """Number of axes: k itself, or the smallest number that holds the share k."""
    return k if isinstance(k, int) else int(np.searchsorted(np.cumsum(squares), k * total)) + 1


def gram(data: np.ndarray, *, centred: bool) -> np.ndarray:
    """A^T A or A A^T, whichever is smaller, in float64 by blocks."""
    tall = data.shape[0] >= data.shape[1]
    mean = data.mean(axis=0, dtype=np.float64) if centred else np.zeros(data.shape[1])
    side = min(data.shape)
    product = np.zeros((side, side))
    for start in range(0, max(data.shape), CHUNK):
        part = slice(start, start + CHUNK)
        block = data[part] - mean if tall else (data[:, part] - mean[part]).T
        product += block.T @ block
    return product


def sparse_values(data: Any, k: int | float, *, centred: bool) -> list[float]:
    matrix = data.astype(np.float64)
    mean = np.asarray(matrix.mean(axis=0)).ravel() if centred else np.zeros(matrix.shape[1])
    total = float(matrix.data @ matrix.data - matrix.shape[0] * (mean @ mean))
    operator = LinearOperator(
        matrix.shape,
        matvec=lambda x: matrix @ x - mean @ x,
        rmatvec=lambda y: matrix.T @ y - mean * y.sum(),
        matmat=lambda x: matrix @ x - mean @ x,
        rmatmat=lambda y: matrix.T @ y - np.outer(mean, y.sum(axis=0)),
        dtype=matrix.dtype,
    )
    wanted = k if isinstance(k, int) else 50
    while True:
        squares = (
            np.sort(svds(operator, wanted, return_singular_vectors=False, rng=np.random.default_rng(0)))[::-1] ** 2
        )
        needed = count(squares, total, k)
        if needed <= wanted:
            return np.sqrt(squares[:needed]).tolist()
        wanted = min(3 * wanted, min(matrix.shape) - 1)


def rational(data: np.ndarray) -> list[float]:
    """Centred Gram in fractions, eigenvalues to 60 digits."""
    from mpmath import mp

    with mp.workdps(60):
        columns = [[Fraction(float(value)) for value in column] for column in data.T]
        centred = [[value - sum(column) / len(column) for value in column] for column in columns]
        products = [[sum(a * b for a, b in zip(x, y, strict=True)) for y in centred] for x in centred]
        matrix = mp.matrix([[mp.mpf(entry.numerator) / entry.denominator for entry in row] for row in products])
        return sorted((float(mp.sqrt(square)) for square in mp.eigsy(matrix, eigvals_only=True)), reverse=True)
