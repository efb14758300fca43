"""What is asked of each table: shape, precision, storage, solver, number of components, weights, scaling.

`draw(family, seed)` gives the options of one case, `Options.line` writes a case as one line, and `parse` reads it back.
"""

from __future__ import annotations

import json
import zlib
from dataclasses import asdict, dataclass, fields
from typing import Any

import numpy as np
from scipy import sparse

from benchmarks.certificates.families import EXTREME, FAMILIES, NAMED, SPARSE

AXES = ("pca", "svd")
OTHERS = ("kernel_pca", "cur", "nmf", "isomap")
_UNSUITABLE = {"constant", "huge row", "huge column", "cauchy", "indicator"} | EXTREME
"""Families that the methods other than PCA and SVD are not tried on: coinciding points, overflowing kernels."""


@dataclass(frozen=True)
class Options:
    """One case; with the family and the seed it determines table and call."""

    family: str
    seed: int
    rows: int
    columns: int
    dtype: str = "float64"
    method: str = "pca"
    storage: str = "array"
    """array, transposed (Fortran order), csr, blocks, csr blocks."""
    solver: str = "auto"
    ask: str = "k"
    """k, explain, error, or boundary: explain= just below what k components explain."""
    k: int = 1
    level: float = 0.0
    """The value of explain= or error=."""
    which: str = "largest"
    weights: str = ""
    """uniform, integers (some of them zero), graded, or none."""
    scale: bool = False
    tol: float | None = None
    rng: int | None = None
    estimator: bool = False
    extra: str = ""
    """Of the other methods: the kernel, the way of selection."""

    @property
    def line(self) -> str:
        """The case as one line of JSON, without the defaults."""
        given = asdict(self)
        plain = {item.name: item.default for item in fields(self)}
        return json.dumps({name: value for name, value in given.items() if value != plain[name]})

    @property
    def center(self) -> bool:
        return self.method == "pca"


def parse(line: str) -> Options:
    return Options(**json.loads(line))


def table_of(options: Options) -> np.ndarray:
    """The dense table, rounded to its dtype."""
    dtype = np.dtype(options.dtype)
    rng = np.random.default_rng([options.seed, zlib.crc32(options.family.encode()), 1])
    with np.errstate(over="ignore", under="ignore"):
        table = (FAMILIES | NAMED)[options.family](rng, options.rows, options.columns, dtype).astype(dtype)
    limit = np.finfo(dtype).max
    return np.clip(table, -limit / 1e6, limit / 1e6) if options.family == "cauchy" else table


def weights_of(options: Options) -> np.ndarray | None:
    if not options.weights:
        return None
    rng = np.random.default_rng([options.seed, 2])
    if options.weights == "integers":
        # Rows of weight zero do not count, not even among the smallest values.
        weights = rng.integers(int(options.which == "smallest"), 4, options.rows).astype(float)
        return weights if weights.any() else weights + 1.0
    if options.weights == "graded":
        return 10.0 ** rng.uniform(-6, 6, options.rows)
    return rng.uniform(0.1, 3.0, options.rows)


def stored(table: np.ndarray, storage: str) -> Any:
    if storage.startswith("csr"):
        return sparse.csr_array(table)
    return np.asfortranarray(table) if storage == "transposed" else table


def keywords(options: Options, share: float | None = None) -> dict[str, Any]:
    """Keyword arguments of `eckart.decompose`; `share` is explain= for a case at a boundary."""
    found: dict[str, Any] = {}
    if options.ask == "k":
        found["k"] = options.k
    else:
        found["error" if options.ask == "error" else "explain"] = options.level if share is None else share
    optional = {"sample_weight": weights_of(options), "scale": options.scale or None, "tol": options.tol,
                "rng": options.rng}  # fmt: skip
    found |= {name: value for name, value in optional.items() if value is not None}
    if options.which != "largest":
        found["which"] = options.which
    if options.solver != "auto":
        found["solver"] = options.solver
    if "blocks" in options.storage:
        found |= {"stream": True, "memory": _memory(options)}
    return found


def _memory(options: Options) -> int:
    """Room for the basis of Lanczos and little more: blocks are a sixteenth of it, so larger tables have several."""
    short = min(options.rows, options.columns)
    return 1_000_000 + 4000 * short + 48 * short**2


