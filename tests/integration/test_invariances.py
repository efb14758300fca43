"""What must not change the answer: scale, order, offset, storage, blocks, workers, the way to a file and back."""

import subprocess
import sys
import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as budget
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from scipy import sparse
from threadpoolctl import threadpool_limits

import eckart as ek
from eckart.engine import rows as row_blocks
from tests.samples import same

SOLVERS = ("direct", "gram", "lanczos")
PROMISE = {"direct": 1e-13, "gram": 1e-13, "lanczos": 1e-9}
"""Accuracy of the squares of the wanted singular values, relative to the largest (to the last, for lanczos)."""


def table(rows=150, columns=30, seed=0, offset=0.0):
    """Separated values, so that every axis is determined."""
    rng = np.random.default_rng(seed)
    count = min(rows, columns)
    left, right = (np.linalg.qr(rng.standard_normal((n, count)))[0] for n in (rows, columns))
    return (left * 0.8 ** np.arange(count)) @ right.T + offset


def thin_table(rows=300, columns=60, seed=0):
    table = sparse.random_array((rows, columns), density=0.1, rng=np.random.default_rng(seed), format="csr")
    return sparse.csr_array(table @ sparse.diags_array(0.9 ** np.arange(columns)))


def assert_same(first, second, tolerance, *, vectors=True):
    """Values to the promise; vectors up to what the promise and the gaps (a factor 0.8) leave open."""
    np.testing.assert_allclose(first.values, second.values, rtol=tolerance, atol=tolerance * float(second.values[0]))
    if vectors:
        np.testing.assert_allclose(first.right, second.right, atol=100 * tolerance**0.5 if tolerance > 1e-10 else 1e-10)


tables = arrays.arrays(
    np.float64,
    st.tuples(st.integers(2, 24), st.integers(1, 12)),
    elements=st.floats(-100, 100, allow_nan=False).map(lambda x: round(x, 3)),
)


@pytest.mark.filterwarnings("ignore::eckart.errors.DataWarning")
@pytest.mark.parametrize("solver", SOLVERS)
@budget(max_examples=25)
@given(data=tables, power=st.integers(-900, 900))
def test_powers_of_two_scale_exactly(solver, data, power):
    """Factors are the same bits, values are multiplied by the power; so far as no entry leaves the range."""
    scaled = np.ldexp(data, power)
    safe = 2.0**-300 < np.abs(scaled).max(initial=0.0) < 2.0**300
    first, second = (ek.decompose(x, "svd", solver=solver) for x in (data, scaled))
    if safe:
        np.testing.assert_array_equal(first.right, second.right)
        np.testing.assert_array_equal(np.ldexp(first.values, power), second.values)
    else:
        level = float(first.values[0])
        np.testing.assert_allclose(np.ldexp(second.values, -power), first.values, atol=1e-7 * level, rtol=1e-12)


@pytest.mark.filterwarnings("ignore::eckart.errors.DataWarning")
@pytest.mark.parametrize("method", ["svd", "pca"])
@budget(max_examples=40)
@given(data=tables, seed=st.integers(0, 99))
def test_order_of_rows_and_columns(method, data, seed):
    rng = np.random.default_rng(seed)
    rows, columns = rng.permutation(data.shape[0]), rng.permutation(data.shape[1])
    d = ek.decompose(data, method, solver="direct")
    size = float(np.abs(data).max(initial=0.0)) * data.size**0.5
    for other in (data[rows], data[:, columns]):
        np.testing.assert_allclose(ek.decompose(other, method, solver="direct").values, d.values, atol=1e-13 * size)


@pytest.mark.filterwarnings("ignore::eckart.errors.DataWarning")
@budget(max_examples=40)
@given(data=tables)
def test_transposition(data):
    size = float(np.abs(data).max(initial=0.0)) * data.size**0.5
    for solver in ("direct", "gram"):
        d, transposed = (ek.decompose(x, "svd", solver=solver, left=True) for x in (data, data.T))
        np.testing.assert_allclose(d.values, transposed.values, atol=1e-13 * size)
        rebuilt = (transposed.right * transposed.values) @ transposed.left.T
        np.testing.assert_allclose(rebuilt, data, atol=1e-12 * size)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("method", ["svd", "pca"])
