"""Kernel PCA against scikit-learn's, one row of the table after the other: `python -m benchmarks.kernel_pca [ROW ...]`.

exact     rbf, 8000 x 20, k = 20: time, peak memory and error of the eigen_solvers, interleaved, each in a process
large     100 000 x 20, k = 20 by randomly pivoted Cholesky: time, peak memory, share of the trace that is missing
project   scores of 100 000 new points against the bare products of kernel tiles
linear    the linear kernel against PCA, also with 1e8 added to the data
digits    digits with noise of a quarter of their range: mean squared error of pre-images, PCA and scikit-learn
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np


def memory(field: str) -> int:
    """Bytes of this process: VmRSS now, VmHWM at its highest."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field):
            return int(line.split()[1]) * 1024
    return 0


def forget_peak() -> None:
    Path("/proc/self/clear_refs").write_text("5")


_ROUNDS = 3


def points(rows: int, seed: int = 0) -> np.ndarray:
    """Normal points in 20 columns of falling spread."""
    return np.random.default_rng(seed).standard_normal((rows, 20)) * np.linspace(2.0, 0.2, 20)


def curved(rows: int, seed: int = 0) -> np.ndarray:
    """Points near a surface of four dimensions in 20 columns, so that some hundred rows hold 99 % of the kernel."""
    rng = np.random.default_rng(seed)
    plane = rng.uniform(-1.0, 1.0, (rows, 4))
    waves = np.sin(plane @ rng.standard_normal((4, 20)) * 1.5 + rng.uniform(0, 6, 20))
    return np.asarray(waves + 0.02 * rng.standard_normal((rows, 20)))


def one(name: str) -> None:
    """One fit in this process: seconds, peak bytes, eigenvalues, as JSON."""
    X = np.random.default_rng(0).standard_normal((8000, 20))
    if name == "eckart":
        from eckart import KernelPCA

        KernelPCA(20, kernel="rbf").fit(X[:4200])
        model: Any = KernelPCA(20, kernel="rbf", copy_X=False)
    else:
        from sklearn.decomposition import KernelPCA as Other

        Other(2, kernel="rbf", eigen_solver=name).fit(X[:500])
        model = Other(20, kernel="rbf", eigen_solver=name, copy_X=False, random_state=0)
    forget_peak()
    before, start = memory("VmRSS"), time.perf_counter()
    model.fit(X)
    seconds = time.perf_counter() - start
    answer = {"seconds": seconds, "peak": memory("VmHWM") - before, "values": model.eigenvalues_.tolist()}
    print(json.dumps(answer))


