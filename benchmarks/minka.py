"""Minka's rule in O(p^2) compared with scikit-learn's O(p^3), the same rank: python -m benchmarks.minka"""

from __future__ import annotations

import time

import numpy as np
from sklearn.decomposition._pca import _infer_dimension

from eckart.rank.minka import minka_rank


def main() -> None:
    rng = np.random.default_rng(0)
    same = 0
    for _ in range(200):
        rows, columns = int(rng.integers(30, 400)), int(rng.integers(2, 30))
        rank = int(rng.integers(0, columns))
        signal = rng.standard_normal((rows, rank)) @ rng.standard_normal((rank, columns))
        variances = np.linalg.eigvalsh(np.cov((signal + rng.standard_normal((rows, columns))).T))[::-1]
        same += minka_rank(variances, rows) == _infer_dimension(variances, rows)
    print(f"the same rank on {same} of 200 tables")
    for columns in (50, 100, 200, 400):
        variances = np.sort(np.r_[rng.uniform(5, 9, 5), rng.uniform(0.5, 1.5, columns - 5)])[::-1]
        seconds = []
        for rule in (minka_rank, _infer_dimension):
            start = time.perf_counter()
            found = rule(variances, 5000)
            seconds.append(time.perf_counter() - start)
        print(f"{columns} columns: rank {found}, eckart {seconds[0]:.4f} s, scikit-learn {seconds[1]:.3f} s")


if __name__ == "__main__":
    main()
