"""A GPU with any array library: the host queues work and reads results when it needs them.

Eckart's kernels (`cuda/`) are compiled by CuPy. Without CuPy, or where they do not apply, the array library is used.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from eckart.arrays import Array, astype, dtype_name, from_numpy, namespace, to_numpy
from eckart.engine.backends import digest, memory
from eckart.engine.backends.base import Backend, Costs, Draft, Result, Speculation
from eckart.engine.backends.csr import CsrProducts
from eckart.engine.backends.cuda import device_rows, gather
from eckart.engine.backends.cuda import digest as cuda_digest
from eckart.engine.backends.cuda import orthogonal as orthogonal_device
from eckart.engine.backends.cuda.arrays import fast_doubles
from eckart.engine.backends.cuda.device_dense import DeviceDenseProducts
from eckart.engine.backends.cuda.device_rows import DeviceCsr
from eckart.engine.backends.products import RowProducts
from eckart.engine.backends.written import less_product
from eckart.engine.constancy import differing_stored

if TYPE_CHECKING:
    from eckart.engine.backends.memory import Counter
    from eckart.engine.rows import RowBlocks

_HALVES = 512


def arrival(event: Any, arriving: Array) -> Callable[[], np.ndarray]:
    """A function that waits for a copy to pinned memory and returns it.

    `event` was recorded after the copy was queued.
    """

    def arrived() -> np.ndarray:
        event.synchronize()
        return np.asarray(arriving)

    return arrived


class DeviceBackend(Backend):
    """What PyTorch and CuPy arrays on a GPU have in common."""

    costs = Costs(
        dense_rate={"float32": 4e13, "float64": 4e13},
        sparse_rate=2e12,
        eigen_speed=8.0,
        dense_blocks=(24, 56),  # 32 or 64 with the eight probes that join later: what the kernels take at a time
        sparse_blocks=None,
        on_trial=False,
        probe_threshold=0.5,
        first_check=2,
    )
    csr = device_rows
    synchronous = False
    float32_squares = True

    def subtract(self, tall: Array, basis: Array, coefficients: Array) -> Array:
        return less_product(tall, basis, coefficients)

    def draft_orthonormal(self, block: Array) -> Draft | None:
        return self.draft_next_block(block, None)

    def draft_next_block(self, rest: Array, gram: Array | None, *known: Array) -> Draft | None:
        if not orthogonal_device.usable(rest):
            return None
        return orthogonal_device.orthonormalized(rest, gram, *known, fetch=self.fetch_async)

    def speculate(self, work: Callable[[], Result]) -> Speculation[Result]:
        return Speculation(work, started=True)

    def products(self, rows: RowBlocks) -> RowProducts:
        return CsrProducts(rows, self.csr) if rows.sparse else DeviceDenseProducts(rows)

    def within_memory(self, counter: Counter, work: Callable[[], Result]) -> Result:
        return memory.retry_smaller(counter, work)

    def cross_products(self, block: Array) -> Array:
        """Form only the upper half of wide ones: GPU libraries do not exploit the symmetry."""
        columns = block.shape[1]
        if columns < _HALVES:
            return block.T @ block
        xp, half = namespace(block), columns // 2
        first, second = block[:, :half], block[:, half:]
        corner = first.T @ second
        above = xp.concat([self.cross_products(first), corner], axis=1)
        return xp.concat([above, xp.concat([corner.T, self.cross_products(second)], axis=1)], axis=0)

    def largest(self, data: Array, low: float, high: float) -> float:
        xp = namespace(data)
        stride = -(-data.shape[0] // max(1, min(256, 500_000 // data.shape[1])))
        largest = float(xp.max(xp.abs(data[::stride, :])))
        return largest if low < largest < high else float(xp.max(xp.abs(data)))

    def varying(self, rows: Array, reference: np.ndarray) -> np.ndarray:
        if isinstance(rows, DeviceCsr):
            return differing_stored(rows.to_host(), reference)
        return to_numpy(namespace(rows).any(rows != from_numpy(reference, rows), axis=0))

    def digest(self, data: Array, first: int, workers: int | None = None) -> Callable[[], tuple[int, int]]:
        if not isinstance(data, DeviceCsr) and dtype_name(data) not in ("float32", "float64"):
            data = astype(data, namespace(data).float64)  # in the precision of the products
        if cuda_digest.usable(self.prototype):
            return cuda_digest.sums(data, first, self.fetch_async)
        if isinstance(data, DeviceCsr):
            rows = data.row_of_entry()
            return lambda: digest.stored_sums(data.data, data.indices, rows, data.shape[1], first)
        return lambda: digest.dense_sums(data, first)

    def take_rows(self, matrix: Array, indices: np.ndarray) -> Array:
        return (
            gather.take_rows(matrix, indices) if isinstance(matrix, DeviceCsr) else super().take_rows(matrix, indices)
        )

    def take_columns(self, matrix: Array, indices: np.ndarray) -> Array:
        if isinstance(matrix, DeviceCsr):
            return gather.take_columns(matrix, indices)
        return super().take_columns(matrix, indices)

    def rows_between(self, matrix: Array, start: int, stop: int) -> Array:
        if isinstance(matrix, DeviceCsr):
            return gather.rows_between(matrix, start, stop)
        return super().rows_between(matrix, start, stop)


class TorchBackend(DeviceBackend):
    """Work is queued on PyTorch's current stream."""

    def fetch_async(self, array: Array) -> Callable[[], np.ndarray]:
        torch: Any = sys.modules["torch"]
        arriving = torch.empty(array.shape, dtype=array.dtype, pin_memory=True)
        arriving.copy_(array, non_blocking=True)
        event = torch.cuda.Event()
        event.record(torch.cuda.current_stream(array.device))
        return arrival(event, arriving)

    @property
    def fast_float64(self) -> bool:
        torch: Any = sys.modules["torch"]
        return fast_doubles(torch.cuda.get_device_capability(self.prototype.device))


class CupyBackend(DeviceBackend):
    """Work is queued on CuPy's current stream."""

    def fetch_async(self, array: Array) -> Callable[[], np.ndarray]:
        cupyx, cupy = importlib.import_module("cupyx"), sys.modules["cupy"]
        arriving: Any = cupyx.empty_pinned(array.shape, array.dtype)
        array.get(out=arriving, blocking=False)
        event = cupy.cuda.Event(disable_timing=True)
        event.record()
        return arrival(event, arriving)

    @property
    def fast_float64(self) -> bool:
        major, minor = divmod(int(self.prototype.device.compute_capability), 10)
        return fast_doubles((major, minor))
