"""How often each rule finds the planted number of components: python -m benchmarks.rank

The rules against what can be installed, on
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
from eckart.rank.edge import upper_edge

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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", type=int, default=200)
    parser.add_argument("--without", nargs="*", default=[], help="peers to leave out, such as ekf, which is slow")
    arguments = parser.parse_args()
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
