"""Kernel PCA: scikit-learn's converged answers, LAPACK's eigenvalues, and the cases that hurt people."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.datasets import make_circles
from sklearn.decomposition import KernelPCA as Other
from sklearn.decomposition import KernelPCA as SklearnKernelPCA
from sklearn.metrics.pairwise import laplacian_kernel, pairwise_kernels

import eckart as ek
from eckart.errors import DataWarning, InputError, MemoryBudgetError, MissingValuesError, ParameterError

GAMMA = {"linear": None, "cosine": None, "poly": 0.02, "rbf": 0.1, "laplacian": 0.1}


def data(rows, columns=5, seed=0, offset=2.0):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((rows, columns)) @ rng.standard_normal((columns, columns)) + offset


def reference(X, kernel, gamma, k, new):
    """scikit-learn's dense solver; it has no laplacian, but takes one that is computed."""
    if kernel == "laplacian":
        other = Other(k, kernel="precomputed", eigen_solver="dense")
        return (
            other,
            other.fit_transform(laplacian_kernel(X, gamma=gamma)),
            other.transform(laplacian_kernel(new, X, gamma=gamma)),
        )
    other = Other(k, kernel=kernel, gamma=gamma, eigen_solver="dense")
    return other, other.fit_transform(X), other.transform(new)


def centred_spectrum(K):
    H = np.eye(len(K)) - 1.0 / len(K)
    return np.linalg.eigvalsh(H @ K @ H)[::-1]


@pytest.mark.parametrize("kernel", sorted(GAMMA))
@pytest.mark.parametrize("rows", [60, 700])
def test_scores_and_eigenvalues_are_scikit_learns(kernel, rows):
    X = data(rows)
    other, scores, new_scores = reference(X, kernel, GAMMA[kernel], 4, X[:9] + 0.1)
    model = ek.KernelPCA(4, kernel=kernel, gamma=GAMMA[kernel])
    found = model.fit_transform(X)
    np.testing.assert_allclose(model.eigenvalues_, other.eigenvalues_, rtol=1e-8)
    scale = np.abs(scores).max()
    np.testing.assert_allclose(found, scores, atol=1e-5 * scale)
    np.testing.assert_allclose(model.transform(X), scores, atol=1e-5 * scale)
    np.testing.assert_allclose(model.transform(X[:9] + 0.1), new_scores, atol=1e-5 * scale)
    assert np.all(model.certificate_.lower**2 <= other.eigenvalues_ * (1 + 1e-12))
    assert np.all(model.certificate_.upper**2 >= other.eigenvalues_ * (1 - 1e-12))
    low, high = model.certificate_.explained
    if kernel not in ("linear", "cosine"):
        K = laplacian_kernel(X, gamma=0.1) if kernel == "laplacian" else None
        K = pairwise_kernels(X, metric=kernel, filter_params=True, gamma=GAMMA[kernel]) if K is None else K
        spectrum = centred_spectrum(K)
        assert low <= spectrum[:4].sum() / spectrum.sum() * (1 + 1e-12) <= high * (1 + 2e-12)


def test_tiles_in_float32_give_the_accuracy_that_was_asked_for():
    X = data(4300, 6)
    K = pairwise_kernels(X, metric="rbf", gamma=0.05)
    d = ek.decompose(X, "kernel_pca", k=3, kernel="rbf", gamma=0.05, left=True)
    assert d.info.precision == "float32"
    K -= K.mean(axis=0)
    K -= K.mean(axis=1)[:, None]
    vectors = np.asarray(d.left)
    values = np.asarray(d.values) ** 2
    residual = np.linalg.norm(K @ vectors - vectors * values, axis=0)
    assert residual.max() <= 1e-5 * values[-1]
    rayleigh = np.einsum("ij,ij->j", vectors, K @ vectors)
    np.testing.assert_allclose(values, rayleigh, rtol=1e-7)
    assert np.all(d.certificate.lower <= d.certificate.upper)
    assert d.certificate.upper[0] ** 2 - d.certificate.lower[0] ** 2 <= 1e-4 * values[0]


