"""decompose and plan, for every method and every kind of matrix."""

from __future__ import annotations

import contextlib
import inspect
import logging
import re
import time
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal, overload

from eckart.aliases import Keywords
from eckart.cleanup import RemovedOnError
from eckart.engine.svd_options import SVDOptions
from eckart.errors import MemoryBudgetError, ParameterError
from eckart.formatting import counted
from eckart.io.open_data import open_with
from eckart.io.read_options import NAMES, split_options
from eckart.log import logger
from eckart.options import CommonOptions, check_names, memory_bytes, refuse_positions
from eckart.progress import progress_bar
from eckart.registry import Method, get_method, resolve
from eckart.result import Decomposition, Plan
from eckart.wording import either

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Unpack

    from eckart.cur.details import CURDetails
    from eckart.cur.options import CURKeywords
    from eckart.engine.svd_options import SVDKeywords
    from eckart.io.read_options import ReadKeywords
    from eckart.isomap.details import IsomapDetails
    from eckart.isomap.options import IsomapKeywords
    from eckart.kernel_pca.details import KernelPCADetails
    from eckart.kernel_pca.options import KernelPCAKeywords
    from eckart.nmf.details import NMFDetails
    from eckart.nmf.options import NMFKeywords
    from eckart.result import SVDDetails

    class _SVD(SVDKeywords, ReadKeywords, total=False):
        progress: bool

    class _CUR(CURKeywords, ReadKeywords, total=False):
        """Makes as many passes as its components need."""

    class _NMF(NMFKeywords, ReadKeywords, total=False):
        progress: bool
        device: str | None

    class _KernelPCA(KernelPCAKeywords, ReadKeywords, total=False):
        progress: bool
        device: str | None

    class _Isomap(IsomapKeywords, ReadKeywords, total=False):
        """Runs on the host, on data in memory."""


_NO_BAR = contextlib.nullcontext()


@overload
def decompose(
    data: object, method: Literal["pca", "svd"] = "pca", **options: Unpack[_SVD]
) -> Decomposition[SVDDetails]: ...


@overload
def decompose(data: object, method: Literal["cur"], **options: Unpack[_CUR]) -> Decomposition[CURDetails]: ...


@overload
def decompose(data: object, method: Literal["nmf"], **options: Unpack[_NMF]) -> Decomposition[NMFDetails]: ...


@overload
def decompose(
    data: object, method: Literal["kernel_pca"], **options: Unpack[_KernelPCA]
) -> Decomposition[KernelPCADetails]: ...


@overload
def decompose(data: object, method: Literal["isomap"], **options: Unpack[_Isomap]) -> Decomposition[IsomapDetails]: ...


@overload
def decompose(data: object, method: Method, **options: object) -> Decomposition: ...


