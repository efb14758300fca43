"""Quadratic programs of all rows at once: min over d >= -w of 1/2 d Q d + g d, with a separate Hessian Q per row.

Coordinate descent with the same steps in NumPy (one coordinate of all rows per statement), in a compiled loop that
keeps a few rows in cache, and in a kernel for GPUs. Arrays have one column per row of the factor. Q is stored as its
upper triangle, row by row.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from eckart.nmf.constants import COMPILE_QUADRATIC_FROM, LEAST_CURVATURE, MOST_FACES
from eckart.nmf.tiles import Numbers, module_of


@dataclass(frozen=True)
class Steps:
    """d and the quantities for a search along it; NumPy or CuPy arrays."""

    step: Numbers
    """k x rows."""
    descent: Numbers
    """-g d of each row."""
    curvature: Numbers
    """d Q d of each row."""


def compiles(rows: int, k: int) -> bool:
    """Whether a problem with this many rows in both factors together is large enough for compiled loops."""
    return rows * k * k >= COMPILE_QUADRATIC_FROM


def pairwise_products(factor: Numbers) -> Numbers:
    """k(k+1)/2 x rows for a factor given as k x rows: all products of two coordinates, in the order of the triangle."""
    k, rows = factor.shape
    xp = module_of(factor)
    result = xp.empty((k * (k + 1) // 2, rows), factor.dtype)
    place = 0
    for a in range(k):
        xp.multiply(factor[a:], factor[a], out=result[place : place + k - a])
        place += k - a
    return result


@lru_cache(maxsize=64)
def diagonal(k: int) -> np.ndarray:
    """Positions of the diagonal in a triangle."""
    a = np.arange(k)
    return a * k - a * (a - 1) // 2


def solve(
    triangles: Numbers, slope: Numbers, begin: Numbers, *, sweeps: int, exact: bool, compiled: bool
) -> Steps:  # fmt: skip
    """Sweep over the coordinates that can move; if `exact`, continue to the minimum over all of them.

    Unless `exact`, coordinates at zero with an outward gradient stay there. Any number of sweeps gives a descent
    direction: each lowers 1/2 d Q d + g d, which starts at zero.
    """
    xp = module_of(begin)
    rest, step = slope.copy(order="C"), xp.zeros_like(begin)
    curves = triangles[xp.asarray(diagonal(begin.shape[0]))]
    flat = curves < np.finfo(begin.dtype).tiny  # its inverse would not be finite
    some = bool(flat.any())
    inverse = (1.0 / (xp.where(flat, 1.0, curves) if some else curves)).astype(begin.dtype, copy=False)
    fixed = flat if exact else (begin <= 0.0) & (slope >= 0.0)
    inverse[fixed] = 0.0
    if some:  # without curvature the minimum of an increasing line is at its end
        inverse[flat] = 0.0
        step = xp.where(flat & (slope > 0.0), -begin, step)
    _descender(begin, compiled=compiled)(triangles, rest, begin, inverse, step, sweeps)
    if exact:
        _to_the_minimum(triangles, rest, begin, step)
    descent = -xp.einsum("ij,ij->j", slope, step)
    return Steps(step, descent, xp.maximum(descent + xp.einsum("ij,ij->j", rest, step), 0.0))


def _descender(begin: Numbers, *, compiled: bool) -> Callable[..., None]:
    """The loop over sweeps and coordinates: on return rest = g + Q d."""
    if not isinstance(begin, np.ndarray):
        from eckart.nmf.cuda.quadratic import descend as on_device

        return on_device
    if not compiled:
        return _descend
    from eckart.nmf.compiled_quadratic import descend

    return descend


def _descend(
    triangles: np.ndarray, rest: np.ndarray, begin: np.ndarray, inverse: np.ndarray, step: np.ndarray, sweeps: int
) -> None:
    """The compiled loop of the same name in NumPy, with few calls per coordinate.

    For x = begin + d the minimum over x_t alone is b_t - sum over s != t of Q_ts x_s / Q_tt: one product with (x, 1).
    """
    k, rows = begin.shape
    # In float64 even for float32 data: near the solution, gradients are differences of nearly equal numbers.
    x, products = np.empty((k + 1, rows)), np.empty((k + 1, rows))
    np.add(begin, step, out=x[:k])
    x[k] = 1.0
    factors = np.empty((k, k + 1, rows))
    scales = inverse.astype(np.float64, copy=False)
    np.multiply(triangles[_pairs(k)], -scales[:, None], out=factors[:, :k])
    factors[np.arange(k), np.arange(k)] = 0.0
    factors[:, k] = 0.0
    factors[:, k] = x[:k] - scales * rest - np.add.reduce(factors * x, axis=1)
    for _ in range(sweeps):
        for own, factor in zip(x, factors, strict=False):
            np.multiply(factor, x, out=products)
            np.add.reduce(products, axis=0, out=own)
            np.maximum(own, 0.0, out=own)
    free = inverse > 0.0
    minima = np.add.reduce(factors * x, axis=1)
    np.divide(x[:k] - minima, scales, out=rest, where=free, casting="same_kind")
    np.subtract(x[:k], begin, out=step, casting="same_kind")


def _to_the_minimum(triangles: Numbers, rest: Numbers, begin: Numbers, step: Numbers) -> None:
    """Continue to the minimum, for all rows at once."""
    k = begin.shape[0]
    xp = module_of(begin)
    hessians = xp.ascontiguousarray(triangles[xp.asarray(_pairs(k))].T).astype(np.float64)
    to_the_minimum(hessians, rest, begin, step)


def to_the_minimum(hessians: Numbers, rest: Numbers, begin: Numbers, step: Numbers) -> None:
    """A few steps of a primal active set method for all rows at once (Nocedal and Wright, 2006, section 16.5).

    Coordinates at their bound stay there; the others move to their joint minimum, or to the first bound. `hessians` is
    rows x k x k, or 1 x k x k if all rows share one; `rest` is g + Q d, also on return.
    """
    xp, k = module_of(begin), begin.shape[0]
    eye, shared = xp.eye(k), len(hessians) == 1
    # Rounding may make a singular Hessian indefinite: adding a share of its trace corrects that.
    curved = hessians + LEAST_CURVATURE * xp.trace(hessians, axis1=1, axis2=2)[:, None, None] * eye
    going = xp.arange(begin.shape[1])
    for _ in range(MOST_FACES):
        own, slope = begin[:, going] + step[:, going], rest[:, going]
        free = (own > 0.0).T
        gradient = xp.where(free, slope.T, 0.0).astype(np.float64)
        inside = free[:, :, None] & free[:, None, :] & (gradient != 0.0).any(axis=1)[:, None, None]
        matrix = xp.where(inside, curved, eye)
        to = -xp.linalg.solve(matrix, gradient[:, :, None])[:, :, 0].T
        with np.errstate(divide="ignore", invalid="ignore"):
            reach = xp.where(to < 0.0, -own / to, np.inf)
        nearest = reach.min(axis=0)
        whole = nearest >= 1.0
        to *= xp.minimum(nearest, 1.0)
        at_bound = (reach <= nearest) & ~whole
        start = begin[:, going]
        step[:, going] = xp.where(at_bound, -start, xp.maximum(step[:, going] + to, -start))
        change = curved[0] @ to if shared else xp.einsum("ijk,ki->ji", curved, to)
        rest[:, going] = slope + change.astype(rest.dtype)
        if bool(whole.all()):
            break
        left = ~whole  # the others are at the minimum of their face
        going, curved = going[left], curved if shared else curved[left]


@lru_cache(maxsize=64)
def _pairs(k: int) -> np.ndarray:
    """Position of entry (a, b) of a symmetric matrix in its triangle."""
    a = np.arange(k)
    return diagonal(k)[np.minimum.outer(a, a)] + np.abs(np.subtract.outer(a, a))
