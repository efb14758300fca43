"""decompose, plan, project, reconstruct: the four verbs, for every method and every kind of matrix."""

from __future__ import annotations

import importlib
import inspect
from types import ModuleType
from typing import Any, Literal

from eckart.arrays import Array
from eckart.engine.svd import find_axes, plan_axes, project_on_axes, reconstruct_from_axes
from eckart.errors import MemoryBudgetError, ParameterError
from eckart.fitted import takes_fitted
from eckart.io.open_data import open_with
from eckart.io.read_options import split_options
from eckart.options import check_choice, check_names, memory_bytes
from eckart.result import Decomposition, Plan

Method = Literal["pca", "svd", "cur", "nmf", "kernel_pca", "isomap"]

AXES = ("pca", "svd")
OTHERS = {
    "cur": "eckart.cur.fit",
    "nmf": "eckart.nmf.result",
    "kernel_pca": "eckart.kernel_pca.fit",
    "isomap": "eckart.isomap.fit",
}
"""Method -> the module that has `decompose(data, **options)`, `project(d, data)`, `reconstruct(d, scores)`."""


def decompose(data: Any, method: Method = "pca", **options: Any) -> Decomposition:
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
        Accuracy of the squared singular values relative to the last wanted one; 1e-9, or 1e-5 for float32 data.
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
    watch : callable, optional
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
    check_choice("method", method, (*AXES, *OTHERS))
    reading, options = split_options(options)
    check_names("decompose", options, _option_names(method))
    if reading is not None:
        data = open_with(data, reading, memory=memory_bytes(options.get("memory")), stream=options.get("stream"))
    if method in AXES:
        return find_axes(data, method, **options)  # type: ignore[arg-type]
    device = options.pop("device", None)
    if device is not None:
        return _decompose_on(device, data, method, options)
    result: Decomposition = _module(method).decompose(data, **options)
    return result


def _decompose_on(device: str, data: Any, method: str, options: dict[str, Any]) -> Decomposition:
    """Host data, worked on by a GPU; the result is on the host."""
    if method == "isomap":
        raise ParameterError("method='isomap' works on the host only: leave device= out.")
    from eckart.engine.matrix import taken_to

    try:
        moved, about = taken_to(data, device)
    except MemoryBudgetError:
        if method != "cur":
            raise
        axes_there: Decomposition = _module(method).decompose(data, device=device, **options)
        return axes_there
    found: Decomposition = _module(method).decompose(moved, **options)
    return found.on_host().named(about.row_names, about.column_names)


def plan(data: Any, method: Method = "pca", **options: Any) -> Plan:
    """What `decompose` would do with the same arguments: solver, reads, bytes, why. Reads nothing but the shape.

    Examples
    --------
    >>> import numpy as np, eckart as ek
    >>> ek.plan(np.ones((1000, 20)), "pca", k=3).solver
    'direct'
    """
    if method not in AXES:
        raise ParameterError(
            f"plan() foretells 'pca' and 'svd'; {method!r} says what it did in the plan of its result."
        )
    reading, options = split_options(options)
    if reading is not None:
        data = open_with(data, reading, memory=memory_bytes(options.get("memory")), stream=options.get("stream"))
    return plan_axes(data, method, **options)  # type: ignore[arg-type]


@takes_fitted
def project(decomposition: Decomposition, data: Any, **options: Any) -> Array:
    """Coordinates of rows in the space of a decomposition, in one read: for PCA and SVD (A - mean) / scale right."""
    if decomposition.method in OTHERS:
        result: Array = _module(decomposition.method).project(decomposition, data, **options)
        return result
    return project_on_axes(decomposition, data, **options)


@takes_fitted
def reconstruct(decomposition: Decomposition, scores: Array, **options: Any) -> Array:
    """Rows from their coordinates: for PCA and SVD (scores right^T) scale + mean."""
    if decomposition.method in OTHERS:
        result: Array = _module(decomposition.method).reconstruct(decomposition, scores, **options)
        return result
    return reconstruct_from_axes(decomposition, scores, **options)


def _option_names(method: str) -> list[str]:
    function = find_axes if method in AXES else _module(method).decompose
    names = list(inspect.signature(function).parameters)
    return [name for name in names if name not in ("data", "method")] + ["device"]


def _module(method: str) -> ModuleType:
    return importlib.import_module(OTHERS[method])