def decompose(data: object, method: str | Method = "pca", *extra: object, **options: Any) -> Decomposition:
    """Decompose a table or matrix, and prove how accurate the result is.

    Parameters
    ----------
    data : array-like, sparse matrix, data frame, path or stream
        The data, with observations as rows. Arrays of PyTorch, CuPy and other array API libraries are processed on
        their device. `open_data` lists further kinds of data, such as Arrow streams, databases, lists of paths, dicts,
        iterators of batches, AnnData and xarray objects.
    method : {'pca', 'svd', 'cur', 'nmf', 'kernel_pca', 'isomap'}, default 'pca'
        'pca' subtracts the column means, and 'svd' does not. The other methods accept `k` and the options of the
        estimator of the same name (`CUR`, `NMF`, `KernelPCA`, `Isomap`). The parameters below apply to 'pca' and 'svd'.
    k : int, default None
        Number of components. Set at most one of `k`, `explain` and `error`. If you set none of them, all components are
        computed.
    explain : float, default None
        Share of the variance to explain, such as 0.95. The result has the smallest number of components that reaches
        it.
    error : float, default None
        Largest relative Frobenius error ||A - A_k|| / ||A|| to allow. The result has the smallest number of components
        that reaches it.
    center : bool, default None
        Subtract the column means. None means True for 'pca' and False for 'svd'.
    scale : bool, default False
        Divide each column by its standard deviation, or by its root mean square if the columns are not centred.
    ddof : {0, 1}, default 1
        `scale` computes standard deviations with the divisor n - ddof. 1 agrees with R and pandas; 0 agrees with
        FactoMineR, prince and StandardScaler. With row weights, n is their sum. If 1 is subtracted from a sum below 2,
        the divisor is 1.
    which : {'largest', 'smallest'}, default 'largest'
        'largest' computes the components of largest variance. 'smallest' computes those of smallest variance, in
        increasing order.
    sample_weight : array-like of shape (n_samples,), default None
        Weight of each row. A weight of 2 is equivalent to including the row twice. None gives every row weight 1.
    solver : {'auto', 'exact', 'direct', 'gram', 'lanczos'}, default 'auto'
        Solver. `plan` shows which one 'auto' chooses, and why. 'exact' chooses among the solvers that do not iterate.
    tol : float, default None
        Tolerance for the squared singular values, relative to the smallest one requested. The default is 1e-9.
        It is 1e-6 if at least half of all components are requested, and 1e-5 for float32 data.
    left : bool, default False
        Also compute the left singular vectors, of shape (n_samples, k), which give the scores of the rows.
    rng : int, numpy.random.Generator, 'entropy' or None, default None
        Seed for the random start. None uses a fixed seed, so results are reproducible.
    memory : str or int, default None
        Limit on the working memory, in addition to the data, such as "2GB". A file larger than a quarter of the limit
        is read in blocks.
    max_passes : int, default 200
        Maximum number of times that an iterative solver multiplies the matrix by a block of vectors. Each product takes
        one pass over the data, and means, scales, row scores and rounding errors take up to four additional passes. If
        the data have more columns than rows and are sparse or read in blocks, each product takes two passes, and there
        are up to seven additional passes. `certificate.passes` is the total number of passes. On small sparse data, the
        solver begins with single vectors, and eight of them count as one block.
    stream : bool, default None
        True reads the data in blocks, and False reads them as a whole. None decides by their size.
    checkpoint : path, default None
        Folder in which the results of completed passes are saved. After an interruption, the same call resumes from
        this folder, with bit-identical results. The folder is removed at the end.
    callback : callable, default None
        Function that is called with a `Progress` object after every block.
    progress : bool, default False
        Show a progress bar while data are read in blocks.
    executor : 'dask' or dask.distributed.Client, default None
        Cluster whose workers read and multiply the blocks. Dask arrays and frames use an active client automatically.
    device : str, default None
        'cuda' copies host data to the GPU and returns host arrays. For 'pca', 'svd' and 'cur', data that do not fit are
        copied block by block. For 'nmf' and 'kernel_pca' the data must fit. 'isomap' always runs on the host. Arrays
        that are already on a GPU stay there.
    missing : {'error', 'mean', 'em'}, default 'error'
        How to treat missing values: raise an error, replace them with the column mean, or impute them with a factor
        model (EM). `details.missing` and the notes of the result record what was imputed.
    **reading : dict
        Options for reading the data: key, delimiter, decimal, encoding, header, missing_values, row_names, columns,
        format, layer and mask. See `open_data`.

    Returns
    -------
    Decomposition
        The singular values and vectors, the certificate, the plan and notes.

    Raises
    ------
    InputError
        If the data cannot be used, for example because values are missing or columns contain text.
    ParameterError
        If an option is unknown or out of range.
    MemoryBudgetError
        If the computation does not fit into `memory`.

    Warns
    -----
    AccuracyWarning
        If the requested accuracy could not be proved.
    DataWarning
        If the result may be misleading because of a property of the data.

    See Also
    --------
    PCA : Estimator with the scikit-learn interface.
    plan : Predict solver, passes and memory.
    project : Scores of new rows.
    choose_rank : Choose the number of components.
    report : HTML report on a table.

    References
    ----------
    .. [1] C. Eckart and G. Young, "The approximation of one matrix by another of lower rank", Psychometrika 1, 1936.
    .. [2] G. H. Golub and C. F. Van Loan, "Matrix Computations", 4th edition, 2013.

    Examples
    --------
    >>> import eckart as ek
    >>> d = ek.decompose([[1, 2], [2, 1], [3, 4], [4, 3]], "svd", k=1)
    >>> round(float(d.values[0] ** 2), 6)
    58.0
    >>> low, high = d.certificate.explained  # 58 / 60 is explained, and no rank-1 result explains more
    >>> print(f"{low:.6f} {high:.6f}")
    0.966667 0.966667
    """
    if extra:
        refuse_positions("decompose", extra)
    chosen = method if isinstance(method, Method) else get_method(method)
    started = time.monotonic()
    with RemovedOnError():
        data, options = _opened_with(data, options)
        with _callback_with_bar(chosen, options):
            _check_options(chosen, options)
            device = options.pop("device", None) if chosen.device != "own" else None
            if device is not None:
                result = _decompose_on(device, data, chosen, options)
            else:
                result = chosen.function("fit")(data, **options)
    if logger.isEnabledFor(logging.INFO):
        logger.info("%s", _one_line(result, time.monotonic() - started))
    return result


def _shown_signature() -> inspect.Signature:
    """The signature for `help`: the options of PCA and SVD, and those of `decompose`, in the order of its docstring."""
    first, second, *_ = inspect.signature(decompose).parameters.values()
    method = second.replace(annotation=Literal["pca", "svd", "cur", "nmf", "kernel_pca", "isomap"])
    options = dict(inspect.signature(SVDOptions).parameters)
    options["progress"] = options["callback"].replace(name="progress", default=False, annotation="bool")
    documented = re.findall(r"^ *(\w+) : ", decompose.__doc__ or "", re.MULTILINE)
    ordered = [options.pop(name) for name in documented if name in options]
    reading = inspect.Parameter("reading", inspect.Parameter.VAR_KEYWORD, annotation="Unpack[ReadKeywords]")
    shown = [first, method, *ordered, *options.values(), reading]
    return inspect.Signature(shown, return_annotation="Decomposition[SVDDetails]")


