"""Statements of NMF against its returned factors, multiplied out in long double, and a float64 SVD."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

import eckart as ek
from benchmarks.bounds.tables import table
from eckart.errors import InputError, ParameterError

ALLOWED = 5e-14


@dataclass(frozen=True)
class Case:
    data: Any
    dense: np.ndarray
    options: dict[str, Any]
    metadata: str


def case(seed: int, most: int = 120) -> Case:
    rng = np.random.default_rng([seed, 4])
    dense, metadata = table(rng, most)
    dense = np.abs(dense)
    if rng.random() < 0.4:
        dense = np.where(rng.random(dense.shape) < 0.5, dense, 0).astype(dense.dtype)
    options: dict[str, Any] = {
        "k": int(rng.integers(1, min(dense.shape) + 1)),
        "beta_loss": rng.choice(["frobenius", "frobenius", "kullback-leibler"]).item(),
        "solver": str(rng.choice(["auto", "auto", "cd", "mu"])),
        "max_iter": int(rng.choice([5, 50, 200])),
        "rng": int(rng.integers(1000)),
    }
    if options["solver"] == "cd":
        options["beta_loss"] = "frobenius"
    thin = rng.random() < 0.3
    return Case(
        sparse.csr_array(dense) if thin else dense, dense, options,
        f"{metadata}{', sparse' if thin else ''}, " + ", ".join(f"{a}={b}" for a, b in options.items()),
    )  # fmt: skip


def false_statements(given: Case) -> list[str] | None:
    options = {**given.options}
    k, rng = options.pop("k"), options.pop("rng")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = ek.NMF(n_components=k, random_state=rng, **options)
            W = model.fit_transform(given.data)
    except (InputError, ParameterError):
        return None
    exact = given.dense.astype(np.longdouble)
    fitted = np.asarray(W, np.longdouble) @ np.asarray(model.components_, np.longdouble)
    norm2 = float(np.sum(exact * exact))
    if options["beta_loss"] == "frobenius":
        loss = 0.5 * float(np.sum((exact - fitted) ** 2))
    else:
        positive = exact > 0
        with np.errstate(divide="ignore"):
            # W H counts as 1e-12 of the mean entry or more where the data are positive.
            floor = 1e-12 * float(exact[positive].mean()) if positive.any() else 1e-12
            shown = np.where(positive, np.maximum(fitted, floor), fitted)
            logs = np.where(positive, exact * np.log(np.where(positive, exact, 1) / np.where(positive, shown, 1)), 0)
        loss = float(np.sum(logs - exact + shown))
    stated = model.reconstruction_err_
    root, size = float(np.sqrt(2 * max(loss, 0.0))), float(np.sqrt(norm2)) or 1.0
    off = model.decomposition_.details.error_rounding
    excess = {"error": (abs(stated - root) - off) / size}
    if root > 1e-2 * size:
        excess["error is rounding"] = off / root - (1e-4 if given.dense.dtype == np.float32 else 1e-6)
    c = model.certificate_
    if c is not None and norm2:
        values = np.linalg.svd(given.dense.astype(np.float64), compute_uv=False) ** 2
        excess["captured"] = c.explained[0] - (1 - 2 * loss / norm2)
        excess["best captured"] = float(values[:k].sum()) / norm2 - c.explained[1]
        if len(c.lower):
            excess["lower value"] = float(np.max(c.lower**2 - values[: len(c.lower)])) / values[0]
            excess["upper value"] = float(np.max(values[: len(c.upper)] - c.upper**2)) / values[0]
    if np.any(np.asarray(W) < 0) or np.any(np.asarray(model.components_) < 0):
        excess["negative"] = 1.0
    return [f"{name} by {by:.1e}" for name, by in excess.items() if not by <= ALLOWED]
