"""The checked arguments of kernel PCA, and its data as numbers."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from eckart.aliases import Keywords
from eckart.arrays import Array, Matrix, astype, dtype_name, is_host, is_numpy, is_sparse, namespace, to_numpy
from eckart.engine.backends.cuda.device_rows import DeviceCsr
from eckart.engine.blocks.reading import ProgressCallback
from eckart.engine.finite import refuse_not_finite
from eckart.engine.matrix import Opened
from eckart.engine.settings import generator
from eckart.errors import InputError, ParameterError
from eckart.kernel_pca.constants import TILE_MEMORY
from eckart.kernel_pca.kernel_functions import NAMES
from eckart.options import (
    CommonOptions,
    FitKeywords,
    check_choice,
    check_count,
    check_fraction,
    check_tolerance,
    memory_bytes,
)

Solver = Literal["auto", "direct", "lanczos", "cholesky"]
SOLVERS: tuple[str, ...] = get_args(Solver)


@dataclass(frozen=True, kw_only=True)
class KernelPCAOptions(CommonOptions):
    """Options with their defaults, not yet checked; `eckart.KernelPCA` describes them."""

    k: int | None = None
    explain: float | None = None
    kernel: str | Callable[..., float] = "rbf"
    gamma: float | Literal["auto", "median", "local"] | None = "auto"
    degree: float = 3
    coef0: float = 1
    kernel_params: Keywords | None = None
    solver: Solver = "auto"
    tol: float | None = None
    approximation_error: float = 0.01
    max_rank: int | None = None
    max_passes: int = 100
    stream: bool | None = None
    callback: ProgressCallback | None = None


class KernelPCAKeywords(FitKeywords, total=False):
    """The same as keyword arguments."""

    k: int | None
    explain: float | None
    kernel: str | Callable[..., float]
    gamma: float | Literal["auto", "median", "local"] | None
    degree: float
    coef0: float
    kernel_params: Keywords | None
    solver: Solver
    tol: float | None
    approximation_error: float
    max_rank: int | None
    max_passes: int
    stream: bool | None
    callback: ProgressCallback | None


@dataclass(frozen=True)
class KernelSettings:
    """Checked arguments of `decompose`."""

    k: int | None
    target_ratio: float | None
    everything: bool
    solver: str
    tolerance: float | None
    approximation_error: float
    max_rank: int | None
    left: bool
    seed: int | None
    random: np.random.Generator
    memory: int | None
    max_passes: int
    precision: str
    which: str = "largest"
    card: int | None = None
    """Allowed bytes on the device of the data, if that is a GPU."""
    callback: ProgressCallback | None = None
    """Called after every block, or after every pass over a kernel in memory."""

    @property
    def probe_seed(self) -> int:
        """The seed of random probes, drawn from a generator if one was given."""
        return int(self.random.integers(2**63)) if self.seed is None else self.seed

    @property
    def budget(self) -> int:
        """Allowed bytes for tiles."""
        return self.memory or self.card or TILE_MEMORY

    @property
    def significant(self) -> float:
        """Negative eigenvalues beyond this share of the largest exceed rounding."""
        return 1e-5 if self.precision == "float64" else 5e-3

    @property
    def nothing(self) -> float:
        """Eigenvalues up to this share of the largest count as zero."""
        return 1e-12 if self.precision == "float64" else 2e-7


def check_kernel(shape: tuple[int, int], options: KernelPCAOptions) -> KernelSettings:
    """Refuse arguments that are out of range."""
    k, explain, max_rank = options.k, options.explain, options.max_rank
    if not callable(options.kernel):
        check_choice("kernel", options.kernel, NAMES)
    check_choice("solver", options.solver, SOLVERS)
    if k is not None and explain is not None:
        raise ParameterError("k and explain each determine the number of components. Use only one of them.")
    if options.kernel == "precomputed" and shape[0] != shape[1]:
        raise InputError(
            "A precomputed kernel must be square, with one row and one column per observation, but its "
            f"shape is {shape}."
        )
    seed, random = generator(options.rng)
    return KernelSettings(
        k=min(check_count("k", k, None), shape[0]) if k is not None else None,
        target_ratio=None if explain is None else check_fraction("explain", explain),
        everything=k is None and explain is None,
        solver=options.solver,
        tolerance=check_tolerance(options.tol),
        approximation_error=check_fraction("approximation_error", options.approximation_error),
        max_rank=None if max_rank is None else check_count("max_rank", max_rank, None),
        left=options.left,
        seed=seed,
        random=random,
        memory=memory_bytes(options.memory),
        max_passes=check_count("max_passes", options.max_passes, None),
        precision="float64",
        callback=options.callback,
    )


def table(opened: Opened) -> Matrix:
    """The rows as float32 or float64, all finite: dense or CSR on the host, or dense on their device.

    Sparse rows on a GPU are copied to the host, because their kernel is dense anyway.
    """
    rows = opened.matrix.matrix
    if isinstance(rows, DeviceCsr):
        rows = rows.to_host()
    if is_sparse(rows):
        rows = (
            rows
            if not opened.exponent
            else type(rows)((np.ldexp(rows.data, -opened.exponent), rows.indices, rows.indptr), rows.shape)
        )
        finite = np.isfinite(rows.data).all()
    elif computes(rows):
        xp = namespace(rows)
        rows = rows.detach() if hasattr(rows, "detach") else rows
        rows = rows if dtype_name(rows) in ("float32", "float64") else astype(rows, xp.float64)
        finite = bool(xp.all(xp.isfinite(rows)))
    else:
        rows = to_numpy(rows)
        rows = rows if rows.dtype in (np.float32, np.float64) else rows.astype(np.float64)
        with np.errstate(over="ignore", invalid="ignore"):
            finite = np.isfinite(rows.sum(dtype=np.float64)) or np.isfinite(rows).all()
    if not finite:
        refuse_not_finite(rows, opened.metadata)
    return rows


def numbers(opened: Opened) -> Matrix:
    """The same on the host."""
    rows = table(opened)
    return rows if is_sparse(rows) else to_numpy(rows)


def computes(rows: Array) -> bool:
    """Whether kernels are computed on the device of the rows: for PyTorch and CuPy."""
    return not is_numpy(rows) and type(rows).__module__.partition(".")[0] in ("torch", "cupy")


def free_bytes(rows: Matrix) -> int | None:
    """Half of the free memory on the GPU of the rows; None for the host."""
    if is_sparse(rows) or is_host(rows):
        return None
    if hasattr(rows, "get"):
        with rows.device:
            free, _ = rows.device.mem_info
            pool = sys.modules["cupy"].get_default_memory_pool()
            return int(free + pool.free_bytes()) // 2
    cuda = sys.modules["torch"].cuda
    free, _ = cuda.mem_get_info(rows.device)
    return int(free + cuda.memory_reserved(rows.device) - cuda.memory_allocated(rows.device)) // 2
