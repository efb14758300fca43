"""Bounds hold for every solver, storage, weighting, scaling and dtype, against means in extended precision."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse

import eckart as ek
from eckart.engine.blocks.source import MemoryRows
from eckart.engine.matrix import open_blocks
from eckart.engine.standardize.problem import standardize
from eckart.errors import NotFiniteError
from eckart.io.open_matrix import open_matrix
from tests.engine.reference import ACCURACY, standardized, true_values, violation

SEEDS = [int(seed) for seed in np.random.default_rng(150815).integers(0, 2**31, 4)]


def table(kind: str, rows: int, columns: int, dtype: str, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    noise = rng.standard_normal((rows, columns)) * np.geomspace(1, 1e-3, columns)
    if kind == "offset":
        noise = noise + rng.choice([0.0, 3.0, 1e4], columns)
    elif kind == "few values":
        noise = rng.integers(0, 2, (rows, columns)) * 0.1
    elif kind == "padded":
        noise[: rows // 4], noise[-rows // 4 :] = 0.0, 0.0
        noise[rows // 4 : -rows // 4] += 1e3
    noise[:, columns // 2] = 0.3
    return noise.astype(dtype)


@pytest.mark.parametrize("kind", ["offset", "few values", "padded"])
@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("shape", [(60, 14), (14, 60)])
@pytest.mark.parametrize("scale", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_bounds_hold_on_every_route(kind: str, dtype: str, shape: tuple[int, int], scale: bool, weighted: bool) -> None:
    seed = SEEDS[0] + shape[0] + 2 * scale + weighted
    data = table(kind, *shape, dtype, seed)
    weights = np.random.default_rng(seed).uniform(0.1, 3.0, shape[0]) if weighted else None
    true = true_values(data, scale=scale, weights=weights)
    storages: dict[str, tuple[Any, dict[str, Any]]] = {"array": (data, {}), "stream": (data, {"stream": True})}
    storages["fortran"] = (np.asfortranarray(data), {})
    for name, (stored, options) in storages.items():
        for solver in ("direct", "gram", "lanczos"):
            if name == "stream" and (solver == "direct" or (solver == "gram" and shape[0] < shape[1])):
                continue
            d = ek.decompose(stored, "pca", k=4, scale=scale, sample_weight=weights, solver=solver, **options)
            assert violation(d, true) <= ACCURACY, (name, solver)


# A full column with a large mean is not shifted in weighted streams: its rounding leaves nothing to prove.
@pytest.mark.filterwarnings("ignore::eckart.errors.AccuracyWarning")
@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("shape", [(90, 20), (20, 90)])
@pytest.mark.parametrize("scale", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_bounds_hold_for_sparse_rows(dtype: str, shape: tuple[int, int], scale: bool, weighted: bool) -> None:
    rng = np.random.default_rng(SEEDS[1] + shape[0])
    dense = rng.standard_normal(shape) * (rng.random(shape) < 0.2)
    dense[:, 3] = 1e5 + rng.standard_normal(shape[0])  # a full column with a large mean
    dense[:, 4] = 0.0
    dense[:, 5] = 0.1
    data = sparse.csr_array(dense.astype(dtype))
    weights = rng.uniform(0.1, 3.0, shape[0]) if weighted else None
    true = true_values(data, scale=scale, weights=weights)
    for solver in ("direct", "gram", "lanczos"):
        for options in ({}, {"stream": True}):
            if options and (solver == "direct" or (solver == "gram" and shape[0] < shape[1])):
                continue
            d = ek.decompose(data, "pca", k=4, scale=scale, sample_weight=weights, solver=solver, **options)
            assert violation(d, true) <= ACCURACY, (solver, options)


@pytest.mark.parametrize("seed", SEEDS)
def test_constant_columns_are_found_exactly(seed: int) -> None:
    """float32 bits on an offset that leaves them two values: far below any threshold on the variance."""
    rng = np.random.default_rng(seed)
    data = (1e7 + rng.integers(0, 2, (400, 30))).astype("f4")
    data[:, 7] = 1e7
    assert np.ptp(data, axis=0).max() == 1.0
    for stored, options in ((data, {}), (data, {"stream": True}), (data, {"solver": "gram"})):
        d = ek.decompose(stored, "pca", k=3, **options)
        assert violation(d, true_values(data)) <= ACCURACY
        assert any("1 column is constant: 8 (counted from 1)" in note for note in d.notes)
        scaled = ek.decompose(stored, "pca", k=3, scale=True, **options)
        assert violation(scaled, true_values(data, scale=True)) <= ACCURACY


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("solver", ["direct", "gram", "lanczos"])
def test_large_offsets_are_removed_before_weights_and_on_wide_data(seed: int, solver: str) -> None:
    rng = np.random.default_rng(seed)
    tall, weights = 1e8 + rng.standard_normal((200, 20)), rng.uniform(0.1, 3.0, 200)
    d = ek.decompose(tall, "pca", k=4, sample_weight=weights, solver=solver)
    assert violation(d, true_values(tall, weights=weights)) <= ACCURACY
    assert np.max(d.certificate.upper / d.certificate.lower) < 1 + 1e-8
    wide = 1e11 + rng.standard_normal((40, 80))
    d = ek.decompose(wide, "pca", k=4, solver=solver)
    assert violation(d, true_values(wide)) <= ACCURACY
    assert np.max(d.certificate.upper / d.certificate.lower) < 1 + 1e-8


@pytest.mark.parametrize("seed", SEEDS[:2])
def test_weighted_wide_float32_rows_in_blocks(seed: int) -> None:
    rng = np.random.default_rng(seed)
    data, weights = rng.standard_normal((60, 400)).astype("f4"), rng.uniform(0.1, 3.0, 60)
    d = ek.decompose(data, "pca", k=4, sample_weight=weights, stream=True)
    assert violation(d, true_values(data, weights=weights)) <= ACCURACY


@pytest.mark.parametrize("storage", ["array", "fortran", "blocks", "csr", "csr blocks"])
@pytest.mark.parametrize("shape", [(70, 12), (12, 70)])
@pytest.mark.parametrize("weighted", [False, True])
def test_products_in_float64_keep_their_bound(storage: str, shape: tuple[int, int], weighted: bool) -> None:
    rng = np.random.default_rng(SEEDS[2])
    data = rng.standard_normal(shape) + rng.choice([0.0, 1e5], shape[1])
    if "csr" in storage:
        data = data * (rng.random(shape) < 0.3)
    weights = rng.uniform(0.5, 2.0, shape[0]) if weighted else None
    stored: Any = sparse.csr_array(data) if "csr" in storage else data
    stored = np.asfortranarray(data) if storage == "fortran" else stored
    blocked = "blocks" in storage
    matrix = open_blocks(MemoryRows(stored), size=2000).matrix if blocked else open_matrix(stored).matrix
    matrix = matrix if weights is None else matrix.weighted(weights)
    shift = None if "csr" in storage else np.asarray(matrix.sample()).mean(axis=0)
    problem = standardize(matrix, center=True, scale=False, shift=shift)
    block = np.linalg.qr(rng.standard_normal((problem.shape[1], 3)))[0]
    exact = standardized(stored, weights=weights).astype(np.longdouble)
    exact = exact.T if problem.transposed else exact
    expected, largest = exact.T @ (exact @ block), float(np.linalg.norm(exact.astype(float), 2)) ** 2
    for product in (problem.first(block), problem.exact().normal(block)):
        error = np.linalg.norm(np.asarray(product - expected, np.float64), axis=0).max()
        assert error <= problem.product_error() + 2e-15 * np.linalg.norm(expected.astype(float))
        together = np.linalg.norm(np.asarray(product - expected, np.float64), 2)
        assert together <= problem.block_error(3, largest) + 2e-15 * np.linalg.norm(expected.astype(float))
    assert problem.block_error(3, largest) <= 3**0.5 * problem.product_error()
    assert problem.product_error() <= 1e-7 * problem.total
    assert abs(problem.total - float(np.sum(exact**2))) <= problem.total_error() + 1e-14 * problem.total


def test_rows_that_a_sample_misses_lead_to_a_better_shift() -> None:
    """Zeros in every sampled row hide a large mean from the sample; the first pass finds it."""
    rng = np.random.default_rng(SEEDS[3])
    data = 1e9 + rng.standard_normal((6400, 6))
    data[:: 6400 // 64] = 0.0
    data[1::2] -= 1.0
    d = ek.decompose(data, "pca", k=3, solver="gram")
    assert violation(d, true_values(data)) <= ACCURACY


@pytest.mark.parametrize("solver", ["direct", "gram", "lanczos"])
@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize(("entries", "weight"), [(1e15, 1e130), (1e25, 1e139), (1e-15, 1e-130), (1e-15, 1e-139)])
def test_weighted_entries_may_be_out_of_range(solver: str, storage: Any, entries: float, weight: float) -> None:
    """Neither the entries nor the weights are, but squares of the products of the two are."""
    rng = np.random.default_rng(SEEDS[1])
    plain = rng.standard_normal((120, 30)) * np.geomspace(1.0, 0.1, 30)
    plain[np.abs(plain) < 0.5] = 0.0
    weights = rng.uniform(0.5, 2.0, 120)
    expected = ek.decompose(storage(plain), "pca", k=3, sample_weight=weights, solver="direct")
    d = ek.decompose(storage(plain * entries), "pca", k=3, sample_weight=weights * weight, solver=solver)
    unit = entries * np.sqrt(weight)
    assert d.certificate.proved
    np.testing.assert_allclose(d.values / unit, expected.values, rtol=1e-8)
    assert np.all(d.certificate.lower / unit <= expected.values * (1 + 1e-12))
    assert np.all(d.certificate.upper / unit >= expected.values * (1 - 1e-12))
    sines = np.sqrt(np.maximum(0.0, 1.0 - np.linalg.svd(expected.right.T @ d.right, compute_uv=False) ** 2))
    assert sines.max() <= d.certificate.angle + 1e-7


@pytest.mark.parametrize(("entries", "weight"), [(2.0**-100, 1e130), (2.0**100, 1e-130)])
def test_sparse_blocks_in_float32_take_remote_weights(entries: float, weight: float) -> None:
    rng = np.random.default_rng(SEEDS[2])
    plain = sparse.random_array((90, 12), density=0.3, rng=rng, format="csr").astype(np.float32)
    weights = rng.uniform(0.5, 2.0, 90)
    expected = ek.decompose(plain, "svd", k=3, sample_weight=weights, solver="direct")
    data = plain * np.float32(entries)
    d = ek.decompose(data, "svd", k=3, sample_weight=weights * weight, stream=True, solver="gram")
    assert d.certificate.proved
    bounds = np.stack([d.certificate.lower, d.certificate.upper]) / (entries * np.sqrt(weight))
    assert np.all(bounds[0] <= expected.certificate.upper * (1 + 1e-12))
    assert np.all(bounds[1] >= expected.certificate.lower * (1 - 1e-12))


@pytest.mark.parametrize("solver", ["gram", "lanczos"])
@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_array])
def test_singular_values_below_float32_are_refused_in_blocks_too(solver: str, storage: Any) -> None:
    """The power of two that keeps the weighted squares in range is beyond float32."""
    rng = np.random.default_rng(SEEDS[2])
    data = storage(np.where(rng.random((8, 6)) < 0.5, rng.random(6), rng.random(6)).astype(np.float32))
    weights = rng.uniform(0.5, 2.0, 8) * 1e-130
    for stream in (False, True):
        with pytest.raises(NotFiniteError, match="underflow float32"):
            ek.decompose(data, "pca", k=1, sample_weight=weights, stream=stream, solver=solver)
