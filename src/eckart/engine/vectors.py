"""The vectors of the long side, from those of the short side: B v / s, in one more read."""

from __future__ import annotations

import numpy as np

from eckart.arrays import Array, astype, from_numpy, is_numpy, namespace, to_numpy
from eckart.engine.backends.tall import inner, times
from eckart.engine.solution import Solution
from eckart.engine.standardize.standardized import Standardized

_SMALL = 0.1
"""Singular values below this share of the largest have long vectors that need another orthogonalisation."""


def both_sides(
    problem: Standardized, solution: Solution, values: np.ndarray, *, keep_left: bool
) -> tuple[Array, Array | None]:
    """Right and left vectors from those of the short side: the long ones are B v / s, in one more read."""
    short, long = solution.vectors, solution.long_vectors
    if problem.turned:
        if long is None:
            long = _long_vectors(problem, short, values, measure=keep_left)
        return long, short if keep_left else None
    if keep_left and long is None:
        long = _long_vectors(problem, short, values, measure=True)
    return short, long if keep_left else None


def _long_vectors(problem: Standardized, short: Array, values: np.ndarray, *, measure: bool) -> Array:
    """B v / ||B v||. Where s is small, B v carries rounding along the leading vectors: QR takes it out."""
    xp = namespace(short)
    image = astype(problem.image(short, measure=measure), xp.float64)
    squares = np.einsum("ij,ij->j", image, image) if is_numpy(image) else xp.sum(image * image, axis=0)
    lengths = xp.sqrt(squares)
    largest = float(values.max(initial=0.0))
    good = to_numpy(lengths) > 1e-15 * largest
    image = image / xp.where(lengths > 1e-15 * largest, lengths, xp.ones_like(lengths))
    if good.all() and float(values.min(initial=largest)) > _SMALL * largest:
        return image
    if good.all() and float(values.min(initial=largest)) > 1e-6 * largest:
        # Nearly orthonormal: one round of Cholesky in falling order is Gram-Schmidt enough.
        order = np.argsort(-values, kind="stable")
        triangle = np.linalg.cholesky(to_numpy(inner(image, image))[np.ix_(order, order)])
        mend = np.empty_like(triangle)
        mend[np.ix_(order, order)] = np.linalg.inv(triangle).T
        return times(image, from_numpy(mend, image))
    return from_numpy(_orthonormal(to_numpy(image), values, good), image)


def _orthonormal(vectors: np.ndarray, values: np.ndarray, good: np.ndarray) -> np.ndarray:
    """Gram-Schmidt by QR in falling order of the values; directions of zero values are any that are left."""
    order = np.argsort(-values, kind="stable")
    filled = vectors.copy()
    filled[:, ~good] = np.random.default_rng(0).standard_normal((len(vectors), int((~good).sum())))
    basis, triangle = np.linalg.qr(filled[:, order])
    result = np.empty_like(filled)
    result[:, order] = basis * np.where(np.diagonal(triangle) < 0, -1.0, 1.0)
    return result