def exact() -> None:
    results: dict[str, list[dict[str, Any]]] = {}
    for _ in range(_ROUNDS):
        for name in ("eckart", "arpack", "randomized"):
            done = subprocess.run(
                [sys.executable, "-m", "benchmarks.kernel_pca", "--one", name],
                capture_output=True,
                text=True,
                check=True,
            )
            results.setdefault(name, []).append(json.loads(done.stdout))
    wanted = np.array(results["arpack"][0]["values"])
    for name, runs in results.items():
        seconds = [run["seconds"] for run in runs]
        error = max(float(np.abs(np.array(run["values"]) / wanted - 1).max()) for run in runs)
        peak = max(run["peak"] for run in runs) / 1e6
        middle = sorted(seconds)[len(seconds) // 2]
        print(
            f"exact {name:<12} min {min(seconds):.3f} s, median {middle:.3f} s, peak {peak:.0f} MB, error {error:.1e}"
        )


def large() -> None:
    from eckart import KernelPCA

    X = curved(100_000)
    KernelPCA(5, kernel="rbf", eigen_solver="cholesky").fit(X[:2000])
    forget_peak()
    start = time.perf_counter()
    model = KernelPCA(20, kernel="rbf", copy_X=False).fit(X)
    seconds, peak = time.perf_counter() - start, memory("VmHWM")
    assert model.plan_ is not None
    assert model.certificate_ is not None
    missing, rank = model.approximation_error_, model.decomposition_.details.dual.shape[0]
    print(
        f"large {model.plan_.solver}: {seconds:.1f} s, {peak / 1e6:.0f} MB for the whole process, "
        f"{missing:.3%} missing at rank {rank}, explained {model.certificate_.explained}"
    )


def project() -> None:
    from concurrent.futures import ThreadPoolExecutor

    from eckart import KernelPCA
    from eckart.engine.threads import one_blas_thread

    X, new = points(4000), points(100_000, seed=1)
    model = KernelPCA(20, kernel="rbf").fit(X)
    dual = np.asarray(model.decomposition_.details.dual)
    squares = (X**2).sum(axis=1)

    def bare(start: int) -> np.ndarray:
        piece = new[start : start + 512]
        total = np.zeros((len(piece), dual.shape[1]))
        for first in range(0, len(X), 512):
            tile = piece @ X[first : first + 512].T
            tile *= 2.0
            tile -= squares[first : first + 512]
            tile -= (piece**2).sum(axis=1)[:, None]
            tile *= model.gamma_
            np.exp(tile, out=tile)
            total += tile @ dual[first : first + 512]
        return total

    times: dict[str, list[float]] = {"eckart": [], "bare": []}
    with ThreadPoolExecutor(2) as pool:
        for _ in range(5):
            start = time.perf_counter()
            model.transform(new)
            times["eckart"].append(time.perf_counter() - start)
            start = time.perf_counter()
            with one_blas_thread():
                list(pool.map(bare, range(0, len(new), 512)))
            times["bare"].append(time.perf_counter() - start)
    ours, theirs = min(times["eckart"]), min(times["bare"])
    print(f"project 100 000 x 4000: {ours:.2f} s, bare tiles {theirs:.2f} s, ratio {ours / theirs:.2f}")


def linear() -> None:
    from eckart import PCA, KernelPCA

    X = np.round(points(2000) * 2**20) / 2**20  # so that adding 1e8 loses nothing
    for offset in (0.0, 1e8):
        data = X + offset
        scores, wanted = KernelPCA(5).fit_transform(data), PCA(5).fit_transform(X)
        signs = np.sign(np.sum(scores * wanted, axis=0))
        print(f"linear + {offset:g}: largest difference {np.abs(scores * signs - wanted).max():.1e}")


def digits() -> None:
    from sklearn.datasets import load_digits
    from sklearn.decomposition import KernelPCA as Other

    from eckart import PCA, KernelPCA

    clean = load_digits().data
    rng = np.random.default_rng(0)
    train, wanted = clean[:1297], clean[1297:]
    noisy = wanted + rng.normal(0.0, 4.0, wanted.shape)

    def error(model: Any) -> float:
        model.fit(train)
        return float(np.mean((model.inverse_transform(model.transform(noisy)) - wanted) ** 2))

    print(f"digits noise {np.mean((noisy - wanted) ** 2):.2f}")
    for k in (16, 32, 64):
        common = {"kernel": "rbf", "gamma": 5e-4, "fit_inverse_transform": True}
        found = {"PCA": error(PCA(k))}
        for alpha in (1.0, 0.1, 5e-3, 1e-4):
            found[f"scikit-learn alpha={alpha}"] = error(Other(k, alpha=alpha, eigen_solver="dense", **common))
        for how in ("ridge", "fixed_point", "neighbours"):
            found[how] = error(KernelPCA(k, preimage=how, **common))
        print(f"digits k={k}: " + ", ".join(f"{name} {value:.2f}" for name, value in found.items()))


ROWS = {"exact": exact, "large": large, "project": project, "linear": linear, "digits": digits}

if __name__ == "__main__":
    warnings.simplefilter("ignore")
    if sys.argv[1:2] == ["--one"]:
        one(sys.argv[2])
    else:
        for row in sys.argv[1:] or ROWS:
            ROWS[row]()
