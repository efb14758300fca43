"""NMF against exact answers, scikit-learn's steps, brute force and the cases that hurt people."""

import warnings
from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import nnls
from sklearn.datasets import load_iris
from sklearn.decomposition import NMF as Theirs
from sklearn.decomposition._nmf import _beta_divergence
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline

import eckart as ek
from eckart.arrays import to_numpy
from eckart.engine.threads import one_blas_thread
from eckart.errors import InputError, MissingValuesError, ParameterError
from eckart.nmf.cuda import given_rows as cuda_given
from eckart.nmf.cuda import teams
from eckart.nmf.problem import segments

LOSSES = ("frobenius", "kullback-leibler")
KINDS = {"dense": np.asarray, "sparse": sp.csr_array}


def table(rows=40, columns=23, k=4, seed=0, noise=0.3, zeros=0.6):
    rng = np.random.default_rng(seed)
    signal = rng.gamma(0.6, 1.0, (rows, k)) @ rng.gamma(0.6, 1.0, (k, columns))
    return signal * (rng.random(signal.shape) > zeros) * (1 + noise * rng.random(signal.shape))


def start(shape, k, seed=1):
    rng = np.random.default_rng(seed)
    return rng.random((shape[0], k)) + 0.1, rng.random((k, shape[1])) + 0.1


def quietly(estimator, X, **more):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return estimator.fit_transform(X, **more)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("solver", "loss"),
    [("cd", "frobenius"), ("mu", "frobenius"), ("mu", "kullback-leibler"), ("mu", 1.5), ("mu", 0.5), ("mu", 2.5)],
)
def test_cd_and_mu_take_the_steps_of_scikit_learn(kind, solver, loss):
    X = table() + (0.1 if kind == "dense" else 0)
    X = KINDS[kind](X / X.mean())  # what stands in for W H = 0 is relative to the mean here, and absolute there
    W, H = start(X.shape, 3)
    ours = ek.NMF(3, init="custom", solver=solver, beta_loss=loss, max_iter=25, tol=0)
    theirs = Theirs(3, init="custom", solver=solver, beta_loss=loss, max_iter=25, tol=0)
    found = quietly(ours, X, W=W.copy(), H=H.copy())
    wanted = quietly(theirs, X, W=W.copy(), H=H.copy())
    assert np.allclose(found, wanted, rtol=1e-6, atol=1e-8)
    assert np.allclose(ours.components_, theirs.components_, rtol=1e-6, atol=1e-8)
    assert ours.reconstruction_err_ == pytest.approx(theirs.reconstruction_err_, rel=1e-7)


@pytest.mark.parametrize(("solver", "loss"), [("cd", "frobenius"), ("mu", "kullback-leibler"), ("mu", "frobenius")])
def test_penalties_and_the_end_are_those_of_scikit_learn(solver, loss):
    X = table() + 0.1
    W, H = start(X.shape, 3)
    more = {"alpha_W": 0.01, "alpha_H": 0.02, "l1_ratio": 0.4, "max_iter": 400, "tol": 1e-3}
    ours = ek.NMF(3, init="custom", solver=solver, beta_loss=loss, **more)
    theirs = Theirs(3, init="custom", solver=solver, beta_loss=loss, **more)
    found = ours.fit_transform(X, W=W.copy(), H=H.copy())
    wanted = theirs.fit_transform(X, W=W.copy(), H=H.copy())
    if loss == "frobenius" and solver == "cd":
        assert ours.n_iter_ == theirs.n_iter_
        assert np.allclose(found, wanted, rtol=1e-5, atol=1e-7)
    else:
        assert ours.reconstruction_err_ == pytest.approx(theirs.reconstruction_err_, rel=0.02)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("kind", KINDS)
def test_auto_is_at_least_as_good_as_scikit_learn_run_long(kind, loss):
    X = KINDS[kind](table(60, 30, 5, zeros=0.7))
    W, H = start(X.shape, 5)
    ours = ek.NMF(5, init="custom", beta_loss=loss, max_iter=2000, tol=1e-7)
    theirs = Theirs(5, init="custom", beta_loss=loss, max_iter=2000, tol=1e-7, solver="mu" if loss[0] == "k" else "cd")
    quietly(ours, X, W=W.copy(), H=H.copy())
    quietly(theirs, X, W=W.copy(), H=H.copy())
    assert ours.reconstruction_err_ <= 1.02 * theirs.reconstruction_err_  # local optima may differ
    dense = X.toarray() if kind == "sparse" else X
    again = _beta_divergence(dense, ours.transform(X), ours.components_, loss, square_root=True)
    assert ours.reconstruction_err_ == pytest.approx(again, rel=1e-6)


