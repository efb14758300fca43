"""Error over the best rank-k error, the statistics of the taught draws, time compared with TruncatedSVD.

`python -m benchmarks.cur [--quick]`; --quick leaves the large sparse matrix out.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy import stats

import eckart as ek
from benchmarks.families_tuning import counts, text
from eckart.testing import with_spectrum

Matrix = Any
K = 20
SEEDS = 1000
ROUNDS = 5


def incoherent() -> Matrix:
    return with_spectrum(1.0 / np.arange(1, 301), 400, 300)


def rbf() -> Matrix:
    points = np.random.default_rng(0).uniform(size=(400, 2))
    return np.exp(-((points[:, None] - points[None, :300]) ** 2).sum(axis=2) / (2 * 0.3**2))


def heavy_counts() -> Matrix:
    """Few entries, most of them 1, some very large."""
    rng = np.random.default_rng(0)
    return sp.csr_array((rng.zipf(2.0, size=(400, 300)) * (rng.random((400, 300)) < 0.05)).astype(float))


MATRICES: dict[str, tuple[Callable[[], Matrix], float]] = {
    "incoherent, 1/i, 400 x 300": (incoherent, 1.7),
    "sparse counts, Zipf entries, 400 x 300": (heavy_counts, 1.1),
    "sparse counts, text, 20,000 x 3,000": (lambda: counts(20_000, 3_000, np.random.default_rng(1936)), 1.1),
    "sparse counts, text, 400 x 300": (lambda: counts(400, 300, np.random.default_rng(1936)), 1.1),
    "RBF kernel, 400 x 300": (rbf, 3.0),
}


def ratios() -> Iterator[str]:
    """||A - C U R|| / ||A - A_k||, best core, k columns and k rows; the exact tail by LAPACK where that is possible."""
    yield f"CUR, k={K}, best core: error over best rank-{K} error (certified interval; target for 'pivot')"
    for name, (make, target) in MATRICES.items():
        matrix = make()
        for select in ("pivot", "volume", "leverage", "norm"):
            d = ek.decompose(matrix, "cur", k=K, n_columns=K, n_rows=K, select=select)
            low, high = d.details.ratio
            goal = f"  <= {target}: {'met' if high <= target else 'MISSED'}" if select == "pivot" else ""
            yield f"  {name:<40} {select:<9} {low:.4f} to {high:.4f}{goal}"


def taught() -> Iterator[str]:
    """Draws by squared norms over many seeds against their exact law."""
    matrix = np.random.default_rng(7).standard_normal((6, 8)) * np.arange(1, 9)
    count, total = 5, float(np.linalg.norm(matrix) ** 2)
    chances = (matrix**2).sum(axis=0) / total
    drawn, products, errors = np.zeros(8), [], []
    for seed in range(SEEDS):
        parts = ek.decompose(matrix, "cur", k=2, n_columns=count, n_rows=count, select="norm", rng=seed).details
        drawn[parts.columns] += parts.column_times
        products.append(parts.C @ parts.C.T)
        errors.append(np.linalg.norm(matrix @ matrix.T - products[-1]) ** 2)
    spread = np.std(products, axis=0) / np.sqrt(SEEDS)
    expected = (total**2 - np.linalg.norm(matrix @ matrix.T) ** 2) / count
    yield f"'norm' over {SEEDS} seeds"
    fit = stats.chisquare(drawn, SEEDS * count * chances).pvalue
    yield f"  draws against ||A_j||^2 / ||A||^2: chi-square p = {fit:.3f}"
    deviation = np.abs((np.mean(products, axis=0) - matrix @ matrix.T) / spread).max()
    yield f"  E C C^T = A A^T: largest deviation of 21 entries {deviation:.2f} standard errors"
    off = (np.mean(errors) - expected) / (np.std(errors) / np.sqrt(SEEDS))
    yield f"  E ||A A^T - C C^T||^2 = (||A||^4 - ||A A^T||^2) / c: off by {off:.2f} standard errors"


def seconds(work: Callable[[], Any]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def sparse_time() -> Iterator[str]:
    """CUR and TruncatedSVD of the same matrix, interleaved."""
    matrix = text(200_000, 30_000, np.random.default_rng(1936)).astype(np.float32)
    works = {
        "TruncatedSVD": lambda: ek.TruncatedSVD(n_components=50).fit(matrix),
        "CUR": lambda: ek.CUR(n_components=50).fit(matrix),
    }
    for work in works.values():
        work()
    times: dict[str, list[float]] = {name: [] for name in works}
    for _ in range(ROUNDS):
        for name, work in works.items():
            times[name].append(seconds(work))
    yield f"sparse {matrix.shape[0]:,} x {matrix.shape[1]:,}, {matrix.nnz:,} entries, k=50, {ROUNDS} rounds interleaved"
    for name, taken in times.items():
        yield f"  {name:<14} least {min(taken):.2f} s, median {statistics.median(taken):.2f} s"
    least = min(times["CUR"]) / min(times["TruncatedSVD"])
    middle = statistics.median(times["CUR"]) / statistics.median(times["TruncatedSVD"])
    yield f"  CUR over TruncatedSVD: least {least:.2f}, median {middle:.2f} (<= 1.5)"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="leave the large sparse matrix out")
    quick = parser.parse_args().quick
    for part in (ratios, taught) if quick else (ratios, taught, sparse_time):
        for line in part():
            print(line, flush=True)


if __name__ == "__main__":
    main()
