"""python -m benchmarks.missing: the metabolite table of pcaMethods (if available) and a few drawn ones, against peers.

`python -m benchmarks.imputation` draws many more tables of known rank.
"""

from __future__ import annotations

import itertools
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from sklearn.experimental import enable_iterative_imputer  # noqa: F401
from sklearn.impute import IterativeImputer, KNNImputer

import eckart as ek

SHARED = Path(__file__).parents[2] / "shared" / "data"


def tables() -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """(name, whole table, table with gaps)"""
    if (SHARED / "pcaMethods_metaboliteData.npz").exists():
        whole = np.load(SHARED / "pcaMethods_metaboliteDataComplete.npz")["X"]
        yield "metabolites", whole, np.load(SHARED / "pcaMethods_metaboliteData.npz")["X"]
    kinds = (("two axes", 100, 20, 2), ("few rows", 30, 15, 2), ("wide", 25, 40, 3), ("neighbours", 150, 30, 0))
    for (name, rows, columns, rank), seed in itertools.product(kinds, range(3)):
        rng = np.random.default_rng(seed)
        noise = rng.standard_normal((rows, columns))
        if rank:
            whole = rng.standard_normal((rows, rank)) @ rng.standard_normal((rank, columns)) + noise
        else:
            near = 0.8 ** np.abs(np.subtract.outer(np.arange(columns), np.arange(columns)))
            whole = noise @ np.linalg.cholesky(near).T
        yield name, whole, np.where(rng.random(whole.shape) < 0.15, np.nan, whole)


WAYS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "column means": lambda table: ek.fill_missing(table, "mean").table,
    "KNNImputer": lambda table: KNNImputer().fit_transform(table),
    "IterativeImputer": lambda table: IterativeImputer(random_state=0).fit_transform(table),
    "eckart em": lambda table: ek.fill_missing(table).table,
}


def main() -> None:
    warnings.simplefilter("ignore")
    print(f"{'table':<14}{'gaps':>6}  {'way':<18}{'RMSE':>9}{'in deviations':>15}{'seconds':>9}")
    for name, whole, table in tables():
        gone = np.isnan(table)
        for way, fill in WAYS.items():
            start = time.perf_counter()
            difference = fill(table) - whole
            seconds = time.perf_counter() - start
            error = np.sqrt(np.mean(difference[gone] ** 2))
            scaled = np.sqrt(np.mean((difference / whole.std(axis=0))[gone] ** 2))
            print(f"{name:<14}{gone.sum():>6}  {way:<18}{error:>9.4f}{scaled:>15.4f}{seconds:>9.2f}")
        filled = ek.fill_missing(table)
        inside = np.mean(np.abs(filled.values - whole[gone]) < 1.96 * filled.errors)
        print(f"{name:<14}{'':>6}  within 1.96 of the standard error that is claimed: {inside:.1%}")


if __name__ == "__main__":
    main()
