"""Losses that are added up entry by entry, for CSR rows on a GPU: the steps of `nmf_entries` by its kernel."""

from __future__ import annotations

from typing import Any

from eckart.array_api import Array, astype, namespace
from eckart.errors import require
from eckart.kernels import cuda_nmf
from eckart.kernels.device_arrays import given_back
from eckart.solvers.nmf_entries import FLOOR, SHARE, Entries
from eckart.solvers.nmf_problem import Half, Penalties, Penalty, rounding_of
from eckart.solvers.nmf_squares import END

_END = {4: 1e-10, 8: END}
"""Rows are at their end where a sweep brings this share of what the first did, by the bytes of a number."""
_PIECE = 2**26


class DeviceEntries(Entries):
    """`matrix` and its transpose `turned` have data, indices (int32) and indptr (int64), as CuPy arrays."""

    def __init__(
        self, matrix: Any, turned: Any, penalties: Penalties, *, divergence: bool, observed: bool, sweeps: int
    ) -> None:
        self.penalties = penalties
        self.divergence, self.observed, self.sweeps = divergence, observed, sweeps
        self.matrix, self.turned = matrix, turned
        squares, self.floor, self.constant = _of_data_alone(matrix.data, divergence=divergence)
        self.rounding = 16.0 * rounding_of(matrix.data) * (abs(self.constant) if divergence else squares)
        self._classes: dict[tuple[int, int], list[cuda_nmf.Class]] = {}

    def _step(
        self, matrix: Any, penalty: Penalty, begin: Array, other: Array, old: Array, push: float, *, score: bool,
        sweeps: int | None = None,
    ) -> Half:  # fmt: skip
        itemsize = matrix.data.dtype.itemsize
        effort = (self.sweeps, SHARE) if sweeps is None else (sweeps, _END[itemsize])
        xp = namespace(other)
        # CuPy's own sum down tall columns takes longer than the step itself.
        sums = xp.ones(other.shape[0], dtype=xp.float64, device=other.device) @ astype(other, xp.float64)
        new, ahead, found = cuda_nmf.entry_rows(
            self._classes_of(matrix, begin.shape[1]), matrix,
            *(cuda_nmf.seen(array) for array in (other, begin, old, sums)),
            divergence=self.divergence, observed=self.observed, lasso=penalty.lasso, ridge=penalty.ridge,
            floor=self.floor, sweeps=effort[0], share=effort[1], push=push, score=score,
        )  # fmt: skip
        value, violation = found.tolist()
        return Half(given_back(new, begin), given_back(ahead, begin), value, violation)

    def _classes_of(self, matrix: Any, k: int) -> list[cuda_nmf.Class]:
        key = (id(matrix), k)
        if key not in self._classes:
            self._classes[key] = cuda_nmf.classes_of(matrix.indptr, k, matrix.data.dtype.itemsize)
        return self._classes[key]


def _of_data_alone(data: Any, *, divergence: bool) -> tuple[float, float, float]:
    """(sum of squares, floor of W H, sum of x log x - x); the latter two are zero for squares."""
    cupy = require("cupy", purpose="NMF on a GPU")
    squares = count = sums = constant = 0.0
    for start in range(0, data.shape[0], _PIECE):
        x = data[start : start + _PIECE].astype(cupy.float64)
        squares += float(x @ x)
        if divergence:
            count += float((x > 0).sum())
            sums += float(x.sum())
            constant += float((x * cupy.log(cupy.where(x > 0, x, 1.0)) - x).sum())
    return squares, (FLOOR * sums / max(count, 1.0) or FLOOR) if divergence else 0.0, constant
