"""scan_kernels: the measures are what they say, and failures are rows of the table."""

import numpy as np
import pytest
from sklearn.datasets import make_circles
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.manifold import trustworthiness

import eckart as ek
from eckart.errors import InputError, ParameterError


def test_an_arc_wants_a_kernel_that_is_not_linear():
    angle = np.random.default_rng(0).uniform(0, 4.5, 150)
    X = np.column_stack([np.cos(angle), np.sin(angle)])
    scan = ek.scan_kernels(X, kernels=("linear", "rbf"), n_components=1)
    assert len(scan.trials) == 6
    errors = [trial.preimage_error for trial in scan.trials]
    assert errors == sorted(errors)
    assert scan.best.kernel == "rbf"
    assert scan.estimator(preimage="ridge").fit(X).gamma_ == scan.best.gamma
    assert scan.to_pandas().shape == (6, 7)
    assert "sorted by preimage_error, best first" in str(scan)


def test_nested_rings_want_the_kernel_that_separates_them():
    X, ring = make_circles(200, factor=0.3, noise=0.04, random_state=1)
    scan = ek.scan_kernels(X, kernels=("linear", "rbf"))
    assert scan.by == "separation"
    assert scan.best.kernel == "rbf"
    assert scan.best.separation == 1.0
    scores = scan.estimator().fit_transform(X)
    assert LinearDiscriminantAnalysis().fit(scores, ring).score(scores, ring) >= 0.99


def test_as_many_linear_components_as_columns_are_no_perfect_pre_image():
    X = np.random.default_rng(0).standard_normal((80, 2))
    scan = ek.scan_kernels(X, kernels=("linear",), n_components=2)
    assert scan.by == "preimage_error"
    assert np.isnan(scan.best.separation)
    assert scan.best.preimage_error == ek.scan_kernels(X, kernels=("linear",), n_components=1).best.preimage_error > 0.2


def test_the_measures_are_what_they_say():
    X = np.random.default_rng(0).standard_normal((60, 4)) * [4.0, 2.0, 1.0, 0.5]
    scan = ek.scan_kernels(X, kernels=("linear",), n_components=2, by="kept")
    # The same rows left out as the scan does, from the same seed.
    order = np.random.Generator(np.random.Philox(0)).permutation(60)
    tried, left_out = X[np.sort(order[12:])], X[np.sort(order[:12])]
    pca = ek.PCA(2).fit(tried)
    back = pca.inverse_transform(pca.transform(left_out))
    spread = np.mean((left_out - tried.mean(axis=0)) ** 2)
    assert scan.best.preimage_error == pytest.approx(np.mean((left_out - back) ** 2) / spread)
    assert scan.best.kept == pytest.approx(pca.explained_variance_ratio_.sum())
    assert scan.best.trustworthiness == pytest.approx(trustworthiness(tried, pca.transform(tried)))


def test_kernels_that_fail_are_told_and_come_last():
    X = np.random.default_rng(0).standard_normal((40, 3)) * 3
    scan = ek.scan_kernels(X, kernels=("poly", "linear"), gammas=[1e200], n_components=6, by="trustworthiness")
    assert scan.trials[-1].kernel == "poly"
    assert scan.trials[-1].failure
    assert scan.trials[-1].failure in str(scan)


def test_wrong_arguments_are_refused():
    with pytest.raises(ParameterError, match="by="):
        ek.scan_kernels(np.eye(20), by="beauty")
    with pytest.raises(ParameterError, match="kernels="):
        ek.scan_kernels(np.eye(20), kernels=("rfb",))
    with pytest.raises(InputError, match="too few"):
        ek.scan_kernels(np.eye(5))


@pytest.mark.parametrize("factor", [0.3, 0.5])
def test_the_default_number_of_components_separates_rings(factor):
    """With two components no kernel separates rings of radius 0.5 and 1: their radius is the third one."""
    rings, ring = make_circles(400, factor=factor, noise=0.05, random_state=0)
    scan = ek.scan_kernels(rings)
    assert (scan.by, scan.best.separation) == ("separation", 1.0)
    assert scan.n_components == (2 if factor == 0.3 else 3)
    scores = scan.estimator().fit_transform(rings)
    assert LinearDiscriminantAnalysis().fit(scores, ring).score(scores, ring) >= 0.99


@pytest.mark.parametrize(("factor", "size"), [(0.3, 400), (0.5, 400), (0.5, 1000), (0.6, 400)])
def test_the_default_width_of_decompose_separates_rings(factor, size):
    rings, ring = make_circles(size, factor=factor, noise=0.05, random_state=0)
    d = ek.decompose(rings, "kernel_pca", k=5, left=True)
    scores = d.left * d.values
    assert LinearDiscriminantAnalysis().fit(scores, ring).score(scores, ring) > 0.99
    assert any(note.code == "separated_groups" for note in d.notes)


def test_without_groups_the_default_width_is_the_local_one():
    rows = np.random.default_rng(0).normal(size=(200, 3))
    found, local = (ek.decompose(rows, "kernel_pca", k=2, gamma=gamma) for gamma in ("auto", "local"))
    assert found.details.gamma == local.details.gamma
    assert not any(note.code == "separated_groups" for note in found.notes)
