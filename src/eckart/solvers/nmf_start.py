"""Where to start: parts of singular vectors (NNDSVD, Boutsidis and Gallopoulos 2008) or random numbers."""

from __future__ import annotations

import numpy as np

_CUT = 1e-6


def from_singular_vectors(
    left: np.ndarray, values: np.ndarray, right: np.ndarray, *, fill: str, mean: float, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """W and turned H from u_i s_i v_i^T: of each pair the positive or the negative halves, whichever are longer.

    `fill` is what becomes of zeros: "nndsvd" keeps them, "nndsvda" takes the mean of the matrix, "nndsvdar" small
    random numbers.
    """
    rows, columns = np.empty_like(left), np.empty_like(right)
    for i in range(values.shape[0]):
        u, v = left[:, i], right[:, i]
        if i == 0:
            u, v, length = np.abs(u), np.abs(v), 1.0
        else:
            u, v, length = _longer_halves(u, v)
        root = np.sqrt(values[i] * length)
        rows[:, i], columns[:, i] = root * u, root * v
    rows[rows < _CUT], columns[columns < _CUT] = 0.0, 0.0
    for factor in (rows, columns) if fill != "nndsvd" else ():
        empty = factor == 0.0
        factor[empty] = mean if fill == "nndsvda" else np.abs(mean * rng.standard_normal(int(empty.sum())) / 100.0)
    return rows, columns


def _longer_halves(u: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
    """Unit positive parts of (u, v) or of (-u, -v), and the product of their lengths."""
    found = []
    for sign in (1.0, -1.0):
        a, b = np.maximum(sign * u, 0.0), np.maximum(sign * v, 0.0)
        found.append((float(np.linalg.norm(a)), float(np.linalg.norm(b)), a, b))
    first, second, a, b = max(found, key=lambda pair: pair[0] * pair[1])
    length = first * second
    if length == 0.0:
        return np.zeros_like(u), np.zeros_like(v), 0.0
    return a / first, b / second, length


def random_start(
    rows: int, columns: int, k: int, mean: float, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """|normal| numbers such that an entry of W H is about the mean of the matrix."""
    size = np.sqrt(mean / k)
    right = size * np.abs(rng.standard_normal((k, columns)))
    left = size * np.abs(rng.standard_normal((rows, k)))
    return left, np.ascontiguousarray(right.T)
