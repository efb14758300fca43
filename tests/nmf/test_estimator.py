"""scikit-learn's own checks of an estimator, for NMF; none excused."""

import numpy as np
import pytest
from scipy import optimize
from sklearn.datasets import load_wine
from sklearn.utils import estimator_checks
from sklearn.utils.estimator_checks import parametrize_with_checks

import eckart as ek

CALLED = (
    "check_dataframe_column_names_consistency",
    "check_transformer_get_feature_names_out",
    "check_transformer_get_feature_names_out_pandas",
    "check_set_output_transform",
    "check_set_output_transform_pandas",
    "check_set_output_transform_polars",
    "check_param_validation",
    "check_inplace_ensure_writeable",
)

UNFINISHED = pytest.mark.filterwarnings("ignore:Maximum number of iterations")
"""Some checks ask for few iterations."""


@UNFINISHED
@parametrize_with_checks([ek.NMF(), ek.NMF(2, beta_loss="kullback-leibler"), ek.NMF(2, missing="mask")])
def test_check(estimator, check):
    check(estimator)


@UNFINISHED
@pytest.mark.filterwarnings("ignore:X (does not have valid|has) feature names")
@pytest.mark.parametrize("name", CALLED)
def test_called_check(name):
    getattr(estimator_checks, name)("NMF", ek.NMF())


def test_transform_is_close_to_non_negative_least_squares():
    wine = load_wine().data
    model = ek.NMF(3, max_iter=2000).fit(wine)
    minimum = np.array([optimize.nnls(model.components_.T, row)[0] for row in wine])
    np.testing.assert_allclose(model.transform(wine), minimum, atol=1e-5 * minimum.max())
