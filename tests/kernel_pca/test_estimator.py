"""scikit-learn's own checks of KernelPCA, and its parameters."""

import inspect

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.decomposition import KernelPCA as Other
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC
from sklearn.utils import estimator_checks
from sklearn.utils.estimator_checks import parametrize_with_checks

import eckart as ek
from tests.estimators.test_template import CALLED


@parametrize_with_checks(
    [
        ek.KernelPCA(),
        ek.KernelPCA(2, kernel="rbf", fit_inverse_transform=True),
        ek.KernelPCA(2, kernel="laplacian", eigen_solver="arpack"),
        ek.KernelPCA(2, kernel="rbf", eigen_solver="cholesky"),
        ek.KernelPCA(kernel="cosine"),
    ]
)
def test_check(estimator, check):
    check(estimator)


@pytest.mark.filterwarnings("ignore:X (does not have valid|has) feature names")
@pytest.mark.parametrize("name", CALLED)
def test_called_check(name):
    getattr(estimator_checks, name)("KernelPCA", ek.KernelPCA())


def test_every_parameter_of_scikit_learn_is_there():
    theirs, ours = inspect.signature(Other).parameters, inspect.signature(ek.KernelPCA).parameters
    assert set(theirs) <= set(ours)
    same = {name for name in theirs if theirs[name].default == ours[name].default}
    assert set(theirs) - same == {"alpha"}
    ours_fitted = ek.KernelPCA(2, kernel="rbf", fit_inverse_transform=True).fit(np.arange(20.0).reshape(10, 2) ** 1.5)
    theirs_fitted = Other(2, kernel="rbf", fit_inverse_transform=True).fit(np.arange(20.0).reshape(10, 2) ** 1.5)
    public = {name for name in vars(theirs_fitted) if name.endswith("_") and not name.startswith("_")}
    assert public <= set(vars(ours_fitted))
    for name in public:
        assert np.shape(getattr(ours_fitted, name)) == np.shape(getattr(theirs_fitted, name)), name


def test_in_a_pipeline_with_a_search():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 2))
    inside = np.hypot(*X.T) < 1.0
    pipeline = make_pipeline(ek.KernelPCA(4, kernel="rbf"), SVC(kernel="linear"))
    search = GridSearchCV(pipeline, {"kernelpca__gamma": [0.01, 1.0]}, cv=3).fit(X, inside)
    assert search.best_params_ == {"kernelpca__gamma": 1.0}
    assert clone(search.best_estimator_[0]).gamma == 1.0


def test_a_precomputed_kernel_is_cut_on_both_sides():
    X = np.random.default_rng(0).standard_normal((40, 3))
    pipeline = make_pipeline(ek.KernelPCA(2, kernel="precomputed"), SVC())
    assert GridSearchCV(pipeline, {"svc__C": [1.0]}, cv=2).fit(X @ X.T, X[:, 0] > 0).best_score_ > 0.7
