"""NMF against scikit-learn: how much sooner is its loss reached? `python -m benchmarks.nmf [--short] [--only NAME]`

Both start from their own default start, and its time counts. scikit-learn runs a fixed number of iterations; the clock
of ours stops at the first iteration with at most the same objective. Runs are interleaved; medians are printed.
--short times a tenth and a fifth of scikit-learn's iterations and takes a straight line through both for all of them;
the loss to be reached is then that of our "mu" and "cd", which take the same steps.
"""

from __future__ import annotations

import argparse
import statistics
import threading
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.decomposition import NMF as Theirs

from benchmarks.data import text
from eckart.nmf.result import factorise

OPTIONS = {
    "init": None, "solver": "auto", "beta_loss": "frobenius", "tol": 1e-6, "max_iter": 400, "alpha_W": 0.0,
    "alpha_H": "same", "l1_ratio": 0.0, "missing": "error", "n_runs": 1,
}  # fmt: skip


@dataclass(frozen=True)
class Work:
    name: str
    make: Callable[[], Any]
    k: int
    loss: str
    solver: str
    iterations: int
    wanted: float


def counts() -> Any:
    """50,000 documents x 10,000 terms, about 3 million counts."""
    return text(50_000, 10_000, 76, weighted=False)(1).astype(np.float64)


def low_rank() -> np.ndarray:
    """5000 x 2000 of non-negative rank 20 and 5 % noise."""
    rng = np.random.default_rng(1936)
    data = rng.gamma(0.5, 1.0, (5000, 20)) @ rng.gamma(0.5, 1.0, (20, 2000))
    return np.maximum(data + 0.05 * data.std() * rng.standard_normal(data.shape), 0.0)


def digits_like() -> np.ndarray:
    """5000 x 2000: strokes (smooth blobs on a 40 x 50 field), a few of them in each picture, and noise."""
    rng = np.random.default_rng(1936)
    y, x = np.mgrid[:40, :50]
    centres, widths = rng.random((60, 2)) * (40, 50), rng.uniform(2, 6, (60, 2))
    strokes = np.exp(
        -(((y.ravel() - centres[:, :1]) / widths[:, :1]) ** 2 + ((x.ravel() - centres[:, 1:]) / widths[:, 1:]) ** 2)
    )
    weights = rng.gamma(1.0, 1.0, (5000, 60)) * (rng.random((5000, 60)) < 0.15)
    return np.maximum(weights @ strokes + 0.03 * rng.standard_normal((5000, 2000)), 0.0)


WORKS = (
    Work("KL, sparse counts 50k x 10k, k=30", counts, 30, "kullback-leibler", "mu", 100, 12.0),
    Work("squares, sparse counts 50k x 10k, k=30", counts, 30, "frobenius", "cd", 200, 2.5),
    Work("squares, dense low rank 5000 x 2000, k=20", low_rank, 20, "frobenius", "cd", 200, 4.0),
    Work("squares, dense digits-like 5000 x 2000, k=20", digits_like, 20, "frobenius", "cd", 200, 4.0),
)


def theirs(work: Work, data: Any, iterations: int) -> tuple[float, float]:
    """(seconds, loss)."""
    start = time.perf_counter()
    model = Theirs(work.k, solver=work.solver, beta_loss=work.loss, max_iter=iterations, tol=0, random_state=0).fit(
        data
    )
    return time.perf_counter() - start, 0.5 * float(model.reconstruction_err_) ** 2


def ours(work: Work, data: Any, target: float) -> tuple[float, int, float]:
    """(seconds until the target, iterations, loss reached)."""
    seen = {"at": float("nan"), "iterations": 0, "loss": float("inf")}
    start = time.perf_counter()

    def watch(iteration: int, objective: float) -> bool:
        seen["loss"] = objective
        if objective <= target:
            seen["at"], seen["iterations"] = time.perf_counter() - start, iteration
            return True
        return False

    factorise(data, k=work.k, rng=0, keep_left=False, watch=watch, **{**OPTIONS, "beta_loss": work.loss})
    return seen["at"], int(seen["iterations"]), seen["loss"]


def same_steps(work: Work, data: Any) -> float:
    """scikit-learn's loss after all its iterations, by our solver of the same steps."""
    options = {**OPTIONS, "beta_loss": work.loss, "solver": work.solver, "max_iter": work.iterations, "tol": 0.0}
    d, _, _ = factorise(data, k=work.k, rng=0, keep_left=False, **options)
    return 0.5 * float(d.parts["error"]) ** 2


def peak_beside(action: Callable[[], Any]) -> int:
    """Bytes by which this process grew at most while `action` ran."""
    page, done = 4096, threading.Event()
    resident = lambda: int(Path("/proc/self/statm").read_text().split()[1]) * page  # noqa: E731
    before = top = resident()

    def look() -> None:
        nonlocal top
        while not done.wait(0.002):
            top = max(top, resident())

    thread = threading.Thread(target=look)
    thread.start()
    action()
    done.set()
    thread.join()
    return top - before


def measure(work: Work, *, short: bool, repeats: int) -> None:
    data = work.make()
    ours(work, data[:200], np.inf)  # compile
    size = data.nbytes if isinstance(data, np.ndarray) else data.data.nbytes + data.indices.nbytes + data.indptr.nbytes
    size += 8 * work.k * sum(data.shape)
    grown = peak_beside(lambda: ours(work, data, np.inf))
    print(
        f"    memory beside the data at most {grown / 1e6:.0f} MB; data and factors are {size / 1e6:.0f} MB", flush=True
    )
    part = work.iterations // 10 if short else work.iterations
    target = same_steps(work, data) if short else float("nan")
    peer, own, steps = [], [], []
    for _ in range(repeats):
        seconds, loss = theirs(work, data, part)
        if short:
            each = (theirs(work, data, 2 * part)[0] - seconds) / part
            peer.append(seconds + each * (work.iterations - part))
        else:
            peer.append(seconds)
            target = loss
        found = ours(work, data, target)
        own.append(found[0])
        steps.append(found[1])
    a, b = statistics.median(peer), statistics.median(own)
    print(f"{work.name}: loss {target:.6g}: scikit-learn {a:.2f} s, eckart {b:.2f} s ({steps[-1]} steps): "
          f"{a / b:.1f}x sooner (wanted {work.wanted:g}x)", flush=True)  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--short", action="store_true")
    parser.add_argument("--only", default="")
    parser.add_argument("--repeats", type=int, default=3)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    for work in WORKS:
        if given.only.lower() in work.name.lower():
            measure(work, short=given.short, repeats=given.repeats)


if __name__ == "__main__":
    main()
