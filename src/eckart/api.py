"""decompose, plan, project, reconstruct: the four verbs, for every method and every kind of matrix."""

from __future__ import annotations

import inspect
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, overload

from eckart.arrays import Array
from eckart.errors import MemoryBudgetError, ParameterError
from eckart.fitted import takes_fitted
from eckart.io.open_data import open_with
from eckart.io.read_options import split_options
from eckart.options import check_names, memory_bytes
from eckart.registry import Method, get_method
from eckart.result import Decomposition, Plan

if TYPE_CHECKING:
    from collections.abc import Callable
    from os import PathLike
    from typing import Unpack

    import numpy as np
    from numpy.typing import ArrayLike

    from eckart.cur.details import CURDetails
    from eckart.engine.blocks.reading import ProgressCallback
    from eckart.io.read_options import ReadKeywords
    from eckart.isomap.details import IsomapDetails
    from eckart.kernel_pca.details import KernelPCADetails
    from eckart.nmf.details import NMFDetails
    from eckart.result import SVDDetails, Which

    Seed: TypeAlias = int | np.random.Generator | Literal["entropy"] | None


@overload
def decompose(
    data: object,
    method: Literal["pca", "svd"] = "pca",
    *,
    k: int | None = None,
    explain: float | None = None,
    error: float | None = None,
    center: bool | None = None,
    scale: bool = False,
    ddof: int = 1,
    which: Which = "largest",
    sample_weight: ArrayLike | None = None,
    solver: Literal["auto", "exact", "direct", "gram", "lanczos"] = "auto",
    tol: float | None = None,
    left: bool = False,
    rng: Seed = None,
    memory: str | int | None = None,
    max_passes: int = 200,
    stream: bool | None = None,
    checkpoint: str | PathLike[str] | None = None,
    callback: ProgressCallback | None = None,
    executor: object = None,
    device: str | None = None,
    missing: Literal["error", "mean", "em"] = "error",
    **reading: Unpack[ReadKeywords],
) -> Decomposition[SVDDetails]: ...


@overload
def decompose(
    data: object,
    method: Literal["cur"],
    *,
    k: int | None = None,
    explain: float | None = None,
    error: float | None = None,
    n_columns: int | None = None,
    n_rows: int | None = None,
    select: Literal["pivot", "norm", "leverage", "volume"] = "pivot",
    core: Literal["best", "intersection"] = "best",
    cutoff: float | None = None,
    tol: float | None = None,
    left: bool = False,
    rng: Seed = None,
    memory: str | int | None = None,
    stream: bool | None = None,
    device: str | None = None,
    **reading: Unpack[ReadKeywords],
) -> Decomposition[CURDetails]: ...


@overload
def decompose(
    data: object,
    method: Literal["nmf"],
    *,
    k: int | None = None,
    init: str | None = None,
    solver: str = "auto",
    beta_loss: str | float = "frobenius",
    tol: float = 1e-4,
    max_iter: int = 200,
    rng: Seed = None,
    alpha_W: float = 0.0,
    alpha_H: float | Literal["same"] = "same",
    l1_ratio: float = 0.0,
    missing: Literal["error", "mask"] = "error",
    n_runs: int = 1,
    left: bool = False,
    W: ArrayLike | None = None,
    H: ArrayLike | None = None,
    memory: str | int | None = None,
    stream: bool | None = None,
    checkpoint: str | PathLike[str] | None = None,
    callback: ProgressCallback | None = None,
    executor: object = None,
    device: str | None = None,
    **reading: Unpack[ReadKeywords],
) -> Decomposition[NMFDetails]: ...


