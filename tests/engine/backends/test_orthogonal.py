"""Projections of tall blocks against a basis."""

from __future__ import annotations

import numpy as np
import pytest

from eckart.engine.backends import orthogonal


@pytest.mark.parametrize(("along", "projections"), [(0.0, 1), (1e-5, 1), (5e-4, 1), (0.1, 2), (0.9999999, 2)])
def test_columns_nearly_orthogonal_to_a_basis_are_projected_once(
    along: float, projections: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One projection leaves rounding of unit columns, whatever part along the basis it removes."""
    rng = np.random.default_rng(1)
    vectors = np.linalg.qr(rng.standard_normal((700, 60)))[0]
    basis, block = vectors[:, :50], along * vectors[:, 3:13] + (1.0 - along**2) ** 0.5 * vectors[:, 50:]
    made = []
    subtract = orthogonal.without
    monkeypatch.setattr(orthogonal, "without", lambda *parts: made.append(1) or subtract(*parts))
    found = orthogonal.project_out(block, basis)
    assert len(made) == projections
    assert np.abs(basis.T @ found).max() <= 4e-16
