"""Scores of searches for columns on pure noise, against the score on fresh rows."""

from __future__ import annotations

import warnings

import numpy as np

import eckart as ek
from benchmarks.statistics.part import Cell, Outcome, Part
from eckart.warning_classes import DataWarning

CODES = {"integers": (0, 1), "text": ("no", "yes"), "booleans": (False, True)}


def one(cell: Cell, rng: np.random.Generator) -> Outcome:
    from sklearn.linear_model import LinearRegression
    from sklearn.naive_bayes import GaussianNB

    name, code = cell
    X, others = rng.standard_normal((100, 12)), rng.standard_normal((2000, 12))
    if code == "numbers":  # the score is R^2
        judge, y, target = LinearRegression(), rng.standard_normal(100), rng.standard_normal(2000)
    else:
        names = np.array(CODES[str(code)])
        judge, y, target = GaussianNB(), names[rng.permutation(np.arange(100) % 2)], names[np.arange(2000) % 2]
    options = {"cv": 5, "nested": True}
    if name == "RandomSubsetSearch":
        options |= {"n_iter": 50, "random_state": int(rng.integers(2**31))}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)  # that nothing predicts noise
        search = getattr(ek, str(name))(judge, **options).fit(X, y)
    fresh = judge.fit(search.transform(X), y).score(search.transform(others), target)
    return [search.best_score_, search.nested_score_, fresh, search.nested_score_ - fresh]


PART = Part(
    ("search", "target"),
    ("best", "nested", "fresh", "nested - fresh"),
    tuple((name, code) for name in ("BackwardElimination", "RandomSubsetSearch") for code in (*CODES, "numbers")),
    one,
    lambda _: 100,
    lambda _: {"nested - fresh": (-0.03, 0.03)},
)