@settings(max_examples=25, deadline=None)
@given(
    st.integers(0, 10**6),
    st.sampled_from((*LOSSES, 1.5)),
    st.sampled_from(("auto", "mu", "cd")),
    st.sampled_from(sorted(KINDS)),
    st.sampled_from((None, "random")),
    st.booleans(),
)
def test_the_objective_never_rises_and_nothing_is_negative(seed, loss, solver, kind, init, penalised):
    if solver == "cd" and loss != "frobenius":
        solver = "auto"
    X = KINDS[kind](table(25, 17, 3, seed=seed) + (0.05 if loss == 1.5 else 0.0))
    more = {"alpha_W": 0.003, "l1_ratio": 0.5} if penalised else {}
    model = ek.NMF(4, solver=solver, beta_loss=loss, init=init, random_state=seed, max_iter=60, tol=0, **more)
    W = quietly(model, X)
    history = model.loss_history_
    assert np.all(np.diff(history) <= 1e-12 * max(history[0], float(X.sum())))
    for factor in (W, model.components_):
        assert np.isfinite(factor).all()
        assert factor.min() >= 0.0


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from(LOSSES), st.sampled_from(sorted(KINDS)))
def test_transform_is_fit_transform(seed, loss, kind):
    X = KINDS[kind](table(30, 20, 3, seed=seed))
    model = ek.NMF(3, beta_loss=loss, max_iter=500)
    W = quietly(model, X)
    assert np.allclose(model.transform(X), W, atol=2e-4 * W.max())


def test_rows_are_solved_as_well_as_by_active_sets():
    X = table(50, 20, 4)
    model = ek.NMF(4).fit(X)
    found = model.transform(X)
    wanted = np.array([nnls(model.components_.T, row)[0] for row in X])
    assert np.allclose(found, wanted, atol=1e-6 * wanted.max())


@pytest.mark.parametrize("kind", KINDS)
def test_an_exact_factorisation_is_found(kind):
    rng = np.random.default_rng(3)
    W, H = rng.random((60, 3)) * (rng.random((60, 3)) > 0.5), rng.random((3, 40)) * (rng.random((3, 40)) > 0.5)
    X = KINDS[kind](W @ H)
    model = ek.NMF(3, tol=1e-10, max_iter=5000, n_runs=3).fit(X)
    assert model.reconstruction_err_ < 1e-3 * np.linalg.norm(W @ H)


def test_no_factorisation_beats_the_certificate():
    X = table(80, 40, 6)
    for k in (1, 3, 6):
        model = ek.NMF(k).fit(X)
        low, high = model.certificate_.explained
        singular = np.linalg.svd(X, compute_uv=False)
        best = (singular[:k] ** 2).sum() / (singular**2).sum()
        share = 1 - model.reconstruction_err_**2 / (X**2).sum()
        assert low == pytest.approx(share, abs=1e-9)
        assert share <= best + 1e-12
        assert best <= high <= best + 1e-6
    assert ek.NMF(2, beta_loss="kullback-leibler").fit(X).certificate_ is None


def test_rank_one_is_the_singular_vector():
    X = table(30, 12, 3)
    model = ek.NMF(1, tol=1e-9).fit(X)
    _, s, v = np.linalg.svd(X)
    assert model.reconstruction_err_**2 == pytest.approx((s[1:] ** 2).sum(), rel=1e-9)
    assert np.allclose(model.components_[0] / np.linalg.norm(model.components_), np.abs(v[0]), atol=1e-6)


def test_rank_one_of_kullback_leibler_is_the_product_of_the_margins():
    X = table(30, 12, 3)
    model = ek.NMF(1, beta_loss="kullback-leibler", tol=1e-9)
    W = model.fit_transform(X)
    assert np.allclose(W @ model.components_, np.outer(X.sum(1), X.sum(0)) / X.sum(), rtol=1e-6)