@overload
def decompose(
    data: object,
    method: Literal["kernel_pca"],
    *,
    k: int | None = None,
    explain: float | None = None,
    kernel: str | Callable[..., object] = "rbf",
    gamma: float | Literal["median", "local"] | None = "local",
    degree: float = 3,
    coef0: float = 1,
    kernel_params: dict[str, object] | None = None,
    solver: Literal["auto", "direct", "lanczos", "cholesky"] = "auto",
    tol: float | None = None,
    approximation_error: float = 0.01,
    max_rank: int | None = None,
    left: bool = False,
    rng: Seed = None,
    memory: str | int | None = None,
    max_passes: int = 100,
    stream: bool | None = None,
    callback: ProgressCallback | None = None,
    device: str | None = None,
    **reading: Unpack[ReadKeywords],
) -> Decomposition[KernelPCADetails]: ...


@overload
def decompose(
    data: object,
    method: Literal["isomap"],
    *,
    k: int = 2,
    n_neighbors: int | None = 5,
    radius: float | None = None,
    n_landmarks: int | None = None,
    solver: str = "auto",
    tol: float | None = None,
    left: bool = True,
    rng: Seed = None,
    memory: str | int | None = None,
    **reading: Unpack[ReadKeywords],
) -> Decomposition[IsomapDetails]: ...


@overload
def decompose(data: object, method: Method, **options: object) -> Decomposition: ...


def decompose(data: object, method: str | Method = "pca", **options: Any) -> Decomposition:
    """The few axes of a table or matrix, with a certificate.

    Parameters
    ----------
    data : array, sparse matrix, data frame, path, stream, ...
        Rows are observations. Arrays of PyTorch, CuPy and other array-API libraries are computed where they live.
        `open_data` lists the other kinds: Arrow streams, databases, lists of paths, dicts, iterators of batches,
        AnnData, xarray, and others.
    method : "pca", "svd", "cur", "nmf", "kernel_pca" or "isomap"
        "pca" subtracts the column means, "svd" takes the matrix as it is. The others take the options of the estimator
        of that name (`CUR`, `NMF`, `KernelPCA`, `Isomap`), and `k`; the parameters below are those of the first two.
    k, explain, error : int, float, float
        How many axes: a number; the smallest number that explains a share such as 0.95 of the variance; or the smallest
        with a relative Frobenius error ||A - A_k|| / ||A|| of at most `error`. Give one; all axes if none is given.
    center, scale : bool
        Subtract means (default: for "pca" only); divide each column by its standard deviation.
    ddof : 0 or 1
        The standard deviation of `scale` has the divisor n - ddof: 1 as in R and pandas, 0 as in FactoMineR, prince and
        StandardScaler.
    which : "largest" or "smallest"
        Leading axes, or the axes of least variance, smallest first.
    sample_weight : array of shape (rows,), optional
        How often each row counts.
    solver : "auto", "direct", "gram" or "lanczos"
        How to compute; `plan` says what "auto" chooses and why.
    tol : float, optional
        Accuracy of the squared singular values relative to the last wanted one. The default is 1e-9; 1e-6 if at least
        half of all components are requested; 1e-5 for float32 data.
    left : bool
        Keep the left vectors (rows x k) as well.
    rng : int or numpy.random.Generator, optional
        Seed of the random start; the default is a fixed one.
    memory : str or int, optional
        Working memory allowed beside the data, such as "2GB". A file that takes more than a quarter of it is read in
        blocks.
    stream : bool, optional
        Read in blocks or not, whatever the size.
    checkpoint : path, optional
        A folder for the results of finished reads: the same call again goes on where it was broken off, to the same
        bits. It is removed at the end.
    callback : callable, optional
        Called after every block with a `Progress`: reads, blocks, rate, time left, certified share so far.
    executor : "dask" or a dask.distributed.Client, optional
        Let the workers of a cluster read and multiply the blocks. Dask's own arrays and frames do so by themselves
        where a client is active.
    device : str, optional
        "cuda" takes host data to a GPU, whole where they fit, else block by block while it works ("pca", "svd" and the
        axes of "cur"; the others refuse, and "isomap" does not know it); the result is on the host. Arrays on a GPU are
        worked on there without it, and give arrays there.
    missing : "error", "mean" or "em"
        Missing values: refused, filled with column means, or foretold from the other values of their row by the axes
        themselves. What was filled is in `parts["missing"]` of the result, and said in its notes (`fill_missing`).
    key, delimiter, decimal, encoding, header, row_names, columns, format, layer, mask
        How to read the data, as in `open_data`.

    Examples
    --------
    >>> import eckart as ek
    >>> d = ek.decompose([[1, 2], [2, 1], [3, 4], [4, 3]], "svd", k=1)
    >>> round(float(d.values[0] ** 2), 6)
    58.0
    >>> low, high = d.certificate.explained
    >>> bool(low <= 58 / 60 <= high)
    True
    """
    chosen = method if isinstance(method, Method) else get_method(method)
    data, options = _read(data, options)
    _check_options(chosen, options)
    if chosen.device != "own":
        device = options.pop("device", None)
        if device is not None:
            return _decompose_on(device, data, chosen, options)
    result: Decomposition = chosen.function("fit")(data, **options)
    return result


