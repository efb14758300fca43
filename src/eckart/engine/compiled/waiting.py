"""Numba's `njit` with a log message if compilation takes long; results are cached on disk."""

from __future__ import annotations

import logging
import threading
from typing import Any

from numba import njit
from numba.core import event

__all__ = ["njit"]

_PATIENCE = 1.0
"""Seconds of compilation after which a message is logged."""
_log = logging.getLogger("eckart")


class _Listener(event.Listener):
    """Starts a timer for the outermost Eckart function that a thread compiles."""

    def __init__(self) -> None:
        self._own = threading.local()

    def on_start(self, event: Any) -> None:
        depth = getattr(self._own, "depth", 0)
        self._own.depth = depth + 1
        if depth == 0 and event.data["dispatcher"].py_func.__module__.startswith("eckart."):
            name = event.data["dispatcher"].py_func.__name__
            self._own.clock = threading.Timer(_PATIENCE, _tell, (name,))
            self._own.clock.daemon = True
            self._own.clock.start()

    def on_end(self, event: object) -> None:
        self._own.depth -= 1
        if self._own.depth == 0 and getattr(self._own, "clock", None) is not None:
            self._own.clock.cancel()
            self._own.clock = None


def _tell(name: str) -> None:
    _log.warning("Compiling %s for the first time takes a few seconds. Later runs load it from Numba's cache.", name)


event.register("numba:compile", _Listener())  # type: ignore[no-untyped-call]
