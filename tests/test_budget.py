"""The memory limit is divided: libraries, blocks, readers and solvers."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import eckart as ek

_FIT = """
import json, sys
import eckart as ek
d = ek.decompose(sys.argv[1], k=2, memory=sys.argv[2])
print(json.dumps([d.info.passes, "numba" in sys.modules]))
"""


@pytest.mark.parametrize(("memory", "compiled"), [("300MB", False), ("360MB", True)])
def test_small_limits_leave_no_room_for_the_compiler(tmp_path: Path, memory: str, compiled: bool) -> None:
    """Numba and LLVM take 130 MB: with a small limit, blocks are so small that NumPy is as fast."""
    np.save(tmp_path / "a.npy", np.random.default_rng(0).standard_normal((300_000, 40)))
    command = [sys.executable, "-W", "ignore", "-c", _FIT, str(tmp_path / "a.npy"), memory]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    assert json.loads(done.stdout) == [1, compiled]


@pytest.mark.parametrize("memory", [4_000_000, 40_000_000, 300_000_000])
def test_blocks_take_an_eighth_of_the_limit(tmp_path: Path, memory: int) -> None:
    """Four are in memory at a time."""
    path = tmp_path / "a.npy"
    np.lib.format.open_memmap(path, "w+", np.float64, (memory // 100, 20)).flush()
    plan = ek.plan(path, k=2, memory=memory)
    stated = plan.why.partition("blocks of ")[2].partition(" MB")[0]
    assert 0.09 * memory < 4e6 * float(stated) <= 0.126 * memory
