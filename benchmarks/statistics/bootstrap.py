"""Coverage of 95 % intervals of loadings and shares, and how often a sign called sure is right."""

from __future__ import annotations

import numpy as np

import eckart as ek
from benchmarks.statistics.part import Cell, Outcome, Part
from eckart.analysis.alignment import rotated_groups

CASES: dict[str, tuple[float, ...]] = {
    "clear": (4, 2, 1, 0.5, 0.4),
    "close": (2, 1.9, 0.8, 0.5, 0.3),
    "three close": (2, 1.95, 1.9, 0.4, 0.3),
    "gradual": tuple(0.8**k for k in range(8)),
    "flat noise": (3, 2, *[1] * 8),
}
"""Standard deviations of the components."""
COUNTS = {"three close": 3, "gradual": 3}
"""Requested components, if not 2."""
COVERED = ("loadings", "of the first", "of the last", "shares", "first share", "last share")


def one(cell: Cell, rng: np.random.Generator) -> Outcome:
    name, rows, tails = cell
    deviations = CASES[str(name)]
    k, columns = COUNTS.get(str(name), 2), len(deviations)
    basis = np.linalg.qr(rng.standard_normal((columns, columns)))[0]
    drawn = rng.standard_normal((rows, columns)) if tails == "normal" else rng.standard_t(5, (rows, columns))
    data = (drawn * deviations) @ basis.T
    found = ek.bootstrap(data, k=k, rng=int(rng.integers(2**31)))
    fit = np.asarray(found.decomposition.right)
    truth = basis[:, :k] * np.sign((basis[:, :k] * fit).sum(axis=0))
    truth = rotated_groups(fit, truth, found.groups).T.ravel()
    lines = found.loadings().rows
    low, high = np.array([line[3:5] for line in lines], dtype=float).T
    called = np.array([line[5] == "sure" for line in lines])
    right = (np.sign(truth) == np.sign(fit.T.ravel()))[called]
    variances = np.square(deviations)
    shares = variances[:k] / variances.sum()
    lowest, highest = np.array([line[2:4] for line in found.components().rows], dtype=float).T
    covered = (lowest <= shares) & (shares <= highest)
    inside = ((low <= truth) & (truth <= high)).reshape(k, columns).mean(axis=1)
    return [
        float(inside.mean()),
        float(inside[0]),
        float(inside[-1]),
        float(covered.mean()),
        float(covered[0]),
        float(covered[-1]),
        float(right.mean()) if right.size else np.nan,
        float(called.mean()),
    ]


PART = Part(
    ("components", "rows", "scores"),
    (
        "loadings",
        "of the first",
        "of the last",
        "shares",
        "first share",
        "last share",
        "sure signs right",
        "signs sure",
    ),
    tuple((name, rows, tails) for tails in ("normal", "t5") for rows in (50, 200, 20) for name in CASES),
    one,
    lambda _: 200,
    lambda _: dict.fromkeys(COVERED, (0.92, 0.98)) | {"sure signs right": (0.99, 1.0)},
)
