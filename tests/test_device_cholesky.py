"""Orthonormal columns by Cholesky on a device: right where it says so, and it says where it is not."""

from __future__ import annotations

import numpy as np
import pytest

from eckart.solvers import orthogonal
from eckart.solvers.device_cholesky import is_good, round_of

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
pytest.importorskip("array_api_compat", reason="array_api_compat is not installed")


@pytest.fixture
def as_on_a_gpu(monkeypatch):
    monkeypatch.setattr(orthogonal, "is_host", lambda array: not isinstance(array, torch.Tensor))


def block(rows=500, columns=20, least=1.0, seed=0):
    scales = np.geomspace(1.0, least, columns)
    return torch.as_tensor(np.random.default_rng(seed).standard_normal((rows, columns)) * scales)


def departure(basis):
    return float(torch.abs(basis.T @ basis - torch.eye(basis.shape[1], dtype=basis.dtype)).max())


@pytest.mark.parametrize("least", [1.0, 1e-8, 1e-150])
def test_columns_of_any_length(least):
    once, first = round_of(block(least=least))
    twice, second = round_of(once)
    assert is_good(first, second)
    assert departure(twice) < 1e-14


@pytest.mark.parametrize("spoil", ["same", "zero", "nan"])
def test_dependent_columns_are_noticed(spoil):
    given = block()
    given[:, 7] = {"same": given[:, 6], "zero": torch.zeros(500), "nan": torch.full((500,), torch.nan)}[spoil]
    once, first = round_of(given)
    assert not is_good(first, round_of(once)[1])


def test_nearly_dependent_columns_take_the_other_way(as_on_a_gpu):
    given = block()
    given[:, 7] = given[:, 6] * (1 + 1e-9)
    basis = orthogonal.orthonormalize(given)
    assert basis.shape[1] == 19
    assert departure(basis) < 1e-12


def test_the_next_block_is_orthogonal_to_the_basis(as_on_a_gpu):
    basis = orthogonal.orthonormalize(block(columns=40, seed=1))
    rest = block(columns=12, least=1e-6, seed=2)
    found, dropped = orthogonal.next_block(rest, (rest.T @ rest).numpy(), basis, 1e-12)
    assert dropped == 0.0
    assert departure(found) < 1e-14
    assert float(torch.abs(basis.T @ found).max()) < 1e-14
    both = torch.cat([basis, found], 1)
    assert float(torch.linalg.norm(rest - both @ (both.T @ rest))) < 1e-12
