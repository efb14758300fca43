"""Randomly pivoted Cholesky: the error is exact, the bounds hold, the scores agree."""

import warnings

import numpy as np
import pytest
from sklearn.metrics.pairwise import pairwise_kernels

import eckart as ek
from eckart.errors import AccuracyWarning
from eckart.kernel_pca.cholesky import pivoted_cholesky
from eckart.kernel_pca.kernel_functions import Kernel
from eckart.kernel_pca.kernel_matrix import KernelMatrix


def smooth(rows, seed=0):
    rng = np.random.default_rng(seed)
    plane = rng.uniform(-1, 1, (rows, 2))
    return np.sin(plane @ rng.standard_normal((2, 6)) * 2.0)


@pytest.mark.parametrize("precision", ["float32", "float64"])
def test_the_error_is_the_trace_of_what_is_missing(precision):
    X = smooth(500)
    K = pairwise_kernels(X, metric="rbf", gamma=1.0)
    matrix = KernelMatrix(Kernel("rbf", 1.0), X, precision=precision)
    rng = np.random.default_rng(0)
    made = pivoted_cholesky(matrix, error=0.01, most=400, rng=rng, precision=precision)
    rest = K - made.factor.T.astype(float) @ made.factor
    assert made.error <= 0.01 * made.trace
    assert made.error == pytest.approx(np.trace(rest), rel=1e-3 if precision == "float32" else 1e-9)
    assert np.linalg.eigvalsh(rest)[0] >= (-1e-4 if precision == "float32" else -1e-11)
    assert len(np.unique(made.pivots)) == len(made.pivots)
    np.testing.assert_allclose(rest[made.pivots], 0.0, atol=1e-3 if precision == "float32" else 1e-10)


def test_pivots_are_drawn_in_proportion_to_the_diagonal():
    # With a diagonal matrix every row is independent of the others: the first pivots follow the diagonal.
    weights = np.array([8.0, 4.0, 2.0, 1.0, 1.0])
    matrix = KernelMatrix(Kernel("precomputed"), np.diag(weights))
    rng = np.random.default_rng(0)
    firsts = [pivoted_cholesky(matrix, error=0.01, most=1, rng=rng).pivots[0] for _ in range(4000)]
    share = np.bincount(firsts, minlength=5) / 4000
    np.testing.assert_allclose(share, weights / weights.sum(), atol=0.03)


def test_bounds_hold_for_the_exact_kernel():
    X = smooth(900)
    K = pairwise_kernels(X, metric="rbf", gamma=1.0)
    H = np.eye(900) - 1.0 / 900
    spectrum = np.linalg.eigvalsh(H @ K @ H)[::-1]
    d = ek.decompose(X, "kernel_pca", k=5, gamma=1.0, solver="cholesky", approximation_error=0.02)
    assert np.all(d.certificate.lower**2 <= spectrum[:5])
    assert np.all(d.certificate.upper**2 >= spectrum[:5])
    low, high = d.certificate.explained
    assert low <= spectrum[:5].sum() / spectrum.sum() <= high
    assert high - low < 0.05
    assert 0 < d.details.approximation_error <= 0.02
    assert "leaves out" in d.certificate.summary


@pytest.mark.parametrize("error", [0.02, 1e-5])
def test_projected_rows_have_the_scores_of_the_fit(error):
    X = smooth(700)
    d = ek.decompose(X, "kernel_pca", k=4, gamma=1.0, solver="cholesky", approximation_error=error, left=True)
    scores = np.asarray(d.left * d.values)
    np.testing.assert_allclose(ek.project(d, X), scores, atol=2e-4 if error > 1e-3 else 1e-8)
    exact = ek.decompose(X, "kernel_pca", k=4, gamma=1.0)
    if error < 1e-3:
        np.testing.assert_allclose(np.abs(scores), np.abs(ek.project(exact, X)), atol=1e-3)


def test_too_small_a_rank_is_said():
    with pytest.warns(AccuracyWarning, match="approximation of rank 5 leaves out"):
        d = ek.decompose(smooth(600), "kernel_pca", k=2, gamma=5.0, solver="cholesky", max_rank=5)
    assert not d.certificate.proved


def test_precomputed_kernels_are_approximated_too():
    X = smooth(300)
    K = pairwise_kernels(X, metric="rbf", gamma=1.0)
    d = ek.decompose(K, "kernel_pca", k=3, kernel="precomputed", solver="cholesky", approximation_error=1e-6)
    exact = ek.decompose(X, "kernel_pca", k=3, gamma=1.0)
    np.testing.assert_allclose(d.values, exact.values, rtol=1e-5)
    np.testing.assert_allclose(np.abs(ek.project(d, K[:9])), np.abs(ek.project(exact, X[:9])), atol=1e-4)


