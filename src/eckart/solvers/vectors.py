"""The vectors of the long side, from those of the short side: B v / s, in one more read."""

from __future__ import annotations

import numpy as np

from eckart.array_api import Array, astype, from_numpy, namespace, to_numpy
from eckart.operators.standardized import Standardized
from eckart.solvers.solution import Solution


def both_sides(
    problem: Standardized, solution: Solution, values: np.ndarray, *, keep_left: bool
) -> tuple[Array, Array | None]:
    """Right and left vectors from those of the short side: the long ones are B v / s, in one more read."""
    short, long = solution.vectors, solution.long_vectors
    if problem.turned:
        if long is None:
            long = _long_vectors(problem, short, values)
        return long, short if keep_left else None
    if keep_left and long is None:
        long = _long_vectors(problem, short, values)
    return short, long if keep_left else None


def _long_vectors(problem: Standardized, short: Array, values: np.ndarray) -> Array:
    xp = namespace(short)
    image = astype(problem.operator.matmat(short), xp.float64)
    lengths = xp.sqrt(xp.sum(image * image, axis=0))
    floor = float(values.max(initial=0.0)) * 1e-14
    image = image / xp.where(lengths > floor, lengths, xp.ones_like(lengths))
    return _complete(image, to_numpy(lengths) > floor)


def _complete(vectors: Array, good: np.ndarray) -> Array:
    """Replace the directions of zero singular values by any that are orthonormal to the rest."""
    if good.all():
        return vectors
    host = to_numpy(vectors).copy()
    host[:, ~good] = np.random.default_rng(0).standard_normal((host.shape[0], int((~good).sum())))
    order = np.argsort(~good, kind="stable")
    basis, triangle = np.linalg.qr(host[:, order])
    basis = basis * np.where(np.diagonal(triangle) < 0, -1.0, 1.0)
    result = np.empty_like(host)
    result[:, order] = basis
    result[:, good] = to_numpy(vectors)[:, good]
    return from_numpy(result, vectors)
