"""The digest of a matrix depends on every bit and every position, and on nothing else."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from scipy import sparse

from eckart.engine.backends import digest as module
from eckart.engine.backends.digest import dense_sums, stored_sums
from eckart.engine.blocks.source import MemoryRows
from eckart.engine.digest import digest, from_limbs, generator, limbs
from eckart.engine.matrix import open_blocks
from eckart.io.open_matrix import open_matrix

SEEDS = [int(s) for s in np.random.default_rng(20261).integers(0, 2**31, 3)]


def reference(table: np.ndarray) -> int:
    """The formula of the module docstring in Python integers."""
    from eckart.engine.backends.digest import FIRST_MULTIPLIER, ROW_MULTIPLIER, SECOND_MULTIPLIER, column_keys

    table = np.ascontiguousarray(table)
    if table.dtype == np.float32:
        table = np.hstack([table, np.zeros((len(table), table.shape[1] % 2), np.float32)])
    words, top = table.view(np.uint64), 2**64
    keys = [int(key) for key in column_keys(words.shape[1])]
    one = two = 0
    for i, row in enumerate(words.tolist()):
        for word, key in zip(row, keys, strict=True):
            v = ((word ^ key) + i * ROW_MULTIPLIER) % top
            v = (v ^ v >> 32) * FIRST_MULTIPLIER % top
            one += v
            v = (v ^ v >> 29) * SECOND_MULTIPLIER % top
            two += v ^ v >> 32
    return one % top | two % top << 64


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("columns", [1, 6, 7])
def test_every_route_gives_the_number_of_the_formula(dtype: str, columns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    table = np.random.default_rng(SEEDS[0]).standard_normal((53, columns)).astype(dtype)
    expected = reference(table)
    layouts = [table, np.asfortranarray(table), np.repeat(table, 2, axis=0)[::2]]
    for layout in layouts:
        assert digest(open_matrix(layout).matrix) == expected
    with monkeypatch.context() as patch:
        patch.setitem(sys.modules, "numba", None)
        patch.delitem(sys.modules, "numba")
        for layout in layouts:
            assert digest(open_matrix(layout).matrix) == expected
    for size in (64, 200, 10**6):
        blocks = open_blocks(MemoryRows(table), size=size).matrix
        assert digest(blocks) == expected
    monkeypatch.setattr(module, "_ROW_CHUNKS", 3)
    assert digest(open_matrix(table).matrix) == expected


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_sparse_rows_give_one_number_whatever_the_blocks(dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    matrix = sparse.random_array((200, 31), density=0.1, rng=SEEDS[1], dtype=dtype, format="csr")
    whole = digest(open_matrix(matrix).matrix)
    rows = np.repeat(np.arange(200), np.diff(matrix.indptr))
    one, two = stored_sums(matrix.data, matrix.indices, rows, 31, 0)
    assert whole == one | two << 64
    with monkeypatch.context() as patch:
        patch.setitem(sys.modules, "numba", None)
        patch.delitem(sys.modules, "numba")
        patch.setitem(module._WORDS_AT_A_TIME, True, 100)
        assert digest(open_matrix(matrix).matrix) == whole
    parts = [limbs(matrix[a:b], a) for a, b in ((150, 200), (0, 70), (70, 150))]
    assert from_limbs(sum(parts)) == (one, two)
    changed = matrix.copy()
    changed.data[-1] = np.nextafter(changed.data[-1], 2, dtype=dtype)
    assert digest(open_matrix(changed).matrix) != whole


def test_every_bit_and_every_position_counts() -> None:
    table = np.random.default_rng(SEEDS[2]).standard_normal((40, 9))
    whole = digest(open_matrix(table).matrix)
    seen = {whole}
    for i, j, bit in np.random.default_rng(SEEDS[0]).integers(0, (40, 9, 52), (300, 3)).tolist():
        changed = table.copy()
        changed.view(np.int64)[i, j] ^= 1 << bit
        seen.add(digest(open_matrix(changed).matrix))
        i2, j2 = (i + 1 + bit) % 40, (j + bit) % 9
        swapped = table.copy()
        swapped[[i, i2], [j, j2]] = table[[i2, i], [j2, j]]
        seen.add(digest(open_matrix(swapped).matrix))
    assert len(seen) > 580  # the draws repeat a few changes
    assert whole == digest(open_matrix(table.copy()).matrix)


def test_weights_count_and_the_streamed_digest_costs_no_pass() -> None:
    table, weights = np.random.default_rng(SEEDS[0]).standard_normal((60, 4)), np.linspace(1, 2, 60)
    resident, streamed = open_matrix(table).matrix, open_blocks(MemoryRows(table), size=500).matrix
    assert digest(resident.weighted(weights)) == digest(streamed.weighted(weights)) != digest(resident)
    streamed = open_blocks(MemoryRows(table), size=500).matrix
    streamed.shifted(np.ones(4)).moments_and_product()
    passes = streamed.passes
    assert digest(streamed) == digest(resident)
    assert streamed.passes == passes


def test_generators_differ_by_seed_purpose_and_data() -> None:
    table = np.random.default_rng(SEEDS[1]).standard_normal((20, 4))
    matrix, other = open_matrix(table).matrix, open_matrix(table + 1e-9).matrix
    draws = {
        float(generator(*arguments).standard_normal())
        for arguments in ((0, matrix, "a"), (0, matrix, "a"), (1, matrix, "a"), (0, matrix, "b"), (0, other, "a"))
    }
    assert len(draws) == 4


def test_other_array_libraries_give_the_same_number() -> None:
    torch = pytest.importorskip("torch")
    for dtype in ("f4", "f8"):
        table = np.random.default_rng(SEEDS[2]).standard_normal((30, 5)).astype(dtype)
        assert dense_sums(torch.from_numpy(table), 3) == dense_sums(table, 3)
        assert digest(open_matrix(torch.from_numpy(table)).matrix) == reference(table)


@pytest.mark.parametrize("loaded", [False, True])
@pytest.mark.parametrize("shape", [(0, 4), (1, 0)])
def test_empty_tables_have_a_digest_with_and_without_numba(
    shape: tuple[int, int], loaded: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Arrays of sparse blocks are digested in two tables, one of which may be empty."""
    if loaded:
        monkeypatch.setitem(sys.modules, "numba", pytest.importorskip("numba"))
    else:
        monkeypatch.delitem(sys.modules, "numba", raising=False)
    assert module.host_sums(np.zeros(shape), 0, None) == (0, 0)
