"""python -m benchmarks.stale_checkpoints [count [seed]]: change the data under an old checkpoint and resume it.

A byte of the numbers is changed at a random place, with the size and the time of modification as they were: in place
(as `cp -p` onto the file), by another file of the same name (as `rsync -t`), or in a copy elsewhere. The run was
stopped at a random block. It must be refused with CheckpointError, or give the bits of an uninterrupted run on the
changed data, which is right if the change lies in rows that were not read before.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
import tempfile
import warnings
from collections import Counter
from pathlib import Path

import numpy as np

import eckart as ek
from benchmarks.kills import write
from eckart.engine.blocks import checkpoint as checkpoints
from eckart.errors import CheckpointError, EckartError

KINDS = ("npy", "parquet", "mtx", "h5ad", "zarr")
WAYS = ("in place", "another file", "a copy elsewhere")
OPTIONS = {"method": "svd", "k": 3, "solver": "lanczos", "memory": "1500KB", "stream": True}


class Stop(Exception):
    """Interrupted."""


def stop_after(count: int) -> object:
    """A callback that stops a run after `count` blocks."""
    left = count

    def callback(_progress: object) -> None:
        nonlocal left
        left -= 1
        if left <= 0:
            raise Stop

    return callback


def change(path: Path, rng: np.random.Generator) -> None:
    """Other numbers of the same size and time of modification."""
    files = [path] if path.is_file() else sorted(file for file in path.rglob("c/*/*") if file.is_file())
    file = files[int(rng.integers(len(files)))]
    before, content = file.stat(), bytearray(file.read_bytes())
    place = int(rng.integers(len(content) // 4, len(content) * 3 // 4))
    if path.suffix == ".mtx":
        place = content.index(b".", place) + 1
        content[place] = ord("7") if content[place] != ord("7") else ord("3")
    else:
        content[place] ^= 1 << int(rng.integers(8))
    file.write_bytes(content)
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))


def copy(source: Path, target: Path) -> Path:
    """Content and times of modification, as `cp -p` and `rsync -t` copy them."""
    if source.is_dir():
        return Path(shutil.copytree(source, target, copy_function=shutil.copy2))
    return Path(shutil.copy2(source, target))


def outcome(pristine: Path, folder: Path, way: str, rng: np.random.Generator) -> str:
    """What became of one resumed run: 'refused', 'right' or 'WRONG'."""
    data, saved = copy(pristine, folder / pristine.name), folder / "checkpoint"
    blocks: list[object] = []
    ek.decompose(data, **OPTIONS, callback=blocks.append)
    with contextlib.suppress(Stop):
        ek.decompose(data, **OPTIONS, checkpoint=saved, callback=stop_after(int(rng.integers(1, len(blocks)))))
    target = data
    if way != "in place":
        target = copy(data, folder / f"new{data.suffix}")
    change(target, rng)
    if way == "another file":
        shutil.rmtree(data) if data.is_dir() else data.unlink()
        target = target.rename(data)
    try:
        fresh = ek.decompose(target, **OPTIONS)
    except (EckartError, np.linalg.LinAlgError):
        return "unreadable"  # the change broke the file itself
    try:
        resumed = ek.decompose(target, **OPTIONS, checkpoint=saved)
    except CheckpointError:
        return "refused"
    same = np.array_equal(resumed.values, fresh.values) and np.array_equal(resumed.right, fresh.right)
    return "right" if same else "WRONG"


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 10
    checkpoints._EVERY_SECONDS = 0.0
    warnings.simplefilter("ignore")
    rng = np.random.default_rng(int(sys.argv[2]) if len(sys.argv) > 2 else 1)
    table = np.abs(rng.standard_normal((6000, 40)) * np.linspace(3, 0.1, 40)).astype("f4")
    with tempfile.TemporaryDirectory(prefix="stale-") as root:
        for kind in KINDS:
            pristine = Path(root) / f"data.{kind}"
            write(pristine, table)
            for way in WAYS:
                found: Counter[str] = Counter()
                for _ in range(count):
                    with tempfile.TemporaryDirectory(dir=root) as folder:
                        found[outcome(pristine, Path(folder), way, rng)] += 1
                words = ", ".join(f"{number} {what}" for what, number in sorted(found.items()))
                print(f"| {kind} | {way} | {words} |", flush=True)


if __name__ == "__main__":
    main()