@pytest.mark.parametrize("loss", LOSSES)
def test_the_answer_does_not_depend_on_threads(loss):
    X = sp.csr_array(table(300, 60, 5))
    model = ek.NMF(5, beta_loss=loss, max_iter=30)
    many = quietly(model, X)
    with one_blas_thread():
        import eckart.engine.threads as own

        before, own._count = own._count, 1
        one = quietly(ek.NMF(5, beta_loss=loss, max_iter=30), X)
        own._count = before
    assert np.array_equal(many, one)


@pytest.mark.parametrize("loss", LOSSES)
def test_dense_and_sparse_agree(loss):
    X = table(60, 40, 4, zeros=0.8)
    W, H = start(X.shape, 4)
    errors = [
        quietly(m := ek.NMF(4, init="custom", beta_loss=loss, max_iter=1500, tol=1e-8), kind(X), W=W, H=H) is not None
        and m.reconstruction_err_
        for kind in KINDS.values()
    ]
    assert errors[0] == pytest.approx(errors[1], rel=0.01)


@pytest.mark.parametrize("loss", [*LOSSES, 1.5])
def test_zero_rows_and_columns(loss):
    X = table(20, 9, 3)
    X[4], X[:, 2] = 0.0, 0.0
    model = ek.NMF(3, beta_loss=loss, max_iter=100)
    W = quietly(model, X)
    assert np.isfinite(W).all()
    assert np.all(W[4] <= 1e-6 * W.max())
    assert np.all(model.components_[:, 2] <= 1e-6 * model.components_.max())
    nothing = ek.NMF(2, beta_loss=loss, max_iter=5)
    assert np.isfinite(quietly(nothing, np.zeros((4, 3)))).all()
    assert nothing.reconstruction_err_ == pytest.approx(0.0, abs=1e-3)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("size", [1e200, 1e-200])
def test_huge_and_tiny_numbers_scale(loss, kind, size):
    X = table(25, 12, 3)
    plain, scaled = (ek.NMF(3, beta_loss=loss, max_iter=50) for _ in range(2))
    W, V = quietly(plain, KINDS[kind](X)), quietly(scaled, KINDS[kind](X * size))
    assert np.allclose((V / size) @ scaled.components_, W @ plain.components_, rtol=0.05, atol=0.02 * X.max())
    assert np.allclose(scaled.transform(KINDS[kind](X * size)), V, rtol=1e-3, atol=1e-3 * V.max())


def test_numbers_near_underflow_with_kullback_leibler():
    X = np.full((6, 4), 1e-323)
    X[0, 0] = 1.0
    assert np.isfinite(quietly(ek.NMF(2, beta_loss="kullback-leibler"), X)).all()


def test_float32_stays_float32():
    X = table(50, 20, 4).astype(np.float32)
    model = ek.NMF(4)
    W = model.fit_transform(X)
    assert W.dtype == model.components_.dtype == model.transform(X).dtype == np.float32
    assert model.reconstruction_err_ == pytest.approx(ek.NMF(4).fit(X.astype(float)).reconstruction_err_, rel=1e-2)


@pytest.mark.parametrize("loss", LOSSES)
def test_unknown_entries_are_left_out(loss):
    rng = np.random.default_rng(5)
    full = rng.gamma(1.0, 1.0, (60, 2)) @ rng.gamma(1.0, 1.0, (2, 30)) + 0.01
    gaps = rng.random(full.shape) < 0.3
    X = np.where(gaps, np.nan, full)
    model = ek.NMF(2, beta_loss=loss, missing="mask", max_iter=3000, tol=1e-9, n_runs=3)
    W = quietly(model, X)
    assert np.abs(W @ model.components_ - full)[gaps].max() < 0.05 * full.max()
    masked = np.ma.MaskedArray(np.nan_to_num(X), gaps)
    again = quietly(ek.NMF(2, beta_loss=loss, missing="mask", max_iter=3000, tol=1e-9, n_runs=3), masked)
    assert np.array_equal(W, again)