def draw(family: str, seed: int) -> Options:
    """Options that suit each other, most of them small."""
    rng = np.random.default_rng([seed, zlib.crc32(family.encode()), 0])
    if rng.random() < 0.1 and family not in _UNSUITABLE:
        return _draw_other(family, seed, rng)
    rows, columns = _shape(rng)
    method = str(rng.choice(AXES))
    dtype = "float32" if rng.random() < 0.45 else "float64"
    thin = family in SPARSE
    storage = str(rng.choice(
        ["array", "transposed", "csr", "blocks", "csr blocks"],
        p=[0.25, 0.05, 0.4, 0.1, 0.2] if thin else [0.55, 0.1, 0.1, 0.2, 0.05],
    ))  # fmt: skip
    blocks = "blocks" in storage
    solvers = ["auto", "lanczos"] if blocks and columns > rows else ["auto", "gram", "lanczos"]
    solver = str(rng.choice(solvers if blocks else [*solvers, "direct", "lanczos"]))
    which = "smallest" if rng.random() < 0.12 else "largest"
    ask = "k" if which == "smallest" else str(rng.choice(["k", "explain", "error", "boundary"], p=[0.7, 0.1, 0.1, 0.1]))
    short = min(rows, columns)
    k = short if rng.random() < 0.1 else int(rng.integers(1, min(short, 12) + 1))
    level = float(rng.uniform(0.3, 0.999)) if ask == "explain" else 10.0 ** float(rng.uniform(-3, -0.1))
    return Options(
        family, seed, rows, columns, dtype, method, storage, solver, ask, k,
        level if ask in ("explain", "error") else 0.0, which,
        str(rng.choice(["", "uniform", "integers", "graded"], p=[0.75, 0.1, 0.08, 0.07])),
        bool(method == "pca" and rng.random() < 0.2),
        float(rng.choice([1e-3, 1e-6, 1e-12])) if rng.random() < 0.15 else None,
        int(rng.integers(2**31)) if rng.random() < 0.5 else None,
        estimator=bool(ask == "k" and which == "largest" and not blocks and rng.random() < 0.05),
    )  # fmt: skip


def _shape(rng: np.random.Generator) -> tuple[int, int]:
    """Mostly 2 to 60 columns; some with hundreds, some long and narrow; one in three wider than tall."""
    kind = rng.random()
    if kind < 0.04:
        rows, columns = int(rng.integers(1, 4)), int(rng.integers(1, 12))
    elif kind < 0.08:  # sums long enough for their rounding errors to add up
        rows, columns = int(rng.integers(2000, 20_000)), int(rng.integers(2, 14))
    elif kind < 0.9:
        rows, columns = int(rng.integers(5, 160)), int(rng.integers(2, 61))
    else:
        rows, columns = int(rng.integers(200, 700)), int(rng.integers(60, 260))
    return (columns, rows) if rng.random() < 1 / 3 else (rows, columns)


def _draw_other(family: str, seed: int, rng: np.random.Generator) -> Options:
    """Kernel PCA, CUR, NMF and Isomap."""
    method = str(rng.choice(OTHERS, p=[0.4, 0.3, 0.2, 0.1]))
    rows, columns = int(rng.integers(12, 120)), int(rng.integers(2, 30))
    dtype = "float32" if rng.random() < 0.45 else "float64"
    k = int(rng.integers(1, min(rows, columns, 8) + 1))
    solver, extra, storage = "auto", "", "array"
    if method == "kernel_pca":
        solver = str(rng.choice(["auto", "direct", "lanczos", "cholesky", "cholesky"]))
        extra = str(rng.choice(["rbf", "rbf", "laplacian", "poly"]))
    elif method == "cur":
        extra = str(rng.choice(["pivot", "pivot", "leverage", "volume", "norm"]))
        storage = str(rng.choice(["array", "csr"]))
    elif method == "isomap":
        solver = str(rng.choice(["auto", "direct", "lanczos"]))
    return Options(family, seed, rows, columns, dtype, method, storage, solver, "k", k, extra=extra,
                   rng=int(rng.integers(2**31)))  # fmt: skip
