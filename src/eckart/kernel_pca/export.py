"""A fitted scikit-learn KernelPCA with Eckart's numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.decomposition import KernelPCA
from sklearn.preprocessing import KernelCenterer

from eckart.arrays import to_numpy
from eckart.errors import ParameterError
from eckart.estimators.to_sklearn import seed, with_attributes
from eckart.kernel_pca.details import KernelPCADetails
from eckart.result import details_of


def sklearn_kernel_pca(ours: Any) -> KernelPCA:
    """A fitted ``sklearn.decomposition.KernelPCA``; its kernel matrix is computed once, for the means."""
    d = ours.decomposition_
    if details_of(d, KernelPCADetails).approximation_error or len(to_numpy(d.left)) != d.rows:
        raise ParameterError(
            "This model approximates the kernel, which scikit-learn's KernelPCA does not support. To "
            "convert the model, fit it with eigen_solver='dense'."
        )
    theirs = KernelPCA(
        n_components=ours.n_components_, kernel=ours.kernel, gamma=ours.gamma_, degree=ours.degree, coef0=ours.coef0,
        kernel_params=ours.kernel_params, alpha=1.0 if ours.alpha == "auto" else ours.alpha,
        eigen_solver="auto", tol=ours.tol, random_state=seed(ours.random_state), copy_X=ours.copy_X,
    )  # fmt: skip
    with_attributes(theirs, ours, ("eigenvalues_", "eigenvectors_", "gamma_"))
    rows = ours.X_fit_
    theirs.X_fit_ = rows if hasattr(rows, "tocsr") else to_numpy(rows).copy()
    kernel = theirs._get_kernel(theirs.X_fit_)
    theirs._centerer = KernelCenterer().fit(np.asarray(kernel, np.float64))
    ridge = getattr(ours, "_ridge", None)
    if ridge is not None and ours.alpha != "auto" and len(ridge.landmarks) == d.rows:
        theirs.fit_inverse_transform = True
        theirs.dual_coef_, theirs.X_transformed_fit_ = to_numpy(ridge.dual).copy(), to_numpy(ridge.landmarks).copy()
    return theirs
