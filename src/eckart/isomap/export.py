"""A fitted scikit-learn Isomap with Eckart's numbers."""

from __future__ import annotations

from typing import Any

from sklearn.manifold import Isomap

from eckart.errors import ParameterError
from eckart.estimators.to_sklearn import with_attributes


def sklearn_isomap(ours: Any) -> Isomap:
    """A fitted ``sklearn.manifold.Isomap``, which keeps all distances, rows x rows."""
    if ours.n_landmarks is not None:
        raise ParameterError(
            "scikit-learn's Isomap does not support landmarks. To convert the model, fit it with n_landmarks=None."
        )
    theirs = Isomap(
        n_neighbors=ours.n_neighbors, radius=ours.radius, n_components=ours.n_components, metric=ours.metric, p=ours.p,
        metric_params=ours.metric_params,
    )  # fmt: skip
    theirs.nbrs_, theirs.kernel_pca_ = ours.nbrs_, ours.kernel_pca_
    theirs._n_features_out = theirs.n_components
    return with_attributes(theirs, ours, ("dist_matrix_", "embedding_"))
