"""PyTorch tensors on a GPU."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from eckart.arrays import Array
from eckart.engine.backends.cuda.arrays import fast_doubles
from eckart.engine.backends.device import DeviceBackend, arrival


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
