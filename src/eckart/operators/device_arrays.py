"""Arrays on a GPU, seen by CuPy without a copy, and given back in the library of the user."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from eckart.array_api import Array
from eckart.errors import require


def cupy() -> Any:
    return require("cupy", purpose="our kernels on a GPU")


def seen_by_cupy(array: Array) -> Any:
    """The array as CuPy sees it."""
    return cupy().asarray(array)


def given_back(array: Any, like: Array) -> Array:
    """A CuPy array in the library of the user."""
    if type(like).__module__.partition(".")[0] == "cupy":
        return array
    return require("torch").as_tensor(array, device=like.device)


@contextmanager
def on_device_of(like: Array) -> Iterator[None]:
    """CuPy on the device of `like` and, for PyTorch's arrays, on PyTorch's stream there."""
    torch = sys.modules.get("torch")
    if torch is None or not isinstance(like, torch.Tensor):
        with like.device:
            yield
        return
    stream = torch.cuda.current_stream(like.device)
    with cupy().cuda.Device(stream.device.index), cupy().cuda.ExternalStream(stream.cuda_stream):
        yield