@pytest.mark.parametrize("loss", LOSSES)
def test_a_sparse_pattern_says_what_is_known(loss):
    rng = np.random.default_rng(6)
    full = rng.gamma(1.0, 1.0, (60, 2)) @ rng.gamma(1.0, 1.0, (2, 30)) + 0.01
    known = rng.random(full.shape) < 0.4
    dense = np.where(known, full, np.nan)
    pattern = sp.csr_array((full[known], np.nonzero(known)), full.shape)
    W, H = start(full.shape, 2)
    models = [ek.NMF(2, init="custom", beta_loss=loss, missing="mask", max_iter=200) for _ in range(2)]
    first, second = (quietly(m, data, W=W, H=H) for m, data in zip(models, (dense, pattern), strict=True))
    assert np.allclose(first, second, rtol=1e-6, atol=1e-9)
    rest = (first @ models[0].components_ - full)[known]
    if loss == "frobenius":
        assert models[0].reconstruction_err_ == pytest.approx(np.linalg.norm(rest), rel=1e-6)


@pytest.mark.parametrize("noise", [1.0, 1e-6])
def test_the_loss_of_sparse_data_keeps_its_digits(noise):
    """Sums of squares cancel where the factors fit nearly exactly; entry by entry they do not."""
    rng = np.random.default_rng(16)
    X = sp.random_array((80, 2), density=0.5, rng=rng) @ sp.random_array((2, 50), density=0.5, rng=rng)
    X = sp.csr_array(X + noise * sp.random_array((80, 50), density=0.02, rng=rng))
    model = ek.NMF(2, tol=1e-10, max_iter=2000)
    W = quietly(model, X)
    assert model.reconstruction_err_ == pytest.approx(np.linalg.norm(W @ model.components_ - X.toarray()), rel=1e-7)


def test_a_stored_zero_is_a_zero_where_others_are_unknown():
    data, rows, columns = np.array([0.0, 2.0, 2.0, 0.0]), np.array([0, 0, 1, 1]), np.array([0, 1, 1, 0])
    X = sp.csr_array((data, (rows, columns)), (3, 5))
    model = ek.NMF(1, missing="mask", max_iter=500)
    fitted = quietly(model, X) @ model.components_
    assert np.allclose(fitted[:2, :2], [[0, 2], [0, 2]], atol=1e-3)


def test_runs_are_compared():
    X = table(60, 30, 4)
    model = ek.NMF(4, n_runs=4, init="random", random_state=1)
    quietly(model, X)
    assert model.runs_["losses"].shape == (4,)
    assert model.runs_["agreement"].shape == (4, 4)
    best = int(np.argmin(model.runs_["losses"]))
    assert np.allclose(model.runs_["agreement"][best], 1.0)
    assert 0.5 * model.reconstruction_err_**2 == pytest.approx(model.runs_["losses"].min(), rel=1e-9)


def test_probabilities_and_back():
    X = table(40, 20, 3)
    model = ek.NMF(3, beta_loss="kullback-leibler")
    W = model.fit_transform(X)
    reading = model.plsa_
    documents = reading.documents(W)
    assert reading.topics.sum() == pytest.approx(1.0)
    assert np.allclose(reading.terms.sum(axis=1), 1.0)
    assert np.allclose(documents.sum(axis=0), 1.0)
    back_W, back_H = reading.factors(documents)
    assert np.allclose(back_W @ back_H, W @ model.components_)
    assert reading.total == pytest.approx(X.sum(), rel=1e-3)  # Kullback-Leibler keeps the margins
    with pytest.raises(InputError, match="3 topics"):
        reading.documents(W[:, :2])


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("kind", KINDS)
def test_a_stream_of_rows_comes_near_to_all_rows_at_once(loss, kind):
    X = table(600, 25, 4, zeros=0.5)
    whole = ek.NMF(4, beta_loss=loss, max_iter=500).fit(X)
    stream = ek.NMF(4, beta_loss=loss, max_iter=500)
    for _ in range(2):
        for block in np.array_split(X, 6):
            stream.partial_fit(KINDS[kind](block))
    error = _beta_divergence(X, stream.transform(X), stream.components_, loss, square_root=True)
    assert error <= 1.08 * whole.reconstruction_err_
    assert stream.decomposition_.rows == 1200
    assert not hasattr(ek.NMF(beta_loss=0.5), "partial_fit")


def test_the_decomposition_is_a_value_like_any_other(tmp_path):
    X = table(40, 20, 3)
    d = ek.decompose(X, "nmf", k=3, left=True)
    assert np.allclose(np.linalg.norm(d.right, axis=0), 1.0)
    assert np.allclose(ek.project(d, X), d.left * d.values, atol=1e-4 * d.values.max())
    rest = X - ek.reconstruct(d, d.left * d.values)
    assert np.linalg.norm(rest) == pytest.approx(d.details.error, rel=1e-9)
    d.save(tmp_path / "model.eckart")
    loaded = ek.load(tmp_path / "model.eckart")
    assert np.array_equal(ek.project(loaded, X), ek.project(d, X))


