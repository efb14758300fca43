"""Remove temporary files when a signal ends the process: SIGTERM and SIGHUP do not run `finally` blocks.

The handler is installed only while there is something to remove, on the main thread, and only if nothing else handles
the signal. Afterwards the signal ends the process as usual. What remains at exit is removed as well: a second Ctrl-C
can interrupt a `finally` block.
"""

from __future__ import annotations

import atexit
import contextlib
import itertools
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from types import FrameType

_SIGNALS = () if sys.platform == "win32" else (signal.SIGTERM, signal.SIGHUP)
_numbers = itertools.count()
_removers: dict[int, tuple[int, Callable[[], object]]] = {}
"""(process, function that removes its files): a forked child inherits the list but does not own the files."""

_on_error: ContextVar[list[Callable[[], Callable[[], object] | None]] | None] = ContextVar("on_error", default=None)
"""Weak references to functions that remove what the current call of a public function has made."""


def add(remove: Callable[[], object]) -> int:
    """Call `remove` if a signal ends this process before `discard` is called with the number returned."""
    number = next(_numbers)
    _removers[number] = (os.getpid(), remove)
    if threading.current_thread() is threading.main_thread():
        for each in _SIGNALS:
            if signal.getsignal(each) is signal.SIG_DFL:
                signal.signal(each, _remove_and_end)
    return number


def discard(number: int) -> None:
    """Forget a function: its files no longer need to be removed."""
    _removers.pop(number, None)
    if _removers or threading.current_thread() is not threading.main_thread():
        return
    for each in _SIGNALS:
        if signal.getsignal(each) is _remove_and_end:
            signal.signal(each, signal.SIG_DFL)


@contextlib.contextmanager
def removed_on_signal(remove: Callable[[], object]) -> Iterator[None]:
    """`add` and `discard` around a block."""
    number = add(remove)
    try:
        yield
    finally:
        discard(number)


def remove_on_error(remove: Callable[[], Callable[[], object] | None]) -> None:
    """Call the function that `remove` refers to if the current call of a public function fails."""
    if (made := _on_error.get()) is not None:
        made.append(remove)


class RemovedOnError:
    """Remove what a `with` block has made if it raises an error; of nested blocks, the outermost acts.

    With `returned=True`, what the block has made belongs to the caller if it succeeds, even if a call around it fails.

    The traceback of an error refers to the variables of the failed call. Files that one of them owns would exist as
    long as the error, which interactive sessions keep.
    """

    def __init__(self, *, returned: bool = False) -> None:
        self._returned = returned

    def __enter__(self) -> None:
        self._token = _on_error.set([]) if self._returned or _on_error.get() is None else None

    def __exit__(self, kind: object, *_: object) -> None:
        if self._token is None:
            return
        made = _on_error.get() or ()
        _on_error.reset(self._token)
        for reference in made if kind is not None else ():
            if (remove := reference()) is not None:
                remove()


@atexit.register
def remove_all() -> None:
    """Call every function that was added by this process and not discarded."""
    for process, remove in list(_removers.values()):
        if process == os.getpid():
            with contextlib.suppress(Exception):
                remove()


def _remove_and_end(number: int, _frame: FrameType | None) -> None:
    remove_all()
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)
