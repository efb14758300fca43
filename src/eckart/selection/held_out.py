"""One score for all held-out rows from the scores of the folds.

Most scores are means over rows, and so is the mean of the folds. R^2 = 1 - SSE / SST is not: SST, the sum of squares
about the mean of the fold, has a reciprocal whose expectation is too large in small folds. For a prediction that is no
better than the mean, folds of m normal rows give R^2 of 1 / (m - 3) less on average than many new rows do: 0.06 with 20
rows, 0.14 with 10. The errors of all folds are therefore added and compared with the variance of all rows,

R^2 = 1 - (sum of SSE / n) / (sum of (y - mean)^2 / (n - 1))

The numerator is unbiased for the squared error E (y - prediction)^2 of models of the folds' training rows, and the
denominator for var(y). Their quotient is nearly unbiased as well: for the prediction mu = E y, n normal rows give

sum of SSE = sum of (y - mu)^2 = S + n (mean - mu)^2, S = sum of (y - mean)^2,

where S / var(y) is chi^2 distributed with n - 1 degrees of freedom and independent of the mean, and E 1 / S = 1 /
((n - 3) var(y)). The expected R^2 is 1 - (n - 1) / n (1 + 1 / (n - 3)) = -2 / (n (n - 3)) instead of 0: -0.0008 with
50 rows. (In one fold of m rows, SSE / SST has the expectation 1 + 1 / (m - 3), which is the first result.) The
denominator of Hawinkel, Waegeman and Maere (2024, doi:10.1080/00031305.2023.2216252) is larger by the factor 1 + 1 / n,
the squared error of a mean that is estimated from n rows. R^2 of many new rows compares with their own mean, and so
does this one.

The errors follow from the scores of the folds: SSE = (1 - R^2) SST.
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
