"""Explained shares that allow for the noise that imputed values lack."""

from __future__ import annotations

import numpy as np
import pytest

import eckart as ek


@pytest.mark.parametrize("scale", [False, True])
def test_expected_shares_are_nearer_to_those_of_the_whole_table(scale):
    off_filled, off_expected = [], []
    for seed in range(4):
        rng = np.random.default_rng([5, seed])
        whole = rng.standard_normal((150, 2)) @ rng.standard_normal((2, 10)) + 0.3 * rng.standard_normal((150, 10))
        table = np.where(rng.random(whole.shape) < 0.3, np.nan, whole)
        truth = ek.decompose(whole, k=2, scale=scale).explained_variance_ratio.sum()
        d = ek.decompose(table, k=2, scale=scale, missing="em")
        off_filled.append(d.explained_variance_ratio.sum() - truth)
        off_expected.append(d.details.missing.explained_variance_ratio.sum() - truth)
        assert any("allowing for that" in note for note in d.notes)
    assert np.mean(off_filled) > 0.005
    assert abs(np.mean(off_expected)) < 0.5 * np.mean(off_filled)


def test_without_noise_both_shares_agree():
    rng = np.random.default_rng(6)
    table = rng.standard_normal((60, 2)) @ rng.standard_normal((2, 8))
    table[rng.random(table.shape) < 0.1] = np.nan
    d = ek.decompose(table, k=2, missing="em")
    assert np.allclose(d.details.missing.explained_variance_ratio, d.explained_variance_ratio, atol=1e-9)
