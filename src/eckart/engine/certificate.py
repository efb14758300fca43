"""Two-sided bounds for the leading eigenvalues of a symmetric G from an approximate invariant subspace.

Let M be orthonormal, T = M^T G M, R = G M - M T, and let S be the compression of G to the complement of M.

Lower bounds are the Ritz values: theta_i = lambda_i(T) <= lambda_i(G) (Courant-Fischer).

Upper bounds. If S <= s I, then lambda_i(G) <= max(s, lambda_i([[T, R_c^T], [R_c, s I]])) for every R_c with
R_c^T R_c = R^T R. Proof: in the basis (M, M_perp), G = [[T, R^T], [R, S]] <= [[T, R^T], [R, s I]], and eigenvalues are
monotone in this order. A rotation of M_perp compresses R to R_c; the remaining eigenvalues equal s.

The bound needs no gap. It is the minimum over all d > 0 of the classical bound
lambda_i(G) <= max(lambda_i(T + R^T R / d), s + d): at the minimum, t = s + d solves lambda_i(T + R^T R / (t - s)) = t,
which is the Schur complement of the matrix above.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from eckart.arrays import Array
from eckart.engine.backends.symmetric import leading_values
from eckart.engine.standardize.rounding import gamma, lapack_eigenvalue_error, lapack_svd_error


def coupling_factor(residual_gram: np.ndarray) -> np.ndarray:
    """R_c with R_c^T R_c >= R^T R, given the computed R^T R: its rounding is added to the eigenvalues."""
    size = residual_gram.shape[0]
    if size == 0:
        return np.zeros((0, 0))
    values, vectors = np.linalg.eigh((residual_gram + residual_gram.T) / 2.0)
    rounding = 4.0 * size * float(np.finfo(np.float64).eps) * max(float(values[-1]), 0.0)
    return np.asarray(np.sqrt(np.maximum(values, 0.0) + rounding)[:, None] * vectors.T)


def upper_bounds(
    projected: np.ndarray, coupling: np.ndarray, complement: float, count: int, prototype: Array | None = None
) -> np.ndarray:
    """Upper bounds of the `count` largest eigenvalues of G, given complement >= lambda_max(S).

    Parameters
    ----------
    projected : T, or its diagonal where M consists of Ritz vectors
    coupling : R_c, for the last columns of M if it has fewer columns than T
    complement : s
    count : number of bounds
    prototype : an array that shows where a large eigenproblem may be solved
    """
    if not np.isfinite(complement):  # LAPACK refuses infinite entries
        return np.full(count, np.inf)
    size, border = projected.shape[0], coupling.shape[0]
    matrix = np.zeros((size + border, size + border))
    matrix[:size, :size] = np.diag(projected) if projected.ndim == 1 else projected
    matrix[size:, size - coupling.shape[1] : size] = coupling
    matrix[size - coupling.shape[1] : size, size:] = coupling.T
    matrix[np.arange(size, size + border), np.arange(size, size + border)] = complement
    found = leading_values(matrix, min(count, size + border), prototype)
    bounds = np.full(count, complement)
    bounds[: len(found)] = np.maximum(found, complement)
    return bounds


@dataclass(frozen=True)
class Bounded:
    """Ritz pairs of G with bounds for its leading eigenvalues; `error` is the rounding contained in them."""

    values: np.ndarray
    vectors: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    residuals: np.ndarray
    error: float


def residual_bounds(basis: np.ndarray, product: np.ndarray, outside: float, *, error: float) -> Bounded:
    """Rayleigh-Ritz with an orthonormal basis Q (n x q), given P = G Q and s >= the largest eigenvalue of G on the
    complement of Q.

    The matrix of `upper_bounds` has errors in T and R, and each bound is off by at most the sum of their norms:
    - Each column of P has an error of at most `error`: sqrt(q) times that in T and in R.
    - Rounding in R = P - Q T: gamma(q + 2) (||P||_F + ||Q||_F ||T||_F), and LAPACK's error for its triangle.
    - Q^T Q = I + F. The basis Q (I + F)^-1/2 is orthonormal; T changes by ||F|| ||T|| to first order, and R by ||F||
      (||T|| + ||R|| / 2), together by less than 3 ||F|| ||G||.
    - T and F are known up to the errors of `inner_accurately`. LAPACK's error for the eigenvalues comes last.
    """
    count = basis.shape[1]
    table, slip = inner_accurately(basis, product)
    table = (table + table.T) / 2.0
    rest = product - basis @ table
    triangle: np.ndarray = np.linalg.qr(rest)[1]
    values, turn = np.linalg.eigh(table)
    values, turn = values[::-1], np.ascontiguousarray(turn[:, ::-1])
    upper = upper_bounds(table, triangle, outside, count)
    largest = max(float(upper[0]), outside)
    own, doubt = inner_accurately(basis, basis)
    lost = float(np.linalg.norm(own - np.eye(count))) + doubt
    size = float(np.linalg.norm(product)) + float(np.linalg.norm(basis)) * float(np.linalg.norm(table))
    slack = 2.0 * np.sqrt(count) * error + slip + 3.0 * lost * largest + gamma(count + 2) * size
    slack += lapack_svd_error(len(basis), float(np.linalg.norm(rest)))
    slack += lapack_eigenvalue_error(count + len(triangle), largest)
    residuals = np.sqrt(np.sum((rest @ turn) ** 2, axis=0)) + slack
    return Bounded(values, basis @ turn, values - slack, upper + slack, residuals, float(slack))


def inner_accurately(first: np.ndarray, second: np.ndarray) -> tuple[np.ndarray, float]:
    """(A^T B, bound of its error in the Frobenius norm), accurate to the last digits for any number of rows.

    Leading parts of both factors are multiples of 2^-25 of their longest columns. Their products are multiples of
    2^-50, and no partial sum exceeds 1, so BLAS rounds nothing (Ozaki et al. 2012, Numer. Algorithms 59). The products
    with what is left are smaller by 2^-26 sqrt(n), and so is their rounding.
    """
    parts = [_split(factor) for factor in (first, second)]
    (high, low), (other_high, other_low) = parts
    found = high.T @ other_high + (high.T @ other_low + low.T @ second)
    long, short, other_long, other_short = (float(np.linalg.norm(part)) for pair in parts for part in pair)
    small = gamma(len(first) + 2) * (long * other_short + short * (other_long + other_short))
    return found, small + gamma(2) * (float(np.linalg.norm(found)) + small)


def _split(factor: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The multiples of 2^-25 times the length of the longest column, rounded up to a power of two, and the rest."""
    longest = float(np.sqrt(np.max(np.sum(factor**2, axis=0), initial=0.0)))
    step = np.ldexp(1.0, int(np.frexp(longest)[1]) - 25)
    high = np.rint(factor / step) * step
    return high, factor - high


