"""The components of a resample in the order, with the signs and in the basis of those of the fit."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from eckart.analysis.measures import floats
from eckart.arrays import Floats

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from eckart.result import Decomposition

_APART = 3.0
"""Components are separable if their variances differ by this many standard errors (more with few rows)."""
INDISTINGUISHABLE = 1.5
"""Closer components are compared as a subspace only. With 1.0, intervals of three close components are too wide."""


def close_groups(
    d: Decomposition, apart: float = _APART, *, inflation: Floats | None = None
) -> tuple[tuple[int, ...], ...]:
    """Runs of neighbours whose variances differ by less than `apart` standard errors of the difference of logarithms.

    The standard error is that of many normal rows, 2 / sqrt(n). With few rows, variances differ more: if two variances
    are equal in the population, the logarithms of those of a sample with f degrees of freedom differ by more than x
    with the probability cosh(x / 2)^-(f - 1) (the exact test of sphericity). The limit is that x whose probability is
    the same as with many rows, exp(-apart^2 / 2). For 3 standard errors and 20 rows, it is 3.3 standard errors.

    If rows have heavy tails, the standard error of neighbours i and i + 1 is `inflation[i]` times as large.
    """
    # Variances of extreme values are infinite or zero, and all have the same factor.
    logarithms = 2.0 * np.log(np.maximum(floats(d.values), 1e-300))
    # arcosh(exp(e)) = e + log(1 + sqrt(1 - exp(-2 e))) does not overflow.
    exponent = apart**2 / 2.0 / max(d.weight - 2.0, 1e-300)
    limit = 2.0 * (exponent + np.log1p((-np.expm1(-2.0 * exponent)) ** 0.5))
    limits = np.full(max(d.k - 1, 0), limit) if inflation is None else limit * inflation[: max(d.k - 1, 0)]
    groups: list[list[int]] = [[0]] if d.k else []
    for i in range(1, d.k):
        if logarithms[i - 1] - logarithms[i] < limits[i - 1]:
            groups[-1].append(i)
        else:
            groups.append([i])
    return tuple(tuple(group) for group in groups if len(group) > 1)


def rotated_groups(wanted: Floats, found: Floats, groups: tuple[tuple[int, ...], ...]) -> Floats:
    """`found` with each group's columns rotated onto the wanted ones: min ||wanted - found R||, R orthogonal."""
    result = found.copy()
    for group in groups:
        columns = list(group)
        left, _, right = np.linalg.svd(found[:, columns].T @ wanted[:, columns])
        result[:, columns] = found[:, columns] @ (left @ right)
    return result


def pair(wanted: Floats, found: Floats) -> tuple[NDArray[np.intp], Floats, Floats]:
    """For each wanted component, the match that maximises the sum of squared cosines, with its sign and size."""
    from scipy.optimize import linear_sum_assignment

    cosines = wanted.T @ found
    _, indices = linear_sum_assignment(-(cosines**2))
    chosen = cosines[np.arange(len(indices)), indices]
    return indices, np.where(chosen < 0, -1.0, 1.0), np.minimum(np.abs(chosen), 1.0)
