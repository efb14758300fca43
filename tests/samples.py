"""Decompositions built from numpy's SVD, for tests of what is done with them afterwards."""

from __future__ import annotations

import csv
from dataclasses import fields, is_dataclass
from importlib.resources import files
from typing import Any

import numpy as np

from eckart.result import Certificate, Decomposition, Plan, SolveInfo, SVDDetails


def usarrests() -> tuple[np.ndarray, tuple[str, ...], tuple[str, ...]]:
    """50 states x (Murder, Assault, UrbanPop, Rape)."""
    text = (files("eckart.datasets") / "usarrests.csv").read_text(encoding="utf-8")
    header, *rows = csv.reader(text.splitlines())
    return np.array([row[1:] for row in rows], dtype=float), tuple(row[0] for row in rows), tuple(header[1:])


def built(
    data: np.ndarray, k: int, method: str = "pca", *, scale: bool = False, left: bool = True, **more: Any
) -> Decomposition:
    """PCA or SVD of a table, exact, with a certificate to match."""
    rows, columns = data.shape
    mean = data.mean(axis=0) if method == "pca" else None
    shifted = data if mean is None else data - mean
    spread = shifted.std(axis=0, ddof=1) if scale else None
    shifted = shifted if spread is None else shifted / spread
    u, s, vt = np.linalg.svd(shifted, full_matrices=False)
    vt = vt * np.sign(vt[np.arange(len(vt)), np.abs(vt).argmax(axis=1)])[:, None]
    u = shifted @ vt.T / np.where(s > 0, s, 1)
    norm = float(np.linalg.norm(shifted))
    share = float((s[:k] ** 2).sum() / norm**2) if norm else 0.0
    slack = 1e-14 * s[0]
    certificate = Certificate(
        explained=(share - 1e-14, min(share + 1e-14, 1.0)),
        lower=s[:k] - slack,
        upper=s[:k] + slack,
        residuals=np.full(k, 1e-15),
        angle=1e-13,
        rounding=1e-15,
        tolerance=1e-3,
        passes=1,
        summary=f"These {k} axes carry {100 * share:.2f} % of the variance; no {k} axes carry more.",
    )
    why = "The columns are few, so their cross-products fit in memory."
    plan = Plan(method, "gram", rows, columns, k, 1, 4096, why, {"tol": 1e-3})
    info = SolveInfo("gram", 1, seed=0, threads=2, history=((1, share, share),))
    given: dict[str, Any] = {
        "left": u[:, :k] if left else None, "mean": mean, "scale": spread, "rank": columns,
        "certificate": certificate, "plan": plan, "info": info, "details": SVDDetails(),
    } | more  # fmt: skip
    return Decomposition(method, s[:k], vt[:k].T, rows, columns, norm, float(rows), **given)


def arrests(k: int = 4, **more: Any) -> Decomposition:
    """The scaled PCA of USArrests."""
    data, row_names, column_names = usarrests()
    return built(data, k, scale=True, row_names=row_names, column_names=column_names, **more)


def same(first: Any, second: Any) -> bool:
    """Equal to the last bit, dtypes and types included."""
    if is_dataclass(first):
        pairs = [(getattr(first, f.name), getattr(second, f.name)) for f in fields(first)]  # reads both
        return type(first) is type(second) and all(same(*pair) for pair in pairs)
    if isinstance(first, np.ndarray):
        return first.dtype == second.dtype and first.shape == second.shape and first.tobytes() == second.tobytes()
    if isinstance(first, dict):
        return (
            type(first) is type(second) and list(first) == list(second) and same([*first.values()], [*second.values()])
        )
    if isinstance(first, tuple | list):
        return type(first) is type(second) and len(first) == len(second) and all(map(same, first, second))
    return type(first) is type(second) and (first == second or (first != first and second != second))