def test_tiles_made_again_give_the_same_answer_as_tiles_kept():
    X = data(4200, 3)
    kept = ek.decompose(X, "kernel_pca", k=2, gamma=0.05)
    again = ek.decompose(X, "kernel_pca", k=2, gamma=0.05, memory="30MB", solver="lanczos")
    assert kept.plan.settings["keep"]
    assert not again.plan.settings["keep"]
    np.testing.assert_array_equal(kept.values, again.values)


@pytest.mark.parametrize("offset", [0.0, 1e8])
def test_the_linear_kernel_is_pca_at_any_offset(offset):
    X = np.round(data(300, offset=0.0) * 2**20) / 2**20
    wanted = ek.PCA(3).fit(X)
    model = ek.KernelPCA(3).fit(X + offset)
    scores = model.transform(X + offset)
    signs = np.sign(np.sum(scores * wanted.transform(X), axis=0))
    np.testing.assert_allclose(scores * signs, wanted.transform(X), atol=1e-7)
    np.testing.assert_allclose(model.eigenvalues_, wanted.singular_values_**2, rtol=1e-10)
    np.testing.assert_allclose(
        model.inverse_transform(scores), wanted.inverse_transform(wanted.transform(X)) + offset, atol=1e-6
    )


def test_the_rbf_kernel_does_not_see_an_offset():
    X = np.round(data(200, offset=0.0) * 2**20) / 2**20
    near, far = (ek.KernelPCA(3, kernel="rbf", gamma=0.1).fit_transform(X + offset) for offset in (0.0, 1e8))
    np.testing.assert_allclose(near, far, atol=1e-7)


@pytest.mark.parametrize("rows", [120, 600])
def test_wide_kernels_keep_their_digits(rows):
    # With a kernel so wide that all of it is near 1, kernel PCA is PCA but for terms of order gamma.
    X = np.random.default_rng(0).standard_normal((rows, 4)) * [4.0, 3.0, 2.0, 1.0]
    gamma = 1e-9
    model = ek.KernelPCA(4, kernel="rbf", gamma=gamma).fit(X)
    np.testing.assert_allclose(model.eigenvalues_ / (2 * gamma), ek.PCA(4).fit(X).singular_values_ ** 2, rtol=1e-6)
    np.testing.assert_allclose(np.abs(model.transform(X)), np.abs(model.fit_transform(X)), rtol=1e-5, atol=1e-12)


def test_the_rank_is_that_of_the_centred_kernel():
    """Rounding leaves the zero eigenvalue of a centred kernel on either side of zero; the rank is numpy's."""
    X = ek.datasets.load("usarrests").values
    d = ek.decompose(X, "kernel_pca", k=4)
    K = np.exp(-d.details.gamma * ((X[:, None] - X[None]) ** 2).sum(axis=2))
    centre = np.eye(len(X)) - 1 / len(X)
    assert d.rank == np.linalg.matrix_rank(centre @ K @ centre) == 49


def test_scores_are_scaled_by_unit_components():
    X = data(80)
    d = ek.decompose(X, "kernel_pca", k=4, gamma=0.1)
    K = pairwise_kernels(X, metric="rbf", gamma=0.1)
    np.testing.assert_allclose(d.details.dual.T @ K @ d.details.dual, np.eye(4), atol=1e-10)


def test_two_rings_are_parted_by_the_first_component():
    X, ring = make_circles(400, factor=0.3, noise=0.03, random_state=0)
    score = ek.KernelPCA(1, kernel="rbf", gamma=3.0).fit_transform(X)[:, 0]
    inner, outer = score[ring == 1], score[ring == 0]
    assert inner.min() > outer.max() or inner.max() < outer.min()
    flat = ek.PCA(1).fit_transform(X)[:, 0]
    assert flat[ring == 1].min() < flat[ring == 0].max()


