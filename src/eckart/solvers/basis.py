"""The growing basis of block Lanczos: G M = M T + (0, ..., 0, Z), with what rounding did to it, measured."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from eckart.array_api import Array, from_numpy, namespace, to_numpy
from eckart.solvers import orthogonal
from eckart.solvers.certificate import Compression
from eckart.solvers.tall import inner, times, without

_UNIT = float(np.finfo(np.float64).eps)


@dataclass
class Basis:
    """M (kept as rows), T = M^T G M, and R^T R of the newest block."""

    rows: Array
    matrix: np.ndarray
    count: int = 0
    coupled: int = 0
    """G of the next block meets only the columns from here on; with all older ones its product is zero."""
    newest: np.ndarray = field(default_factory=lambda: np.zeros((0, 0)))
    noise: float = 0.0

    @property
    def vectors(self) -> Array:
        return self.rows[: self.count, :].T

    @property
    def compression(self) -> Compression:
        size = self.count
        spread = self.noise * float(self.rows.shape[1]) ** 0.5
        return Compression(self.matrix[:size, :size], self.newest, spread, self.rows)

    def add(self, block: Array, image: Array) -> Array:
        """Append a block and G block; gives the part of G block outside the basis.

        G block meets only its own columns and those of the block before; the rounding along all others is cleared
        when the next block is made.
        """
        first, last = self.count, self.count + block.shape[1]
        self._store(first, block)
        near = self.rows[self.coupled : last, :].T
        coefficients = inner(near, image)
        rest = without(image, near, coefficients)
        # In one piece: beside a GPU each way to the host is a wait.
        fetched = to_numpy(namespace(rest).concat([coefficients, inner(rest, rest)], axis=0))
        self._record(fetched[: last - self.coupled], first, last)
        self.newest = fetched[last - self.coupled :]
        self.coupled = first
        return rest

    def continue_from(self, rest: Array) -> Array:
        """The next block; what it leaves out of Z counts as noise."""
        floor = 10 * _UNIT * float(np.abs(self.matrix[: self.count, : self.count]).max(initial=0.0))
        following, dropped = orthogonal.next_block(rest, self.newest, self.vectors, floor)
        self.noise = max(self.noise, dropped / float(self.rows.shape[1]) ** 0.5)
        return following

    def _store(self, first: int, block: Array) -> None:
        last = first + block.shape[1]
        self.rows[first:last, :] = block.T
        self.count = last

    def _record(self, coefficients: np.ndarray, first: int, last: int) -> None:
        older = first - self.coupled
        self.matrix[self.coupled : first, first:last] = coefficients[:older]
        self.matrix[first:last, self.coupled : first] = coefficients[:older].T
        square = coefficients[older:]
        # G is symmetric, so what is not symmetric in M^T G M is rounding, measured.
        skew = float(np.sqrt(np.mean((square - square.T) ** 2) / 2.0)) if last - first > 1 else 0.0
        self.noise = max(self.noise, skew, _UNIT * float(np.abs(square).max(initial=0.0)))
        self.matrix[first:last, first:last] = (square + square.T) / 2.0

    def compress(self, values: np.ndarray, coefficients: np.ndarray) -> None:
        """Thick restart: keep the Ritz vectors M X; the next block meets them all."""
        vectors = times(self.vectors, from_numpy(coefficients, self.rows))
        self.matrix[:] = 0.0
        self._store(0, vectors)
        self.matrix[: self.count, : self.count] = np.diag(values)
        self.newest = np.zeros((0, 0))
        self.coupled = 0
