"""Products with rows in memory against NumPy in float64: dense and CSR, on the host and in the place of a card."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse
from threadpoolctl import threadpool_limits

from eckart.arrays import to_numpy
from eckart.engine.backends import products
from eckart.engine.rows import RowBlocks
from eckart.io.open_matrix import open_matrix
from tests.engine.backends.card import put_torch_in_place

SEEDS = [int(seed) for seed in np.random.default_rng(551).integers(0, 2**31, 2)]


@pytest.fixture(params=["numpy", "fortran", "csr", "strict", "tensor", "card"])
def place(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    name: str = request.param
    if name == "card":
        put_torch_in_place(monkeypatch)
    return name


def put(data: np.ndarray, place: str) -> Any:
    if place == "csr":
        return sparse.csr_array(data)
    if place == "strict":
        return pytest.importorskip("array_api_strict").asarray(data)
    if place in ("tensor", "card"):
        return pytest.importorskip("torch").as_tensor(data)
    return np.asfortranarray(data) if place == "fortran" else data


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("seed", SEEDS)
def test_products(place: str, dtype: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    data = (rng.standard_normal((1300, 37)) * (rng.random((1300, 37)) < 0.3)).astype(dtype)
    exact, rows = data.astype(np.float64), open_matrix(put(data, place)).matrix
    assert isinstance(rows, RowBlocks)
    right, left = rng.standard_normal((37, 5)), rng.standard_normal((1300, 5))
    factors = "numpy" if place == "csr" else place
    close = {"rtol": 1e-4 if dtype == "f4" else 1e-12, "atol": 1e-3 if dtype == "f4" else 1e-10}
    np.testing.assert_allclose(to_numpy(rows.matmat(put(right, factors))), exact @ right, **close)
    np.testing.assert_allclose(to_numpy(rows.rmatmat(put(left, factors))), exact.T @ left, **close)
    np.testing.assert_allclose(to_numpy(rows.normal(put(right, factors))), exact.T @ (exact @ right), **close)
    np.testing.assert_allclose(to_numpy(rows.gram()), exact.T @ exact, **close)
    moments_and_product = rows.moments_and_product(put(right, factors))
    np.testing.assert_allclose(to_numpy(moments_and_product.sums), exact.sum(axis=0), **close)
    np.testing.assert_allclose(to_numpy(moments_and_product.squares), (exact**2).sum(axis=0), **close)
    np.testing.assert_allclose(to_numpy(moments_and_product.product), exact.T @ (exact @ right), **close)
    assert rows.passes == 5
    assert rows.approximate(put(right, factors)) is None
    assert rows.passes == 5


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("layout", ["C", "F"])
def test_a_gram_matrix_that_threads_share(dtype: str, layout: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """So large that there is no memory for one copy per thread."""
    monkeypatch.setattr(products, "_ACCUMULATOR_BYTES", 2**20)
    data = np.asarray(np.random.default_rng(SEEDS[0]).standard_normal((700, 600)), dtype, order=layout)
    exact, found = data.astype(np.float64), []
    close = {"rtol": 1e-4 if dtype == "f4" else 1e-12, "atol": 1e-3 if dtype == "f4" else 1e-10}
    for count in (1, 2):
        with threadpool_limits(count, user_api="blas"):
            rows = open_matrix(data).matrix
            found.append((to_numpy(rows.gram()), rows.moments_and_product(None, gram=True)))
    for gram, moments_and_product in found:
        np.testing.assert_allclose(gram, exact.T @ exact, **close)
        np.testing.assert_allclose(moments_and_product.sums, exact.sum(axis=0), **close)
        np.testing.assert_allclose(moments_and_product.squares, (exact**2).sum(axis=0), **close)
        np.testing.assert_array_equal(gram, gram.T)
        np.testing.assert_array_equal(moments_and_product.product, moments_and_product.product.T)
        np.testing.assert_allclose(moments_and_product.product, exact.T @ exact, **close)
        np.testing.assert_array_equal(gram, found[0][0])


def test_rows_columns_and_comparisons(place: str) -> None:
    rng = np.random.default_rng(SEEDS[0])
    data = rng.standard_normal((50, 6)) * (rng.random((50, 6)) < 0.4)
    data[:, 2] = 0.0
    rows = open_matrix(put(data, place)).matrix
    backend = rows.backend

    def dense(part: Any) -> np.ndarray:
        return np.asarray(part.toarray() if place == "csr" else to_numpy(part))

    indices = np.array([4, 0, 3])
    np.testing.assert_array_equal(dense(backend.take_rows(rows.matrix, indices)), data[indices])
    np.testing.assert_array_equal(dense(backend.take_columns(rows.matrix, indices)), data[:, indices])
    np.testing.assert_array_equal(dense(backend.rows_between(rows.matrix, 7, 20)), data[7:20])
    np.testing.assert_array_equal(backend.varying(rows.matrix, data[0]), (data != data[0]).any(axis=0))
    assert rows.constant_columns(np.arange(6)).tolist() == [2]


@pytest.mark.parametrize("transposed", [False, True])
def test_sums_in_float64_on_a_card(monkeypatch: pytest.MonkeyPatch, transposed: bool) -> None:
    """Rows are added up 512 at a time, as the bounds of rounding count them."""
    put_torch_in_place(monkeypatch)
    rng = np.random.default_rng(61)
    data = rng.standard_normal((40, 5000)).T if transposed else rng.standard_normal((5000, 40))
    rows = open_matrix(put(data + 3.0, "card")).matrix
    right, left = rng.standard_normal((40, 6)), rng.standard_normal((5000, 6))
    assert rows.additions(gram=False) < 700
    assert rows.additions(gram=True) < 2100
    shifted = data + 3.0
    close = {"rtol": 1e-12, "atol": 1e-9}
    np.testing.assert_allclose(to_numpy(rows.rmatmat(put(left, "card"))), shifted.T @ left, **close)
    found = rows.moments_and_product(put(right, "card"))
    np.testing.assert_allclose(to_numpy(found.sums), shifted.sum(axis=0), **close)
    np.testing.assert_allclose(to_numpy(found.squares), (shifted**2).sum(axis=0), **close)
    np.testing.assert_allclose(to_numpy(found.product), shifted.T @ (shifted @ right), **close)
    np.testing.assert_allclose(to_numpy(rows.gram()), shifted.T @ shifted, **close)


@pytest.mark.parametrize("shape", [(300, 5), (9000, 40), (4100, 260), (1300, 700), (90, 900)])
@pytest.mark.parametrize("width", [None, 1, 30])
def test_roundings_are_counted_for_the_blocks_in_use(
    shape: tuple[int, int], width: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a segment, those within a block and one for each block; then one for each segment."""
    segments: list[list[int]] = []

    def recorded(self: RowBlocks, *given: int) -> Any:
        blocks = list(original(self, *given))
        segments.append([len(block) for _, block in blocks])
        return iter(blocks)

    original = RowBlocks.blocks
    monkeypatch.setattr(RowBlocks, "blocks", recorded)
    rows = RowBlocks(np.ones(shape))
    for gram, product in ((True, rows.gram), (False, rows.normal)):
        if width is None and not gram:
            continue
        segments.clear()
        product(None if width is None else np.ones((shape[1], min(width, shape[1]))))
        count = max(map(max, segments)) + max(map(len, segments)) + len(segments) + (0 if gram else shape[1])
        assert count <= rows.additions(gram=gram)


