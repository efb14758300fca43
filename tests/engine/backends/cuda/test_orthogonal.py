"""Blocks that are made at once and checked later: the same answers, and care where directions have to be left out.

The kernel itself is compared in test_gpu.py; here its work is done by LAPACK, so that all around it runs anywhere.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats

import eckart as ek
from eckart.engine.backends import orthogonal, select
from eckart.engine.backends.cuda import orthogonal as orthogonal_device
from eckart.engine.backends.cuda import whiten as cuda_whiten
from eckart.engine.backends.device import DeviceBackend
from eckart.engine.backends.host import HostBackend
from eckart.engine.lanczos import basis
from tests.engine.backends.card import whiten_by_lapack

RNG = np.random.default_rng(7)


class NumpyCard(HostBackend):
    """NumPy's arrays, with blocks made at once and work queued as on a card."""

    costs = DeviceBackend.costs
    draft_orthonormal = DeviceBackend.draft_orthonormal
    draft_next_block = DeviceBackend.draft_next_block
    speculate = DeviceBackend.speculate


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Every block is made at once; gives the list of verdicts on them."""
    verdicts: list[bool] = []
    good = orthogonal_device.Made.good

    def heard(made: orthogonal_device.Made, *floors: float) -> bool:
        verdicts.append(good(made, *floors))
        return verdicts[-1]

    monkeypatch.setattr(cuda_whiten, "usable", lambda block: 0 < block.shape[1] <= cuda_whiten.LARGEST)
    monkeypatch.setattr(cuda_whiten, "whiten", whiten_by_lapack)
    monkeypatch.setattr(orthogonal_device.Made, "good", heard)
    monkeypatch.setattr(select, "HostBackend", NumpyCard)
    return verdicts


def decaying(rows: int, columns: int, rank: int | None = None) -> np.ndarray:
    short = min(rows, columns)
    left, _ = np.linalg.qr(RNG.standard_normal((rows, short)))
    right, _ = np.linalg.qr(RNG.standard_normal((columns, short)))
    values = np.geomspace(1.0, 1e-3, short)
    if rank is not None:
        values[rank:] = 0.0
    return (left * values) @ right.T


@pytest.mark.parametrize(("rows", "columns"), [(900, 400), (300, 700)])
def test_same_answer_as_lapack(at_once: list[bool], rows: int, columns: int) -> None:
    data = decaying(rows, columns)
    found = ek.decompose(data, "svd", k=10, solver="lanczos", rng=0)
    expected = np.linalg.svd(data, compute_uv=False)[:10]
    np.testing.assert_allclose(found.values, expected, rtol=1e-9)
    assert found.certificate.proved
    assert any(at_once)


@pytest.mark.parametrize("rank", [1, 5, 20])
def test_directions_that_run_out_are_left_out_with_care(at_once: list[bool], rank: int) -> None:
    data = decaying(500, 300, rank=rank)
    found = ek.decompose(data, "svd", k=8, solver="lanczos", rng=0)
    expected = np.linalg.svd(data, compute_uv=False)[:8]
    np.testing.assert_allclose(found.values, expected, rtol=1e-9, atol=1e-12)
    assert np.all(found.certificate.upper >= expected - 1e-12)
    assert not all(at_once)


def hidden_dependence() -> np.ndarray:
    """Kahan's matrix: unit columns that are all but dependent, though no pivot of their Cholesky factor is small."""
    sine, size = 0.763, 24
    cosine = np.sqrt(1.0 - sine**2)
    triangle = np.eye(size) - cosine * np.triu(np.ones((size, size)), 1)
    return np.vstack([sine ** np.arange(size)[:, None] * triangle, np.zeros((30, size))])


