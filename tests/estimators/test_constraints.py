"""Parameters are checked as scikit-learn checks them, without its cost."""

import numpy as np
import pytest
from sklearn import config_context
from sklearn.utils._param_validation import InvalidParameterError

import eckart as ek

X = np.random.default_rng(0).standard_normal((20, 4))


@pytest.mark.parametrize(
    ("name", "value"),
    [("n_components", -1), ("n_components", True), ("whiten", "yes"), ("svd_solver", "fast"), ("tol", -1.0)],
)
def test_wrong_values_are_refused_in_scikit_learns_words(name, value):
    with pytest.raises(InvalidParameterError, match=f"The '{name}' parameter of PCA must be"):
        ek.PCA(**{name: value}).fit(X)


def test_subclasses_with_other_parameters():
    class Two(ek.PCA):
        def __init__(self, extra=None):
            super().__init__(2)
            self.extra = extra

    assert Two(extra=object()).fit(X).n_components_ == 2


def test_checks_can_be_switched_off():
    with config_context(skip_parameter_validation=True):
        ek.PCA(2, copy="never").fit(X)


@pytest.mark.parametrize("make", [ek.PCA, ek.TruncatedSVD, ek.NMF])
def test_reading_options_are_refused_with_the_way_to_use_them(make, tmp_path):
    np.savez(tmp_path / "two.npz", X=np.abs(X), Y=X)
    hint = r"Open the data first: fit\(eckart.open_data\(X, key=...\)\)"
    with pytest.raises(TypeError, match=rf"unexpected keyword argument 'key'.* {hint}"):
        make(2).fit(tmp_path / "two.npz", key="X")
    with pytest.raises(ek.errors.FileError, match=hint):
        make(2).fit(tmp_path / "two.npz")
    with pytest.raises(ek.errors.InputError, match=rf"Choose the table with key='data'. .*{hint}"):
        make(2).fit({"data": X, "target": X[:, 0]})
    assert make(2).fit(ek.open_data(tmp_path / "two.npz", key="X")).n_features_in_ == 4
