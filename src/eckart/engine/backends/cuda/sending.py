"""Copy pieces of host memory to a GPU through page-locked buffers, compiled by Numba without Python in between.

The functions are those of C and of the CUDA driver, which must be loaded before `send` is called.
"""

from __future__ import annotations

import sys
from contextlib import suppress

from llvmlite import binding
from numba import njit, types

with suppress(RuntimeError):  # without a driver there is no GPU to send to
    binding.load_library_permanently("nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1")

_place, _code = types.intp, types.intc  # signed, because sums of signed and unsigned numbers would be floats
_copy_here = types.ExternalFunction("memcpy", _place(_place, _place, _place))
_copy_there = types.ExternalFunction("cuMemcpyHtoDAsync_v2", _code(_place, _place, _place, _place))
_wait = types.ExternalFunction("cuEventSynchronize", _code(_place))
_record = types.ExternalFunction("cuEventRecord", _code(_place, _place))


@njit(nogil=True, cache=True)
def send(source, target, size, piece, first, step, buffers, events, turn, stream):  # type: ignore[no-untyped-def]
    """Send pieces first, first + step, ... of `size` bytes from `source` to `target`.

    Returns (CUDA error or 0, next turn).

    Buffers take turns; `events` tell when the previous piece of a buffer has arrived.
    """
    for number in range(first, -(-size // piece), step):
        start = number * piece
        count = min(piece, size - start)
        buffer, event = buffers[turn], events[turn]
        turn = (turn + 1) % len(buffers)
        code = _wait(event)
        if code != 0:
            return code, turn
        _copy_here(buffer, source + start, count)
        code = _copy_there(target + start, buffer, count, stream)
        if code == 0:
            code = _record(event, stream)
        if code != 0:
            return code, turn
    return 0, turn
