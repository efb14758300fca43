"""python -m benchmarks.imputation --tables 1000 --jobs 16 --seed 1: imputation on drawn tables whose truth is known.

Tables of rank 1 to 5, noise 0 to 1 (in units of the signal), 1 to 40 % missing values, in columns of equal or of very
different units. Errors (root mean squares over the gaps of a table) are compared with the better of iterated SVD, which
is given the rank, and scikit-learn's IterativeImputer, and 95 % intervals with the truth. Three ratios are given:

- over all gaps. Without noise, a gap that the values present leave open has no right answer;
- over the gaps that are determined;
- over these, to the larger of the better reference and the error expected of the best unbiased estimate (from the true
  scores and loadings). In a table with one or two gaps, a reference is often nearly right by chance, where any estimate
  is as wrong as the noise of the gap itself. This is the ratio that must not exceed 2.

--first 500 begins with table 500: several commands can share the 1,000.
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
import time
import warnings
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from multiprocessing import get_context

import numpy as np
from sklearn.experimental import enable_iterative_imputer  # noqa: F401
from sklearn.impute import IterativeImputer

import eckart as ek
from eckart.engine.threads import one_blas_thread

NOISES = (0.0, 1e-8, 1e-4, 0.01, 0.1, 0.3, 1.0)
MOST = 2.0
"""Times the error of the better reference."""


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

    def expected_errors(self, amplified: np.ndarray) -> np.ndarray:
        """Of the best unbiased estimates, or of column means where these are better; in standard deviations."""
        if not self.noise:
            return np.zeros(len(amplified))
        power = (self.loadings**2).sum(axis=1) + self.noise**2
        share = self.noise**2 / power[np.nonzero(self.gone)[1]]
        # A gap has noise of its own besides the error of the estimate.
        found: np.ndarray = np.minimum(np.sqrt(share * (1.0 + amplified**2)), 1.0)
        return found


@dataclass(frozen=True)
class Outcome:
    """One table: its kind, root mean square errors over all gaps and over determined ones, and intervals that hold."""

    number: int
    rows: int
    columns: int
    rank: int
    noise: float
    share: float
    ours: tuple[float, float] = (np.nan, np.nan)
    svd: tuple[float, float] = (np.nan, np.nan)
    chained: tuple[float, float] = (np.nan, np.nan)
    """IterativeImputer: chained equations."""
    expected: float = 0.0
    """Of the best unbiased estimate, over determined gaps."""
    covered: int = 0
    gaps: int = 0
    error: str = ""

    @property
    def ratios(self) -> tuple[float, float, float]:
        """Our error over that of the better reference; errors at the level of rounding count as equal."""
        better = [min(pair) + 1e-12 for pair in zip(self.svd, self.chained, strict=True)]
        every, determined = (ours + 1e-12 for ours in self.ours)
        return every / better[0], determined / better[1], determined / max(better[1], self.expected)


def draw(seed: int, number: int, *, small: bool = False) -> Drawn:
    """Rank 1 to 5, 30 to 300 rows, up to 30 columns; every other table in one unit, the rest in units of 0.1 to 100.

    Small tables have 20 to 120 rows and one to five columns more than their rank.
    """
    rng = np.random.default_rng([seed, number])
    rank = int(rng.integers(1, 6))
    noise = NOISES[number % len(NOISES)] if number % 2 else float(rng.uniform(0.0, 1.0))
    fewest, most = (20, 120) if small else (30, 300)
    rows = int(np.exp(rng.uniform(np.log(fewest), np.log(most))))
    columns = int(rng.integers(rank + 1, rank + 6) if small else rng.integers(rank + 3, 31))
    share = float(rng.uniform(0.01, 0.4))
    scores, loadings = rng.standard_normal((rows, rank)), rng.standard_normal((columns, rank)) / np.sqrt(rank)
    unit = np.exp(rng.uniform(np.log(0.1), np.log(100), columns)) if number % 4 < 2 else np.ones(columns)
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


def outcome(job: tuple[int, int, bool]) -> Outcome:
    warnings.simplefilter("ignore")
    with one_blas_thread():
        return _outcome(*job)


def _outcome(seed: int, number: int, small: bool) -> Outcome:
    d = draw(seed, number, small=small)
    rows, columns = d.table.shape
    kind = (number, rows, columns, d.scores.shape[1], d.noise, float(d.gone.mean()))
    try:
        filled = ek.fill_missing(d.table, rng=number)
    except Exception as error:  # noqa: BLE001 - any exception is what is looked for
        return Outcome(*kind, error=repr(error))
    amplified = amplification(d)
    determined = amplified < 1e3 if d.noise < 1e-3 else np.ones(len(amplified), dtype=bool)
    best = d.expected_errors(amplified)[determined]

    def errors(table: np.ndarray) -> tuple[float, float]:
        squares = d.in_deviations(table) ** 2
        return float(np.sqrt(squares.mean())), float(np.sqrt(squares[determined].mean())) if determined.any() else 0.0

    covered = np.abs(filled.values - d.whole[d.gone]) < 1.96 * filled.errors
    return Outcome(
        *kind, ours=errors(filled.table), svd=errors(iterated_svd(d.table, kind[3])),
        chained=errors(IterativeImputer(random_state=0).fit_transform(d.table)),
        expected=float(np.sqrt(np.mean(best**2))) if best.size else 0.0, covered=int(covered.sum()), gaps=len(covered),
    )  # fmt: skip


def _line(title: str, found: list[Outcome]) -> str:
    ratios = np.array([o.ratios for o in found])
    coverage = sum(o.covered for o in found) / max(sum(o.gaps for o in found), 1)
    counted = zip(ratios.max(axis=0), (ratios > MOST).sum(axis=0), strict=True)
    shown = " | ".join(f"{worst:.2f} | {above}" for worst, above in counted)
    return f"| {title} | {len(found)} | {np.median(ratios[:, 1]):.2f} | {shown} | {coverage:.1%} |"


def report(found: list[Outcome]) -> Iterable[str]:
    """What to print in the end: the worst tables, and a summary by noise, rank and share of gaps."""
    crashed = [o for o in found if o.error]
    good = [o for o in found if not o.error]
    worst = sorted(good, key=lambda o: -o.ratios[2])[:3]
    yield from (f"among the worst: {json.dumps(asdict(o))}" for o in worst)
    yield f"{len(found)} tables, {len(crashed)} crashes"
    yield ("| tables | count | median ratio | worst, all gaps | above 2 | worst, determined | above 2 "
           "| worst, above chance | above 2 | coverage |")  # fmt: skip
    yield "|---" * 10 + "|"
    yield _line("all", good)
    edges = (0.0, 1e-12, 1e-6, 1e-3, 0.05, 0.2, 0.5, 1.01)
    groups = [(f"noise {a:g} to {b:g}", [o for o in good if a <= o.noise < b]) for a, b in itertools.pairwise(edges)]
    groups += [(f"rank {rank}", [o for o in good if o.rank == rank]) for rank in range(1, 6)]
    shares = (0.0, 0.1, 0.2, 0.3, 0.5)
    groups += [
        (f"{a:.0%} to {b:.0%} missing", [o for o in good if a <= o.share < b]) for a, b in itertools.pairwise(shares)
    ]
    groups += [("one to five gaps", [o for o in good if o.gaps <= 5])]
    yield from (_line(title, members) for title, members in groups if members)


def _watched(outcomes: Iterable[Outcome], seconds: float) -> list[Outcome]:
    """The outcomes within a time; crashes and large ratios are printed as they come."""
    found, end = [], time.monotonic() + seconds
    for o in outcomes:
        found.append(o)
        if time.monotonic() > end:
            break
        if o.error or o.ratios[1] > MOST:
            print(f"{len(found)} done; {json.dumps(asdict(o))}", flush=True)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.imputation", description=__doc__)
    parser.add_argument("--tables", type=int, default=1000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=math.inf, help="stop after this time and report")
    parser.add_argument("--small", action="store_true", help="few rows, and hardly more columns than the rank")
    given = parser.parse_args()
    jobs = [(given.seed, number, given.small) for number in range(given.first, given.first + given.tables)]
    with ProcessPoolExecutor(given.jobs, mp_context=get_context("spawn")) as pool:
        for line in report(_watched(pool.map(outcome, jobs), given.seconds)):
            print(line, flush=True)
        pool.shutdown(cancel_futures=True)


if __name__ == "__main__":
    main()
