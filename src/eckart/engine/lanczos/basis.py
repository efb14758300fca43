"""A growing Krylov basis: G M = M T + (0, ..., 0, R) + E, with R the residual of the newest block and E rounding.

Used for the main run, and for probe runs on P G P with P = I - F F^T, where F is `frozen`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from eckart.arrays import EPSILON, Array
from eckart.engine.backends.base import Backend, Draft
from eckart.engine.backends.symmetric import by_all, leading_pairs
from eckart.engine.certificate import coupling_factor
from eckart.engine.lanczos.rounding import ErrorMeter
from eckart.errors import NotFiniteError

_FIRST_ROOM = 128
"""Initial capacity of T, in columns."""
_ROUNDING_ONLY = 1e-3
"""A unit column with less than this left after projection was only rounding."""


@dataclass
class Basis:
    """M (stored as rows), T = M^T G M, and R^T R of the newest block.

    No step waits for its results: coefficients are read when they are needed.
    """

    backend: Backend
    rows: Array
    frozen: Array | None = None
    meter: ErrorMeter | None = None
    count: int = 0
    single: bool = False
    """Whether its first vectors came one at a time (`single`)."""
    coupled: int = 0
    """First column along which G times the next block has a component; the product with all older columns is zero."""
    rest: Array | None = None
    """R of the newest block."""
    _matrix: np.ndarray = field(default_factory=lambda: np.zeros((0, 0)))
    _residual_gram: np.ndarray = field(default_factory=lambda: np.zeros((0, 0)))
    _noise: float = 0.0
    _largest: float = 0.0
    _arriving: list[tuple[Callable[[], np.ndarray], slice, slice]] = field(default_factory=list)
    """For each block not yet recorded: coefficients and R^T R, the columns it is coupled to, and its own."""
    _gram: Array | None = None
    _draft: Draft | None = None
    """The next block, formed but not yet checked."""
    _pairs: tuple[np.ndarray, np.ndarray] | None = None
    """Ritz pairs of the current T: all, or the leading ones."""
    _coupling: np.ndarray | None = None

    @classmethod
    def with_capacity(
        cls, backend: Backend, size: int, capacity: int, *, frozen: Array | None = None, meter: ErrorMeter | None = None
    ) -> Basis:
        return cls(backend, backend.empty(capacity, size), frozen, meter)

    def grow(self, capacity: int) -> None:
        """Make room for this many columns."""
        self._record_arrived()
        rows, self.rows = self.rows, self.backend.empty(capacity, self.size)
        self.rows[: self.count, :] = rows[: self.count, :]

    @property
    def size(self) -> int:
        """Rows of M."""
        return int(self.rows.shape[1])

    @property
    def capacity(self) -> int:
        return int(self.rows.shape[0])

    @property
    def vectors(self) -> Array:
        """M."""
        return self.rows[: self.count, :].T

    @property
    def projected(self) -> np.ndarray:
        """T."""
        self._record_arrived()
        return self._matrix[: self.count, : self.count]

    @property
    def residual_gram(self) -> np.ndarray:
        """R^T R of the newest block."""
        self._record_arrived()
        return self._residual_gram

    @property
    def noise(self) -> float:
        """Root mean square of the skew part of the diagonal blocks of M^T G M: the rounding of an entry of T."""
        self._record_arrived()
        return self._noise

    @property
    def largest_entry(self) -> float:
        """The largest modulus of an entry of T, for estimates of its rounding."""
        self._record_arrived()
        return self._largest

    def ritz(self, count: int, prototype: Array) -> tuple[np.ndarray, np.ndarray]:
        """The `count` leading eigenpairs of T, decreasing; computed once for each T."""
        projected = self.projected
        if self._pairs is None or len(self._pairs[0]) < count:
            found = self.count if by_all(self.count, count, prototype) else count
            self._pairs = leading_pairs(projected, found, prototype=prototype)
        values, vectors = self._pairs
        return values[:count], vectors[:, :count]

    @property
    def coupling(self) -> np.ndarray:
        """R_c with R_c^T R_c = R^T R of the newest block; computed once."""
        gram = self.residual_gram
        if self._coupling is None:
            self._coupling = coupling_factor(gram)
        return self._coupling

    def coupled_to(self, coefficients: np.ndarray) -> np.ndarray:
        """R_c X."""
        return np.asarray(self.coupling @ coefficients[self.count - self.coupling.shape[1] :])

    def add(self, block: Array, product: Array) -> None:
        """Append an orthonormal block and record G times it. The product is overwritten.

        G block has components only along its own columns and those of the previous block. The rounding along all others
        is removed when the next block is formed, and is part of E.
        """
        first, last = self.count, self.count + block.shape[1]
        self._pairs = self._coupling = None
        self.rows[first:last, :] = block.T
        self.count = last
        if self.frozen is not None and self.frozen.shape[1]:
            product = self.backend.subtract(product, self.frozen, self.backend.inner(self.frozen, product))
        if self.meter is not None:
            self.meter.observe(product)
        near = self.rows[self.coupled : last, :].T
        columns, width = near.shape[1], product.shape[1]
        numbers = self.backend.empty(columns + width, width)
        rest = self.backend.subtract(product, near, self.backend.inner(near, product, numbers[:columns, :]))
        self._gram = self.backend.inner(rest, rest, numbers[columns:, :])
        self._arriving.append((self.backend.fetch_async(numbers), slice(self.coupled, first), slice(first, last)))
        self.coupled = first
        self.rest = rest
        room = self.size - self._known_count >= width
        self._draft = self.backend.draft_next_block(rest, self._gram, *self.known) if room else None

    def take_over(self, projected: np.ndarray, rest: Array, products: Array) -> None:
        """Record T, R of the last vector, and the products G M for vectors that are already in the empty basis."""
        count, self.single = len(projected), True
        if self.meter is not None:
            self.meter.observe(products)
            self.meter.note_length(float(np.linalg.norm(products)))
        self.count, self.coupled, self.rest = count, count - 1, rest
        self._make_room(count)
        self._matrix[:count, :count] = projected
        self._residual_gram = np.asarray(rest.T @ rest)
        self._largest = float(np.abs(projected).max())

    @property
    def known(self) -> tuple[Array, ...]:
        """F and M, mutually orthogonal; not copied into one array, which would double the working memory."""
        return (self.vectors,) if self.frozen is None or self.frozen.shape[1] == 0 else (self.frozen, self.vectors)

    @property
    def _known_count(self) -> int:
        return self.count + (0 if self.frozen is None else int(self.frozen.shape[1]))

    @property
    def complete(self) -> bool:
        """Whether nothing is left outside M (and F)."""
        return self._known_count == self.size

    @property
    def draft(self) -> Array | None:
        """The next block, not yet checked, if the backend has already formed it."""
        return None if self._draft is None else self._draft.block

    def next_block(self) -> Array:
        """An orthonormal basis of the residual, without directions at the level of rounding."""
        draft, self._draft = self._draft, None
        floor = 10 * EPSILON * self.largest_entry
        if draft is not None and draft.good(floor, _ROUNDING_ONLY):
            return draft.block
        return self.backend.next_block(self.rest, self.residual_gram, floor, *self.known)

    def _record_arrived(self) -> None:
        if not self._arriving:
            return
        arriving, self._arriving = self._arriving, []
        for fetched, coupled, own in arriving:
            numbers, columns = fetched(), own.stop - coupled.start
            if not np.isfinite(np.add.reduce(numbers, axis=None)):
                raise NotFiniteError(
                    "The products of the data with themselves overflow float64. Scale the data down first."
                )
            self._record(numbers[:columns], coupled, own)
            self._residual_gram = numbers[columns:]
            if self.meter is not None:
                total = float(np.vdot(numbers[:columns], numbers[:columns])) + float(numbers[columns:].trace())
                self.meter.note_length(max(total, 0.0) ** 0.5)

    def _record(self, coefficients: np.ndarray, coupled: slice, own: slice) -> None:
        older = coupled.stop - coupled.start
        self._make_room(own.stop)
        self._matrix[coupled, own] = coefficients[:older]
        self._matrix[own, coupled] = coefficients[:older].T
        square = coefficients[older:]
        self._matrix[own, own] = symmetric = (square + square.T) / 2.0
        # G is symmetric, so the skew part of M^T G M is rounding: the mean square of (S - S^T) / sqrt(2).
        skew = square - symmetric
        mean_square = 2.0 * float(np.vdot(skew, skew)) / max(skew.size, 1)
        moduli = np.abs(coefficients)
        self._noise = max(self._noise, mean_square**0.5, EPSILON * float(moduli[older:].max(initial=0.0)))
        self._largest = max(self._largest, float(moduli.max(initial=0.0)))

    def _make_room(self, count: int) -> None:
        """Allocate T for `count` columns only: most runs end long before the basis is full."""
        size = len(self._matrix)
        if count > size:
            larger = np.zeros((min(self.capacity, max(count, 2 * size, _FIRST_ROOM)),) * 2)
            larger[:size, :size] = self._matrix
            self._matrix = larger

    def compress(self, values: np.ndarray, coefficients: np.ndarray) -> None:
        """Thick restart: keep the Ritz vectors M X; the next block is coupled to all of them."""
        self._record_arrived()
        newest = self._residual_gram.shape[0]
        vectors = self.backend.times(self.vectors, coefficients)
        if self.meter is not None:
            self.meter.compress(self, vectors, values, coefficients[self.count - newest :])
        self.count = coefficients.shape[1]
        self.rows[: self.count, :] = vectors.T
        self._matrix[:] = 0.0
        np.fill_diagonal(self._matrix[: self.count, : self.count], values)
        self._largest = float(np.abs(values).max(initial=0.0))
        self._residual_gram = np.zeros((0, 0))
        self._pairs = self._coupling = None
        self.coupled = 0