decompose.__signature__ = _shown_signature()  # type: ignore[attr-defined]


def plan(data: object, method: str = "pca", **options: object) -> Plan:
    """Predict what `decompose` would do: the solver, the passes over the data and the memory.

    Only the shape of the data is read. The plan also gives the reason for the choice of solver.

    Parameters
    ----------
    data : array-like, sparse matrix, data frame, path or stream
        The data, as for `decompose`.
    method : {'pca', 'svd'}, default 'pca'
        Decomposition method.
    **options : dict
        Options of `decompose`.

    Returns
    -------
    Plan
        The plan.

    Raises
    ------
    ParameterError
        If `plan` does not support the method. For 'nmf' and the other methods, see `Decomposition.plan` of the result.

    See Also
    --------
    decompose : Carry the plan out.

    Examples
    --------
    >>> import numpy as np, eckart as ek
    >>> ek.plan(np.ones((1000, 20)), "pca", k=3).solver
    'gram'
    """
    chosen = get_method(method)
    if chosen.plan is None:
        raise ParameterError(
            (
                f"{either('plan() supports', 'eckart plan supports')} only the methods 'pca' and 'svd', not "
                f"{method!r}. "
                f"{either('Decompose the data and read the plan attribute of the result instead.', '')}"
            ).rstrip()
        )
    with RemovedOnError():
        data, options = _opened_with(data, options)
        made: Plan = chosen.function("plan")(data, **options)
    return made


# The options that all methods share: reading, progress, device


def _callback_with_bar(method: Method, options: Keywords) -> contextlib.AbstractContextManager[None]:
    """Replace the option `progress` by a callback that moves a bar."""
    return _moving_bar(method, options) if options.pop("progress", False) else _NO_BAR


@contextlib.contextmanager
def _moving_bar(method: Method, options: Keywords) -> Iterator[None]:
    if "callback" not in method.streams:
        raise ParameterError(
            f"method={method.name!r} does not read the data in passes, so it has no progress to show. "
            "Leave out progress=."
        )
    with progress_bar(True, options.get("callback")) as callback:
        options["callback"] = callback
        yield


def _one_line(d: Decomposition, seconds: float) -> str:
    """A log message about the computation."""
    solver = "" if d.plan is None else f", solver {d.plan.solver!r}"
    passes = "" if d.info is None else f", {counted(d.info.passes, 'pass', 'passes')} over the data"
    share = "" if d.certificate is None else f", {100 * d.certificate.explained[0]:.2f} % explained"
    components = counted(d.k, "component")
    return f"{d.method} of {d.rows:,} x {d.columns:,}: {components}{solver}{passes}, {seconds:.2f} s{share}."


def _opened_with(data: object, options: Keywords) -> tuple[Any, Keywords]:
    """The data opened with the reading options, if any, and the other options."""
    reading, others = split_options(options)
    if reading is not None:
        data = open_with(data, reading, memory=memory_bytes(others.get("memory")), stream=others.get("stream"))
    return data, others


def _check_options(method: Method, options: Keywords) -> None:
    """Refuse options that the method does not know, unless its function accepts any."""
    names = option_names(method)
    if names is not None:
        check_names("decompose", options, (*names, "device", *NAMES))


def option_names(method: Method) -> tuple[str, ...] | None:
    """Names of the options of a method's `fit`; None if it accepts any."""
    return _names_of(method.options or method.fit)


@lru_cache(maxsize=64)
def _names_of(where: str) -> tuple[str, ...] | None:
    """Names of the options of a function or a dataclass. Cached, because reading a signature is slow."""
    parameters = inspect.signature(resolve(where)).parameters
    if any(found.kind is found.VAR_KEYWORD for found in parameters.values()):
        return None
    names = [name for name in parameters if name not in ("data", "method")]
    return tuple(sorted(names, key=lambda name: name in CommonOptions.__annotations__))  # options of all methods last


def _decompose_on(device: str, data: object, method: Method, options: Keywords) -> Decomposition:
    """Copy host data to a device, decompose them there and return the result to the host."""
    if method.device == "none":
        raise ParameterError(f"method={method.name!r} runs only on the CPU. Leave out device=.")
    from eckart.io.open_matrix import taken_to

    try:
        moved, metadata = taken_to(data, device)
    except MemoryBudgetError:
        if method.device != "blocks":
            raise
        in_blocks: Decomposition = method.function("fit")(data, device=device, **options)
        return in_blocks
    found: Decomposition = method.function("fit")(moved, **options)
    return found.on_host().named(metadata.row_names, metadata.column_names)
