"""The start: parts of singular vectors (NNDSVD, Boutsidis and Gallopoulos 2008) or random numbers."""

from __future__ import annotations

import numpy as np

from eckart.arrays import Array, from_numpy, namespace, to_numpy
from eckart.nmf.constants import NEGLIGIBLE, START_FILL

FILLED = "nndsvd filled"
"""The default start. Unlike "nndsvda" it scales with the data: entries of W and H are of size sqrt(mean / k)."""


def from_singular_vectors(
    left: Array, values: np.ndarray, right: Array, *, fill: str, mean: float, rng: np.random.Generator
) -> tuple[Array, Array]:
    """W and transposed H from u_i s_i v_i^T: the positive or the negative parts of each pair, whichever are longer.

    `fill` replaces zeros: "nndsvd" keeps them, "nndsvda" uses the mean of the matrix, "nndsvdar" small random numbers,
    and `FILLED` a share of the typical size of the factors.
    """
    xp = namespace(left)
    left, right = (xp.concat([xp.abs(f[:, :1]), f[:, 1:]], axis=1) for f in (left, right))  # of one sign, but for noise
    positive = [xp.where(factor > 0.0, factor, 0.0) for factor in (left, right)]
    negative = [part - factor for part, factor in zip(positive, (left, right), strict=True)]
    lengths = [[column_lengths(part) for part in parts] for parts in (positive, negative)]
    sizes = [rows * columns for rows, columns in lengths]
    chosen = sizes[0] >= sizes[1]
    # u / |u| times sqrt(s |u| |v|), and the same for v.
    roots = np.sqrt(values * np.where(chosen, *sizes))
    made = []
    for above, below, first, second in zip(positive, negative, *lengths, strict=True):
        length = np.where(chosen, first, second)
        scales = from_numpy(np.where(length > 0.0, roots / np.where(length > 0.0, length, 1.0), 0.0), left)
        half = xp.where(from_numpy(chosen, left), above, below)
        made.append(_filled(half * xp.astype(scales, left.dtype), fill, mean, rng))
    return made[0], made[1]


def column_lengths(factor: Array) -> np.ndarray:
    """Lengths of the columns, in float64 on the host."""
    xp = namespace(factor)
    return np.asarray(np.sqrt(to_numpy(xp.sum(factor * factor, axis=0, dtype=xp.float64))))


def _filled(factor: Array, fill: str, mean: float, rng: np.random.Generator) -> Array:
    xp = namespace(factor)
    if fill == FILLED:
        small = START_FILL * float(np.sqrt(mean / factor.shape[1]))
        return xp.where(factor < NEGLIGIBLE * small, small, factor)
    factor = xp.where(factor < NEGLIGIBLE, 0.0, factor)
    empty = factor == 0.0
    if fill == "nndsvda":
        return xp.where(empty, mean, factor)
    if fill == "nndsvdar":
        indices = to_numpy(empty)
        numbers = np.zeros(indices.shape)
        numbers[indices] = np.abs(mean * rng.standard_normal(int(indices.sum())) / 100.0)
        return xp.where(empty, xp.astype(from_numpy(numbers, factor), factor.dtype), factor)
    return factor


def random_start(
    rows: int, columns: int, k: int, mean: float, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """|normal| numbers such that an entry of W H is about the mean of the matrix."""
    size = np.sqrt(mean / k)
    right = size * np.abs(rng.standard_normal((k, columns)))
    left = size * np.abs(rng.standard_normal((rows, k)))
    return left, np.ascontiguousarray(right.T)
