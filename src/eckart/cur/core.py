"""The core that joins chosen columns C and rows R, A ~ C U R, and its exact error.

R^T = Q_R S and [C, A Q_R] = Q [[P, G], [0, N]], by QR over slices of rows. The best core is U = C^+ A R^+ = P^+ G S^-T,
and ||A - C U R||^2 = ||A - A Q_R Q_R^T||^2 + ||N||^2. No ill-conditioned product is formed, and only the first term is
a difference. Only the norm of N is kept: its rows are orthogonal to C.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from eckart.arrays import (
    EPSILON,
    UNIT_ROUNDOFF,
    Array,
    Matrix,
    astype,
    from_numpy,
    is_array,
    is_numpy,
    namespace,
    to_numpy,
)
from eckart.engine.standardize.rounding import ENTRY, gamma
from eckart.engine.threads import one_blas_thread

if TYPE_CHECKING:
    from eckart.cur.slices import Slice

_PAIRWISE = 160
"""Roundings of a sum of squares of a slice: NumPy adds up to 128 numbers one by one, and then pairs of such sums."""
_QR = 12.0
"""LAPACK's Q is orthonormal, and its triangle has the norm of the matrix, up to this many units of rounding times the
root of the number of rows. That is more than three times the largest error measured, for columns of equal entries.
"""


@dataclass(frozen=True)
class Core:
    """The matrix U of a CUR decomposition, stored as factors.

    U = left diag(1 / left_values) middle diag(1 / right_values) right^T. ``C @ core @ R`` multiplies by these factors
    one after another, which is accurate even if C or R is nearly rank-deficient.

    Attributes
    ----------
    left : array
        Matrix with orthonormal columns.
    left_values : array
        Numbers by which the columns of `left` are divided.
    middle : array
        Middle factor.
    right_values : array
        Numbers by which the columns of `right` are divided.
    right : array
        Matrix with orthonormal columns.

    See Also
    --------
    eckart.CUR : Estimator with this object as `core_`.

    Examples
    --------
    >>> import numpy as np, eckart as ek
    >>> cur = ek.CUR(n_components=1).fit(np.outer([1.0, 2.0], [1.0, 4.0]))
    >>> cur.core_.matrix.round(4)
    array([[0.125]])
    """

    left: Array
    left_values: Array
    middle: Array
    right_values: Array
    right: Array

    __array_ufunc__ = None  # array @ core calls the core; without __array__, so does sparse @ core

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and columns of U."""
        return int(self.left.shape[0]), int(self.right.shape[0])

    def after(self, coordinates: object) -> Array:
        """Multiply a matrix by the core: X U.

        Parameters
        ----------
        coordinates : array-like of shape (n_samples, shape[0])
            The matrix X.

        Returns
        -------
        array of shape (n_samples, shape[1])
            The product.
        """
        left, left_values, middle, right_values, right = self._beside(coordinates)
        given = _like_factor(coordinates, left)
        return _as_given(((given @ left / left_values) @ middle / right_values) @ right.T, coordinates)

    def before(self, rows: object) -> Array:
        """Multiply the core by a matrix: U X.

        Parameters
        ----------
        rows : array-like of shape (shape[1], n_features)
            The matrix X.

        Returns
        -------
        array of shape (shape[0], n_features)
            The product.
        """
        left, left_values, middle, right_values, right = self._beside(rows)
        part = middle @ ((right.T @ _like_factor(rows, left)) / right_values[:, None])
        return _as_given(left @ (part / left_values[:, None]), rows)

    def __rmatmul__(self, coordinates: object) -> Array:
        return self.after(coordinates)

    def __matmul__(self, rows: object) -> Array:
        return self.before(rows)

    def _beside(self, prototype: object) -> tuple[Array, ...]:
        """The factors in the library and on the device of `prototype`."""
        factors = (self.left, self.left_values, self.middle, self.right_values, self.right)
        if not is_numpy(self.left) or not is_array(prototype) or is_numpy(prototype):
            return factors
        return tuple(from_numpy(factor, prototype) for factor in factors)

    @property
    def matrix(self) -> Array:
        """The matrix U as one array. Products with it are inaccurate if C or R is nearly rank-deficient."""
        return self.after(from_numpy(np.eye(self.shape[0]), self.left))

    def parts(self) -> dict[str, Array]:
        """Get the factors by name.

        Returns
        -------
        dict
            Name and array of each factor.
        """
        return dict(vars(self))


def _like_factor(given: object, factor: Array) -> Array:
    """The operand in the dtype of a factor, if the library does not mix dtypes."""
    return given if is_numpy(factor) or not is_array(given) else astype(given, factor.dtype)


