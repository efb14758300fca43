"""Every number that Isomap states about its accuracy, against SciPy's distances along the same graph."""

from __future__ import annotations

import numpy as np
import pytest

import eckart as ek

bounds = pytest.importorskip("benchmarks.bounds.isomap", reason="run from the root of the repository")


@pytest.mark.parametrize("first", range(770_000, 770_030, 10))
def test_no_statement_is_false(first: int) -> None:
    for seed in range(first, first + 10):
        given = bounds.case(seed, most=120)
        assert not bounds.false_statements(given), given.metadata


def test_the_share_of_float32_coordinates_includes_their_rounding() -> None:
    for seed in range(20):
        rng = np.random.default_rng(seed)
        rows = rng.random((int(rng.integers(40, 300)), 3)).astype(np.float32)
        d = ek.decompose(rows, "isomap", left=True, k=3, n_neighbors=6)
        coordinates = np.asarray(d.left, np.longdouble) * np.asarray(d.values, np.longdouble)
        coordinates -= coordinates.mean(axis=0)
        # Over all pairs, both sums of squares are the number of rows times these.
        along = np.sum(bounds.exact_distances(d).astype(np.longdouble) ** 2) / (2 * len(rows))
        assert d.certificate.explained[0] <= np.sum(coordinates**2) / along
