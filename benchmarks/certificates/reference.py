"""The truth: singular values and vectors of the standardised table, in float64 or in extended precision.

The table is converted to `numpy.longdouble` (64-bit significand) exactly, then centred, weighted and scaled there. The
float64 reference is LAPACK's SVD of the rounded result; its error is a few units of 2^-53 of the largest singular
value. The extended reference is a one-sided Jacobi SVD in longdouble (Demmel and Veselic 1992); its error is below
1e-17 of the largest singular value. `checks` uses the float64 one first and confirms every suspicion in extended
precision.

`jacobi` refuses tables with a short side above `EXTENDED_SIDE`, where it would take minutes.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import linalg

LONG = np.longdouble
UNIT = {np.dtype(float): 2.0**-52, np.dtype(LONG): 2.0**-63}
EXTENDED_SIDE = 420
_SWEEPS = 12
_LARGE, _RANK = 1500, 300


@dataclass(frozen=True)
class Reference:
    """B = U diag(values) right^T in units of 2^exponent; `values` fall, one per row or column of the shorter side."""

    matrix: np.ndarray
    values: np.ndarray
    right: np.ndarray
    exponent: int
    rows: int
    """Of the table, before rows without influence were removed."""

    @property
    def largest(self) -> float:
        return float(self.values[0]) if self.values.size else 0.0

    @property
    def unit(self) -> float:
        """Accuracy of a singular value relative to the largest: a small multiple of the unit roundoff."""
        return 16.0 * UNIT[self.values.dtype]

    @cached_property
    def total(self) -> float:
        return float(np.sum(self.matrix.astype(LONG) ** 2))

    @cached_property
    def shares(self) -> np.ndarray:
        """Share of the total sum of squares that the 1, 2, ... leading components explain, in longdouble."""
        squares = np.cumsum(self.values.astype(LONG) ** 2)
        total = np.sum(self.matrix.astype(LONG) ** 2)
        return np.minimum(squares / total, 1.0) if total > 0 else np.zeros(len(squares), LONG)

    def scaled(self, numbers: np.ndarray) -> np.ndarray:
        """Numbers in the units of the table, as numbers in the units of this reference; without overflow."""
        return np.ldexp(np.asarray(numbers).astype(LONG), -self.exponent)


def standardize(
    table: np.ndarray, *, center: bool = False, scale: bool = False, weights: np.ndarray | None = None, ddof: int = 1
) -> tuple[np.ndarray, int]:
    """diag(sqrt(w)) (A - mean) / deviation in longdouble, divided by 2^exponent so that its largest entry is near 1."""
    table = table.astype(LONG) if table.dtype.kind in "bui" else np.asarray(table)
    kept = slice(None) if weights is None else weights > 0
    matrix = table[kept].astype(LONG)
    count = np.ones(len(matrix), LONG) if weights is None else weights[kept].astype(LONG)
    if center:
        for _ in range(3):  # each mean is the rounding error of the one before; weights of 1e-20 need the third
            matrix = matrix - (count @ matrix) / np.sum(count)
        matrix[:, np.ptp(table[kept], axis=0) == 0] = 0
    if scale:
        divisor = max(np.sum(count) - 1, LONG(1)) if ddof else np.sum(count)
        deviation = np.sqrt(count @ matrix**2 / divisor)
        # A column that varies in its last bit only is not scaled up: its deviation would be that of rounding.
        mean = (count @ table[kept].astype(LONG)) / np.sum(count)
        noise = LONG(np.finfo(np.float64).eps) * np.abs(mean) if center else LONG(0)
        matrix = matrix / np.where(deviation > noise, deviation, LONG(1))
    matrix = matrix * np.sqrt(count)[:, None]
    largest = np.max(np.abs(matrix), initial=LONG(0))
    exponent = int(np.frexp(largest)[1])
    return np.ldexp(matrix, -exponent), exponent


def condensed(matrix: np.ndarray) -> np.ndarray:
    """The same A^T A with fewer rows: rows of zeros removed, equal rows replaced by one times the root of their number.

    Used for large tables only, where it makes the reference affordable.
    """
    matrix = matrix[np.any(matrix != 0, axis=1)]
    if matrix.size < 2**18:
        return matrix
    keys = np.ascontiguousarray(matrix.astype(float)).view(np.dtype((np.void, 8 * matrix.shape[1]))).ravel()
    _, first, times = np.unique(keys, return_index=True, return_counts=True)
    if len(first) > 0.9 * len(matrix) or not np.array_equal(matrix[first], matrix[first].astype(float)):
        return matrix
    return matrix[first] * np.sqrt(times.astype(LONG))[:, None]


def double(table: np.ndarray, **options: object) -> Reference:
    """By LAPACK in float64."""
    matrix, exponent = standardize(table, **options)  # type: ignore[arg-type]
    short = min(table.shape)
    small = condensed(matrix)
    if not small.size:
        return Reference(matrix, np.zeros(short), np.eye(table.shape[1], short), exponent, len(table))
    values, right = _svd(small.astype(float)) if min(small.shape) < _LARGE else _low_rank(small.astype(float))
    return Reference(small.astype(float), *_filled(values, right, short), exponent, len(table))


def extended(table: np.ndarray, **options: object) -> Reference:
    """By one-sided Jacobi rotations in longdouble."""
    matrix, exponent = standardize(table, **options)  # type: ignore[arg-type]
    short = min(table.shape)
    small = condensed(matrix)
    if not small.size:
        return Reference(matrix, np.zeros(short, LONG), np.eye(table.shape[1], short, dtype=LONG), exponent, len(table))
    values, right = jacobi(small)
    return Reference(small, *_filled(values, right, short), exponent, len(table))


def _low_rank(matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """SVD of a large matrix of rank at most `_RANK`: project to the range of random combinations of its columns.

    ||A - Q Q^T A||_F is measured; it bounds the error of every singular value.
    """
    combined = matrix @ np.random.default_rng().standard_normal((matrix.shape[1], _RANK))
    basis = np.linalg.qr(matrix @ (matrix.T @ np.linalg.qr(combined)[0]))[0]
    values, right = _svd(basis.T @ matrix)
    remainder = float(np.linalg.norm(matrix - basis @ (basis.T @ matrix)))
    if remainder > 1e-14 * values[0]:
        raise ValueError(f"A table of {matrix.shape} and full rank is too large for the reference.")
    return values, right


def _svd(matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    try:
        _, values, right = np.linalg.svd(matrix, full_matrices=False)
    except np.linalg.LinAlgError:  # divide and conquer can fail where QR iteration does not
        _, values, right = linalg.svd(matrix, full_matrices=False, lapack_driver="gesvd")
    return values, right.T


def _filled(values: np.ndarray, right: np.ndarray, short: int) -> tuple[np.ndarray, np.ndarray]:
    """With zeros, and any orthonormal vectors, for the rows that were condensed."""
    missing = short - len(values)
    if missing <= 0:
        return values[:short], right[:, :short]
    return np.append(values, np.zeros(missing, values.dtype)), np.hstack([right, _outside(right, missing)])


def jacobi(matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(singular values, right vectors), falling, by rotations of pairs of columns until all are orthogonal.

    The columns are first multiplied by the right vectors of a float64 SVD, orthonormalised in longdouble, so that two
    or three sweeps suffice. Pairs of a sweep follow the round-robin schedule, and those of a round rotate together.
    """
    if min(matrix.shape) > EXTENDED_SIDE:
        raise ValueError(f"A short side of {min(matrix.shape)} is too long for the extended reference.")
    wide = matrix.shape[0] < matrix.shape[1]
    tall = matrix.T if wide else matrix
    basis = _svd(tall.astype(float))[1].astype(LONG)
    for _ in range(2):  # Newton-Schulz: the error of orthogonality is squared each time
        basis = basis @ (LONG(1.5) * np.eye(basis.shape[1], dtype=LONG) - LONG(0.5) * (basis.T @ basis))
    image = np.vstack([tall @ basis, basis])  # rotated together
    height, size = tall.shape
    order = np.arange(size + size % 2)
    largest = np.sqrt(np.max(np.sum(image[:height] ** 2, axis=0)))
    for _ in range(_SWEEPS):
        moved = False
        for _ in range(len(order) - 1):
            half = len(order) // 2
            pairs = np.stack([order[:half], order[half:][::-1]])
            moved |= _rotate(image, height, pairs[:, pairs.max(axis=0) < size], largest)
            order = np.concatenate([order[:1], order[-1:], order[1:-1]])
        if not moved:
            break
    values = np.sqrt(np.sum(image[:height] ** 2, axis=0))
    order = np.argsort(-values, kind="stable")
    values, basis, product = values[order], image[height:, order], image[:height, order]
    if not wide:
        return values, basis
    clear = values > 1e-15 * values[0] if values.size else values > 0
    product = np.where(clear, product / np.where(clear, values, 1), product)
    return values, _orthonormal(product, int(np.sum(clear)))


