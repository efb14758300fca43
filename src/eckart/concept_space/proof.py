"""Proofs of rankings: bounds of the similarity of complete vectors, not only of their parts in the concepts.

For rows x = s + u with s in the space of the concepts and u at right angles to it: x . y = s . t + u . v, and
|u . v| <= |u| |v|, where |u|^2 = |x|^2 - |s|^2 (Pythagoras). `accuracy` bounds the rounding of s and |x|.

For columns, P = V V^T and Q = I - P: x_j = B P e_j + B Q e_j. Both parts are at right angles but for R = G V - V S^2, G
= B^T B, which the certificate bounds:

    x_j . x_l = V_j S^2 V_l^T + V_j V^T R V_l^T + e_j^T P G Q e_l + e_j^T Q G P e_l + (B Q e_j) . (B Q e_l),

where |Q G P e_l| <= ||R|| |V_l|. The three terms with R are the `skew`; for j = l, they add to |B Q e_j|^2.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from eckart.arrays import EPSILON, Array, is_numpy
from eckart.concept_space.accuracy import Measured, residual_norm
from eckart.concept_space.best import Numbers
from eckart.concept_space.geometry import Geometry
from eckart.concept_space.vectors import in_float64, row_squares, times, unit_of
from eckart.errors import InputError
from eckart.wording import PROOF


@dataclass(frozen=True)
class Bounded:
    """Bounds of the similarity of one complete vector with many."""

    lower: Numbers
    upper: Numbers


def bounds(many: Measured, one: Measured, *, cosine: bool, skew: Numbers | float = 0.0) -> Bounded:
    """Bounds of x . y, or of their cosine, for the vectors `many` and `one`."""
    seen, own = in_float64(many.seen), in_float64(one.seen)[0, :]
    dots = times(seen, own)
    inside, own_inside = np.sqrt(row_squares(seen)), float(np.linalg.norm(own))
    rounding = 8.0 * EPSILON * len(own) * inside * own_inside  # of `dots`
    moved = many.error * own_inside + one.error[0] * inside + many.error * one.error[0]
    longest, shortest = many.lengths
    own_longest, own_shortest = (float(length[0]) for length in one.lengths)
    unseen = _outside(longest, inside - many.error, len(own))
    own_unseen = _outside(own_longest, own_inside - one.error[0], len(own))
    slack = unseen * own_unseen + skew + moved + rounding
    lower, upper = dots - slack, dots + slack
    if not cosine:
        return Bounded(lower, upper)
    most, least = longest * own_longest, shortest * own_shortest
    lower, upper = _ratio(lower, most, least), -_ratio(-upper, most, least)
    return Bounded(np.maximum(lower, -1.0), np.minimum(upper, 1.0))


def _outside(longest: Numbers, inside: Numbers, k: int) -> Numbers:
    """The most that is left of a vector without the part inside the concepts, a sum of k squares."""
    return np.sqrt(np.maximum(longest**2 * (1.0 + (k + 8.0) * EPSILON) - np.maximum(inside, 0.0) ** 2, 0.0))


def _ratio(number: Numbers, most: Numbers, least: Numbers) -> Numbers:
    """A lower bound of a quotient with a divisor between `least` and `most`; -inf if it may be zero."""
    # A negative number is divided by the smallest divisor.
    divisor = np.where(number < 0, least, most)
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        quotient = number / divisor - 4.0 * EPSILON
    return np.where(least > 0, quotient, -np.inf)


def proved_indices(order: Numbers, bounded: Bounded) -> int:
    """Number of leading places in `order` (all candidates, best first) that are certain."""
    lower, upper = bounded.lower[order], bounded.upper[order]
    if not len(order):
        return 0
    later = np.append(np.maximum.accumulate(upper[::-1])[::-1][1:], -np.inf)
    sure = lower > later
    return int(len(sure) if sure.all() else np.argmin(sure))


def measured_columns(geometry: Geometry, vectors: Array) -> Measured:
    """The columns, given those of `geometry.columns`.

    Their lengths come from the sums of squares of the first pass, and have the rounding of the Gram matrix.
    """
    if geometry.column_norms is None:
        raise InputError(
            "A proof for columns needs the lengths of the columns, but this model does not contain "
            "them. Fit the model again."
        )
    certificate = geometry.d.certificate
    if certificate is None:
        raise InputError(
            "A proof for columns needs a certificate, but this model does not contain one. Fit the model again."
        )
    squares = geometry.column_norms**2
    loadings = _lengths(geometry.right)
    rounding = 2.0 * certificate.rounding * (geometry.d.norm / geometry.unit) ** 2
    squares_error = rounding + (geometry.d.rows + 8) * EPSILON * squares
    squares_error = squares_error + (2.0 * loadings + loadings**2) * residual_norm(geometry)
    inside = np.sqrt(row_squares(in_float64(vectors)))
    return Measured(vectors, squares, 64 * unit_of(vectors) * np.maximum(inside, np.sqrt(squares)), squares_error)


def column_skew(geometry: Geometry, column: int) -> Numbers:
    """(|V_j| + |V_l| + |V_j| |V_l|) ||R||_F for all columns j and the column l."""
    lengths = _lengths(geometry.right)
    return np.asarray((lengths + lengths[column] * (1.0 + lengths)) * residual_norm(geometry))


def _lengths(right: Array) -> Numbers:
    right = in_float64(right)
    return np.linalg.norm(right, axis=1) if is_numpy(right) else np.sqrt(row_squares(right))


def need_right_angles(geometry: Geometry) -> None:
    if not geometry.orthonormal:
        raise InputError(
            f"A proof needs orthogonal concepts, but those of {geometry.d.method!r} are not "
            f"orthogonal. Use 'svd' or 'pca', or leave out {PROOF}."
        )
