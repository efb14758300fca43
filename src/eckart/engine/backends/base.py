"""Everything that depends on the device: one `Backend` per device type, chosen by `select.backend_of`.

    host.py     NumPy, SciPy's CSR rows, and every other library whose arrays are in the memory of the processor
    device.py   a GPU, with PyTorch or CuPy

Solvers call these methods and never check the device. On the host, calls complete immediately. On a GPU, the host
queues work, reads results when it needs them, and checks blocks after they were formed.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

import numpy as np

from eckart.arrays import Array, Matrix, empty_rows, from_numpy, is_numpy, is_sparse, namespace, to_numpy
from eckart.engine.backends import orthogonal
from eckart.engine.backends.tall import inner, times

if TYPE_CHECKING:
    from eckart.engine.backends.csr import CsrFunctions
    from eckart.engine.backends.memory import Counter
    from eckart.engine.backends.products import RowProducts
    from eckart.engine.rows import RowBlocks

Result = TypeVar("Result")


@dataclass(frozen=True)
class Costs:
    """Costs of operations, as far as the choice of a solver and its schedule depend on them."""

    dense_rate: Mapping[str, float]
    """Multiply-adds per second in dense products, by precision."""
    sparse_rate: float
    """The same in products with CSR rows."""
    eigen_speed: float
    """How much faster large eigenproblems are than by LAPACK on the host."""
    dense_blocks: tuple[int, int] | None
    """Columns of a Lanczos block for dense rows: for k up to 16, and for larger k; None if only k matters."""
    sparse_blocks: tuple[int, int] | None
    """The same for CSR rows in memory: for k up to 12, and for more."""
    on_trial: bool
    """Whether block Lanczos on dense rows may be abandoned in favour of the Gram matrix."""
    probe_threshold: float
    """Probes join when every wanted residual is below this share of the last wanted value."""
    first_check: int
    """Convergence is not checked before the basis has this many times k columns."""


class Draft(Protocol):
    """A block that was formed but not yet checked."""

    @property
    def block(self) -> Array: ...

    def good(self, floor: float, later_floor: float = 0.0) -> bool:
        """Whether it is orthonormal and no direction longer than `floor` was dropped."""
        ...


@dataclass
class Speculation(Generic[Result]):
    """Work that may be needed: already queued, or done when it is taken."""

    work: Callable[[], Result]
    started: bool = False
    """Whether the work is already queued, so that it is wasted if not used."""
    _result: Result | None = None

    def __post_init__(self) -> None:
        if self.started:
            self._result = self.work()

    def take(self) -> Result:
        return self.work() if self._result is None else self._result


class Backend(ABC):
    """Operations on one device. `prototype` is an empty array that determines library and device."""

    costs: Costs
    csr: CsrFunctions
    """Functions for CSR rows."""
    synchronous: bool
    """Whether a result is complete when a call returns, so that reading it does not block."""
    float32_squares: bool
    """Whether sums of squares of float32 rows are formed in float32 over a few rows at a time."""

    def __init__(self, prototype: Array) -> None:
        self.prototype = prototype

    # Copies

    def asarray(self, host: np.ndarray) -> Array:
        return from_numpy(host, self.prototype)

    def to_host(self, array: Array) -> np.ndarray:
        return np.asarray(to_numpy(array))

    def empty(self, rows: int, columns: int) -> Array:
        return empty_rows(rows, columns, self.prototype)

    @abstractmethod
    def fetch_async(self, array: Array) -> Callable[[], np.ndarray]:
        """The same numbers on the host when requested; nothing waits for them before that."""

    # Random blocks

    def normals(self, rng: np.random.Generator, rows: int, columns: int) -> Array:
        """Independent standard normal numbers."""
        return orthogonal.gaussian(rng, rows, columns, self.prototype)

    def signs(self, rng: np.random.Generator, rows: int, columns: int) -> Array:
        """Independent random signs."""
        return orthogonal.random_start(rng, rows, columns, self.prototype)

    # Tall blocks, in float64

    def inner(self, first: Array, second: Array, place: Array | None = None) -> Array:
        """A^T B."""
        return inner(first, second, place)

    def times(self, tall: Array, small: np.ndarray) -> Array:
        """A S for a small S on the host."""
        return times(tall, from_numpy(np.ascontiguousarray(small), tall))

    @abstractmethod
    def subtract(self, tall: Array, basis: Array, coefficients: Array) -> Array:
        """Z - M C; Z may be overwritten."""

    def orthonormalize(self, block: Array) -> Array:
        return orthogonal.orthonormalize(block)

    def next_block(self, rest: Array, gram: np.ndarray, floor: float, *known: Array) -> Array:
        """An orthonormal basis of `rest`, orthogonal to `known`, without directions shorter than `floor`."""
        return orthogonal.next_block(rest, gram, floor, *known)[0]

    def outside(self, random: Array, *known: Array) -> tuple[Array, Callable[[], np.ndarray]]:
        """(Q, coordinates): an orthonormal basis of the part of `random` outside `known`, and Q^T random."""
        block, coordinates = orthogonal.outside(random, *known)
        return block, self.fetch_async(coordinates)

    # Running ahead of the host

    def draft_orthonormal(self, block: Array) -> Draft | None:
        """An orthonormal basis of the block, not yet checked; None if that saves nothing."""
        return None

    def draft_next_block(self, rest: Array, gram: Array | None, *known: Array) -> Draft | None:
        """An orthonormal basis of the part of `rest` outside `known`, not yet checked; None if that saves nothing."""
        return None

    @abstractmethod
    def speculate(self, work: Callable[[], Result]) -> Speculation[Result]:
        """Work that may be needed, started now if the host can do something else meanwhile, otherwise when taken."""

    # Rows in memory

    @abstractmethod
    def products(self, rows: RowBlocks) -> RowProducts:
        """Products with rows in memory, one pass each."""

    @abstractmethod
    def within_memory(self, counter: Counter, work: Callable[[], Result]) -> Result:
        """The result of work on blocks of rows, repeated in smaller blocks if memory runs out."""

    @abstractmethod
    def cross_products(self, block: Array) -> Array:
        """A^T A."""

    @abstractmethod
    def largest(self, data: Array, low: float, high: float) -> float:
        """The largest modulus: of a sample if it is between `low` and `high`, otherwise of all entries."""

    @abstractmethod
    def varying(self, rows: Matrix, reference: np.ndarray) -> np.ndarray:
        """Whether any entry of each column differs from that of `reference`, exactly."""

    @abstractmethod
    def digest(self, data: Matrix, first: int, workers: int | None = None) -> Callable[[], tuple[int, int]]:
        """Both sums of `engine.digest` over rows that start at row `first`, computed on request."""

    @property
    @abstractmethod
    def fast_float64(self) -> bool:
        """Whether float64 products cost no more than float32 products."""

    def take_rows(self, matrix: Matrix, indices: np.ndarray) -> Matrix:
        """A[places, :]."""
        if is_numpy(matrix) or is_sparse(matrix):
            return matrix[indices]
        return namespace(matrix).take(matrix, from_numpy(np.asarray(indices), matrix), axis=0)

    def take_columns(self, matrix: Matrix, indices: np.ndarray) -> Matrix:
        """A[:, places]; no index occurs twice."""
        if is_numpy(matrix) or is_sparse(matrix):
            return matrix[:, indices]
        return namespace(matrix).take(matrix, from_numpy(np.asarray(indices), matrix), axis=1)

    def rows_between(self, matrix: Matrix, start: int, stop: int) -> Matrix:
        """Rows start..stop, entries shared."""
        return matrix[start:stop, :]
