"""What every solver gives back: eigenpairs of B^T B on its short side, with bounds."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from eckart.arrays import Array


@dataclass(frozen=True)
class Request:
    """What is asked of a solver."""

    k: int | None
    share: float | None = None
    smallest: bool = False
    tolerance: float = 1e-9
    """Accuracy of each wanted squared singular value, relative to the last of them."""
    failure_probability: float = 1e-6
    max_reads: int = 200


@dataclass(frozen=True)
class Solution:
    """Squared singular values and vectors of the short side; `lower` and `upper` may hold one value more than k."""

    solver: str
    values: np.ndarray
    vectors: Array
    lower: np.ndarray
    upper: np.ndarray
    residuals: np.ndarray
    """||B^T B v - l v|| for each pair."""
    long_vectors: Array | None = None
    spectrum: np.ndarray | None = None
    """All squared singular values of the short side, where they were computed."""
    proved: bool = True
    settled: bool = True
    failure_probability: float = 0.0
    rounding: float = 0.0
    """Allowance for rounding in one squared singular value, contained in the bounds."""
    crowding: float = 0.0
    """The same for the sum of them, where near neighbours are all moved one way."""
    cancelling: float = 0.0
    """What the sum of the upper bounds allows for too much, because errors of many values cancel."""
    steps: int = 0
    block: int = 0
    basis: int = 0
    restarts: int = 0
    precision: str = "float64"
    history: tuple[tuple[int, float, float], ...] = field(default=())


def count_for(spectrum: np.ndarray, total: float, request: Request) -> int:
    """k as asked, or the smallest k that holds the share of the total."""
    if request.k is not None:
        return request.k
    if total <= 0.0:
        return 1
    held = np.cumsum(spectrum) / total
    share = min(request.share or 1.0, float(held[-1]))
    return int(np.searchsorted(held, share * (1.0 - 4 * np.finfo(float).eps), side="left")) + 1


def pick(spectrum: np.ndarray, k: int, *, smallest: bool) -> np.ndarray:
    """Indices of the wanted values of a falling spectrum: the first k, or the last k in rising order."""
    size = len(spectrum)
    return np.arange(size - 1, size - 1 - k, -1) if smallest else np.arange(k)
