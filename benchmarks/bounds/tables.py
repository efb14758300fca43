"""Small tables of many families, each from its seed alone."""

from __future__ import annotations

import numpy as np

FAMILIES = (
    "normal", "duplicates", "constant", "offset", "low rank", "clusters", "tied values", "one huge row",
    "one huge column", "few values", "counts", "heavy tails", "graded", "zero rows", "far clusters", "line",
)  # fmt: skip


def table(rng: np.random.Generator, most: int = 400, least: int = 5) -> tuple[np.ndarray, str]:
    """A table of `least` to `most` rows and 1 to 40 columns in float32 or float64, and what it is."""
    rows, columns = int(np.exp(rng.uniform(np.log(least), np.log(most)))), int(rng.integers(1, 40))
    family = FAMILIES[int(rng.integers(len(FAMILIES)))]
    dtype = str(rng.choice(["float32", "float64"]))
    made = np.asarray(_made(family, rows, columns, rng), dtype)
    return made, f"{family}, {rows} x {columns}, {dtype}"


def _made(family: str, rows: int, columns: int, rng: np.random.Generator) -> np.ndarray:
    normal = rng.standard_normal((rows, columns))
    few = max(1, columns // 4)
    if family == "duplicates":
        return normal[rng.integers(0, max(1, rows // 3), rows)]
    if family == "constant":
        return np.broadcast_to(normal[:1], (rows, columns))
    if family == "offset":
        return normal + 10.0 ** rng.uniform(1, 6)
    if family == "low rank":
        return normal[:, :few] @ rng.standard_normal((few, columns))
    if family == "clusters":
        return 5.0 * normal[rng.integers(0, min(rows, 4), rows)] + 10.0 ** rng.uniform(-6, 0) * normal
    if family == "tied values":
        return np.linalg.qr(rng.standard_normal((rows, min(rows, columns))))[0]
    if family == "one huge row":
        normal[rng.integers(rows)] *= 10.0 ** rng.uniform(1, 6)
        return normal
    if family == "one huge column":
        normal[:, rng.integers(columns)] *= 10.0 ** rng.uniform(1, 6)
        return normal
    if family == "few values":
        return rng.choice([0.0, 0.1, 1.0], (rows, columns))
    if family == "counts":
        return rng.poisson(2.0, (rows, columns)).astype(float)
    if family == "heavy tails":
        return rng.standard_cauchy((rows, columns))
    if family == "graded":
        return normal * 10.0 ** -np.linspace(0, 8, columns)
    if family == "zero rows":
        normal[rng.random(rows) < 0.5] = 0.0
        return normal
    if family == "far clusters":
        return 10.0 ** rng.uniform(2, 7) * (np.arange(rows) % 3)[:, None] + normal
    if family == "line":
        return np.outer(np.linspace(0, 1, rows), np.ones(columns)) + 1e-3 * normal
    return normal