def _read(data: Any, options: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """The data opened with the reading options, where there are some, and the other options."""
    reading, others = split_options(options)
    if reading is not None:
        data = open_with(data, reading, memory=memory_bytes(others.get("memory")), stream=others.get("stream"))
    return data, others


def _check_options(method: Method, options: dict[str, Any]) -> None:
    """Refuse names that the method does not know, unless its function takes any."""
    names = _option_names(method.function("fit"))
    if names is not None:
        check_names("decompose", options, names)


@lru_cache(maxsize=64)
def _option_names(function: Callable[..., Any]) -> tuple[str, ...] | None:
    """Names of the options of a method's function; None if it takes any. Cached: reading a signature is slow."""
    parameters = inspect.signature(function).parameters
    if any(found.kind is found.VAR_KEYWORD for found in parameters.values()):
        return None
    return (*(name for name in parameters if name not in ("data", "method")), "device")


def _decompose_on(device: str, data: Any, method: Method, options: dict[str, Any]) -> Decomposition:
    """Copy host data to a device, decompose them there and return the result to the host."""
    if method.device == "none":
        raise ParameterError(f"method={method.name!r} works on the host only: leave device= out.")
    from eckart.engine.matrix import taken_to

    try:
        moved, metadata = taken_to(data, device)
    except MemoryBudgetError:
        if method.device != "blocks":
            raise
        in_blocks: Decomposition = method.function("fit")(data, device=device, **options)
        return in_blocks
    found: Decomposition = method.function("fit")(moved, **options)
    return found.on_host().named(metadata.row_names, metadata.column_names)


def plan(data: Any, method: str = "pca", **options: Any) -> Plan:
    """What `decompose` would do with the same arguments: solver, reads, bytes, why. Reads nothing but the shape.

    Examples
    --------
    >>> import numpy as np, eckart as ek
    >>> ek.plan(np.ones((1000, 20)), "pca", k=3).solver
    'gram'
    """
    chosen = get_method(method)
    if chosen.plan is None:
        raise ParameterError(f"plan() supports 'pca' and 'svd'; for {method!r} see the plan of the result.")
    data, options = _read(data, options)
    made: Plan = chosen.function("plan")(data, **options)
    return made


@takes_fitted  # type: ignore[arg-type]
def project(decomposition: Decomposition, data: Any, **options: Any) -> Array:
    """Coordinates of rows in the space of a decomposition, in one read: for PCA and SVD (A - mean) / scale right."""
    return get_method(decomposition.method).function("project")(decomposition, data, **options)


@takes_fitted  # type: ignore[arg-type]
def reconstruct(decomposition: Decomposition, scores: Array, **options: Any) -> Array:
    """Rows from their coordinates: for PCA and SVD (scores right^T) scale + mean."""
    return get_method(decomposition.method).function("reconstruct")(decomposition, scores, **options)
