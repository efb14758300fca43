"""HDF5 files are first opened in a separate process, because damaged metadata can put libhdf5 into an endless loop.

No Python exception or signal handler can end such a loop, and a crash would end the program. One probe process
therefore reads the metadata (links, attributes, chunk index, names) first. It has a few seconds of processor time; if
it runs out or crashes, the file is refused. It starts with the first HDF5 file and serves all others.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

from eckart.errors import FileError

_SECONDS = 6
"""Processor time for the metadata of one file; waiting for a slow disk does not count."""


class Probe:
    """The probe process, as seen from this one."""

    def __init__(self) -> None:
        self.owner = os.getpid()
        self.process = subprocess.Popen(
            [sys.executable, "-m", "eckart.io.arrays.probe"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(path or "." for path in sys.path)},
        )

    def survives(self, path: str, key: str | None, memory: int | None) -> bool:
        """Whether the process could read the metadata; its findings are discarded."""
        stdin, stdout = self.process.stdin, self.process.stdout
        assert stdin is not None
        assert stdout is not None
        with contextlib.suppress(OSError):
            stdin.write(json.dumps([path, key, memory]).encode() + b"\n")
            stdin.flush()
            return bool(stdout.readline())
        return False

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            with contextlib.suppress(OSError):
                pipe.close()  # type: ignore[union-attr]


_probes: list[Probe] = []
_lock = threading.Lock()


def check_metadata(path: str, key: str | None, memory: int | None) -> None:
    """Refuse an HDF5 file whose metadata libhdf5 cannot read. Without process timers, nothing is done."""
    if not hasattr(signal, "setitimer"):
        return
    with _lock:
        if _probes and _probes[0].owner != os.getpid():
            _probes.clear()  # inherited by a fork; the process belongs to the parent
        if not _probes:
            _probes.append(Probe())
        if _probes[0].survives(os.path.abspath(path), key, memory):  # noqa: PTH100
            return
        _close()
    raise FileError(
        f"{Path(path).name} is a damaged HDF5 file: the HDF5 library crashes or hangs when it opens "
        "the file. Copy the file again, or write it again."
    )


def _close() -> None:
    while _probes:
        probe = _probes.pop()
        if probe.owner == os.getpid():
            probe.close()


atexit.register(_close)


def _serve() -> None:
    """Read the metadata of files named on standard input, one by one."""
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # an interrupt is meant for the main program
    for line in sys.stdin:
        path, key, memory = json.loads(line)
        signal.setitimer(signal.ITIMER_PROF, _SECONDS)
        with contextlib.suppress(Exception):
            _read_one_row(path, key, memory)
        signal.setitimer(signal.ITIMER_PROF, 0)
        sys.stdout.write("done\n")
        sys.stdout.flush()


def _read_one_row(path: str, key: str | None, memory: int | None) -> None:
    """Read everything needed to read rows, then close the file, so that others may write it."""
    from eckart.io.arrays.stored import stored_rows

    found: Any = stored_rows(path, "hdf5", key, memory)
    found.read(0, min(1, found.shape[0]))


if __name__ == "__main__":
    _serve()
