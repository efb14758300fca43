"""The Lanczos method with one vector at a time: A Q = Q T + r e^T with orthonormal Q and tridiagonal T."""

from __future__ import annotations

from math import sqrt

import numpy as np
from scipy.linalg import lapack

_ORTHOGONAL = 0.7
"""Share of its length that a residual keeps in the projection against the basis unless that has to be repeated."""
_PROJECTIONS = 3
"""Maximum number of projections."""
_BREAKDOWN = 1e-10
"""Relative length of a residual at which its direction is lost in rounding."""


class Tridiagonal:
    """Q, stored as rows that the caller allocates, and T, for up to `most` vectors."""

    def __init__(self, rows: np.ndarray, most: int) -> None:
        self.rows = rows
        self.diagonal, self.off_diagonal = np.zeros(most), np.zeros(most)
        self._largest = 0.0
        """The largest modulus on the diagonal."""

    def step(self, count: int, product: np.ndarray) -> np.ndarray:
        """r of `count` + 1 vectors, given A times the last of them; it is orthogonal to all, and ends up in T."""
        known, newest = self.rows[: count + 1], self.rows[count]
        # A times the newest vector has components along this and the previous one; along all others only rounding.
        self.diagonal[count] = along = float(newest.dot(product))
        self._largest = max(self._largest, abs(along))
        if count:
            both = np.array([self.off_diagonal[count - 1], along])
            rest: np.ndarray = product - both.dot(self.rows[count - 1 : count + 1])
        else:
            rest = product - along * newest
        length = sqrt(rest.dot(rest))
        for _ in range(_PROJECTIONS):
            rest -= known.dot(rest).dot(known)
            before, length = length, sqrt(rest.dot(rest))
            if not length < _ORTHOGONAL * before:  # the criterion of Daniel, Gragg, Kaufman and Stewart (1976)
                break
        self.off_diagonal[count] = length
        return rest

    def is_lost(self, count: int) -> bool:
        """Whether nothing but rounding is left of r: the vectors span an invariant subspace."""
        return bool(self.off_diagonal[count - 1] <= _BREAKDOWN * self._largest)

    def leading(self, count: int, wanted: int) -> tuple[np.ndarray, np.ndarray]:
        """The leading eigenvalues of T, decreasing, and their vectors."""
        off = np.append(self.off_diagonal[: count - 1], 0.0)  # overwritten, and one longer than the subdiagonal
        found, values, vectors, failed = lapack.dstemr(
            self.diagonal[:count], off, 2, 0.0, 0.0, count - wanted + 1, count
        )
        if failed or found != wanted:
            values, vectors = np.linalg.eigh(self.projected(count))
            return values[::-1][:wanted], vectors[:, ::-1][:, :wanted]
        return values[:wanted][::-1], vectors[:, :wanted][:, ::-1]

    def projected(self, count: int) -> np.ndarray:
        """T."""
        off = self.off_diagonal[: count - 1]
        return np.diag(self.diagonal[:count]) + np.diag(off, 1) + np.diag(off, -1)
