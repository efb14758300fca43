"""The growing basis of block Lanczos: G M = M T + (0, ..., 0, Z), with what rounding did to it, measured."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from eckart.arrays import Array, empty_rows, fetch_later, from_numpy
from eckart.engine.backends import orthogonal
from eckart.engine.backends.cuda import orthogonal as orthogonal_device
from eckart.engine.backends.cuda.orthogonal import Made
from eckart.engine.backends.tall import inner, less, times
from eckart.engine.certificate import Compression

_UNIT = float(np.finfo(np.float64).eps)


@dataclass
class Basis:
    """M (kept as rows), T = M^T G M, and R^T R of the newest block.

    Beside a GPU nothing waits for the host within a step: what is recorded here arrives when it is asked for.
    """

    rows: Array
    _matrix: np.ndarray
    """T; what is not recorded is not set."""
    count: int = 0
    coupled: int = 0
    """G of the next block meets only the columns from here on; with all older ones its product is zero."""
    _newest: np.ndarray = field(default_factory=lambda: np.zeros((0, 0)))
    _noise: float = 0.0
    dropped: float = 0.0
    """Length of all that blocks left out of Z: later blocks may meet it, where T has zeros."""
    _arriving: list[tuple[Callable[[], np.ndarray], slice, slice]] = field(default_factory=list)
    """Of each block that is not recorded yet: its coefficients and R^T R, the columns that it meets, and its own."""
    _gram: Array | None = None
    """R^T R of the newest block, where the block is."""
    _made: Made | None = None
    """A block that was made at once, not checked yet."""

    @property
    def matrix(self) -> np.ndarray:
        """T, in the corner of as many rows and columns as there are vectors."""
        self._settle()
        return self._matrix

    @property
    def newest(self) -> np.ndarray:
        """R^T R of the newest block."""
        self._settle()
        return self._newest

    @property
    def noise(self) -> float:
        """Rounding of an entry of T."""
        self._settle()
        return self._noise

    @property
    def vectors(self) -> Array:
        return self.rows[: self.count, :].T

    @property
    def compression(self) -> Compression:
        size = self.count
        spread = self.noise * float(self.rows.shape[1]) ** 0.5
        return Compression(self.matrix[:size, :size], self.newest, spread, self.rows)

    def add(self, block: Array, image: Array) -> Array:
        """Append a block and G block; gives the part of G block outside the basis. The image is gone.

        G block meets only its own columns and those of the block before; the rounding along all others is cleared
        when the next block is made.
        """
        first, last = self.count, self.count + block.shape[1]
        self._store(first, block)
        near = self.rows[self.coupled : last, :].T
        columns, width = near.shape[1], image.shape[1]
        numbers = empty_rows(columns + width, width, image)
        rest = less(image, near, inner(near, image, numbers[:columns, :]))
        self._gram = inner(rest, rest, numbers[columns:, :])
        fetched = fetch_later(numbers)
        self._arriving.append((fetched, slice(self.coupled, first), slice(first, last)))
        self.coupled = first
        return rest

    def begin(self, rest: Array) -> None:
        """Beside a GPU: make the next block, whatever the host will think of this one."""
        room = self.rows.shape[1] - self.count >= rest.shape[1]
        if room and orthogonal_device.usable(rest):
            self._made = orthogonal_device.orthonormalized(rest, self._gram, self.vectors)

    @property
    def upcoming(self) -> Array | None:
        """The next block, where it is made already."""
        return None if self._made is None else self._made.block

    def continue_from(self, rest: Array) -> Array:
        """The next block; one that was made at once is good only when it is `confirmed`."""
        return self.continue_with_care(rest) if self._made is None else self._made.block

    def confirmed(self) -> bool:
        """Whether the block that `continue_from` gave may be used."""
        made, self._made = self._made, None
        return made is None or made.good(self._floor, orthogonal.ROUNDING_ONLY)

    def continue_with_care(self, rest: Array) -> Array:
        """The next block; what it leaves out of Z counts as noise, which may point one way."""
        following, dropped = orthogonal.next_block(rest, self.newest, self.vectors, self._floor)
        self.dropped += dropped
        self._noise = max(self._noise, dropped / float(self.rows.shape[1]) ** 0.5)
        return following

    @property
    def _floor(self) -> float:
        """Directions shorter than this are rounding."""
        return 10 * _UNIT * float(np.abs(self.matrix[: self.count, : self.count]).max(initial=0.0))

    def _store(self, first: int, block: Array) -> None:
        last = first + block.shape[1]
        self.rows[first:last, :] = block.T
        self.count = last

    def _settle(self) -> None:
        """Record what is on its way."""
        arriving, self._arriving = self._arriving, []
        for fetched, met, own in arriving:
            numbers, columns = fetched(), own.stop - met.start
            self._record(numbers[:columns], met, own)
            self._newest = numbers[columns:]

    def _record(self, coefficients: np.ndarray, met: slice, own: slice) -> None:
        older = met.stop - met.start
        self._matrix[own, : own.stop] = self._matrix[: own.stop, own] = 0.0
        self._matrix[met, own] = coefficients[:older]
        self._matrix[own, met] = coefficients[:older].T
        square = coefficients[older:]
        # G is symmetric, so what is not symmetric in M^T G M is rounding, measured.
        skew = float(np.sqrt(np.mean((square - square.T) ** 2) / 2.0)) if square.shape[0] > 1 else 0.0
        self._noise = max(self._noise, skew, _UNIT * float(np.abs(square).max(initial=0.0)))
        self._matrix[own, own] = (square + square.T) / 2.0

    def compress(self, values: np.ndarray, coefficients: np.ndarray) -> None:
        """Thick restart: keep the Ritz vectors M X; the next block meets them all."""
        self._settle()
        vectors = times(self.vectors, from_numpy(coefficients, self.rows))
        self._store(0, vectors)
        self._matrix[: self.count, : self.count] = np.diag(values)
        self._newest = np.zeros((0, 0))
        self.coupled = 0
