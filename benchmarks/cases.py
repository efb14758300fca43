"""What is called, and on what: one entry per row of the ratio map."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Case:
    estimator: str
    call: str
    kind: str
    """A function of the family modules."""
    rows: int
    columns: int
    dtype: str = "f8"
    options: dict[str, Any] = field(default_factory=dict)
    """Parameters that are given to every library; the others keep their defaults."""

    @property
    def size(self) -> str:
        """tiny, small, medium or large, by the number of entries (of pairs of rows, for methods on distances)."""
        entries = self.rows**2 if self.estimator in ("KernelPCA", "Isomap") else self.rows * self.columns
        limits = (("tiny", 5e3), ("small", 1e5), ("medium", 3e6), ("large", np.inf))
        return next(name for name, most in limits if entries <= most)

    @property
    def name(self) -> str:
        given = ", ".join(f"{value}" for value in self.options.values())
        return f"{self.estimator}({given}).{self.call} {self.kind} {self.rows}x{self.columns} {self.dtype}"


def cases() -> list[Case]:
    """Every row, from the tiny to the large."""
    found = [*_pca(), *_incremental(), *_sparse(), *_nmf(), *_distances(), *_selection(), *_streamed()]
    order = ("tiny", "small", "medium", "large")
    return sorted(found, key=lambda case: order.index(case.size))


_DENSE = (
    (100, 5, 2), (150, 4, 2), (500, 30, 5), (800, 25, 5), (200, 300, 10), (2000, 100, 10), (3000, 80, 10),
    (1000, 1000, 10), (20_000, 50, 10), (30_000, 40, 8), (5000, 500, 20), (6000, 400, 20), (1500, 4000, 50),
    (400, 20_000, 10), (100_000, 100, 20), (20_000, 1000, 30), (4000, 4000, 30),
)  # fmt: skip


def _pca() -> Iterator[Case]:
    for rows, columns, k in _DENSE:
        for dtype in ("f8", "f4"):
            chosen = {"n_components": k}
            yield Case("PCA", "fit", "decaying", rows, columns, dtype, chosen)
            yield Case("PCA", "fit_transform", "decaying", rows, columns, dtype, chosen)
            yield Case("PCA", "transform", "decaying", rows, columns, dtype, chosen)
            if dtype == "f8" or rows * columns <= 1e6:
                yield Case("PCA", "inverse_transform", "decaying", rows, columns, dtype, chosen)
            if rows * columns <= 6e6:
                yield Case("PCA", "fit", "flat", rows, columns, dtype, chosen)
                yield Case("PCA", "fit", "offset", rows, columns, dtype, chosen)
    yield Case("PCA", "transform", "offset", 3000, 80, "f4", {"n_components": 10})
    for rows, columns in ((100, 5), (500, 30), (2000, 100), (20_000, 50), (5000, 500), (300, 1000)):
        yield Case("PCA", "fit", "decaying", rows, columns)
        yield Case("PCA", "fit_transform", "decaying", rows, columns)


def _incremental() -> Iterator[Case]:
    for rows, columns, k in ((150, 4, 2), (2000, 50, 5), (20_000, 100, 10)):
        for call in ("fit", "partial_fit", "transform", "inverse_transform"):
            yield Case("IncrementalPCA", call, "decaying", rows, columns, "f8", {"n_components": k})


def _sparse() -> Iterator[Case]:
    yield Case("TruncatedSVD", "fit", "decaying", 500, 30)
    yield Case("TruncatedSVD", "fit", "decaying", 3000, 200, "f8", {"n_components": 10})
    for rows, columns, chosen in ((300, 200, {}), (2000, 1000, {}), (20_000, 5000, {"n_components": 20})):
        for call in ("fit", "fit_transform", "transform", "inverse_transform"):
            if call != "inverse_transform" or rows <= 2000:
                yield Case("TruncatedSVD", call, "text", rows, columns, "f8", chosen)
    for kind, rows, columns in (("text", 200_000, 30_000), ("uniform", 50_000, 10_000), ("blocks", 100_000, 20_000)):
        yield Case("TruncatedSVD", "fit", kind, rows, columns, "f4", {"n_components": 50})
        yield Case("PCA", "fit", kind, rows, columns, "f4", {"n_components": 50})


def _nmf() -> Iterator[Case]:
    kl = {"beta_loss": "kullback-leibler", "solver": "mu"}
    tables = (("parts", 200, 20, 4), ("parts", 1500, 300, 12), ("positive", 2000, 100, 10), ("counts", 3000, 600, 10),
              ("parts", 20_000, 100, 8), ("text", 10_000, 3000, 15))  # fmt: skip
    for kind, rows, columns, k in tables:
        for loss in ({}, kl):
            for call in ("fit_transform", "transform", "to_loss"):
                yield Case("NMF", call, kind, rows, columns, "f8", {"n_components": k, **loss})
        yield Case("NMF", "inverse_transform", kind, rows, columns, "f8", {"n_components": k})
    yield Case("NMF", "partial_fit", "parts", 1500, 300, "f8", {"n_components": 12})


def _distances() -> Iterator[Case]:
    for rows in (100, 200, 1000, 4000):
        for call in ("fit", "fit_transform", "transform"):
            yield Case("KernelPCA", call, "curved", rows, 10, "f8", {"n_components": 5, "kernel": "rbf"})
    yield Case("KernelPCA", "fit", "curved", 200, 10)
    backward = {"n_components": 5, "kernel": "rbf", "fit_inverse_transform": True}
    yield Case("KernelPCA", "inverse_transform", "curved", 1000, 10, "f8", backward)
    for rows in (100, 200, 1000, 3000):
        for call in ("fit", "fit_transform", "transform"):
            yield Case("Isomap", call, "curved", rows, 5)


def _selection() -> Iterator[Case]:
    yield Case("BackwardElimination", "fit", "decaying", 300, 12, "f8", {"n_features_to_select": 9})


def _streamed() -> Iterator[Case]:
    yield Case("PCA", "fit_file", "offset", 1_000_000, 750, "f4", {"n_components": 30})
