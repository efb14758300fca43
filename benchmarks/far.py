"""python -m benchmarks.far: the small runs behind the page "How far it goes", and what its formulas say of them.

Rates are measured in alternation with the work: bytes read a second, operations a second of the products. Then the
time that the formulas predict is compared with the time taken. Least of several.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from scipy import sparse

import eckart as ek
from eckart.io.open_matrix import open_matrix


def least(*works: Callable[[], object], times: int = 4) -> list[float]:
    """The least time of each, run in turn."""
    seconds: list[list[float]] = [[] for _ in works]
    for _ in range(times):
        for work, taken in zip(works, seconds, strict=True):
            began = time.perf_counter()
            work()
            taken.append(time.perf_counter() - began)
    return [min(taken) for taken in seconds]


def tell(what: str, predicted: float, took: float) -> None:
    print(f"| {what} | {predicted:.2f} s | {took:.2f} s | {took / predicted:.2f} |", flush=True)


def read_whole(path: Path) -> None:
    buffer = bytearray(1 << 26)
    with path.open("rb", buffering=0) as file:
        while file.readinto(buffer):
            pass


def dense(folder: Path, sizes: Sequence[int] = (50_000, 100_000, 200_000)) -> None:
    """One pass: the larger of reading and rows x columns^2 multiplications."""
    rng = np.random.default_rng(0)
    basis, block = rng.standard_normal((30, 1000), dtype="f4"), rng.standard_normal((16_000, 1000), dtype="f4")
    for rows in sizes:
        path = folder / f"{rows}.npy"
        noise = rng.standard_normal((rows, 1000), dtype="f4")
        np.save(path, rng.standard_normal((rows, 30), dtype="f4") @ basis + noise)
        del noise
        works = (
            lambda path=path: read_whole(path),
            lambda: block.T @ block,
            lambda path=path: ek.decompose(path, k=20, solver="gram", stream=True),
        )
        reading, multiplying, took = least(*works)
        tell(f"PCA by cross-products, {rows:,} x 1,000", max(reading, multiplying * rows / len(block)), took)


def engine(folder: Path, sizes: Sequence[int] = (100_000, 200_000, 400_000)) -> None:
    """Reads x the time of one product A^T (A Q)."""
    rng = np.random.default_rng(0)
    factor = rng.standard_normal((20_000, 24))
    for rows in sizes:
        indices = np.sort((20_000 * rng.random((rows, 25)) ** 3).astype("i4"), axis=1).ravel()
        data = 1 + rng.random(rows * 25, dtype="f4")
        matrix = sparse.csr_array((data, indices, np.arange(0, rows * 25 + 1, 25)), shape=(rows, 20_000))
        path = folder / f"{rows}.npz"
        sparse.save_npz(path, matrix, compressed=False)
        stack = open_matrix(path, stream=True).matrix
        stack.normal(factor)
        found: list[ek.Decomposition] = []
        works = (
            lambda stack=stack: stack.normal(factor),
            lambda path=path, found=found: found.append(ek.decompose(path, "svd", k=20, stream=True)),
        )
        read, took = least(*works, times=2)
        passes, rate = found[0].info.passes, 2 * matrix.nnz * 24 / read
        what = (
            f"SVD by the engine, {rows:,} x 20,000, {matrix.nnz:.1e} entries: {passes} reads, {rate:.1e} operations/s"
        )
        tell(what, passes * read, took)


def cluster() -> None:
    """What a block costs the scheduler: the same work in 20 and in 320 chunks, two processes."""
    import dask.array as da
    from dask.distributed import Client, LocalCluster

    data = np.random.default_rng(0).standard_normal((80_000, 100), dtype="f4")
    where = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None, "host": "127.0.0.1"}
    with LocalCluster(**where, silence_logs=50) as workers, Client(workers):
        few, many = (da.from_array(data, chunks=(rows, 100)).persist() for rows in (4000, 250))
        ek.decompose(few, k=5)
        slow, slower = least(lambda: ek.decompose(few, k=5), lambda: ek.decompose(many, k=5))
    block = (slower - slow) / 300 * 1e3
    print(f"| Dask, two processes, 20 and 320 chunks | {slow:.2f} s and {slower:.2f} s | {block:.2f} ms a block |")


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        dense(Path(name))
        engine(Path(name))
    cluster()


if __name__ == "__main__":
    main()
