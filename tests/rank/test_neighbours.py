"""Noise whose neighbouring columns are correlated: planted components are counted, the noise is not."""

from __future__ import annotations

import numpy as np
import pytest

import eckart as ek

RULES = ["sign_flip", "permutation", "gap"]


def planted(rows, columns, rank, seed, *, correlation=0.0, deviations=1.0, strength=2.5):
    rng = np.random.default_rng([columns, rank, seed])
    near = correlation ** np.abs(np.subtract.outer(np.arange(columns), np.arange(columns)))
    noise = rng.standard_normal((rows, columns)) @ np.linalg.cholesky(near).T * deviations
    left, right = (np.linalg.qr(rng.standard_normal((size, rank)))[0] for size in (rows, columns))
    return (left * strength * np.linalg.norm(noise, 2)) @ right.T + noise + rng.normal(0.0, 3.0, columns)


@pytest.mark.parametrize("columns", [5, 8, 20])
@pytest.mark.parametrize("correlation", [0.5, 0.7, -0.5])
def test_components_in_correlated_noise(columns, correlation):
    right = 0
    for seed in range(4):
        choice = ek.choose_rank(planted(60, columns, 1, seed, correlation=correlation), RULES)
        right += choice.k == 1
        if choice.decorrelated is not None:
            assert choice.correlated
            assert choice.neighbours == pytest.approx(correlation, abs=0.25)
            assert choice.decided_by == "decorrelated"
            assert f"{choice.neighbours:.2f}" in choice["decorrelated"].reason
            assert choice.to_dict()["decorrelated"] == choice.k
    assert right >= 3


def test_the_correlation_is_estimated():
    """400 rows determine it to within 0.05: the standard error is about sqrt((1 - r^2) / (400 x 9))."""
    found = [ek.choose_rank(planted(400, 10, 0, seed, correlation=0.4), RULES).neighbours for seed in range(3)]
    np.testing.assert_allclose(found, 0.4, atol=0.051)


def test_weak_components_in_correlated_noise():
    """Components below the largest direction of the noise do not stand apart, but are found once it is independent."""
    found = []
    for seed in range(4):
        rng = np.random.default_rng(seed)
        near = 0.7 ** np.abs(np.subtract.outer(np.arange(30), np.arange(30)))
        noise = rng.standard_normal((200, 30)) @ np.linalg.cholesky(near).T
        signs = (-1.0) ** np.arange(30) / 30**0.5  # across neighbours, where the noise is small
        table = np.outer(rng.standard_normal(200), 2.0 * signs) + noise
        found.append(ek.choose_rank(table, RULES).k)
    assert found.count(1) >= 3


def test_unequal_columns_are_not_taken_for_correlated():
    deviations = np.array([0.5, 2.0, 0.5, 0.6, 2.0, 1.0, 0.5, 2.0])
    for rank in (0, 2):
        for seed in range(4):
            choice = ek.choose_rank(planted(60, 8, rank, seed, deviations=deviations), RULES)
            assert choice.neighbours == 0.0
