"""Arrays on a GPU as CuPy views without a copy, and results in the library of the user."""

from __future__ import annotations

import importlib.util
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

import numpy as np

from eckart.arrays import Array, is_host
from eckart.errors import require


@lru_cache(maxsize=1)
def _installed() -> bool:
    return importlib.util.find_spec("cupy") is not None


def can_compile(array: Array) -> bool:
    """Whether the array is on a GPU and CuPy is installed to compile kernels for it."""
    return not is_host(array) and _installed()


def fast_doubles(capability: tuple[int, int]) -> bool:
    """Whether a GPU of this compute capability multiplies doubles at least half as fast as floats."""
    return capability in ((6, 0), (7, 0), (8, 0), (9, 0), (10, 0))


def cupy() -> Any:
    return require("cupy", purpose="Eckart's CUDA kernels")


def seen_by_cupy(array: Array) -> Array:
    """A CuPy view of the array."""
    return cupy().asarray(array)


def pointer(array: Array) -> np.uint64:
    """Address of the first entry, as kernels expect it; faster than through a CuPy view."""
    return np.uint64(array.data_ptr() if hasattr(array, "data_ptr") else array.data.ptr)


def element_strides(array: Array) -> tuple[int, ...]:
    """Steps from an entry to the next along each axis, in entries."""
    if hasattr(array, "data_ptr"):
        return tuple(array.stride())
    return tuple(step // array.itemsize for step in array.strides)


def given_back(array: Array, prototype: Array) -> Array:
    """A CuPy array converted to the library of the user."""
    if type(prototype).__module__.partition(".")[0] == "cupy":
        return array
    return require("torch").as_tensor(array, device=prototype.device)


def device_number(array: Array) -> int:
    """Number of the GPU that the array is on."""
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(array, torch.Tensor):
        return int(array.device.index or 0)
    return int(array.device.id)


@contextmanager
def on_device_of(prototype: Array) -> Iterator[None]:
    """Activate CuPy on the device of `prototype` and, for PyTorch arrays, on PyTorch's stream."""
    torch: Any = sys.modules.get("torch")
    with cupy().cuda.Device(device_number(prototype)):
        theirs = torch is not None and isinstance(prototype, torch.Tensor)
        if not theirs or not _raw_stream(torch, prototype):  # both libraries start on the same stream
            yield
        else:
            with _external(torch.cuda.current_stream(prototype.device)):
                yield


def _raw_stream(torch: Any, prototype: Array) -> int:
    """PyTorch's stream as a number, at a tenth of the cost of the stream object."""
    ask = getattr(torch._C, "_cuda_getCurrentRawStream", None)
    if ask is None:
        return int(torch.cuda.current_stream(prototype.device).cuda_stream)
    return int(ask(device_number(prototype)))


def _external(stream: Any) -> Any:
    """PyTorch's stream as a CuPy stream; how depends on the versions of both."""
    streams = cupy().cuda
    try:
        return streams.Stream.from_external(stream)
    except (AttributeError, TypeError, ValueError):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            return streams.ExternalStream(stream.cuda_stream)
