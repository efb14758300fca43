"""Models that judge sets of columns where the user names none."""

from __future__ import annotations

from typing import Any

from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import get_scorer_names
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

JUDGES = ("linear", "forest")


def scorer_names() -> list[str]:
    """The scorers that scikit-learn knows by name."""
    return list(get_scorer_names())


def judge(name: str, *, classes: bool, sparse: bool = False) -> Any:
    """Of "linear": logistic regression or ridge on columns of unit spread; of "forest": 100 trees, seed fixed."""
    if name == "forest":
        kind = RandomForestClassifier if classes else RandomForestRegressor
        return kind(n_estimators=100, random_state=0)
    model = LogisticRegression(max_iter=1000) if classes else Ridge()
    return make_pipeline(StandardScaler(with_mean=not sparse), model)