@pytest.mark.parametrize(
    ("X", "options", "error", "words"),
    [
        ([[1, -2], [3, -4]], {}, InputError, r"Negative values.*2 entries. The smallest is -4, in row 2, column 2"),
        ([[1, np.nan]], {}, MissingValuesError, "NaN"),
        ([[1, np.inf]], {"missing": "mask"}, InputError, "infinity"),
        ([[np.nan, np.nan]], {"missing": "mask"}, InputError, "All entries are missing"),
        ([[1, 0], [2, 1]], {"beta_loss": "itakura-saito"}, InputError, "contains zeros"),
        ([[1, 2], [2, 1]], {"beta_loss": 1, "solver": "cd"}, ParameterError, "does not handle"),
        ([[1, 2], [2, 1]], {"n_components": 3, "init": "nndsvd"}, ParameterError, "can only be used when"),
        ([[1, 2], [2, 1]], {"init": "custom"}, ParameterError, "needs both W and H"),
    ],
)
def test_bad_input_is_told_in_a_sentence(X, options, error, words):
    with pytest.raises(error, match=words):
        ek.NMF(**options).fit(np.array(X, dtype=float))


def test_negative_zero_is_zero_and_sparse_negatives_are_counted():
    assert ek.NMF(1).fit(np.array([[1.0, -0.0], [2.0, 1.0]])).components_.min() >= 0
    with pytest.raises(InputError, match=r"1 entry. The smallest is -2, in row 3, column 2"):
        ek.NMF(1).fit(sp.csr_array(([1.0, -2.0], ([0, 2], [3, 1])), (9, 5)))


def test_wrong_starts_are_told():
    X = table(6, 5, 2)
    W, H = start(X.shape, 2)
    for bad, words in (((W[:4], H), "wrong shape"), ((-W, H), "Negative"), ((W, 0 * H), "full of zeros")):
        with pytest.raises(InputError, match=words):
            ek.NMF(2, init="custom").fit(X, W=bad[0], H=bad[1])
    with pytest.warns(RuntimeWarning, match="ignored"):
        ek.NMF(2).fit(X, W=W, H=H)
    with pytest.warns(UserWarning, match="cannot update zeros"):
        quietly(ek.NMF(2, solver="mu", init="nndsvd"), X)
    with pytest.warns(ConvergenceWarning, match="Maximum number of iterations 1"):
        ek.NMF(2, max_iter=1).fit(X)


def test_more_parts_than_either_side():
    X = table(6, 5, 2)
    W = quietly(ek.NMF(8, random_state=0), X)
    assert W.shape == (6, 8)


def test_the_data_are_left_as_they_were():
    X = table(20, 10, 3)
    for data in (X, sp.csr_array(X)):
        before = data.copy()
        for loss in LOSSES:
            quietly(ek.NMF(3, beta_loss=loss, max_iter=10), data)
        assert abs(before - data).max() == 0


def elsewhere(library):
    if library == "torch":
        return pytest.importorskip("torch").as_tensor
    return pytest.importorskip("array_api_strict").asarray


@pytest.mark.parametrize("library", ["torch", "array_api_strict"])
@pytest.mark.parametrize("init", [None, "random", "nndsvdar", "custom"])
@pytest.mark.parametrize(
    ("loss", "solver"), [("frobenius", "auto"), ("frobenius", "mu"), ("kullback-leibler", "auto"), (1.5, "mu")]
)
def test_other_libraries_get_the_same_answer_in_their_arrays(library, init, loss, solver):
    there = elsewhere(library)
    X = table(60, 31, 4)
    X[7] = 0.0
    W, H = start(X.shape, 3)
    options = {"init": init, "beta_loss": loss, "solver": solver, "max_iter": 12, "alpha_W": 0.01, "l1_ratio": 0.3}
    ours, theirs = ek.NMF(3, **options), ek.NMF(3, **options)
    more = ({"W": W, "H": H}, {"W": there(W), "H": there(H)}) if init == "custom" else ({}, {})
    wanted, found = quietly(ours, X, **more[0]), quietly(theirs, there(X), **more[1])
    again = theirs.transform(there(X))
    for array in (found, theirs.components_, again, theirs.inverse_transform(found), theirs.decomposition_.right):
        assert type(array) is type(there(X))
    assert np.allclose(to_numpy(found), wanted, rtol=1e-6, atol=1e-9)
    assert np.allclose(to_numpy(theirs.components_), ours.components_, rtol=1e-6, atol=1e-9)
    assert np.allclose(to_numpy(again), ours.transform(X), rtol=1e-6, atol=1e-9)
    assert np.allclose(theirs.loss_history_, ours.loss_history_, rtol=1e-9)
    assert np.allclose(theirs.plsa_.topics, ours.plsa_.topics)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("init", [None, "nndsvdar", "custom"])
