"""Quadratic programs of all rows at once: min over d >= -w of 1/2 d Q d + g d, with a Hessian Q of its own per row.

Coordinate descent in two back ends with the same steps: NumPy, one coordinate of all rows per statement, and a
compiled loop that keeps a few rows in cache. Arrays have one column per row of the factor. Q is stored as its upper
triangle, row after row.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

_COMPILE_FROM = 150_000
"""Rows of both factors times k^2 from which on compiled loops pay for the time it takes to compile them."""
_LEAST_CURVATURE = 1e-14
_FACES = 4
"""Steps of the active set method."""


@dataclass(frozen=True)
class Steps:
    """d, and what a search along it needs."""

    step: np.ndarray
    """k x rows."""
    descent: np.ndarray
    """-g d of each row."""
    curvature: np.ndarray
    """d Q d of each row."""


def compiles(rows: int, k: int) -> bool:
    """Whether a problem with so many rows in both factors together is large enough for compiled loops."""
    return rows * k * k >= _COMPILE_FROM


def pairwise_products(factor: np.ndarray) -> np.ndarray:
    """k(k+1)/2 x rows of a factor given as k x rows: all products of two coordinates, in the order of the triangle."""
    k, rows = factor.shape
    result = np.empty((k * (k + 1) // 2, rows), factor.dtype)
    place = 0
    for a in range(k):
        np.multiply(factor[a:], factor[a], out=result[place : place + k - a])
        place += k - a
    return result


def diagonal(k: int) -> np.ndarray:
    """Where the diagonal is in a triangle."""
    a = np.arange(k)
    return a * k - a * (a - 1) // 2


def solve(
    triangles: np.ndarray, slope: np.ndarray, begin: np.ndarray, *, sweeps: int, share: float, exact: bool,
    compiled: bool,
) -> Steps:  # fmt: skip
    """Sweeps over the coordinates until one brings less than `share` of the first, and if `exact` on to the minimum.

    Any number of sweeps gives a direction of descent: each lowers 1/2 d Q d + g d, which begins at zero.
    """
    rest, step = slope.copy(), np.zeros_like(begin)
    if compiled:
        from eckart.nmf.compiled_quadratic import descend

        descend(triangles, rest, begin, step, sweeps, share)
    else:
        _descend(triangles, rest, begin, step, sweeps, share)
    if exact:
        _to_the_minimum(triangles, rest, begin, step)
    descent = -np.einsum("ij,ij->j", slope, step)
    return Steps(step, descent, np.maximum(descent + np.einsum("ij,ij->j", rest, step), 0.0))


def _descend(
    triangles: np.ndarray, rest: np.ndarray, begin: np.ndarray, step: np.ndarray, sweeps: int, share: float
) -> None:
    """The compiled loop of the same name, in NumPy: on return rest = g + Q d."""
    k = begin.shape[0]
    first_of, pairs = diagonal(k), _pairs(k)
    columns = [triangles[pairs[t]] for t in range(k)]
    curves = triangles[first_of]
    flat = curves <= 0.0
    inverse = np.where(flat, 0.0, 1.0 / np.where(flat, 1.0, curves))
    if flat.any():  # without curvature the minimum of a rising line is at its end
        step[...] = np.where(flat & (rest > 0.0), -begin, step)
    move, product, lowest = np.empty_like(begin[0]), np.empty_like(begin), -begin
    first = 0.0
    for sweep in range(sweeps):
        before = step.copy()
        for t in range(k):
            np.multiply(rest[t], inverse[t], out=move)
            np.subtract(step[t], move, out=move)
            np.maximum(move, lowest[t], out=move)
            np.subtract(move, step[t], out=move)
            step[t] += move
            np.multiply(columns[t], move, out=product)
            np.add(rest, product, out=rest)
        before -= step
        np.multiply(before, before, out=before)
        change = float(np.vdot(before, curves))
        first = change if sweep == 0 else first
        if change <= share * first:
            break


def _to_the_minimum(triangles: np.ndarray, rest: np.ndarray, begin: np.ndarray, step: np.ndarray) -> None:
    """A primal active set method for all rows at once (Nocedal and Wright, 2006, section 16.5), a few steps of it.

    Coordinates at their bound stay there, and the others go to the minimum over them, or as far as the first bound.
    """
    k = begin.shape[0]
    hessian = np.ascontiguousarray(triangles[_pairs(k)].T).astype(np.float64)
    eye = np.eye(k)
    # Rounding may have made a singular Hessian indefinite: a share of its trace puts that right.
    hessian += _LEAST_CURVATURE * np.einsum("ijj->i", hessian)[:, None, None] * eye
    for _ in range(_FACES):
        free = (begin + step > 0.0).T
        inside = free[:, :, None] & free[:, None, :]
        matrix = np.where(inside, hessian, eye)
        gradient = np.where(free, rest.T, 0.0)
        matrix[(gradient == 0.0).all(axis=1)] = eye
        to = -np.linalg.solve(matrix, gradient[:, :, None])[:, :, 0].T
        with np.errstate(divide="ignore", invalid="ignore"):
            reach = np.where(to < 0.0, -(begin + step) / to, np.inf)
        nearest = reach.min(axis=0)
        whole = nearest >= 1.0
        to *= np.minimum(nearest, 1.0)
        at_bound = (reach <= nearest) & ~whole
        step[...] = np.where(at_bound, -begin, np.maximum(step + to, -begin))
        rest += np.einsum("ijk,ki->ji", hessian, to).astype(rest.dtype)
        if whole.all():
            break


def _pairs(k: int) -> np.ndarray:
    """Where entry (a, b) of a symmetric matrix is in its triangle."""
    a = np.arange(k)
    return diagonal(k)[np.minimum.outer(a, a)] + np.abs(np.subtract.outer(a, a))
