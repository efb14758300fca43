"""The start: parts of singular vectors (NNDSVD, Boutsidis and Gallopoulos 2008) or random numbers."""

from __future__ import annotations

import numpy as np

from eckart.arrays import Array, from_numpy, namespace, to_numpy
from eckart.nmf.problem import length

_CUT = 1e-6
FILLED = "nndsvd filled"
"""The default start. Unlike "nndsvda" it scales with the data: entries of W and H are of size sqrt(mean / k)."""
_FILL = 0.1
"""Replaces zeros, as a share of that size."""


def from_singular_vectors(
    left: Array, values: np.ndarray, right: Array, *, fill: str, mean: float, rng: np.random.Generator
) -> tuple[Array, Array]:
    """W and transposed H from u_i s_i v_i^T: the positive or the negative parts of each pair, whichever are longer.

    `fill` replaces zeros: "nndsvd" keeps them, "nndsvda" uses the mean of the matrix, "nndsvdar" small random numbers,
    and `FILLED` a share of the typical size of the factors.
    """
    xp = namespace(left)
    rows, columns = xp.empty_like(left), xp.empty_like(right)
    for i in range(values.shape[0]):
        u, v = left[:, i], right[:, i]
        if i == 0:
            u, v, size = xp.abs(u), xp.abs(v), 1.0
        else:
            u, v, size = _longer_halves(u, v)
        root = float(np.sqrt(values[i] * size))
        rows[:, i], columns[:, i] = root * u, root * v
    return _filled(rows, fill, mean, rng), _filled(columns, fill, mean, rng)


def _filled(factor: Array, fill: str, mean: float, rng: np.random.Generator) -> Array:
    xp = namespace(factor)
    if fill == FILLED:
        small = _FILL * float(np.sqrt(mean / factor.shape[1]))
        return xp.where(factor < _CUT * small, small, factor)
    factor = xp.where(factor < _CUT, 0.0, factor)
    empty = factor == 0.0
    if fill == "nndsvda":
        return xp.where(empty, mean, factor)
    if fill == "nndsvdar":
        indices = to_numpy(empty)
        numbers = np.zeros(indices.shape)
        numbers[indices] = np.abs(mean * rng.standard_normal(int(indices.sum())) / 100.0)
        return xp.where(empty, xp.astype(from_numpy(numbers, factor), factor.dtype), factor)
    return factor


def _longer_halves(u: Array, v: Array) -> tuple[Array, Array, float]:
    """Unit positive parts of (u, v) or of (-u, -v), and the product of their lengths."""
    xp = namespace(u)
    found = []
    for sign in (1.0, -1.0):
        a, b = (xp.where(sign * half > 0.0, sign * half, 0.0) for half in (u, v))
        found.append((length(a), length(b), a, b))
    first, second, a, b = max(found, key=lambda pair: pair[0] * pair[1])
    size = first * second
    if size == 0.0:
        return xp.zeros_like(u), xp.zeros_like(v), 0.0
    return a / first, b / second, size


def random_start(
    rows: int, columns: int, k: int, mean: float, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """|normal| numbers such that an entry of W H is about the mean of the matrix."""
    size = np.sqrt(mean / k)
    right = size * np.abs(rng.standard_normal((k, columns)))
    left = size * np.abs(rng.standard_normal((rows, k)))
    return left, np.ascontiguousarray(right.T)
