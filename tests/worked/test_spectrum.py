"""Eigenvalues of very different size, compared with exact isolation of roots."""

from __future__ import annotations

import numpy as np

from eckart import worked


def test_roots_of_very_different_size() -> None:
    table = np.array([[123456789, 2, 3], [4, 5, 6], [7, 8, 1 / 7]])
    values = [float(value) for value in worked.svd("123456789 2 3; 4 5 6; 7 8 1/7")["singular_values"]]
    assert np.allclose(values, np.linalg.svd(table, compute_uv=False), rtol=1e-6)
