"""scikit-learn's own checks of an estimator: those it runs by itself, and those that have to be called."""

import pytest
from sklearn.utils import estimator_checks
from sklearn.utils.estimator_checks import parametrize_with_checks

import eckart as ek

ESTIMATORS = (ek.PCA, ek.IncrementalPCA, ek.TruncatedSVD)

CALLED = (
    "check_dataframe_column_names_consistency",
    "check_transformer_get_feature_names_out",
    "check_transformer_get_feature_names_out_pandas",
    "check_set_output_transform",
    "check_set_output_transform_pandas",
    "check_set_output_transform_polars",
    "check_global_output_transform_pandas",
    "check_global_set_output_transform_polars",
    "check_param_validation",
    "check_inplace_ensure_writeable",
)

WITHOUT_VARIANCE = pytest.mark.filterwarnings("ignore:Some directions of the model have no variance")
"""Some checks ask for the likelihood of data that have redundant columns."""


@WITHOUT_VARIANCE
@parametrize_with_checks([kind() for kind in ESTIMATORS])
def test_check(estimator, check):
    check(estimator)


@WITHOUT_VARIANCE
@parametrize_with_checks(
    [ek.PCA(svd_solver=name) for name in ("full", "covariance_eigh", "arpack", "randomized")]
    + [ek.PCA(scale=True, whiten=True), ek.PCA(n_components=0.9), ek.TruncatedSVD(algorithm="arpack")]
)
def test_check_other_parameters(estimator, check):
    check(estimator)


@pytest.mark.filterwarnings("ignore:X (does not have valid|has) feature names")
@pytest.mark.parametrize("name", CALLED)
@pytest.mark.parametrize("kind", ESTIMATORS)
def test_called_check(kind, name):
    getattr(estimator_checks, name)(kind.__name__, kind())
