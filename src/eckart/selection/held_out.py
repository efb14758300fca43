"""One score for all held-out rows from the scores of the folds.

Most scores are means over rows, and so is the mean of the folds. R^2 = 1 - SSE / SST is not: SST, the sum of squares
about the mean of the fold, has a reciprocal whose expectation is too large in small folds. For a prediction that is no
better than the mean, folds of m normal rows give R^2 of 1 / (m - 3) less on average than many new rows do: 0.06 with 20
rows, 0.14 with 10. The errors of all folds are therefore added and compared with the variance of all rows,

R^2 = 1 - (sum of SSE / n) / (sum of (y - mean)^2 / (n - 1))

(Hawinkel, Waegeman and Maere, "Out-of-sample R2: estimation and inference", The American Statistician 78, 2024). The
errors follow from the scores of the folds: SSE = (1 - R^2) SST.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.metrics import r2_score
from sklearn.pipeline import Pipeline


def is_r2(estimator: Any, scorer: Callable[..., float]) -> bool:
    """Whether the scores are R^2: the scorer of this name, or the `score` that regressors inherit."""
    function = getattr(scorer, "_score_func", None)
    if function is not None:
        return function is r2_score and not getattr(scorer, "_kwargs", {})
    if type(scorer).__name__ != "_PassthroughScorer":
        return False
    while isinstance(estimator, Pipeline):
        estimator = estimator.steps[-1][1]
    return getattr(type(estimator), "score", None) is RegressorMixin.score


def pooled_r2(scores: np.ndarray, y: np.ndarray, splits: Sequence[tuple[np.ndarray, np.ndarray]]) -> float:
    """R^2 of all held-out rows; the mean of the folds if these do not determine the errors."""
    tests = [np.asarray(y[test], dtype=np.float64) for _, test in splits]
    sums = np.array([np.sum((part - part.mean()) ** 2) if part.ndim == 1 else 0.0 for part in tests])
    if not np.all(sums > 0.0):  # several targets, or folds whose targets are all equal
        return float(scores.mean())
    rows = np.concatenate(tests)
    error = float(np.sum((1.0 - scores) * sums)) / len(rows)
    return 1.0 - error / float(np.var(rows, ddof=1))