@pytest.mark.parametrize("kernel", sorted(GAMMA))
def test_sparse_rows_give_the_answer_of_dense_ones(kernel):
    dense = np.random.default_rng(0).random((90, 30)) * (np.random.default_rng(1).random((90, 30)) < 0.2)
    gamma = GAMMA[kernel]
    wanted = ek.KernelPCA(3, kernel=kernel, gamma=gamma).fit(dense)
    for make in (sparse.csr_array, sparse.csc_matrix):
        found = ek.KernelPCA(3, kernel=kernel, gamma=gamma).fit(make(dense))
        np.testing.assert_allclose(found.eigenvalues_, wanted.eigenvalues_, rtol=1e-9)
        np.testing.assert_allclose(found.transform(make(dense)), wanted.transform(dense), atol=1e-8)
        np.testing.assert_allclose(found.correlations_, wanted.correlations_, atol=1e-8)


def test_sparse_and_dense_rows_may_meet():
    dense = np.random.default_rng(0).random((60, 20)) * (np.random.default_rng(1).random((60, 20)) < 0.2)
    for kernel in sorted(GAMMA):
        from_dense = ek.KernelPCA(3, kernel=kernel, gamma=GAMMA[kernel]).fit(dense)
        from_sparse = ek.KernelPCA(3, kernel=kernel, gamma=GAMMA[kernel]).fit(sparse.csr_array(dense))
        wanted = from_dense.transform(dense)
        np.testing.assert_allclose(from_sparse.transform(dense), wanted, atol=1e-8)
        np.testing.assert_allclose(from_dense.transform(sparse.csr_array(dense)), wanted, atol=1e-8)


def test_a_function_of_two_rows_is_a_kernel():
    X = data(40)
    found = ek.KernelPCA(3, kernel=lambda a, b, power: (a @ b + 1.0) ** power, kernel_params={"power": 2}).fit(X)
    wanted = ek.KernelPCA(3, kernel="poly", gamma=1.0, degree=2).fit(X)
    np.testing.assert_allclose(found.eigenvalues_, wanted.eigenvalues_, rtol=1e-10)
    np.testing.assert_allclose(found.transform(X[:5] + 1), wanted.transform(X[:5] + 1), rtol=1e-8, atol=1e-8)


def test_a_precomputed_kernel_is_the_kernel():
    X = data(50)
    K = pairwise_kernels(X, metric="rbf", gamma=0.1)
    wanted = ek.KernelPCA(3, kernel="rbf", gamma=0.1).fit(X)
    found = ek.KernelPCA(3, kernel="precomputed").fit(K)
    np.testing.assert_allclose(found.eigenvalues_, wanted.eigenvalues_, rtol=1e-10)
    new = pairwise_kernels(X[:4] + 1, X, metric="rbf", gamma=0.1)
    np.testing.assert_allclose(found.transform(new), wanted.transform(X[:4] + 1), atol=1e-9)
    with pytest.raises(InputError, match="one row and one column per observation"):
        ek.KernelPCA(3, kernel="precomputed").fit(K[:, :-1])
    with pytest.raises(InputError, match="cannot be reconstructed"):
        found.inverse_transform(np.zeros((1, 3)))
    skew = K.copy()
    skew[0, 1] += 0.1
    assert any("not symmetric" in note for note in ek.decompose(skew, "kernel_pca", k=2, kernel="precomputed").notes)


def test_large_precomputed_kernels_go_through_lanczos():
    rng = np.random.default_rng(0)
    factor = rng.standard_normal((2100, 6)) * 0.5 ** np.arange(6)
    wanted = np.linalg.svd(factor - factor.mean(axis=0), compute_uv=False)[:3] ** 2
    d = ek.decompose(factor @ factor.T, "kernel_pca", k=3, kernel="precomputed")
    assert d.plan.solver == "lanczos"
    np.testing.assert_allclose(np.asarray(d.values) ** 2, wanted, rtol=1e-8)
    assert d.details.negative_share < 1e-3


def test_negative_eigenvalues_are_an_error_with_their_share():
    X = data(60)
    with pytest.raises(
        InputError,
        match=r"significant negative eigenvalues \(their sum is [0-9.]+ % of the sum of the positive eigenvalues",
    ):
        ek.KernelPCA(kernel="sigmoid", gamma=0.05).fit(X)
    factor = np.random.default_rng(0).standard_normal((30, 4))
    with pytest.raises(InputError, match="significant negative eigenvalues"):
        ek.KernelPCA(2, kernel="precomputed").fit(-factor @ factor.T)


