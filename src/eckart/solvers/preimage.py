"""Pre-images: rows z whose images phi(z) come near a point of the kernel's space, P = sum_i gamma_i phi(x_i).

A point with scores y is P = sum_k y_k v_k + mean = sum_i (dual y + base)_i phi(x_i). There is seldom a row with exactly
that image; three ways find a near one: "ridge" (learned from scores to rows), "fixed_point" (Mika's iteration) and
"neighbours" (Kwok and Tsang: distances to the nearest points of the support). ||phi(z) - P|| says how near.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from eckart.errors import ParameterError
from eckart.parameters import check_choice
from eckart.solvers.preimage_ridge import Ridge, learn

HOW = ("ridge", "fixed_point", "neighbours")
_ROWS = 256


@dataclass(frozen=True)
class Expansion:
    """Points of the kernel's space by their scores; `kernel` has `points`, `tile` and `diagonal`."""

    kernel: Any
    support: Any
    shift: np.ndarray | None
    support_scores: np.ndarray
    dual: np.ndarray | None
    base: np.ndarray
    means: np.ndarray
    """<phi(x_i), mean>."""
    grand: float
    """<mean, mean>."""
    offset: np.ndarray
    """<v_k, mean>."""

    @property
    def exact(self) -> bool:
        """Whether points are known as combinations of the support."""
        return self.dual is not None

    def weights(self, scores: np.ndarray) -> np.ndarray:
        """gamma, one row per point."""
        return np.asarray(scores @ self.dual.T + self.base)  # type: ignore[union-attr]

    def products(self, scores: np.ndarray) -> np.ndarray:
        """<P, phi(x_i)> for every point of the support, without a kernel: K dual = scores of the support + offset."""
        return np.asarray(scores @ self.support_scores.T + (scores @ self.offset)[:, None] + self.means)

    def squares(self, scores: np.ndarray) -> np.ndarray:
        """<P, P>."""
        return np.asarray(np.einsum("ij,ij->i", scores, scores) + 2.0 * scores @ self.offset + self.grand)

    def compared(self, rows: np.ndarray, kernel: Any = None) -> np.ndarray:
        """k(z, x_i) for rows z, or another kernel."""
        kernel = kernel or self.kernel
        if hasattr(self.support, "tocsr"):
            rows = type(self.support)(rows)
        return np.asarray(kernel.tile(kernel.points(rows, self.shift), kernel.points(self.support, self.shift)))

    def distances(self, rows: np.ndarray, scores: np.ndarray, weights: np.ndarray | None = None) -> np.ndarray:
        """||phi(z) - P|| of every row."""
        weights = self.weights(scores) if weights is None else weights
        cross = np.einsum("ij,ij->i", self.compared(rows), weights)
        squares = self.kernel.diagonal(rows) - 2.0 * cross + self.squares(scores)
        return np.asarray(np.sqrt(np.maximum(squares, 0.0)))


@dataclass(frozen=True)
class Preimages:
    """Rows, and ||phi(z) - P|| of each; `lengths` are those of the points P about the mean, to compare with."""

    rows: np.ndarray
    distances: np.ndarray
    lengths: np.ndarray


def preimages(
    expansion: Expansion,
    scores: np.ndarray,
    *,
    how: str = "ridge",
    alpha: float | str = "auto",
    ridge: Ridge | None = None,
) -> Preimages:
    """A row for every row of scores, with its distance in the kernel's space (NaN where the kernel gives none)."""
    check_choice("preimage", how, HOW)
    scores = np.asarray(scores, np.float64)
    find: Callable[[np.ndarray], np.ndarray]
    if how == "ridge":
        ridge = ridge or learn(expansion.support_scores, expansion.support, alpha, expansion.kernel)
        find = ridge.predict
    else:
        _refuse_other_kernels(expansion, how)
        if how == "fixed_point":
            from eckart.solvers.preimage_fixed import iterate

            find = partial(iterate, expansion)
        else:
            from eckart.solvers.preimage_neighbours import locate

            find = partial(locate, expansion)
    pieces = [scores[start : start + _ROWS] for start in range(0, len(scores), _ROWS)]
    rows = np.vstack([find(piece) for piece in pieces])
    distances = np.full(len(scores), np.nan)
    if expansion.exact:
        starts = range(0, len(scores), _ROWS)
        found = [expansion.distances(rows[s : s + _ROWS], scores[s : s + _ROWS]) for s in starts]
        distances = np.concatenate(found)
    return Preimages(rows, distances, np.linalg.norm(scores, axis=1))


def _refuse_other_kernels(expansion: Expansion, how: str) -> None:
    allowed = ("rbf", "poly", "sigmoid")
    if expansion.kernel.name not in allowed:
        raise ParameterError(
            f"preimage={how!r} needs a kernel whose slope is known ({', '.join(allowed)}), and the kernel is "
            f"{expansion.kernel.name!r}. Take preimage='ridge'."
        )
