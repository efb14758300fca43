"""Host memory: NumPy arrays, SciPy CSR rows, and arrays of other libraries on the host."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from eckart.arrays import Array, Matrix, is_sparse, to_numpy
from eckart.engine.backends import host_csr
from eckart.engine.backends.base import Backend, Costs, Result, Speculation
from eckart.engine.backends.csr import CsrProducts
from eckart.engine.backends.digest import host_sums
from eckart.engine.backends.products import DenseProducts, RowProducts
from eckart.engine.backends.tall import without
from eckart.engine.constancy import differing, differing_stored
from eckart.errors import MemoryBudgetError

if TYPE_CHECKING:
    from eckart.engine.backends.memory import Counter
    from eckart.engine.rows import RowBlocks

_ROWS = 65536


class HostBackend(Backend):
    """Everything is computed immediately."""

    # The rates are those of a two-core machine; only their ratios matter for the choice.
    costs = Costs(
        dense_rate={"float32": 1.6e11, "float64": 8e10},
        sparse_rate=1.5e10,
        eigen_speed=1.0,
        dense_blocks=None,
        sparse_blocks=(8, 16),
        on_trial=True,
        probe_threshold=0.1,
        first_check=0,
    )
    csr = host_csr
    synchronous = True
    float32_squares = False
    fast_float64 = False

    def fetch_async(self, array: Array) -> Callable[[], np.ndarray]:
        return lambda: to_numpy(array)

    def subtract(self, tall: Array, basis: Array, coefficients: Array) -> Array:
        return without(tall, basis, coefficients)

    def speculate(self, work: Callable[[], Result]) -> Speculation[Result]:
        return Speculation(work)

    def products(self, rows: RowBlocks) -> RowProducts:
        return CsrProducts(rows, self.csr) if rows.sparse else DenseProducts(rows)

    def within_memory(self, counter: Counter, work: Callable[[], Result]) -> Result:
        try:
            return work()
        except MemoryBudgetError:
            raise
        except MemoryError as error:
            raise MemoryBudgetError(
                f"A pass over the data needs more memory than is available ({error}). Use fewer columns, request "
                "fewer components, or use a machine with more memory."
            ) from error

    def cross_products(self, block: Array) -> Array:
        return block.T @ block  # BLAS forms only one half

    def largest(self, data: Array, low: float, high: float) -> float:
        stride = -(-data.shape[0] // max(1, min(256, 500_000 // data.shape[1])))
        sample = to_numpy(data[::stride, :])
        sample = sample if sample.dtype == np.float32 else sample.astype(np.float64, copy=False)
        with np.errstate(invalid="ignore"):
            largest = float(np.fmax.reduce(np.abs(sample), axis=None, initial=0.0))
        if low < largest < high:
            return largest
        whole = to_numpy(data)
        pieces = (whole[i : i + _ROWS].astype(np.float64) for i in range(0, whole.shape[0], _ROWS))
        return max(float(np.fmax.reduce(np.abs(piece), axis=None, initial=0.0)) for piece in pieces)

    def varying(self, rows: Matrix, reference: np.ndarray) -> np.ndarray:
        return differing_stored(rows, reference) if is_sparse(rows) else differing(to_numpy(rows), reference)

    def digest(self, data: Matrix, first: int, workers: int | None = None) -> Callable[[], tuple[int, int]]:
        return lambda: host_sums(data if is_sparse(data) else to_numpy(data), first, workers)
