"""Statements of kernel PCA, CUR, NMF and Isomap against the truth.

Kernels and distances along a graph are computed anew in longdouble. Eigenvalues come from LAPACK in float64; where they
leave a doubt, from Jacobi rotations in longdouble.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

import eckart as ek
from benchmarks.certificates import options as asked
from benchmarks.certificates import reference
from benchmarks.certificates.checks import ALLOWED, Outcome, doubtful, quietly
from benchmarks.certificates.reference import LONG

_NEIGHBOURS = 6
FACTORS_IN_FLOAT32 = 1e-6
"""Relative error of a product of factors that were rounded to float32."""


def judge(outcome: Outcome, table: np.ndarray) -> None:
    {"kernel_pca": kernel_pca, "cur": cur, "nmf": nmf, "isomap": isomap}[outcome.options.method](outcome, table)


def points_of(table: np.ndarray) -> np.ndarray:
    """Columns of mean 0 and deviation 1, rounded to the dtype: distances of order 1 for every family."""
    matrix, exponent = reference.standardize(table, center=True, scale=True)
    return np.ldexp(matrix, exponent).astype(table.dtype)


class Eigenpairs:
    """Eigenvalues, falling, and vectors of a symmetric matrix in longdouble; `sharp` for those by Jacobi rotations."""

    def __init__(self, matrix: np.ndarray, *, sharp: bool = False) -> None:
        self.matrix = matrix
        self.trace = float(np.trace(matrix))
        if not sharp:
            values, vectors = np.linalg.eigh(matrix.astype(float))
            self.values, self.vectors = values[::-1], vectors[:, ::-1]
            return
        # B + s I has no negative eigenvalue, so its singular values are its eigenvalues.
        shift = LONG(2.0) * max(-float(np.linalg.eigvalsh(matrix.astype(float))[0]), 0.0)
        values, vectors = reference.jacobi(matrix + shift * np.eye(len(matrix), dtype=LONG))
        self.values, self.vectors = values - shift, vectors

    @property
    def largest(self) -> float:
        return max(float(self.values[0]), 1e-300)


def kernel_matrix(points: np.ndarray, kernel: str, gamma: float, *, lowered: bool = False) -> np.ndarray:
    """K in longdouble; linear, cosine, rbf, laplacian, or poly of degree 3 with constant term 1.

    The first two are products of centred rows, which lose no digits to an offset.

    `lowered` takes 1 off the first two: the centred matrix is the same, and where all points are close together the
    digits of 1 - K would be lost in K.
    """
    rows = points.astype(LONG)
    if kernel in ("linear", "cosine"):
        lengths = np.sqrt(np.sum(rows**2, axis=1)) if kernel == "cosine" else np.ones(len(rows), LONG)
        rows = rows / np.where(lengths > 0, lengths, 1)[:, None]
        for _ in range(2):
            rows = rows - rows.mean(axis=0)
        return np.asarray(rows @ rows.T)
    if kernel == "poly":
        return (LONG(gamma) * np.einsum("ik,jk->ij", rows, rows) + 1) ** 3
    apart = np.zeros((len(rows), len(rows)), LONG)
    for column in rows.T:
        difference = column[:, None] - column
        apart += np.abs(difference) if kernel == "laplacian" else difference**2
    return (np.expm1 if lowered else np.exp)(-LONG(gamma) * apart)


def centred(matrix: np.ndarray) -> np.ndarray:
    """J K J, J = I - 11^T / n; twice, so that rounding of the first means is removed."""
    for _ in range(2):
        matrix = matrix - matrix.mean(axis=0)
        matrix = matrix - matrix.mean(axis=1)[:, None]
    return (matrix + matrix.T) / 2


def eigen_statements(d: Any, truth: Eigenpairs) -> dict[str, float]:
    """Bounds of the eigenvalues, their share of the trace, residuals and angle of the vectors that were returned."""
    c, k = d.certificate, d.k
    values, largest = np.maximum(truth.values[:k], 0), truth.largest
    lower, upper = (np.asarray(side).astype(LONG) ** 2 for side in (c.lower, c.upper))
    best = float(np.sum(values)) / truth.trace if truth.trace > 0 else 0.0
    found = {
        "lower value": float(np.max(lower - values, initial=-1.0) / largest),
        "upper value": float(np.max(values - upper, initial=-1.0) / largest),
        "lower share": c.explained[0] - best,
        "upper share": min(best, 1.0) - c.explained[1],
    }
    if d.left is None:
        return found
    left, own = np.asarray(d.left).astype(LONG), np.asarray(d.values).astype(LONG) ** 2
    residual = np.sqrt(np.sum((truth.matrix @ left - left * own) ** 2, axis=0)) / largest
    # Of kernels other than products of rows, a component without variance has no vector.
    kept = (own > 0) | (d.details.kernel in ("linear", "cosine") if d.method == "kernel_pca" else False)
    found["residual"] = float(np.max((residual - c.residuals)[kept], initial=-1.0))
    beyond = float(truth.values[k]) if k < len(truth.values) else 0.0
    gap = (float(truth.values[k - 1]) - beyond) / largest
    if c.angle < 1.0 and gap > 1e-12:
        basis = np.linalg.qr(left.astype(float))[0]
        exact = truth.vectors[:, :k].astype(float)
        sine = float(np.linalg.norm(basis - exact @ (exact.T @ basis), 2))
        found["angle"] = sine - c.angle - 1e-14 / gap
    return found


def _confirmed(d: Any, matrix: np.ndarray) -> dict[str, float]:
    found = eigen_statements(d, Eigenpairs(matrix))
    if doubtful(found):
        found = eigen_statements(d, Eigenpairs(matrix, sharp=True))
    return found


def kernel_pca(outcome: Outcome, table: np.ndarray) -> None:
    options, points = outcome.options, points_of(table)
    gamma = float(np.random.default_rng([options.seed, 5]).choice([0.05, 0.5, 2.0])) / points.shape[1]
    words = {"kernel": options.extra, "gamma": gamma, "solver": options.solver, "rng": options.rng, "k": options.k}
    if options.solver == "cholesky":
        words["approximation_error"] = float(np.random.default_rng([options.seed, 6]).choice([1e-1, 1e-2, 1e-6]))
    d = quietly(outcome, lambda: ek.decompose(points, "kernel_pca", left=True, **words))
    kernel = kernel_matrix(points, options.extra, gamma)
    outcome.excess |= _confirmed(d, centred(kernel_matrix(points, options.extra, gamma, lowered=True)))
    stated = getattr(d.details, "approximation_error", None)
    if stated is not None and d.details.pivots is not None:
        outcome.excess["approximation error"] = missing_share(kernel, d.details.pivots) - float(stated)
    if d.k:
        size = max(float(np.max(d.certificate.upper)), 1e-300)
        outcome.width = float(np.median(d.certificate.upper - d.certificate.lower)) / size


def missing_share(kernel: np.ndarray, pivots: np.ndarray) -> float:
    """tr(K - K_:p K_pp^-1 K_p:) / tr K by Cholesky steps in longdouble."""
    diagonal, factor = np.diag(kernel).copy(), np.zeros((0, len(kernel)), LONG)
    for pivot in np.asarray(pivots, dtype=int):
        row = kernel[pivot] - factor[:, pivot] @ factor
        if row[pivot] <= 1e-17 * kernel[pivot, pivot]:
            continue  # dependent on the pivots before it
        factor = np.vstack([factor, row / np.sqrt(row[pivot])])
        diagonal -= factor[-1] ** 2
    return float(np.sum(np.maximum(diagonal, 0)) / np.trace(kernel))


def orthonormal(columns: np.ndarray) -> np.ndarray:
    """Gram-Schmidt, twice, in longdouble; columns that depend on those before are left out."""
    basis = np.zeros((len(columns), 0), LONG)
    for column in columns.T.astype(LONG):
        rest = column - basis @ (basis.T @ column)
        rest = rest - basis @ (basis.T @ rest)
        length = np.sqrt(rest @ rest)
        if length > 1e-15 * np.sqrt(column @ column):
            basis = np.column_stack([basis, rest / length])
    return basis


def _length(matrix: np.ndarray) -> float:
    return float(np.sqrt(np.sum(matrix**2)))


def cur(outcome: Outcome, table: np.ndarray) -> None:
    options, exact = outcome.options, table.astype(LONG)
    data = asked.stored(table, options.storage)
    d = quietly(outcome, lambda: ek.decompose(data, "cur", k=options.k, select=options.extra, rng=options.rng))
    norm = _length(exact)
    if norm == 0.0:
        return
    left, right = orthonormal(exact[:, d.details.columns]), orthonormal(exact[d.details.rows].T)
    best_core = _length(exact - left @ ((left.T @ exact) @ right) @ right.T) / norm
    taken = d.details.C.toarray() if hasattr(d.details.C, "toarray") else np.asarray(d.details.C)
    returned = _length(exact - taken.astype(LONG) @ np.asarray(d.right).T.astype(LONG)) / norm
    stated, slack = d.details.error / norm, d.details.error_rounding / norm
    # The error is that of C U R; U R rounded to the dtype of the data is off by this much more.
    rounded = (
        float(np.finfo(np.asarray(d.right).dtype).eps) * _length(taken.astype(LONG)) * _length(np.asarray(d.right))
    )
    slack += rounded / norm
    # Nearly dependent columns leave the best core undetermined; the stated error may then be that of the rounded core.
    error = min((best_core, returned), key=lambda size: abs(size - stated))
    truth = reference.double(table)
    values = np.ldexp(truth.values, truth.exponent)
    k = int(d.details.k)
    best = _length(values[k:]) / norm
    low, high = (float(side) / norm for side in d.details.best_error)
    ratio = d.details.ratio
    outcome.excess |= {
        "stated error": abs(error - stated) - slack,
        "lower best error": low - best,
        "upper best error": best - high,
        "lower ratio": ratio[0] * best - error - slack,
        "upper ratio": error - slack - ratio[1] * best if best > ALLOWED else -1.0,
        "lower share": d.certificate.explained[0] - (1.0 - max(error - slack, 0.0) ** 2),
        "upper share": _best_share(values, max(k, min(left.shape[1], right.shape[1]))) - d.certificate.explained[1],
    }
    outcome.width = high - low


def _best_share(values: np.ndarray, k: int) -> float:
    return float(np.sum(values[:k] ** 2) / np.sum(values**2))


def nmf(outcome: Outcome, table: np.ndarray) -> None:
    options, table = outcome.options, np.abs(table)
    exact = table.astype(LONG)
    words = {"k": options.k, "rng": options.rng, "max_iter": 60, "left": True}
    d = quietly(outcome, lambda: ek.decompose(asked.stored(table, options.storage), "nmf", **words))
    norm = _length(exact)
    if norm == 0.0 or d.certificate is None:
        return
    left, right = (np.asarray(factor).astype(LONG) for factor in (d.left * d.values, d.right))
    error, stated = _length(exact - left @ right.T) / norm, float(d.details.error) / norm
    allowed = FACTORS_IN_FLOAT32 if table.dtype == np.float32 else 0.0
    truth = reference.double(table)
    values, k = truth.values, min(options.k, len(truth.values))
    lower, upper = truth.scaled(d.certificate.lower), truth.scaled(d.certificate.upper)
    outcome.excess |= {
        "negative factor": float(max(-left.min(), -right.min())),
        "stated error": abs(error - stated) - float(d.details.error_rounding) / norm,
        "lower share": d.certificate.explained[0] - (1.0 - error**2) - allowed,
        "upper share": _best_share(values, k) - d.certificate.explained[1],
        "lower value": float(np.max(lower - values[: len(lower)], initial=-1.0) / truth.largest),
        "upper value": float(np.max(values[: len(upper)] - upper, initial=-1.0) / truth.largest),
    }
    outcome.width = float(d.certificate.explained[1] - d.certificate.explained[0])


def distances_along_graph(points: np.ndarray) -> np.ndarray | None:
    """Shortest paths over the nearest neighbours, in longdouble; None where neighbours tie or pieces are apart."""
    rows = points.astype(LONG)
    apart = np.sqrt(sum((column[:, None] - column) ** 2 for column in rows.T))
    np.fill_diagonal(apart, 0)
    order = np.sort(apart, axis=1)
    if np.any(order[:, _NEIGHBOURS + 1] - order[:, _NEIGHBOURS] <= 1e-9 * order[:, -1]):
        return None
    near = apart <= order[:, _NEIGHBOURS][:, None]
    paths = np.where(near | near.T, apart, np.inf)
    for middle in range(len(paths)):
        paths = np.minimum(paths, paths[:, middle, None] + paths[middle])
    return paths if np.all(np.isfinite(paths)) else None


def isomap(outcome: Outcome, table: np.ndarray) -> None:
    options, points = outcome.options, points_of(table)
    paths = distances_along_graph(points) if len(points) > _NEIGHBOURS + 2 else None
    if paths is None:
        outcome.refused = "neighbours tie"
        return
    words = {"k": options.k, "n_neighbors": _NEIGHBOURS, "solver": options.solver, "rng": options.rng}
    d = quietly(outcome, lambda: ek.decompose(points, "isomap", **words))
    matrix = centred(-(paths**2) / 2)
    outcome.excess |= _confirmed(d, matrix)
    values = Eigenpairs(matrix).values
    coordinates = np.asarray(d.left).astype(LONG) * np.asarray(d.values).astype(LONG)
    unit = FACTORS_IN_FLOAT32 if table.dtype == np.float32 else 1e-9
    squares = float(np.sum(matrix**2)) - float(np.sum(values[: d.k] ** 2))
    own = float(np.sqrt(max(squares, 0.0))) / len(points)
    scale = float(np.sqrt(np.sum(matrix**2))) / len(points)
    negative = float(np.sum(np.abs(values[values < 0])) / np.sum(np.abs(values)))
    variance = [_residual_variance(paths, coordinates[:, : i + 1]) for i in range(d.k)]
    outcome.excess |= {
        "reconstruction error": abs(d.details.reconstruction_error - own) / scale - unit**0.5,
        "negative share": abs(d.details.negative_share - negative) - unit,
        "residual variance": float(np.max(np.abs(d.details.residual_variance - np.array(variance)))) - 100 * unit,
    }


def _residual_variance(paths: np.ndarray, coordinates: ArrayLike) -> float:
    """1 - r^2 between the distances along the graph and those of the coordinates, over all pairs."""
    y = np.asarray(coordinates)
    straight = np.sqrt(sum((column[:, None] - column) ** 2 for column in y.T))
    pairs = np.triu_indices(len(y), 1)
    return 1.0 - float(np.corrcoef(paths[pairs].astype(float), straight[pairs].astype(float))[0, 1]) ** 2
