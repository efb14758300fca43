"""Statements of Isomap against all eigenvalues of the centred squared distances along its graph."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import shortest_path

import eckart as ek
from benchmarks.bounds.tables import table
from eckart.errors import InputError

ALLOWED = 5e-14


@dataclass(frozen=True)
class Case:
    data: np.ndarray
    options: dict[str, Any]
    metadata: str


def case(seed: int, most: int = 400) -> Case:
    rng = np.random.default_rng([seed, 2])
    data, metadata = table(rng, most, least=8)
    n = len(data)
    options: dict[str, Any] = {
        "k": int(rng.integers(1, min(6, n // 2))),
        "n_neighbors": int(rng.integers(1, min(12, n - 1))),
    }
    options["solver"] = str(rng.choice(["auto", "direct", "lanczos", "lanczos"]))
    return Case(data, options, f"{metadata}, " + ", ".join(f"{a}={b}" for a, b in options.items()))


def exact_distances(d: Any) -> np.ndarray:
    """Distances along the graph that the result names, by SciPy."""
    parts = d.details
    n = len(parts.first) - 1
    weights = np.maximum(parts.weight, 1e-300)  # zeros are edges as well
    index, first = np.asarray(parts.index, np.int32), np.asarray(parts.first, np.int32)  # all that SciPy 1.13 takes
    graph = sparse.csr_array((weights, index, first), shape=(n, n))
    found = shortest_path(graph, directed=False)
    found[found < 1e-290] = 0.0
    return np.asarray(np.ldexp(found, -parts.exponent))


def false_statements(given: Case) -> list[str] | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            d = ek.decompose(given.data, "isomap", left=True, **given.options)
    except InputError:
        return None
    return compared(d)


def compared(d: Any) -> list[str]:
    distances = exact_distances(d)
    scale = float(distances.max(initial=0.0)) or 1.0
    along = (distances / scale).astype(np.longdouble)
    squares = along**2
    means = squares.mean(axis=0)
    matrix = np.asarray(-0.5 * (squares - means - means[:, None] + means.mean()), np.float64)
    exact, vectors = np.linalg.eigh((matrix + matrix.T) / 2)
    exact, vectors = exact[::-1], vectors[:, ::-1]
    c, k, n = d.certificate, d.k, len(exact)
    total, largest = float(np.trace(matrix)), float(np.abs(exact).max(initial=0.0)) or 1.0
    unit = ALLOWED * largest
    lower, upper = c.lower / scale, c.upper / scale
    wanted = np.maximum(exact[:k], 0.0)
    left, values = np.asarray(d.left, np.float64), np.asarray(d.values, np.float64) / scale
    kept = values > 0
    residuals = np.linalg.norm(matrix @ left - left * values**2, axis=0)
    excess = {
        "lower value": float(np.max(lower**2 - wanted)),
        "upper value": float(np.max(wanted - upper**2)),
        "lower share": min(c.explained[0], 1.0) * total - float(wanted.sum()),
        "upper share": min(float(wanted.sum()), total) - c.explained[1] * total,
        "residual": float(np.max((residuals - c.residuals * largest)[kept], initial=0.0)),
    }
    if c.angle < 1 and k < n:
        sine = np.linalg.norm(left - vectors[:, :k] @ (vectors[:, :k].T @ left), 2)
        excess["angle"] = (sine - c.angle - 100 * unit / max(float(exact[k - 1] - exact[k]), 1e-300)) * largest
    figures = d.details
    left_over = float(np.sqrt(max(np.sum(exact**2) - np.sum(exact[:k] ** 2), 0.0))) / n
    stated = figures.reconstruction_error / scale**2
    excess["reconstruction error"] = (abs(stated - left_over) * n) ** 2 / largest - 1e-13 * largest * n
    negative = float(-exact[exact < 0].sum() / max(np.abs(exact).sum(), 1e-300))
    if n <= 640 or c.passes:
        excess["negative share"] = (abs(figures.negative_share - negative) - 1e-12 * n) * largest
    flat = np.zeros((n, n))
    coordinates = left * values
    for j in range(k):
        flat += (coordinates[:, j][:, None] - coordinates[:, j]) ** 2
        pairs = ~np.eye(n, dtype=bool)
        x, y = np.asarray(along, float)[pairs], np.sqrt(flat)[pairs]
        x, y = x - x.mean(), y - y.mean()
        spread = float((x @ x) * (y @ y))
        if spread > 1e-20:
            shared = float(x @ y) ** 2 / spread
            excess[f"residual variance {j + 1}"] = (abs(figures.residual_variance[j] - (1 - shared)) - 1e-9) * largest
    return [f"{name} by {size / largest:.1e}" for name, size in excess.items() if not size <= unit]