def _as_given(result: Array, given: Array) -> Array:
    """The product in the dtype of the operand if the library does not mix dtypes, otherwise unchanged."""
    if is_array(given) and not is_numpy(given) and not is_numpy(result):
        return astype(result, given.dtype)
    return np.asarray(result) if is_numpy(result) else result


@dataclass(frozen=True)
class RowSpace:
    """R^T = basis diag(values) right^T, columns x r: an orthonormal basis of the chosen rows."""

    basis: Array
    """On the device of the data; the other fields are small and on the host."""
    values: np.ndarray
    right: np.ndarray
    independent: np.ndarray
    """Indices of linearly independent rows that span the same space."""


@dataclass(frozen=True)
class SliceSums:
    """Results of one pass over A: [P, G] of [C, A Q_R], ||N||^2, ||A||^2, ||A - A Q_R Q_R^T||^2 (or NaN), and C."""

    count: int
    """Columns of C."""
    triangle: np.ndarray
    missed: float
    total: float
    outside: float
    stored: tuple[Matrix, ...]

    @property
    def image(self) -> float:
        """||A Q_R||^2."""
        return _squares(self.triangle[:, self.count :]) + self.missed

    def joined(self, other: SliceSums) -> SliceSums:
        """Of both slices together."""
        triangle, missed = _factor(np.concatenate([self.triangle, other.triangle]), self.count)
        missed += self.missed + other.missed
        total, outside = self.total + other.total, self.outside + other.outside
        return SliceSums(self.count, triangle, missed, total, outside, self.stored + other.stored)

    def of_columns(self, kept: np.ndarray) -> SliceSums:
        """The same for some of the columns."""
        indices = np.concatenate([kept, np.arange(self.count, self.triangle.shape[1])])
        triangle, missed = _factor(self.triangle[:, indices], len(kept))
        return replace(self, count=len(kept), triangle=triangle, missed=self.missed + missed)


def scaled_as_returned(array: Array, scales: Array, dtype: str) -> Array:
    """Entries times their scales in float64, each rounded as it is when C and R are returned in `dtype`."""
    product = array * scales
    return product if dtype == "float64" else astype(astype(product, namespace(product).float32), product.dtype)


def slice_sums(part: Slice, scales: np.ndarray, dtype: str = "float64") -> SliceSums:
    """Factor one slice of rows. On the host, rows without an entry in C are left out: they have nothing to factor."""
    chosen, image, missed = part.chosen, part.image, 0.0
    if is_numpy(chosen):
        used = chosen.any(axis=1)
        missed = _squares(image[~used])
        chosen, image = chosen[used], image[used]
    chosen = scaled_as_returned(chosen, from_numpy(scales, chosen), dtype)
    rows = namespace(chosen).concat([chosen, image], axis=1)
    triangle, rest = _factor(rows, len(scales))
    return SliceSums(len(scales), triangle, rest + missed, part.squares, part.outside, (part.stored,))


def _factor(rows: Array, count: int) -> tuple[np.ndarray, float]:
    """([P, G], ||N||^2) of rows [C, X] = Q [[P, G], [0, N]]; the result is small and on the host."""
    if rows.shape[0] == 0:
        return to_numpy(rows), 0.0
    if is_numpy(rows):
        triangle = np.asarray(np.linalg.qr(rows, mode="r"))
    else:
        triangle = to_numpy(namespace(rows).linalg.qr(rows)[1])
    return triangle[:count], _squares(triangle[count:])


def row_space(rows: Array, cutoff: float) -> RowSpace:
    """The space of R (r x columns); singular values below `cutoff` times the largest count as zero."""
    with one_blas_thread():
        basis, device_triangle = namespace(rows).linalg.qr(rows.T)
    triangle = to_numpy(device_triangle)
    left, values, right = np.linalg.svd(triangle, full_matrices=False)
    kept = numerical_rank(values, cutoff)
    rotation = from_numpy(left[:, :kept], basis)
    return RowSpace(basis @ rotation, values[:kept], right[:kept].T, independent(triangle, kept))


def independent(triangle: np.ndarray, rank: int) -> np.ndarray:
    """The indices, in order, of `rank` columns that span the triangle: the pivots of a QR."""
    from scipy.linalg import qr

    if not triangle.size:  # refused by SciPy 1.13
        return np.arange(triangle.shape[1])[: max(rank, 1)]
    _, pivots = qr(triangle, mode="r", pivoting=True, check_finite=False)
    return np.sort(pivots[: max(rank, 1)])


def column_rank(seen: SliceSums, cutoff: float) -> tuple[int, np.ndarray]:
    """(rank of C, indices of its independent columns)."""
    triangle = seen.triangle[:, : seen.count]
    rank = numerical_rank(np.linalg.svd(triangle, compute_uv=False), cutoff)
    return rank, independent(triangle, rank)


