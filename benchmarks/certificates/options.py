"""What is asked of each table: shape, precision, storage, solver, number of components, weights, scaling.

`draw(family, seed)` gives the options of one case, `Options.line` writes a case as one line, and `parse` reads it back.
"""

from __future__ import annotations

import json
import tempfile
import zlib
from collections.abc import Callable
from dataclasses import asdict, dataclass, fields, replace
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse

from benchmarks.certificates import attacks as _attacks  # noqa: F401 - more families
from benchmarks.certificates import structured as _structured  # noqa: F401 - more families
from benchmarks.certificates.families import EXTREME, FAMILIES, NAMED, SPARSE

AXES = ("pca", "svd")
OTHERS = ("kernel_pca", "cur", "nmf", "isomap")
_UNSUITABLE = {"constant", "huge row", "huge column", "cauchy", "indicator"} | EXTREME
"""Families that the methods other than PCA and SVD are not tried on: coinciding points, overflowing kernels."""

_SHORT = 60
"""Shorter sides from here on have a reference in extended precision that takes half a second and more."""

_WEIGHTS = ["", "uniform", "integers", "graded", "extreme", "dominated", "remote"]


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
    """array, transposed (Fortran order), strided (negative strides), memmap, torch, csr, csr raw (duplicates, explicit
    zeros, columns in no order), csc, blocks, csr blocks, dask, dask csr."""
    solver: str = "auto"
    ask: str = "k"
    """k, explain, error, or boundary: explain= just below what k components explain."""
    k: int = 1
    level: float = 0.0
    """The value of explain= or error=."""
    which: str = "largest"
    weights: str = ""
    """uniform, integers (some of them zero), graded (1e-6 to 1e6), extreme (1e-10 to 1e10, half of them zero),
    dominated (1e-20 but for one row), remote (all near 1e-130 or all near 1e130)."""
    scale: bool = False
    tol: float | None = None
    rng: int | None = None
    estimator: bool = False
    extra: str = ""
    """Of the other methods: the kernel, the way of selection. Of PCA: incremental, rows in batches."""
    ddof: int = 1
    """Of the standard deviations, with `scale`."""
    passes: int = 0
    """max_passes=; 0 for the default."""

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
    make, made = (FAMILIES | NAMED)[options.family], dtype if dtype in (np.float32, np.float64) else np.dtype(float)
    with np.errstate(over="ignore", under="ignore"):
        table = make(rng, options.rows, options.columns, made)
        if dtype != made:
            return narrowed(table, dtype)
        table = table.astype(dtype)
    limit = np.finfo(dtype).max
    return np.clip(table, -limit / 1e6, limit / 1e6) if options.family == "cauchy" else table


def narrowed(table: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """The table as booleans, integers or float16, scaled so that its entries make use of their range."""
    if dtype.kind == "b":
        return table > np.median(table)
    most = 6e4 if dtype.kind == "f" else min(float(np.iinfo(dtype).max), 2.0**40)
    largest = float(np.abs(table).max(initial=0.0))
    scaled = table * (most / largest) if largest > most or (dtype.kind != "f" and 0 < largest < 10) else table
    return (scaled if dtype.kind == "f" else np.rint(np.abs(scaled) if dtype.kind == "u" else scaled)).astype(dtype)


def weights_of(options: Options) -> np.ndarray | None:
    if not options.weights:
        return None
    rng = np.random.default_rng([options.seed, 2])
    if options.weights == "integers":
        # Rows of weight zero do not count, not even among the smallest values.
        weights = rng.integers(int(options.which == "smallest"), 4, options.rows).astype(float)
        return weights if weights.any() else weights + 1.0
    if options.weights == "extreme":
        kept = rng.random(options.rows) < (1.0 if options.which == "smallest" else 0.5)
        kept[rng.integers(options.rows)] = True
        return kept * 10.0 ** rng.uniform(-10, 10, options.rows)
    if options.weights == "dominated":
        return np.where(np.arange(options.rows) == rng.integers(options.rows), 1.0, 1e-20)
    if options.weights == "remote":
        return rng.uniform(0.1, 3.0, options.rows) * 10.0 ** float(rng.choice([-130, 130]))
    if options.weights == "graded":
        return 10.0 ** rng.uniform(-6, 6, options.rows)
    return rng.uniform(0.1, 3.0, options.rows)


def stored(table: np.ndarray, storage: str) -> Any:
    """The same numbers as another object."""
    return _STORAGES.get(storage, lambda same: same)(table)


def _strided(table: np.ndarray) -> np.ndarray:
    """Every second row and third column of a larger array, from its end."""
    rows, columns = table.shape
    larger = np.full((2 * rows, 3 * columns), 7, table.dtype)
    larger[::-2, ::-3] = table
    return larger[::-2, ::-3]


def _memmap(table: np.ndarray) -> np.ndarray:
    with tempfile.TemporaryFile() as file:
        mapped = np.memmap(file, table.dtype, "w+", shape=table.shape)
    mapped[:] = table
    mapped.flags.writeable = False
    return mapped


def _raw_csr(table: np.ndarray) -> sparse.csr_array:
    """Entries in parts that add up exactly, explicit zeros, and columns in no order."""
    given = sparse.coo_array(table)
    rng = np.random.default_rng(given.nnz)
    zeros = rng.integers(0, [[table.shape[0]], [table.shape[1]]], (2, 1 + given.nnz // 4))
    row, column = (np.concatenate([c, c, z]) for c, z in zip(given.coords, zeros, strict=True))
    first = _half(given.data)
    data = np.concatenate([first, given.data ^ first if first.dtype.kind == "b" else given.data - first])
    data = np.concatenate([data, np.zeros(zeros.shape[1], table.dtype)])
    order = rng.permutation(len(data))
    order = order[np.argsort(row[order], kind="stable")]
    pointers = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=table.shape[0]))])
    return sparse.csr_array((data[order], column[order], pointers), shape=table.shape)


