"""The largest drop of the eigenvalues decides what small tables leave open."""

from __future__ import annotations

import numpy as np

import eckart as ek

RULES = ["sign_flip", "permutation", "gap"]


def planted(strengths, seed, columns=5, correlation=0.0, rows=40):
    rng = np.random.default_rng([23, seed])
    near = correlation ** np.abs(np.subtract.outer(np.arange(columns), np.arange(columns)))
    noise = rng.standard_normal((rows, columns)) @ np.linalg.cholesky(near).T
    left = rng.standard_normal((rows, len(strengths)))
    left, _ = np.linalg.qr(left - left.mean(axis=0))
    right, _ = np.linalg.qr(rng.standard_normal((columns, len(strengths))))
    return (left * np.asarray(strengths) * np.linalg.norm(noise, 2)) @ right.T + noise


def test_strong_components_in_correlated_noise():
    """The tests alone are right for 24 of these 30 tables."""
    strengths = ((2.5,), (2.5, 2.2), (2.5, 2.2, 2.0))
    found = [ek.choose_rank(planted(strengths[seed % 3], seed, correlation=0.5), RULES) for seed in range(30)]
    assert sum(choice.k == 1 + seed % 3 for seed, choice in enumerate(found)) >= 28
    by_drop = [choice for choice in found if choice.drop is not None]
    assert by_drop
    for choice in by_drop:
        assert choice.decided_by == "drop"
        assert choice.k == choice.drop
        assert choice.lowest <= choice.drop
        assert not choice.certain
        assert "eigenvalue drop" in choice.summary
        assert choice.to_dict()["drop"] == choice.drop


def test_a_dominant_component_does_not_hide_others():
    found = [ek.choose_rank(planted((100.0, 3.0), seed), RULES).k for seed in range(12)]
    assert found.count(2) >= 11


def test_noise_has_no_components():
    found = [ek.choose_rank(planted((), seed), RULES).k for seed in range(30)]
    assert found.count(0) >= 28


def test_components_that_mask_each_other_leave_the_number_uncertain():
    """In 3 of these 40 tables the tests and 'gap' agree that there is no component; in one of them nothing shows it."""
    found = [ek.choose_rank(planted((1.8, 1.6), seed, columns=4, rows=25), RULES) for seed in range(40)]
    assert sum(choice.certain for choice in found if choice.k != 2) <= 1
    masked = [choice for choice in found if "mask each other" in choice.reason and not choice.k]
    assert masked
    assert all(choice.highest == 2 for choice in masked)
