"""PCA of an AnnData object, stored in the object where single-cell tools expect it."""

from __future__ import annotations

import inspect
from typing import Any, TypeVar, cast

import numpy as np

from eckart.aliases import Keywords
from eckart.api import decompose, option_names
from eckart.arrays import to_numpy
from eckart.errors import InputError, ParameterError
from eckart.io.objects.cells import is_anndata, mask_indices
from eckart.io.open_data import open_with
from eckart.io.read_options import ReadOptions
from eckart.log import logger
from eckart.options import Seed, check_choice, check_count, check_flag, check_names, memory_bytes
from eckart.projecting import project
from eckart.registry import get_method
from eckart.result import Decomposition

__all__ = ["pca"]

_MOST = 50
_SOLVERS = ("arpack", "auto", "covariance_eigh", "full", "lobpcg", "randomized", "tsqr")
"""Solvers that scanpy has had."""
_SEEDS = ("random_state", "seed")
_WITHOUT_EFFECT = ("svd_solver", "chunked", "chunk_size", "return_info")
_SCANPY = (*_SEEDS, "use_highly_variable", *_WITHOUT_EFFECT)
"""Arguments of scanpy.pp.pca, old and new, for which `pca` has no parameter of its own."""
A = TypeVar("A")
"""An AnnData object."""


def pca(
    adata: A,
    n_comps: int | None = None,
    *,
    layer: str | None = None,
    mask_var: str | np.ndarray | None = "auto",
    zero_center: bool = True,
    scale: bool = False,
    key_added: str | None = None,
    copy: bool = False,
    dtype: str | type[object] | np.dtype[np.generic] = "float32",
    memory: str | int | None = None,
    rng: Seed = None,
    **options: object,
) -> A | None:
    """Compute a certified PCA of an AnnData object and store it in the object.

    The function writes the same entries as ``scanpy.pp.pca``. It centres and scales sparse matrices without making them
    dense, reads backed objects in blocks, and processes Dask arrays chunk by chunk.

    Parameters
    ----------
    adata : AnnData
        The data. The function adds ``obsm["X_pca"]`` (scores), ``varm["PCs"]`` (loadings, 0 for genes that were left
        out) and ``uns["pca"]`` (params, variance, variance_ratio and the certificate).
    n_comps : int, default None
        Number of components. None means 50, or min(n_obs, n_vars) - 1 if that is less.
    layer : str, default None
        Layer to use instead of X.
    mask_var : array of bool, str or None, default 'auto'
        Genes to use: an array of booleans, or the name of a boolean column of `var`. 'auto' uses "highly_variable" if
        that column exists, and all genes otherwise. None uses all genes.
    zero_center : bool, default True
        Subtract the means. If False, compute a singular value decomposition.
    scale : bool, default False
        Divide each gene by its standard deviation.
    key_added : str, default None
        Write to ``obsm[key_added]``, ``varm[key_added]`` and ``uns[key_added]`` instead of the default keys.
    copy : bool, default False
        Return a changed copy and leave `adata` unchanged.
    dtype : str or numpy.dtype, default 'float32'
        Type of the scores.
    memory : str or int, default None
        Limit on the working memory, in addition to the data, such as "2GB".
    rng : int or numpy.random.Generator, default None
        Seed for the random start. None uses a fixed seed.
    **options : dict
        Further options of `decompose`, such as `tol`, `executor` or `device`, and all arguments of ``scanpy.pp.pca``.
        `random_state` and `seed` mean `rng`. `use_highly_variable` is True for ``mask_var="highly_variable"``, and
        False for ``mask_var=None``. `svd_solver`, `chunked`, `chunk_size` and `return_info` have no effect: Eckart
        chooses a solver that reaches the accuracy `tol`, and blocks of rows that fit into `memory`.

    Returns
    -------
    AnnData or None
        The copy if `copy` is True, otherwise None.

    Raises
    ------
    InputError
        If `adata` is not an AnnData object.
    ParameterError
        If two arguments choose the genes or the seed.

    See Also
    --------
    eckart.decompose : Function that computes the PCA.

    Examples
    --------
    >>> import eckart as ek, numpy as np
    >>> try:
    ...     ek.single_cell.pca(np.ones((3, 2)))
    ... except ek.errors.InputError as error:
    ...     print(error)
    Expected an AnnData object, but got ndarray. For other data, use eckart.decompose.
    """
    if not is_anndata(adata):
        raise InputError(
            f"Expected an AnnData object, but got {type(adata).__name__}. For other data, use eckart.decompose."
        )
    check_names("pca", options, _option_names())
    rng, mask_var = _seed(rng, options), _chosen_genes(mask_var, options)
    _check_solver({name: options.pop(name) for name in _WITHOUT_EFFECT if name in options})
    kind, zero_center = _kind(dtype), check_flag("zero_center", zero_center)
    cells: Any = cast("Any", adata).copy() if check_flag("copy", copy) else adata
    mask_var = _mask(cells, mask_var)
    source = open_with(cells, ReadOptions(layer=layer, mask=mask_var), memory=memory_bytes(memory))
    d = decompose(
        source,
        get_method("pca" if zero_center else "svd"),
        k=_count(n_comps, min(source.shape)),
        scale=scale,
        memory=memory,
        rng=rng,
        **options,
    )
    scores = to_numpy(project(d, source))
    variance = to_numpy(d.explained_variance) if zero_center else scores.var(axis=0, ddof=1)
    ratio = to_numpy(d.explained_variance_ratio)
    scores_key, loadings_key, key = ("X_pca", "PCs", "pca") if key_added is None else (key_added,) * 3
    cells.obsm[scores_key] = scores.astype(kind)
    cells.varm[loadings_key] = _loadings(cells, d, mask_var)
    params: Keywords = {"zero_center": zero_center, "scale": scale, "use_highly_variable": mask_var is not None}
    cells.uns[key] = {
        "params": params | _given(layer=layer, mask_var=mask_var if isinstance(mask_var, str) else None),
        "variance": np.asarray(variance, float),
        "variance_ratio": np.asarray(ratio, float),
        **_certificate(d),
    }
    return cells if copy else None


