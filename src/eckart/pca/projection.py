"""Shared by PCA, IncrementalPCA and TruncatedSVD: scores, rows from scores, and the noise of the model."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, Self

import numpy as np

from eckart.arrays import EPSILON, Array, Matrix, namespace, to_numpy
from eckart.components.scores import project_on_components, reconstruct_from_components
from eckart.documentation import document
from eckart.engine.returned import is_single
from eckart.estimators.constraints import validated
from eckart.estimators.template import InvertibleEstimator
from eckart.estimators.to_onnx import ToOnnx
from eckart.pca.onnx_export import linear_onnx
from eckart.result import Decomposition

_ROUNDING = 16 * EPSILON
"""Data of rank k leave out up to a third of this share, however many rows and columns they have."""


class Projection(ToOnnx, InvertibleEstimator):
    """scores = (X - mean) / scale right, and back: X ~ (scores right^T) scale + mean."""

    def _scores(self, data: object) -> Array:
        return project_on_components(self.decomposition_, data, whiten=getattr(self, "whiten", False))

    def _rows(self, scores: Array) -> Array:
        return reconstruct_from_components(self.decomposition_, scores, whiten=getattr(self, "whiten", False))

    def _onnx(self, dtype: str) -> Any:
        return linear_onnx(self.decomposition_, whiten=getattr(self, "whiten", False), dtype=dtype)


class WeightedProjection(Projection):
    """A projection with weighted rows."""

    @document
    @validated
    def fit(self, X: object, y: object = None, sample_weight: object = None) -> Self:
        """Find the components of X.

        {Parameters: X, y, sample_weight; Returns: Self [fitted]}

        Raises
        ------
        ParameterError
            If `n_components` exceeds min(n_samples, n_features).
        {MissingValuesError}
        """
        self._fit(X, sample_weight)
        return self

    @document
    @validated
    def fit_transform(self, X: object, y: object = None, sample_weight: object = None) -> Array:
        """Find the components of X and return the scores of its rows.

        This takes one more pass over the data than `fit`.

        {Parameters: X, y, sample_weight; Returns: array [scores]}
        """
        return self._scores(self._fit(X, sample_weight))

    @abstractmethod
    def _fit(self, X: object, sample_weight: object = None) -> Matrix: ...


def components_as_rows(d: Decomposition) -> Array:
    """right^T, k x columns."""
    return np.ascontiguousarray(d.right.T) if isinstance(d.right, np.ndarray) else d.right.T


def explained_variance(d: Decomposition) -> Array:
    """values^2 / (weight - 1); infinite if it overflows the dtype."""
    with np.errstate(over="ignore", under="ignore"):
        return d.explained_variance


def explained_ratio(d: Decomposition) -> Array:
    """values^2 / ||A||^2, or 0 if there is no variance."""
    with np.errstate(under="ignore"):
        return d.explained_variance_ratio


def noise_variance(d: Decomposition) -> float:
    """(total - kept) / (min(rows, columns) - k), as scikit-learn defines the attribute; weights count as rows."""
    return _left_over(d, min(max(d.weight, d.rows), d.columns) - d.k)


def model_noise(d: Decomposition) -> float:
    """(total - kept) / (columns - k): the maximum-likelihood noise of probabilistic PCA (Tipping and Bishop, 1999).

    With fewer rows than columns, scikit-learn divides by rows - k, and its model has more variance than the data.
    """
    return _left_over(d, d.columns - d.k)


def _left_over(d: Decomposition, directions: float) -> float:
    """Residual variance per direction."""
    if directions <= 0 or d.norm == 0.0 or d.certificate is None:
        return 0.0
    dropped, rounding = _dropped_share(d)
    if dropped <= rounding:
        return 0.0
    deviation = float(d.norm) * (dropped / directions / max(d.weight - 1.0, 1.0)) ** 0.5
    return float(deviation * deviation)  # Python numbers overflow to infinity without a warning


def _dropped_share(d: Decomposition) -> tuple[float, float]:
    """The share of the variance that the components leave out, and its rounding error.

    Singular values in float64 determine it to a few units of rounding, far better than the bounds of the certificate
    prove. That matters if there is little noise. Values in float32 are too coarse, unlike the bounds.
    """
    if not is_single(d.values.dtype):
        relative = to_numpy(d.values) / d.norm
        return 1.0 - float(relative @ relative), _ROUNDING
    assert d.certificate is not None
    # The lower bound of the share is below the share itself by the rounding of k values.
    rounding = d.certificate.rounding * d.k
    return 1.0 - (d.certificate.explained[0] + rounding), rounding + 4 * EPSILON * d.k**0.5


def zeros_like_mean(d: Decomposition) -> Array:
    """The subtracted mean, with zeros if there was none."""
    if d.mean is not None:
        return d.mean
    return namespace(d.right).zeros_like(d.right[:, 0])
