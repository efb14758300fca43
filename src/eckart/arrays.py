"""Everything that depends on array libraries, devices, dtypes and kinds of sparse matrix.

The data determine where the work runs: NumPy, PyTorch, CuPy or any array-API library.
"""

from __future__ import annotations

import importlib
import sys
from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = Any
"""A 1-D or 2-D array of some array-API library."""
Matrix: TypeAlias = Any
"""An `Array`, or a sparse matrix of SciPy or CuPy."""
Namespace: TypeAlias = Any
DType: TypeAlias = Any
"""A dtype of some array library."""
Floats: TypeAlias = NDArray[np.float64]
"""A NumPy array of float64."""
Integers: TypeAlias = NDArray[np.integer[Any]]
"""A NumPy array of integers, such as indices."""
EPSILON = 2.0**-52
"""Distance from 1 to the next float64."""
UNIT_ROUNDOFF = 2.0**-53
"""Largest relative error of one rounding to float64."""


def is_sparse(data: object) -> bool:
    """Whether `data` is a scipy.sparse matrix or array, without importing scipy.sparse for it."""
    if isinstance(data, np.ndarray):
        return False
    # While another thread is still importing scipy.sparse, no sparse matrix can exist.
    known = getattr(sys.modules.get("scipy.sparse"), "issparse", None)
    return bool(known is not None and known(data))


def is_array(data: object) -> bool:
    """Whether `data` is a dense array of a supported library."""
    return isinstance(data, np.ndarray) or hasattr(data, "__array_namespace__") or _is_torch(data) or _is_cupy(data)


def is_numpy(data: object) -> bool:
    return isinstance(data, np.ndarray)


def namespace(array: Array) -> Namespace:
    """The array-API namespace of `array`."""
    if isinstance(array, np.ndarray):
        return np
    known = _namespaces.get(type(array))
    if known is not None:
        return known
    if _is_torch(array) or _is_cupy(array):
        return _namespaces.setdefault(type(array), _compat().array_namespace(array))
    return array.__array_namespace__()


_namespaces: dict[type, Namespace] = {}
"""Cached namespaces of PyTorch and CuPy arrays: a fit requests them a thousand times."""


@lru_cache(maxsize=1)
def _compat() -> Any:
    """array_api_compat, or the copy bundled with scikit-learn or SciPy."""
    from eckart.errors import require

    for package in ("array_api_compat", "sklearn.externals.array_api_compat", "scipy._lib.array_api_compat"):
        try:
            return importlib.import_module(package)
        except ImportError:
            continue
    return require("array_api_compat", extra="gpu", purpose="arrays of PyTorch and CuPy")


def is_host(array: Array) -> bool:
    """Whether the numbers are in host memory: NumPy arrays, and arrays of other libraries on the CPU."""
    if isinstance(array, np.ndarray):
        return True
    return bool(array.device.type == "cpu") if _is_torch(array) else not _is_cupy(array)


def device(array: Array) -> Any:
    """Where the array lives; None for NumPy."""
    return None if isinstance(array, np.ndarray) else array.device


def unmasked(data: object) -> Any:
    """A masked array with NaN for masked entries; anything else unchanged."""
    if not isinstance(data, np.ma.MaskedArray):
        return data
    kind = data.dtype if data.dtype.kind == "f" else np.float64
    return np.ma.filled(data.astype(kind), np.nan)


def to_numpy(array: Array) -> np.ndarray:
    """The same numbers on the host."""
    if isinstance(array, np.ndarray):
        return array
    if _is_torch(array):
        return np.asarray(array.detach().cpu().numpy())
    if hasattr(array, "get"):
        return np.asarray(array.get())
    try:
        return np.from_dlpack(array)
    except BufferError:  # NumPy 2.0 exports no array that is read-only
        return np.asarray(array)


def from_numpy(array: np.ndarray, prototype: Array) -> Array:
    """The host array in the library and on the device of `prototype`."""
    if isinstance(prototype, np.ndarray):
        return array
    # A transposed single column counts as contiguous, but PyTorch refuses its stride.
    whole = array.copy() if min(array.strides, default=0) < 0 else np.ascontiguousarray(array)
    return namespace(prototype).asarray(whole, device=device(prototype))


def float64(prototype: Array) -> DType:
    """The float64 dtype of the library of `prototype`."""
    return namespace(prototype).float64


def astype(array: Array, dtype: object) -> Array:
    """`array` in another dtype, without a copy if it already has that dtype."""
    return array if array.dtype == dtype else namespace(array).astype(array, dtype)


def dtype_name(array: Array) -> str:
    """'float32', 'int64', ... whatever the library."""
    return _name_of(array.dtype) if isinstance(array, np.ndarray) else str(array.dtype).rpartition(".")[2]


@lru_cache(maxsize=64)
def _name_of(dtype: np.dtype) -> str:
    return str(dtype).rpartition(".")[2]  # NumPy builds the name again on every call


def empty_rows(rows: int, columns: int, prototype: Array, dtype: str = "float64") -> Array:
    """An uninitialised array on the device of `prototype`."""
    xp = namespace(prototype)
    if xp is np:
        return np.empty((rows, columns), dtype)
    return xp.empty((rows, columns), dtype=getattr(xp, dtype), device=device(prototype))


def _is_cupy(data: object) -> bool:
    return type(data).__module__.partition(".")[0] == "cupy"  # sparse ones belong to cupyx


def _is_torch(data: object) -> bool:
    torch = sys.modules.get("torch")
    return bool(torch is not None and isinstance(data, torch.Tensor))
