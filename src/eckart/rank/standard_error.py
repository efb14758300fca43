"""The one-standard-error rule: the smallest of the models about as good as the best."""

from __future__ import annotations

import numpy as np


def fewest_as_good(errors: np.ndarray) -> int:
    """The smallest k (row) that is not worse than the best by more than the standard error of the difference.

    Examples
    --------
    >>> fewest_as_good(np.array([[9.0, 9.5], [1.0, 1.3], [1.1, 1.1]]))
    1
    """
    best = int(np.argmin(errors.mean(axis=1)))
    difference = errors - errors[best]
    slack = difference.std(axis=1, ddof=1) / errors.shape[1] ** 0.5
    return int(np.argmax(difference.mean(axis=1) <= slack))


def fewest_not_worse(errors: np.ndarray, level: float = 0.95, *, overlap: float = 0.0) -> int:
    """The smallest k (row) that a paired t-test of the logarithms does not find worse than the best.

    Errors of different parts (columns) may differ by orders of magnitude, but their ratios do not. `overlap` is the
    ratio of held-out entries to the others if the parts come from several splits of the same table. It is added to the
    variance of the mean (the corrected resampled test of Nadeau and Bengio, 2003).

    Examples
    --------
    >>> fewest_not_worse(np.array([[9.0, 9.5, 90], [1.0, 1.3, 11], [1.1, 1.1, 10]]))
    1
    """
    from scipy.special import stdtrit

    logarithms = np.log(np.maximum(errors, 1e-300))
    count = errors.shape[1]
    difference = logarithms - logarithms[int(np.argmin(logarithms.mean(axis=1)))]
    slack = stdtrit(count - 1, level) * difference.std(axis=1, ddof=1) * (1.0 / count + overlap) ** 0.5
    return int(np.argmax(difference.mean(axis=1) <= slack))