@pytest.mark.parametrize("order", ["C", "F"])
def test_float32_gram_matrices_of_many_columns_are_symmetric(order: str) -> None:
    """Blocks yield one triangle, which is copied into the other at the end."""
    data = np.random.default_rng(6).standard_normal((700, 300)).astype("f4", order=order)
    rows = RowBlocks(data, precision="float32")
    for gram in (rows.gram(), rows.moments_and_product(gram=True).product):
        assert gram.dtype == np.float64
        assert np.array_equal(gram, gram.T)
        assert np.allclose(gram, data.T.astype(float) @ data, atol=1e-3)


@pytest.mark.parametrize(("shape", "dtype"), [((300, 40), "f8"), ((2100, 1100), "f8"), ((2100, 1100), "f4")])
def test_products_and_rayleigh_quotients_come_from_one_pass(shape: tuple[int, int], dtype: str) -> None:
    """Large float32 rows are multiplied in float64 by compiled loops."""
    rng = np.random.default_rng(shape[0])
    data = rng.standard_normal(shape).astype(dtype)
    rows = open_matrix(data).matrix.precise()
    right, other = rng.standard_normal((shape[1], 9)), np.linalg.qr(rng.standard_normal((shape[1], 7)))[0]
    found = rows.normal_and_gram(right, other)
    whole = data.astype(np.float64)
    assert rows.passes == 1
    np.testing.assert_allclose(found[0], whole.T @ (whole @ right), rtol=1e-11, atol=1e-9)
    np.testing.assert_allclose(found[1], (whole @ other).T @ (whole @ other), rtol=1e-11, atol=1e-9)


@pytest.mark.parametrize("order", ["C", "F"])
def test_sums_over_columns_have_few_roundings(order: str) -> None:
    """Sums of 1 and numbers just below half a unit of rounding lose all of these, if they are added one by one."""
    data = np.asarray(np.full((1024, 1024), 2.0**-54), order=order)
    data[:, ::256] = 1.0
    rows = RowBlocks(data)
    inner, outer = rows.product_additions()
    assert inner + outer < rows.additions(gram=False)
    right = np.ones((1024, 8))
    exact = 1024 * (4.0 + 1020 * 2.0**-54)  # of the columns of ones; both factors are positive
    assert abs(rows.normal(right)[0, 0] - exact) <= (inner + outer + 8) * 2.0**-53 * exact
