"""Columns and rows are drawn by the laws they are said to be drawn by; pivots are LAPACK's."""

from itertools import combinations

import numpy as np
import pytest
import scipy.linalg
from scipy import stats

import eckart as ek
from eckart.cur.select import by_pivot, by_volume
from eckart.testing import orthonormal
from tests.cur.samples import SELECTIONS, falling, tail


def test_norm_draws_as_taught_over_1000_seeds():
    A = np.random.default_rng(7).standard_normal((6, 8)) * np.arange(1, 9)
    c, total = 5, np.linalg.norm(A) ** 2
    q, p = (A**2).sum(axis=0) / total, (A**2).sum(axis=1) / total
    drawn, rows_drawn = np.zeros(8), np.zeros(6)
    products, errors = [], []
    for seed in range(1000):
        parts = ek.decompose(A, "cur", k=2, n_columns=c, n_rows=c, select="norm", rng=seed).details
        columns, times = parts.columns, parts.column_times
        assert len(np.unique(columns)) == len(columns)
        assert times.sum() == parts.row_times.sum() == c
        wanted = A[:, columns] / np.sqrt(c * q[columns]) * np.sqrt(times)
        np.testing.assert_allclose(parts.C, wanted, rtol=1e-12)
        drawn[columns] += times
        rows_drawn[parts.rows] += parts.row_times
        products.append(parts.C @ parts.C.T)
        errors.append(np.linalg.norm(A @ A.T - products[-1]) ** 2)
    assert stats.chisquare(drawn, 1000 * c * q).pvalue > 1e-3
    assert stats.chisquare(rows_drawn, 1000 * c * p).pvalue > 1e-3
    # E C C^T = A A^T, and E ||A A^T - C C^T||^2 = (||A||^4 - ||A A^T||^2) / c.
    spread = np.std(products, axis=0) / np.sqrt(1000)
    assert np.abs((np.mean(products, axis=0) - A @ A.T) / spread).max() < 4.5
    expected = (total**2 - np.linalg.norm(A @ A.T) ** 2) / c
    assert abs(np.mean(errors) - expected) < 4.5 * np.std(errors) / np.sqrt(1000)


@pytest.mark.parametrize("seed", range(4))
def test_norm_with_the_intersection_is_the_worked_solution(seed):
    A = np.array([[1, 1, 0, 2], [2, 0, 1, 2], [0, 3, 1, 0], [1, 1, 1, 5], [2, 2, 0, 1]])
    cur = ek.CUR(n_columns=3, n_rows=3, select="norm", core="intersection", random_state=seed).fit(A)
    parts = cur.decomposition_.details
    drawn = {
        name: (np.repeat(getattr(parts, name), getattr(parts, f"{name[:-1]}_times")) + 1).tolist()
        for name in ("columns", "rows")
    }
    found = ek.worked.cur(A.tolist(), 3, **drawn)
    for name, mine in (("C", cur.C_), ("U", cur.core_.matrix), ("R", cur.R_)):
        exact = np.array(found[name].evalf(30).tolist(), dtype=float)
        np.testing.assert_allclose(mine, exact, atol=1e-12 * np.abs(exact).max())
    assert cur.error_**2 == pytest.approx(float(found["error_squared"]), rel=1e-10)


def test_leverage_draws_by_the_weight_in_the_singular_vectors():
    A = falling(30, 6, seed=2)
    leverage = (np.linalg.svd(A)[2][:2] ** 2).sum(axis=0)
    firsts = [ek.decompose(A, "cur", k=2, n_columns=2, select="leverage", rng=s).details.columns[0] for s in range(300)]
    assert stats.chisquare(np.bincount(firsts, minlength=6), 300 * leverage / 2).pvalue > 1e-3


def test_volume_draws_by_squared_determinants():
    V = orthonormal(5, 2, seed=4)
    pairs = list(combinations(range(5), 2))
    chances = np.array([np.linalg.det(V[list(pair)]) ** 2 for pair in pairs])
    assert chances.sum() == pytest.approx(1.0)
    seen = dict.fromkeys(pairs, 0)
    rng = np.random.default_rng(0)
    for _ in range(5000):
        seen[tuple(sorted(by_volume(V, 2, rng).indices.tolist()))] += 1
    assert stats.chisquare(list(seen.values()), 5000 * chances).pvalue > 1e-3


def test_volume_keeps_its_promise_in_the_mean():
    A, k = falling(40, 30, 0.3), 3
    squares = [ek.decompose(A, "cur", k=k, select="volume", rng=seed).details.error ** 2 for seed in range(150)]
    d = ek.decompose(A, "cur", k=k, select="volume")
    promise = d.details.bounds["volume"].bound ** 2
    assert promise == pytest.approx(2 * (k + 1) * tail(A, k) ** 2, rel=1e-6)
    assert np.mean(squares) + 4 * np.std(squares) / np.sqrt(150) < promise


@pytest.mark.parametrize("make", ["even", "long", "ties"])
def test_pivots_are_those_of_lapack(make):
    """Also where only some of the columns are looked at."""
    V = orthonormal(12_000, 25, seed=1)
    if make == "long":
        V = np.linalg.qr(V * (np.arange(1, 12_001) ** -0.7)[:, None])[0]
    if make == "ties":
        V = np.linalg.qr(np.repeat(V[:3000], 4, axis=0))[0]
    pivots = scipy.linalg.qr(V.T, mode="r", pivoting=True)[1][:25]
    found = by_pivot(V, 25).indices
    np.testing.assert_allclose(V[found] ** 2 @ np.ones(25), V[pivots] ** 2 @ np.ones(25), rtol=1e-9)
    if make != "ties":
        np.testing.assert_array_equal(found, pivots)


def test_pivots_of_a_matrix_are_those_of_its_singular_vectors():
    A = falling(80, 50, seed=5)
    U, _, Vt = np.linalg.svd(A)
    parts = ek.decompose(A, "cur", k=6).details
    np.testing.assert_array_equal(parts.columns, scipy.linalg.qr(Vt[:6], pivoting=True)[2][:6])
    np.testing.assert_array_equal(parts.rows, scipy.linalg.qr(U[:, :6].T, pivoting=True)[2][:6])


def test_of_equal_columns_the_first_is_taken():
    A = np.repeat(falling(40, 8, seed=1), 3, axis=1)
    for scale in (1.0, 3.0, 1e-5):
        assert np.all(ek.decompose(A * scale, "cur", k=5).details.columns % 3 == 0)


@pytest.mark.parametrize("select", SELECTIONS)
def test_more_columns_than_k_are_different_and_help(select):
    A = falling()
    few = ek.decompose(A, "cur", k=4, n_columns=4, n_rows=4, select=select)
    many = ek.decompose(A, "cur", k=4, n_columns=15, n_rows=14, select=select)
    assert len(np.unique(many.details.columns)) == len(many.details.columns)
    assert many.details.error < few.details.error
    if select != "norm":
        assert (len(many.details.columns), len(many.details.rows)) == (15, 14)
