"""AnnData objects: cells x genes, with their names; the matrix X, or a layer, or an array of obsm."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from eckart.engine.blocks.dask_rows import dask_rows, is_dask
from eckart.engine.blocks.source import MemorySource, Metadata
from eckart.errors import InputError
from eckart.io.objects.stored import SlicedRows, complete_array
from eckart.io.roles import MOST_NAMES, listed, quoted


def is_anndata(data: object) -> bool:
    """Whether it is an AnnData object, without importing anndata."""
    return any(base.__name__ == "AnnData" and base.__module__.startswith("anndata") for base in type(data).__mro__)


def cell_source(data: Any, layer: str | None = None, key: str | None = None) -> Any:
    """The cells as rows; a backed file is read in blocks, a Dask array chunk by chunk."""
    matrix, columns = _matrix(data, layer, key)
    if matrix is None:
        raise InputError("The AnnData object has no matrix X. Choose a layer with layer=...")
    metadata = Metadata(_name(data, layer, key), _names(data.obs_names), columns, _labels(data))
    if is_dask(matrix):
        return replace(dask_rows(matrix), metadata=metadata)
    backed = _backed(matrix, metadata)
    return MemorySource(matrix, metadata) if backed is None else backed


def _name(data: object, layer: str | None, key: str | None) -> str:
    place = key or (None if layer is None else f"layers/{layer}") or "X"
    file = getattr(data, "filename", None)
    return f"AnnData {place}" if file is None else f"{file.name} {place}"


def _member(data: Any, key: str) -> tuple[Any, tuple[str, ...] | None]:
    """The matrix at "layers/..." or "obsm/..."."""
    group, _, member = key.partition("/")
    if group == "layers":
        return _matrix(data, member, None)
    if group != "obsm" or member not in data.obsm:
        raise InputError(f"The AnnData object has no matrix {key!r}. It has X, {_listed(data)}.")
    found = data.obsm[member]
    return (found.to_numpy(), tuple(map(str, found.columns))) if hasattr(found, "columns") else (found, None)


def _matrix(data: Any, layer: str | None, key: str | None) -> tuple[Any, tuple[str, ...] | None]:
    """(matrix, names of its columns)."""
    if layer is not None and key is not None:
        raise InputError("layer= and key= each select a matrix. Use only one of them.")
    if key is not None and key != "X":
        return _member(data, key)
    if layer is None:
        return data.X, _names(data.var_names)
    if layer not in data.layers:
        raise InputError(f"The AnnData object has no layer {quoted(layer)}. It has X, {_listed(data)}.")
    return data.layers[layer], _names(data.var_names)


def _listed(data: Any) -> str:
    return listed([*(f"layers/{name}" for name in data.layers), *(f"obsm/{name}" for name in data.obsm)])


def _names(index: Any) -> tuple[str, ...] | None:
    return tuple(map(str, index)) if len(index) <= MOST_NAMES else None


def _labels(data: Any) -> dict[str, tuple[str, ...]]:
    """Categories of the cells, to colour them by."""
    if data.n_obs > MOST_NAMES:
        return {}
    kinds = {name: str(kind) for name, kind in data.obs.dtypes.items()}
    return {str(name): tuple(map(str, data.obs[name])) for name, kind in kinds.items() if kind == "category"}


def _backed(matrix: object, metadata: Metadata) -> SlicedRows | None:
    """Rows of a matrix that is still in its file; None for a matrix in memory."""
    if type(matrix).__module__.partition(".")[0] in ("h5py", "zarr"):
        return SlicedRows(matrix, metadata, checked=complete_array(matrix, metadata.name))
    if not hasattr(matrix, "group"):
        return None
    if getattr(matrix, "format", "csr") != "csr":
        raise InputError(
            f"{metadata.name} is stored by columns (CSC), so it cannot be read in blocks of rows. Read it into "
            "memory with to_memory(), or save it as CSR."
        )
    for part in ("data", "indices", "indptr"):
        complete_array(matrix.group[part], f"{metadata.name}/{part}")
    return SlicedRows(matrix, metadata, True, int(matrix.group["data"].shape[0]))


def mask_indices(data: Any, mask: object) -> list[int]:
    """Columns where a mask is true: a boolean column of `var`, such as "highly_variable", or an array."""
    import numpy as np

    if isinstance(mask, str):
        if mask not in data.var:
            raise InputError(
                f"The AnnData object has no column {quoted(mask)} in var. The columns of var are "
                f"{listed(list(map(str, data.var)))}."
            )
        mask = data.var[mask]
    chosen = np.asarray(mask)
    if chosen.dtype != bool or chosen.shape != (data.n_vars,):
        raise InputError(
            f"mask= is an array of type {chosen.dtype} and shape {chosen.shape}. Pass {data.n_vars} "
            "true or false values, one for each gene."
        )
    if not chosen.any():
        raise InputError("mask= is false for every gene, so no columns are left to analyse.")
    return [int(place) for place in np.flatnonzero(chosen)]