def test_rows_in_another_order(solver, method):
    data = table(offset=0.3 if method == "pca" else 0.0)
    order = np.random.default_rng(1).permutation(len(data))
    first, second = (ek.decompose(x, method, k=4, solver=solver, left=True) for x in (data, data[order]))
    assert_same(first, second, PROMISE[solver])
    tolerance = 1e-9 if solver != "lanczos" else 1e-2
    np.testing.assert_allclose(first.left[order], second.left, atol=tolerance)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("method", ["svd", "pca"])
def test_columns_in_another_order(solver, method):
    data = table(offset=0.3 if method == "pca" else 0.0)
    order = np.random.default_rng(1).permutation(data.shape[1])
    first, second = (ek.decompose(x, method, k=4, solver=solver) for x in (data, data[:, order]))
    np.testing.assert_allclose(first.values, second.values, rtol=PROMISE[solver])
    np.testing.assert_allclose(first.right[order], second.right, atol=1e-2 if solver == "lanczos" else 1e-10)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("shape", [(150, 30), (30, 150)])
def test_a_constant_per_column(solver, shape):
    """Powers of two, so that the sums are exact: nothing is left of them after centring."""
    data = np.round(table(*shape), 6)
    grid = np.ldexp(np.round(np.ldexp(data, 20)), -20)
    offset = 2.0 ** np.random.default_rng(0).integers(-3, 12, shape[1])
    first, second = (ek.decompose(x, "pca", k=4, solver=solver) for x in (grid, grid + offset))
    assert_same(first, second, max(PROMISE[solver], 1e-11))
    np.testing.assert_allclose(second.mean - offset, first.mean, atol=1e-12)


@pytest.mark.parametrize("solver", ["gram", "lanczos"])
@pytest.mark.parametrize("method", ["svd", "pca"])
@pytest.mark.parametrize("shape", [(5000, 20), (20, 5000)])
def test_blocks(monkeypatch, solver, method, shape):
    data = table(*shape, offset=0.5 if method == "pca" else 0.0)
    whole = ek.decompose(data, method, k=4, solver=solver)
    for block_bytes, segments in ((2**10, 8), (2**30, 1), (2**16, 3), (2**20, 64)):
        monkeypatch.setattr("eckart.engine.backends.products._BLOCK_BYTES", block_bytes)
        monkeypatch.setattr("eckart.engine.backends.products.MOST_SEGMENTS", segments)
        assert_same(ek.decompose(data, method, k=4, solver=solver), whole, PROMISE[solver])


FORMATS = ("csr", "csc", "coo", "bsr", "dia", "dok", "lil")


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("method", ["svd", "pca"])
@pytest.mark.parametrize("shape", [(300, 60), (60, 300)])
def test_sparse_equals_dense(solver, method, shape):
    thin = thin_table() if shape[0] > shape[1] else sparse.csr_array(thin_table().T)
    first, second = (ek.decompose(x, method, k=5, solver=solver, left=True) for x in (thin, thin.toarray()))
    np.testing.assert_allclose(first.values, second.values, rtol=1e-10)
    np.testing.assert_allclose(np.abs(np.sum(first.right * second.right, axis=0)), 1.0, atol=1e-6)
    np.testing.assert_allclose(ek.project(first, thin), ek.project(first, thin.toarray()), atol=1e-12)


@pytest.mark.parametrize("kind", ["array", "matrix"])
@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("solver", SOLVERS)
def test_sparse_formats(solver, name, kind):
    thin = thin_table(80, 20)
    other = getattr(sparse, f"{name}_{kind}")(thin)
    assert same_bits(ek.decompose(other, "pca", k=3, solver=solver), ek.decompose(thin, "pca", k=3, solver=solver))


def same_bits(first, second):
    names = ("values", "right", "left", "mean", "scale")
    return all(same(getattr(first, name), getattr(second, name)) for name in names)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("change", ["int64", "zeros", "duplicates", "unsorted"])
