"""On a GPU: the same answers and signs as on the processor. Without one these tests say that they were skipped."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import scipy.sparse as sp

import eckart as ek


def _has_gpu():
    try:
        import torch
    except ImportError:
        return False
    return torch.cuda.is_available()


pytestmark = pytest.mark.skipif(not _has_gpu(), reason="no GPU here, or no PyTorch that sees it")


def dense(rows=20_000, columns=300, dtype="f4", offset=5.0):
    rng = np.random.default_rng(0)
    return (rng.standard_normal((rows, columns)) * np.linspace(3, 0.1, columns) + offset).astype(dtype)


def sparse(rows=20_000, columns=2_000, dtype="f4"):
    matrix = sp.random_array((rows, columns), density=0.01, format="csr", rng=np.random.default_rng(0))
    return sp.csr_array(matrix, dtype=dtype)


def on_gpu(data, library):
    if library == "torch":
        import torch

        if sp.issparse(data):
            parts = (torch.as_tensor(part).cuda() for part in (data.indptr, data.indices, data.data))
            return torch.sparse_csr_tensor(*parts, size=data.shape)
        return torch.as_tensor(data).cuda()
    cupy = pytest.importorskip("cupy")
    if sp.issparse(data):
        from cupyx.scipy import sparse as device_sparse

        return device_sparse.csr_matrix(sp.csr_matrix(data))
    return cupy.asarray(data)


def host(array):
    from eckart.arrays import to_numpy

    return to_numpy(array)


@pytest.mark.parametrize("library", ["torch", "cupy"])
@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("solver", ["gram", "lanczos"])
@pytest.mark.parametrize("method", ["pca", "svd"])
def test_dense(library, dtype, solver, method):
    data = dense(dtype=dtype)
    here = ek.decompose(data, method, k=5, solver=solver)
    there = ek.decompose(on_gpu(data, library), method, k=5, solver=solver)
    assert type(there.right).__module__.partition(".")[0] == library
    np.testing.assert_allclose(host(there.values), here.values, rtol=1e-5 if dtype == "f4" else 1e-9)
    np.testing.assert_allclose(host(there.right), here.right, atol=1e-3 if dtype == "f4" else 1e-5)
    low, high = there.certificate.explained
    assert low <= high <= 1.0


@pytest.mark.parametrize("library", ["torch", "cupy"])
@pytest.mark.parametrize("how", [("svd", {}), ("pca", {}), ("pca", {"scale": True})])
@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.filterwarnings("ignore:Sparse")
def test_sparse(library, how, turned):
    data = sp.csr_array(sparse().T) if turned else sparse()
    method, options = how
    here = ek.decompose(data, method, k=5, **options)
    there = ek.decompose(on_gpu(data, library), method, k=5, **options)
    np.testing.assert_allclose(host(there.values), here.values, rtol=1e-5)


@pytest.mark.parametrize("library", ["torch", "cupy"])
@pytest.mark.parametrize("width", ["i4", "i8"])
def test_sparse_with_indices_of_any_width(library, width):
    data = sparse()
    data.indptr, data.indices = data.indptr.astype(width), data.indices.astype(width)
    here = ek.decompose(data, "svd", k=3)
    moved = on_gpu(data, library)
    if library == "cupy":
        moved.indptr, moved.indices = moved.indptr.astype(width), moved.indices.astype(width)
    there = ek.decompose(moved, "svd", k=3)
    np.testing.assert_allclose(host(there.values), here.values, rtol=1e-5)
    scores = ek.project(here, data)
    np.testing.assert_allclose(host(ek.project(there, moved)), scores, atol=1e-3 * float(np.abs(scores).max()))


@pytest.mark.parametrize("library", ["torch", "cupy"])
def test_estimators_stay_on_the_device(library):
    data = on_gpu(dense(), library)
    pca = ek.PCA(3).fit(data)
    scores = pca.transform(data)
    assert type(scores).__module__.partition(".")[0] == library
    back = pca.inverse_transform(scores)
    assert tuple(back.shape) == (20_000, 300)


@pytest.mark.parametrize("library", ["torch", "cupy"])
@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("shape", [(5001, 1004, 40), (3000, 3000, 64), (70_001, 516, 8), (9000, 260, 72)])
def test_products_with_few_columns(library, turned, shape):
    """Our kernels against float64: as near as a product in float32, without a bias that bounds would not know."""
    from eckart.arrays import namespace
    from eckart.engine.prepare import Convert
    from eckart.engine.rows import RowBlocks

    rows, columns, width = shape
    data = dense(rows, columns)
    shift = data.mean(axis=0)
    there = on_gpu(data, library)
    float32 = namespace(there).float32
    op = RowBlocks(there, precision="float32", steps=(Convert(float32),)).shifted(on_gpu(shift, library))
    exact = data.astype(float) - shift
    if turned:
        op, exact = op.transposed(), exact.T
    if op.products.skinny(width) is None:
        pytest.skip("the kernels are for Hopper")
    factor = np.random.default_rng(1).standard_normal((exact.shape[1], width)).astype("f4")
    product, truth = host(op.normal(on_gpu(factor, library))), exact.T @ (exact @ factor)
    assert np.linalg.norm(product - truth) <= 2e-6 * np.linalg.norm(truth)
    assert abs(np.vdot(product, truth) / np.vdot(truth, truth) - 1) <= 2e-7
    image = host(op.matmat(on_gpu(factor, library)))
    assert np.linalg.norm(image - exact @ factor) <= 1e-6 * np.linalg.norm(image)
    if not turned:
        moments_and_product = op.moments_and_product(on_gpu(factor, library))
        np.testing.assert_allclose(host(moments_and_product.squares), (exact**2).sum(axis=0), rtol=1e-6)
        np.testing.assert_allclose(
            host(moments_and_product.product), product, rtol=1e-12, atol=1e-9 * np.abs(product).max()
        )


@pytest.mark.parametrize("method", ["pca", "svd"])
@pytest.mark.parametrize("solver", ["gram", "lanczos"])
@pytest.mark.parametrize("kind", ["dense", "sparse"])
@pytest.mark.filterwarnings("ignore:Sparse")
def test_host_data_are_moved_over_whole_or_in_blocks(method, solver, kind, monkeypatch):
    from eckart.engine.backends.cuda import transfer

    data = dense() if kind == "dense" else sparse()
    here = ek.decompose(data, method, k=5, solver=solver)
    whole = ek.decompose(data, method, k=5, solver=solver, device="cuda")
    assert isinstance(whole.right, np.ndarray)  # what came from the host goes back there
    np.testing.assert_allclose(whole.values, here.values, rtol=1e-5)
    monkeypatch.setattr(transfer.DeviceTransfer, "whole", lambda *_: None)  # as if it did not fit
    monkeypatch.setattr(transfer, "BLOCK_BYTES", 2**22)
    blocks = ek.decompose(data, method, k=5, solver=solver, device="cuda")
    np.testing.assert_allclose(blocks.values, here.values, rtol=1e-5)
    np.testing.assert_allclose(blocks.right, here.right, atol=2e-3)
    if kind == "dense" and method == "pca":
        model = ek.PCA(5, device="cuda").fit(data)
        np.testing.assert_allclose(model.singular_values_, here.values, rtol=1e-5)
        assert isinstance(model.transform(data), np.ndarray)


def test_a_card_without_room_takes_smaller_blocks():
    import torch

    data = on_gpu(dense(200_000, 1000), "torch")
    plenty = ek.decompose(data, "pca", k=5, solver="gram")
    torch.cuda.empty_cache()
    used, total = torch.cuda.memory_allocated(), torch.cuda.get_device_properties(0).total_memory
    torch.cuda.set_per_process_memory_fraction((used + 3e8) / total)
    try:
        little = ek.decompose(data, "pca", k=5, solver="gram")
    finally:
        torch.cuda.set_per_process_memory_fraction(1.0)
    np.testing.assert_allclose(host(little.values), host(plenty.values), rtol=1e-6)
    assert any("ran out" in note for note in little.notes)


@pytest.mark.parametrize("seed", range(20))
def test_the_certificate_is_true_on_the_card(seed):
    """Float32, a slow spectrum with near ties: the bounds hold the values of float64 LAPACK."""
    rng = np.random.default_rng(seed)
    values = np.sort(np.r_[np.full(6, 3.0) * (1 + 1e-3 * rng.random(6)), rng.random(1194) * 2.5])[::-1]
    left = np.linalg.qr(rng.standard_normal((4000, 1200)))[0]
    data = ((left * values) @ np.linalg.qr(rng.standard_normal((1200, 1200)))[0].T).astype("f4")
    d = ek.decompose(on_gpu(data, "torch"), "svd", k=8, solver="lanczos", rng=seed)
    truth = np.linalg.svd(data.astype(float), compute_uv=False)
    share = np.sum(truth[:8] ** 2) / np.sum(truth**2)
    low, high = d.certificate.explained
    assert low - 1e-9 <= share <= high + 1e-9
    assert np.all(host(d.certificate.lower) <= truth[:8] * (1 + 1e-9))
    assert np.all(truth[:8] * (1 - 1e-9) <= host(d.certificate.upper))


@pytest.mark.parametrize("library", ["torch", "cupy"])
@pytest.mark.parametrize("size", [1, 2, 31, 32, 33, 56, 64])
def test_small_whitening(library, size):
    """The elimination of one block of threads gives the W of LAPACK's Cholesky factor, and what was seen on the way."""
    from scipy import linalg

    from eckart.engine.backends.cuda import whiten as cuda_whiten

    rng = np.random.default_rng(size)
    columns = (rng.standard_normal((300, size)) @ rng.standard_normal((size, size))) * np.geomspace(1e-6, 1e6, size)
    gram = columns.T @ columns
    lengths = np.sqrt(np.diagonal(gram))
    scaled = gram / np.outer(lengths, lengths)
    root = linalg.cholesky(scaled, lower=True)
    expected = linalg.solve_triangular(root, np.eye(size), lower=True).T
    facts = on_gpu(np.zeros((2, 3)), library)
    whitening, facts = host(cuda_whiten.whiten(on_gpu(gram, library), facts, 1)), host(facts)
    condition = np.linalg.cond(scaled)
    np.testing.assert_allclose(whitening * lengths[:, None], expected, atol=1e-14 * condition * np.abs(expected).max())
    off_diagonal = np.abs(scaled).sum(axis=1).max() - 1.0
    assert not facts[0].any()
    np.testing.assert_allclose(
        facts[1], [lengths.min(), 1 / np.linalg.norm(expected), off_diagonal], rtol=1e-9, atol=1e-12
    )


