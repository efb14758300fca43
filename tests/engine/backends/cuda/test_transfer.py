"""device="cuda": what is taken over, what comes back and what is refused.

The card is played by PyTorch on the processor; test_gpu and test_gpu_rest have a real one.
"""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from scipy import sparse

import eckart as ek
from eckart.arrays import is_sparse
from eckart.engine.backends.cuda import transfer
from eckart.engine.backends.cuda.transfer import DeviceTransfer
from eckart.errors import InputError, MemoryBudgetError, ParameterError

torch = pytest.importorskip("torch")
METHODS = ("nmf", "cur", "kernel_pca")


@pytest.fixture
def card(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """A card with some free memory; `taken` lists what was brought there."""
    found = SimpleNamespace(free_bytes=10**9, taken=[])

    def whole(data: Any) -> Any:
        if data.shape[0] * data.shape[1] * 8 > found.free_bytes // 2:
            return None
        found.taken.append(data)
        return data if is_sparse(data) else torch.as_tensor(np.array(data))

    found.whole, found.refuse = whole, lambda shape: DeviceTransfer.refuse(found, shape)  # type: ignore[arg-type]
    monkeypatch.setattr(transfer, "transfer_for", lambda _: found)
    return found


def table() -> np.ndarray:
    rng = np.random.default_rng(0)
    return rng.gamma(1.0, 1.0, (60, 4)) @ rng.gamma(1.0, 1.0, (4, 9)) + 0.01 * rng.random((60, 9))


@pytest.mark.parametrize("method", METHODS)
def test_other_methods_answer_on_the_host(card: SimpleNamespace, method: str) -> None:
    data = table()
    there, here = ek.decompose(data, method, k=3, device="cuda"), ek.decompose(data, method, k=3)
    assert len(card.taken) == 1
    assert isinstance(there.right if method != "kernel_pca" else there.details.dual, np.ndarray)
    np.testing.assert_allclose(there.values, here.values, rtol=1e-6)


@pytest.mark.parametrize("method", METHODS)
def test_names_stay(card: SimpleNamespace, method: str) -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(table(), columns=list("abcdefghi"))
    assert ek.decompose(frame, method, k=2, device="cuda").column_names == tuple("abcdefghi")


@pytest.mark.parametrize("make", [ek.NMF, ek.CUR, ek.KernelPCA])
def test_estimators_answer_on_the_host(card: SimpleNamespace, make: Any) -> None:
    data = table()
    there, here = make(3, device="cuda"), make(3)
    scores, expected = there.fit_transform(data), here.fit_transform(data)
    assert len(card.taken) == 1
    assert isinstance(scores, np.ndarray)
    np.testing.assert_allclose(scores, expected, rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(there.transform(data), here.transform(data), rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("parts", [1, 3])
def test_batches_of_the_host(card: SimpleNamespace, parts: int) -> None:
    data = table()
    there, here = ek.IncrementalPCA(3, device="cuda"), ek.PCA(3).fit(data)
    for batch in np.array_split(data, parts):
        there = there.fit(batch) if parts == 1 else there.partial_fit(batch)
    assert len(card.taken) == parts
    for name in ("components_", "singular_values_", "mean_", "explained_variance_ratio_"):
        found = getattr(there, name)
        assert isinstance(found, np.ndarray)
        np.testing.assert_allclose(found, getattr(here, name), rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(there.transform(data), here.transform(data), rtol=1e-6, atol=1e-9)
    joined = there.merge(ek.IncrementalPCA(3, device="cuda").fit(data))
    assert joined.n_samples_seen_ == 120
    assert isinstance(joined.components_, np.ndarray)


@pytest.fixture
def blocks(card: SimpleNamespace, monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, ...]]:
    """A small card: what is taken there comes in blocks, whose shapes are listed."""
    found: list[tuple[int, ...]] = []

    def load(block: Any) -> Any:
        found.append(block.shape)
        return torch.as_tensor(block)

    card.block_bytes, card.depth, card.threads = 2**12, 4, 2
    card.free_bytes, card.prototype = 2**16, torch.empty((0, 0), dtype=torch.float64)
    card.load, card.accept = load, lambda block: block
    return found


def long_table() -> np.ndarray:
    return np.tile(table(), (20, 1)) * (1 + 0.01 * np.random.default_rng(1).random((1200, 9)))


@pytest.mark.parametrize("scale", [False, True])
@pytest.mark.parametrize("weights", [None, np.arange(1.0, 1201.0)])
@pytest.mark.parametrize("method", ["pca", "svd"])
def test_left_vectors_and_lengths_of_blocks(
    blocks: list[tuple[int, ...]], method: str, weights: np.ndarray | None, scale: bool
) -> None:
    data, options = long_table(), {"k": 3, "left": True, "scale": scale, "sample_weight": weights}
    there, here = ek.decompose(data, method, device="cuda", **options), ek.decompose(data, method, **options)
    assert len(blocks) > 4
    np.testing.assert_allclose(there.left, here.left, atol=1e-8)
    for name in ("row_norms", "column_norms"):
        np.testing.assert_allclose(getattr(there.details, name), getattr(here.details, name), rtol=1e-9)


@pytest.mark.parametrize("select", ["pivot", "norm"])
@pytest.mark.parametrize("asked", [{"k": 3}, {"error": 0.05}])
def test_the_axes_of_cur_are_found_in_blocks(
    card: SimpleNamespace, blocks: list[tuple[int, ...]], select: str, asked: dict[str, Any]
) -> None:
    data = long_table()
    there, here = (ek.decompose(data, "cur", select=select, **asked, **more) for more in ({"device": "cuda"}, {}))
    assert not card.taken
    assert len(blocks) > 4
    assert there.details.columns.tolist() == here.details.columns.tolist()
    np.testing.assert_allclose(there.details.error, here.details.error, rtol=1e-6)


@pytest.mark.parametrize("method", ["nmf", "kernel_pca"])
def test_a_table_that_does_not_fit_is_refused(card: SimpleNamespace, method: str) -> None:
    card.free_bytes = 1000
    with pytest.raises(
        MemoryBudgetError, match=r"60 x 9 .* more than half of the free GPU memory .1e-06 GB.* Leave out device="
    ):
        ek.decompose(table(), method, k=2, device="cuda")


def test_what_is_not_there_or_not_known_is_refused(card: SimpleNamespace) -> None:
    with pytest.raises(ParameterError, match="isomap"):
        ek.decompose(table(), "isomap", k=2, device="cuda")
    with pytest.raises(InputError, match="'tpu' is not valid"):
        ek.decompose(table(), "nmf", k=2, device="tpu")


@pytest.mark.parametrize("size", [1e-30, 1.0, 1e30])
@pytest.mark.parametrize("method", ["svd", "pca", "nmf", "cur"])
@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_tables_of_any_size(card: SimpleNamespace, method: str, kind: str, size: float) -> None:
    """Numbers whose squares overflow are scaled by a power of two when they are opened, once and not twice."""
    whole = table()
    data = np.where(whole > np.quantile(whole, 0.7), whole, 0.0).astype(np.float32) * np.float32(size)
    given = sparse.csr_array(data) if kind == "sparse" else data
    there, here = ek.decompose(given, method, k=2, device="cuda"), ek.decompose(given, method, k=2)
    np.testing.assert_allclose(there.values, here.values, rtol=1e-4)
    assert not is_sparse(card.taken[0]) or abs(card.taken[0] - given).max() == 0.0
