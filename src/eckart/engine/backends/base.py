"""What a solver asks of the place where its arrays live: random blocks, orthonormal blocks, asynchronous copies.

`backend_of(prototype)` returns the backend of an array. Solvers call it and never ask where arrays live. The host runs
everything at once. A GPU runs ahead of the host: blocks are formed first and checked when the host gets to them, and
speculative work is queued while the host checks convergence.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np

from eckart.arrays import Array, empty_rows, fetch_later, from_numpy, is_host, to_numpy
from eckart.engine.backends import orthogonal
from eckart.engine.backends.cuda import orthogonal as orthogonal_device
from eckart.engine.backends.tall import inner, less, times

Result = TypeVar("Result")


@dataclass(frozen=True)
class Costs:
    """What depends on how expensive columns and convergence checks are."""

    probe_threshold: float
    """Probes join when every wanted residual is below this share of the last wanted value."""
    first_check: int
    """Convergence is not checked before the basis has this many times k columns."""


@dataclass
class Speculation(Generic[Result]):
    """Work that may turn out to be needed: queued at once on a GPU, done on `take` on the host."""

    work: Callable[[], Result]
    result: Result | None = None

    def take(self) -> Result:
        return self.work() if self.result is None else self.result


class Backend:
    """NumPy and other arrays in host memory."""

    costs = Costs(probe_threshold=0.1, first_check=0)

    def __init__(self, prototype: Array) -> None:
        self.prototype = prototype

    def asarray(self, host: np.ndarray) -> Array:
        return from_numpy(host, self.prototype)

    def to_host(self, array: Array) -> np.ndarray:
        return np.asarray(to_numpy(array))

    def empty(self, rows: int, columns: int) -> Array:
        return empty_rows(rows, columns, self.prototype)

    def fetch_async(self, array: Array) -> Callable[[], np.ndarray]:
        return fetch_later(array)

    def normals(self, rng: np.random.Generator, rows: int, columns: int) -> Array:
        """Independent standard normal numbers."""
        return orthogonal.gaussian(rng, rows, columns, self.prototype)

    def signs(self, rng: np.random.Generator, rows: int, columns: int) -> Array:
        """Independent random signs."""
        return orthogonal.random_start(rng, rows, columns, self.prototype)

    def inner(self, first: Array, second: Array, place: Array | None = None) -> Array:
        """A^T B in float64."""
        return inner(first, second, place)

    def times(self, tall: Array, small: np.ndarray) -> Array:
        """A S for a small S on the host."""
        return times(tall, from_numpy(np.ascontiguousarray(small), tall))

    def subtract(self, tall: Array, basis: Array, coefficients: Array) -> Array:
        """Z - M C; Z may be overwritten."""
        return less(tall, basis, coefficients)

    def orthonormalize(self, block: Array) -> Array:
        return orthogonal.orthonormalize(block)

    def draft_orthonormal(self, block: Array) -> tuple[Array, Callable[[], bool]]:
        """(an orthonormal basis of the block, whether it is one): a GPU checks it afterwards."""
        return orthogonal.orthonormalize(block), lambda: True

    def next_block(self, rest: Array, gram: np.ndarray, known: Array, floor: float) -> Array:
        """An orthonormal basis of `rest`, orthogonal to `known`, without directions shorter than `floor`."""
        return orthogonal.next_block(rest, gram, known, floor)[0]

    def outside(self, random: Array, *known: Array) -> tuple[Array, Callable[[], np.ndarray]]:
        """(Q, coordinates): an orthonormal basis of what `random` has outside `known`, and Q^T random."""
        return orthogonal.outside(random, *known)

    def draft_next_block(self, rest: Array, gram: Array, known: Array) -> orthogonal_device.Made | None:
        """The next block, formed before anybody has checked it; None where that saves nothing."""
        return None

    def speculate(self, work: Callable[[], Result]) -> Speculation[Result]:
        return Speculation(work)


class DeviceBackend(Backend):
    """A GPU: the host queues work and reads results when it needs them."""

    costs = Costs(probe_threshold=0.5, first_check=2)

    def draft_orthonormal(self, block: Array) -> tuple[Array, Callable[[], bool]]:
        if not orthogonal_device.usable(block):
            return super().draft_orthonormal(block)
        made = orthogonal_device.orthonormalized(block)
        return made.block, lambda: made.good(0.0)

    def draft_next_block(self, rest: Array, gram: Array, known: Array) -> orthogonal_device.Made | None:
        return orthogonal_device.orthonormalized(rest, gram, known) if orthogonal_device.usable(rest) else None

    def speculate(self, work: Callable[[], Result]) -> Speculation[Result]:
        return Speculation(work, work())


def backend_of(prototype: Array) -> Backend:
    """The backend of an array."""
    return Backend(prototype) if is_host(prototype) else DeviceBackend(prototype)
