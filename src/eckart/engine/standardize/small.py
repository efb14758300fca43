"""The whole matrix B, for small matrices: centred before weighting, with a bound of the rounding of every entry."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from eckart.arrays import to_numpy
from eckart.engine.standardize.moments import Moments, Units, column_sum_additions, column_sums, describe
from eckart.engine.standardize.rounding import UNIT, euclidean, gamma


@dataclass(frozen=True)
class Materialized:
    """B^ = B + E + u delta^T in float64: rounding of entries E, and of means delta.

    sigma_i(B^) <= sqrt(sigma_i(B)^2 + W ||delta||^2) + ||E|| and sigma_i(B) <= sigma_i(B^) + ||E|| (see `moments`).
    """

    matrix: np.ndarray
    moments: Moments
    entry_error: float
    """Bound for ||E||_F."""
    mean_error: float
    """Bound for W ||delta||^2."""


def _means(matrix: np.ndarray, roots: np.ndarray | None, weight: float) -> np.ndarray:
    return column_sums(matrix if roots is None else matrix * (roots**2)[:, None]) / weight


def materialize(given: Any, *, center: bool, scale: bool, units: Units) -> Materialized:
    """diag(u) (A - 1 c^T - 1 r^T) diag(1/scale), the mean subtracted in two parts.

    Each subtraction rounds an entry by at most u times itself; weighting and scaling together by 3 u.
    """
    matrix = given.unweighted().precise().dense()
    roots = None if given.weight_roots is None else to_numpy(given.weight_roots)
    weight = float(len(matrix)) if roots is None else float(np.sum(roots**2))
    additions = column_sum_additions(len(matrix))
    # Entries as stored: a power of two that suits other columns may have made them zero.
    constant, shift, rest = np.zeros(0, int), np.zeros(matrix.shape[1]), np.zeros(matrix.shape[1])
    if center:
        constant = given.constant_columns(np.flatnonzero((matrix == matrix[0]).all(axis=0)))
        shift = _means(matrix, roots, weight)
        shift[constant] = matrix[0, constant]
        matrix = matrix - shift
        rest = _means(matrix, roots, weight)
        rest[constant] = 0.0
        matrix -= rest
    if roots is not None:
        matrix *= roots[:, None]
    squares = column_sums(matrix * matrix)
    moments = describe(
        center=center, scale=scale, rest=rest, raw=squares + weight * rest**2, squares=squares, weight=weight,
        constant=constant, shift=shift, additions=additions, units=units,
    )  # fmt: skip
    if moments.scale is not None:
        matrix /= moments.scale
    norm, offset = euclidean(matrix), float(np.sqrt(weight * np.sum(moments.in_units(rest**2))))
    entry_error = UNIT * (8.0 * norm + 2.0 * offset) * (1.0 if center or scale or roots is not None else 0.0)
    return Materialized(
        matrix,
        moments,
        entry_error + moments.scale_error * norm,
        gamma(additions + 4) ** 2 * (norm**2 + offset**2) * 4.0 if center else 0.0,
    )
