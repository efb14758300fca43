"""A fitted scikit-learn NMF with Eckart's numbers."""

from __future__ import annotations

from typing import Any

from sklearn.decomposition import NMF

from eckart.errors import ParameterError
from eckart.estimators.to_sklearn import seed, with_attributes
from eckart.nmf.constants import EXPORT_TOLERANCE, ITERATIONS
from eckart.nmf.options import LOSSES


def sklearn_nmf(ours: Any) -> NMF:
    """A fitted ``sklearn.decomposition.NMF``; its transform iterates until it agrees with ours.

    Multiplicative updates converge slowly. With the default tolerance of 1e-4 their scores are up to 2 % away from the
    minimum that our transform returns.
    """
    if ours.missing == "mask":
        raise ParameterError(
            "This model was fitted with missing values, which scikit-learn's NMF does not support. Fit "
            "it on complete data to convert it."
        )
    solver = "cd" if ours.beta_loss in ("frobenius", 2, 2.0) else "mu"
    theirs = NMF(
        n_components=ours.n_components_, init=ours.init, solver=solver, beta_loss=ours.beta_loss,
        tol=min(ours.tol, EXPORT_TOLERANCE[solver]), max_iter=max(ours.max_iter, ITERATIONS[solver]),
        random_state=seed(ours.random_state), alpha_W=ours.alpha_W, alpha_H=ours.alpha_H, l1_ratio=ours.l1_ratio,
    )  # fmt: skip
    names = ("components_", "reconstruction_err_", "n_components_", "n_iter_")
    theirs = with_attributes(theirs, ours, names)
    theirs._n_components = ours.n_components_
    theirs._beta_loss = LOSSES.get(ours.beta_loss, ours.beta_loss)
    return theirs
