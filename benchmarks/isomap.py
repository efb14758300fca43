"""Isomap against scikit-learn's, and the memory of landmarks: python -m benchmarks.isomap [--landmarks]."""

from __future__ import annotations

import argparse
import resource
import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np


def roll(rows: int) -> np.ndarray:
    from sklearn.datasets import make_swiss_roll

    return np.asarray(make_swiss_roll(rows, random_state=0)[0])


def timed(work: Callable[[], Any]) -> tuple[float, float, Any]:
    """Seconds on the clock, seconds of all threads' work (which other processes do not lengthen), and the result."""
    start, own = time.perf_counter(), time.process_time()
    result = work()
    return time.perf_counter() - start, time.process_time() - own, result


def against_sklearn(rows: int, rounds: int) -> None:
    """Interleaved fits of the same data; minimum and median of each, and how far the coordinates are apart."""
    from sklearn import manifold

    import eckart as ek

    data = roll(rows)
    ek.Isomap(n_neighbors=10).fit(data[:600])  # compiled loops are loaded once
    times: dict[str, list[float]] = {"eckart": [], "scikit-learn": []}
    work: dict[str, list[float]] = {"eckart": [], "scikit-learn": []}
    for _ in range(rounds):
        seconds, own, mine = timed(lambda: ek.Isomap(n_neighbors=10).fit(data))
        times["eckart"].append(seconds)
        work["eckart"].append(own)
        seconds, own, peer = timed(lambda: manifold.Isomap(n_neighbors=10).fit(data))
        times["scikit-learn"].append(seconds)
        work["scikit-learn"].append(own)
    for name, found in times.items():
        clock = f"min {min(found):.2f} s, median {statistics.median(found):.2f} s on the clock"
        print(f"{name:<14}{rows:,} rows: {clock}, min {min(work[name]):.2f} s of work")
    ratio = [b / a for a, b in zip(times["eckart"], times["scikit-learn"], strict=True)]
    apart = np.abs(np.abs(mine.embedding_) - np.abs(peer.embedding_)).max() / np.abs(peer.embedding_).max()
    print(f"scikit-learn / eckart: {', '.join(f'{r:.1f}' for r in ratio)}; coordinates apart by {apart:.1e} (relative)")
    new = roll(rows + 1000)[rows:]
    first, second = timed(lambda: mine.transform(new)), timed(lambda: peer.transform(new))
    apart = np.abs(first[2] - second[2]).max() / np.abs(second[2]).max()
    print(f"transform of 1,000 rows: {first[0]:.2f} s, scikit-learn {second[0]:.2f} s, apart by {apart:.1e}")


def landmarks(rows: int, count: int) -> None:
    """One fit with landmarks in this process, whose peak memory is then read."""
    import eckart as ek

    data = roll(rows)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    seconds, own, model = timed(lambda: ek.Isomap(n_neighbors=10, n_landmarks=count).fit(data))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    memory = f"peak {peak:.2f} GB (before {before:.2f} GB)"
    print(f"{rows:,} rows, {count:,} landmarks: {seconds:.1f} s on the clock, {own:.1f} s of work, {memory}")
    print(f"residual variance {model.residual_variance_.round(5)}, negative share {model.negative_share_:.4f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=5000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--landmarks", action="store_true", help="only 50,000 rows with 1,000 landmarks")
    given = parser.parse_args()
    if given.landmarks:
        landmarks(50_000, 1000)
    else:
        against_sklearn(given.rows, given.rounds)


if __name__ == "__main__":
    main()
