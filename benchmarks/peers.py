"""By whom: each peer turns data and k into singular values."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

OURS = "eckart"
BARE = "bare Gram"


@dataclass(frozen=True)
class Peer:
    name: str
    package: str
    """What is imported before the clock starts."""
    fit: Callable[[Any, Any, int | float], Any]
    """(package, data, k) -> singular values."""
    methods: tuple[str, ...] = ("pca",)
    sparse: bool = False
    share: bool = False
    """Takes a share of variance as k."""

    def applies(self, method: str, *, sparse: bool, share: bool) -> bool:
        return method in self.methods and (self.sparse or not sparse) and (self.share or not share)

    def load(self) -> Any:
        return importlib.import_module(self.package)


def pca(name: str, package: str, *, sparse: bool = False, share: bool = False, **options: Any) -> Peer:
    return Peer(name, package, lambda m, x, k: m.PCA(k, **options).fit(x).singular_values_, sparse=sparse, share=share)


def svd(name: str, package: str, **options: Any) -> Peer:
    def fit(module: Any, data: Any, k: int | float) -> Any:
        return module.TruncatedSVD(k, **options).fit(data).singular_values_

    return Peer(name, package, fit, methods=("svd",), sparse=True)


def fbpca(n_iter: int) -> tuple[Peer, Peer]:
    def fit(module: Any, data: Any, k: int | float, *, raw: bool) -> Any:
        return module.pca(data, k, raw=raw, n_iter=n_iter)[1]

    name = f"fbpca n_iter={n_iter}"
    return (
        Peer(name, "fbpca", lambda m, x, k: fit(m, x, k, raw=False), sparse=True),
        Peer(name, "fbpca", lambda m, x, k: fit(m, x, k, raw=True), methods=("svd",), sparse=True),
    )


SKLEARN, INTEL = "sklearn.decomposition", "sklearnex.decomposition"

PEERS = (
    pca(OURS, "eckart.estimators", sparse=True, share=True),
    svd(OURS, "eckart.estimators"),
    pca("sklearn auto", SKLEARN, share=True, random_state=0),
    pca("sklearn full", SKLEARN, share=True, svd_solver="full"),
    pca("sklearn covariance_eigh", SKLEARN, sparse=True, share=True, svd_solver="covariance_eigh"),
    pca("sklearn arpack", SKLEARN, sparse=True, svd_solver="arpack", random_state=0),
    pca("sklearn randomized", SKLEARN, svd_solver="randomized", random_state=0),
    pca("sklearn randomized 15", SKLEARN, svd_solver="randomized", iterated_power=15, random_state=0),
    svd("sklearn arpack", SKLEARN, algorithm="arpack", random_state=0),
    svd("sklearn randomized", SKLEARN, random_state=0),
    svd("sklearn randomized 20", SKLEARN, n_iter=20, random_state=0),
    pca("sklearnex auto", INTEL, share=True, random_state=0),
    pca("sklearnex covariance_eigh", INTEL, share=True, svd_solver="covariance_eigh"),
    *fbpca(2),
    *fbpca(10),
    Peer(BARE, "numpy", lambda _, x, k: (x.T @ x)[:0, 0], methods=("bare",)),
)


def find(name: str, method: str) -> Peer:
    return next(peer for peer in PEERS if peer.name == name and method in peer.methods)
