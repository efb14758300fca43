"""Inverses of sums that are singular without noise: scores of smallest norm, whatever the sizes of the components."""

import numpy as np
import pytest

from eckart.missing.em import GapModel, fill_rows
from eckart.missing.factor_model import Factors, Gaps, Inverses, score_inverses, scores, step


def _factors(sizes, columns=9, noise=1e-30, seed=0):
    rng = np.random.default_rng(seed)
    loadings = np.linalg.qr(rng.standard_normal((columns, len(sizes))))[0] * sizes
    size = len(sizes) + 1
    return Factors(
        np.column_stack([np.zeros(columns), loadings]), np.zeros((columns, size, size)), np.full(columns, noise),
        np.ones(size),
    )  # fmt: skip


@pytest.mark.parametrize("sizes", [(1.0, 1.0, 1.0, 1.0), (1.0, 0.8, 0.5, 1e-7), (1.0, 0.5, 1e-4, 1e-15)])
@pytest.mark.parametrize("observed", [0, 1, 2, 3, 4, 6])
def test_scores_without_noise_are_those_of_smallest_norm(sizes, observed):
    f = _factors(np.array(sizes))
    seen = np.zeros((1, 9))
    seen[0, :observed] = 1.0
    true = np.array([0.3, -1.0, 0.7, 0.2])
    values = (f.loadings[:, 1:] @ true) * seen
    inverses = score_inverses(seen, f)
    found = scores(values, seen, inverses.gain, f)[0, 1:]
    np.testing.assert_allclose((f.loadings[:, 1:] @ found) * seen, values, atol=1e-14)
    assert np.linalg.norm(found) <= np.linalg.norm(true) * (1.0 + 1e-6)
    # As many directions as the values leave open keep the variance of the prior, 1.
    variances = np.linalg.eigvalsh(inverses.covariance[0])
    assert np.all(variances > -1e-15)
    assert np.sum(variances > 0.99) >= 4 - observed
    assert variances.max() < 1.0 + 1e-9


def test_inverses_of_singular_data_with_priors_of_any_size():
    """Dependent null directions in units of the prior once gave a singular system."""
    data = np.zeros((3, 4, 4))
    data[0, :2, :2] = 1e30
    data[1] = 1e30 * np.outer([1.0, 1.0, 1.0, 1.0], [1.0, 1.0, 1.0, 1.0])
    prior = np.array([1e-2, 1.0, 1e21, 1e300])
    found = Inverses.of(data, prior)
    assert np.isfinite(found.gain).all()
    np.testing.assert_allclose(found.covariance[2], np.diag(1.0 / prior))
    assert np.linalg.eigvalsh(found.covariance).min() > -1e-13


def test_a_step_with_scores_that_depend_on_each_other():
    f = _factors(np.array([1.0, 1.0]))
    f.loadings[:, 2] = f.loadings[:, 1]
    values = np.outer(np.linspace(-1.0, 1.0, 8), f.loadings[:, 1])
    gaps = Gaps.of(values, np.ones(8), np.full(9, 1e-30))
    for held in (1e-30, None):
        found, fitted, _ = step(gaps, f, held)
        np.testing.assert_allclose(fitted, values, atol=1e-14)
        assert np.isfinite(found.loadings).all()


def test_new_rows_of_an_exact_table_with_many_components():
    """The covariance of 5 columns with 3 components and no noise is singular."""
    rng = np.random.default_rng(3)
    loadings = rng.standard_normal((5, 3))
    model = GapModel(np.zeros(5), np.ones(5), loadings, np.full(5, 1e-30))
    whole = rng.standard_normal((20, 3)) @ loadings.T
    rows = whole.copy()
    rows[np.arange(20), np.arange(20) % 5] = np.nan
    np.testing.assert_allclose(fill_rows(rows, model), whole, atol=1e-12)
