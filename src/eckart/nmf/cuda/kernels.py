"""The CUDA kernels of NMF: source from the `.cu` files in this folder, each instance compiled on first use."""

from __future__ import annotations

from functools import cache, lru_cache
from importlib.resources import files
from typing import Any

from eckart.arrays import Array
from eckart.engine.backends.cuda.arrays import seen_by_cupy
from eckart.errors import require


def cupy() -> Any:
    return require("cupy", purpose="NMF on a GPU")


def contiguous(array: object) -> Array:
    """The array as a C-ordered CuPy array."""
    return cupy().ascontiguousarray(seen_by_cupy(array))


@lru_cache(maxsize=8)
def device_limits(device: int) -> tuple[int, int]:
    """(multiprocessors, maximum shared memory of a block in bytes)."""
    known = cupy().cuda.Device(device).attributes
    return int(known["MultiProcessorCount"]), int(known["MaxSharedMemoryPerBlockOptin"])


@cache
def source(*names: str) -> str:
    """The source of `name`.cu, or of several concatenated."""
    folder = files("eckart.nmf.cuda")
    return "\n".join(folder.joinpath(f"{name}.cu").read_text("utf-8") for name in names)


@lru_cache(maxsize=128)
def kernel(names: tuple[str, ...], form: str) -> Any:
    """One instance of a kernel template, such as "given_rows<float, float, 1, 16>"."""
    module = cupy().RawModule(code=source(*names), options=("-std=c++17", "--ftz=true"), name_expressions=[form])
    return module.get_function(form)


def real_name(itemsize: int) -> str:
    return "float" if itemsize == 4 else "double"
