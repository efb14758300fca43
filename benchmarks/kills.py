"""python -m benchmarks.kills [count [seed [kind ...]]]: kill runs (SIGKILL) at random moments and resume them.

Every result is compared, bit for bit, with that of a run that was not interrupted. Kills strike anywhere: while a block
is read or multiplied, while a checkpoint is written, while entries are sorted into a temporary file. Blocks are slowed
down, so that most kills strike in the middle of the passes. Afterwards neither a checkpoint nor a temporary folder may
be left.
"""

from __future__ import annotations

import os
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

ROWS, COLUMNS = 30_000, 120
RUNS = [
    ("npy", "pca"),
    ("npy", "nmf"),
    ("parquet", "pca"),
    ("mtx", "svd"),
    ("triplets.parquet", "svd"),
    ("packed.npz", "pca"),
    ("h5ad", "pca"),
    ("zarr", "pca"),
]
"""Kinds of files, and the method that is killed on each."""
_WORK = """
    import sys, time
    import eckart.engine.blocks.checkpoint as checkpoint
    checkpoint._EVERY_SECONDS = 0.0
    import eckart as ek
    print("begun", flush=True)
    path, target, method, *folder = sys.argv[1:]
    options = {"k": 4, "memory": "8MB", "stream": True, "checkpoint": folder[0] if folder else None,
               "callback": lambda progress: time.sleep(0.01)}
    if method == "nmf":
        options |= {"max_iter": 12, "tol": 0.0}
    else:
        options |= {"solver": "lanczos", "tol": 1e-12, "left": True}
    ek.decompose(path, method, **options).save(target, overwrite=True)
"""


def write(path: Path, data: np.ndarray) -> None:
    """The table as a file of the kind that `path` names."""
    few = np.where(data > np.quantile(data, 0.9), data, 0) if path.stem != "data" or path.suffix == ".mtx" else data
    if path.suffix == ".npy":
        np.save(path, data)
    elif path.name == "triplets.parquet":
        import pyarrow as pa
        from pyarrow import parquet

        row, column = np.nonzero(few)
        order = np.random.default_rng(1).permutation(len(row))
        entries = {"row": row[order], "column": column[order], "value": few[row, column][order]}
        parquet.write_table(pa.table(entries), path, row_group_size=20_000)
    elif path.name == "packed.npz":
        np.savez_compressed(path, x=data)
    elif path.suffix == ".parquet":
        import pyarrow as pa
        from pyarrow import parquet

        table = pa.table({f"c{i}": column for i, column in enumerate(data.T)})
        parquet.write_table(table, path, row_group_size=2000, compression="none", use_dictionary=False)
    elif path.suffix == ".mtx":
        from scipy import io, sparse

        io.mmwrite(path, sparse.coo_array(few))
    elif path.suffix == ".h5ad":
        import h5py

        with h5py.File(path, "w") as file:
            file.create_dataset("X", data=data, chunks=(1000, data.shape[1]))
    else:
        import zarr

        zarr.create_array(str(path), data=data, chunks=(1000, data.shape[1]), compressors=None)


def start(*arguments: object) -> subprocess.Popen[str]:
    """The work, once it has begun: a process that is killed while it imports proves nothing."""
    command = [sys.executable, "-W", "ignore", "-c", textwrap.dedent(_WORK), *map(str, arguments)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    process.stdout.readline()
    return process


def trial(method: str, data: Path, folder: Path, draw: random.Random, wanted: int) -> tuple[int, int, bool]:
    """(kills, kills that left a checkpoint to resume, whether every result has the same bits)."""
    process = start(data, folder / "straight.eckart", method)
    began = time.perf_counter()
    assert process.wait() == 0
    whole = time.perf_counter() - began
    kills = resumed = runs = 0
    same = True
    while kills < wanted:
        checkpoint, target = folder / f"checkpoint-{runs}", folder / "killed.eckart"
        target.unlink(missing_ok=True)
        runs += 1
        for _ in range(min(5, wanted - kills)):
            process = start(data, target, method, checkpoint)
            try:
                process.wait(draw.uniform(0.1, 0.8) * whole)
                break  # it ended before
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
    folder = Path(tempfile.mkdtemp(prefix="kills-"))
    os.environ["ECKART_SPOOL"] = str(folder / "spool")
    (folder / "spool").mkdir()
    try:
        rng = np.random.default_rng(0)
        table = np.abs(rng.standard_normal((ROWS, COLUMNS)) * np.linspace(3, 0.1, COLUMNS)).astype("f4")
        draw = random.Random(int(sys.argv[2]) if len(sys.argv) > 2 else 0)
        only = sys.argv[3:]
        runs = [(kind, method) for kind, method in RUNS if not only or kind in only]
        for number, (kind, method) in enumerate(runs):
            data = folder / (kind if "." in kind else f"data.{kind}")
            if not data.exists():
                write(data, table)
            share = wanted * (number + 1) // len(runs) - wanted * number // len(runs)
            kills, resumed, same = trial(method, data, folder, draw, share)
            left = len(list((folder / "spool").iterdir()))
            verdict = "bit-identical every time" if same else "NOT THE SAME"
            print(
                f"| {kind} | {method} | {kills} kills | {resumed} left a checkpoint | {verdict} | {left} folders left |"
            )
            sys.stdout.flush()
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
