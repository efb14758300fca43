"""IncrementalPCA: any split into batches, in any order, is one PCA of all rows."""

import pickle
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn import decomposition as theirs

import eckart as ek
from eckart.errors import NotFiniteError, ParameterError
from eckart.io.open_matrix import open_matrix
from eckart.pca import scatter

NAMES = (
    *("components_", "explained_variance_", "explained_variance_ratio_", "singular_values_"),
    *("mean_", "noise_variance_", "n_components_"),
)


def table(rows: int, columns: int, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(rows, columns)) * np.geomspace(6, 0.5, columns) + 10 * rng.normal(size=columns)


def in_batches(X, cuts, **options):
    pca = ek.IncrementalPCA(**options)
    for batch in np.split(X, cuts) if isinstance(X, np.ndarray) else _split(X, cuts):
        pca.partial_fit(batch)
    return pca


def _split(X, cuts):
    edges = [0, *cuts, X.shape[0]]
    return [X[a:b] for a, b in pairwise(edges)]


def assert_same(ours, other, exact=1e-9):
    for name in NAMES:
        assert_allclose(getattr(ours, name), getattr(other, name), rtol=exact, atol=exact)


@pytest.mark.parametrize("shape", [(60, 8), (12, 30), (40, 40)])
@pytest.mark.parametrize("k", [None, 3])
def test_fit_is_pca(shape, k):
    X = table(*shape)
    ours, whole = ek.IncrementalPCA(k).fit(X), ek.PCA(k).fit(X)
    assert_same(ours, whole)
    assert_allclose(ours.transform(X), whole.transform(X), atol=1e-9)
    assert_allclose(ours.var_, X.var(axis=0), rtol=1e-12)
    assert ours.n_samples_seen_ == shape[0]
    assert ours.batch_size_ == 5 * shape[1]
    assert ours.certificate_.proved


@settings(max_examples=40)
@given(data=st.data())
def test_any_split_gives_the_same(data):
    rows = data.draw(st.integers(4, 40), label="rows")
    columns = data.draw(st.integers(1, 12), label="columns")
    k = data.draw(st.one_of(st.none(), st.integers(1, min(rows, columns))), label="k")
    least = 1 if k is None else k
    cuts = sorted(data.draw(st.sets(st.integers(least, rows - 1), max_size=6), label="cuts")) if least < rows else []
    X = table(rows, columns, seed=rows * 100 + columns)
    ours, whole = in_batches(X, cuts, n_components=k), ek.PCA(k).fit(X)
    assert_same(ours, whole, 1e-8)
    assert ours.n_samples_seen_ == rows


def test_order_does_not_matter():
    X = table(90, 7)
    shuffled = np.random.default_rng(1).permutation(X)
    assert_same(in_batches(X, [10, 20, 70], n_components=4), in_batches(shuffled, [33, 34], n_components=4))


def test_merge_is_associative():
    a, b, c = (scatter.scatter_of(open_matrix(part), 3) for part in np.split(table(60, 5), [7, 30]))
    left = scatter.merge(scatter.merge(a, b, 3), c, 3)
    right = scatter.merge(a, scatter.merge(c, b, 3), 3)
    assert left.count == right.count == 60
    assert_allclose(left.gram, right.gram, rtol=1e-11, atol=1e-11)
    assert_allclose(left.mean, right.mean, rtol=1e-13)


def test_attributes_are_right_after_each_call():
    X = table(50, 6)
    pca = ek.IncrementalPCA(3)
    for stop in (5, 6, 20, 50):
        pca.partial_fit(X[{5: 0, 6: 5, 20: 6, 50: 20}[stop] : stop])
        assert_same(pca, ek.PCA(3).fit(X[:stop]))


@pytest.mark.parametrize("form", [sparse.csr_array, sparse.csc_matrix, sparse.coo_array])
def test_sparse_batches(form):
    X = table(80, 9)
    X[np.abs(X) < 4] = 0
    assert_same(in_batches(sparse.csr_array(X), [30, 45], n_components=3), ek.PCA(3).fit(X))
    assert_same(ek.IncrementalPCA(3).fit(form(X)), ek.PCA(3).fit(X))
    pca = ek.IncrementalPCA(3).fit(form(X))
    assert_allclose(pca.transform(form(X)), pca.transform(X), atol=1e-10)


