"""A share of the total that more components are needed for than the basis has room for."""

from __future__ import annotations

import numpy as np
import pytest

import eckart as ek
from eckart.engine.lanczos.block_lanczos import block_lanczos
from eckart.engine.lanczos.terms import Matrix, Pairs, Start, Target
from eckart.errors import MemoryBudgetError, ParameterError

SQUARES = np.linspace(1.0, 0.05, 180)


def run(share: float, *, capacity: int, most: int, max_passes: int = 200) -> Pairs:
    size, rng = len(SQUARES), np.random.default_rng(5)
    total = float(SQUARES.sum())
    matrix = Matrix(size, lambda q: SQUARES[:, None] * q, np.empty(0), lambda: (total, 1e-15))
    start = np.linalg.qr(rng.standard_normal((size, 8)))[0]
    first = Start(start, matrix.apply(start), capacity, most=most)
    target = Target(None, share, max_passes=max_passes)
    return block_lanczos(matrix, target, block=8, rng=lambda: np.random.default_rng(6), start=first)


def test_the_basis_grows() -> None:
    found = run(0.9, capacity=48, most=180)
    wanted = int(np.searchsorted(np.cumsum(SQUARES) / SQUARES.sum(), 0.9)) + 1
    assert len(found.values) == wanted > 48
    assert found.proved
    assert np.all((found.lower[:wanted] <= SQUARES[:wanted]) & (SQUARES[:wanted] <= found.upper[:wanted]))


def test_a_basis_that_may_not_grow_ends_in_a_refusal() -> None:
    with pytest.raises(MemoryBudgetError, match=r"Explaining 90 % of the total takes at least \d+ components"):
        run(0.9, capacity=48, most=0)


def test_a_basis_with_room_for_less_than_a_block_ends_in_a_refusal() -> None:
    with pytest.raises(MemoryBudgetError, match="takes at least"):
        run(0.9, capacity=48, most=51)


def test_no_more_passes_than_allowed() -> None:
    with pytest.raises(ParameterError, match="After max_passes=5 passes over the data, it is still unknown"):
        run(0.9, capacity=180, most=180, max_passes=5)


def test_a_streamed_table_within_little_memory() -> None:
    """Came to no end: 200 passes were allowed, and more than a thousand were made."""
    signs = np.sign(np.random.default_rng(8).standard_normal((562, 233)))
    memory = 1_000_000 + 4000 * 233 + 48 * 233**2
    with pytest.raises(MemoryBudgetError, match="request a smaller share, or specify k"):
        ek.decompose(signs, "svd", explain=0.99997, stream=True, memory=memory, solver="lanczos")
    whole = ek.decompose(signs, "svd", explain=0.99997, stream=True, memory=4 * memory, solver="lanczos")
    assert whole.k > 160