def _half(data: np.ndarray) -> np.ndarray:
    """Half of each number where it is exact, and nothing of it elsewhere."""
    if data.dtype.kind in "biu":
        return data // 2 if data.dtype.kind != "b" else np.zeros_like(data)
    half = data / 2
    return np.where(half + half == data, half, 0).astype(data.dtype)


def _dask(table: np.ndarray, *, csr: bool = False) -> Any:
    import dask.array

    array = dask.array.from_array(table, chunks=(max(1, -(-len(table) // 3)), table.shape[1]))
    return array.map_blocks(sparse.csr_array, dtype=table.dtype) if csr else array


def _torch(table: np.ndarray) -> Any:
    import torch

    return torch.asarray(np.array(table))


_STORAGES: dict[str, Callable[[np.ndarray], Any]] = {
    "transposed": np.asfortranarray, "strided": _strided, "memmap": _memmap, "torch": _torch, "csr": sparse.csr_array,
    "csr blocks": sparse.csr_array, "csr raw": _raw_csr, "csc": sparse.csc_array, "dask": _dask,
    "dask csr": partial(_dask, csr=True),
}  # fmt: skip
RARE = ("strided", "memmap", "torch", "csr raw", "csc", "dask", "dask csr")
NARROW = ("float16", "int8", "uint8", "int32", "int64", "bool")


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
    if options.scale and options.ddof != 1:
        found["ddof"] = options.ddof
    if options.passes:
        found["max_passes"] = options.passes
    if options.which != "largest":
        found["which"] = options.which
    if options.solver != "auto":
        found["solver"] = options.solver
    if "blocks" in options.storage:
        found |= {"stream": True, "memory": _memory(options)}
    return found


def _memory(options: Options) -> int:
    """Room for the basis of Lanczos and little more: blocks are a fortieth of it, so larger tables have several."""
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
    if rng.random() < 0.08:
        storage = str(rng.choice(RARE))
        blocks = storage.startswith("dask")
        solver = str(rng.choice(solvers if not blocks else ["auto", "lanczos"] if columns > rows else ["auto", "gram"]))
    if rng.random() < 0.05 and family not in EXTREME and storage != "torch":
        dtype = str(rng.choice(NARROW))
        dtype = "float64" if dtype == "float16" and "cs" in storage else dtype  # SciPy has no sparse float16
    which = "smallest" if rng.random() < 0.12 else "largest"
    ask = "k" if which == "smallest" else str(rng.choice(["k", "explain", "error", "boundary"], p=[0.7, 0.1, 0.1, 0.1]))
    tol, passes = float(rng.choice([1e-3, 1e-6, 1e-12])) if rng.random() < 0.15 else None, 0
    few = solver == "lanczos" and rng.random() < 0.5
    if few:
        rows, columns, tol, passes = _unfinished(rng)
    short = min(rows, columns)
    if ask == "boundary" and short > _SHORT and rng.random() < 0.8:
        ask = "explain"
    k = int(rng.integers(1, min(short, 4 if few else 12) + 1))
    k = short if rng.random() < (0.0 if few else 0.1) else k
    level = float(rng.uniform(0.3, 0.999)) if ask == "explain" else 10.0 ** float(rng.uniform(-3, -0.1))
    drawn = Options(
        family, seed, rows, columns, dtype, method, storage, solver, ask, k,
        level if ask in ("explain", "error") else 0.0, which,
        str(rng.choice(_WEIGHTS, p=[0.72, 0.09, 0.07, 0.05, 0.04, 0.02, 0.01])),
        bool(method == "pca" and rng.random() < 0.2),
        tol,
        int(rng.integers(2**31)) if rng.random() < 0.5 else None,
        estimator=bool(ask == "k" and which == "largest" and not blocks and rng.random() < 0.05),
        ddof=int(rng.integers(2)),
        passes=passes,
    )  # fmt: skip
    return _in_batches(drawn, rng)


def _in_batches(options: Options, rng: np.random.Generator) -> Options:
    """The same for IncrementalPCA, now and then, if it has all the options."""
    plain = options.method == "pca" and options.ask == "k" and options.which == "largest" and options.solver == "auto"
    plain = plain and not (options.scale or options.weights or "blocks" in options.storage or "dask" in options.storage)
    return replace(options, extra="incremental", tol=None) if plain and rng.random() < 0.2 else options


def _shape(rng: np.random.Generator) -> tuple[int, int]:
    """Mostly 2 to 60 columns, smaller ones more often; some with hundreds, some long and narrow; a third is wide."""
    kind = rng.random()
    if kind < 0.04:
        rows, columns = int(rng.integers(1, 4)), int(rng.integers(1, 12))
    elif kind < 0.06:  # sums long enough for their rounding errors to add up
        rows, columns = int(rng.integers(2000, 20_000)), int(rng.integers(2, 14))
    elif kind < 0.97:
        rows, columns = int(5.0 * 32.0 ** rng.random()), int(2.0 * 30.5 ** rng.random())
    else:
        rows, columns = int(rng.integers(200, 700)), int(rng.integers(60, 260))
    return (columns, rows) if rng.random() < 1 / 3 else (rows, columns)


def _unfinished(rng: np.random.Generator) -> tuple[int, int, float | None, int]:
    """(rows, columns, tol, passes) for a run that ends with a part of its basis, so that its bounds are bounds.

    With few columns block Lanczos soon spans everything, and what it states is exact.
    """
    short = int(24.0 * 8.0 ** rng.random())
    long = int(short * 4.0 ** rng.random())
    rows, columns = (short, long) if rng.random() < 1 / 3 else (long, short)
    tol = None if rng.random() < 0.3 else float(rng.choice([1e-1, 1e-2, 1e-3, 1e-5]))
    return rows, columns, tol, int(rng.integers(1, 9)) if rng.random() < 0.5 else 0


def _draw_other(family: str, seed: int, rng: np.random.Generator) -> Options:
    """Kernel PCA, CUR, NMF and Isomap."""
    method = str(rng.choice(OTHERS, p=[0.4, 0.3, 0.2, 0.1]))
    rows, columns = int(rng.integers(12, 120)), int(rng.integers(2, 30))
    dtype = "float32" if rng.random() < 0.45 else "float64"
    k = int(rng.integers(1, min(rows, columns, 8) + 1))
    solver, extra, storage = "auto", "", "array"
    if method == "kernel_pca":
        solver = str(rng.choice(["auto", "direct", "lanczos", "cholesky", "cholesky"]))
        extra = str(rng.choice(["rbf", "rbf", "laplacian", "poly", "linear", "cosine"]))
    elif method == "cur":
        extra = str(rng.choice(["pivot", "pivot", "leverage", "volume", "norm"]))
        storage = str(rng.choice(["array", "csr"]))
    elif method == "isomap":
        solver = str(rng.choice(["auto", "direct", "lanczos"]))
    return Options(family, seed, rows, columns, dtype, method, storage, solver, "k", k, extra=extra,
                   rng=int(rng.integers(2**31)))  # fmt: skip
