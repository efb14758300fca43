"""What is computed: one entry per row of the table."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from benchmarks.data import Maker, clock, decaying, iris, text


@dataclass(frozen=True)
class Workload:
    name: str
    title: str
    method: Literal["pca", "svd"]
    k: int | float
    make: Maker
    target: str
    """What is to be reached, in words."""
    tolerance: float = 1e-5
    """Errors up to this count as equal."""
    speedup: float | None = None
    """Least ratio of the best equal peer's time to ours."""
    measure: Literal["values", "variances"] = "values"
    """Whether the error is that of the singular values or of their squares."""
    exact: bool = False
    """Small enough for a reference in rational arithmetic."""
    bare: bool = False
    """Time a bare Gram product of the data as well."""
    skip: dict[str, str] = field(default_factory=dict)
    """Peers that are not tried, and why."""


def too_wide(columns: int) -> dict[str, str]:
    why = f"needs a dense covariance of {columns:,} x {columns:,}"
    return {f"{package} covariance_eigh": why for package in ("sklearn", "sklearnex")}


GRAM_TARGET = "at most 1.15 x bare Gram + 10 ms"

DENSE = (
    Workload(
        "tall-f32",
        "dense 200k x 200 f32, k=10",
        "pca",
        10,
        decaying(200_000, 200, "f4"),
        GRAM_TARGET,
        speedup=0.95,
        bare=True,
    ),
    Workload(
        "tall-f64",
        "dense 200k x 200 f64, k=10",
        "pca",
        10,
        decaying(200_000, 200, "f8"),
        GRAM_TARGET,
        speedup=0.95,
        bare=True,
    ),
    Workload(
        "tall-offset",
        "dense 200k x 200 f32 + 1e4, k=10",
        "pca",
        10,
        decaying(200_000, 200, "f4", offset=1e4),
        "explained variance to 1e-5",
        measure="variances",
    ),
    Workload("medium", "dense 20k x 2000 f32, k=50", "pca", 50, decaying(20_000, 2000, "f4"), "2.5 x", speedup=2.5),
    Workload("square", "dense 4000 x 4000 f64, k=50", "pca", 50, decaying(4000, 4000, "f8"), "1.7 x", speedup=1.7),
    Workload("large", "dense 10k x 8000 f32, k=50", "pca", 50, decaying(10_000, 8000, "f4"), "3 x", speedup=3.0),
    Workload(
        "wide",
        "dense 500 x 50k f32, k=20",
        "pca",
        20,
        decaying(500, 50_000, "f4"),
        "3 x",
        speedup=3.0,
        skip=too_wide(50_000),
    ),
    Workload("share", "dense 20k x 2000 f32, share .95", "pca", 0.95, decaying(20_000, 2000, "f4"), "3 x", speedup=3.0),
)

SPARSE = (
    Workload(
        "sparse-svd",
        "sparse 200k x 30k f32, 8M, k=50",
        "svd",
        50,
        text(200_000, 30_000, 50),
        "2.5 x, values to 1e-5",
        speedup=2.5,
    ),
    Workload(
        "sparse-pca",
        "the same, centred",
        "pca",
        50,
        text(200_000, 30_000, 50),
        "2.5 x, values to 1e-5",
        speedup=2.5,
        skip=too_wide(30_000),
    ),
    Workload(
        "sparse-share",
        "sparse counts 50k x 10k f32, share .9",
        "pca",
        0.9,
        text(50_000, 10_000, 60, topics=10, slope=1.8, weighted=False),
        "works, smallest k",
        skip=too_wide(10_000),
    ),
)

ACCURACY = (
    Workload("iris-offset", "iris + 1e8", "pca", 4, iris(offset=1e8), "values to 1e-7", tolerance=1e-7, exact=True),
    Workload("clock", "one UNIX-time column, 60 x 3", "pca", 3, clock, "values to 1e-12", tolerance=1e-12, exact=True),
    Workload("iris-huge", "iris x 1e200", "pca", 4, iris(factor=1e200), "values to 1e-12", tolerance=1e-12, exact=True),
    Workload(
        "iris-tiny", "iris x 1e-200", "pca", 4, iris(factor=1e-200), "values to 1e-12", tolerance=1e-12, exact=True
    ),
)

WORKLOADS = {workload.name: workload for workload in (*DENSE, *SPARSE, *ACCURACY)}