def test_sparse_storage(solver, change):
    thin = thin_table(80, 20)
    if change == "int64":
        other = sparse.csr_array(thin)
        other.indices, other.indptr = other.indices.astype(np.int64), other.indptr.astype(np.int64)
    elif change == "zeros":
        row, column = np.argwhere(thin.toarray() == 0.0)[17]
        coo = thin.tocoo()
        entries = np.r_[coo.data, 0.0], (np.r_[coo.row, row], np.r_[coo.col, column])
        other = sparse.csr_array(entries, shape=thin.shape)
        assert other.nnz == thin.nnz + 1
    elif change == "duplicates":
        coo = thin.tocoo()
        twice = np.r_[coo.data / 2, coo.data / 2], (np.r_[coo.row, coo.row], np.r_[coo.col, coo.col])
        other = sparse.coo_array(twice, shape=thin.shape)
        assert other.nnz == 2 * thin.nnz
    else:
        other = sparse.csr_array(sparse.csr_array(thin.T).T.tocsr())
        for i in range(80):
            part = slice(other.indptr[i], other.indptr[i + 1])
            other.indices[part], other.data[part] = other.indices[part][::-1], other.data[part][::-1]
        other.has_sorted_indices = False
        assert not sparse.csr_array((other.data, other.indices, other.indptr)).has_canonical_format
    assert_same(
        ek.decompose(other, "svd", k=3, solver=solver), ek.decompose(thin, "svd", k=3, solver=solver), PROMISE[solver]
    )


def layouts(data, folder):
    wide = np.empty((2 * data.shape[0], 3 * data.shape[1]))
    wide[::2, ::3] = data
    frozen = data.copy()
    frozen.flags.writeable = False
    path = folder / "table.npy"
    np.save(path, data)
    return {
        "F": np.asfortranarray(data),
        "strided": wide[::2, ::3],
        "reversed": data[::-1].copy()[::-1],
        "read-only": frozen,
        "memmap": np.load(path, mmap_mode="r"),
        "big-endian": data.astype(">f8"),
        "file": path,
        "list": data.tolist(),
    }


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("method", ["svd", "pca"])
def test_layouts(tmp_path, solver, method):
    data = np.round(table(offset=0.5), 9)
    wanted = ek.decompose(data, method, k=4, solver=solver)
    for name, other in layouts(data, tmp_path).items():
        d = ek.decompose(other, method, k=4, solver=solver)
        # BLAS may add in another order for another layout: one unit of rounding, amplified by the gaps.
        np.testing.assert_allclose(d.values, wanted.values, rtol=1e-13 if solver != "lanczos" else 1e-9, err_msg=name)
        assert_same(d, wanted, PROMISE[solver])
        assert d.values.dtype.isnative


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_frames(library):
    module = pytest.importorskip(library)
    data = np.round(table(60, 5), 6)
    names = [f"c{i}" for i in range(5)]
    columns = {name: data[:, i] for i, name in enumerate(names)}
    frame = module.table(columns) if library == "pyarrow" else module.DataFrame(columns)
    d = ek.decompose(frame, "pca", k=3)
    assert d.column_names == tuple(names)
    assert_same(d, ek.decompose(data, "pca", k=3), 1e-13)


@pytest.mark.parametrize("dtype", ["float16", "int8", "uint8", "int32", "uint64", "bool"])
@pytest.mark.parametrize("thin", [False, True])
def test_dtypes(dtype, thin):
    data = np.random.default_rng(2).integers(0, 2 if dtype == "bool" else 100, (70, 9)).astype(dtype)
    if thin and dtype == "float16":
        pytest.skip("SciPy has no sparse float16")
    make = sparse.csr_array if thin else np.asarray
    first, second = (ek.decompose(make(x), "pca", k=3, solver="gram") for x in (data, data.astype(np.float64)))
    assert same_bits(first, second)


# Repeatability


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("thin", [False, True])
def test_twice_the_same_bits(solver, dtype, thin):
    data = thin_table().astype(dtype) if thin else table(2000, 40).astype(dtype)
    first, second = (ek.decompose(data, "pca", k=4, solver=solver, left=True) for _ in range(2))
    assert same_bits(first, second)
    assert same(first.certificate, second.certificate)
    assert first.info.seed == 0


