"""Limits that `decompose` documents: `max_passes` and what a call takes in addition."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

import eckart as ek


@pytest.mark.filterwarnings("ignore::eckart.errors.AccuracyWarning")
@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("kind", ["memory", "blocks", "sparse"])
@pytest.mark.parametrize("shape", [(120, 80), (80, 120)])
def test_max_passes_limits_the_products_of_the_iteration(shape, kind, dtype):
    table = (np.random.default_rng(0).standard_normal(shape) + 100.0 * (kind != "sparse")).astype(dtype)
    data = sparse.csr_array(table * (table > 1.0)) if kind == "sparse" else table
    twice = shape[1] > shape[0] and kind != "memory"
    for options in ({}, {"scale": True, "left": True}):
        for limit in (1, 3, 6):
            d = ek.decompose(data, k=3, solver="lanczos", max_passes=limit, stream=kind == "blocks", **options)
            assert d.certificate.passes <= (2 * limit + 7 if twice else limit + 4)


def test_rows_of_weight_zero_do_not_shift_the_numbers_of_the_others():
    """Tables name the rows that remain by their numbers in the data."""
    data = np.random.default_rng(22).standard_normal((12, 4))
    data[7] += 50.0
    weights = np.where(np.arange(12) < 3, 0.0, 1.0)
    d = ek.decompose(data, k=2, left=True, sample_weight=weights)
    assert [line[0] for line in ek.tables.scores(d).rows] == [str(row) for row in range(4, 13)]
    largest = max(ek.tables.outliers(d).rows, key=lambda line: float(line[1]))
    assert largest[0] == "8"
    assert ek.decompose(data, k=2, sample_weight=weights).row_names is None
