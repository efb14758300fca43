"""Sums that compare the blocks of two passes: any change of the numbers or of their places changes them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse

from eckart.engine.blocks.digests import sums_of

_RNG = np.random.default_rng(3)
_DENSE = _RNG.standard_normal((300, 7))
_CSR = sparse.random_array((300, 40), density=0.2, format="csr", rng=_RNG)


def _with(matrix: Any, **parts: Any) -> Any:
    arrays = {name: getattr(matrix, name).copy() for name in ("data", "indices", "indptr")} | parts
    return sparse.csr_array((arrays["data"], arrays["indices"], arrays["indptr"]), shape=matrix.shape)


def _swapped(array: np.ndarray, one: int, two: int) -> np.ndarray:
    order = np.arange(len(array))
    order[[one, two]] = two, one
    return array[order]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_changed_and_permuted_numbers_are_found_in_dense_blocks(dtype: Any) -> None:
    block = _DENSE.astype(dtype)
    last = block.copy()
    last[-1, -1] = np.nextafter(last[-1, -1], dtype(9))
    others = [last, _swapped(block, 0, 299), _swapped(block.T, 2, 6).T, block[:-1], -block]
    found = {sums_of(other) for other in (block, *others)}
    assert len(found) == 1 + len(others)
    assert sums_of(np.asfortranarray(block)) == sums_of(block) == sums_of(block.copy())


def test_changed_and_permuted_entries_are_found_in_sparse_blocks() -> None:
    stored = _CSR.nnz
    value = _CSR.data.copy()
    value[-1] += 1e-12
    column = _CSR.indices.copy()
    column[0] = (column[0] + 1) % 40
    row = _CSR.indptr.copy()
    row[150] += 1
    others = [
        _with(_CSR, data=value),
        _with(_CSR, data=_swapped(_CSR.data, 0, stored - 1)),
        _with(_CSR, indices=column),
        _with(_CSR, indptr=row),
        _CSR.astype(np.float32),
    ]
    found = {sums_of(other) for other in (_CSR, *others)}
    assert len(found) == 1 + len(others)
    assert sums_of(_CSR) == sums_of(_CSR.copy())
    assert sums_of(sparse.csr_array((5, 3))) == sums_of(sparse.csr_array((5, 3)))