def test_the_seed_rules():
    data = np.random.default_rng(0).standard_normal((200, 80))
    first, second, other = (ek.decompose(data, "svd", k=3, solver="lanczos", rng=seed) for seed in (5, 5, 6))
    assert same_bits(first, second)
    assert not same_bits(first, other)
    assert first.info.seed == 5


def test_a_new_process_gives_the_same_bits():
    program = (
        "import numpy as np, eckart as ek\n"
        "data = np.random.default_rng(3).standard_normal((3000, 60))\n"
        "d = ek.decompose(data, 'pca', k=4, solver='lanczos')\n"
        "print(d.values.tobytes().hex(), d.right.tobytes().hex())"
    )
    runs = {subprocess.run([sys.executable, "-c", program], capture_output=True, check=True).stdout for _ in range(2)}
    assert len(runs) == 1


@pytest.mark.parametrize("solver", ["gram", "lanczos"])
@pytest.mark.parametrize("method", ["svd", "pca"])
@pytest.mark.parametrize("thin", [False, True])
def test_the_number_of_workers(solver, method, thin):
    """Sums are folded in the order of the segments: with BLAS on one thread in both, the same bits."""
    data = thin_table(4000, 60) if thin else table(20_000, 40, offset=0.5)
    opened = ek.open_matrix(data).matrix
    factor = np.random.default_rng(0).standard_normal((data.shape[1], 8))
    with threadpool_limits(1):
        one, two = (row_blocks.replace(opened, workers=count) for count in (1, 2))
        np.testing.assert_array_equal(one.normal(factor), two.normal(factor))
        np.testing.assert_array_equal(one.gram(), two.gram())
        np.testing.assert_array_equal(one.moments_and_product(factor).sums, two.moments_and_product(factor).sums)
        first = ek.decompose(data, method, k=4, solver=solver)
    with threadpool_limits(2):
        assert_same(first, ek.decompose(data, method, k=4, solver=solver), PROMISE[solver])


def test_signs_come_from_the_right_vectors():
    """The entry of largest modulus of each axis is positive, whatever the order of the rows."""
    data = table()
    for other in (data, data[::-1], -data, np.vstack([data[70:], data[:70]])):
        for solver in SOLVERS:
            right = ek.decompose(other, "svd", k=5, solver=solver).right
            assert np.all(right[np.abs(right).argmax(axis=0), np.arange(5)] > 0)


# The verbs agree with each other


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("method", ["svd", "pca"])
@pytest.mark.parametrize("scale", [False, True])
@pytest.mark.parametrize("shape", [(150, 30), (30, 150)])
@pytest.mark.parametrize("thin", [False, True])
def test_scores_are_left_times_values(solver, method, scale, shape, thin):
    data = thin_table(*shape) if thin else table(*shape, offset=0.5)
    d = ek.decompose(data, method, k=4, solver=solver, scale=scale, left=True)
    tolerance = 1e-10 if solver != "lanczos" else 1e-4
    np.testing.assert_allclose(ek.project(d, data), d.left * d.values, atol=tolerance * float(d.values[0]))


@pytest.mark.parametrize("whiten", [False, True])
@pytest.mark.parametrize("scale", [False, True])
@pytest.mark.parametrize("solver", SOLVERS)
def test_full_rank_comes_back(whiten, scale, solver):
    data = table(80, 12, offset=3.0)
    d = ek.decompose(data, "pca", solver=solver, scale=scale)
    back = ek.reconstruct(d, ek.project(d, data, whiten=whiten), whiten=whiten)
    np.testing.assert_allclose(back, data, atol=1e-12)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("method", ["svd", "pca"])
@pytest.mark.parametrize("shape", [(60, 20), (20, 60)])
@pytest.mark.parametrize("thin", [False, True])
def test_weights_repeat_rows(solver, method, shape, thin):
    data = thin_table(*shape).toarray() if thin else table(*shape, offset=1.0)
    weights = np.random.default_rng(0).integers(0, 4, shape[0])
    repeated = np.repeat(data, weights, axis=0)
    make = sparse.csr_array if thin else np.asarray
    scale = method == "pca"
    d = ek.decompose(make(data), method, k=4, solver=solver, scale=scale, sample_weight=weights)
    wanted = ek.decompose(make(repeated), method, k=4, solver=solver, scale=scale)
    np.testing.assert_allclose(d.values, wanted.values, rtol=max(PROMISE[solver], 1e-11))
    np.testing.assert_allclose(np.abs(np.sum(d.right * wanted.right, axis=0)), 1.0, atol=1e-6)
    assert d.weight == weights.sum()
    np.testing.assert_allclose(d.norm, wanted.norm, rtol=1e-13)
    np.testing.assert_allclose(d.certificate.explained, wanted.certificate.explained, atol=1e-9)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("method", ["svd", "pca"])
