"""Default models for scoring sets of columns."""

from __future__ import annotations

from typing import Any

from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import get_scorer_names
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler


def scorer_names() -> list[str]:
    """The scorers that scikit-learn knows by name."""
    return list(get_scorer_names())


def judge(name: str, *, classes: bool, sparse: bool = False) -> Any:
    """The model for "linear": logistic regression or ridge on standardised columns.

    For "forest": 100 trees with a fixed seed.
    """
    if name == "forest":
        kind = RandomForestClassifier if classes else RandomForestRegressor
        return kind(n_estimators=100, random_state=0)
    model = LogisticRegression(max_iter=1000) if classes else Ridge()
    return make_pipeline(StandardScaler(with_mean=not sparse), model)