def test_of_an_indefinite_kernel_the_positive_part_is_kept_as_in_scikit_learn():
    """Asked for some components, scikit-learn keeps the largest eigenvalues; so do we, with a warning."""
    K = np.random.default_rng(7).standard_normal((30, 30))
    K = K + K.T
    theirs = SklearnKernelPCA(3, kernel="precomputed").fit(K)
    with pytest.warns(DataWarning, match="indefinite"):
        ours = ek.KernelPCA(3, kernel="precomputed").fit(K)
    np.testing.assert_allclose(ours.eigenvalues_, theirs.eigenvalues_, rtol=1e-9)
    np.testing.assert_allclose(abs(ours.transform(K)), abs(theirs.transform(K)), atol=1e-8)


def test_a_small_negative_part_is_a_warning():
    rng = np.random.default_rng(0)
    basis, _ = np.linalg.qr(np.hstack([np.ones((30, 1)), rng.standard_normal((30, 3))]))
    K = basis[:, 1:] @ np.diag([10.0, 5.0, -0.5]) @ basis[:, 1:].T
    with pytest.warns(DataWarning, match="indefinite.*3.33 %"):
        model = ek.KernelPCA(2, kernel="precomputed").fit((K + K.T) / 2)
    np.testing.assert_allclose(model.eigenvalues_, [10, 5])


def test_zero_eigenvalues_keep_scores_finite():
    X = np.repeat(data(5, 2), 3, axis=0)
    model = ek.KernelPCA(10, kernel="linear").fit(X)
    np.testing.assert_allclose(model.transform(X), model.eigenvectors_ * np.sqrt(model.eigenvalues_), atol=1e-9)
    rbf = ek.KernelPCA(10, kernel="rbf").fit(X)
    assert np.sum(rbf.eigenvalues_ > 0) == 4
    np.testing.assert_allclose(rbf.transform(X), rbf.eigenvectors_ * np.sqrt(rbf.eigenvalues_), atol=1e-7)
    np.testing.assert_allclose(rbf.eigenvectors_.T @ rbf.eigenvectors_, np.eye(10), atol=1e-9)
    assert ek.KernelPCA(10, kernel="rbf", remove_zero_eig=True).fit(X).transform(X).shape[1] == 4
    assert ek.KernelPCA(kernel="rbf").fit(X).n_components_ == 4
    assert ek.KernelPCA().fit(X).n_components_ == 2


def test_a_kernel_that_is_the_identity():
    model = ek.KernelPCA(kernel="rbf", gamma=1e9).fit(data(12))
    np.testing.assert_allclose(model.eigenvalues_, np.ones(11))
    assert model.certificate_.undetermined == ((0, 10),)


def test_overflow_is_said_to_be_in_the_kernel():
    with pytest.raises(InputError, match="Overflow in kernel 'poly'"):
        ek.KernelPCA(2, kernel="poly", degree=200, gamma=100.0).fit(data(40) * 100)
    with pytest.raises(InputError, match="Overflow in kernel 'poly'"):
        ek.KernelPCA(2, kernel="poly", degree=200, gamma=100.0, eigen_solver="arpack").fit(data(600) * 100)


def test_wrong_arguments_are_refused():
    X = data(20)
    with pytest.raises(ParameterError, match="did you mean 'poly'"):
        ek.decompose(X, "kernel_pca", kernel="polly")
    with pytest.raises(ParameterError, match="k and explain each determine"):
        ek.decompose(X, "kernel_pca", k=2, explain=0.5)
    with pytest.raises(ParameterError, match="gamma"):
        ek.decompose(X, "kernel_pca", k=2, gamma=-1.0)
    with pytest.raises(MissingValuesError, match="row 4, column 2"):
        ek.decompose(np.where(np.arange(100).reshape(20, 5) == 16, np.nan, X), "kernel_pca", k=2)
    with pytest.raises(InputError, match="4 columns"):
        ek.project(ek.decompose(X, "kernel_pca", k=2), X[:, :4])
    with pytest.raises(MemoryBudgetError, match="bytes"):
        ek.decompose(data(700), "kernel_pca", memory=10_000)


