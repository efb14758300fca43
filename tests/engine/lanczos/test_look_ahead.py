"""The next product is under way before the host waits; what it gives is what it would have given afterwards."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import eckart as ek
from eckart.engine.backends.base import Speculation
from eckart.engine.backends.cuda.device_dense import DeviceDenseProducts
from eckart.engine.backends.device import DeviceBackend
from eckart.engine.lanczos.block_lanczos import block_lanczos
from eckart.engine.lanczos.terms import Matrix, Start, Target
from tests.engine.backends.card import put_torch_in_place

torch = pytest.importorskip("torch", reason="PyTorch is not installed")


@pytest.fixture
def events(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Tensors are taken for those of a card; lists products and waits in their order."""
    return put_torch_in_place(monkeypatch)


def spiked(rows: int, columns: int, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    left, right = (np.linalg.qr(rng.standard_normal((n, columns)))[0] for n in (rows, columns))
    return (left * np.geomspace(1.0, 1e-3, columns)) @ right.T


def eigenpairs(events: list[str], size: int, k: int, tile: int, seed: int) -> tuple[Any, np.ndarray]:
    """Block Lanczos on a symmetric matrix of tensors; products are listed among the events."""
    table = spiked(size, size, seed)
    gram = table.T @ table
    there = torch.as_tensor(gram)

    def apply(block: Any) -> Any:
        events.append("product")
        return there @ block

    matrix = Matrix(size, apply, there[:0, :0], lambda: (float(np.trace(gram)), 1e-14), tile=tile)
    start = torch.as_tensor(np.linalg.qr(np.random.default_rng(seed).standard_normal((size, 24)))[0])
    found = block_lanczos(
        matrix, Target(k), block=24, rng=lambda: np.random.default_rng(seed), start=Start(start, apply(start), 300)
    )
    return found, np.linalg.eigvalsh(gram)[::-1][:k]


@pytest.mark.parametrize("tile", [1, 32])
@pytest.mark.parametrize("seed", [40171, 8, 991])
def test_products_go_ahead_of_the_waits(events: list[str], tile: int, seed: int) -> None:
    found, truth = eigenpairs(events, 500, 5, tile, seed)
    assert found.proved
    np.testing.assert_allclose(found.values, truth, rtol=1e-9)
    assert np.all(found.lower <= truth + 1e-13)
    assert np.all(found.upper[:5] >= truth - 1e-13)
    # The first product is given; the next one is begun before anything of the first step is waited for.
    assert events[:3] == ["product", "product", "wait"]
    assert events.count("product") == found.passes


@pytest.mark.parametrize("tile", [1, 32])
def test_the_same_pairs_as_without(events: list[str], monkeypatch: pytest.MonkeyPatch, tile: int) -> None:
    ahead, truth = eigenpairs(events, 400, 6, tile, 5)

    def later(_: DeviceBackend, work: Callable[[], Any]) -> Speculation[Any]:
        return Speculation(work)

    monkeypatch.setattr(DeviceBackend, "speculate", later)
    after, _ = eigenpairs(events, 400, 6, tile, 5)
    np.testing.assert_array_equal(ahead.values, after.values)
    np.testing.assert_array_equal(ahead.upper, after.upper)
    np.testing.assert_allclose(ahead.values, truth, rtol=1e-9)


@pytest.mark.parametrize("limit", [3, 4, 5, 6])
@pytest.mark.filterwarnings("ignore:The requested accuracy could not be proved")
def test_products_under_way_keep_to_the_passes_allowed(events: list[str], limit: int) -> None:
    data = torch.as_tensor(spiked(900, 300, 3))
    found = ek.decompose(data, "svd", k=8, solver="lanczos", max_passes=limit, rng=0)
    assert found.info.passes <= limit


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("tile", [1, 32])
def test_bounds_hold_on_a_card(events: list[str], monkeypatch: pytest.MonkeyPatch, dtype: str, tile: int) -> None:
    monkeypatch.setattr(DeviceDenseProducts, "tile", tile)
    for seed in (70012, 2213):
        rng = np.random.default_rng(seed)
        data = (spiked(700, 260, seed) + 1e-3 * rng.standard_normal((700, 260))).astype(dtype)
        found = ek.decompose(torch.as_tensor(data), "pca", k=7, solver="lanczos", rng=seed)
        exact = data.astype(np.float64)
        truth = np.linalg.svd(exact - exact.mean(axis=0), compute_uv=False)[:7]
        assert found.certificate.proved
        assert np.all(found.certificate.lower <= truth * (1 + 1e-12))
        assert np.all(found.certificate.upper >= truth * (1 - 1e-12))
