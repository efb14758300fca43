"""Properties of a decomposition that are computed from its numbers."""

import numpy as np
import pytest

import eckart as ek


def test_variances_that_overflow_are_infinite_without_a_warning():
    d = ek.decompose(1e300 * np.random.default_rng(0).standard_normal((20, 3)), k=2)
    assert np.isfinite(d.values).all()
    assert np.isinf(d.explained_variance).all()
    assert np.isinf(d.total_variance)
    assert d.explained_variance_ratio.sum() < 1
    assert not ek.analyze(d).scale_matters


@pytest.mark.parametrize("exponent", [100, 140, 150])
def test_large_data_have_a_summary(exponent):
    table = 10.0**exponent * np.random.default_rng(0).standard_normal((25, 6))
    d = ek.decompose(table, k=2, left=True)
    with np.errstate(over="ignore"):
        assert "PC1" in d.summary()


@pytest.mark.parametrize("kernel", ["poly", "sigmoid"])
def test_models_of_constant_rows_are_saved(tmp_path, kernel):
    with pytest.warns(ek.errors.EckartWarning):
        d = ek.decompose(np.ones((25, 6)), "kernel_pca", k=1, kernel=kernel)
    d.save(tmp_path / "m")
    assert ek.load(tmp_path / "m").norm == d.norm