def test_a_share_of_the_trace_decides_the_number():
    X = data(150)
    spectrum = centred_spectrum(pairwise_kernels(X, metric="rbf", gamma=0.1))
    wanted = int(np.searchsorted(np.cumsum(spectrum) / spectrum.sum(), 0.8)) + 1
    assert ek.KernelPCA(0.8, kernel="rbf", gamma=0.1).fit(X).n_components_ == wanted
    many = data(700)
    spectrum = centred_spectrum(pairwise_kernels(many, metric="rbf", gamma=0.01))
    wanted = int(np.searchsorted(np.cumsum(spectrum) / spectrum.sum(), 0.8)) + 1
    assert ek.decompose(many, "kernel_pca", explain=0.8, gamma=0.01).k == wanted


def test_gamma_of_the_median_distance():
    X = data(30)
    pairs = np.triu_indices(30, 1)
    squares = ((X[:, None] - X) ** 2).sum(axis=2)[pairs]
    sums = np.abs(X[:, None] - X).sum(axis=2)[pairs]
    found = {
        kernel: ek.KernelPCA(2, kernel=kernel, gamma="median").fit(X).gamma_ for kernel in ("rbf", "laplacian", "poly")
    }
    assert found["rbf"] == pytest.approx(0.5 / np.median(squares))
    assert found["laplacian"] == pytest.approx(1.0 / np.median(sums))
    assert found["poly"] == pytest.approx(1.0 / np.mean((X**2).sum(axis=1)))


def test_float32_stays_float32():
    X = data(120).astype(np.float32)
    model = ek.KernelPCA(3, kernel="rbf").fit(X)
    assert model.eigenvectors_.dtype == model.transform(X).dtype == np.float32
    exact = ek.KernelPCA(3, kernel="rbf").fit(X.astype(np.float64))
    np.testing.assert_allclose(model.eigenvalues_, exact.eigenvalues_, rtol=1e-5)


def test_the_answer_does_not_depend_on_the_number_of_threads():
    from threadpoolctl import threadpool_limits

    X = data(1100)
    with threadpool_limits(2):
        two = ek.decompose(X, "kernel_pca", k=2, gamma=0.1, solver="lanczos")
    with threadpool_limits(1):
        one = ek.decompose(X, "kernel_pca", k=2, gamma=0.1, solver="lanczos")
    np.testing.assert_allclose(one.values, two.values, rtol=1e-12)


def test_models_are_saved_and_loaded(tmp_path):
    X = data(60)
    for kernel in ("rbf", "linear", "cosine"):
        d = ek.decompose(X, "kernel_pca", k=2, kernel=kernel)
        d.save(tmp_path / f"{kernel}.eckart")
        again = ek.load(tmp_path / f"{kernel}.eckart")
        np.testing.assert_array_equal(ek.project(again, X), ek.project(d, X))
        np.testing.assert_array_equal(ek.reconstruct(again, ek.project(again, X)), ek.reconstruct(d, ek.project(d, X)))


def test_correlations_are_those_of_numpy():
    X = np.hstack([data(90), np.full((90, 1), 7.0)])
    model = ek.KernelPCA(3, kernel="rbf", gamma=0.1).fit(X)
    wanted = np.corrcoef(np.hstack([X[:, :5], model.transform(X)]).T)[:5, 5:]
    np.testing.assert_allclose(model.correlations_[:5], wanted, atol=1e-10)
    assert np.all(model.correlations_[5] == 0)
    np.testing.assert_allclose(model.column_correlations(X), model.correlations_, atol=1e-10)


