"""Probabilistic PCA (Tipping and Bishop, 1999): x ~ N(mean, V diag(l - s) V^T + s I).

Here l are the variances on the components V, and s is the mean variance of the columns - k directions left out,
including those without variance. The trace of the covariance is therefore the total variance. V has orthonormal
columns, so inverse and determinant are immediate: directions in V have variance l, all others s.
"""

from __future__ import annotations

import math
import warnings

import numpy as np
from sklearn.utils.validation import check_is_fitted

from eckart.arrays import Array, astype, from_numpy, is_numpy, is_sparse, namespace
from eckart.components.scores import null_level, open_new_rows
from eckart.documentation import document
from eckart.engine.backends.cuda.device_rows import DeviceCsr
from eckart.engine.backends.cuda.gather import dense
from eckart.engine.exponent import times_power_of_two
from eckart.engine.finite import refuse_not_finite
from eckart.engine.matrix import Opened, stored
from eckart.engine.parallel import each
from eckart.engine.threads import one_blas_thread
from eckart.errors import DataWarning, InputError
from eckart.estimators.inputs import take
from eckart.pca.constants import LIKELIHOOD_ROWS
from eckart.pca.projection import model_noise
from eckart.result import Decomposition


class ProbabilisticMixin:
    """Covariance, precision and likelihood of the model."""

    decomposition_: Decomposition

    def _model(self) -> tuple[Decomposition, float]:
        """The decomposition and the noise variance of the model."""
        check_is_fitted(self)
        return self.decomposition_, model_noise(self.decomposition_)

    @document
    def get_covariance(self) -> Array:
        """Compute the covariance of the probabilistic PCA model.

        Let V be the components, l their variances and s the noise variance. The covariance is V diag(l - s) V^T + s I.
        It is in the units of the data, even if the estimator whitens, and its trace is the total variance of the data.
        If there are fewer rows than columns, scikit-learn's covariance is larger: it uses `noise_variance_`, which is a
        mean over n_samples - k directions, for all n_features - k directions.

        {Returns: array [of columns]}
            Covariance matrix.
        """
        d, noise = self._model()
        return _rotated(d, _variances(d, noise), noise, _scale(d))

    @document
    def get_precision(self) -> Array:
        """Compute the inverse of the covariance of the probabilistic PCA model.

        With the notation of `get_covariance`, the inverse is V diag(1/l - 1/s) V^T + I / s.

        {Returns: array [of columns]}
            Precision matrix.
        """
        d, noise = self._model()
        variances, noise = _invertible(d, noise)
        scale = _scale(d)
        rest = 1.0 / noise if d.k < d.columns else 0.0
        return _rotated(d, 1.0 / variances, rest, None if scale is None else 1.0 / scale)

    @document
    def score_samples(self, X: object) -> Array:
        """Compute the log-likelihood of each row under the probabilistic PCA model.

        {Parameters: X [new rows]}

        Returns
        -------
        array of shape (n_samples,)
            Log-likelihood of each row.
        """
        check_is_fitted(self)
        d = self.decomposition_
        opened = open_new_rows(d, take(self, X, reset=False))
        data = opened.matrix
        variances, noise = _invertible(d, model_noise(d))
        pieces: dict[int, Array] = {}

        def step(start: int) -> None:
            block = _dense(opened, start, min(start + LIKELIHOOD_ROWS, data.shape[0]))
            pieces[start] = _squared_distances(d, block, variances, noise)

        starts = list(range(0, data.shape[0], LIKELIHOOD_ROWS))
        shared = data.resident and is_numpy(variances)
        with np.errstate(over="ignore", invalid="ignore"):
            each(step, starts, workers=None if shared else 1)
        xp = namespace(variances)
        distances = xp.concat([pieces[start] for start in starts])
        if bool(xp.any(xp.isnan(distances))):
            refuse_not_finite(stored(opened), opened.metadata)
        logarithm = float(xp.sum(xp.log(variances))) + (d.columns - d.k) * math.log(noise or 1.0)
        if d.scale is not None:
            logarithm += 2.0 * float(xp.sum(xp.log(astype(d.scale, xp.float64))))
        constant = d.columns * math.log(2.0 * math.pi) + logarithm
        return astype(-0.5 * (distances + constant), data.dtype)

    @document
    def score(self, X: object, y: object = None) -> float:
        """Compute the mean log-likelihood of the rows under the probabilistic PCA model.

        {Parameters: X [new rows], y}

        Returns
        -------
        float
            Mean log-likelihood.
        """
        scores = self.score_samples(X)
        return float(namespace(scores).mean(scores))


