"""Statements of kernel PCA against all eigenvalues of the centred kernel, formed in long double."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

import eckart as ek
from benchmarks.bounds.tables import table
from eckart.errors import InputError

ALLOWED = 5e-14
"""Accuracy of the reference, relative to the largest eigenvalue."""


@dataclass(frozen=True)
class Case:
    data: np.ndarray
    options: dict[str, Any]
    metadata: str


def case(seed: int, most: int = 400) -> Case:
    """A table, a kernel and a solver."""
    rng = np.random.default_rng([seed, 1])
    data, metadata = table(rng, most)
    kernel = str(rng.choice(["rbf", "rbf", "rbf", "laplacian", "poly", "sigmoid", "cosine", "linear", "precomputed"]))
    lengths = float(np.mean(np.sum((data - data.mean(axis=0)).astype(float) ** 2, axis=1))) or 1.0
    options: dict[str, Any] = {"kernel": kernel, "rng": int(rng.integers(100))}
    options["gamma"] = "median" if rng.random() < 0.3 else 10.0 ** rng.uniform(-6, 3) / lengths
    if kernel in ("poly", "sigmoid"):
        options |= {
            "gamma": 10.0 ** rng.uniform(-3, 0) / (float(np.mean(np.sum(data.astype(float) ** 2, axis=1))) or 1.0)
        }
        options |= {"degree": int(rng.integers(1, 5)), "coef0": float(rng.choice([0.0, 1.0]))}
    if kernel == "precomputed":
        options["gamma"] = None
        square = data.astype(float) @ data.T.astype(float)
        data = (square + 1e-7 * rng.standard_normal(square.shape) * (rng.random() < 0.3)).astype(data.dtype)
    n = len(data)
    k = int(rng.integers(1, max(2, n // 5)))
    options["solver"] = str(rng.choice(["auto", "direct", "lanczos", "cholesky", "cholesky"]))
    chosen = rng.random()
    if chosen < 0.7:
        options["k"] = k
    elif chosen < 0.85:
        options["explain"] = float(rng.uniform(0.3, 0.999))
    if options["solver"] == "cholesky":
        options["approximation_error"] = float(10.0 ** rng.uniform(-12, -1.5))
        if options["kernel"] != "precomputed" and rng.random() < 0.3:
            options["stream"] = True
    return Case(data, options, f"{metadata}, " + ", ".join(f"{a}={b}" for a, b in options.items()))


def exact_kernel(data: np.ndarray, kernel: str, gamma: float, degree: float, coef0: float) -> np.ndarray:
    """K in long double."""
    x = data.astype(np.longdouble)
    if kernel == "precomputed":
        return (x + x.T) / 2
    if kernel in ("rbf", "laplacian"):
        apart = np.zeros((len(x), len(x)), np.longdouble)
        for column in x.T:
            difference = np.abs(column[:, None] - column)
            apart += difference if kernel == "laplacian" else difference**2
        return np.exp(-np.longdouble(gamma) * apart)
    if kernel == "cosine":
        lengths = np.sqrt(np.sum(x * x, axis=1))
        x = x / np.where(lengths > 0, lengths, 1)[:, None]
    product = np.einsum("ij,kj->ik", x, x)
    if kernel == "poly":
        return (np.longdouble(gamma) * product + np.longdouble(coef0)) ** int(degree)
    if kernel == "sigmoid":
        return np.tanh(np.longdouble(gamma) * product + np.longdouble(coef0))
    return product


def centred(kernel: np.ndarray) -> np.ndarray:
    """H K H in float64."""
    means = kernel.mean(axis=0)
    return np.asarray(kernel - means - means[:, None] + means.mean(), np.float64)


def false_statements(given: Case) -> list[str] | None:
    """What is false, by how much; None where the data are refused."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            d = ek.decompose(given.data, "kernel_pca", left=True, **given.options)
    except InputError:
        return None
    parts, c = d.details, d.certificate
    assert c is not None
    kernel = exact_kernel(given.data, parts.kernel, parts.gamma, parts.degree, parts.coef0)
    return compared(centred(kernel), kernel, d, c)


def compared(matrix: np.ndarray, kernel: np.ndarray, d: Any, c: Any) -> list[str]:
    exact, vectors = np.linalg.eigh((matrix + matrix.T) / 2)
    exact, vectors = exact[::-1], vectors[:, ::-1]
    k, largest = d.k, float(np.abs(exact).max(initial=0.0))
    # What forming K from numbers that are not in long double costs: nothing but the last digit of each entry.
    unit = ALLOWED * largest + 1e-17 * float(np.abs(kernel).max()) * len(kernel)
    # Shares are those of the positive eigenvalues: of the trace, if the others are zero.
    total = float(exact[exact > 0].sum()) if exact[-1] < -unit else float(np.trace(matrix))
    wanted = np.maximum(exact[:k], 0.0)
    best = float(wanted.sum())
    left = np.asarray(d.left, np.float64)
    values = np.asarray(d.values, np.float64) ** 2
    residuals = np.linalg.norm(matrix @ left - left * values, axis=0)
    kept = values > 0
    # No bound times a kernel that is zero: nothing is stated.
    stated = np.where(np.isfinite(c.residuals), c.residuals * (largest or 1.0), np.inf)
    basis = np.linalg.qr(left[:, kept])[0]
    captured = float(np.sum(basis * (matrix @ basis)))
    excess = {
        "lower value": float(np.max(c.lower**2 - wanted, initial=0.0)),
        "upper value": float(np.max(wanted - c.upper**2, initial=0.0)),
        "lower share": (c.explained[0] * total - best),
        "upper share": (min(best, total) - c.explained[1] * total),
        "captured": c.explained[0] * total - max(captured, 0.0),
        "residual": float(np.max(residuals[kept] - stated[kept], initial=0.0)),
    }
    if c.angle < 1 and k < len(exact):
        sine = np.linalg.norm(left - vectors[:, :k] @ (vectors[:, :k].T @ left), 2)
        gap = max(float(exact[k - 1] - exact[k]), 1e-300)
        excess["angle"] = (sine - c.angle - 100 * unit / gap) * largest
    if d.details.pivots is not None:
        pivots = np.asarray(d.details.pivots)
        trace = float(np.trace(kernel))
        excess["approximation error"] = missing(kernel, pivots) - (d.details.approximation_error + ALLOWED) * trace
    return [f"{name} by {size / max(largest, 1e-300):.1e}" for name, size in excess.items() if not size <= unit]


def missing(kernel: np.ndarray, pivots: np.ndarray) -> float:
    """Trace of K - K[:, P] K[P, P]^+ K[P, :], of what is at least as much as rounding."""
    columns = np.asarray(kernel[:, pivots], np.float64)
    values, vectors = np.linalg.eigh(columns[pivots])
    kept = values > 1e-13 * len(pivots) * values[-1]
    inside = (columns @ vectors[:, kept]) / np.sqrt(values[kept])
    return float(np.trace(kernel) - np.sum(inside.astype(np.longdouble) ** 2))
