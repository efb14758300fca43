"""For tests of matrices and solvers: known spectra, a minimal operator, a check of the protocol.

A = U diag(s) V^T with U, V random orthogonal matrices and s shaped as in LAPACK's generator DLATMS.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from eckart.arrays import DType, Matrix
from eckart.engine.operator import MomentsAndProduct, Operator

MODES = (1, 2, 3, 4, 5, 6)


def spectrum(mode: int, count: int, condition: float = 1e3, *, seed: int = 0) -> np.ndarray:
    """`count` singular values, decreasing, shaped as mode 1 to 6 of DLATMS.

    1: one large, the rest 1/condition; 2: one small; 3: geometric; 4: arithmetic; 5: random, their logarithms uniform;
    6: random normal. The largest is 1 in modes 1 to 4.

    Examples
    --------
    >>> spectrum(1, 3, 100.0).tolist()
    [1.0, 0.01, 0.01]
    >>> spectrum(3, 3, 100.0).tolist()
    [1.0, 0.1, 0.01]
    """
    rng = np.random.default_rng(seed)
    steps = np.arange(count) / max(count - 1, 1)
    values = np.ones(count)
    if mode == 1:
        values[1:] = 1.0 / condition
    elif mode == 2:
        values[-1] = 1.0 / condition if count > 1 else 1.0
    elif mode == 3:
        values = condition**-steps
    elif mode == 4:
        values = 1.0 - steps * (1.0 - 1.0 / condition)
    elif mode == 5:
        values = condition ** -rng.uniform(size=count)
    elif mode == 6:
        values = np.abs(rng.standard_normal(count))
    else:
        raise ValueError(f"mode={mode!r} is not a shape of spectrum. Use a number from 1 to 6.")
    return np.sort(values)[::-1]


def orthonormal(rows: int, columns: int, *, seed: int = 0) -> np.ndarray:
    """rows x columns with orthonormal columns, uniformly distributed."""
    basis, triangle = np.linalg.qr(np.random.default_rng(seed).standard_normal((rows, columns)))
    return np.asarray(basis * np.where(np.diagonal(triangle) < 0, -1.0, 1.0))


def with_spectrum(values: np.ndarray, rows: int, columns: int, *, seed: int = 0) -> np.ndarray:
    """A dense rows x columns matrix with these singular values.

    Examples
    --------
    >>> matrix = with_spectrum(np.array([3.0, 2.0]), 5, 2)
    >>> np.linalg.svd(matrix, compute_uv=False).round(12).tolist()
    [3.0, 2.0]
    """
    count = len(values)
    left, right = orthonormal(rows, count, seed=2 * seed), orthonormal(columns, count, seed=2 * seed + 1)
    return np.asarray((left * values) @ right.T)


@dataclass
class MinimalOperator:
    """A dense matrix with only the methods of the protocol, so that a solver that uses others fails."""

    _dense: np.ndarray
    _passes: list[str] = field(default_factory=list)

    @property
    def shape(self) -> tuple[int, int]:
        rows, columns = self._dense.shape
        return rows, columns

    @property
    def dtype(self) -> DType:
        return self._dense.dtype

    @property
    def precision(self) -> str:
        return "float64"

    @property
    def prototype(self) -> np.ndarray:
        return np.empty(0)

    @property
    def passes(self) -> int:
        return len(self._passes)

    def matmat(self, right: np.ndarray) -> np.ndarray:
        return np.asarray(self._read("matmat") @ right)

    def rmatmat(self, left: np.ndarray) -> np.ndarray:
        return np.asarray(self._read("rmatmat").T @ left)

    def normal(self, right: np.ndarray) -> np.ndarray:
        matrix = self._read("normal")
        return np.asarray(matrix.T @ (matrix @ right))

    def gram(self, right: np.ndarray | None = None) -> np.ndarray:
        matrix = self._read("gram")
        image = matrix if right is None else matrix @ right
        return np.asarray(image.T @ image)

    def moments_and_product(self, right: np.ndarray | None = None, *, gram: bool = False) -> MomentsAndProduct:
        matrix = self._read("moments_and_product")
        product = matrix.T @ matrix if gram else None if right is None else matrix.T @ (matrix @ right)
        return MomentsAndProduct(matrix.sum(axis=0), (matrix * matrix).sum(axis=0), float(matrix.shape[0]), product)

    def rows(self, index: Any) -> np.ndarray:
        return np.asarray(self._dense[index])

    def columns(self, index: Any) -> np.ndarray:
        return np.asarray(self._dense[:, index])

    def _read(self, what: str) -> np.ndarray:
        self._passes.append(what)
        return self._dense.astype(np.float64)


@dataclass
class Count:
    """Number of passes inside a `counted` block."""

    passes: int = 0


@contextmanager
def counted(operator: Operator) -> Iterator[Count]:
    """Count the passes over the data while the block runs.

    Examples
    --------
    >>> operator = MinimalOperator(np.eye(3))
    >>> with counted(operator) as count:
    ...     _ = operator.normal(np.ones((3, 1)))
    >>> count.passes
    1
    """
    count = Count()
    before = operator.passes
    try:
        yield count
    finally:
        count.passes = operator.passes - before


def check_operator(operator: Operator, dense: np.ndarray, *, moments_and_product: bool = True) -> None:
    """Compare every product of `operator` with the matrix that it represents; AssertionError if they differ.

    An entry may differ by 8 roundings of the operator's precision times the lengths of the factors. Products documented
    as one pass must make only one.
    """
    dense = np.asarray(dense, dtype=np.float64)
    rows, columns = dense.shape
    assert operator.shape == (rows, columns), f"shape is {operator.shape}, the matrix is {dense.shape}"
    rng = np.random.default_rng(0)
    right, left = rng.standard_normal((columns, 3)), rng.standard_normal((rows, 2))
    unit = 8.0 * float(np.finfo(operator.precision).eps)
    size = float(np.linalg.norm(dense))

    def same(name: str, found: Matrix, wanted: np.ndarray, scale: float) -> None:
        difference = np.abs(np.asarray(found, dtype=np.float64) - wanted).max(initial=0.0)
        assert np.shape(found) == wanted.shape, f"{name} has shape {np.shape(found)}, expected {wanted.shape}"
        assert difference <= unit * scale, f"{name} is off by {difference:.3g}, more than {unit * scale:.3g}"

    long, short = float(np.linalg.norm(left)), float(np.linalg.norm(right))
    same("matmat", operator.matmat(right), dense @ right, size * short)
    same("rmatmat", operator.rmatmat(left), dense.T @ left, size * long)
    normal = dense.T @ (dense @ right)
    with counted(operator) as count:
        same("normal", operator.normal(right), normal, size**2 * short)
    assert count.passes == 1, f"normal made {count.passes} passes over the data"
    with counted(operator) as count:
        same("gram", operator.gram(), dense.T @ dense, size**2)
    assert count.passes == 1, f"gram made {count.passes} passes over the data"
    image = dense @ right
    same("gram with a factor", operator.gram(right), image.T @ image, size**2 * short**2)
    if moments_and_product:
        _check_moments_and_product(operator, dense, right, same)


def _check_moments_and_product(operator: Operator, dense: np.ndarray, right: np.ndarray, same: Any) -> None:
    size, short = float(np.linalg.norm(dense)), float(np.linalg.norm(right))
    with counted(operator) as count:
        found = operator.moments_and_product(right)
    assert count.passes == 1, f"moments_and_product made {count.passes} passes over the data"
    same("sums", found.sums, dense.sum(axis=0), size * dense.shape[0] ** 0.5)
    same("squares", found.squares, (dense * dense).sum(axis=0), size**2)
    same("product", found.product, dense.T @ (dense @ right), size**2 * short)
    assert found.weight == dense.shape[0], f"weight is {found.weight}, the matrix has {dense.shape[0]} rows"
    same(
        ("product of moments_and_product(gram=True)"),
        operator.moments_and_product(gram=True).product,
        dense.T @ dense,
        size**2,
    )
