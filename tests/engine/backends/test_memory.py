"""A GPU without room: smaller blocks, the same answer, a word about it. Played with arrays that claim to be there."""

from __future__ import annotations

import numpy as np
import pytest

import eckart as ek
from eckart.arrays import is_host as really_on_host
from eckart.engine.backends import select
from eckart.engine.backends.device import TorchBackend
from eckart.engine.backends.host import HostBackend
from eckart.engine.rows import RowBlocks
from eckart.errors import MemoryBudgetError

torch = pytest.importorskip("torch", reason="PyTorch is not installed")


class OutOfMemoryError(RuntimeError):
    """As PyTorch and CuPy call theirs."""


@pytest.fixture
def small_card(monkeypatch):
    """PyTorch's arrays are taken for a GPU's, and blocks above `room` bytes do not fit."""
    room = {"bytes": np.inf}

    def on_host(array):
        return not isinstance(array, torch.Tensor) and really_on_host(array)

    def blocks(self, start, stop, size=None):
        for first, block in plain(self, start, stop, size):
            if block.shape[0] * block.shape[1] * 8 > room["bytes"]:
                raise OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB\nmore words")
            yield first, block

    plain = RowBlocks.blocks
    monkeypatch.setattr(select, "is_host", on_host)
    monkeypatch.setattr(TorchBackend, "fetch_async", HostBackend.fetch_async)
    monkeypatch.setattr(TorchBackend, "fast_float64", False)
    monkeypatch.setattr(RowBlocks, "blocks", blocks)
    return room


def table(rows=300_000, columns=40):
    return np.random.default_rng(0).standard_normal((rows, columns)) * np.linspace(3, 1, columns)


def test_smaller_blocks_give_the_same_answer_and_a_note(small_card):
    data = torch.as_tensor(table())
    plenty = ek.decompose(data, "pca", k=3, solver="gram")
    assert not plenty.notes
    small_card["bytes"] = 2**24
    little = ek.decompose(data, "pca", k=3, solver="gram")
    np.testing.assert_allclose(little.values, plenty.values, rtol=1e-12)
    assert any("ran out" in note and "smaller blocks" in note for note in little.notes)


def test_no_room_at_all_is_said(small_card):
    small_card["bytes"] = 1000
    with pytest.raises(MemoryBudgetError, match=r"enough memory, .*CUDA out of memory. Tried to allocate 2.00 G"):
        ek.decompose(torch.as_tensor(table()), "pca", k=3, solver="gram")


def test_other_errors_pass(small_card, monkeypatch):
    def broken(*_):
        raise RuntimeError("an illegal memory access was encountered")

    monkeypatch.setattr(TorchBackend, "cross_products", broken)
    with pytest.raises(RuntimeError, match="illegal memory access"):
        ek.decompose(torch.as_tensor(table(5000)), "pca", k=3, solver="gram")
