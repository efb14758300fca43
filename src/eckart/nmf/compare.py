"""Compare two runs: parts are paired to maximise the sum of their cosines."""

from __future__ import annotations

import numpy as np

from eckart.arrays import Array, to_numpy


def paired_cosines(first: Array, second: Array) -> np.ndarray:
    """Cosine of each part (column) of `first` with its partner in `second`; 1 means the same direction."""
    if first is second:
        return np.asarray(np.abs(to_numpy(first)).max(axis=0, initial=0.0) > 0.0, dtype=np.float64)
    from scipy.optimize import linear_sum_assignment

    cosines = _unit(to_numpy(first)).T @ _unit(to_numpy(second))
    ours, theirs = linear_sum_assignment(-cosines)
    result = np.zeros(first.shape[1])
    result[ours] = cosines[ours, theirs]
    return result


def _unit(parts: np.ndarray) -> np.ndarray:
    lengths = np.linalg.norm(parts, axis=0)
    return parts / np.where(lengths > 0.0, lengths, 1.0)
