"""Speculative work: begun at once in a place that runs ahead of the host, done when it is taken on the host."""

from __future__ import annotations

import numpy as np
import pytest

from eckart.engine.backends.select import backend_of
from tests.engine.backends.card import put_torch_in_place


def test_work_begins_when_it_pays(monkeypatch: pytest.MonkeyPatch) -> None:
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    put_torch_in_place(monkeypatch)
    for array, first in ((np.ones((2, 2)), 0), (torch.ones(2, 2), 1)):
        done: list[int] = []

        def work(done: list[int] = done) -> int:
            done.append(1)
            return 7

        speculation = backend_of(array).speculate(work)
        assert len(done) == first == speculation.started
        assert speculation.take() == 7
        assert len(done) == 1
