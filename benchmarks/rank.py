"""How often each rule finds the planted number of components: python -m benchmarks.rank [--study] [--seed 100]

With --study: the verdict's rates on 200 tables of each family (ranks 0 to 12 of 5 to 100 columns, more and fewer rows
than columns; no, strong and weak signal; equal, unequal and correlated noise), dense against CSR. Without it, the rules
against what can be installed:

200 tables: 40 to 400 rows, 12 to 120 columns, 1 to 6 axes of 1.4 to 3 times the largest singular value of the noise,
which is white, differs by row and column, or is correlated. The peers (kneed, optht, screenot, scikit-learn,
process-improve) are asked as their documentation says; those not installed are left out.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import time
import warnings
from collections import defaultdict
from collections.abc import Callable

import numpy as np

import eckart as ek
from eckart.rank.deterministic import upper_edge

KINDS = ("white", "heteroscedastic", "correlated")
SHAPES = ((100, 20), (200, 50), (60, 30), (400, 40), (150, 120), (40, 12))


def planted(kind: str, index: int) -> tuple[np.ndarray, int]:
    """(table, its number of axes)"""
    rng = np.random.default_rng([7, index])
    rows, columns = SHAPES[index % len(SHAPES)]
    rank = 1 + index % min(6, columns // 4)
    noise = rng.standard_normal((rows, columns))
    if kind == "heteroscedastic":
        noise *= rng.uniform(0.5, 2.0, (rows, 1)) * rng.uniform(0.5, 2.0, columns)
    elif kind == "correlated":
        near = 0.5 ** np.abs(np.subtract.outer(np.arange(columns), np.arange(columns)))
        noise = noise @ np.linalg.cholesky(near).T
    edge = np.linalg.norm(noise - noise.mean(axis=0), 2)
    left, _ = np.linalg.qr(rng.standard_normal((rows, rank)))
    right, _ = np.linalg.qr(rng.standard_normal((columns, rank)))
    return (left * edge * rng.uniform(1.4, 3.0, rank)) @ right.T + noise + rng.normal(0, 3, columns), rank


def peers(table: np.ndarray) -> dict[str, int]:
    """What others say: 'rule: package' -> k."""
    centred = table - table.mean(axis=0)
    values = np.linalg.svd(centred, compute_uv=False)
    said: dict[str, int] = {}
    for name, ask in _PEERS.items():
        package = name.split(": ")[1].split(" ")[0].replace("-", "_").replace("scikit_learn", "sklearn")
        with contextlib.suppress(ImportError), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            module = None if package == "plain" else importlib.import_module(package)
            said[name] = int(ask(module, table, centred, values))
    return said


def _kneed(module, _table, _centred, values):  # type: ignore[no-untyped-def]
    place = module.KneeLocator(range(len(values)), values**2, curve="convex", direction="decreasing").knee
    return -1 if place is None else place


def _kneed_cumulative(module, _table, _centred, values):  # type: ignore[no-untyped-def]
    held = np.cumsum(values**2)
    place = module.KneeLocator(range(1, len(values) + 1), held, curve="concave", direction="increasing").knee
    return -1 if place is None else place


def _screenot(module, _table, centred, values):  # type: ignore[no-untyped-def]
    return module.adaptiveHardThresholding(centred, max(len(values) // 4, 1))[2]


def _mle(_module, table, _centred, _values):  # type: ignore[no-untyped-def]
    from sklearn.decomposition import PCA

    return PCA("mle", svd_solver="full").fit(table).n_components_ if table.shape[0] >= table.shape[1] else -1


def _parallel(module, table, _centred, _values):  # type: ignore[no-untyped-def]
    pca = importlib.import_module("process_improve.multivariate.methods").PCA
    found = pca.parallel_analysis(table, scale=False, surrogate="permutation", random_state=0, n_simulations=100)
    return found.n_components


def _ekf(module, table, _centred, _values):  # type: ignore[no-untyped-def]
    import pandas as pd

    pca = importlib.import_module("process_improve.multivariate.methods").PCA
    found = pca.select_n_components(pd.DataFrame(table), max_components=8, random_state=0)
    return found.n_components


def _plain_edge(_module, _table, centred, values):  # type: ignore[no-untyped-def]
    """Deterministic parallel analysis without deflation and without the quantile."""
    rows = len(centred) - 1
    return (values**2 / rows > upper_edge((centred**2).sum(axis=0) / rows, rows)).sum()


def _shares(_module, table, _centred, _values):  # type: ignore[no-untyped-def]
    from sklearn.decomposition import PCA

    return PCA(0.9).fit(table).n_components_


_PEERS: dict[str, Callable[..., int]] = {
    "variance: scikit-learn 0.9": _shares,
    "elbow: kneed scree": _kneed,
    "elbow: kneed cumulative": _kneed_cumulative,
    "permutation: process-improve": _parallel,
    "deterministic: plain edge": _plain_edge,
    "unknown_noise: optht": lambda module, _t, centred, values: module.optht(
        min(centred.shape) / max(centred.shape), values
    ),
    "screenot: screenot": _screenot,
    "minka: scikit-learn mle": _mle,
    "cells: process-improve ekf": _ekf,
}


STUDY = ("null", "strong", "weak", "null unequal", "strong unequal", "strong correlated")
STUDIED = {(40, 5): 3, (60, 12): 5, (100, 20): 8, (15, 30): 3, (30, 100): 6, (200, 40): 12, (150, 100): 12}
"""Shape -> largest planted rank."""


def family(kind: str, index: int, seed: int) -> tuple[np.ndarray, int]:
    """(table, its number of components): strong is 1.4 to 3 times the largest singular value of the noise.

    Weak is 1.35 to 1.75 (rows columns)^(1/4), where 1 is the limit of what can be told from white noise at all.
    """
    rng = np.random.default_rng([seed, index])
    (rows, columns), most = list(STUDIED.items())[index % len(STUDIED)]
    rank = 0 if "null" in kind else int(rng.integers(1, (3 if kind == "weak" else most) + 1))
    noise = rng.standard_normal((rows, columns))
    if "unequal" in kind:
        noise *= rng.uniform(0.5, 2.0, (rows, 1)) * rng.uniform(0.5, 2.0, columns)
    elif "correlated" in kind:
        near = 0.5 ** np.abs(np.subtract.outer(np.arange(columns), np.arange(columns)))
        noise = noise @ np.linalg.cholesky(near).T
    left, right = rng.standard_normal((rows, rank)), rng.standard_normal((columns, rank))
    left, right = np.linalg.qr(left - left.mean(axis=0))[0], np.linalg.qr(right)[0]
    if kind == "weak":
        strength = rng.uniform(1.35, 1.75, rank) * (rows * columns) ** 0.25
    else:
        strength = rng.uniform(1.4, 3.0, rank) * np.linalg.norm(noise - noise.mean(axis=0), 2)
    return (left * strength) @ right.T + noise + rng.normal(0, 3, columns), rank


def study(tables: int, seed: int) -> None:
    """Rates of the verdict, the two sequential tests, the gap and `quick` on each family."""
    from scipy import sparse

    print(f"{'family':<20}{'verdict':>9}{'sign flips':>12}{'permuted':>10}{'gap':>7}{'quick':>7}{'CSR = dense':>13}")
    for kind in STUDY:
        hits, same = np.zeros(5), 0
        for index in range(tables):
            table, rank = family(kind, index, seed)
            choice = ek.choose_rank(table, ["sign_flip", "permutation", "gap"])
            said = [choice.k, *(choice[rule].k for rule in ("sign_flip", "permutation", "gap"))]
            hits += [k == rank for k in [*said, ek.choose_rank(table, "quick").k]]
            if index % 10 == 0:
                rare = np.where(np.abs(table) < 1.0, 0.0, table)
                pair = [
                    ek.choose_rank(data, ["sign_flip", "permutation", "gap"]) for data in (rare, sparse.csr_array(rare))
                ]
                same += [v.k for v in pair[0].verdicts] == [v.k for v in pair[1].verdicts]
        rates = 100 * hits / tables
        print(f"{kind:<20}{rates[0]:>9.1f}{rates[1]:>12.1f}{rates[2]:>10.1f}{rates[3]:>7.1f}{rates[4]:>7.1f}"
              f"{same:>9} / {-(-tables // 10)}", flush=True)  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", type=int, default=200)
    parser.add_argument("--without", nargs="*", default=[], help="peers to leave out, such as ekf, which is slow")
    parser.add_argument("--study", action="store_true", help="rates of the verdict on planted ranks")
    parser.add_argument("--seed", type=int, default=100, help="of the study")
    arguments = parser.parse_args()
    if arguments.study:
        study(arguments.tables, arguments.seed)
        return
    for name in list(_PEERS):
        if any(word in name for word in arguments.without):
            del _PEERS[name]
    hits: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    said: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    seconds: dict[str, float] = defaultdict(float)
    for index in range(arguments.tables):
        kind = KINDS[(index // len(SHAPES)) % len(KINDS)]
        table, rank = planted(kind, index)
        start = time.perf_counter()
        choice = ek.choose_rank(table, most=min(15, min(table.shape) - 2))
        seconds["eckart, all rules"] += time.perf_counter() - start
        answers = {f"{verdict.rule}: eckart": -1 if verdict.k is None else verdict.k for verdict in choice.verdicts}
        answers["all together: eckart"] = -1 if choice.k is None else choice.k
        start = time.perf_counter()
        answers |= peers(table)
        seconds["peers"] += time.perf_counter() - start
        for name, k in answers.items():
            said[name][kind] += 1
            hits[name][kind] += k == rank
    print(f"{'rule: who':<32}{'all':>9}" + "".join(f"{kind:>17}" for kind in KINDS))
    for name in sorted(hits):
        cells = "".join(f"{hits[name][kind]:>11} / {said[name][kind]:<3}" for kind in KINDS)
        print(f"{name:<32}{sum(hits[name].values()):>9}{cells}")
    print({name: round(value, 1) for name, value in seconds.items()})


if __name__ == "__main__":
    main()