@pytest.mark.parametrize("library", ["torch", "cupy"])
@pytest.mark.parametrize("spoil", [np.nan, 0.0])
def test_small_whitening_says_what_is_wrong(library, spoil):
    from eckart.engine.backends import orthogonal
    from eckart.engine.backends.cuda import orthogonal as orthogonal_device

    block = np.random.default_rng(0).standard_normal((500, 40))
    block[:, 7] = spoil
    assert not orthogonal_device.orthonormalized(on_gpu(block, library)).good(0.0)
    block[:, 7] = block[:, 3]  # dependent: one direction is left out
    basis = host(orthogonal.orthonormalize(on_gpu(block, library)))
    assert basis.shape == (500, 39)
    np.testing.assert_allclose(basis.T @ basis, np.eye(39), atol=1e-12)


@pytest.mark.parametrize("library", ["torch", "cupy"])
def test_directions_that_run_out_on_the_card(library):
    rng = np.random.default_rng(1)
    data = rng.standard_normal((3000, 4)) @ rng.standard_normal((4, 900))
    d = ek.decompose(on_gpu(data, library), "svd", k=6, solver="lanczos", rng=0)
    truth = np.linalg.svd(data, compute_uv=False)
    np.testing.assert_allclose(host(d.values), truth[:6], atol=1e-10 * truth[0])
    assert np.all(truth[:6] <= host(d.certificate.upper) * (1 + 1e-9) + 1e-9)


