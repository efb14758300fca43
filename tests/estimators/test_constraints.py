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
