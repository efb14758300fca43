"""Arrays of other libraries in the form the engine needs; the numbers stay on their device."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from eckart.arrays import Matrix, to_numpy
from eckart.errors import InputError
from eckart.mapped import bytes_in_memory, in_memory, process_maps, span


def plain_array(data: object) -> Matrix:
    """Tensors without gradients, short floats as float32 (exact), sparse CPU tensors as CSR, JAX arrays as NumPy
    arrays.

    JAX has no float64 unless it is enabled for the whole process, so its arrays are processed by NumPy.
    """
    module = type(data).__module__.partition(".")[0]
    if module in ("jax", "jaxlib"):
        data = np.asarray(data)
    if isinstance(data, np.ndarray):
        data = in_memory(data)
        return data.astype(np.float32) if data.dtype.type.__module__ == "ml_dtypes" else data
    if hasattr(data, "to_scipy_sparse"):  # the package `sparse`
        return data.to_scipy_sparse().tocsr()
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(data, torch.Tensor):
        return _tensor(data, torch)
    return data


def _tensor(data: Any, torch: Any) -> Matrix:
    _refuse_without_values(data)
    data = (data.detach() if data.requires_grad else data).resolve_neg()
    data = data.dequantize() if data.is_quantized else data
    if data.dtype.is_floating_point and data.dtype.itemsize < 4:
        data = data.to(torch.float32)
    if data.layout == torch.strided or data.device.type != "cpu":
        if data.device.type == "cpu" and not data.untyped_storage().resizable():  # memory of another owner
            return _in_memory(data, torch)
        return data
    return _csr(data, torch)


def refuse_nested(data: object) -> None:
    """Refuse a tensor whose rows differ in length, which has neither a shape nor a NumPy array."""
    if type(data).__module__.partition(".")[0] == "torch" and getattr(data, "is_nested", False):
        _refuse_without_values(data)


def _in_memory(data: Any, torch: Any) -> Any:
    """A tensor, or its copy if it maps a file."""
    array = to_numpy(data)
    start, end = span(array)
    stored = bytes_in_memory(start, end - start, process_maps())
    if stored is None:
        return data
    first = int(array.ctypes.data) - start
    return torch.from_numpy(np.ndarray(array.shape, array.dtype, stored.data, first, array.strides))


def _refuse_without_values(data: Any) -> None:
    fault = "is nested: its rows differ in length" if data.is_nested else ""
    if data.device.type == "meta":
        fault = "has no values (device 'meta')"
    if fault:
        raise InputError(f"The tensor {fault}. Pass a two-dimensional tensor with values.")


def _csr(data: Any, torch: Any) -> Matrix:
    """A sparse CPU tensor of any layout as a SciPy CSR matrix."""
    from scipy import sparse

    if data.layout == torch.sparse_csr:
        parts: Any = (to_numpy(part) for part in (data.values(), data.col_indices(), data.crow_indices()))
        return sparse.csr_array(tuple(parts), shape=tuple(data.shape))
    if data.layout == torch.sparse_csc:
        parts = (to_numpy(part) for part in (data.values(), data.row_indices(), data.ccol_indices()))
        return sparse.csc_array(tuple(parts), shape=tuple(data.shape)).tocsr()
    entries = data.to_sparse_coo().coalesce() if data.layout != torch.sparse_coo else data.coalesce()
    rows, columns = to_numpy(entries.indices())
    return sparse.coo_array((to_numpy(entries.values()), (rows, columns)), shape=tuple(data.shape)).tocsr()
