"""Components without variance: residuals that are stated hold for the vectors that are returned."""

from __future__ import annotations

import numpy as np
import pytest

import eckart as ek


@pytest.mark.parametrize("seed", range(6))
def test_residuals_of_components_without_variance(seed):
    """In float32 the others are rounded, and so is what is orthogonal to them."""
    weights = np.random.default_rng(seed).integers(0, 3, 43) + (np.arange(43) < 2)
    table = np.eye(43, dtype="f4") + np.eye(43, k=1, dtype="f4")
    model = ek.PCA(43).fit(table, sample_weight=weights)
    exact = table.astype(np.longdouble)
    exact = (exact - weights @ exact / weights.sum()) * np.sqrt(weights.astype(np.longdouble))[:, None]
    vectors, values = model.components_.T.astype(np.longdouble), model.singular_values_.astype(np.longdouble)
    found = np.sqrt(((exact.T @ (exact @ vectors) - vectors * values**2) ** 2).sum(axis=0)) / values[0] ** 2
    assert (found <= model.certificate_.residuals + 5e-14).all()
    assert (model.certificate_.residuals < 1e-4).all()