@pytest.mark.parametrize("library", ["torch", "cupy"])
@pytest.mark.parametrize("kind", ["dense", "sparse"])
@pytest.mark.parametrize("rule", ["row", "column"])
@pytest.mark.filterwarnings("ignore:Sparse")  # PyTorch calls its sparse tensors a trial, once
def test_bounds_hold_where_one_row_or_column_rules(library, kind, rule):
    for seed in range(5):
        rng = np.random.default_rng(seed)
        data = (rng.standard_normal((4000, 400)) * np.geomspace(1, 0.05, 400)).astype("f4")
        data = data * (rng.random(data.shape) < 0.2) if kind == "sparse" else data
        data[(3, slice(None)) if rule == "row" else (slice(None), 0)] *= np.float32(60.0)
        d = ek.decompose(
            on_gpu(sp.csr_array(data) if kind == "sparse" else data, library), "svd", k=4, solver="lanczos"
        )
        truth = np.linalg.svd(data.astype(float), compute_uv=False)
        assert np.all(host(d.certificate.lower) <= truth[:4] * (1 + 1e-12))
        assert np.all(truth[:4] * (1 - 1e-12) <= host(d.certificate.upper))
        low, high = d.certificate.explained
        assert low - 1e-12 <= np.sum(truth[:4] ** 2) / np.sum(truth**2) <= high + 1e-12


