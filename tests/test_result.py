"""Properties of a decomposition that are computed from its numbers."""

import numpy as np

import eckart as ek


def test_variances_that_overflow_are_infinite_without_a_warning():
    d = ek.decompose(1e300 * np.random.default_rng(0).standard_normal((20, 3)), k=2)
    assert np.isfinite(d.values).all()
    assert np.isinf(d.explained_variance).all()
    assert np.isinf(d.total_variance)
    assert d.explained_variance_ratio.sum() < 1
    assert not ek.analyze(d).scale_matters