def test_as_many_components_as_asked_for_even_when_fewer_rows_hold_the_trace():
    X = smooth(300)
    assert ek.decompose(X, "kernel_pca", k=9, gamma=1e-3, solver="cholesky", approximation_error=0.5).k == 9


def test_the_seed_decides():
    X = smooth(600)
    first, again, other = (
        ek.decompose(X, "kernel_pca", k=2, gamma=1.0, solver="cholesky", rng=seed).values for seed in (1, 1, 2)
    )
    np.testing.assert_array_equal(first, again)
    assert np.any(first != other)


def test_data_beyond_memory_and_work_are_approximated():
    from eckart.kernel_pca.exact import choose
    from eckart.kernel_pca.options import KernelPCAOptions, check_kernel

    def plan(rows, **options):
        given = KernelPCAOptions(**{"k": 20, "left": True, **options})
        return choose((rows, 20), Kernel("rbf"), check_kernel((rows, 20), given))

    assert plan(400).solver == "direct"
    assert plan(8000).solver == "lanczos"
    assert plan(8000).settings["keep"]
    assert not plan(40_000).settings["keep"]
    assert plan(100_000).solver == "cholesky"
    assert plan(3000, k=None).solver == "direct"
    assert plan(30_000, k=None).solver == "cholesky"
    assert plan(100_000).peak_bytes < 2e9
    assert plan(8000, solver="cholesky").solver == "cholesky"


@pytest.mark.parametrize("precision", ["float32", "float64"])
def test_tensors_take_the_same_pivots(precision):
    torch = pytest.importorskip("torch")
    X = smooth(2000)
    made = [
        pivoted_cholesky(
            KernelMatrix(Kernel("rbf", 4.0), data, precision=precision), error=0.002, most=400,
            rng=np.random.default_rng(3), precision=precision,
        )
        for data in (X, torch.from_numpy(X))
    ]  # fmt: skip
    here, there = made
    assert isinstance(there.factor, torch.Tensor)
    np.testing.assert_array_equal(there.pivots, here.pivots)
    # Against float64 itself: F = L^-1 K[pivots, :].
    rows = np.exp(-4.0 * ((X[here.pivots][:, None, :] - X) ** 2).sum(axis=2))
    root = np.linalg.cholesky(rows[:, here.pivots])
    truth = np.linalg.solve(root, rows)
    for found in (here.factor, there.factor.numpy()):
        np.testing.assert_allclose(found, truth, atol=1e-4 if precision == "float32" else 1e-9)
    assert there.error == pytest.approx(here.error, rel=1e-3 if precision == "float32" else 1e-9)


def test_squares_are_taken_off_in_every_library():
    from eckart.kernel_pca.elementwise import subtract_squares

    torch = pytest.importorskip("torch")
    rows = np.random.default_rng(0).standard_normal((70, 9)).astype(np.float32)
    here, there = np.full(9, 100.0), torch.full((9,), 100.0, dtype=torch.float64)
    subtract_squares(here, rows)
    subtract_squares(there, torch.from_numpy(rows))
    np.testing.assert_allclose(there.numpy(), here, rtol=1e-6)


def test_a_card_allows_more():
    from dataclasses import replace

    from eckart.kernel_pca.approximate import rank_limit
    from eckart.kernel_pca.exact import choose
    from eckart.kernel_pca.options import KernelPCAOptions, check_kernel

    settings = check_kernel((100_000, 20), KernelPCAOptions(k=20, left=True))
    card = replace(settings, card=60_000_000_000)
    assert choose((100_000, 20), Kernel("rbf"), card).solver == "lanczos"
    assert choose((100_000, 20), Kernel("rbf"), card).settings["keep"]
    assert choose((2_000_000, 20), Kernel("rbf"), card).solver == "cholesky"
    assert rank_limit(1_000_000, settings) < 1000 < rank_limit(1_000_000, card)


def one_by_one(block, rng, room):
    """Proposals accepted as the text says it, a rank-one change after each."""
    before = np.diagonal(block).copy()
    floor = 1e-12 * float(before.max(initial=0.0))
    lower, chosen = np.zeros_like(block), []
    for j, draw in enumerate(rng.uniform(size=len(block))):
        if len(chosen) < room and before[j] > floor and block[j, j] > max(draw * before[j], floor):
            column = block[:, j] / np.sqrt(block[j, j])
            lower[j:, len(chosen)] = column[j:]
            block = block - np.outer(column, column)
            chosen.append(j)
    return chosen, np.tril(lower[chosen, : len(chosen)])


