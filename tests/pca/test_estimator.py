"""The same numbers as scikit-learn's exact solver, where that is right."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn import decomposition as theirs

import eckart as ek

SOLVERS = ("auto", "full", "covariance_eigh", "arpack", "randomized")
SHAPES = {"tall": (80, 12), "wide": (15, 60), "square": (30, 30)}


def table(kind: str, dtype: str = "float64") -> np.ndarray:
    rng = np.random.default_rng(7)
    if kind == "deficient":
        return (rng.normal(size=(60, 4)) * [9, 5, 3, 2] @ rng.normal(size=(4, 10)) + 3.0).astype(dtype)
    rows, columns = SHAPES[kind]
    return (rng.normal(size=(rows, columns)) * np.geomspace(5, 0.5, columns) + rng.normal(size=columns)).astype(dtype)


def assert_same_pca(ours, other, *, exact: float, components: int | None = None):
    components = ours.n_components_ if components is None else components
    for name in ("n_components_", "n_features_in_"):
        assert getattr(ours, name) == getattr(other, name)
    top = float(other.explained_variance_[0])
    assert_allclose(ours.explained_variance_, other.explained_variance_, rtol=exact, atol=exact * top)
    assert_allclose(ours.explained_variance_ratio_, other.explained_variance_ratio_, rtol=exact, atol=exact)
    assert_allclose(ours.singular_values_[:components], other.singular_values_[:components], rtol=exact)
    assert_allclose(ours.mean_, other.mean_, rtol=exact, atol=exact)
    assert_allclose(ours.noise_variance_, other.noise_variance_, rtol=100 * exact, atol=exact * top)
    assert_allclose(ours.components_[:components], other.components_[:components], atol=1000 * exact)


@pytest.mark.parametrize("wanted", [None, 3, np.int64(2), 0.8])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("kind", SHAPES)
def test_pca(kind, solver, dtype, wanted):
    X = table(kind, dtype)
    ours = ek.PCA(wanted, svd_solver=solver).fit(X)
    other = theirs.PCA(wanted, svd_solver="full").fit(X)
    # All axes of a wide centred table include one without variance, which may be any.
    components = min(ours.n_components_, X.shape[0] - 1)
    assert_same_pca(ours, other, exact=1e-10 if dtype == "float64" else 2e-5, components=components)
    assert ours.n_samples_ == other.n_samples_
    assert ours.components_.dtype == ours.mean_.dtype == ours.transform(X).dtype == np.dtype(dtype)
    assert_allclose(
        ours.transform(X)[:, :components], other.transform(X)[:, :components], atol=1e-8 if dtype == "float64" else 1e-2
    )


@pytest.mark.parametrize("whiten", [False, True])
@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("kind", ["tall", "deficient", "wide"])
def test_fit_transform_is_fit_then_transform(kind, solver, whiten):
    X = table(kind)
    pca = ek.PCA(svd_solver=solver, whiten=whiten)
    scores = pca.fit_transform(X)
    assert_allclose(scores, pca.transform(X), atol=1e-12)
    assert_allclose(pca.inverse_transform(scores), X, atol=1e-11)
    rank = int(np.linalg.matrix_rank(X - X.mean(axis=0)))
    assert_allclose(scores[:, rank:], 0.0, atol=1e-10)
    if whiten:
        assert_allclose(scores[:, :rank].std(axis=0, ddof=1), 1.0, rtol=1e-10)


@pytest.mark.parametrize("wanted", [None, 3, 0.8, "mle"])
@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("form", ["csr_array", "csc_matrix", "coo_array", "dok_array", "lil_matrix"])
def test_sparse_pca_is_dense_pca(form, solver, wanted):
    dense = table("tall")
    dense[np.abs(dense) < 1.0] = 0.0
    ours = ek.PCA(wanted, svd_solver=solver).fit(getattr(sparse, form)(dense))
    other = theirs.PCA(wanted, svd_solver="full").fit(dense)
    assert_same_pca(ours, other, exact=1e-9)
    assert_allclose(ours.transform(getattr(sparse, form)(dense)), other.transform(dense), atol=1e-8)


@pytest.mark.parametrize("whiten", [False, True])
@pytest.mark.parametrize("wanted", [2, 5, None])
def test_probabilities(wanted, whiten):
    X = table("tall")
    ours, other = ek.PCA(wanted, whiten=whiten).fit(X), theirs.PCA(wanted, svd_solver="full").fit(X)
    assert_allclose(ours.get_covariance(), other.get_covariance(), atol=1e-10)
    assert_allclose(ours.get_precision(), other.get_precision(), atol=1e-9)
    assert_allclose(ours.score_samples(X), other.score_samples(X), rtol=1e-9)
    assert_allclose(ours.score(X), other.score(X), rtol=1e-10)
    assert_allclose(ours.score_samples(sparse.csr_array(X)), other.score_samples(X), rtol=1e-9)


def test_covariance_with_scale_is_in_units_of_the_data():
    X = table("tall") * np.geomspace(1, 1000, 12)
    pca = ek.PCA(scale=True).fit(X)
    assert_allclose(pca.get_covariance(), np.cov(X.T), rtol=1e-9, atol=1e-9)
    assert_allclose(pca.get_precision() @ pca.get_covariance(), np.eye(12), atol=1e-9)
    assert_allclose(pca.score(X), theirs.PCA(svd_solver="full").fit(X).score(X), rtol=1e-9)


def test_a_model_without_components_has_a_likelihood():
    X = table("tall")
    ours, other = ek.PCA(0).fit(X), theirs.PCA(0, svd_solver="full").fit(X)
    assert_allclose(ours.score(X[:7]), other.score(X[:7]), rtol=1e-9)
    assert_allclose(ours.get_covariance(), other.get_covariance(), atol=1e-9)
    assert_allclose(ours.get_precision(), other.get_precision(), atol=1e-9)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_rows_without_all_values_have_no_likelihood(bad):
    X = table("tall")
    pca = ek.PCA(2).fit(X)
    X[1, 2] = bad
    with pytest.raises(ek.errors.InputError, match="row 2, column 3"):
        pca.score(X)
    X[1, 2] = 1e200
    assert pca.score(X) == -np.inf


@pytest.mark.parametrize("kind", ["deficient", "wide"])
def test_a_model_without_inverse_says_so(kind):
    pca = ek.PCA().fit(table(kind))
    with pytest.warns(ek.errors.DataWarning, match="directions of the model have no variance"):
        assert np.isfinite(pca.score(table(kind)))
    with pytest.warns(ek.errors.DataWarning, match="directions of the model have no variance"):
        assert np.isfinite(pca.get_precision()).all()
    with pytest.warns(ek.errors.DataWarning, match="The data have no variance"):
        constant = ek.PCA().fit(np.ones((5, 2)))
    with pytest.raises(ek.errors.InputError, match="singular"):
        constant.score(np.ones((5, 2)))


@pytest.mark.parametrize("seed", range(12))
def test_mle_is_minkas_choice(seed):
    rng = np.random.default_rng(seed)
    rank = int(rng.integers(1, 8))
    X = rng.normal(size=(200, rank)) * 3 @ rng.normal(size=(rank, 12)) + rng.normal(size=(200, 12))
    ours, other = ek.PCA("mle").fit(X), theirs.PCA("mle", svd_solver="full").fit(X)
    assert_same_pca(ours, other, exact=1e-9)
    low, high = ours.certificate_.explained
    assert low <= other.explained_variance_ratio_.sum() <= high + 1e-15


def test_mle_needs_rows_and_survives_equal_variances():
    with pytest.raises(ValueError, match="only supported if n_samples >= n_features"):
        ek.PCA("mle").fit(table("wide"))
    assert ek.PCA("mle").fit(np.vstack([np.eye(6), -np.eye(6)])).n_components_ >= 1
    assert ek.PCA("mle").fit(np.arange(5.0)[:, None]).n_components_ == 1


@pytest.mark.parametrize("scale", [False, True])
@pytest.mark.parametrize("center", [False, True])
def test_center_and_scale(center, scale):
    X = table("tall")
    B = X - X.mean(axis=0) if center else X
    if scale:
        B = B / (X.std(axis=0, ddof=1) if center else np.sqrt((X**2).sum(axis=0) / (len(X) - 1)))
    pca = ek.PCA(4, center=center, scale=scale).fit(X)
    assert_allclose(pca.singular_values_, np.linalg.svd(B, compute_uv=False)[:4], rtol=1e-10)
    assert_allclose(ek.PCA(center=center, scale=scale).fit(X).inverse_transform(ek.PCA(center=center, scale=scale)
                    .fit_transform(X)), X, atol=1e-11)  # fmt: skip


def test_smallest_axes():
    X = table("tall")
    pca, whole = ek.PCA(3, which="smallest").fit(X), ek.PCA().fit(X)
    assert_allclose(pca.explained_variance_, whole.explained_variance_[::-1][:3], rtol=1e-9)
    assert_allclose(pca.noise_variance_, whole.explained_variance_[:-3].mean(), rtol=1e-9)


@pytest.mark.parametrize("algorithm", ["randomized", "arpack"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array, sparse.csc_matrix])
@pytest.mark.parametrize("kind", ["tall", "wide", "deficient"])
def test_truncated_svd(kind, form, dtype, algorithm):
    dense = table(kind, dtype)
    dense[np.abs(dense) < 0.7] = 0.0
    ours = ek.TruncatedSVD(3, algorithm=algorithm).fit(form(dense))
    other = theirs.TruncatedSVD(3, algorithm="arpack", random_state=0).fit(form(dense.astype(np.float64)))
    exact = 1e-9 if dtype == "float64" else 1e-4
    for name in ("explained_variance_", "explained_variance_ratio_", "singular_values_"):
        assert_allclose(getattr(ours, name), getattr(other, name), rtol=exact)
        assert getattr(ours, name).dtype == np.dtype(dtype)
    assert_allclose(ours.components_, other.components_, atol=100 * exact)
    assert_allclose(ours.transform(form(dense)), ours.fit_transform(form(dense)), atol=exact)
    assert_allclose(ours.inverse_transform(ours.transform(dense)), other.inverse_transform(other.transform(dense)),
                    atol=100 * exact)  # fmt: skip


def test_truncated_svd_takes_a_share():
    X = table("tall")
    energy = np.cumsum(np.linalg.svd(X, compute_uv=False) ** 2) / np.sum(X**2)
    svd = ek.TruncatedSVD(0.9).fit(sparse.csr_array(X))
    assert svd.n_components_ == int(np.searchsorted(energy, 0.9)) + 1
    assert_allclose(svd.decomposition_.explained_variance_ratio.sum(), energy[svd.n_components_ - 1], rtol=1e-10)


def test_truncated_svd_variances_survive_a_large_offset():
    X = table("tall") + 1e8
    svd = ek.TruncatedSVD(3).fit(X)
    centred = X - X.mean(axis=0)
    assert_allclose(svd.explained_variance_ratio_[1:],
                    (svd.transform(X).var(axis=0) / centred.var(axis=0).sum())[1:], rtol=1e-6)  # fmt: skip


@pytest.mark.parametrize("kind", ["tall", "deficient", "wide"])
@pytest.mark.parametrize("whiten", [False, True])
@pytest.mark.parametrize("make", [ek.PCA, ek.IncrementalPCA])
def test_to_sklearn(make, whiten, kind):
    X = table(kind)
    ours = make(3, whiten=whiten).fit(X)
    other = ours.to_sklearn()
    assert type(other).__module__.startswith("sklearn.")
    assert type(other).__name__ == make.__name__
    assert_allclose(other.transform(X), ours.transform(X), atol=1e-10)
    assert_allclose(other.inverse_transform(other.transform(X)), ours.inverse_transform(ours.transform(X)), atol=1e-10)


def test_truncated_svd_to_sklearn():
    X = table("tall")
    ours = ek.TruncatedSVD(3).fit(X)
    assert_allclose(ours.to_sklearn().transform(X), ours.transform(X), atol=1e-10)
    with pytest.raises(ek.errors.ParameterError, match="StandardScaler"):
        ek.PCA(2, scale=True).fit(X).to_sklearn()


@pytest.mark.parametrize("make", [ek.PCA, ek.TruncatedSVD])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_weights_are_repeated_rows(make, form):
    X = table("tall")
    counts = np.random.default_rng(3).integers(0, 4, len(X))
    weighted = make(4).fit(form(X), sample_weight=counts)
    repeated = make(4).fit(form(np.repeat(X, counts, axis=0)))
    for name in ("components_", "singular_values_", "explained_variance_", "explained_variance_ratio_"):
        assert_allclose(getattr(weighted, name), getattr(repeated, name), atol=1e-10)
    assert_allclose(make(4).fit_transform(form(X), sample_weight=counts), weighted.transform(form(X)), atol=1e-10)


@pytest.mark.parametrize("shape", [(40, 6), (12, 25)])
@pytest.mark.parametrize("scale", [False, True])
def test_weights_are_repeated_rows_in_every_attribute(shape, scale):
    rng = np.random.default_rng([*shape, scale])
    rows, times = rng.standard_normal(shape) + 4.0, rng.integers(1, 4, shape[0])
    weighted = ek.PCA(3, scale=scale).fit(rows, sample_weight=times)
    repeated = ek.PCA(3, scale=scale).fit(np.repeat(rows, times, axis=0))
    names = ("components_", "explained_variance_", "explained_variance_ratio_", "singular_values_", "mean_",
             "noise_variance_", "n_components_")  # fmt: skip
    for name in names:
        assert_allclose(getattr(weighted, name), getattr(repeated, name), rtol=1e-10, atol=1e-11, err_msg=name)
    for method in ("get_covariance", "get_precision"):
        assert_allclose(getattr(weighted, method)(), getattr(repeated, method)(), rtol=1e-10, atol=1e-10)
    assert_allclose(weighted.score_samples(rows), repeated.score_samples(rows), rtol=1e-10)


@pytest.mark.filterwarnings("ignore:The model has directions without variance")
def test_weights_are_repeated_rows_without_noise():
    """All components of 12 rows: the variance of the last direction is set to the level of rounding."""
    rng = np.random.default_rng(2)
    rows, times = rng.standard_normal((12, 12)) + 4.0, rng.integers(1, 4, 12)
    weighted = ek.PCA(11).fit(rows, sample_weight=times)
    repeated = ek.PCA(11).fit(np.repeat(rows, times, axis=0))
    new = rng.standard_normal((3, 12)) + 4.0
    with pytest.warns(ek.errors.DataWarning, match="no variance"):
        assert_allclose(weighted.score_samples(new), repeated.score_samples(new), rtol=1e-10)


def test_weights_count_exactly():
    """The squares of the roots of weights add up to less than their sum, which must not cost a direction of noise."""
    rng = np.random.default_rng(24)
    for _ in range(20):
        times = rng.permutation([1, 1, 1, 2, 2, 2, 3, 3, 3, 1, 2, 3])  # 24 rows, 25 columns
        rows = rng.standard_normal((12, 25))
        weighted, repeated = ek.PCA(3).fit(rows, sample_weight=times), ek.PCA(3).fit(np.repeat(rows, times, axis=0))
        assert_allclose(weighted.noise_variance_, repeated.noise_variance_, rtol=1e-10)
        assert weighted.decomposition_.weight == 24.0


@pytest.mark.parametrize("shape", [(50, 8), (10, 40)])
def test_the_model_has_the_variance_of_the_data_and_is_a_normal_density(shape):
    """Also with fewer rows than columns, where scikit-learn's covariance has more variance than the data."""
    from scipy import stats

    rows = np.random.default_rng(shape).standard_normal(shape) * 2.0
    pca = ek.PCA(3).fit(rows)
    covariance = pca.get_covariance()
    assert np.trace(covariance) == pytest.approx(rows.var(axis=0, ddof=1).sum(), rel=1e-10)
    assert_allclose(covariance @ pca.get_precision(), np.eye(shape[1]), atol=1e-9)
    expected = stats.multivariate_normal(rows.mean(axis=0), covariance).logpdf(rows)
    assert_allclose(pca.score_samples(rows), expected, rtol=1e-9)


