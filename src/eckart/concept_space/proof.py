"""Proofs of rankings: bounds of the similarity of complete vectors, not only of their parts in the concepts.

For rows x = s + u with s in the space of the concepts and u at right angles to it: x . y = s . t + u . v, and
|u . v| <= |u| |v|, where |u|^2 = |x|^2 - |s|^2 (Pythagoras). For columns of B, B V V^T e_j and B (1 - V V^T) e_l are at
right angles but for R = B^T B V - V S^2, which the certificate bounds: add (|V_j| + |V_l|) ||R||.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from eckart.arrays import Array, is_numpy
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


def bounds(
    seen: Array, squares: Numbers, own: Numbers, own_square: float, *, cosine: bool, skew: Numbers | float = 0.0
) -> Bounded:
    """Bounds of x . y, or of their cosine, from the parts in the concepts (`seen`, `own`) and the squared lengths.

    `skew` bounds the product of the parts inside and outside the concepts. Each difference of squares gets a margin for
    the rounding of its terms.
    """
    unit = 64 * unit_of(seen)
    seen, own = in_float64(seen), own.astype(np.float64)
    dots = times(seen, own)
    unseen = np.sqrt(np.maximum(squares - row_squares(seen), 0.0) + unit * squares)
    own_unseen = np.sqrt(max(own_square - float(own @ own), 0.0) + unit * own_square)
    lengths = np.sqrt(squares * own_square)
    slack = unseen * own_unseen + skew + unit * lengths
    lower, upper = dots - slack, dots + slack
    if not cosine:
        return Bounded(lower, upper)
    divisor = np.where(lengths > 0, lengths, np.inf)
    return Bounded(np.maximum(lower / divisor, -1.0), np.minimum(upper / divisor, 1.0))


def proved_indices(order: Numbers, bounded: Bounded) -> int:
    """Number of leading places in `order` (all candidates, best first) that are certain."""
    lower, upper = bounded.lower[order], bounded.upper[order]
    if not len(order):
        return 0
    later = np.append(np.maximum.accumulate(upper[::-1])[::-1][1:], -np.inf)
    sure = lower > later
    return int(len(sure) if sure.all() else np.argmin(sure))


def column_squares(geometry: Geometry) -> Numbers:
    """||column||^2 in the units of the decomposition."""
    if geometry.column_norms is None:
        raise InputError(
            "A proof for columns needs the lengths of the columns, but this model does not contain "
            "them. Fit the model again."
        )
    return geometry.column_norms**2


def column_skew(geometry: Geometry, column: int) -> Numbers:
    """(|V_j| + |V_l|) ||R||_F for all columns j and the column l."""
    certificate = geometry.d.certificate
    if certificate is None:
        raise InputError(
            "A proof for columns needs a certificate, but this model does not contain one. Fit the model again."
        )
    largest = float(certificate.upper.max(initial=0.0)) / geometry.unit
    residual = float(np.linalg.norm(certificate.residuals)) * largest**2
    right = in_float64(geometry.right)
    lengths = np.linalg.norm(right, axis=1) if is_numpy(right) else np.sqrt(row_squares(right))
    return np.asarray((lengths + lengths[column]) * residual)


def need_right_angles(geometry: Geometry) -> None:
    if not geometry.orthonormal:
        raise InputError(
            f"A proof needs orthogonal concepts, but those of {geometry.d.method!r} are not "
            f"orthogonal. Use 'svd' or 'pca', or leave out {PROOF}."
        )
