"""Limits of Q for tables with imputed values."""

from __future__ import annotations

import numpy as np
import pytest

import eckart as ek


def limits(d, **options):
    return {(row[0], row[1]): float(row[2]) for row in ek.tables.outlier_limits(d, **options).rows}


def drawn(seed, rows=100, columns=30, gaps=0.1):
    """Three strong components; a gap is far from the plane of the components if it becomes a mean."""
    rng = np.random.default_rng([41, seed])
    loadings = rng.standard_normal((3, columns))

    def draw(count):
        return rng.standard_normal((count, 3)) @ loadings + 0.7 * rng.standard_normal((count, columns))

    def without(table):
        return np.where(rng.random(table.shape) < gaps, np.nan, table)

    return without(draw(rows)), without(draw(400))


@pytest.mark.parametrize(("columns", "k"), [(12, 3), (12, None), (30, 3)])
def test_means_in_place_of_missing_values(columns, k):
    """4 to 6 % of rows exceed the limits, within two standard errors, whether or not all components are known."""
    fitted, new = [], []
    for seed in range(40):
        table, others = drawn(seed, columns=columns)
        d = ek.decompose(table, k=k, left=True, missing="mean")
        q = np.array([row[3] for row in ek.tables.outliers(d, k=3).rows], dtype=float)
        limit = limits(d, k=3)
        fitted.append(np.mean(q > limit["Q", "fitted"]))
        others = np.where(np.isnan(others), np.asarray(d.mean), others) - np.asarray(d.mean)
        left = np.sum(others**2, axis=1) - np.sum((others @ np.asarray(d.right)[:, :3]) ** 2, axis=1)
        new.append(np.mean(left > limit["Q", "new"]))
    for rates in (fitted, new):
        error = np.std(rates) / len(rates) ** 0.5
        assert 0.04 - 2 * error < np.mean(rates) < 0.06 + 2 * error


def test_rows_with_weights_count_as_repeated_rows():
    table, _ = drawn(3, rows=30, columns=8)
    times = np.arange(30) % 3 + 1
    weighted = ek.decompose(table, k=3, left=True, missing="mean", sample_weight=times)
    repeated = ek.decompose(np.repeat(table, times, axis=0), k=3, left=True, missing="mean")
    expected = limits(repeated)
    for name, limit in limits(weighted).items():
        assert limit == pytest.approx(expected[name], rel=1e-9)


def test_an_outlying_row_is_found_among_rows_with_gaps():
    table, _ = drawn(7)
    table[17, 4] += 12.0 if np.isfinite(table[17, 4]) else 0.0
    table[17, 5] -= 12.0 if np.isfinite(table[17, 5]) else 0.0
    d = ek.decompose(table, k=3, left=True, missing="mean")
    assert "Q" in str(ek.tables.outliers(d).rows[17][5])
    assert "means" in next(row[3] for row in ek.tables.outlier_limits(d).rows if row[:2] == ("Q", "fitted"))


def test_complete_new_rows_have_more_noise_than_imputed_ones():
    rng = np.random.default_rng(5)
    whole = rng.standard_normal((80, 2)) @ rng.standard_normal((2, 8)) * 2.0 + 0.5 * rng.standard_normal((80, 8))
    gaps = np.where(rng.random(whole.shape) < 0.25, np.nan, whole)
    gaps[:12] = whole[:12]
    d = ek.decompose(gaps, k=2, left=True, missing="em")
    share = d.details.missing.explained_variance_ratio
    ratio = (1 - share[:2].sum()) / (1 - float(np.sum(d.explained_variance_ratio)))
    assert ratio > 1.1
    complete = limits(ek.decompose(whole, k=2, left=True))
    assert limits(d)["Q", "new"] == pytest.approx(complete["Q", "new"], rel=0.2)