@pytest.mark.parametrize("deviation", [1e-3, 1e-5, 1e-6])
@pytest.mark.parametrize(("solver", "rows", "columns"), [("auto", 60, 8), ("auto", 1000, 30), ("full", 1000, 30),
                                                         ("arpack", 300, 200)])  # fmt: skip
def test_noise_far_below_the_components_is_accurate(solver, rows, columns, deviation):
    rng = np.random.default_rng(12)
    X = rng.standard_normal((rows, 3)) @ rng.standard_normal((3, columns))
    X += deviation * rng.standard_normal(X.shape)
    variances = np.linalg.svd(X - X.mean(axis=0), compute_uv=False) ** 2 / (rows - 1)
    noise = variances[3:].mean()
    pca = ek.PCA(3, svd_solver=solver).fit(X)
    rounding = 16 * np.finfo(float).eps * variances.sum() / variances[3:].sum()
    assert_allclose(pca.noise_variance_, noise, rtol=rounding)
    # At the maximum of the likelihood, the mean of (x - mean)^T C^-1 (x - mean) is columns (rows - 1) / rows.
    logarithms = columns * np.log(2 * np.pi) + np.log(variances[:3]).sum() + (columns - 3) * np.log(noise)
    expected = -0.5 * (logarithms + columns * (rows - 1) / rows)
    assert_allclose(pca.score(X), expected, atol=columns * max(rounding, 1e-9))


@pytest.mark.parametrize("offset", [0.0, 1e6])
@pytest.mark.parametrize("shape", [(30, 6), (40, 200), (2000, 30)])
def test_data_of_low_rank_leave_no_noise(shape, offset):
    rng = np.random.default_rng(3)
    X = rng.standard_normal((shape[0], 2)) @ rng.standard_normal((2, shape[1])) + offset
    assert ek.PCA(2).fit(X).noise_variance_ == 0.0
    assert ek.IncrementalPCA(2).fit(X).noise_variance_ == 0.0
