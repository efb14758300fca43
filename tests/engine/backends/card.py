"""PyTorch on the processor in the place of a card: what is queued, checked and waited for, without a GPU."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from scipy import linalg

from eckart.arrays import is_host, to_numpy
from eckart.engine.backends import select
from eckart.engine.backends.cuda import whiten as cuda_whiten
from eckart.engine.backends.device import TorchBackend


def whiten_by_lapack(gram: np.ndarray, facts: np.ndarray, row: int) -> np.ndarray:
    """What the kernel does, with its facts."""
    lengths = np.sqrt(np.diagonal(gram))
    with np.errstate(divide="ignore", invalid="ignore"):
        scaled = gram / np.outer(lengths, lengths)
    off_diagonal = np.abs(scaled - np.diag(np.diagonal(scaled))).sum(axis=1).max()
    try:
        root = linalg.cholesky(scaled, lower=True)
    except (linalg.LinAlgError, ValueError):
        facts[row] = lengths.min(), np.nan, off_diagonal
        return np.full_like(gram, np.nan)
    inverse = linalg.solve_triangular(root, np.eye(len(gram)), lower=True)
    facts[row] = lengths.min(), 1.0 / np.linalg.norm(inverse), off_diagonal
    return np.asarray(inverse.T / lengths[:, None])


def put_torch_in_place(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Take PyTorch's tensors on the processor for those of a card; gives a list of the waits for results."""
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    waits: list[str] = []

    def fetch(_: TorchBackend, array: object) -> Callable[[], np.ndarray]:
        copy = np.array(to_numpy(array))

        def arrived() -> np.ndarray:
            waits.append("wait")
            return copy

        return arrived

    def whiten(gram: object, facts: object, row: int) -> object:
        return torch.as_tensor(whiten_by_lapack(to_numpy(gram), to_numpy(facts), row))

    monkeypatch.setattr(select, "is_host", lambda array: not isinstance(array, torch.Tensor) and is_host(array))
    monkeypatch.setattr(TorchBackend, "fetch_async", fetch)
    monkeypatch.setattr(TorchBackend, "fast_float64", False)
    monkeypatch.setattr(cuda_whiten, "usable", lambda block: 0 < block.shape[1] <= cuda_whiten.LARGEST)
    monkeypatch.setattr(cuda_whiten, "whiten", whiten)
    return waits