def _orthonormal(vectors: np.ndarray, count: int) -> np.ndarray:
    """The first `count` columns as they are, the others replaced by orthonormal ones (vectors of the null space)."""
    if count == vectors.shape[1]:
        return vectors
    known = vectors[:, :count]
    return np.hstack([known, _outside(known, vectors.shape[1] - count)])


def _outside(known: np.ndarray, count: int) -> np.ndarray:
    """Orthonormal vectors that are orthogonal to orthonormal ones."""
    basis = known.astype(float)
    rest = np.random.default_rng(0).standard_normal((len(basis), count))
    for _ in range(3):
        rest = np.linalg.qr(rest - basis @ (basis.T @ rest))[0]
    return rest.astype(known.dtype)


def _rotate(image: np.ndarray, height: int, pairs: np.ndarray, largest: np.longdouble) -> bool:
    """Make each pair of columns orthogonal, unless all are: an inner product below u s_1 max(|a|, |b|) moves no
    singular value by more than u s_1.
    """  # fmt: skip
    first, second = image[:height, pairs[0]], image[:height, pairs[1]]
    alpha, beta = np.einsum("ij,ij->j", first, first), np.einsum("ij,ij->j", second, second)
    gamma = np.einsum("ij,ij->j", first, second)
    active = np.abs(gamma) > UNIT[np.dtype(LONG)] * largest * np.sqrt(np.maximum(alpha, beta))
    if not np.any(active):
        return False
    pairs, alpha, beta, gamma = pairs[:, active], alpha[active], beta[active], gamma[active]
    zeta = (beta - alpha) / (2 * gamma)
    tangent = np.where(zeta >= 0, 1, -1) / (np.abs(zeta) + np.sqrt(1 + zeta**2))
    c = 1 / np.sqrt(1 + tangent**2)
    first, second = image[:, pairs[0]], image[:, pairs[1]]
    image[:, pairs[0]], image[:, pairs[1]] = c * first - c * tangent * second, c * tangent * first + c * second
    return True
