"""By whom: each library's way of making one case's call."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from benchmarks.cases import Case

OURS, DEFAULT = "eckart", "scikit-learn"
_SKLEARN = {
    "PCA": "sklearn.decomposition", "IncrementalPCA": "sklearn.decomposition", "TruncatedSVD": "sklearn.decomposition",
    "KernelPCA": "sklearn.decomposition", "NMF": "sklearn.decomposition", "Isomap": "sklearn.manifold",
    "MiniBatchNMF": "sklearn.decomposition", "SequentialFeatureSelector": "sklearn.feature_selection",
}  # fmt: skip
_OTHER_NAMES = {"BackwardElimination": ("SequentialFeatureSelector", {"direction": "backward"})}


@dataclass(frozen=True)
class Peer:
    """One way to make the call of a case; `package` None is ours."""

    name: str
    package: str | None
    estimator: str = ""
    options: dict[str, Any] = field(default_factory=dict)
    """Parameters in addition to those of the case."""
    function: str = ""
    """A routine without an estimator."""

    @property
    def installed(self) -> bool:
        return self.package is None or importlib.util.find_spec(self.package.partition(".")[0]) is not None


def peers(case: Case) -> list[Peer]:
    """Ours, scikit-learn's default, and, for fits, everything that may be as accurate."""
    found = [Peer(OURS, None, case.estimator), _default(case)]
    if case.estimator == "PCA" and case.call == "fit" and isinstance(case.options.get("n_components"), int):
        sparse = case.kind in ("text", "uniform", "blocks")
        solvers = ["arpack"] if sparse else ["full", "covariance_eigh", "arpack"]
        if case.columns > 6000 or case.rows * case.columns**2 > 4e11:
            solvers = ["arpack"]
        found += [Peer(f"{DEFAULT} {name}", "sklearn.decomposition", "PCA", {"svd_solver": name}) for name in solvers]
        more = {"svd_solver": "randomized", "iterated_power": 15, "random_state": 0}
        found += [] if sparse else [Peer(f"{DEFAULT} randomized 15", "sklearn.decomposition", "PCA", more)]
        found += [] if sparse else [Peer("scikit-learn-intelex", "sklearnex.decomposition", "PCA")]
    if case.estimator == "TruncatedSVD" and case.call == "fit":
        found.append(Peer(f"{DEFAULT} arpack", "sklearn.decomposition", "TruncatedSVD", {"algorithm": "arpack"}))
        more = {"n_iter": 20, "random_state": 0}
        found.append(Peer(f"{DEFAULT} randomized 20", "sklearn.decomposition", "TruncatedSVD", more))
        found += [
            Peer(f"svds {name}", "scipy.sparse.linalg", function=name) for name in ("arpack", "propack", "lobpcg")
        ]
        found.append(Peer("primme", "primme", function="primme"))
    if case.estimator == "KernelPCA" and case.call == "fit":
        found.append(Peer(f"{DEFAULT} arpack", "sklearn.decomposition", "KernelPCA", {"eigen_solver": "arpack"}))
    return [peer for peer in found if peer.installed]


def _default(case: Case) -> Peer:
    if case.call == "fit_file":
        return Peer(DEFAULT, "sklearn.decomposition", "IncrementalPCA")
    if case.estimator == "NMF" and case.call == "partial_fit":
        return Peer(DEFAULT, "sklearn.decomposition", "MiniBatchNMF")
    name, more = _OTHER_NAMES.get(case.estimator, (case.estimator, {}))
    seeded = {"random_state": 0} if name in ("PCA", "TruncatedSVD", "NMF") else {}
    return Peer(DEFAULT, _SKLEARN[name], name, {**seeded, **more})


def make(peer: Peer, case: Case) -> Callable[[], Any]:
    """A maker of fresh estimators."""
    package = importlib.import_module(peer.package or "eckart")
    kind = getattr(package, peer.estimator)
    options = {**case.options, **peer.options}
    if peer.package is None:
        options.pop("solver", None)
    if case.estimator == "BackwardElimination":
        from sklearn.linear_model import LogisticRegression

        return lambda: kind(LogisticRegression(max_iter=1000), **options)
    return lambda: kind(**options)


def routine(peer: Peer, case: Case, data: Any) -> Callable[[], Any]:
    """A call of SciPy's or PRIMME's own function for the leading singular triplets; gives V^T."""
    k = int(case.options.get("n_components", 2))
    if peer.function == "primme":
        module = importlib.import_module("primme")
        return lambda: module.svds(data, k, tol=1e-6)[2]
    linalg = importlib.import_module("scipy.sparse.linalg")
    return lambda: linalg.svds(data, k, solver=peer.function, rng=np.random.default_rng(0))[2]
