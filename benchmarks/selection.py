"""BackwardElimination against scikit-learn's selector: python -m benchmarks.selection [--keep 98] [--jobs 2].

Both on one BLAS thread, so that products too small to share do not decide; the whole way from 100 columns to --keep.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

from sklearn.datasets import make_classification
from sklearn.feature_selection import SequentialFeatureSelector
from sklearn.linear_model import LogisticRegression
from threadpoolctl import threadpool_limits

import eckart as ek


def timed(selector: Any, X: Any, y: Any) -> tuple[float, float]:
    """Seconds on the clock, and seconds of this process's own work."""
    start, work = time.perf_counter(), time.process_time()
    selector.fit(X, y)
    return time.perf_counter() - start, time.process_time() - work


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=2000)
    parser.add_argument("--columns", type=int, default=100)
    parser.add_argument("--keep", type=int, default=98)
    parser.add_argument("--jobs", type=int, default=None)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    X, y = make_classification(
        given.rows, given.columns, n_informative=12, n_redundant=8, flip_y=0.05, random_state=given.seed
    )
    mine = ek.BackwardElimination(LogisticRegression(), n_features_to_select=given.keep, n_jobs=given.jobs)
    peer = SequentialFeatureSelector(
        LogisticRegression(), n_features_to_select=given.keep, direction="backward", n_jobs=given.jobs
    )
    with threadpool_limits(1):
        if given.jobs not in (None, 1):  # the processes of joblib are started once, and for neither of the two
            ek.RandomSubsetSearch(LogisticRegression(), n_iter=4, n_jobs=given.jobs).fit(X[:200], y[:200])
        ours, theirs = timed(mine, X, y), timed(peer, X, y)
    same = (mine.get_support() == peer.get_support()).all()
    print(
        f"{given.columns} -> {given.keep} columns, {given.rows} rows, n_jobs={given.jobs}: same columns: {bool(same)}"
    )
    print(f"eckart {ours[0]:.1f} s (own work {ours[1]:.1f}), scikit-learn {theirs[0]:.1f} s ({theirs[1]:.1f})")
    print(f"sooner: {theirs[0] / ours[0]:.2f} times on the clock")


if __name__ == "__main__":
    main()
