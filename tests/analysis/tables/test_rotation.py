"""Varimax: against another implementation, and what must hold of every turn."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import eckart as ek
from eckart.errors import ParameterError
from tests.samples import arrests


def criterion(loadings: np.ndarray) -> float:
    """Sum over the axes of the variance of the squared loadings."""
    return float((loadings**2).var(axis=0).sum())


def components(seed: int, columns: int = 8) -> ek.Decomposition:
    random = np.random.default_rng(seed)
    data = random.normal(size=(60, columns)) @ random.normal(size=(columns, columns))
    return ek.decompose(data, scale=True, left=True)


@given(st.integers(0, 2**16), st.integers(2, 5), st.booleans())
def test_no_small_turn_does_better(seed: int, k: int, normalize: bool) -> None:
    d = components(seed)
    found = ek.tables.varimax(d, k=k, normalize=normalize)
    np.testing.assert_allclose(found.matrix.T @ found.matrix, np.eye(k), atol=1e-12)
    plain = np.asarray(d.right)[:, :k] * np.sqrt(np.asarray(d.explained_variance)[:k])
    np.testing.assert_allclose(plain @ found.matrix, found.loadings, atol=1e-12)
    turned = found.loadings
    if normalize:
        turned = turned / np.linalg.norm(turned, axis=1, keepdims=True)
        plain = plain / np.linalg.norm(plain, axis=1, keepdims=True)
    best = criterion(turned)
    assert best >= criterion(plain) - 1e-12
    random = np.random.default_rng(seed)
    for _ in range(10):
        step, _ = np.linalg.qr(np.eye(k) + 0.05 * random.normal(size=(k, k)))
        assert criterion(turned @ step) <= best + 1e-12


@pytest.mark.parametrize("seed", range(10))
def test_as_good_as_the_rotation_of_factor_analysis(seed: int) -> None:
    from sklearn.decomposition._factor_analysis import _ortho_rotation

    d = components(seed)
    plain = np.asarray(d.right)[:, :3] * np.sqrt(np.asarray(d.explained_variance)[:3])
    other = _ortho_rotation(plain, method="varimax", tol=1e-12, max_iter=5000).T
    found = ek.tables.varimax(d, k=3, normalize=False).loadings
    assert criterion(found) >= criterion(other) - 1e-9


def test_simple_structure_is_found_again() -> None:
    """Columns made of one factor each load on one turned axis each."""
    random = np.random.default_rng(0)
    factors = random.normal(size=(5000, 2))
    data = factors[:, [0, 0, 0, 1, 1, 1]] + 0.3 * random.normal(size=(5000, 6))
    table = ek.tables.rotated_loadings(ek.decompose(data, k=2, scale=True))
    loadings = np.array([row[1:3] for row in table.rows], dtype=float)
    small, large = np.sort(np.abs(loadings), axis=1).T
    assert large.min() > 0.9
    assert small.max() < 0.05
    assert table.columns == ("column", "RC1", "RC2", "communality")


def test_turned_axes_carry_the_same_together() -> None:
    d = arrests()
    table = ek.tables.rotated_variances(d, k=2)
    shares = np.array([row[2] for row in table.rows], dtype=float)
    assert shares.sum() == pytest.approx(np.asarray(d.explained_variance_ratio)[:2].sum())
    assert shares[0] >= shares[1]
    scores = np.array([row[1:] for row in ek.tables.rotated_scores(d, k=2).rows], dtype=float)
    np.testing.assert_allclose(np.cov(scores.T), np.eye(2), atol=1e-10)


def test_rotated_loadings_are_correlations_with_rotated_scores() -> None:
    d = components(3)
    scores = np.array([row[1:] for row in ek.tables.rotated_scores(d, k=3).rows], dtype=float)
    loadings = np.array([row[1:4] for row in ek.tables.rotated_loadings(d, k=3).rows], dtype=float)
    rebuilt = np.asarray(d.left) * np.asarray(d.values) @ np.asarray(d.right).T
    expected = np.corrcoef(rebuilt.T, scores.T)[:8, 8:]
    np.testing.assert_allclose(loadings, expected, atol=1e-10)


def test_uncentred_axes_are_not_turned() -> None:
    d = ek.decompose(np.arange(12.0).reshape(4, 3) ** 1.5, "svd", k=2)
    with pytest.raises(ParameterError, match="not centred"):
        ek.tables.varimax(d)
