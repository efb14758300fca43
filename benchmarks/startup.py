"""Import and first call, each in a fresh process with empty compile caches."""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass

from benchmarks.session import ENVIRONMENT

SMALL = "import numpy as np; x = np.random.default_rng(0).standard_normal((200, 8))"
SPARSE = "import scipy.sparse as sp; x = sp.random_array((2000, 1500), density=.02, format='csr', rng=0)"

STATEMENTS = {
    "import numpy": ("", "import numpy"),
    "import eckart, above numpy": ("import numpy", "import eckart"),
    "first small dense fit, eckart": (SMALL, "import eckart; eckart.PCA(2).fit(x)"),
    "first small dense fit, scikit-learn": (SMALL, "from sklearn.decomposition import PCA; PCA(2).fit(x)"),
    "first small sparse fit, eckart": (SPARSE, "import eckart; eckart.TruncatedSVD(5).fit(x)"),
    "first small sparse fit, scikit-learn": (
        SPARSE,
        "from sklearn.decomposition import TruncatedSVD as T; T(5).fit(x)",
    ),
}


@dataclass(frozen=True)
class Start:
    what: str
    seconds: float
    note: str = ""


def measure(repeats: int) -> list[Start]:
    """Medians, interleaved."""
    seen: dict[str, list[float]] = {what: [] for what in STATEMENTS}
    notes: dict[str, str] = {}
    for _ in range(repeats):
        for what, (setup, statement) in STATEMENTS.items():
            try:
                seen[what].append(once(setup, statement))
            except subprocess.CalledProcessError as failure:
                notes[what] = failure.stderr.strip().splitlines()[-1]
    return [
        Start(what, statistics.median(times or [float("nan")]), notes.get(what, "")) for what, times in seen.items()
    ]


def once(setup: str, statement: str) -> float:
    code = f"{setup}\nimport time; start = time.perf_counter()\n{statement}\nprint(time.perf_counter() - start)"
    with tempfile.TemporaryDirectory() as cache:
        environment = {**ENVIRONMENT, "NUMBA_CACHE_DIR": cache}
        command = [sys.executable, "-c", code]
        done = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
    return float(done.stdout)
