"""Fitted scikit-learn objects with Eckart's numbers, for tools that need those: ONNX converters, skops and others."""

from __future__ import annotations

from typing import Any

from sklearn import decomposition

from eckart.errors import ParameterError
from eckart.estimators.to_sklearn import shared_parameters, with_attributes

_MODEL = ("components_", "explained_variance_", "explained_variance_ratio_", "singular_values_")


def sklearn_pca(estimator: Any) -> decomposition.PCA:
    """A fitted ``sklearn.decomposition.PCA``."""
    if estimator.scale:
        raise ParameterError(
            "This PCA scales its columns, which scikit-learn's PCA cannot do. Fit "
            "sklearn.preprocessing.StandardScaler and eckart.PCA(scale=False) in a Pipeline instead, "
            "and convert the second step."
        )
    theirs = decomposition.PCA(**shared_parameters(estimator, decomposition.PCA))
    return with_attributes(theirs, estimator, (*_MODEL, "mean_", "noise_variance_", "n_components_", "n_samples_"))


def sklearn_incremental_pca(estimator: Any) -> decomposition.IncrementalPCA:
    """A fitted ``sklearn.decomposition.IncrementalPCA``; fitting it further uses the algorithm of scikit-learn."""
    theirs = decomposition.IncrementalPCA(**shared_parameters(estimator, decomposition.IncrementalPCA))
    names = ("mean_", "var_", "noise_variance_", "n_components_", "n_samples_seen_", "batch_size_")
    return with_attributes(theirs, estimator, (*_MODEL, *names))


def sklearn_truncated_svd(estimator: Any) -> decomposition.TruncatedSVD:
    """A fitted ``sklearn.decomposition.TruncatedSVD``."""
    theirs = decomposition.TruncatedSVD(**shared_parameters(estimator, decomposition.TruncatedSVD))
    return with_attributes(theirs, estimator, _MODEL)
