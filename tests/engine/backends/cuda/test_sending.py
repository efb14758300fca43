"""The loop that sends pieces to a GPU, with a driver of a few lines of C in the place of CUDA's."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

COMPILER = shutil.which("cc") or shutil.which("gcc")
pytestmark = pytest.mark.skipif(COMPILER is None or sys.platform != "linux", reason="no C compiler here, or no Linux")

DRIVER = """
#include <string.h>
int cuMemcpyHtoDAsync_v2(void* there, const void* here, size_t size, void* stream) {
  memcpy(there, here, size);
  return 0;
}
int cuEventSynchronize(void* event) { return (size_t)event == 7 ? 700 : 0; }
int cuEventRecord(void* event, void* stream) { return (size_t)event == 8 ? 400 : 0; }
"""

SCRIPT = """
import numpy as np
from eckart.engine.backends.cuda.sending import send

rng = np.random.default_rng(0)
memory = np.zeros(3 * 4096, np.uint8)
buffers, events = memory.ctypes.data + 4096 * np.arange(3), np.zeros(3, np.int64)
for size in (1, 4095, 4096, 4097, 100_003):
    for workers in (1, 2, 5):
        here, there = rng.integers(0, 255, size, dtype=np.uint8), np.zeros(size, np.uint8)
        turn = 0
        for first in range(workers):
            code, turn = send(here.ctypes.data, there.ctypes.data, size, 4096, first, workers, buffers, events, turn, 0)
            assert code == 0
        assert np.array_equal(here, there), (size, workers)
for event, code in ((7, 700), (8, 400)):
    found, _ = send(here.ctypes.data, there.ctypes.data, size, 4096, 0, 1, buffers, events + event, 0, 0)
    assert found == code
print("sent")
"""


def test_every_byte_arrives_and_errors_come_back(tmp_path: Path) -> None:
    source = tmp_path / "driver.c"
    source.write_text(DRIVER)
    assert COMPILER is not None
    subprocess.run([COMPILER, "-shared", "-fPIC", "-o", tmp_path / "libcuda.so.1", source], check=True)
    indices = {"LD_LIBRARY_PATH": str(tmp_path), "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], env={**os.environ, **indices}, capture_output=True, text=True, check=False
    )
    assert done.stdout == "sent\n", done.stderr