def _variances(d: Decomposition, noise: float) -> Array:
    """l, in float64. Leading variances are at least the mean of the rest, up to rounding."""
    xp = namespace(d.values)
    variances = (astype(d.values, xp.float64) / max(d.weight - 1.0, 1.0) ** 0.5) ** 2
    return variances if d.which == "smallest" else xp.where(variances > noise, variances, noise + 0.0 * variances)


def _invertible(d: Decomposition, noise: float) -> tuple[Array, float]:
    """(l, s), both at least at the level of rounding, because a direction without variance has no density."""
    xp = namespace(d.values)
    variances, floor = _variances(d, noise), null_level(d) ** 2
    smallest = float(xp.min(variances)) if d.k else noise
    least = min(smallest, noise if d.k < d.columns else smallest)
    if floor == 0.0 and least == 0.0:
        raise InputError(
            f"Some directions of the model have no variance ({d.k} components of {d.columns} "
            "columns), so its covariance matrix is singular and it has no density. Use data that "
            "vary in every direction, and whose squares neither overflow nor underflow."
        )
    if least < floor:
        warnings.warn(
            f"Some directions of the model have no variance ({d.k} components of {d.columns} columns, "
            f"noise variance {noise:.3g}), so Eckart sets their variance to the rounding error. Use "
            "fewer components than the rank of the data.",
            DataWarning,
            stacklevel=3,
        )
    return xp.where(variances > floor, variances, floor + 0.0 * variances), max(noise, floor)


def _scale(d: Decomposition) -> Array | None:
    return None if d.scale is None else astype(d.scale, namespace(d.scale).float64)


def _rotated(d: Decomposition, values: Array, rest: float, scale: Array | None) -> Array:
    """D (V diag(values - rest) V^T + rest I) D."""
    xp = namespace(d.right)
    right = astype(d.right, xp.float64)
    identity = from_numpy(np.eye(d.columns), right)
    with one_blas_thread():  # more threads would sum in another order
        result = (right * (values - rest)) @ right.T + rest * identity
    if scale is not None:
        result = result * scale[:, None] * scale[None, :]
    return astype(result, d.right.dtype)


def _squared_distances(d: Decomposition, block: Array, variances: Array, noise: float) -> Array:
    """(x - mean)^T C^-1 (x - mean) of each row, from its scores and its residual."""
    xp = namespace(d.right)
    block = astype(block, xp.float64)
    if d.mean is not None:
        block = block - astype(d.mean, xp.float64)
    if d.scale is not None:
        block = block / astype(d.scale, xp.float64)
    right = astype(d.right, xp.float64)
    scores = block @ right
    result = xp.sum(scores * scores / variances, axis=1)
    if d.k < d.columns:
        rest = block - scores @ right.T
        result = result + xp.sum(rest * rest, axis=1) / noise
    return result


def _dense(opened: Opened, start: int, stop: int) -> Array:
    """Some rows as given; sparse rows of extreme magnitude were scaled when they were opened."""
    matrix = opened.matrix
    if not matrix.resident:
        block = matrix.source.read(start, stop)
        return block.toarray() if is_sparse(block) else block
    block = matrix.backend.rows_between(matrix.matrix, start, stop)
    if isinstance(block, DeviceCsr):
        return times_power_of_two(dense(block), -opened.exponent)
    return np.ldexp(block.toarray(), -opened.exponent) if is_sparse(block) else block
