"""Components without variance are arbitrary; here they are the same for the same data, whatever the route.

P = I - V V^T projects onto the complement of the components V with variance. Its pivoted Cholesky factor repeatedly
takes the coordinate of largest remaining length. It depends only on the span of V, not on solver, row order, weights or
batches.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from eckart.arrays import EPSILON, Array, astype, from_numpy, to_numpy
from eckart.pca.constants import TIED_LENGTHS
from eckart.result import Certificate, Decomposition, K


def settle(d: Decomposition[K], count: int | None = None) -> Decomposition[K]:
    """d with canonical components instead of those without variance, `count` components in total."""
    values = to_numpy(d.values).astype(np.float64)
    count = d.k if count is None else max(count, d.k)
    varying = values > 4 * EPSILON * max(d.rows, d.columns) ** 0.5 * d.norm
    if d.which == "smallest" or (bool(varying.all()) and count == d.k):
        return d
    right, known = to_numpy(d.right), int(np.sum(varying))
    completed = np.empty((right.shape[0], count))
    completed[:, :known] = right[:, :known] if varying[:known].all() else right[:, varying]
    complete(completed, known)
    return replace(
        d,
        values=_like(np.concatenate([values[varying], np.zeros(count - known)]), d.values),
        right=_like(completed, d.right),
        certificate=None if d.certificate is None else _widened(d.certificate, varying, count, _unit(d.right)),
    )


def complete(basis: np.ndarray, known: int) -> None:
    """Set all columns after the first `known`, which are orthonormal, to orthonormal ones in their complement."""
    size, count = basis.shape
    lengths = 1.0 - np.einsum("ij,ij->i", basis[:, :known], basis[:, :known])
    for place in range(known, count):
        pivot = int(np.argmax(lengths >= lengths.max() - TIED_LENGTHS))
        column = np.zeros(size)
        column[pivot] = 1.0
        for _ in range(2):
            column -= basis[:, :place] @ (basis[:, :place].T @ column)
        column /= np.linalg.norm(column)
        basis[:, place] = column
        lengths -= column**2
        lengths[pivot] = 0.0


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
