"""Products with tiles of blocks are those of whole blocks, for every layout, and bounds are true with both."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

import eckart as ek
from eckart.engine import threads
from eckart.engine.backends import normal, products
from eckart.engine.backends.normal import Compiled, Tiled, Whole, factor_for


def laid_out(data: np.ndarray, layout: str) -> np.ndarray:
    if layout == "strided":
        wider = np.zeros((2 * data.shape[0], 3 * data.shape[1]), data.dtype)
        wider[::2, ::3] = data
        return wider[::2, ::3]
    return np.asarray(data, order="F" if layout == "columns" else "C")


@pytest.mark.parametrize("layout", ["rows", "columns", "strided"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    ("rows", "columns", "width"), [(1, 1, 1), (1, 700, 8), (37, 5, 3), (128, 512, 32), (300, 1025, 16), (129, 1537, 24)]
)
def test_tiles_sum_to_the_product(rows: int, columns: int, width: int, dtype: type, layout: str) -> None:
    rng = np.random.default_rng(rows + columns)
    data = rng.standard_normal((rows, columns)).astype(dtype)
    right = rng.standard_normal((columns, width)).astype(dtype)
    truth = (data.astype(float).T @ (data.astype(float) @ right.astype(float))).T
    block, size = laid_out(data, layout), np.linalg.norm(data.astype(float)) ** 2 * np.linalg.norm(right)
    factors = [Tiled.of(right, 1_000_000), Tiled.of(right, 40_000), Tiled.of(right, 1), Whole(right)]
    for factor in [*factors, Compiled(right)] if dtype == np.float32 else factors:
        assert np.abs(factor.normal(block) - truth).max() <= 4.0 * np.finfo(dtype).eps * size


@pytest.mark.parametrize(
    ("rows", "columns", "width"), [(1, 1, 1), (11, 700, 8), (12, 9, 3), (300, 1025, 16), (121, 3, 7)]
)
def test_float32_rows_are_multiplied_in_float64_without_a_copy(rows: int, columns: int, width: int) -> None:
    rng = np.random.default_rng(rows + columns)
    data, right = rng.standard_normal((rows, columns)).astype("f4"), rng.standard_normal((columns, width))
    exact = data.astype(np.longdouble)
    error = np.abs(Compiled(right).normal(data) - (exact.T @ (exact @ right)).T).max()
    assert error <= 4.0 * np.finfo(float).eps * float(np.linalg.norm(data)) ** 2 * np.linalg.norm(right)


def compile_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    """Use compiled loops for small data too."""
    monkeypatch.setattr(products, "COMPILE_FROM_BYTES", 0)
    monkeypatch.setattr(products, "_COMPILED_COLUMNS", 0)
    monkeypatch.setattr(products, "is_amd", lambda: True)


@pytest.mark.parametrize(
    ("dtype", "offset"), [("f4", 0.0), ("f4", 1.0), ("f4", 1e3), ("f8", 0.0), ("f2", 0.0), ("i4", 0.0)]
)
def test_bounds_hold_with_compiled_loops(monkeypatch: pytest.MonkeyPatch, dtype: str, offset: float) -> None:
    rng = np.random.default_rng(6)
    data = rng.standard_normal((1201, 301)) * np.geomspace(1, 0.01, 301) + offset
    data = (1000.0 * data if dtype == "i4" else data).astype(dtype)
    centred = data.astype(np.longdouble)
    truth = np.linalg.svd((centred - centred.mean(axis=0)).astype(float), compute_uv=False)[:6]
    before = ek.decompose(data, "pca", k=6, solver="lanczos")
    compile_everything(monkeypatch)
    after = ek.decompose(data, "pca", k=6, solver="lanczos")
    same = np.array_equal(before.certificate.lower, after.certificate.lower)
    assert same == (dtype not in ("f4", "f8"))  # other sums, so other rounding, where the loops apply
    assert np.allclose(before.mean, after.mean, rtol=1e-14)
    assert after.certificate.proved
    assert np.all(after.certificate.lower <= truth * (1 + 1e-13))
    assert np.all(after.certificate.upper >= truth * (1 - 1e-13))


@pytest.mark.parametrize(
    ("libraries", "product"),
    [(["SkylakeX", "SkylakeX"], 1_000_000), (["Cooperlake"], 1_000_000), (["Haswell"], 0), ([None], 0), ([], 0)],
)
def test_blas_decides(monkeypatch: pytest.MonkeyPatch, libraries: list[str | None], product: int) -> None:
    controllers = [SimpleNamespace(architecture=name) if name else SimpleNamespace() for name in libraries]
    monkeypatch.setattr(threads, "_controllers", lambda: controllers)
    threads.largest_unpacked_product.cache_clear()
    try:
        assert threads.largest_unpacked_product() == product
        assert isinstance(factor_for(np.ones((900, 16))), Tiled if product else Whole)
        assert isinstance(factor_for(np.ones((900, 64))), Whole)
    finally:
        threads.largest_unpacked_product.cache_clear()


def test_processors_that_multiply_wide_blocks_faster(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(normal, "largest_unpacked_product", lambda: 1_000_000)
    monkeypatch.setattr(normal, "is_amd", lambda: False)
    for dtype, width, expected in (("f4", 8, Tiled), ("f4", 16, Whole), ("f8", 16, Tiled)):
        assert isinstance(factor_for(np.ones((900, width), dtype)), expected)


@pytest.mark.parametrize(
    ("product", "amd", "widest"), [(0, True, 1000), (0, False, 1000), (10**6, True, 40), (10**6, False, 16)]
)
def test_width_up_to_which_the_compiled_loop_is_faster(
    monkeypatch: pytest.MonkeyPatch, product: int, amd: bool, widest: int
) -> None:
    monkeypatch.setattr(normal, "largest_unpacked_product", lambda: product)
    monkeypatch.setattr(normal, "is_amd", lambda: amd)
    assert normal.is_worth_compiling(widest)
    assert product == 0 or not normal.is_worth_compiling(widest + 1)


@pytest.mark.parametrize("product", [0, 1_000_000])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_bounds_hold_with_and_without_tiles(monkeypatch: pytest.MonkeyPatch, product: int, dtype: type) -> None:
    monkeypatch.setattr(normal, "largest_unpacked_product", lambda: product)
    rng = np.random.default_rng(5)
    data = (rng.standard_normal((1400, 700)) * np.geomspace(1, 0.01, 700)).astype(dtype)
    truth = np.linalg.svd(data.astype(float), compute_uv=False)
    for given in (data, np.ascontiguousarray(data.T)):
        found = ek.decompose(given, "svd", k=6, solver="lanczos").certificate
        assert found.proved
        assert np.all(found.lower <= truth[:6] * (1 + 1e-13))
        assert np.all(found.upper >= truth[:6] * (1 - 1e-13))


@pytest.mark.parametrize("layout", ["whole", "columns of a wider table"])
@pytest.mark.parametrize(("rows", "columns", "width"), [(1, 3, 2), (100, 256, 1), (73, 257, 8), (255, 1999, 16)])
def test_sums_of_small_blocks_have_no_more_roundings_than_counted(
    rows: int, columns: int, width: int, layout: str
) -> None:
    rng = np.random.default_rng(rows)
    given = rng.uniform(1.0, 2.0, (rows, columns + 5))
    block = given[:, :columns].copy() if layout == "whole" else given[:, :columns]
    right = rng.uniform(1.0, 2.0, (columns, width))  # all terms are positive, so roundings add up
    exact = (block.astype(np.longdouble) @ right.astype(np.longdouble)).T @ block.astype(np.longdouble)
    terms = normal.image_additions(columns) + rows + 1
    found = Whole(right).normal(block)
    assert float(np.max(np.abs(found - exact) / exact)) <= 1.1 * terms * np.finfo(float).eps / 2


def test_additions_cover_tiles_and_sums_that_are_not_tiled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(normal, "largest_unpacked_product", lambda: 10**6)
    columns = 10**6
    for size in (normal._SUMMED, normal._TILE):
        parts = normal._parts(columns, size)
        assert max(part.stop - part.start for part in parts) + len(parts) <= normal.image_additions(columns)
