"""Choice of columns A[:, J] from the right singular vectors V (columns x k) or from the lengths of the columns.

The rows are chosen by the same functions from the left singular vectors. Guarantees and sources are in docs/cur.md. The
vectors stay on their device; only one length per column and a few thousand candidates are copied to the host.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from eckart.arrays import Array, from_numpy, is_numpy, namespace, to_numpy
from eckart.cur.constants import CANDIDATES, DEPENDENT, NEARLY, SELECTED_ROWS, TIED
from eckart.engine.parallel import each
from eckart.engine.threads import one_blas_thread


@dataclass(frozen=True)
class Chosen:
    """Chosen columns (or rows): indices, scale factors, and how often each was drawn."""

    indices: np.ndarray
    scales: np.ndarray
    times: np.ndarray

    def only(self, kept: np.ndarray) -> Chosen:
        """Some of them, in the same order."""
        return Chosen(self.indices[kept], self.scales[kept], self.times[kept])


def once(indices: np.ndarray) -> Chosen:
    """Unscaled columns, each chosen once."""
    return Chosen(np.asarray(indices, dtype=np.int64), np.ones(len(indices)), np.ones(len(indices), dtype=np.int64))


def by_norm(squares: np.ndarray, count: int, rng: np.random.Generator) -> Chosen:
    """`count` draws with replacement, with probability q_j = ||A_j||^2 / ||A||^2; each drawn column / sqrt(count q_j).

    A column drawn t times is kept once, times sqrt(t), so that C C^T is the same as with its t copies.
    """
    total = float(squares.sum())
    if total == 0.0:
        return once(np.zeros(1))
    chances = squares / total
    drawn = rng.choice(len(squares), size=count, p=chances)
    indices, times = np.unique(drawn, return_counts=True)
    return Chosen(indices.astype(np.int64), np.sqrt(times / (count * chances[indices])), times.astype(np.int64))


def by_leverage(vectors: Array, count: int, rng: np.random.Generator) -> Chosen:
    """`count` different columns, drawn one by one with probability proportional to ||V_j||^2 among those left."""
    leverage = _leverage(vectors)
    possible = int(np.sum(leverage > DEPENDENT * leverage.max(initial=0.0)))
    if possible == 0:
        return once(np.zeros(1))
    leverage = np.where(leverage > DEPENDENT * leverage.max(), leverage, 0.0)
    chances = leverage / leverage.sum()
    return once(rng.choice(len(leverage), size=min(count, possible), replace=False, p=chances))


def by_pivot(vectors: Array, count: int) -> Chosen:
    """The pivots of a QR of V^T: repeatedly the column that the chosen ones explain least.

    After k columns a new round starts among the remaining ones.
    """
    vectors = vectors[:, : max(1, min(count, vectors.shape[1]))]
    left = np.arange(vectors.shape[0])
    taken: list[np.ndarray] = []
    while count > 0 and len(left):
        pivots = _pivots(_some(vectors, left) if taken else vectors, count)
        if not len(pivots):
            break
        taken.append(left[pivots])
        left = np.delete(left, pivots)
        count -= len(pivots)
    return once(np.concatenate(taken) if taken else np.zeros(1))


def by_volume(vectors: Array, count: int, rng: np.random.Generator) -> Chosen:
    """k columns J with probability proportional to det(V_J)^2, one by one (adaptive randomised pivoting).

    Each is drawn in proportion to the part of ||V_j||^2 outside the chosen ones. To do so, it is drawn by ||V_j||^2 and
    accepted with the share outside, which is the same law and checks few columns. Expected squared error <= (k + 1)
    times that of the best rank k. Columns beyond k are drawn by leverage.
    """
    vectors = vectors[:, : max(1, min(count, vectors.shape[1]))]
    leverage = _leverage(vectors)
    if leverage.max(initial=0.0) == 0.0:
        return once(np.zeros(1))
    cumulative = np.cumsum(leverage)
    k = vectors.shape[1]
    basis = np.zeros((k, 0))
    indices: list[int] = []
    while len(indices) < k:
        drawn = np.searchsorted(cumulative, rng.random(4 * k) * cumulative[-1], side="right")
        for place, vector in zip(drawn, to_numpy(_some(vectors, drawn)), strict=True):
            rest = vector - basis @ (basis.T @ vector)
            rest -= basis @ (basis.T @ rest)
            square = float(rest @ rest)
            if square > DEPENDENT * leverage[place] and rng.random() * leverage[place] < square:
                indices.append(int(place))
                basis = np.column_stack([basis, rest / square**0.5])
            if len(indices) == k:
                break
    if count > k:
        leverage[indices] = 0.0
        more = by_leverage(np.sqrt(leverage)[:, None], count - k, rng).indices
        indices += [int(place) for place in more if leverage[place] > 0.0]
    return once(np.asarray(indices))


def _some(vectors: Array, indices: np.ndarray) -> Array:
    """Some of the rows, on their device."""
    if is_numpy(vectors):
        return vectors[indices]
    return namespace(vectors).take(vectors, from_numpy(indices, vectors), axis=0)


def _leverage(vectors: Array) -> np.ndarray:
    """||V_j||^2, on the host, in an array that may be changed."""
    if is_numpy(vectors):
        return np.asarray(np.einsum("ij,ij->i", vectors, vectors))
    return np.array(to_numpy(namespace(vectors).sum(vectors * vectors, axis=1)))


def _pivots(vectors: Array, count: int) -> np.ndarray:
    """Pivots of V^T, at most `count` and at most the number of independent columns.

    Residuals of columns never grow. Pivots among the columns with the largest residuals are therefore right while these
    exceed the residual of every other column. Then all residuals are computed again in one product.
    """
    left = _leverage(vectors)
    level = DEPENDENT * left.max(initial=0.0)
    size = max(CANDIDATES, 8 * vectors.shape[1])
    basis = np.zeros((vectors.shape[1], 0))
    taken: list[np.ndarray] = []
    while basis.shape[1] < min(count, *vectors.shape):
        order = np.arange(len(left)) if size >= len(left) else np.argpartition(-left, size)
        candidates, others = np.sort(order[:size]), order[size:]
        others_left = max(level, left[others].max(initial=0.0))
        pivots, directions = _first_pivots(to_numpy(_some(vectors, candidates)), basis, others_left)
        pivots = pivots[: count - basis.shape[1]]
        if not len(pivots):
            break
        taken.append(candidates[pivots])
        directions = directions[:, : len(pivots)]
        basis = np.concatenate([basis, directions], axis=1)
        left = left - _lengths_along(vectors, directions)
        left[candidates[pivots]] = 0.0
    return np.concatenate(taken) if taken else np.zeros(0, dtype=np.int64)


def _first_pivots(vectors: np.ndarray, basis: np.ndarray, level: float) -> tuple[np.ndarray, np.ndarray]:
    """(pivots of the part of V^T outside the basis, unit directions), while their squares exceed the level.

    The first one is taken even if it equals the level.
    """
    from scipy.linalg import qr

    with one_blas_thread():
        rest = vectors - (vectors @ basis) @ basis.T
        # Among columns of equal length the first is taken, regardless of rounding.
        rest *= 1.0 - TIED * np.arange(len(rest))[:, None] / len(rest)
        directions, triangle, pivots = qr(rest.T, mode="economic", pivoting=True, check_finite=False)
        for _ in range(2):
            directions = directions - basis @ (basis.T @ directions)
    squares = np.diagonal(triangle) ** 2
    enough = squares >= level
    count = len(enough) if enough.all() else int(np.argmin(enough))
    if count == 0 and squares[0] > NEARLY * level:
        count = 1
    return pivots[:count], directions[:, :count] / np.linalg.norm(directions[:, :count], axis=0)


def _lengths_along(vectors: Array, directions: np.ndarray) -> np.ndarray:
    """||V_j^T D||^2 for each row of V, on the host."""
    if not is_numpy(vectors):
        return _leverage(vectors @ from_numpy(directions, vectors))
    result = np.empty(len(vectors))

    def step(piece: slice) -> None:
        along = vectors[piece] @ directions
        np.einsum("ij,ij->i", along, along, out=result[piece])

    starts = range(0, len(vectors), SELECTED_ROWS)
    each(step, [slice(start, min(start + SELECTED_ROWS, len(vectors))) for start in starts])
    return result
