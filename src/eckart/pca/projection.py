"""What the three estimators share: scores, rows from scores, and the model of the covariance."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from eckart.arrays import Array, namespace
from eckart.engine.svd import project_on_components, reconstruct_from_components
from eckart.estimators.inputs import take, take_scores
from eckart.estimators.to_onnx import ToOnnx
from eckart.pca.onnx_export import linear_onnx
from eckart.result import Decomposition


class Projection(ToOnnx, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """scores = (X - mean) / scale right, and back: X ~ (scores right^T) scale + mean."""

    decomposition_: Decomposition
    n_components_: int

    def transform(self, X: Any) -> Array:
        """Project the rows of X on the components, in one pass over the data.

        Parameters
        ----------
        X : array-like, sparse matrix, data frame or path of shape (n_samples, n_features_in_)
            Rows with the columns of the fit, in the same order.

        Returns
        -------
        array of shape (n_samples, n_components_)
            Scores, always dense.

        Raises
        ------
        InputError
            If the number or the names of the columns differ from those of the fit.
        """
        self._check_fitted()
        return self._scores(take(self, X, reset=False))

    def inverse_transform(self, X: Any) -> Array:
        """Reconstruct rows from their scores.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_components_)
            Scores; whitened scores if the estimator whitens.

        Returns
        -------
        array of shape (n_samples, n_features_in_)
            Rows in the units of the data.
        """
        self._check_fitted()
        return reconstruct_from_components(self.decomposition_, take_scores(X), whiten=getattr(self, "whiten", False))

    def _onnx(self, dtype: str) -> Any:
        return linear_onnx(self.decomposition_, whiten=getattr(self, "whiten", False), dtype=dtype)

    def _check_fitted(self) -> None:
        if "decomposition_" not in self.__dict__:  # scikit-learn's own test takes as long as a small transform
            check_is_fitted(self)

    def _scores(self, data: Any) -> Array:
        return project_on_components(self.decomposition_, data, whiten=getattr(self, "whiten", False))

    @property
    def _n_features_out(self) -> int:
        return self.n_components_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def components_as_rows(d: Decomposition) -> Array:
    """right^T, k x columns."""
    return np.ascontiguousarray(d.right.T) if isinstance(d.right, np.ndarray) else d.right.T


def explained_variance(d: Decomposition) -> Array:
    """values^2 / (weight - 1); infinite where it is beyond the range of the dtype."""
    with np.errstate(over="ignore", under="ignore"):
        return d.explained_variance


def explained_ratio(d: Decomposition) -> Array:
    """values^2 / ||A||^2, and 0 where there is no variance at all."""
    with np.errstate(under="ignore"):
        return d.explained_variance_ratio


def noise_variance(d: Decomposition) -> float:
    """(total - kept) / (min(rows, columns) - k), the attribute as scikit-learn defines it; weights count as rows."""
    return _left_over(d, min(max(d.weight, d.rows), d.columns) - d.k)


def model_noise(d: Decomposition) -> float:
    """(total - kept) / (columns - k): the maximum-likelihood noise of probabilistic PCA (Tipping and Bishop, 1999).

    With fewer rows than columns scikit-learn divides by rows - k, and its model has more variance than the data.
    """
    return _left_over(d, d.columns - d.k)


def _left_over(d: Decomposition, directions: float) -> float:
    """Variance left over per direction.

    The share that was kept comes from the certificate, which is float64 whatever the dtype of the data.
    """
    if directions <= 0 or d.norm == 0.0 or d.certificate is None:
        return 0.0
    # The lower bound of the share is short of the share itself by the rounding of k values.
    rounding = d.certificate.rounding * d.k
    dropped = 1.0 - (d.certificate.explained[0] + rounding)
    if dropped <= rounding + 4 * float(np.finfo(np.float64).eps) * d.k**0.5:
        return 0.0
    deviation = float(d.norm) * (dropped / directions / max(d.weight - 1.0, 1.0)) ** 0.5
    return float(deviation * deviation)  # Python's numbers overflow to infinity without a warning


def zeros_like_mean(d: Decomposition) -> Array:
    """The mean that was subtracted: none is the same as zero."""
    if d.mean is not None:
        return d.mean
    return namespace(d.right).zeros_like(d.right[:, 0])