def test_factors_in_the_precision_of_the_data_as_on_a_gpu(monkeypatch, loss, dtype, init):
    """What a GPU does, with the kernels of the host: factors and products in float32 where the data are."""
    torch = pytest.importorskip("torch")
    monkeypatch.setattr("eckart.nmf.table.is_host", lambda array: isinstance(array, np.ndarray))
    X = table(200, 61, 4).astype(dtype)
    X[7] = 0.0
    W, H = start(X.shape, 3)
    more = ({"W": W, "H": H}, {"W": torch.as_tensor(W), "H": torch.as_tensor(H)}) if init == "custom" else ({}, {})
    ours, theirs = (ek.NMF(3, init=init, beta_loss=loss, max_iter=40, alpha_W=1e-4) for _ in range(2))
    wanted = quietly(ours, X, **more[0]) @ ours.components_
    found = quietly(theirs, torch.as_tensor(X), **more[1])
    assert found.dtype == theirs.components_.dtype == getattr(torch, dtype)
    error = 1e-8 if dtype == "float64" else 1e-2
    assert np.abs((found @ theirs.components_).numpy() - wanted).max() < error * wanted.max()
    assert theirs.reconstruction_err_ == pytest.approx(ours.reconstruction_err_, rel=error)
    assert np.all(np.diff(theirs.loss_history_) <= 0.0)
    assert np.abs((theirs.transform(torch.as_tensor(X)) - found).numpy()).max() < 1e-3 * found.max()
    if loss == "frobenius":
        assert theirs.certificate_.explained == pytest.approx(ours.certificate_.explained, rel=error)
    with pytest.raises(InputError, match="need the data on the host"):
        ek.NMF(3, beta_loss="kullback-leibler", solver="mu").fit(torch.as_tensor(X))


@pytest.mark.parametrize("loss", LOSSES)
def test_gaps_in_other_libraries(loss):
    torch = pytest.importorskip("torch")
    X = table(60, 31, 4, zeros=0.2)
    X[np.random.default_rng(2).random(X.shape) < 0.3] = np.nan
    W, H = start(X.shape, 3)
    ours, theirs = (ek.NMF(3, init="custom", beta_loss=loss, missing="mask", max_iter=20) for _ in range(2))
    wanted = quietly(ours, X, W=W, H=H)
    assert np.allclose(quietly(theirs, torch.as_tensor(X), W=W, H=H).numpy(), wanted, rtol=1e-6, atol=1e-9)
    with pytest.raises(InputError, match=r"1 entry. The smallest is -2, in row 1, column 2"):
        ek.NMF(1).fit(torch.as_tensor([[1.0, -2.0], [3.0, 4.0]]))
    with pytest.raises(MissingValuesError, match="1 missing value"):
        ek.NMF(1).fit(torch.as_tensor([[1.0, float("nan")], [3.0, 4.0]]))


