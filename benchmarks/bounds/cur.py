"""Statements of CUR against C U R formed in long double and a float64 SVD."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

import eckart as ek
from benchmarks.bounds.tables import table
from eckart.errors import InputError

ALLOWED = 5e-14


@dataclass(frozen=True)
class Case:
    data: Any
    dense: np.ndarray
    options: dict[str, Any]
    metadata: str


def case(seed: int, most: int = 200) -> Case:
    rng = np.random.default_rng([seed, 3])
    dense, metadata = table(rng, most)
    if rng.random() < 0.3:
        dense = np.ascontiguousarray(dense.T)
    short = min(dense.shape)
    options: dict[str, Any] = {
        "select": str(rng.choice(["pivot", "norm", "leverage", "volume"])),
        "core": str(rng.choice(["best", "best", "intersection"])),
        "k": int(rng.integers(1, short + 1)),
        "rng": int(rng.integers(1000)),
    }
    thin = rng.random() < 0.3
    return Case(
        sparse.csr_array(dense) if thin else dense, dense, options,
        f"{metadata}{', sparse' if thin else ''}, " + ", ".join(f"{a}={b}" for a, b in options.items()),
    )  # fmt: skip


def false_statements(given: Case) -> list[str] | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            d = ek.decompose(given.data, "cur", **given.options)
    except InputError:
        return None
    parts, c = d.details, d.certificate
    exact = given.dense.astype(np.longdouble)
    values = np.linalg.svd(given.dense.astype(np.float64), compute_uv=False)
    k, norm = parts.k, float(np.sqrt(np.sum(exact * exact)))
    unit = ALLOWED * norm
    # The returned factors, as they are: columns and rows of the data, and the core.
    columns, rows = (np.asarray(p.toarray() if sparse.issparse(p) else p, np.longdouble) for p in (parts.C, parts.R))
    core = {name: np.asarray(f, np.longdouble) for name, f in vars(parts.core).items()}
    made = ((columns @ core["left"]) / core["left_values"]) @ core["middle"]
    made = (made / core["right_values"]) @ (core["right"].T @ rows)
    error = float(np.sqrt(np.sum((exact - made) ** 2)))
    best = float(np.sqrt(np.sum(np.sort(values[k:]) ** 2)))
    count = max(min(len(parts.columns), len(parts.rows)), k)
    excess = {
        "error": abs(parts.error - error) - parts.error_rounding,
        "relative error": abs(parts.relative_error * norm - error) - parts.error_rounding,
        "best error, lower": parts.best_error[0] - best,
        "best error, upper": best - parts.best_error[1],
        "ratio, lower": parts.ratio[0] * max(best - unit, 0.0) - error,
        "ratio, upper": error - parts.ratio[1] * (best + unit) if best > 0 or error > parts.error_rounding else 0.0,
        "captured": (c.explained[0] * norm**2 - max(norm**2 - error**2, 0.0)) / norm if norm else 0.0,
        "best captured": (float(np.sum(values[:count] ** 2)) - c.explained[1] * norm**2) / norm if norm else 0.0,
    }
    for name, bound in parts.bounds.items():
        if name == "pivot" and bound.applies:
            excess[f"bound {name}"] = error - bound.bound
    return [f"{name} by {size / max(norm, 1e-300):.1e}" for name, size in excess.items() if not size <= unit]