def test_data_of_another_device_are_refused():
    data = dense(2000, 50)
    there = ek.PCA(3).fit(on_gpu(data, "torch"))
    with pytest.raises(ValueError, match=r"cuda:0.*numpy|numpy.*cuda:0"):
        there.transform(data)


@pytest.mark.parametrize("library", ["torch", "cupy"])
@pytest.mark.parametrize("k", [6, 12])
@pytest.mark.parametrize("shape", [(4000, 1200), (1200, 4000)])
def test_more_axes_than_there_are(library, k, shape):
    """Rank 6 in float32: two steps in each precision suffice, and there is no warning."""
    rng = np.random.default_rng(k)
    data = (rng.standard_normal((shape[0], 6)) @ rng.standard_normal((6, shape[1]))).astype("f4")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        d = ek.decompose(on_gpu(data, library), "svd", k=k, solver="lanczos")
    truth = np.linalg.svd(data.astype(float), compute_uv=False)[:k]
    assert d.info.steps <= 4
    np.testing.assert_allclose(host(d.values)[:6], truth[:6], rtol=1e-6)
    assert np.all(host(d.certificate.upper) >= truth * (1 - 1e-9))


@pytest.mark.parametrize("library", ["torch", "cupy"])
def test_dependence_that_no_pivot_shows(library):
    """Kahan's matrix: unit columns that are all but dependent, though no pivot of their Cholesky factor is small."""
    from eckart.engine.backends import orthogonal
    from eckart.engine.backends.cuda import orthogonal as orthogonal_device

    triangle = np.eye(24) - np.sqrt(1.0 - 0.763**2) * np.triu(np.ones((24, 24)), 1)
    columns = np.vstack([0.763 ** np.arange(24)[:, None] * triangle, np.zeros((1000, 24))])
    assert not orthogonal_device.orthonormalized(on_gpu(columns, library)).good(0.0)
    found = host(orthogonal.orthonormalize(on_gpu(columns, library)))
    assert found.shape[1] < 24
    np.testing.assert_allclose(found.T @ found, np.eye(found.shape[1]), atol=1e-12)


@pytest.mark.parametrize("library", ["torch", "cupy"])
@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("form", ["rows", "columns", "strided", "sparse"])
def test_the_digest_is_that_of_the_host(library, dtype, form):
    from eckart.engine.digest import begin_digest, digest
    from eckart.io.open_matrix import open_matrix

    for rows, columns in ((1, 1), (3001, 37), (37, 3001), (500, 64)):
        data = sparse(rows, columns, dtype) if form == "sparse" else dense(rows, columns, dtype)
        there = on_gpu(data, library)
        if form == "columns":
            there = on_gpu(np.ascontiguousarray(data.T), library).T
        if form == "strided":
            data, there = data[::3], there[::3]
        matrix = open_matrix(there).matrix
        begin_digest(matrix)
        assert digest(matrix) == digest(open_matrix(data).matrix)
