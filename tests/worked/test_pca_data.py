"""Scaled tables with roots, compared with NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from eckart import worked


@pytest.mark.parametrize("table", ["sqrt(1+sqrt(2)) 1; 1 2; 3 1", "1 sqrt(2); sqrt(2) 3; 1 1", "sqrt(2) 1; 3 2; 1 1"])
def test_scaled_tables_with_roots(table: str) -> None:
    cells = [[eval(cell, {"sqrt": np.sqrt}) for cell in row.split()] for row in table.split(";")]
    x = np.array(cells, dtype=float)
    correlation = np.corrcoef(x, rowvar=False)
    found = worked.pca(table, scale=True)
    values = np.array(found["variances"].evalf().tolist(), dtype=float).ravel()
    assert np.allclose(values, np.linalg.eigvalsh(correlation)[::-1])
    assert np.allclose(np.array(found["covariance"].evalf().tolist(), dtype=float), correlation)
    scores = np.array(found["scores"].evalf().tolist(), dtype=float)
    standard = (x - x.mean(axis=0)) / x.std(axis=0, ddof=1)
    assert np.allclose(scores @ scores.T, standard @ standard.T)
    assert found["cross_products"][0, 0] == len(x) - 1
    assert "40 digits" in found.text()
