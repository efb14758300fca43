"""Rows from scores by kernel ridge regression on landmarks, with penalty and width chosen by leave-one-out errors.

rows ~ mean + k(scores, landmarks) dual, with mean 0 if the penalty was given. With features F = k(scores, landmarks)
C^-T, C C^T = k(landmarks, landmarks), and F^T F = Q diag(l) Q^T, the leave-one-out error of row i is e_i / (1 - h_i)
for every penalty at once, h_i = sum_j (F Q)_ij^2 / (l_j + alpha). No model is fitted twice.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy import linalg

from eckart.arrays import Array, from_numpy, to_numpy
from eckart.engine.threads import one_blas_thread
from eckart.errors import InputError, ParameterError
from eckart.kernel_pca.constants import FEW_LANDMARKS, LANDMARKS, RIDGE_EXAMPLES, RIDGE_WIDTHS
from eckart.kernel_pca.kernel_functions import Kernel

_PENALTIES = 10.0 ** np.arange(-9.0, 2.5, 0.5)


@dataclass(frozen=True)
class Ridge:
    """A fitted ridge regression: landmarks in the space of scores, coefficients, the mean of the rows."""

    kernel: Kernel
    landmarks: Array
    dual: Array
    mean: Array
    alpha: float
    error: float
    """Root mean squared leave-one-out error of a row, summed over the columns."""

    def on_device_of(self, prototype: Array) -> Ridge:
        """The same in the library and on the device of `prototype`."""
        arrays = {name: to_numpy(getattr(self, name)) for name in ("landmarks", "dual", "mean")}
        return replace(self, **{name: from_numpy(array, prototype) for name, array in arrays.items()})

    def predict(self, scores: Array) -> Array:
        kernel = self.kernel
        return kernel.tile(kernel.points(scores), kernel.points(self.landmarks)) @ self.dual + self.mean


@dataclass(frozen=True)
class _Spectral:
    """Features rotated so that their Gram matrix is diagonal."""

    features: np.ndarray
    values: np.ndarray
    back: np.ndarray
    """From coefficients of the rotated features to coefficients of the landmarks."""
    targets: np.ndarray


def learn(scores: Array, rows: Array, alpha: float | str, kernel: Kernel) -> Ridge:
    """The ridge regression from scores to rows, fitted on the host.

    A number for alpha gives scikit-learn's ridge, with the given kernel, shrunk towards 0. "auto" gives an rbf kernel
    chosen by leave-one-out errors, shrunk towards the mean of the rows.
    """
    if alpha != "auto" and (isinstance(alpha, str) or not alpha >= 0):
        raise ParameterError(f"alpha={alpha!r} is not a valid penalty. Use a non-negative number or 'auto'.")
    stride = -(-scores.shape[0] // RIDGE_EXAMPLES)
    scores = np.asarray(to_numpy(scores[::stride]), np.float64)
    rows = rows[::stride]
    rows = np.asarray(rows.toarray() if hasattr(rows, "toarray") else to_numpy(rows), np.float64)
    mean = rows.mean(axis=0) if alpha == "auto" else np.zeros(rows.shape[1])
    landmarks = scores[:: -(-len(scores) // LANDMARKS)]
    if alpha != "auto":
        spectral = _spectral(kernel, scores, landmarks, rows - mean)
        return _fitted(spectral, kernel, landmarks, mean, float(alpha))
    with one_blas_thread():
        # The width from fewer landmarks: it changes little with their number, while the work grows with its cube.
        few = landmarks[:: -(-len(landmarks) // FEW_LANDMARKS)]
        trials = [replace(kernel, name="rbf", gamma=w * _unit_gamma(landmarks), function=None) for w in RIDGE_WIDTHS]
        found = [_best(_spectral(trial, scores, few, rows - mean), trial, few, mean) for trial in trials]
        chosen = min(found, key=lambda ridge: ridge.error)
        if len(few) == len(landmarks):
            return chosen
        return _best(_spectral(chosen.kernel, scores, landmarks, rows - mean), chosen.kernel, landmarks, mean)


def _unit_gamma(scores: np.ndarray) -> float:
    """1 / the mean squared distance between scores; 1 if they coincide."""
    spread = 2.0 * float(scores.var(axis=0).sum())
    return 1.0 / spread if spread > 0 else 1.0


def _spectral(kernel: Kernel, scores: np.ndarray, landmarks: np.ndarray, targets: np.ndarray) -> _Spectral:
    marked = kernel.points(landmarks)
    block = np.asarray(kernel.tile(marked, marked), np.float64)
    if len(landmarks) == len(scores):
        # F F^T is the kernel itself, so its eigenvectors are used directly.
        values, turn = np.linalg.eigh(block)
        values = np.maximum(values, 1e-15 * float(values[-1]))
        return _Spectral(turn * np.sqrt(values), values, turn / np.sqrt(values), targets)
    block[np.diag_indices_from(block)] += 1e-10 * float(np.trace(block)) / len(block)
    try:
        triangle = np.linalg.cholesky(block)
    except np.linalg.LinAlgError as error:
        raise InputError(
            f"The kernel {kernel.name!r} of the scores is not positive definite, so ridge regression fails. "
            f"Use alpha='auto'."
        ) from error
    cross = np.asarray(kernel.tile(kernel.points(scores), marked))
    features = linalg.solve_triangular(triangle, cross.T, lower=True).T
    values, turn = np.linalg.eigh(features.T @ features)
    back = linalg.solve_triangular(triangle, turn, lower=True, trans="T")
    return _Spectral(features @ turn, np.maximum(values, 0.0), back, targets)


def _best(spectral: _Spectral, kernel: Kernel, landmarks: np.ndarray, mean: np.ndarray) -> Ridge:
    errors = [_left_out(spectral, penalty) for penalty in _PENALTIES]
    return _fitted(spectral, kernel, landmarks, mean, float(_PENALTIES[int(np.argmin(errors))]))


def _left_out(spectral: _Spectral, penalty: float) -> float:
    damped = 1.0 / (spectral.values + penalty)
    coefficients = damped[:, None] * (spectral.features.T @ spectral.targets)
    errors = spectral.targets - spectral.features @ coefficients
    leverage = np.minimum((spectral.features**2) @ damped, 1.0 - 1e-9)
    errors /= (1.0 - leverage)[:, None]
    return float(np.sqrt(np.mean(np.einsum("ij,ij->i", errors, errors))))


def _fitted(spectral: _Spectral, kernel: Kernel, landmarks: np.ndarray, mean: np.ndarray, alpha: float) -> Ridge:
    damped = 1.0 / np.maximum(spectral.values + alpha, np.finfo(np.float64).tiny)
    coefficients = damped[:, None] * (spectral.features.T @ spectral.targets)
    return Ridge(kernel, landmarks, spectral.back @ coefficients, mean, alpha, _left_out(spectral, alpha))
