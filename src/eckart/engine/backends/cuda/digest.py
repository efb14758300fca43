"""The sums of `engine.digest` on a GPU, in one pass and asynchronously (digest.cu)."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from eckart.arrays import Array, dtype_name
from eckart.engine.backends.cuda.arrays import (
    can_compile,
    cupy,
    device_number,
    element_strides,
    given_back,
    on_device_of,
    pointer,
)
from eckart.engine.backends.cuda.device_rows import DeviceCsr
from eckart.engine.backends.cuda.orthogonal import Fetch
from eckart.engine.backends.cuda.source import source
from eckart.engine.backends.digest import column_keys

if TYPE_CHECKING:
    import cupy as cp

_THREADS, _BLOCKS = 256, 2112
"""Number of blocks that fills the largest GPUs; each continues with further words until none are left."""


def usable(prototype: Array) -> bool:
    return can_compile(prototype)


def sums(data: Array, first: int, fetch: Fetch) -> Callable[[], tuple[int, int]]:
    """Both sums over dense rows in float32 or float64, or over CSR rows; queued now, read on request."""
    prototype = data.prototype if isinstance(data, DeviceCsr) else data
    with on_device_of(prototype):
        result = cupy().zeros(2, np.uint64)
        if isinstance(data, DeviceCsr):
            _stored(data, first, result)
        else:
            _dense(data, first, result)
        arriving = fetch(given_back(result.view(np.int64), prototype))

    def arrived() -> tuple[int, int]:
        one, two = arriving()
        return int(one) % 2**64, int(two) % 2**64

    return arrived


def _dense(data: Array, first: int, result: Array) -> None:
    rows, columns = (int(size) for size in data.shape)
    single = dtype_name(data) == "float32"
    row_step, column_step = element_strides(data)
    words = (columns + 1) // 2 if single else columns
    _launch(
        "dense_sums", rows * words, pointer(data), _keys(words, device_number(data)), result, np.int64(rows),
        np.int64(columns), np.int64(row_step), np.int64(column_step), np.int64(first), np.int32(single),
        np.int32(column_step > row_step),
    )  # fmt: skip


def _stored(data: DeviceCsr, first: int, result: Array) -> None:
    name = f"stored_{data.dtype.itemsize}_{data.indptr.dtype.itemsize}"
    keys = _keys(data.shape[1], device_number(data.prototype))
    _launch(
        name, 32 * data.shape[0], data.data, data.indices, data.indptr, keys, result, np.int64(data.shape[0]),
        np.int64(first),
    )  # fmt: skip


def _launch(name: str, threads: int, *arguments: object) -> None:
    blocks = max(1, min(_BLOCKS, -(-threads // _THREADS)))
    _module().get_function(name)((blocks,), (_THREADS,), arguments)


@lru_cache(maxsize=8)
def _keys(count: int, device: int) -> Array:
    """The keys of the columns, on the device."""
    with cupy().cuda.Device(device):
        return cupy().asarray(column_keys(count))


@lru_cache(maxsize=1)
def _module() -> cp.RawModule:
    return cupy().RawModule(code=source("digest"), options=("-std=c++17",))