def _count(n_comps: int | None, short: int) -> int:
    """The number of components for a matrix whose shorter side is `short`."""
    return min(_MOST, short - 1) if n_comps is None else check_count("n_comps", n_comps, short)


def _given(**arguments: object) -> Keywords:
    """The arguments that are not None."""
    return {name: value for name, value in arguments.items() if value is not None}


def _option_names() -> tuple[str, ...]:
    """Options of `decompose` that the parameters of `pca` do not replace, and these parameters."""
    replaced = {"k", "explain", "error", "center"}
    own = tuple(inspect.signature(pca).parameters)[1:-1]
    further = (name for name in option_names(get_method("pca")) or () if name not in {*own, *replaced})
    return (*own, *further, "device", *_SCANPY)


def _seed(rng: Seed, options: Keywords) -> Seed:
    """The seed, under any of its names, which are taken out of the options."""
    given = {name: options.pop(name) for name in _SEEDS if name in options}
    if rng is not None:
        given["rng"] = rng
    if len(given) > 1:
        raise ParameterError(f"{' and '.join(f'{name}=' for name in given)} each set the seed. Use only one of them.")
    return cast("Seed", next(iter(given.values()), None))


def _chosen_genes(mask: str | np.ndarray | None, options: Keywords) -> str | np.ndarray | None:
    """`mask_var`, also given as scanpy's older `use_highly_variable`."""
    flag = options.pop("use_highly_variable", None)
    if flag is None:
        return mask
    if not isinstance(mask, str) or mask != "auto":
        raise ParameterError("mask_var= and use_highly_variable= each choose the genes. Use only mask_var=.")
    return "highly_variable" if check_flag("use_highly_variable", flag) else None


def _check_solver(given: Keywords) -> None:
    """Refuse a misspelt solver, and log the arguments that have no effect."""
    if given.get("svd_solver") is not None:
        check_choice("svd_solver", given["svd_solver"], _SOLVERS)
    if given:
        logger.info(
            "%s: no effect. Eckart chooses the solver by its accuracy, and the blocks of rows by the memory.",
            ", ".join(f"{name}={value!r}" for name, value in given.items()),
        )


def _kind(dtype: str | type[object] | np.dtype[np.generic]) -> np.dtype[Any]:
    """The type of the scores, checked before anything is computed."""
    try:
        kind: np.dtype[Any] = np.dtype(dtype)
    except TypeError as error:
        raise ParameterError(f"dtype={dtype!r} is not a type of numbers. Use 'float32' or 'float64'.") from error
    if kind.kind != "f":
        raise ParameterError(f"dtype={str(kind)!r} cannot store scores. Use 'float32' or 'float64'.")
    return kind


def _mask(cells: Any, mask: str | np.ndarray | None) -> str | np.ndarray | None:
    """The genes to use: for 'auto' the highly variable ones, if they are marked."""
    if not isinstance(mask, str) or mask != "auto":
        return mask
    return "highly_variable" if "highly_variable" in cells.var else None


def _loadings(cells: Any, d: Decomposition, mask: str | np.ndarray | None) -> np.ndarray:
    """Genes x k, zero for genes that were left out."""
    indices = list(range(cells.n_vars)) if mask is None else mask_indices(cells, mask)
    loadings = np.zeros((cells.n_vars, d.k))
    loadings[indices] = to_numpy(d.right)
    return loadings


def _certificate(d: Decomposition) -> dict[str, Keywords]:
    c = d.certificate
    if c is None:
        return {}
    return {"certificate": {"explained": np.asarray(c.explained), "lower": c.lower, "upper": c.upper}}
