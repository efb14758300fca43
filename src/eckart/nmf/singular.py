"""The leading singular vectors of a table: a start, a compressed problem, and a bound for all factorisations."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np

from eckart.arrays import Array, Matrix, astype, is_host, is_numpy, is_sparse, to_numpy
from eckart.components.find import find_components
from eckart.engine.backends.cuda.arrays import given_back
from eckart.engine.backends.cuda.device_rows import DeviceCsr
from eckart.engine.matrix import SMALL_DENSE
from eckart.engine.svd_options import Solver
from eckart.errors import AccuracyWarning, DataWarning
from eckart.nmf.constants import (
    COMPRESSED_GAIN,
    EXTRA_VECTORS,
    GRAM_UP_TO,
    LANCZOS_FROM,
    SINGULAR_PASSES,
    SINGULAR_TOLERANCE,
)
from eckart.nmf.options import Settings
from eckart.nmf.table import NonnegativeTable
from eckart.result import Certificate, Decomposition, SVDDetails


@dataclass(frozen=True)
class SingularVectors:
    """A ~ left diag(values) right^T, with proved bounds if requested."""

    left: Array
    values: Array
    right: Array
    certificate: Certificate | None

    @property
    def k(self) -> int:
        return int(self.values.shape[0])

    def of(self, table: NonnegativeTable) -> tuple[Array, np.ndarray, Array]:
        """Vectors on the device of the factors; values in float64 on the host."""
        left, right = self.left, self.right
        if isinstance(table.matrix, DeviceCsr):
            left, right = given_back(left, table.prototype), given_back(right, table.prototype)
        elif is_numpy(table.prototype):
            left, right = to_numpy(left), to_numpy(right)
        values = np.asarray(to_numpy(self.values), dtype=np.float64)
        return astype(left, table.working), values, astype(right, table.working)


def _count(table: NonnegativeTable, settings: Settings) -> int:
    """Number of singular vectors: as many as components, and more if the compressed problem is much smaller."""
    rows, columns = table.matrix.shape
    k = int(min(settings.k, rows, columns))
    if not (table.dense and settings.squares and settings.solver == "auto"):
        return k
    shorter = COMPRESSED_GAIN * (rows + columns) * (k + EXTRA_VECTORS) <= rows * columns
    return k + EXTRA_VECTORS if shorter and k + EXTRA_VECTORS <= min(rows, columns) else k


def _bounds_wanted(table: NonnegativeTable, settings: Settings) -> bool:
    return settings.squares and settings.solver == "auto" and not table.observed


def _is_on_host(given: Matrix) -> bool:
    return is_numpy(given) or is_sparse(given)


def _quiet_svd(given: Matrix, k: int, solver: Solver, *, left: bool) -> Decomposition[SVDDetails]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AccuracyWarning)  # the certificate states what was reached
        warnings.simplefilter("ignore", DataWarning)
        return find_components(
            given, "svd", k=k, left=left, solver=solver, tol=SINGULAR_TOLERANCE, max_passes=SINGULAR_PASSES
        )


def singular_vectors(table: NonnegativeTable, settings: Settings) -> SingularVectors | None:
    """The singular vectors for the start, the bound and the compressed problem; None if none of them is needed."""
    bound = _bounds_wanted(table, settings)
    if not bound and not settings.init.startswith("nndsvd"):
        return None
    rows, columns = table.matrix.shape
    k = _count(table, settings)
    given = table.as_given()
    if not _is_on_host(given):
        found = _quiet_svd(given, k, _solver(table), left=True)
        return SingularVectors(found.left, found.values, found.right, found.certificate)
    dense = is_numpy(given) or rows * columns <= SMALL_DENSE
    if dense and not bound and min(rows, columns) <= GRAM_UP_TO:
        return _from_gram(given, k)
    wide = dense and rows < columns
    found = _quiet_svd(given.T if wide else given, k, _solver(table), left=False)
    return _with_other_side(given, found.values, found.right, found.certificate, transposed=wide)


def _solver(table: NonnegativeTable) -> Solver:
    """The solver for a start, which needs few digits: the Gram matrix for few columns, a few passes for many."""
    if not table.dense or not is_host(table.prototype):
        return "auto"
    short = min(table.matrix.shape)
    return "gram" if short <= GRAM_UP_TO else "lanczos" if short >= LANCZOS_FROM else "auto"


def _from_gram(matrix: Matrix, k: int) -> SingularVectors:
    """Without bounds, only for a start: eigenvectors of A^T A or A A^T, whichever is smaller."""
    dense = np.asarray(matrix if is_numpy(matrix) else matrix.toarray(), dtype=np.float64)
    wide = dense.shape[0] < dense.shape[1]
    squares, vectors = np.linalg.eigh(dense @ dense.T if wide else dense.T @ dense)
    values = np.sqrt(np.maximum(squares[: -k - 1 : -1], 0.0))
    return _with_other_side(matrix, values, np.ascontiguousarray(vectors[:, : -k - 1 : -1]), None, transposed=wide)


def _with_other_side(
    matrix: Matrix, values: Array, vectors: Array, certificate: Certificate | None, *, transposed: bool
) -> SingularVectors:
    """A V / values for the vectors V of A, or of A^T; computing them here makes the decomposition cheaper."""
    values, vectors = np.asarray(values, np.float64), np.asarray(vectors, np.float64)
    others = np.asarray((matrix.T if transposed else matrix) @ vectors) / np.where(values > 0.0, values, 1.0)
    left, right = (vectors, others) if transposed else (others, vectors)
    return SingularVectors(left, values, right, certificate)
