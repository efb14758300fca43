"""Everything that depends on array libraries, devices, dtypes and kinds of sparse matrix.

The data determine where the work runs: NumPy, PyTorch, CuPy or any array-API library. Data are never copied to the
device of a model automatically, because the copy would cost more than the computation.
"""

from __future__ import annotations

import importlib
import sys
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from eckart.errors import InputError
from eckart.mapped import in_memory

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
    data = in_memory(data)
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


@dataclass(frozen=True)
class Device:
    """An array library and a device; lists, frames, files and SciPy matrices count as NumPy."""

    library: str = "numpy"
    device: str = "cpu"

    def __str__(self) -> str:
        return f"{self.library} ({self.device})"

    @property
    def way_there(self) -> str:
        """The expression that copies data X to this device."""
        if self.library == "torch":
            return f"torch.as_tensor(X, device={self.device!r})"
        if self.library == "cupy":
            return "cupy.asarray(X)" if self.device == "cuda:0" else f"cupy.asarray(X) on {self.device}"
        if self.library == "numpy":
            return "tensor.cpu().numpy() or cupy.asnumpy(array)"
        return f"{self.library}.asarray(X)"


HOST = Device()


def place_of(data: Matrix) -> Device:
    """The device of an array, dense or sparse."""
    library = type(data).__module__.partition(".")[0]
    if library == "cupyx":
        return Device("cupy", f"cuda:{data.data.device.id}")
    if not is_array(data) or is_numpy(data):
        return HOST
    if library == "cupy":
        return Device("cupy", f"cuda:{data.device.id}")
    # A tensor may belong to a subclass, such as torch.nn.Parameter.
    return Device("torch" if hasattr(data, "detach") else library, str(data.device))


def is_off_host(data: object) -> bool:
    """Whether `data` is an array, dense or sparse, of a library other than NumPy."""
    if isinstance(data, np.generic):
        return False
    return type(data).__module__.startswith("cupyx.") or (is_array(data) and not is_numpy(data))


def refuse_other_device(fitted: Matrix | Device, data: Matrix | Device, what: str) -> None:
    """Refuse data on another device than the one `what` was fitted on."""
    seen, now = (place if isinstance(place, Device) else place_of(place) for place in (fitted, data))
    if seen != now:
        raise InputError(
            f"{what} was fitted on {seen}, but these data are on {now}. Eckart never copies data between "
            f"devices automatically. Copy the data first, for example with {seen.way_there}, or fit again "
            f"on {now}."
        )


def to_host(data: Matrix) -> Matrix:
    """The same numbers on the host: a NumPy array if dense, SciPy CSR if sparse."""
    if is_sparse(data):
        return data
    if type(data).__module__.startswith("cupyx."):
        return data.get()
    if "sparse_csr" in str(getattr(data, "layout", "")):
        from scipy import sparse

        parts = (to_numpy(part) for part in (data.values(), data.col_indices(), data.crow_indices()))
        return sparse.csr_array(tuple(parts), shape=tuple(data.shape))
    return to_numpy(data)


def sparse_to_host(data: object) -> Matrix:
    """Copy sparse matrices from a GPU to the host; leave everything else unchanged."""
    sparse = is_off_host(data) and (hasattr(data, "toarray") or "sparse" in str(getattr(data, "layout", "")))
    return to_host(data) if sparse else data


def part_on_host(data: Matrix, rows: np.ndarray, columns: np.ndarray | None = None) -> np.ndarray:
    """data[rows][:, columns], dense and in float64; the other rows stay on their device."""
    if is_off_host(data):
        xp = namespace(data)
        part = xp.take(data, from_numpy(np.asarray(rows), data), axis=0)
        part = to_numpy(part if columns is None else xp.take(part, from_numpy(np.asarray(columns), data), axis=1))
    else:
        part = data[rows] if columns is None else data[rows][:, columns]
    part = part.toarray() if hasattr(part, "toarray") else part
    return np.asarray(part, dtype=np.float64)
