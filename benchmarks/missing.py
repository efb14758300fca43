"""Imputation on tables whose truth is known: python -m benchmarks.missing [tables]

Without a number, the metabolite table of pcaMethods (where it is available) and a few drawn ones, beside scikit-learn's
imputers. With a number, a simulation of so many tables of rank 1 to 5, noise 0 to 1 and 1 to 40 % missing values:
errors beside the better of iterated SVD (which is told the rank) and IterativeImputer, and coverage of 95 % intervals.
"""

from __future__ import annotations

import itertools
import sys
import time
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from sklearn.experimental import enable_iterative_imputer  # noqa: F401
from sklearn.impute import IterativeImputer, KNNImputer

import eckart as ek

SHARED = Path(__file__).parents[2] / "shared" / "data"
NOISES = (0.0, 1e-8, 1e-4, 0.01, 0.1, 0.3, 1.0)


@dataclass(frozen=True)
class Drawn:
    """A table of known rank: whole, with gaps, and the scores and loadings it was made of."""

    whole: np.ndarray
    table: np.ndarray
    scores: np.ndarray
    loadings: np.ndarray
    noise: float

    @property
    def gone(self) -> np.ndarray:
        return np.isnan(self.table)

    def in_deviations(self, values: np.ndarray) -> np.ndarray:
        """Differences from the truth at the gaps, in standard deviations of their columns."""
        difference: np.ndarray = ((values - self.whole) / self.whole.std(axis=0))[self.gone]
        return difference


def draw(seed: int) -> Drawn:
    """Rank 1 to 5, 30 to 200 rows, up to 25 columns in units from 0.1 to 100; noise in units of the signal."""
    rng = np.random.default_rng([77, seed])
    rank, noise = int(rng.integers(1, 6)), NOISES[seed % len(NOISES)]
    rows, columns = int(np.exp(rng.uniform(np.log(30), np.log(200)))), int(rng.integers(max(rank + 3, 5), 26))
    share = rng.uniform(0.01, 0.4)
    scores, loadings = rng.standard_normal((rows, rank)), rng.standard_normal((columns, rank)) / np.sqrt(rank)
    unit = np.exp(rng.uniform(np.log(0.1), np.log(100), columns))
    offset = rng.normal(0, 3, columns) * unit
    whole = (scores @ loadings.T + noise * rng.standard_normal((rows, columns))) * unit + offset
    gone = rng.random(whole.shape) < share
    while (~gone).sum(axis=0).min() < 2:
        gone = rng.random(whole.shape) < share
    gone[0, 0] |= not gone.any()
    return Drawn(whole, np.where(gone, np.nan, whole), scores, loadings, noise)


def amplification(d: Drawn) -> np.ndarray:
    """Error of the best unbiased estimate of each gap per unit of noise; infinite where the values leave it open.

    From the true scores and loadings, by the Jacobian of the values present (rows' scores projected out).
    """
    rank, columns = d.loadings.shape[1], len(d.loadings)
    extended = np.column_stack([np.ones(len(d.scores)), d.scores])
    jacobian = [np.zeros((1, columns * (rank + 1)))]
    for seen, z in zip(~d.gone, extended, strict=True):
        if seen.sum() > rank:
            left = np.zeros((int(seen.sum()) - rank, columns))
            left[:, seen] = np.linalg.qr(d.loadings[seen], mode="complete")[0][:, rank:].T
            jacobian.append((left[:, :, None] * z).reshape(len(left), -1))
    every = np.concatenate(jacobian)
    values, vectors = np.linalg.eigh(every.T @ every)
    kept = values > 1e-9 * values[-1]
    found = []
    for i, j in zip(*np.nonzero(d.gone), strict=True):
        here = d.loadings[~d.gone[i]]
        if len(here) < rank or np.linalg.cond(here) > 1e6:
            found.append(np.inf)
            continue
        weights = np.linalg.lstsq(here.T, d.loadings[j], rcond=None)[0]
        c = np.zeros(columns)
        c[j], c[~d.gone[i]] = 1.0, -weights
        h = vectors.T @ np.kron(c, extended[i])
        is_open = np.abs(h[~kept]).max(initial=0.0) > 1e-4 * np.linalg.norm(h)
        found.append(np.inf if is_open else np.sqrt(weights @ weights + np.sum(h[kept] ** 2 / values[kept])))
    return np.array(found)


def iterated_svd(table: np.ndarray, rank: int) -> np.ndarray:
    """Fill by the SVD of known rank, again and again, in standard units."""
    gone = np.isnan(table)
    mean, deviation = np.nanmean(table, axis=0), np.nanstd(table, axis=0)
    filled = np.where(gone, 0.0, (table - mean) / deviation)
    for _ in range(3000):
        center = filled.mean(axis=0)
        left, values, right = np.linalg.svd(filled - center, full_matrices=False)
        new = ((left[:, :rank] * values[:rank]) @ right[:rank] + center)[gone]
        change, filled[gone] = np.sqrt(np.mean((new - filled[gone]) ** 2)), new
        if change < 1e-9:
            break
    result: np.ndarray = filled * deviation + mean
    return result


def simulate(count: int, first: int = 0) -> None:
    """Crashes, errors over the better reference, and coverage overall and by quarter of the columns' scales."""
    ratios, inside = defaultdict(list), defaultdict(list)
    crashes = 0
    for seed in range(first, first + count):
        d = draw(seed)
        try:
            filled = ek.fill_missing(d.table, rng=seed)
        except (ArithmeticError, LookupError, ValueError, np.linalg.LinAlgError) as error:
            crashes += 1
            print(f"table {seed}: {error!r}")
            continue
        # Without noise, only gaps that the values determine have a right answer to compare.
        counted = amplification(d) < 1e3 if d.noise < 1e-3 else np.ones(len(filled.values), dtype=bool)
        tables = filled.table, iterated_svd(d.table, d.scores.shape[1]), IterativeImputer().fit_transform(d.table)
        ours, *references = (float(np.sqrt(np.mean(d.in_deviations(t)[counted] ** 2))) for t in tables)
        ratios[d.noise].append((ours, ours / max(min(references), 1e-12)))
        quarter = np.argsort(np.argsort(np.nanstd(d.table, axis=0))) * 4 // d.table.shape[1]
        covered = np.abs(filled.values - d.whole[d.gone]) < 1.96 * filled.errors
        inside[d.noise].append(np.column_stack([covered, quarter[filled.columns]]))
    print(
        f"{count} tables, {crashes} crashes\n{'noise':>8}{'tables':>8}{'error':>10}{'ratio':>8}{'worst':>8}  coverage"
    )
    for noise in sorted(ratios):
        errors, cells = np.array(ratios[noise]), np.concatenate(inside[noise])
        by_quarter = "  ".join(f"{cells[cells[:, 1] == q, 0].mean():.1%}" for q in range(4))
        error, ratio, worst = np.median(errors[:, 0]), np.median(errors[:, 1]), errors[:, 1].max()
        row = f"{noise:>8g}{len(errors):>8}{error:>10.2g}{ratio:>8.2g}{worst:>8.2g}"
        print(f"{row}  {cells[:, 0].mean():.1%} (columns of small to large scale: {by_quarter})")


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
    if len(sys.argv) > 1:
        warnings.simplefilter("ignore")
        simulate(*map(int, sys.argv[1:]))
    else:
        main()