def best_core(seen: SliceSums, space: RowSpace, cutoff: float) -> tuple[Core, float]:
    """(C^+ A R^+, ||A Q_R - C U R Q_R||^2): no other core for this C and R has a smaller error."""
    left, values, right = np.linalg.svd(seen.triangle[:, : seen.count], full_matrices=False)
    rank = numerical_rank(values, cutoff)
    rotated = left.T @ seen.triangle[:, seen.count :]
    core = Core(right[:rank].T, values[:rank], rotated[:rank], space.values, space.right)
    return core, seen.missed + _squares(rotated[rank:])


def intersection_core(seen: SliceSums, space: RowSpace, crossing: np.ndarray, cutoff: float) -> tuple[Core, float]:
    """(W^+ for the intersection W of C and R, ||A Q_R - C U R Q_R||^2); zero singular values of W stay zero."""
    left, values, right = np.linalg.svd(crossing, full_matrices=False)
    rank = numerical_rank(values, cutoff)
    core = Core(right[:rank].T, values[:rank], np.eye(rank), np.ones(rank), left[:, :rank])
    made = seen.triangle[:, : seen.count] @ core.before(space.right * space.values)
    return core, seen.missed + _squares(seen.triangle[:, seen.count :] - made)


def rounding(
    total: float, error_squared: float, shape: tuple[int, int], rank: int, additions: int, *, direct: bool
) -> float:
    """Bound of the rounding error of the error: relative to ||A|| if it is formed directly, otherwise to ||A||^2.

    A term of an entry of A Q_R has `additions` roundings, and || |A| |Q_R| || <= sqrt(rank) ||A||. Sums of squares add
    the entries of a slice pairwise, and then the slices. By QR, Q_R is nearly orthonormal, and the triangle of a slice
    has nearly its norm. An error of d in e^2 moves e by at most d / (e + sqrt(e^2 - d)).
    """
    rows, columns = shape
    off = 2.0 * gamma(additions + rank + ENTRY) * math.sqrt(rank) + gamma(rows / 8 + _PAIRWISE)
    off += _QR * UNIT_ROUNDOFF * (math.sqrt(rows) + math.sqrt(columns))
    if direct:
        return off * math.sqrt(total)
    least = error_squared - off * total
    return off * total / (math.sqrt(error_squared) + math.sqrt(least)) if least > 0.0 else math.sqrt(off * total)


def length(core: Core) -> float:
    """Bound of ||U||_F: the outer factors are orthonormal."""
    middle = to_numpy(core.middle) / to_numpy(core.left_values)[:, None] / to_numpy(core.right_values)
    return float(np.linalg.norm(middle))


def core_rounding(core: Core, columns: float, rows: float, *, best: bool) -> float:
    """Bound of the error of C U R from the factors of U, for ||C|| <= columns and ||R|| <= rows.

    With QR, C = Q P + E_1, and LAPACK's singular vectors give P = V_l diag(s) left^T + E_2. So X = C left diag(1/s) = Q
    V_l + (E_1 + E_2) left diag(1/s), and column j of X is off by (||E_1|| + ||E_2||) / s_j. Y = diag(1/t) right^T R
    likewise. For the best core, C U R = X middle Y with X and Y orthonormal but for these errors. For the intersection
    W, the errors are those of W, with ||X_j|| <= ||C|| / s_j and ||Y|| <= ||R||. Both errors together are assumed to
    be at most 16 u sqrt(c) of the norm: eleven times the largest that was measured, for C of 300 to 200,000 rows with s
    down to 1e-11 of the largest.
    """
    lefts, rights, middle = (to_numpy(part) for part in (core.left_values, core.right_values, core.middle))
    unit = 8.0 * EPSILON * math.sqrt(max(core.shape))
    if not best:
        return 2.0 * unit * columns * rows * float(np.sum(1.0 / lefts))
    along, across = np.linalg.norm(middle, axis=1), np.linalg.norm(middle, axis=0)
    return unit * float(columns * np.sum(along / lefts) + rows * np.sum(across / rights))


def times_rows(core: Core, space: RowSpace, *, best: bool, rows: Array) -> Array:
    """U R (c x columns); for the best core through the orthonormal basis of R, without loss of digits."""
    if best:
        left, middle = (from_numpy(part, space.basis) for part in (core.left, core.middle / core.left_values[:, None]))
        return left @ (middle @ space.basis.T)
    return core.before(rows)


def numerical_rank(values: np.ndarray, cutoff: float) -> int:
    """Number of values above `cutoff` times the largest."""
    return int(np.sum(values > cutoff * values.max(initial=0.0)))


def _squares(array: np.ndarray) -> float:
    return float(np.sum(array * array))
