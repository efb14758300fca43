"""Leading eigenpairs of a symmetric matrix in memory, in decreasing order: by LAPACK, or on a GPU if it is faster."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
from scipy import linalg
from scipy.linalg import lapack

from eckart.arrays import UNIT_ROUNDOFF, Array, from_numpy, is_host, namespace, to_numpy
from eckart.engine.threads import one_blas_thread

_ACCURATE = 16.0 * UNIT_ROUNDOFF
"""Residuals of pairs, relative to sqrt(size) and to the largest value: half of what is allowed for
(`standardize.rounding.lapack_eigenvalue_error`)."""
_SPLIT = 1e-12
"""Subdiagonal entries of T, relative to its norm, at which LAPACK may split T into blocks: above its own threshold."""
_CORRECTABLE = 1e-10
"""Orthogonality loss whose square is below rounding, so that one correction removes it."""

_SMALL = 64
"""Below this size all pairs are computed: it takes little time and gives the numerical rank."""
_FEW = (512, 6, 4)
"""Up to a sixth of all pairs, `SymmetricMatrix._few` is cheaper than computing all by divide and conquer (LAPACK's
driver evd); up to a quarter from size 512 on. Measured as processor times on AMD EPYC, for decaying and flat
spectra.
"""
_CANCELLED = 1e-8
"""A difference smaller than this share of two sums of squares has lost half of its digits."""
_MANY = 10
"""If this many times the wanted pairs exceeds the size, computing all values first is faster than MRRR."""
_BLOCK = 64
"""Number of columns that LAPACK reduces and applies at a time."""
_TRIANGLES, _BLOCKED = 64 * 65, 24
"""Memory without which LAPACK applies reflectors to few vectors one by one, and the number of vectors from which it
needs more time for that (twice as much for 50 vectors of 3,000 numbers).
"""
_SUBSET_OF_VALUES = 1024
"""From this size on, computing fewer than half of the values is cheaper than computing all."""
_ON_DEVICE = {"pairs": 144, "values": 192}
"""From this size on, a GPU is faster than the host, including the copies."""


def leading_pairs(matrix: Array, count: int, *, prototype: Array | None = None) -> tuple[np.ndarray, np.ndarray]:
    """The `count` largest eigenvalues, decreasing, with vectors. `prototype`: see `pairs`."""
    return SymmetricMatrix(matrix, prototype).leading(count)


class SymmetricMatrix:
    """A symmetric matrix with its reduction to tridiagonal form, so that further pairs cost little."""

    def __init__(self, matrix: Array, prototype: Array | None = None) -> None:
        self.matrix, self.prototype = matrix, prototype
        self._kept: _Reduced | None = None
        self._found: dict[tuple[int, bool], tuple[np.ndarray, np.ndarray]] = {}

    def leading(self, count: int, *, smallest: bool = False) -> tuple[np.ndarray, np.ndarray]:
        """The `count` largest eigenvalues, decreasing, or the smallest, increasing, with vectors.

        Returns the same arrays if they are requested again.
        """
        key = (count, smallest)
        if key not in self._found:
            self._found = {key: self._leading(count, smallest=smallest)}
        return self._found[key]

    def _leading(self, count: int, *, smallest: bool) -> tuple[np.ndarray, np.ndarray]:
        size = self.matrix.shape[0]
        chosen = slice(0, count) if smallest else slice(size - count, size)
        if worth_moving("pairs", size, self.prototype):
            values, vectors = _there(self.matrix, self.prototype, chosen)
        else:
            found = None if by_all(size, count) else self._few(count, smallest=smallest)
            values, vectors = found if found is not None else _every(to_numpy(self.matrix), chosen)
        return (values, vectors) if smallest else (values[::-1], vectors[:, ::-1])

    def _few(self, count: int, *, smallest: bool) -> tuple[np.ndarray, np.ndarray] | None:
        """Some pairs, increasing: A = Q T Q^T, pairs of the tridiagonal T, vectors Q Z; None if LAPACK fails.

        LAPACK's driver evr computes all pairs by MRRR (Dhillon and Parlett 2004, Linear Algebra Appl. 387, 1), but
        subsets by bisection and inverse iteration, which takes half as long again. Here MRRR comes first, and inverse
        iteration only if residuals T z - l z are too large.
        """
        with one_blas_thread():
            if self._kept is None:
                self._kept = _reduced(to_numpy(self.matrix))
            return _pairs_of_reduced(self._kept, count, smallest=smallest)


def by_all(size: int, count: int, prototype: Array | None = None) -> bool:
    """Whether the `count` leading pairs are found by computing all."""
    large, small_share, large_share = _FEW
    most = 0 if size < _SMALL else size // (large_share if size >= large else small_share)
    return worth_moving("pairs", size, prototype) or count > most


def leading_values(matrix: np.ndarray, count: int, prototype: Array | None = None) -> np.ndarray:
    """The `count` largest eigenvalues, decreasing."""
    size = matrix.shape[0]
    if worth_moving("values", size, prototype):
        values = _there(matrix, prototype, None)[0]
    else:
        found = _some_values(matrix, count) if size >= _SUBSET_OF_VALUES and 2 * count < size else None
        values = found if found is not None else _here(np.linalg.eigvalsh, matrix)
    return np.asarray(values[::-1][:count])


def squares_without(matrix: Array, values: np.ndarray, vectors: np.ndarray) -> float:
    """Sum of the squares of all eigenvalues except those of the given pairs: ||A - V L V^T||_F^2."""
    matrix = to_numpy(matrix)
    with one_blas_thread():
        whole = float(np.linalg.norm(matrix)) ** 2
    rest = whole - float(values @ values)
    if rest < _CANCELLED * whole:
        with one_blas_thread():
            rest = float(np.linalg.norm(matrix - (vectors * values) @ vectors.T)) ** 2
    return rest


def pairs(matrix: np.ndarray, prototype: Array | None = None) -> tuple[np.ndarray, np.ndarray]:
    """All eigenvalues, increasing, and their vectors; `prototype` is an array on a device that may be used."""
    whole = slice(0, matrix.shape[0])
    return (
        _there(matrix, prototype, whole) if worth_moving("pairs", matrix.shape[0], prototype) else _every(matrix, whole)
    )


def _every(matrix: np.ndarray, chosen: slice) -> tuple[np.ndarray, np.ndarray]:
    values, vectors = _here(_all_of_small if len(matrix) <= _SMALL else np.linalg.eigh, matrix)
    return values[chosen], vectors[:, chosen]


def _all_of_small(matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """`numpy.linalg.eigh` without its checks, which take longer than the eigenvalues of a few columns."""
    values, vectors, failed = lapack.dsyevd(matrix, lower=1)
    return np.linalg.eigh(matrix) if failed else (values, vectors)


def worth_moving(kind: str, size: int, prototype: Array | None) -> bool:
    """Whether the GPU of `prototype` computes "pairs" or "values" of a matrix of this size faster than the host."""
    return prototype is not None and size >= _ON_DEVICE[kind] and not is_host(prototype)


def _there(matrix: Array, prototype: Array, chosen: slice | None) -> tuple[np.ndarray, np.ndarray]:
    """The chosen pairs, or all values without vectors, on the GPU."""
    solver = namespace(prototype).linalg
    moved = from_numpy(matrix, prototype) if isinstance(matrix, np.ndarray) else matrix
    try:
        if chosen is None:
            return to_numpy(solver.eigvalsh(moved)), np.empty((0, 0))
        values, vectors = solver.eigh(moved)
    except RuntimeError as error:  # PyTorch's counterpart of NumPy's LinAlgError
        raise np.linalg.LinAlgError(str(error)) from error
    return to_numpy(values[chosen]), to_numpy(vectors[:, chosen])


def _here(solve: Callable[[np.ndarray], Array], matrix: np.ndarray) -> Array:
    # With more threads LAPACK sums in another order, and the last bits would depend on their number.
    with one_blas_thread():
        return solve(matrix)


def spectrum_and_pairs(matrix: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """All eigenvalues, and the `count` largest with their vectors, all decreasing, from one reduction to T."""
    if not by_all(matrix.shape[0], count):
        with one_blas_thread():
            reduced = _reduced(matrix)
            spectrum, failed = lapack.dsterf(reduced[1], reduced[2])
            found = None if failed else _pairs_of_reduced(reduced, count, smallest=False)
        if found is not None:
            return spectrum[::-1], found[0][::-1], found[1][:, ::-1]
    spectrum, vectors = _every(matrix, slice(0, matrix.shape[0]))
    return spectrum[::-1], spectrum[::-1][:count], vectors[:, ::-1][:, :count]


_Reduced = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]
"""Reflectors whose product is Q, the diagonal and subdiagonal of T, and the scalars of the reflectors."""


def _reduced(matrix: np.ndarray) -> _Reduced:
    """A = Q T Q^T."""
    found: Any = lapack.dsytrd(matrix.T, lower=1, lwork=_BLOCK * matrix.shape[0])
    reflectors, diagonal, off, lengths, _ = found  # fails only for wrong arguments
    return reflectors, diagonal, off, lengths


def _pairs_of_reduced(reduced: _Reduced, count: int, *, smallest: bool) -> tuple[np.ndarray, np.ndarray] | None:
    reflectors, diagonal, off, lengths = reduced
    first = 0 if smallest else len(diagonal) - count
    found = _by_inverse_iteration(diagonal, off, first, count) if len(diagonal) <= _MANY * count else None
    if found is None:
        found = _by_mrrr_or_bisection(diagonal, off, first, count, smallest=smallest)
    if found is None:
        return None
    values, basis = found
    # Q starts with one row and column of the identity, and its reflectors with the second row. The view starts there;
    # its last row is not used.
    size = len(diagonal)
    below = reflectors.ravel(order="K")[1 : 1 + size * (size - 1)].reshape((size, size - 1), order="F")
    work = _BLOCK * count + (_TRIANGLES if count >= _BLOCKED else 0)
    basis[1:] = lapack.dormqr("L", "N", below, lengths, basis[1:], work)[0]
    return values, basis


def _by_inverse_iteration(
    diagonal: np.ndarray, off: np.ndarray, first: int, count: int
) -> tuple[np.ndarray, np.ndarray] | None:
    """Pairs of a tridiagonal matrix: all values by QR iteration, which misses none, and vectors one by one.

    None if T splits into blocks, because vectors of equal values would then coincide; MRRR splits it first.
    """
    size = len(diagonal)
    values, failed = lapack.dsterf(diagonal, off)
    if failed:
        return None
    values = values[first : first + count]
    basis, failed = lapack.dstein(diagonal, off, values, *_one_block(size))
    return None if failed else _accurate(diagonal, off, values, basis)


@lru_cache(maxsize=64)
def _one_block(size: int) -> tuple[np.ndarray, np.ndarray]:
    """For dstein: the block index of each value, and the ends of the blocks."""
    ends = np.zeros(size, np.int32)
    ends[0] = size
    return np.ones(size, np.int32), ends


def _by_mrrr_or_bisection(
    diagonal: np.ndarray, off: np.ndarray, first: int, count: int, *, smallest: bool
) -> tuple[np.ndarray, np.ndarray] | None:
    found = _by_mrrr(diagonal, off, first, count)
    if found is not None and not _left_out(diagonal, off, found[0], smallest=smallest):
        return found
    try:
        values, basis = linalg.eigh_tridiagonal(
            diagonal, off, select="i", select_range=(first, first + count - 1), check_finite=False,
            lapack_driver="stebz",
        )  # fmt: skip
    except np.linalg.LinAlgError:
        return None
    whole = len(values) == count and not _left_out(diagonal, off, values, smallest=smallest)
    return (values, basis) if whole else None


def _left_out(diagonal: np.ndarray, off: np.ndarray, values: np.ndarray, *, smallest: bool) -> bool:
    """Whether some of the `count` extreme eigenvalues are not among `values`.

    Orthonormal vectors with small residuals prove that as many eigenvalues are near `values`. They are the extreme ones
    if, for each i, fewer than i eigenvalues lie beyond the i-th of them, which a Sturm sequence counts. If T does not
    split, MRRR knows the index of each value, and the last one is enough. If T splits, MRRR merges the values of its
    blocks, which it has located to 1e-8 so far, and may keep others of a cluster than the extreme ones.
    """
    bound = max(float(np.abs(diagonal).max()), float(np.abs(values).max())) + 2.0 * float(np.abs(off).max(initial=0.0))
    near = 0.5 * _ACCURATE * len(diagonal) ** 0.5 * bound  # the norm of a positive T is at least half of `bound`
    inwards = values[::-1] if smallest else values  # the last of them first
    splits = float(np.abs(off).min(initial=np.inf)) <= _SPLIT * bound
    for beyond, value in zip(range(len(values) - 1, -1, -1), inwards if splits else inwards[:1], strict=False):
        low, high = (-2.0 * bound, value - near) if smallest else (value + near, 2.0 * bound)
        if low < high and int(lapack.dstebz(diagonal, off, 1, low, high, 0, 0, 4.0 * bound, "E")[0]) > beyond:
            return True
    return False


def _by_mrrr(diagonal: np.ndarray, off: np.ndarray, first: int, count: int) -> tuple[np.ndarray, np.ndarray] | None:
    """Pairs of a tridiagonal matrix; None if they are less accurate than those of other drivers."""
    # dstemr overwrites the subdiagonal and expects one extra entry.
    found, values, basis, failed = lapack.dstemr(diagonal, np.append(off, 0.0), 2, 0.0, 0.0, first + 1, first + count)
    if failed or found != count:
        return None
    return _accurate(diagonal, off, values[:count], basis[:, :count])


def _accurate(
    diagonal: np.ndarray, off: np.ndarray, values: np.ndarray, basis: np.ndarray
) -> tuple[np.ndarray, np.ndarray] | None:
    """The pairs, orthonormal to rounding; None if they or their residuals T z - l z are too inaccurate."""
    size, count = basis.shape
    loss = basis.T @ basis
    loss.flat[:: count + 1] -= 1.0
    lost = float(np.abs(loss).max())
    if lost > _CORRECTABLE:
        return None
    if lost > UNIT_ROUNDOFF * size:
        basis = basis - basis @ (loss / 2.0)  # (Z^T Z)^-1/2 = I - E / 2 + O(E^2), the nearest orthonormal matrix to Z
    residual = (diagonal[:, None] - values) * basis
    residual[1:] += off[:, None] * basis[:-1]
    residual[:-1] += off[:, None] * basis[1:]
    largest = max(float(np.abs(diagonal).max()), float(np.abs(values).max()))
    squares = np.einsum("ij,ij->j", residual, residual)
    return (values, basis) if float(squares.max()) <= (_ACCURATE * size**0.5 * largest) ** 2 else None


def _some_values(matrix: np.ndarray, count: int) -> np.ndarray | None:
    """The `count` largest values, increasing, by LAPACK's subset driver; None if it fails or misses some."""
    size = matrix.shape[0]

    def some(given: np.ndarray) -> Array:
        return linalg.eigvalsh(given, subset_by_index=[size - count, size - 1], check_finite=False)

    try:
        values: np.ndarray = _here(some, matrix)
    except np.linalg.LinAlgError:
        return None
    return values if len(values) == count else None