@pytest.mark.parametrize("thin", [False, True])
def test_the_smallest_are_the_tail(solver, method, thin):
    data = thin_table(200, 20) if thin else table(150, 12, offset=0.5)
    whole = ek.decompose(data, method, solver="direct")
    d = ek.decompose(data, method, k=3, which="smallest", solver=solver)
    np.testing.assert_allclose(d.values, whole.values[::-1][:3], rtol=1e-9)
    overlap = np.abs(np.sum(d.right * whole.right[:, ::-1][:, :3], axis=0))
    np.testing.assert_allclose(overlap, 1.0, atol=1e-5)
    lower, upper = d.certificate.values
    assert np.all(lower <= whole.values[::-1][:3] * (1 + 1e-14))
    assert np.all(whole.values[::-1][:3] <= upper * (1 + 1e-14))


@pytest.mark.parametrize("seed", range(5))
def test_a_tighter_tolerance_is_no_worse(seed):
    data = np.random.default_rng(seed).standard_normal((400, 150)) * np.arange(1, 151) ** -0.5
    best = np.sum(np.linalg.svd(data, compute_uv=False)[:6] ** 2)
    lost = []
    for tol in (1e-2, 1e-5, 1e-8):
        d = ek.decompose(data, "svd", k=6, tol=tol, solver="lanczos", rng=seed)
        lost.append(best - np.sum(d.values**2))
        assert d.certificate.proved
        assert lost[-1] <= tol * d.values[-1] ** 2 + 1e-12 * best
    assert lost[0] >= lost[1] - 1e-12 * best
    assert lost[1] >= lost[2] - 1e-12 * best


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_to_a_file_and_back(tmp_path, solver, dtype):
    data = table(80, 12, offset=2.0).astype(dtype)
    d = ek.decompose(data, "pca", k=4, scale=True, solver=solver, left=True)
    d.save(tmp_path / "model.eckart")
    loaded = ek.load(tmp_path / "model.eckart")
    assert same(loaded, d)
    assert ek.project(loaded, data).tobytes() == ek.project(d, data).tobytes()


# Memory


@pytest.mark.filterwarnings("ignore::eckart.errors.AccuracyWarning")
@pytest.mark.parametrize("solver", ["lanczos", "auto"])
@pytest.mark.parametrize("method", ["svd", "pca"])
@pytest.mark.parametrize("transposed", [False, True])
def test_sparse_data_are_never_densified(solver, method, transposed):
    """20000 x 5000 would be 800 MB; the stored entries are 2.4 MB."""
    rng = np.random.default_rng(0)
    thin = sparse.random_array((20_000, 5_000), density=2e-3, rng=rng, format="csr")
    thin = sparse.csr_array(thin.T) if transposed else thin
    ek.decompose(thin[:200], method, k=3, tol=1e-2, solver="lanczos", max_passes=15)  # compiles loops
    tracemalloc.start()
    try:
        d = ek.decompose(thin, method, k=3, tol=1e-2, solver=solver, max_passes=15)
        scores = ek.project(d, thin)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert scores.shape == (thin.shape[0], 3)
    assert peak < 400e6 if solver == "auto" else peak < 120e6
    if solver == "lanczos":
        assert peak < d.plan.peak_bytes + 8 * thin.nnz * 6 + 8 * 3 * sum(thin.shape) + 20e6


def test_threads_are_left_as_they_were():
    from threadpoolctl import threadpool_info

    before = [info["num_threads"] for info in threadpool_info()]
    ek.decompose(table(20_000, 40), "pca", k=3, solver="gram")
    ek.decompose(thin_table(), "pca", k=3, solver="lanczos")
    assert [info["num_threads"] for info in threadpool_info()][: len(before)] == before
