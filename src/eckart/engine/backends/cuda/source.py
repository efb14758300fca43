"""The source of the CUDA kernels, which are in `.cu` files next to this module."""

from __future__ import annotations

from functools import cache
from importlib.resources import files


@cache
def source(name: str) -> str:
    """The source in the file `name`.cu."""
    return files("eckart.engine.backends.cuda").joinpath(f"{name}.cu").read_text("utf-8")