@pytest.mark.parametrize("seed", range(12))
def test_compiled_triangles_have_the_bits_of_numpy(seed):
    from eckart.kernel_pca.cholesky import _accept
    from eckart.kernel_pca.compiled import inverse_of_triangle

    rng = np.random.default_rng(seed)
    size = int(rng.integers(1, 90))
    X = rng.standard_normal((size, 3))
    X[-1] = X[0]  # a proposal that comes twice
    block = pairwise_kernels(X, metric="rbf", gamma=float(rng.uniform(0.05, 3.0)))
    room = int(rng.integers(1, size + 1))
    wanted, triangle = one_by_one(block.copy(), np.random.default_rng(seed), room)
    chosen, found = _accept(block.copy(), np.random.default_rng(seed), room)
    np.testing.assert_array_equal(chosen, wanted)
    np.testing.assert_array_equal(found, triangle)
    np.testing.assert_allclose(inverse_of_triangle(found) @ found, np.eye(len(found)), atol=1e-9)


@pytest.mark.parametrize(("kernel", "solver"), [("poly", "cholesky"), ("laplacian", "cholesky"), ("rbf", "lanczos")])
def test_tensors_give_the_same_components(kernel, solver):
    torch = pytest.importorskip("torch")
    X = smooth(1100)
    options = {"k": 4, "kernel": kernel, "solver": solver, "approximation_error": 1e-5, "max_rank": 300, "left": True}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AccuracyWarning)
        here = ek.decompose(X, "kernel_pca", **options)
        there = ek.decompose(torch.from_numpy(X), "kernel_pca", **options)
    np.testing.assert_allclose(there.values.numpy(), here.values, rtol=1e-8)
    np.testing.assert_allclose(there.left.numpy(), here.left, atol=1e-7)
    for name in ("dual", "support_scores", "means", "base", "offset"):
        np.testing.assert_allclose(
            getattr(there.details, name).numpy(), getattr(here.details, name), rtol=1e-5, atol=1e-6
        )


def test_a_row_far_out_among_tensors_of_float32():
    # Its exponents need float64, those of the others do not: tiles of both kinds meet.
    torch = pytest.importorskip("torch")
    X = np.random.default_rng(0).standard_normal((1500, 3)).astype(np.float32)
    X[0] *= 30
    options = {"k": 3, "gamma": 0.5, "solver": "cholesky", "approximation_error": 0.05}
    here, there = (ek.decompose(data, "kernel_pca", **options) for data in (X, torch.from_numpy(X)))
    for rows in (slice(0, 40), slice(1, 40)):
        scores = ek.project(there, torch.from_numpy(X[rows]))
        np.testing.assert_allclose(scores.numpy(), ek.project(here, X[rows]), atol=1e-5)


@pytest.mark.parametrize("solver", ["direct", "lanczos", "cholesky"])
@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_tiles_from_differences(solver, dtype, monkeypatch):
    """The way of a GPU's tiles, with PyTorch in the place of the CUDA kernel."""
    torch = pytest.importorskip("torch")
    from eckart.kernel_pca import kernel_functions as kernel
    from eckart.kernel_pca import tiles as cuda_tiles

    made = []

    def rbf(first, second, out, *, lowered):
        assert first.dtype == second.dtype == out.dtype
        argument = -0.5 * ((first[:, None, :] - second[None, :, :]) ** 2).sum(2)
        out[...] = torch.expm1(argument) if lowered else torch.exp(argument)
        made.append(lowered)

    X = smooth(600).astype(dtype)
    X[0] += 40.0  # beyond float32
    options = {"k": 4, "kernel": "rbf", "gamma": 0.3, "solver": solver, "approximation_error": 1e-3}
    here = ek.decompose(X, "kernel_pca", **options)
    monkeypatch.setattr(kernel, "can_compile", lambda array: not isinstance(array, np.ndarray))
    monkeypatch.setattr(cuda_tiles, "usable", lambda array: False)
    monkeypatch.setattr(cuda_tiles, "row_major", lambda array: array.contiguous())
    monkeypatch.setattr(cuda_tiles, "rbf", rbf)
    there = ek.decompose(torch.from_numpy(X), "kernel_pca", **options)
    assert made
    exact = 1e-4 if dtype == "f4" or solver == "cholesky" else 1e-9
    np.testing.assert_allclose(there.values.numpy(), here.values, rtol=exact)
    scores = ek.project(there, torch.from_numpy(X[:50]))
    np.testing.assert_allclose(scores.numpy(), ek.project(here, X[:50]), atol=10 * exact)