@given(seed=st.integers(0, 10**6), kernel=st.sampled_from(sorted(GAMMA)))
def test_the_order_of_rows_does_not_matter(seed, kernel):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((20, 3)) * [3.0, 2.0, 1.0]
    order = rng.permutation(20)
    first = ek.decompose(X, "kernel_pca", k=2, kernel=kernel, gamma=0.1)
    second = ek.decompose(X[order], "kernel_pca", k=2, kernel=kernel, gamma=0.1)
    np.testing.assert_allclose(first.values, second.values, rtol=1e-9)
    np.testing.assert_allclose(np.abs(ek.project(first, X)), np.abs(ek.project(second, X)), atol=1e-5)


@given(seed=st.integers(0, 10**6), gamma=st.floats(1e-3, 10.0), rows=st.integers(5, 40))
def test_bounds_hold_and_scores_have_the_variances_they_claim(seed, gamma, rows):
    X = np.random.default_rng(seed).standard_normal((rows, 4))
    d = ek.decompose(X, "kernel_pca", k=3, gamma=gamma, left=True)
    spectrum = centred_spectrum(pairwise_kernels(X, metric="rbf", gamma=gamma))
    assert np.all(d.certificate.lower**2 <= spectrum[:3] + 1e-13)
    assert np.all(d.certificate.upper**2 >= spectrum[:3] - 1e-13)
    scores = np.asarray(d.left) * np.asarray(d.values)
    np.testing.assert_allclose(scores.T @ scores, np.diag(spectrum[:3]), atol=1e-9)
    np.testing.assert_allclose(scores.mean(axis=0), 0.0, atol=1e-12)


