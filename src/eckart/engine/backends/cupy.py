"""CuPy's arrays."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from eckart.arrays import Array
from eckart.engine.backends.cuda.arrays import fast_doubles
from eckart.engine.backends.device import DeviceBackend, arrival


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
