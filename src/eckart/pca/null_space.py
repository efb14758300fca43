"""Components without variance are arbitrary; here they are the same for the same data, whatever the route.

P = I - V V^T projects onto the complement of the components V with variance. Its pivoted Cholesky factor repeatedly
takes the coordinate of largest remaining length. It depends only on the span of V, not on solver, row order, weights or
batches.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from eckart.arrays import EPSILON, Array, astype, from_numpy, to_numpy
from eckart.result import Certificate, Decomposition, K

_TIE = 1e-9
"""Lengths closer than this count as equal, and the first coordinate is taken."""


def settle(d: Decomposition[K], count: int | None = None) -> Decomposition[K]:
    """d with canonical components instead of those without variance, `count` components in total."""
    values = to_numpy(d.values).astype(np.float64)
    count = d.k if count is None else max(count, d.k)
    varying = values > 4 * EPSILON * max(d.rows, d.columns) ** 0.5 * d.norm
    if d.which == "smallest" or (bool(varying.all()) and count == d.k):
        return d
    right = to_numpy(d.right).astype(np.float64)[:, varying]
    missing = count - right.shape[1]
    settled = np.concatenate([right, complement(right, missing)], axis=1)
    return replace(
        d,
        values=_like(np.concatenate([values[varying], np.zeros(missing)]), d.values),
        right=_like(settled, d.right),
        certificate=None if d.certificate is None else _widened(d.certificate, varying, count, _unit(d.right)),
    )


def complement(right: np.ndarray, count: int) -> np.ndarray:
    """`count` orthonormal columns orthogonal to the orthonormal columns of `right`."""
    size, known = right.shape
    basis = np.empty((size, known + count), order="F")
    basis[:, :known] = right
    lengths = 1.0 - np.einsum("ij,ij->i", right, right)
    for place in range(known, known + count):
        pivot = int(np.argmax(lengths >= lengths.max() - _TIE))
        column = np.zeros(size)
        column[pivot] = 1.0
        for _ in range(2):
            column -= basis[:, :place] @ (basis[:, :place].T @ column)
        column /= np.linalg.norm(column)
        basis[:, place] = column
        lengths -= column**2
        lengths[pivot] = 0.0
    return basis[:, known:]


def _like(array: np.ndarray, prototype: Array) -> Array:
    return astype(from_numpy(np.ascontiguousarray(array), prototype), prototype.dtype)


def _unit(array: Array) -> float:
    return float(np.finfo(np.float32 if str(array.dtype).endswith("float32") else np.float64).eps)


def _widened(c: Certificate, varying: np.ndarray, count: int, unit: float) -> Certificate:
    """The bounds of the original components and of those in the complement.

    With G V = V L + R, a unit vector x orthogonal to V has V^T G x = R^T x. Its residual is at most ||R||_F, plus what
    no component explains and the rounding of x.
    """
    more = max(count - len(c.lower), 0)
    zeros = np.zeros(more)
    largest = c.upper[-1] if len(c.upper) else 0.0
    along = float(np.linalg.norm(c.residuals[varying])) + 2.0 * unit
    residuals = np.where(varying, c.residuals, np.maximum(c.residuals, along))
    return replace(
        c,
        lower=np.concatenate([c.lower, zeros]),
        upper=np.concatenate([c.upper, zeros + largest]),
        residuals=np.minimum(np.concatenate([residuals, zeros + along]), 1.0 + 4.0 * unit),
    )