@pytest.mark.parametrize("offset", [1e4, 1e8])
def test_offset(offset):
    X = table(200, 5)
    reference = np.linalg.svd((X + offset) - (X + offset).mean(axis=0), compute_uv=False)
    for cuts in ([], [60, 61, 150]):
        assert_allclose(in_batches(X + offset, cuts).singular_values_, reference, rtol=1e-7)


@pytest.mark.parametrize("factor", [1e200, 1e-200])
def test_extreme_scale(factor):
    X = table(60, 5)
    ours = in_batches(X * factor, [20, 25])
    assert_allclose(ours.explained_variance_ratio_, ek.PCA().fit(X).explained_variance_ratio_, rtol=1e-9)
    assert_allclose(ours.singular_values_ / factor, ek.PCA().fit(X).singular_values_, rtol=1e-9)


def test_batches_of_different_scale():
    X = table(60, 5)
    X[:20] *= 1e-170
    X[20:] *= 1e170
    assert_allclose(in_batches(X, [20, 40]).explained_variance_ratio_, ek.PCA().fit(X).explained_variance_ratio_)


def test_float32_stays_float32():
    X = table(60, 5).astype(np.float32) + 1000
    ours = in_batches(X, [10, 30], n_components=2)
    assert ours.components_.dtype == ours.mean_.dtype == ours.transform(X).dtype == np.float32
    assert_allclose(ours.explained_variance_, ek.PCA(2).fit(X.astype(np.float64)).explained_variance_, rtol=1e-5)


def test_a_refused_batch_changes_nothing():
    X = table(30, 4)
    pca = ek.IncrementalPCA(2).partial_fit(X)
    before = pca.components_.copy()
    broken = X.copy()
    broken[3, 2] = np.nan
    for bad, word in ((broken, "NaN"), (X[:, :3], "3 features"), (X[0], "Reshape")):
        with pytest.raises(ValueError, match=word):
            pca.partial_fit(bad)
    broken[3, 2] = np.inf
    with pytest.raises(ek.errors.NotFiniteError, match="infinity"):
        pca.partial_fit(broken)
    assert pca.n_samples_seen_ == 30
    assert_allclose(pca.components_, before)


def test_small_batches_and_too_few_rows():
    X = table(30, 8)
    pca = ek.IncrementalPCA(5)
    with pytest.raises(ValueError, match="samples seen, which is 3"):
        pca.partial_fit(X[:3])
    assert not hasattr(pca, "n_samples_seen_")
    pca.partial_fit(X[:6]).partial_fit(X[6:8]).partial_fit(X[8:])
    assert_same(pca, ek.PCA(5).fit(X))
    with pytest.raises(ValueError, match="n_components=9 invalid for n_features=8"):
        ek.IncrementalPCA(9).fit(X)


def test_parameters_set_between_calls_count():
    X = table(30, 8)
    pca = ek.IncrementalPCA(5).partial_fit(X[:10])
    pca.set_params(n_components=2).partial_fit(X[10:])
    assert_same(pca, ek.PCA(2).fit(X))
    with pytest.raises(ValueError, match="must be an int"):
        pca.set_params(n_components=0).partial_fit(X)
    assert pca.n_samples_seen_ == 30


def test_fit_forgets_and_partial_fit_goes_on():
    X = table(60, 5)
    pca = ek.IncrementalPCA(2).partial_fit(X[:30] * 7).fit(X[:40]).partial_fit(X[40:])
    assert_same(pca, ek.PCA(2).fit(X))


def test_many_columns_give_true_bounds(monkeypatch):
    monkeypatch.setattr(scatter, "EXACT_COLUMNS", 30)
    monkeypatch.setattr(scatter, "FACTOR_BYTES", 8 * 40 * 24)
    X = table(400, 40)
    exact = np.linalg.svd(X - X.mean(axis=0), compute_uv=False)[:3]
    for pca in (
        in_batches(X, range(50, 400, 50), n_components=3),
        ek.IncrementalPCA(3).fit(X[:200]).partial_fit(X[200:]),
    ):
        with pytest.warns(ek.errors.AccuracyWarning, match="Fit all rows at once") as heard:
            low, high = pca.certificate_.explained
        assert len(heard) == 1
        assert not pca.certificate_.proved
        assert "The result is approximate" in pca.decomposition_.notes[0]
        assert low <= np.sum(exact**2) / np.sum((X - X.mean(axis=0)) ** 2) <= high
        assert (pca.certificate_.lower <= exact * (1 + 1e-12)).all()
        assert (exact <= pca.certificate_.upper * (1 + 1e-12)).all()
        assert_allclose(pca.singular_values_, exact, rtol=0.1)
        assert_allclose(pca.var_, X.var(axis=0), rtol=1e-9)
        assert_allclose(pca.explained_variance_ratio_.sum(), low, rtol=1e-6)
    assert_same(ek.IncrementalPCA(3).fit(X), ek.PCA(3).fit(X))
    assert_same(in_batches(X[:20], [10], n_components=3), ek.PCA(3).fit(X[:20]))


