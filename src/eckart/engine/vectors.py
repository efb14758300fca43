"""The vectors of the long side, from those of the short side: B v / s, in one more pass."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from eckart.arrays import EPSILON, Array, astype, from_numpy, namespace, to_numpy
from eckart.engine.backends.tall import gram, polished, squared_lengths, times
from eckart.engine.solution import Solution
from eckart.engine.standardize.problem import Problem
from eckart.engine.standardize.rounding import ENTRY, gamma
from eckart.engine.threads import one_blas_thread

_ORTHONORMAL = 16.0 * EPSILON
"""Long vectors whose inner products differ by more from those of orthonormal ones are orthogonalised again: rounding in
B^T B is divided by s_i s_j.
"""
_UNKNOWN = 0.01
"""Long vectors that rounding may have moved by more than this are no longer B v / s."""
_LONG = 256
"""LAPACK's vectors of this length may be orthonormal only to 1e-13 (see `tall.gram`), shorter ones never."""
_GRAM_FOR_NULL = 2000
"""Side up to which a Gram matrix is formed only for the vectors of zero values, if another solver found them."""
_NULL = 1e-10
"""Eigenvalues of B^T B above this share of the largest have eigenvectors that rounding does not affect."""


@dataclass(frozen=True)
class Errors:
    """Of the right vectors."""

    moved: np.ndarray
    """How far rounding may have moved each from B v / s."""
    lengths: np.ndarray | None = None
    """||A x||, measured, if only the smallest values of a wide matrix were computed."""
    rounding: float = 0.0
    """Bound of the rounding error of each measured length."""


@dataclass(frozen=True)
class Sides:
    """Right vectors, left ones if requested, and the errors of the right ones."""

    right: Array
    left: Array | None
    errors: Errors


def both_sides(problem: Problem, solution: Solution, values: np.ndarray, *, keep_left: bool, smallest: bool) -> Sides:
    """Right and left vectors from those of the short side. The long ones are B v / s, in one more pass."""
    short, long = solution.vectors, solution.long_vectors
    if long is not None and (problem.transposed or keep_left):
        long = _as_returned(long)
    if problem.transposed:
        errors = Errors(np.zeros(len(values)))
        if long is None:
            long, errors = _long_right_vectors(problem, solution, values, measure=keep_left, smallest=smallest)
        return Sides(long, short if keep_left else None, errors)
    if keep_left and long is None:
        long, _ = _long_vectors(problem, short, values, measure=True, smallest=smallest)
    return Sides(short, long if keep_left else None, Errors(np.zeros(len(values))))


def _as_returned(long: Array) -> Array:
    """Vectors of LAPACK, orthonormal to rounding if they are long."""
    if long.shape[0] < _LONG:
        return long
    with one_blas_thread():
        return polished(long, enough=_ORTHONORMAL)  # LAPACK's error in residuals covers how far this moves them


def _long_right_vectors(
    problem: Problem, solution: Solution, values: np.ndarray, *, measure: bool, smallest: bool
) -> tuple[Array, Errors]:
    """The right vectors of a wide matrix, with those of zero values from its null space.

    B v / s may have a large part along the leading vectors if s is small, so what it explains is measured.
    """
    long, moved = _long_vectors(problem, solution.vectors, values, measure=measure, smallest=smallest)
    unknown = moved >= _UNKNOWN
    formed = solution.solver == "gram" or (problem.data.resident and problem.shape[1] <= _GRAM_FOR_NULL)
    if not formed or not smallest:
        return long, Errors(moved)
    with one_blas_thread():
        if unknown.any():
            long = _with_null_vectors(problem, long, unknown)
        images = to_numpy(problem.exact().rmatmat(long))
    # A sum over the long side, with as many roundings at most.
    rounding = _product_rounding(problem, problem.shape[0])
    return long, Errors(moved, np.sqrt(np.sum(images**2, axis=0)), rounding)


def _long_vectors(
    problem: Problem, short: Array, values: np.ndarray, *, measure: bool, smallest: bool
) -> tuple[Array, np.ndarray]:
    """B v / ||B v||, and how far each may be from that.

    If s is small, B v has rounding errors along the leading vectors, which QR removes.
    """
    with one_blas_thread():  # the correction for means is a product that BLAS would share among threads
        product = astype(problem.product(short, measure=measure), namespace(short).float64)
    rounding = _product_rounding(problem, problem.shape[1])
    moved = np.minimum(rounding / np.maximum(values, 1e-300), 1.0)
    with one_blas_thread():
        vectors, rotated = _normalized(product, values, _norm(problem, values, smallest=smallest))
    return vectors, moved + rotated


