"""The leading eigenpairs of a large symmetric matrix in memory, with a bound of all others.

LAPACK first reduces the whole matrix to tridiagonal form, which takes 4/3 n^3 multiplications, half of them in products
with a vector. A few hundred products with vectors take a fraction of that: one at a time while the matrix stays in
cache, otherwise in blocks. What they may have missed is excluded by a Cholesky factorisation, n^3 / 6 multiplications:
with orthonormal V and any c_i,

    M = s I - A + V diag(c) V^T positive semidefinite   =>   x^T A x <= s for every unit vector x orthogonal to V.

If the factorisation of the computed M^ ends, R^T R = M^ + E with ||E|| <= gamma(n + 1) tr(R^T R) (Higham 2002, theorem
10.3), so that M^ >= -||E||. BLAS multiplies by reciprocals, so a few more roundings are counted. The bound contains no
chance and no assumption about how V was found.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import log

import numpy as np
from scipy.linalg import lapack

from eckart.engine.backends.orthogonal import orthonormalize
from eckart.engine.backends.symmetric import leading_pairs
from eckart.engine.lanczos.tridiagonal import Tridiagonal
from eckart.engine.standardize.rounding import gamma
from eckart.engine.threads import one_blas_thread

WORTH_FROM = {"float32": 700, "float64": 1800}
"""From this size on, iterating takes less time than LAPACK, by the precision of the products (measured)."""
_SHARE, _PER_VECTOR = 3, 24
"""The basis has at most a third of all vectors. Spectra that are flat at the cut take 7 to 20 vectors for each wanted
one, so more than one wanted vector in this many is left to LAPACK.
"""
_BLOCK = 8
_FIRST, _SOONER, _GROWTH, _RELIABLE = 12, 0.85, 0.5, 0.55
"""Steps before the first check of convergence, the share of the expected steps after which the next one is made, how
many steps are taken relative to those expected from rates, and the share of the largest basis from which rates are
reliable.
"""
_VECTORS, _SECONDS, _COPIES, _CHOLESKY = (180, 5), {"float32": 1e-10, "float64": 2e-10}, 1.2e-8, 1.1e-11
"""Vectors of an iteration, and more for each component; seconds per vector and size^2; seconds per size^2 for copies
and conversions; seconds of the proof per size^3.
"""
VECTORS_FROM, _PER_WANTED = 320, 40
"""From this size on, and up to that of blocks in float64, one vector at a time takes a quarter of the time of LAPACK on
decaying spectra and at most 1.3 times as long on flat ones, for up to one component in this many columns (measured on
AMD EPYC).
"""
_FIRST_VECTORS, _SPLIT, _MOVING, _SETTLED = 10, 3, 0.05, 0.3
"""Vectors more than wanted before the first check. Pairs beyond the k + 1-th of which some may be used. Error of the
values, relative to the k-th, with which half of a basis is given up. Residuals of the other pairs, relative to the gap
after them.
"""
_DEPENDENT = 0.02
"""Lengths of rows after Gram-Schmidt, relative to each other, down to which Cholesky QR is accurate in float32."""
_LITTLE = 0.03
"""Share of a product below which what is left of it is orthogonalised again."""
_TILE = 256
"""Columns whose products are summed at a time; tiles of this size stay in cache."""
_ROUNDINGS = 8
"""Roundings of a term of the Cholesky factorisation beyond one for each row, at most."""
_INSIDE = 0.25
"""Share of the tolerance that convergence may use."""


@dataclass(frozen=True)
class Leading:
    """Approximate leading eigenvectors of A, and what is known of A outside them."""

    values: np.ndarray
    """Rayleigh quotients, decreasing."""
    vectors: np.ndarray
    """V, orthonormal."""
    beyond: float
    """x^T A x is at most this for every unit vector x orthogonal to V."""
    residual: float = 0.0
    """A bound of ||A V - V diag(values)||; 0 if it is not known yet."""


def worth_iterating(size: int, k: int, extra: int, precision: str) -> bool:
    """Whether k leading pairs are likely to take less time by iteration than by LAPACK."""
    return _by_vectors(size, k, precision) or _by_blocks(size, k + extra, precision)


def _by_vectors(size: int, k: int, precision: str) -> bool:
    return precision == "float64" and VECTORS_FROM <= size < WORTH_FROM["float64"] and _PER_WANTED * k <= size


def _by_blocks(size: int, width: int, precision: str) -> bool:
    return size >= WORTH_FROM[precision] and _PER_VECTOR * width <= size


def iteration_seconds(size: int, k: int, precision: str) -> float:
    """Expected seconds, infinite if LAPACK may take less; only ratios to other costs matter.

    Single vectors do not count: block Lanczos has to be tried as often as without them.
    """
    if not _by_blocks(size, k, precision):
        return np.inf
    each = (_VECTORS[0] + _VECTORS[1] * k) * _SECONDS[precision] + _COPIES
    return each * float(size) ** 2 + _CHOLESKY * float(size) ** 3


def iterated(matrix: np.ndarray, k: int, extra: int, tolerance: float, precision: str) -> Leading | None:
    """The k + `extra` leading vectors or fewer, but more than k, the first k with eigenvalues to the tolerance.

    Products are formed in `precision`, the proof in float64. None if that takes too many steps, which depends on the
    spectrum, or if the Cholesky factorisation finds that eigenvalues were missed.
    """
    with one_blas_thread():
        run: _VectorLanczos | _BlockLanczos
        if _by_vectors(len(matrix), k, precision):
            run = _VectorLanczos(matrix, k, tolerance)
        else:
            run = _BlockLanczos(matrix.astype(precision, copy=False), k, extra, tolerance)
        if not run.converged():
            return None
        values, vectors = run.vectors()
        beyond = bound_outside(matrix, values, vectors, run.between)
    return None if beyond is None else Leading(values, vectors, beyond)


class _VectorLanczos:
    """The same with one vector at a time, for matrices that stay in cache.

    One start vector shows one vector of each eigenspace. If that misses any of the wanted ones, the proof fails.
    """

    def __init__(self, matrix: np.ndarray, k: int, tolerance: float) -> None:
        size = len(matrix)
        self.matrix, self.k, self.tolerance = matrix, k, tolerance
        self.capacity = size // _SHARE
        self._found = Tridiagonal(np.empty((self.capacity, size)), self.capacity)
        start = np.random.default_rng(0).standard_normal(size)
        self._found.rows[0] = start / np.sqrt(start @ start)
        self._ritz = np.zeros(0), np.zeros((0, 0))
        self._width = k + 1
        self.between = 0.0

    def converged(self) -> bool:
        """As `_BlockLanczos.converged`; flat spectra, whose values still move halfway, are left to LAPACK."""
        found, checks = self._found, list[tuple[int, float]]()
        due, half = self.k + _FIRST_VECTORS, self.capacity // 2
        for count in range(1, self.capacity):
            rest = found.step(count - 1, self.matrix @ found.rows[count - 1])
            lost = found.is_lost(count)
            if count >= due or lost:
                error = self._error(count)
                if error <= 1.0:
                    return True
                if lost or (count >= half and error * self.tolerance > _MOVING):
                    return False
                due = count + max(3, min(round(_SOONER * _expected(checks, count, error)), count // 4))
                checks.append((count, error))
            np.divide(rest, found.off_diagonal[count - 1], out=found.rows[count])
        return False

    def _error(self, count: int) -> float:
        """As `_BlockLanczos._error`: k + 1 vectors or a few more, so that the largest gap follows them."""
        k, wanted = self.k, min(self.k + _SPLIT + 2, count)
        values, coefficients = self._ritz = self._found.leading(count, wanted)
        if wanted <= k + 1 or float(values[k - 1]) <= 0.0:
            return np.inf
        gaps = values[k:-1] - values[k + 1 :]
        self._width = width = k + 1 + int(gaps.argmax())
        gap, last = float(gaps.max()) / 2.0, float(values[k - 1])
        self.between = float(values[width]) + gap
        if gap <= 0.0:
            return np.inf
        residuals = self._found.off_diagonal[count - 1] * np.abs(coefficients[-1])
        error = float(np.sum(residuals[:k] ** 2 / (values[:k] - self.between)))
        others = float(np.max(residuals[: width + 1])) / (_SETTLED * gap)
        return max(error / (_INSIDE * self.tolerance * last), others**2)

    def vectors(self) -> tuple[np.ndarray, np.ndarray]:
        values, coefficients = self._ritz
        wanted = coefficients[:, : self._width]
        return np.array(values[: self._width]), orthonormalize(self._found.rows[: len(wanted)].T @ wanted)


class _BlockLanczos:
    """Block Lanczos with full orthogonalisation and a random start; basis vectors are rows."""

    def __init__(self, matrix: np.ndarray, k: int, extra: int, tolerance: float) -> None:
        size = len(matrix)
        self.matrix, self.k, self.width, self.tolerance = matrix, k, k + extra, tolerance
        self.capacity = size // _SHARE
        self.basis = np.empty((self.capacity + _BLOCK, size), matrix.dtype)
        self.projected = np.zeros((self.capacity + _BLOCK, self.capacity + _BLOCK))
        # Any start serves, because the result is verified.
        start = np.random.default_rng(0).standard_normal((size, _BLOCK)).astype(matrix.dtype)
        self.following = np.linalg.qr(start)[0].T
        self.coupling = np.zeros((_BLOCK, _BLOCK))
        self.count = 0
        self.between = 0.0
        """A number between the k-th value and those beyond the width."""
        self._ritz = np.zeros(0), np.zeros((0, 0))

    def converged(self) -> bool:
        """Take steps until the wanted values are accurate; False if that takes too many."""
        checks: list[tuple[int, float]] = []
        step, due = 0, max(_FIRST, 2 * self.width // _BLOCK)
        while self.count + _BLOCK <= self.capacity:
            self._step()
            step += 1
            if step < due:
                continue
            error = self._error()
            if error <= 1.0:
                return True
            remaining = _expected(checks, step, error)
            # Before rates are reliable, the expected vectors must exceed the largest basis by more.
            margin = 2.0 * max(_RELIABLE - self.count / self.capacity, 0.0)
            if checks and self.count + remaining * _BLOCK > (1.0 + margin) * self.capacity:
                return False
            due = step + max(2, min(round(_SOONER * remaining), step // 3))
            checks.append((step, error))
        return False

    def _step(self) -> None:
        """Add a block to the basis, and orthogonalise its product: against the last two blocks, then against all.

        Only the last two are in its way but for rounding, which matters once little else is left of it.
        """
        first, count = self.count, self.count + _BLOCK
        self.basis[first:count] = self.following
        self.count = count
        product = self.following @ self.matrix
        basis = self.basis[:count]
        before, whole = max(first - _BLOCK, 0), float(np.linalg.norm(product))
        inner = product @ basis[before:].T
        self.projected[first:count, before:count], self.projected[before:count, first:count] = inner, inner.T
        product -= inner @ basis[before:]
        product -= (product @ basis.T) @ basis
        if not float(np.linalg.norm(product)) > _LITTLE * whole:
            product -= (product @ basis.T) @ basis
        found = _orthonormal_rows(product)
        if found is None:  # nothing but rounding is left of some rows, in any direction
            rows, coupling = np.linalg.qr(product.T)
            rows = rows.T - (rows.T @ basis.T) @ basis
            found = np.ascontiguousarray(np.linalg.qr(rows.T)[0].T), coupling.astype(np.float64)
        self.following, self.coupling = found

    def _error(self) -> float:
        """Estimated errors r^2 / gap of the wanted values, relative to what is allowed.

        The vectors beyond the width must be known well enough that `between` is above their values.
        """
        k, width = self.k, self.width
        values, coefficients = leading_pairs(self.projected[: self.count, : self.count], width + 1)
        self._ritz = values, coefficients
        residuals = np.linalg.norm(self.coupling @ coefficients[self.count - _BLOCK :], axis=0)
        last, beyond = float(values[k - 1]), float(values[width])
        if last <= 0.0:
            return np.inf
        gap = (last - beyond) / 2.0
        self.between = beyond + gap
        if gap <= 0.0:
            return np.inf
        error = float(np.sum(residuals[:k] ** 2 / (values[:k] - self.between)))
        return max(error / (_INSIDE * self.tolerance * last), float(residuals[width] / gap) ** 2)

    def vectors(self) -> tuple[np.ndarray, np.ndarray]:
        values, coefficients = self._ritz
        wanted = coefficients[:, : self.width].astype(self.basis.dtype)
        found = (wanted.T @ self.basis[: self.count]).T.astype(np.float64)
        return np.array(values[: self.width]), orthonormalize(found)


def _orthonormal_rows(block: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
    """(Q, R) with R^T Q the block, by Cholesky QR twice; None if rows are nearly dependent."""
    rows, coupling = block, np.eye(len(block))
    for _ in range(2):
        factor, failed = lapack.dpotrf((rows @ rows.T).astype(np.float64), lower=1)
        if failed:
            return None
        lengths = factor.diagonal()
        if not float(lengths.min()) > _DEPENDENT * float(lengths.max()):
            return None
        rows = lapack.dtrtri(factor, lower=1)[0].astype(block.dtype) @ rows
        coupling = factor.T @ coupling
    return rows, coupling


def _expected(checks: list[tuple[int, float]], step: int, error: float) -> float:
    """Steps until the error is 1 at the last rate. Rates grow, so flat spectra take about half of them."""
    if not checks or not np.isfinite(error):
        return 2.0
    before, larger = checks[-1]
    rate = log(max(min(larger, 1e300) / error, 1.05)) / (step - before)
    return _GROWTH * log(error) / rate


def bound_outside(matrix: np.ndarray, values: np.ndarray, vectors: np.ndarray, level: float) -> float | None:
    """A bound of x^T A x for unit vectors x orthogonal to V, at `level` or little above; None if it is not proved.

    c_i = 2 theta_i: along V, M is about theta_i + `level`, so that residuals A V - V Theta enter squared.
    """
    size, count = vectors.shape
    if vectors.shape[1] != len(values) or not level > 0.0:
        return None
    shifted = (vectors * (2.0 * values)) @ vectors.T
    shifted -= matrix
    shifted.flat[:: size + 1] += level
    # Roundings of V C V^T, of the difference and of the diagonal.
    outer = 2.0 * float(np.abs(values) @ np.sum(vectors**2, axis=0))
    formed = gamma(count + 4) * (outer + 1.01 * float(np.linalg.norm(matrix)) + level)
    trace = float(np.sum(np.maximum(shifted.flat[:: size + 1], 0.0)))
    _, failed = lapack.dpotrf(shifted.T, lower=1, clean=0, overwrite_a=1)
    if failed:
        return None
    return level + formed + 1.01 * gamma(size + _ROUNDINGS) * trace


def product_in_tiles(matrix: np.ndarray, vectors: np.ndarray) -> tuple[np.ndarray, float]:
    """(A V, bound of the error of A v for a unit vector v): sums over tiles of columns have fewer roundings."""
    size = len(matrix)
    found = np.zeros_like(vectors)
    for first in range(0, size, _TILE):
        found += matrix[:, first : first + _TILE] @ vectors[first : first + _TILE]
    additions = min(_TILE, size) + -(-size // _TILE)
    return found, gamma(additions) * float(np.linalg.norm(matrix))