def test_rows_find_a_team_that_can_hold_them():
    most = 232_448  # shared memory of a block of an H100
    for k in (1, 5, 32, 100, 256):
        for itemsize in (4, 8):
            for longest in (1, 64, 65, 1800, 2000, 10**6):
                found = teams.limits(longest, k, itemsize, most)
                ends = [limit for *_, limit in found]
                assert ends == sorted(ends)
                assert ends[-1] >= longest
                for team, entries, place, end in found:
                    size, area = teams.layout(team, place, min(end, longest), k, itemsize, most)
                    assert size * max(1, 32 // team) + teams.padded(k, itemsize) * itemsize * (place == 0) <= most
                    assert place == 2 or end <= team * entries
                    assert place > 0 or area >= k * min(end, longest)
                    assert size % 16 == 0 or place > 0


def test_groups_on_a_gpu_are_those_of_the_processor():
    for rows in (1, 7, 64, 700, 1000):
        wanted = [
            (i, min(i + 64, stop)) for first, stop in segments(rows, 8) for i in range(first, stop, 64)
        ]  # fmt: skip
        assert cuda_given.groups(rows).tolist() == [list(pair) for pair in wanted]


@pytest.mark.parametrize("solver", ["mu", "cd"])
def test_other_solvers_in_other_libraries(solver):
    torch = pytest.importorskip("torch")
    X = table(60, 31, 4, zeros=0.2)
    W, H = start(X.shape, 3)
    ours, theirs = (ek.NMF(3, init="custom", solver=solver, max_iter=20, tol=0.0) for _ in range(2))
    wanted = quietly(ours, X, W=W, H=H)
    assert np.allclose(quietly(theirs, torch.as_tensor(X), W=W, H=H).numpy(), wanted, rtol=1e-9, atol=1e-12)
    # Where updates have not arrived, W is not what `transform` finds: that goes on to the end, in both.
    assert np.allclose(theirs.transform(torch.as_tensor(X)).numpy(), ours.transform(X), rtol=1e-9, atol=1e-12)


FIRST_AND_SECOND = """
import hashlib
import numpy as np
import eckart as ek

X = np.random.default_rng(0).gamma(0.6, 1.0, (60, 5)) @ np.random.default_rng(1).gamma(0.6, 1.0, (5, 40))
for dtype in ("f4", "f8"):
    model = ek.NMF(4, beta_loss="kullback-leibler", init="random", max_iter=30, tol=0.0, random_state=0)
    print(hashlib.sha256(model.fit(X.astype(dtype)).components_.tobytes()).hexdigest())
"""


def test_the_run_that_compiles_has_the_bits_of_all_later_ones(tmp_path):
    import os
    import subprocess
    import sys

    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path), "PYTHONWARNINGS": "ignore"}
    call = [sys.executable, "-c", FIRST_AND_SECOND]
    said = [subprocess.run(call, env=environment, capture_output=True, check=True).stdout for _ in range(2)]
    assert said[0] == said[1]
    assert len(said[0].split()) == 2


@pytest.mark.parametrize("init", [None, "random", "nndsvd", "nndsvda", "nndsvdar"])
def test_a_classifier_of_the_coordinates_scores_as_with_scikit_learn(init):
    X, y = load_iris(return_X_y=True)
    scores = [
        cross_val_score(make_pipeline(cls(2, init=init, random_state=0), LogisticRegression(max_iter=1000)), X, y, cv=3)
        for cls in (ek.NMF, partial(Theirs, max_iter=1000))
    ]
    assert scores[0].mean() >= scores[1].mean() - 0.02


@pytest.mark.parametrize("loss", ["frobenius", "kullback-leibler"])
def test_factors_keep_the_ratio_of_lengths_of_the_start(loss):
    X = load_iris().data
    W, H = np.full((150, 2), 3.0), np.full((2, 4), 0.5)
    W[:75, 0], H[1, :2] = 1.0, 0.1
    nmf = ek.NMF(2, init="custom", beta_loss=loss)
    rows = nmf.fit_transform(X, W=W, H=H)
    ratio = np.linalg.norm(rows, axis=0) / np.linalg.norm(nmf.components_, axis=1)
    np.testing.assert_allclose(ratio, np.linalg.norm(W, axis=0) / np.linalg.norm(H, axis=1), rtol=1e-9)


@pytest.mark.parametrize("form", [np.asarray, "sparse"])
def test_parts_explain_shares_of_the_table_with_predictions(form):
    rng = np.random.default_rng(0)
    table = rng.random((20, 8))
    known = rng.random((20, 8)) < 0.5
    rows = sp.csr_array(np.where(known, table, 0.0)) if form == "sparse" else np.where(known, table, np.nan)
    d = ek.decompose(rows, "nmf", k=2, missing="mask", left=True)
    filled = np.where(known, table, d.left * d.values @ d.right.T)
    assert d.norm == pytest.approx(np.linalg.norm(filled), rel=1e-12)
    assert d.explained_variance_ratio.max() <= 1
    assert "of the known entries" in d.certificate.summary