def _product_rounding(problem: Problem, terms: int) -> float:
    """||computed B v - B v|| <= gamma(n) ||D||_F for D v, and as much for u (r^T v), if products are in float64."""
    parts = 1.0 if problem.moments.mean is None else 2.0
    return parts * gamma(terms + ENTRY) * math.sqrt(problem.raw_trace(problem.total))


def _with_null_vectors(problem: Problem, vectors: Array, unknown: np.ndarray) -> Array:
    """The vectors with those of zero values replaced: orthonormal, and orthogonal to the range of B; and ||B^T x||.

    B v / s is only rounding if s is zero, and has a part along the leading vectors. The projector I - B G^+ B^T, G =
    B^T B, removes that part; a second application removes its own rounding.
    """
    operator, host = problem.exact(), to_numpy(vectors).copy()

    def across() -> np.ndarray:
        return to_numpy(operator.rmatmat(from_numpy(np.ascontiguousarray(host[:, unknown]), vectors)))

    values, short = np.linalg.eigh(to_numpy(operator.gram()))
    kept = values > _NULL * max(float(values[-1]), 0.0)
    inverse = (short[:, kept] / values[kept]) @ short[:, kept].T
    for _ in range(2):
        host[:, unknown] -= to_numpy(operator.matmat(from_numpy(np.ascontiguousarray(inverse @ across()), vectors)))
        known = np.concatenate([host[:, ~unknown], host[:, unknown]], axis=1)
        host[:, unknown] = np.linalg.qr(known)[0][:, int(np.sum(~unknown)) :]
    return from_numpy(host, vectors)


def _norm(problem: Problem, values: np.ndarray, *, smallest: bool) -> float:
    """s_1, at least as far as ||B||_F^2 <= n s_1^2 implies, or ||B||_F if the smallest values were computed.

    Long vectors i and j have the inner product v_i^T G v_j / (s_i s_j), which is the rounding of G divided by s_i s_j.
    It is relative to s_1^2, or to the shift ||B||_F^2 of Lanczos on ||B||_F^2 - G.
    """
    if smallest:
        return float(np.sqrt(problem.total))
    return max(float(values.max(initial=0.0)), float(np.sqrt(problem.total / problem.shape[1])))


def _normalized(product: Array, values: np.ndarray, largest: float) -> tuple[Array, np.ndarray]:
    """Orthonormal columns from the products B v, and how far each was moved; `largest` as in `_norm`."""
    xp = namespace(product)
    lengths = xp.sqrt(squared_lengths(product))
    good = to_numpy(lengths) > 1e-15 * largest
    product = product / xp.where(lengths > 1e-15 * largest, lengths, xp.ones_like(lengths))
    order = np.argsort(-values, kind="stable")
    products = gram(product)[np.ix_(order, order)]
    if good.all() and float(np.abs(products - np.eye(len(products))).max(initial=0.0)) <= _ORTHONORMAL:
        return product, np.zeros(len(values))
    # The condition number is below 2, so one round of Cholesky in decreasing order leaves a few units of rounding.
    if good.all() and float(np.linalg.norm(products - np.eye(len(products)))) < 0.5:
        triangle = np.linalg.cholesky(products)
        refinement = np.empty_like(triangle)
        refinement[np.ix_(order, order)] = np.linalg.inv(triangle).T
        rotated = 2.0 * np.sqrt(np.sum((refinement - np.eye(len(refinement))) ** 2, axis=0))
        return times(product, from_numpy(refinement, product)), rotated
    before = to_numpy(product)
    after = polished(_orthonormal(before, values, good))
    return from_numpy(after, product), np.where(good, np.sqrt(np.sum((after - before) ** 2, axis=0)), 1.0)


def _orthonormal(vectors: np.ndarray, values: np.ndarray, good: np.ndarray) -> np.ndarray:
    """Gram-Schmidt by QR in decreasing order of the values; directions of zero values are arbitrary."""
    order = np.argsort(-values, kind="stable")
    filled = vectors.copy()
    filled[:, ~good] = np.random.default_rng(0).standard_normal((len(vectors), int((~good).sum())))
    basis, triangle = np.linalg.qr(filled[:, order])
    result = np.empty_like(filled)
    result[:, order] = basis * np.where(np.diagonal(triangle) < 0, -1.0, 1.0)
    return result
