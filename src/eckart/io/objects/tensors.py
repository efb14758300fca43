"""Arrays of other libraries in the form the engine needs; the numbers stay on their device."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from eckart.arrays import Matrix, to_numpy


def plain_array(data: object) -> Matrix:
    """Tensors without gradients, half precision as float32, sparse CPU tensors as CSR, JAX arrays as NumPy arrays.

    JAX has no float64 unless it is enabled for the whole process, so its arrays are processed by NumPy.
    """
    module = type(data).__module__.partition(".")[0]
    if module in ("jax", "jaxlib"):
        return np.asarray(data)
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(data, torch.Tensor):
        return _tensor(data, torch)
    return data


def _tensor(data: Any, torch: Any) -> Matrix:
    data = data.detach() if data.requires_grad else data
    if data.dtype in (torch.float16, torch.bfloat16):
        data = data.to(torch.float32)
    if data.layout == torch.strided or data.device.type != "cpu":
        return data
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
