"""python -m benchmarks.from_file: NMF, CUR and kernel PCA of a file read in blocks, against the same in memory."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

import eckart as ek

MEMORY = "8MB"


def timed(*arguments: Any, **options: Any) -> tuple[ek.Decomposition, float]:
    began = time.perf_counter()
    d = ek.decompose(*arguments, **options)
    return d, time.perf_counter() - began


def both(method: str, table: np.ndarray, path: Path, **options: Any) -> tuple[ek.Decomposition, ek.Decomposition, str]:
    """In memory, in blocks, and the words on time and reads."""
    np.save(path, table)
    inside, first = timed(table, method, **options)
    blocks, second = timed(path, method, stream=True, memory=MEMORY, **options)
    passes = blocks.info.passes if blocks.info is not None else 0
    return inside, blocks, f"in memory {first:.1f} s, in blocks {second:.1f} s and {passes} reads"


def nmf(folder: Path) -> None:
    rng = np.random.default_rng(1)
    table = rng.gamma(0.5, 1.0, (40_000, 8)) @ rng.gamma(0.4, 1.0, (8, 100)) + 0.05 * rng.random((40_000, 100))
    for loss, rows in (("frobenius", 40_000), ("kullback-leibler", 2_000)):
        options: dict[str, Any] = {"k": 8, "beta_loss": loss, "tol": 1e-6, "max_iter": 300}
        inside, blocks, words = both("nmf", table[:rows], folder / "nmf.npy", **options)
        off = blocks.details.error / inside.details.error - 1.0
        cosines = (np.asarray(inside.right).T @ np.asarray(blocks.right)).max(axis=1)
        shape = f"{rows:,} x 100, k=8"
        print(f"| NMF, {loss}, {shape} | error {off:+.1e} | least cosine {cosines.min():.6f} | {words} |", flush=True)


def cur(folder: Path) -> None:
    rng = np.random.default_rng(2)
    table = rng.standard_normal((40_000, 20)) @ rng.standard_normal((20, 200)) + rng.standard_normal((40_000, 200))
    inside, blocks, words = both("cur", table, folder / "cur.npy", k=10)
    same = all(
        np.array_equal(getattr(inside.details, name), getattr(blocks.details, name)) for name in ("rows", "columns")
    )
    off = abs(blocks.details.error / inside.details.error - 1.0)
    print(f"| CUR, 40,000 x 200, k=10 | same rows and columns: {same} | error {off:.1e} | {words} |", flush=True)


def kernel_pca(folder: Path) -> None:
    rng = np.random.default_rng(3)
    turn = 6 * rng.random(10_000)
    table = np.c_[np.cos(turn), np.sin(turn), turn / 3, 0.1 * rng.standard_normal((10_000, 5))]
    np.save(folder / "kernel.npy", table)
    exact, first = timed(table, "kernel_pca", k=5, gamma=0.2)
    for error in (1e-2, 1e-4, 1e-6):
        options: dict[str, Any] = {"k": 5, "gamma": 0.2, "stream": True, "memory": "1MB", "approximation_error": error}
        d, second = timed(folder / "kernel.npy", "kernel_pca", **options)
        off = float(np.abs(np.asarray(d.values) / np.asarray(exact.values) - 1.0).max())
        inside = bool((d.certificate.lower <= exact.values * (1 + 1e-9)).all())  # type: ignore[union-attr]
        inside &= bool((exact.values <= d.certificate.upper * (1 + 1e-9)).all())  # type: ignore[union-attr]
        print(
            f"| kernel PCA, 10,000 x 8, error {error:.0e} | values {off:.1e}, inside the bounds: {inside} | "
            f"{len(d.details.pivots)} pivots, {d.info.passes} reads | exact {first:.1f} s, in blocks {second:.1f} s |",  # type: ignore[union-attr]
            flush=True,
        )


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        for work in (nmf, cur, kernel_pca):
            work(Path(name))


if __name__ == "__main__":
    main()
