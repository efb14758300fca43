"""Matrices read in blocks: the same answers as in memory, whatever the size of the blocks."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

import eckart as ek
from eckart.engine.blocks.edges import edges_for
from eckart.engine.blocks.source import MemoryRows
from eckart.engine.blocks.stacked import StackedBlocks
from eckart.engine.matrix import open_blocks
from eckart.errors import FileError, InputError, MemoryBudgetError, MissingValuesError, ParameterError
from eckart.io.open_matrix import open_matrix
from eckart.io.open_rows import open_rows


def table(rows, columns, dtype="f8", offset=0.0, seed=0):
    rng = np.random.default_rng(seed)
    data = rng.standard_normal((rows, columns)) * np.linspace(3, 0.2, columns) + offset
    data[:, :3] *= 4
    return data.astype(dtype)


def sparse_table(rows, columns, dtype="f8", seed=0):
    rng = np.random.default_rng(seed)
    data = rng.standard_normal((rows, columns)) * (rng.random((rows, columns)) < 0.1) * 3.0
    data[:, 1] = 7.0 + 0.01 * rng.standard_normal(rows)
    return sp.csr_array(data.astype(dtype))


@pytest.fixture
def small_blocks(monkeypatch):
    monkeypatch.setattr("eckart.budget._BLOCK_BYTES", (6_000, 6_000))


CASES = list(
    itertools.product(
        [(700, 40), (40, 700)],
        ["f4", "f8"],
        ["dense", "offset", "sparse"],
        [("pca", {}), ("pca", {"scale": True}), ("svd", {})],
    )
)


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize(("shape", "dtype", "kind", "how"), CASES)
@pytest.mark.parametrize("solver", ["auto", "lanczos"])
def test_the_same_as_in_memory(shape, dtype, kind, how, solver):
    data = sparse_table(*shape, dtype) if kind == "sparse" else table(*shape, dtype, 50.0 if kind == "offset" else 0.0)
    method, options = how
    whole = ek.decompose(data, method, k=4, tol=1e-6, left=True, solver=solver, **options)
    blocks = ek.decompose(data, method, k=4, tol=1e-6, left=True, solver=solver, stream=True, **options)
    close = 2e-5 if dtype == "f4" else 1e-9
    np.testing.assert_allclose(blocks.values, whole.values, rtol=close, atol=1e-6 * whole.values[0])
    np.testing.assert_allclose(blocks.right, whole.right, atol=3e-3 if dtype == "f4" else 1e-4)
    np.testing.assert_allclose(blocks.left, whole.left, atol=3e-3 if dtype == "f4" else 1e-4)
    low, high = blocks.certificate.explained
    truth = float(np.sum(np.asarray(whole.values, float) ** 2)) / whole.norm**2
    assert low - 1e-6 <= truth <= high + 1e-6


@pytest.mark.usefixtures("small_blocks")
def test_weights():
    data, weights = table(500, 30), np.random.default_rng(1).uniform(0, 2, 500)
    whole = ek.decompose(data, k=3, sample_weight=weights)
    blocks = ek.decompose(data, k=3, sample_weight=weights, stream=True)
    np.testing.assert_allclose(blocks.values, whole.values, rtol=1e-10)


@settings(max_examples=25, deadline=None)
@given(size=st.integers(300, 40_000), seed=st.integers(0, 5), sparse=st.booleans())
def test_the_size_of_blocks_changes_nothing(size, seed, sparse):
    data = sparse_table(200, 25, seed=seed) if sparse else table(200, 25, seed=seed, offset=3.0)
    opened = open_blocks(MemoryRows(data), size=size)
    dense = data.toarray() if sparse else data
    right = np.random.default_rng(seed).standard_normal((25, 3))
    np.testing.assert_allclose(opened.matrix.normal(right), dense.T @ (dense @ right), rtol=1e-10, atol=1e-9)
    np.testing.assert_allclose(opened.matrix.matmat(right), dense @ right, rtol=1e-10, atol=1e-9)
    np.testing.assert_allclose(opened.matrix.gram(), dense.T @ dense, rtol=1e-10, atol=1e-9)
    moments_and_product = opened.matrix.moments_and_product(right)
    np.testing.assert_allclose(moments_and_product.sums, dense.sum(0), rtol=1e-10, atol=1e-9)
    np.testing.assert_allclose(moments_and_product.squares, (dense**2).sum(0), rtol=1e-10, atol=1e-9)
    wanted = np.array([7, 190, 3])
    rows = opened.matrix.rows(wanted)
    np.testing.assert_array_equal(rows.toarray() if sparse else rows, dense[wanted])


def test_edges_follow_cuts():
    class Grouped(MemoryRows):
        def cuts(self):
            return (0, 100, 150, 400)

    source = Grouped(np.zeros((500, 1)))
    edges = edges_for(source, 8 * 160)
    assert edges[0] == 0
    assert edges[-1] == 500
    assert {150, 400} <= set(edges)
    assert max(b - a for a, b in itertools.pairwise(edges)) <= 160


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", ["f4", "f8", "i2", ">f8"])
def test_npy_rows(tmp_path, order, dtype):
    data = np.asarray(table(300, 7) * 10).astype(dtype, order=order)
    np.save(tmp_path / "a.npy", data)
    rows = open_rows(tmp_path / "a.npy")
    np.testing.assert_array_equal(rows.read(17, 203), data[17:203].astype(rows.dtype))
    d = ek.decompose(tmp_path / "a.npy", k=2, stream=True)
    np.testing.assert_allclose(d.values, ek.decompose(data, k=2).values, rtol=1e-5)


def test_a_large_file_is_read_in_blocks(tmp_path):
    np.save(tmp_path / "a.npy", table(4000, 100, "f4"))
    opened = open_matrix(tmp_path / "a.npy", memory=1_000_000)
    assert isinstance(opened.matrix, StackedBlocks)
    plan = ek.plan(tmp_path / "a.npy", k=3, memory="2MB")
    assert "blocks" in plan.why
    assert plan.peak_bytes <= 2_000_000
    with pytest.raises(MemoryBudgetError, match="bytes"):
        ek.plan(tmp_path / "a.npy", k=3, memory="100kB")


def test_a_solver_that_needs_all_rows_is_refused(tmp_path):
    np.save(tmp_path / "a.npy", table(400, 10))
    with pytest.raises(ParameterError, match="blocks"):
        ek.decompose(tmp_path / "a.npy", k=3, stream=True, solver="direct")


def test_one_read_for_the_gram_matrix(tmp_path):
    np.save(tmp_path / "a.npy", table(2000, 20))
    assert ek.decompose(tmp_path / "a.npy", k=3, stream=True, solver="gram").info.passes == 1


@pytest.mark.usefixtures("small_blocks")
def test_a_missing_value_is_located_in_the_whole_file(tmp_path):
    data = table(1000, 20)
    data[700, 5] = np.nan
    np.save(tmp_path / "holes.npy", data)
    with pytest.raises(MissingValuesError, match=r"Input holes\.npy contains NaN.*row 701, column 6"):
        ek.decompose(tmp_path / "holes.npy", k=3, stream=True)


@pytest.mark.usefixtures("small_blocks")
def test_a_file_that_changes_is_an_error(tmp_path):
    path = tmp_path / "a.npy"
    np.save(path, table(1000, 20))
    seen = []

    def callback(progress):
        seen.append(progress)
        if progress.block == 2:
            with path.open("r+b") as stream:
                stream.truncate(5000)

    with pytest.raises(FileError, match=r"a.npy shrank while Eckart read rows"):
        ek.decompose(path, k=3, stream=True, callback=callback)
    assert seen[0].blocks > 2


@pytest.mark.usefixtures("small_blocks")
def test_progress_is_told():
    seen = []
    ek.decompose(table(3000, 40), k=3, stream=True, solver="lanczos", callback=seen.append)
    assert seen[-1].block == seen[-1].blocks
    assert seen[-1].current_pass >= 2
    assert seen[-1].rows_per_second > 0
    assert [p.current_pass for p in seen] == sorted(p.current_pass for p in seen)
    assert any(p.explained is not None for p in seen)


ESTIMATORS = [ek.PCA(3), ek.PCA(0.8), ek.TruncatedSVD(3), ek.IncrementalPCA(3)]


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda e: f"{type(e).__name__} {e.n_components}")
def test_estimators_take_large_files(tmp_path, estimator, monkeypatch):
    data = table(900, 25, offset=5.0)
    np.save(tmp_path / "a.npy", data)
    monkeypatch.setattr("eckart.io.open_rows.too_large", lambda _rows, _memory: True)
    monkeypatch.setattr("eckart.io.open_matrix.too_large", lambda _rows, _memory: True)
    from_file = clone(estimator).fit(tmp_path / "a.npy")
    from_memory = clone(estimator).fit(data)
    np.testing.assert_allclose(from_file.components_, from_memory.components_, atol=1e-5)
    np.testing.assert_allclose(from_file.explained_variance_, from_memory.explained_variance_, rtol=1e-6)
    scores = from_memory.transform(data)
    np.testing.assert_allclose(from_file.transform(tmp_path / "a.npy"), scores, atol=1e-4 * np.abs(scores).max())
    if hasattr(from_file, "score"):
        np.testing.assert_allclose(from_file.score(tmp_path / "a.npy"), from_memory.score(data), rtol=1e-6)


def test_incremental_streams_are_joined():
    data = table(800, 12, offset=2.0)
    parts = [ek.IncrementalPCA(4).fit(data[i : i + 200]) for i in range(0, 800, 200)]
    joined = parts[0].merge(parts[1]).merge(parts[2].merge(parts[3]))
    whole = ek.IncrementalPCA(4).fit(data)
    np.testing.assert_allclose(joined.components_, whole.components_, atol=1e-9)
    np.testing.assert_allclose(joined.singular_values_, whole.singular_values_, rtol=1e-10)
    assert joined.n_samples_seen_ == 800
    joined.partial_fit(data)
    with pytest.raises(InputError, match="12 columns and the other on 3"):
        whole.merge(ek.IncrementalPCA(2).fit(data[:, :3]))
