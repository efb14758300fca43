"""The first call of every estimator in a fresh process with an empty compile cache, less the second one."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass

_DENSE = "x = np.random.default_rng(0).random(({rows}, 8))"
_SPARSE = "x = sp.random_array(({rows}, 1500), density=.01, format='csr', rng=0)"
_WORKS = {
    "PCA dense": (_DENSE, "PCA(2).fit_transform(x)"),
    "PCA sparse": (_SPARSE, "PCA(3).fit_transform(x)"),
    "TruncatedSVD sparse": (_SPARSE, "TruncatedSVD(3).fit_transform(x)"),
    "IncrementalPCA": (_DENSE, "IncrementalPCA(2).fit(x)"),
    "NMF squares": (_DENSE, "NMF(3).fit_transform(x)"),
    "NMF squares sparse": (_SPARSE, "NMF(3).fit_transform(x)"),
    "NMF Kullback-Leibler": (_DENSE, "NMF(3, beta_loss='kullback-leibler').fit_transform(x)"),
    "NMF Kullback-Leibler sparse": (_SPARSE, "NMF(3, beta_loss='kullback-leibler').fit_transform(x)"),
    "KernelPCA": (_DENSE, "KernelPCA(3, kernel='rbf').fit_transform(x)"),
    "Isomap": (_DENSE, "Isomap().fit_transform(x)"),
}
_SIZES = {200: 1.0, 20_000: 4.0}
"""Rows, and the seconds that the first call may take over a warm one."""


@dataclass(frozen=True)
class FirstCall:
    name: str
    seconds: float
    aim: float


def measure(*, quick: bool) -> list[FirstCall]:
    """Every estimator on small data, and on 20,000 rows."""
    found = []
    for rows, aim in _SIZES.items():
        if quick and rows > 1000:
            continue
        for name, (data, work) in _WORKS.items():
            if rows <= 1000 or name != "Isomap":
                found.append(FirstCall(f"{name}, {rows:,} rows", _once(data.format(rows=rows), work), aim))
    return found


def _once(data: str, work: str) -> float:
    code = (
        "import time, warnings; warnings.simplefilter('ignore'); import numpy as np, scipy.sparse as sp\n"
        f"from eckart import *\nfrom eckart import PCA, TruncatedSVD, IncrementalPCA, NMF, KernelPCA, Isomap\n{data}\n"
        f"a = time.perf_counter(); {work}\nb = time.perf_counter(); {work}\nprint(2 * b - a - time.perf_counter())"
    )
    with tempfile.TemporaryDirectory() as cache:
        environment = {**os.environ, "NUMBA_CACHE_DIR": cache}
        done = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=False
        )
    return float(done.stdout.split()[-1]) if done.returncode == 0 else float("nan")