@pytest.mark.filterwarnings("ignore::eckart.errors.AccuracyWarning")
@pytest.mark.parametrize("seed", range(4))
def test_a_value_that_counts_as_zero_is_within_its_bounds(seed):
    """The smallest value is the largest one that counts as zero; its bounds are not those of an exact zero."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((40, 3))
    X -= X.mean(axis=0)
    left, values, right = np.linalg.svd(X, full_matrices=False)

    def fitted(smallest):
        Y = (left * [*values[:2], smallest]) @ right
        return Y, in_batches(Y, [20], n_components=3)

    zero, positive = 1e-9, 1e-4
    for _ in range(30):
        middle = (zero * positive) ** 0.5
        zero, positive = (zero, middle) if fitted(middle)[1].singular_values_[-1] > 0 else (middle, positive)
    for smallest in zero * (1.0 - np.array([0.0, 1e-6, 1e-4, 1e-3])):
        Y, pca = fitted(smallest)
        exact = np.linalg.svd(Y - Y.mean(axis=0), compute_uv=False)
        allowed = 1e-14 * exact[0]
        assert (pca.certificate_.lower <= exact + allowed).all()
        assert (exact <= pca.certificate_.upper + allowed).all()


def test_whiten_without_variance_stays_zero():
    X = table(50, 3) @ np.random.default_rng(0).normal(size=(3, 6))
    for pca in (ek.IncrementalPCA(whiten=True).fit(X), in_batches(X, [20], whiten=True)):
        scores = pca.transform(X)
        assert_allclose(scores[:, 3:], 0.0, atol=1e-6)
        assert_allclose(scores[:, :3].std(axis=0, ddof=1), 1.0, rtol=1e-6)
        assert_allclose(pca.inverse_transform(scores), X, atol=1e-6)


@pytest.mark.filterwarnings("ignore::eckart.errors.DataWarning")
@pytest.mark.parametrize(
    "X", [np.ones((1, 4)), np.full((6, 3), 0.1), np.zeros((5, 2))], ids=["one", "constant", "zero"]
)
def test_no_variance(X):
    for pca in (
        ek.IncrementalPCA().fit(X),
        ek.IncrementalPCA().partial_fit(X),
        in_batches(np.vstack([X, X]), [len(X)]),
    ):
        assert_allclose(pca.explained_variance_ratio_, 0.0, atol=1e-15)
        assert_allclose(pca.components_ @ pca.components_.T, np.eye(pca.n_components_), atol=1e-12)
        assert np.isfinite(pca.transform(X)).all()


def test_better_than_the_classical_update():
    X = np.random.default_rng(0).normal(size=(2000, 50))
    exact = np.linalg.svd(X - X.mean(axis=0), compute_uv=False)[:5]
    assert np.abs(theirs.IncrementalPCA(5, batch_size=100).fit(X).singular_values_ / exact - 1).max() > 0.01
    assert_allclose(in_batches(X, range(100, 2000, 100), n_components=5).singular_values_, exact, rtol=1e-11)


def test_pickled_half_way():
    X = table(60, 5)
    pca = pickle.loads(pickle.dumps(ek.IncrementalPCA(2).partial_fit(X[:20])))
    assert_same(pca.partial_fit(X[20:]), ek.PCA(2).fit(X))


# Batches of another library: what is kept between the calls stays in it, and so does the answer


@pytest.mark.parametrize("library", ["torch", "array_api_strict"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shape", [(200, 12), (20, 40)])
def test_batches_stay_in_their_library(library, dtype, shape):
    xp = pytest.importorskip(library)
    X = (table(*shape) + 3.0).astype(dtype)
    model, plain = ek.IncrementalPCA(3), ek.IncrementalPCA(3)
    for start in range(0, shape[0], shape[0] // 4):
        batch = X[start : start + shape[0] // 4]
        model, plain = model.partial_fit(xp.asarray(batch)), plain.partial_fit(batch)
    kept = model._running.scatter
    held = kept.factor if kept.gram is None else kept.gram
    scores = model.transform(xp.asarray(X))
    for array in (kept.mean, kept.squares, held, model.components_, model.mean_, model.var_, scores):
        assert type(array) is type(xp.asarray(X))
    exact = 1e-4 if dtype == "float32" else 1e-11
    assert_allclose(np.asarray(model.components_), plain.components_, atol=exact)
    assert_allclose(np.asarray(model.var_), plain.var_, rtol=exact)
    assert_allclose(np.asarray(scores), plain.transform(X), atol=10 * exact)
    assert_allclose(np.asarray(model.inverse_transform(scores)), plain.inverse_transform(plain.transform(X)), atol=1e-3)
    assert model.certificate_.explained == pytest.approx(plain.certificate_.explained, abs=1e-12)
    assert model.certificate_.proved == plain.certificate_.proved


def test_wide_batches_of_another_library_are_cut_the_same_way(monkeypatch):
    torch = pytest.importorskip("torch")
    X = table(60, 50)
    monkeypatch.setattr(scatter, "EXACT_COLUMNS", 20)
    monkeypatch.setattr(scatter, "FACTOR_BYTES", 8 * 50 * 20)
    model, plain = ek.IncrementalPCA(2), ek.IncrementalPCA(2)
    for start in range(0, 60, 15):
        model = model.partial_fit(torch.asarray(X[start : start + 15]))
        plain = plain.partial_fit(X[start : start + 15])
    assert not model._running.scatter.exact
    with pytest.warns(ek.errors.AccuracyWarning):
        assert_allclose(np.asarray(model.components_), plain.components_, atol=1e-9)
    assert model.certificate_.explained == pytest.approx(plain.certificate_.explained, abs=1e-12)


def test_a_missing_value_in_a_batch_of_another_library_is_named_and_changes_nothing():
    torch = pytest.importorskip("torch")
    X = table(40, 5)
    model = ek.IncrementalPCA(2).partial_fit(torch.asarray(X))
    bad = X.copy()
    bad[3, 2] = np.nan
    with pytest.raises(ek.errors.MissingValuesError, match="row 4, column 3"):
        model.partial_fit(torch.asarray(bad))
    assert model.n_samples_seen_ == 40


def test_a_batch_of_another_library_than_the_first_is_refused():
    torch = pytest.importorskip("torch")
    X = table(40, 5)
    model = ek.IncrementalPCA(2).partial_fit(torch.asarray(X))
    with pytest.raises(ek.errors.InputError, match=r"fitted on torch \(cpu\), but these data are on numpy"):
        model.partial_fit(X)
    assert model.n_samples_seen_ == 40
    with pytest.raises(ek.errors.InputError, match="torch"):
        model.merge(ek.IncrementalPCA(2).fit(X))
    assert isinstance(model.merge(ek.IncrementalPCA(2).fit(torch.asarray(X))).components_, torch.Tensor)


@pytest.mark.parametrize("shape", [(40, 6), (12, 25)])
def test_weights_of_batches_are_repeated_rows(shape):
    rng = np.random.default_rng(shape)
    rows, times = rng.standard_normal(shape) + 4.0, rng.integers(1, 4, shape[0])
    weighted = ek.IncrementalPCA(3)
    for part in np.array_split(np.arange(shape[0]), 3):
        weighted.partial_fit(rows[part], sample_weight=times[part])
    repeated = ek.IncrementalPCA(3).fit(np.repeat(rows, times, axis=0))
    names = ("components_", "explained_variance_", "explained_variance_ratio_", "singular_values_", "mean_", "var_",
             "noise_variance_", "n_samples_seen_")  # fmt: skip
    for name in names:
        np.testing.assert_allclose(
            getattr(weighted, name), getattr(repeated, name), rtol=1e-10, atol=1e-12, err_msg=name
        )
    halves = ek.IncrementalPCA(2).partial_fit(rows, sample_weight=np.full(shape[0], 0.5))
    assert halves.n_samples_seen_ == shape[0] / 2


@pytest.mark.parametrize("scale", [1e-315, 1e-300, 1e-160, 1e150])
def test_bounds_hold_for_batches_of_extreme_size(scale):
    """Subnormal numbers are rounded: bounds are moved outwards by as much."""
    table = np.random.default_rng(3).standard_normal((40, 7)) * scale
    model = ek.IncrementalPCA(2)
    for batch in np.array_split(table, [3, 11, 30]):
        model.partial_fit(batch)
    exact = table.astype(np.longdouble) / scale
    exact = exact - exact.mean(axis=0)
    wanted = np.linalg.svd(exact.astype(float), compute_uv=False)[:2]
    assert (model.certificate_.lower.astype(np.longdouble) / scale <= wanted * (1 + 1e-14)).all()
    assert (wanted * (1 - 1e-14) <= model.certificate_.upper.astype(np.longdouble) / scale).all()


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("largest", [1, 3, 1000])
def test_residuals_allow_for_values_that_round_to_subnormal_numbers(largest, dtype):
    least = np.finfo(dtype).smallest_subnormal
    units = np.rint(np.random.default_rng(largest).uniform(-largest, largest, (30, 4)))
    units[0] = largest
    model = ek.IncrementalPCA(3).partial_fit((units * least).astype(dtype))
    centred = units - units.mean(axis=0)
    gram, vectors = centred.T @ centred, model.decomposition_.right.astype(float)
    values = np.rint(model.decomposition_.values / least).astype(float)
    residuals = np.linalg.norm(gram @ vectors - vectors * values**2, axis=0) / np.linalg.eigvalsh(gram)[-1]
    assert (residuals <= model.certificate_.residuals + 1e-13).all()


@pytest.mark.parametrize("scale", [1e-315, 1e-200, 1e-162, 1e200])
@pytest.mark.parametrize("order", ["ZX", "XZ", "ZZXZX"])
def test_batches_of_zeros_do_not_hide_batches_of_extreme_size(scale, order):
    """Rows of zeros have no magnitude, so they must not determine the power of two of the others."""
    table = np.random.default_rng(3).standard_normal((20, 3)) * scale
    batches = [table if letter == "X" else np.zeros((6, 3)) for letter in order]
    model = ek.IncrementalPCA(2)
    for batch in batches:
        model.partial_fit(batch)
    exact = np.concatenate(batches).astype(np.longdouble) / scale
    wanted = np.linalg.svd((exact - exact.mean(axis=0)).astype(float), compute_uv=False)[:2]
    assert (model.certificate_.lower.astype(np.longdouble) / scale <= wanted * (1 + 1e-14)).all()
    assert (wanted * (1 - 1e-14) <= model.certificate_.upper.astype(np.longdouble) / scale).all()
    assert model.certificate_.explained[0] > 0.5


@pytest.mark.parametrize("weight", [1e15, 1e89, 1e130])
def test_components_of_rows_with_huge_weights_are_kept(weight):
    """The number of rows bounds rounding errors, and is not the sum of the weights."""
    rows = np.random.default_rng(0).standard_normal((12, 3)) * [1.0, 0.1, 1e-3]
    model = ek.IncrementalPCA(3)
    for batch in np.array_split(rows, 2):
        model.partial_fit(batch, sample_weight=np.full(6, weight))
    whole = ek.PCA(3).fit(rows, sample_weight=np.full(12, weight)).decomposition_
    assert model.decomposition_.rows == model.decomposition_.plan.rows == whole.rows == 12
    assert_allclose(model.decomposition_.values, whole.values, rtol=1e-9)


@pytest.mark.parametrize("k", [1, None])
def test_weights_that_sum_to_less_than_the_components_are_refused(k):
    rows = np.random.default_rng(0).standard_normal((20, 3))
    with pytest.raises(ParameterError, match=r"0\.5 after this batch.*multiply all weights by the same number"):
        ek.IncrementalPCA(k).partial_fit(rows, sample_weight=np.full(20, 0.025))


def test_values_that_overflow_float32_are_refused():
    rows = (np.random.default_rng(0).standard_normal((12, 3)) * 1e15).astype("float32")
    model = ek.IncrementalPCA(2).partial_fit(rows, sample_weight=np.full(12, 1e60))
    with pytest.raises(NotFiniteError, match="overflow float32"):
        _ = model.singular_values_
