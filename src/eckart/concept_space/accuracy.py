"""How far coordinates and lengths of vectors may be off, for proofs of rankings.

A coordinate of z = (a - mean) / scale is a sum over the columns, formed with a, which is longer than z by up to
|mean / scale|. A sum of n terms is off by at most gamma(n) times the sum of their moduli, so all k coordinates together
are off by at most gamma(n) sqrt(k) |a / scale|. A row near the mean may be much shorter than that.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from eckart.arrays import EPSILON, Array, to_numpy
from eckart.concept_space.vectors import unit_of

if TYPE_CHECKING:
    from eckart.concept_space.best import Numbers
    from eckart.concept_space.geometry import Geometry

RELATIVE = 64
"""Rounding of a stored coordinate and of an orthonormal basis, in units of its dtype: a few, with a margin."""
_FURTHER = 16
"""Roundings of a term in addition to those of its sum."""


@dataclass(frozen=True)
class Measured:
    """Vectors as far as they are known: their parts in the concepts, and their squared lengths, as computed."""

    seen: Array
    squares: Numbers
    error: Numbers
    """Bound of how far `seen` and the length sqrt(squares) may be off, for each vector."""
    squares_error: Numbers
    """Bound of a further error of `squares`."""

    @property
    def lengths(self) -> tuple[Numbers, Numbers]:
        """Upper and lower bounds of the lengths."""
        longest = np.sqrt(self.squares + self.squares_error) + self.error
        shortest = np.sqrt(np.maximum(self.squares - self.squares_error, 0.0)) - self.error
        return longest, np.maximum(shortest, 0.0)


def projection_errors(
    geometry: Geometry, coordinates: Array, squares: Numbers, *, sparse: bool
) -> tuple[Numbers, Numbers]:
    """(error, squares_error) of rows that were projected, in the unit of lengths.

    Means and scales have the dtype of the components. For sparse rows, z . z is a sum of terms with the mean.
    """
    unit = max(unit_of(coordinates), unit_of(geometry.right))
    whole = np.sqrt(squares) + 2.0 * geometry.mean_length
    terms = geometry.d.columns + _FURTHER
    error = RELATIVE * unit * np.sqrt(squares) + terms * unit * geometry.k**0.5 * whole
    return error, terms * EPSILON * whole**2 if sparse else np.zeros_like(whole)


def fitted_errors(geometry: Geometry, coordinates: Array, squares: Numbers) -> tuple[Numbers, Numbers]:
    """(error, squares_error) of the rows of the fit, left diag(values), before their weights are divided out.

    Left vectors are computed in float64, and satisfy A v = s u up to the residuals.
    """
    terms = geometry.d.rows + geometry.d.columns + _FURTHER
    whole = geometry.d.norm / geometry.unit + geometry.mean_length
    apart = terms * EPSILON * geometry.k**0.5 * whole + _distance_of_products(geometry)
    return RELATIVE * unit_of(coordinates) * np.sqrt(squares) + apart, np.zeros_like(squares)


def _distance_of_products(geometry: Geometry) -> float:
    """Bound of ||A V - U S||_F.

    For a wide matrix, v = A^T u / s, and A v - s u = R / s, where R is the residual of u; that of v is stated, and at
    most s_1 / s times as large. For a tall one, u = A v / s is made orthogonal to the others: v_i^T A^T A v_j is the
    residual of v_i, and at most this / s_j is subtracted from A v_i. If s is small, ||A v||^2 <= s^2 + ||R|| is less.
    """
    d = geometry.d
    values = np.maximum(to_numpy(d.values).astype(np.float64) / geometry.unit, 0.0)
    residual = residual_norm(geometry, rounded=False)
    with np.errstate(divide="ignore", invalid="ignore"):
        far = np.where(values > 0.0, 4.0 * residual / values, np.inf)
    return float(np.linalg.norm(np.minimum(far, 2.0 * values + np.sqrt(residual))))


def residual_norm(geometry: Geometry, *, rounded: bool = True) -> float:
    """Bound of ||A^T A V - V S^2||_F, in the unit of lengths; infinite without a certificate.

    With `rounded`, for vectors as returned; otherwise for vectors before they were rounded to their dtype, which the
    stated residuals allow two units for (`engine.returned`).
    """
    d = geometry.d
    if d.certificate is None:
        return np.inf
    # The residuals are relative to the largest value of the matrix.
    largest = 1.01 * d.norm if d.which == "smallest" else float(d.certificate.upper.max(initial=0.0))
    residuals = d.certificate.residuals
    if not rounded:
        residuals = np.maximum(residuals - 2.0 * unit_of(d.right), 0.0) + 2.0 * EPSILON
    return float(np.linalg.norm(residuals)) * (largest / geometry.unit) ** 2