@pytest.mark.parametrize("kernel", ["rbf", "poly", "laplacian", "cosine", "linear"])
@pytest.mark.parametrize("solver", ["direct", "lanczos", "cholesky"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_tensors_give_the_same_and_stay_tensors(kernel, solver, dtype):
    torch = pytest.importorskip("torch")
    rng = np.random.default_rng(0)
    X = np.sin(rng.uniform(-1, 1, (600, 2)) @ rng.standard_normal((2, 5)) * 2.0).astype(dtype)
    tensor = torch.from_numpy(X.copy())
    options = {"k": 3, "kernel": kernel, "solver": solver, "left": True, "approximation_error": 1e-5}
    here, there = ek.decompose(X, "kernel_pca", **options), ek.decompose(tensor, "kernel_pca", **options)
    arrays = [there.values, there.left, there.right, there.details.correlations]
    arrays += [
        getattr(there.details, name)
        for name in ("support", "dual", "support_scores", "offset")
        if getattr(there.details, name) is not None
    ]
    assert all(isinstance(array, torch.Tensor) for array in arrays)
    exact = {"float32": 1e-5, "float64": 1e-9}[dtype]
    np.testing.assert_allclose(there.values.numpy(), here.values, rtol=exact)
    np.testing.assert_allclose(there.left.numpy(), here.left, atol=exact)
    # Rounding is measured with random columns, so the bounds of float32 data differ a little.
    np.testing.assert_allclose(there.certificate.explained, here.certificate.explained, atol=5e-6)
    np.testing.assert_allclose(there.details.correlations.numpy(), here.details.correlations, atol=1e-5)
    scores = ek.project(there, tensor[:20])
    assert scores.dtype == tensor.dtype
    np.testing.assert_allclose(scores.numpy(), ek.project(here, X[:20]), atol=10 * exact)
    np.testing.assert_allclose(ek.project(here, tensor[:20]).numpy(), ek.project(here, X[:20]), atol=10 * exact)


@pytest.mark.parametrize("how", ["ridge", "fixed_point", "neighbours"])
def test_the_way_back_of_tensors(how):
    torch = pytest.importorskip("torch")
    rng = np.random.default_rng(0)
    X = np.sin(rng.uniform(-1, 1, (400, 2)) @ rng.standard_normal((2, 5)) * 2.0)
    tensor = torch.from_numpy(X)
    here = ek.KernelPCA(3, kernel="rbf", gamma=1.0, preimage=how, fit_inverse_transform=True).fit(X)
    there = ek.KernelPCA(3, kernel="rbf", gamma=1.0, preimage=how, fit_inverse_transform=True).fit(tensor)
    assert isinstance(there.fit_transform(tensor), torch.Tensor)
    wanted, found = here.preimages(here.transform(X[:30])), there.preimages(there.transform(tensor[:30]))
    assert all(isinstance(array, torch.Tensor) for array in (found.rows, found.distances, found.lengths))
    np.testing.assert_allclose(found.rows.numpy(), wanted.rows, atol=1e-4)
    np.testing.assert_allclose(found.distances.numpy(), wanted.distances, atol=1e-4)
    np.testing.assert_allclose(found.lengths.numpy(), wanted.lengths, atol=1e-8)


def test_linear_rows_from_tensors():
    torch = pytest.importorskip("torch")
    X = np.random.default_rng(0).standard_normal((80, 4)).astype(np.float32)
    model = ek.KernelPCA(4).fit(torch.from_numpy(X))
    back = model.inverse_transform(model.transform(torch.from_numpy(X)))
    assert isinstance(back, torch.Tensor)
    np.testing.assert_allclose(back.numpy(), X, atol=1e-5)
    assert float(model.preimages(model.transform(torch.from_numpy(X))).distances.max()) == 0.0


def test_a_model_of_tensors_refuses_other_libraries():
    torch = pytest.importorskip("torch")
    X = np.random.default_rng(0).standard_normal((80, 4))
    d = ek.decompose(torch.from_numpy(X), "kernel_pca", k=2)
    with pytest.raises(InputError, match=r"fitted on torch \(cpu\), but these data are on numpy"):
        ek.project(d, X)


def test_functions_of_rows_are_called_on_the_host():
    torch = pytest.importorskip("torch")
    X = np.random.default_rng(0).standard_normal((40, 3))
    d = ek.decompose(torch.from_numpy(X), "kernel_pca", k=2, kernel=lambda a, b: float(a @ b) ** 2)
    assert isinstance(d.values, np.ndarray)
    assert any("called on the host" in note for note in d.notes)
    assert ek.project(d, torch.from_numpy(X[:3])).shape == (3, 2)


def test_missing_values_in_tensors_are_named():
    torch = pytest.importorskip("torch")
    tensor = torch.ones(6, 3)
    tensor[4, 1] = float("nan")
    with pytest.raises(InputError, match="row 5, column 2"):
        ek.decompose(tensor, "kernel_pca", k=2)


def _kernel(scale):
    points = np.random.default_rng(0).standard_normal((40, 6)) * [5, 4, 3, 2, 1, 0.5]
    kernel = points @ points.T * scale
    return (kernel + kernel.T) / 2.0


@pytest.mark.parametrize("solver", ["direct", "lanczos", "cholesky"])
@pytest.mark.parametrize("scale", [1e-100, 1.0, 1e100])
def test_precomputed_kernels_of_any_size(scale, solver):
    """The bounds hold the eigenvalues of the same kernel at size 1."""
    options = {"kernel": "precomputed", "solver": solver, "k": 3, "approximation_error": 1e-3}
    d = ek.decompose(_kernel(scale), "kernel_pca", **options)
    centre = np.eye(40) - 1 / 40
    wanted = np.sqrt(np.linalg.eigvalsh(centre @ _kernel(1.0) @ centre)[:-4:-1])
    assert (d.certificate.lower / scale**0.5 <= wanted * (1 + 1e-12)).all()
    assert (wanted * (1 - 1e-12) <= d.certificate.upper / scale**0.5).all()


@pytest.mark.parametrize("solver", ["direct", "lanczos", "cholesky"])
@pytest.mark.parametrize("scale", [1e-320, 1e-170, 1e150])
def test_precomputed_kernels_out_of_range_are_refused(scale, solver):
    with pytest.raises(InputError, match=r"Multiply the kernel by a (small|large) number"):
        ek.decompose(_kernel(scale), "kernel_pca", kernel="precomputed", solver=solver, k=3)


@pytest.mark.parametrize("kernel", ["linear", "cosine"])
@pytest.mark.parametrize("solver", ["direct", "lanczos", "cholesky"])
def test_tiny_rows_need_no_width_where_the_kernel_has_none(kernel, solver):
    points = np.random.default_rng(0).standard_normal((40, 6)) * [5, 4, 3, 2, 1, 0.5]
    d = ek.decompose(points * 1e-160, "kernel_pca", kernel=kernel, solver=solver, k=3)
    lengths = np.linalg.norm(points, axis=1, keepdims=True)
    rows, unit = (points / lengths, 1.0) if kernel == "cosine" else (points, 1e-160)
    wanted = np.linalg.svd(rows - rows.mean(axis=0), compute_uv=False)[:3]
    np.testing.assert_allclose(d.values / unit, wanted, rtol=1e-9)


@pytest.mark.parametrize("scale", [1e-140, 1e-100, 1e100, 1e140])
def test_the_width_of_extreme_rows(scale):
    """gamma is that of the rows at size 1 over the square of the scale."""
    points = np.random.default_rng(0).standard_normal((60, 3))
    options = {"kernel": "rbf", "gamma": "median", "k": 2}
    d = ek.decompose(points * scale, "kernel_pca", **options)
    np.testing.assert_allclose(d.values, ek.decompose(points, "kernel_pca", **options).values, rtol=1e-9)


@pytest.mark.parametrize("scale", [1e-170, 1e170])
def test_a_width_out_of_range_is_refused(scale):
    """Squares of distances vanish, or overflow: not a reason to take 1, or 0, for gamma."""
    points = np.random.default_rng(0).standard_normal((60, 3)) * scale
    with pytest.raises(InputError, match="Multiply the data by a constant"):
        ek.decompose(points, "kernel_pca", kernel="rbf", gamma="median", k=2)


@pytest.mark.filterwarnings("ignore::eckart.errors.AccuracyWarning")
@pytest.mark.parametrize("max_passes", [1, 2, 4, 100])
@pytest.mark.parametrize("kernel", ["linear", "cosine"])
def test_residuals_are_those_of_the_returned_vectors(kernel, max_passes):
    """Vectors of points from those of columns have residuals larger by the ratio of the singular values."""
    points = np.random.default_rng(8).standard_normal((48, 34)) * np.geomspace(1, 0.1, 34)
    d = ek.decompose(points, "kernel_pca", kernel=kernel, solver="lanczos", k=11, max_passes=max_passes, left=True)
    rows = points / np.linalg.norm(points, axis=1, keepdims=True) if kernel == "cosine" else points
    rows = rows - rows.mean(axis=0)
    whole = rows @ rows.T
    residuals = np.linalg.norm(whole @ d.left - d.left * d.values**2, axis=0) / np.linalg.norm(whole, 2)
    assert (residuals <= d.certificate.residuals + 1e-14).all()


def test_what_float32_tiles_cannot_prove_is_computed_in_float64():
    """4,200 points of which 40 differ: the basis is soon complete, so more steps would not lower rounding errors."""
    rng = np.random.default_rng(1)
    times, points = rng.multinomial(4160, np.full(40, 1 / 40)) + 1, rng.standard_normal((40, 3))
    d = ek.decompose(np.repeat(points, times, axis=0), "kernel_pca", k=3, kernel="rbf", gamma=0.3, solver="lanczos")
    share = times / times.sum()
    kernel = np.exp(-0.3 * ((points[:, None] - points) ** 2).sum(axis=2))
    kernel = kernel - share @ kernel - (kernel @ share)[:, None] + share @ kernel @ share
    roots = np.sqrt(times)
    exact = np.linalg.eigvalsh(roots[:, None] * kernel * roots)[::-1][:3]
    assert d.certificate.proved
    assert np.all(d.certificate.lower**2 <= exact * (1 + 1e-13))
    assert np.all(exact * (1 - 1e-13) <= d.certificate.upper**2)


def test_a_kernel_without_positive_eigenvalues_is_refused_in_words():
    points = np.random.default_rng(4).normal(size=(9, 2))
    distances = np.linalg.norm(points[:, None] - points[None], axis=2)
    for solver in ("auto", "dense", "arpack"):
        with pytest.raises(InputError, match=r"\(there are no significant positive eigenvalues\)"):
            ek.KernelPCA(2, kernel="precomputed", eigen_solver=solver).fit(distances)
