"""Scores of searches for columns on pure noise, against the score on fresh rows."""

from __future__ import annotations

import warnings

import numpy as np

import eckart as ek
from benchmarks.statistics.part import Cell, Outcome, Part
from eckart.warning_classes import DataWarning

CODES = {"integers": (0, 1), "text": ("no", "yes"), "booleans": (False, True)}


def one(cell: Cell, rng: np.random.Generator) -> Outcome:
    from sklearn.naive_bayes import GaussianNB

    name, code = cell
    names = np.array(CODES[str(code)])
    X, y = rng.standard_normal((100, 12)), names[rng.permutation(np.arange(100) % 2)]
    options = {"cv": 5, "nested": True}
    if name == "RandomSubsetSearch":
        options |= {"n_iter": 50, "random_state": int(rng.integers(2**31))}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)  # that nothing predicts noise
        search = getattr(ek, str(name))(GaussianNB(), **options).fit(X, y)
    model = GaussianNB().fit(search.transform(X), y)
    fresh = model.score(
        search.transform(rng.standard_normal((2000, 12))), np.array(CODES[str(code)])[np.arange(2000) % 2]
    )
    return [search.best_score_, search.nested_score_, fresh, search.nested_score_ - fresh]


PART = Part(
    ("search", "classes"),
    ("best", "nested", "fresh", "nested - fresh"),
    tuple((name, code) for name in ("BackwardElimination", "RandomSubsetSearch") for code in CODES),
    one,
    lambda _: 100,
    lambda _: {"nested - fresh": (-0.03, 0.03)},
)
