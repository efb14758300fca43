"""python -m benchmarks.kills [count]: a run is killed (SIGKILL) at random moments and gone on with, again and again.

Every answer is compared, bit for bit, with that of a run that nobody disturbed. Kills strike anywhere: while a block is
read or multiplied, while a checkpoint is written, between the two.
"""

from __future__ import annotations

import random
import shutil
import signal
import subprocess
import sys
import tempfile
import textwrap
import time
from pathlib import Path

import numpy as np

ROWS, COLUMNS = 60_000, 120
_WORK = """
    import sys
    import eckart.engine.blocks.checkpoint as journal
    journal._EVERY_SECONDS = 0.0
    import eckart as ek
    print("begun", flush=True)
    path, target, method, *folder = sys.argv[1:]
    options = {"k": 4, "memory": "8MB", "stream": True, "checkpoint": folder[0] if folder else None}
    if method == "nmf":
        options |= {"max_iter": 12, "tol": 0.0}
    else:
        options |= {"solver": "lanczos", "tol": 1e-12, "left": True}
    ek.decompose(path, method, **options).save(target, overwrite=True)
"""


def start(*arguments: object) -> subprocess.Popen[str]:
    """The work, once it has begun: a process that is killed while it imports proves nothing."""
    command = [sys.executable, "-W", "ignore", "-c", textwrap.dedent(_WORK), *map(str, arguments)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    process.stdout.readline()
    return process


def trial(method: str, data: Path, folder: Path, draw: random.Random, wanted: int) -> tuple[int, int, bool]:
    """(kills, kills that left a checkpoint to go on from, whether the answer has the same bits)."""
    began = time.perf_counter()
    assert start(data, folder / "straight.eckart", method).wait() == 0
    whole = time.perf_counter() - began
    kills = resumed = runs = 0
    same = True
    while kills < wanted:
        checkpoint, target = folder / f"checkpoint-{runs}", folder / "killed.eckart"
        target.unlink(missing_ok=True)
        runs += 1
        for _ in range(5):
            process = start(data, target, method, checkpoint)
            try:
                process.wait(draw.uniform(0.0, 0.6) * whole)
                break  # it was done before
            except subprocess.TimeoutExpired:
                process.send_signal(signal.SIGKILL)
                process.wait()
                kills += 1
                resumed += any(checkpoint.glob("read-*")) or (checkpoint / "partial").exists()
        else:
            assert start(data, target, method, checkpoint).wait() == 0
        same = same and target.read_bytes() == (folder / "straight.eckart").read_bytes() and not checkpoint.exists()
    return kills, resumed, same


def main() -> None:
    wanted = int(sys.argv[1]) if len(sys.argv) > 1 else 50
    folder = Path(tempfile.mkdtemp(prefix="eckart-kills-"))
    try:
        rng = np.random.default_rng(0)
        data = folder / "data.npy"
        np.save(data, np.abs(rng.standard_normal((ROWS, COLUMNS)) * np.linspace(3, 0.1, COLUMNS)).astype("f4"))
        draw = random.Random(0)
        for method, share in (("pca", 0.7), ("nmf", 0.3)):
            kills, resumed, same = trial(method, data, folder, draw, round(share * wanted))
            verdict = "bit-identical every time" if same else "NOT THE SAME"
            print(f"| {method} | {kills} kills | {resumed} of them left a checkpoint behind | {verdict} |", flush=True)
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