def test_dependence_that_no_pivot_shows() -> None:
    columns = hidden_dependence()
    gram = columns.T @ columns
    assert np.diagonal(np.linalg.cholesky(gram)).min() > orthogonal_device.WELL_CONDITIONED
    assert np.linalg.eigvalsh(gram)[0] < 1e-13
    found = orthogonal.orthonormalize(columns)
    assert found.shape[1] == 23
    np.testing.assert_allclose(found.T @ found, np.eye(23), atol=1e-12)


def test_dependence_that_no_pivot_shows_is_not_good_at_once(at_once: list[bool]) -> None:
    assert not orthogonal_device.orthonormalized(hidden_dependence()).good(0.0)


def test_a_whole_run_gives_a_basis_that_is_orthonormal(at_once: list[bool], monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[np.ndarray] = []
    add = basis.Basis.add

    def watched(self: basis.Basis, block: np.ndarray, product: np.ndarray) -> np.ndarray:
        rest: np.ndarray = add(self, block, product)
        seen.append(np.array(self.vectors))
        return rest

    monkeypatch.setattr(basis.Basis, "add", watched)
    ek.decompose(decaying(800, 500), "pca", k=6, solver="lanczos", rng=1)
    assert len(seen) > 2
    for vectors in seen:
        np.testing.assert_allclose(vectors.T @ vectors, np.eye(vectors.shape[1]), atol=1e-12)


@pytest.mark.parametrize("spoil", [np.nan, 0.0])
def test_what_is_not_a_number_or_has_no_length_is_not_good(at_once: list[bool], spoil: float) -> None:
    block = RNG.standard_normal((50, 4))
    block[:, 2] = spoil
    with np.errstate(invalid="ignore", divide="ignore"):
        made = orthogonal_device.orthonormalized(block)
    assert not made.good(0.0)


def test_random_bits_are_those_of_splitmix64() -> None:
    """The published sequence, step by step in Python's integers."""
    mask = 2**64 - 1

    def mixed(state: int) -> int:
        z = state & mask
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & mask
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & mask
        return z ^ (z >> 31)

    seed = int(np.random.default_rng(5).integers(2**63))
    found = orthogonal.random_bits(np.random.default_rng(5), (40, 3), np.empty(0)).astype(np.uint64).ravel()
    assert found.tolist() == [mixed(seed + i * 0x9E3779B97F4A7C15) for i in range(120)]


@pytest.mark.parametrize("make", [orthogonal.gaussian, orthogonal.random_start])
def test_random_columns_beside_a_gpu(make: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(orthogonal, "is_host", lambda _: False)
    columns = make(np.random.default_rng(3), 30_001, 4, np.empty(0))
    assert columns.shape == (30_001, 4)
    np.testing.assert_allclose(columns.T @ columns / 30_001, np.eye(4), atol=0.03)
    np.testing.assert_allclose(columns.mean(axis=0), 0.0, atol=0.03)
    if make is orthogonal.gaussian:
        assert stats.kstest(columns.ravel(), "norm").pvalue > 1e-4
    else:
        assert set(np.unique(columns)) == {-1.0, 1.0}


@pytest.mark.parametrize("seed", range(20))
def test_blocks_leave_out_no_more_than_rounding(seed: int) -> None:
    """Directions of all lengths, in rounds: where one more is found than there is room for, the longest stay."""
    rng = np.random.default_rng(seed)
    size, width, known = 60, 24, 24
    whole, _ = np.linalg.qr(rng.standard_normal((size, size)))
    turn, _ = np.linalg.qr(rng.standard_normal((width, width)))
    rest = (whole[:, known : known + width] * 0.5 ** np.arange(width)) @ turn
    found, dropped = orthogonal.next_block(rest, rest.T @ rest, 1e-16, whole[:, :known])
    assert found.shape[1] <= width
    assert dropped < 1e-12
    left = rest - found @ (found.T @ rest)
    assert np.linalg.norm(left) < 1e-12
    np.testing.assert_allclose(found.T @ found, np.eye(found.shape[1]), atol=1e-12)
    np.testing.assert_allclose(whole[:, :known].T @ found, 0.0, atol=1e-12)