def needed_complement(projected: np.ndarray, coupling: np.ndarray, index: int, limit: float, above: int) -> float:
    """The largest s for which the upper bound of the `index`-th value (from 1) is at most `limit`, t.

    [[T, R_c^T], [R_c, s I]] has as many eigenvalues above t as T (`above`), plus the number of eigenvalues of (s - t) I
    - R_c (T - t)^-1 R_c^T above zero (Haynsworth). The latter matrix only shifts with s.
    """
    position = index - 1 - above
    if position < 0:
        return -np.inf
    if position >= coupling.shape[0]:
        return limit
    if projected.ndim == 1:
        differences = projected - limit
        small = np.finfo(float).tiny ** 0.5
        differences = np.where(np.abs(differences) < small, -small, differences)
        product = (coupling / differences) @ coupling.T
    else:
        size, newest = len(projected), coupling.shape[1]
        right = np.zeros((size, coupling.shape[0]))
        right[size - newest :] = coupling.T
        shifted = projected - limit * np.eye(size)
        try:
            product = coupling @ np.linalg.solve(shifted, right)[size - newest :]
        except np.linalg.LinAlgError:
            return -np.inf
    values = np.linalg.eigvalsh(-(product + product.T) / 2.0)[::-1]
    return min(limit, limit - float(values[position]))


def least_gain(values: np.ndarray, residuals: np.ndarray) -> float:
    """A lower bound of sum_i (lambda_i(G) - theta_i) over the first k, for a positive semidefinite G.

    With w_j = R x_j / r_j, the leading eigenvalue of G on span(x_j, w_j) is at least that of [[theta_j, r_j], [r_j,
    0]], because w_j^T G w_j >= 0. Its eigenvector and the other x_i are k orthonormal vectors, so the sum of the first
    k eigenvalues is at least the sum of their Rayleigh quotients (Ky Fan). Upper bounds cannot be closer than that.
    """
    half = np.maximum(values, 1e-300) / 2.0
    return float(np.max(residuals * (residuals / (half + np.hypot(half, residuals))), initial=0.0))


def undetermined_groups(lower: np.ndarray, upper: np.ndarray, slack: float) -> tuple[tuple[int, int], ...]:
    """Runs of neighbours whose intervals [lower - slack, upper + slack] touch: only their span is determined.

    `lower` and `upper` are squared singular values in decreasing order and may include one value past the last
    component.
    """
    touching = upper[1 : len(lower)] + slack >= lower[:-1] - slack
    if not touching.any():
        return ()
    ends = np.flatnonzero(np.append(~touching, True))  # the last of each run
    first = np.append(0, ends[:-1] + 1)
    return tuple((int(i), int(j)) for i, j in zip(first, ends, strict=True) if j > i)
