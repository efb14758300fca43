"""No sparse matrix reaches a compiled loop unchecked, whatever it came from."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import eckart as ek
from eckart.engine.blocks.csr_check import csr_block, csr_fault
from eckart.errors import InputError

MATRIX = sp.random_array((30, 8), density=0.2, rng=np.random.default_rng(4), format="csr")
FLOAT = np.dtype(np.float64)


def parts(**changed: Any) -> tuple[Any, ...]:
    found = {name: np.array(getattr(MATRIX, name)) for name in ("data", "indices", "indptr")}
    return tuple((found | changed).values())


def with_entry(name: str, place: int, value: int) -> dict[str, Any]:
    array = np.array(getattr(MATRIX, name)).astype(np.int64)
    array[place] = value
    return {name: array}


BROKEN = {
    "indptr decreases": with_entry("indptr", 12, 10**7),
    "runs from": with_entry("indptr", -1, 10**7),
    "starts": with_entry("indptr", 0, 1),
    "outside 0 to 7": with_entry("indices", 3, 8),
    "index is -1": with_entry("indices", 3, -1),
    "index is 4294967297": with_entry("indices", 3, 2**32 + 1),
    "instead of integers": {"indices": MATRIX.indices.astype(bool)},
    "need 31": {"indptr": MATRIX.indptr[:-1]},
    "for 48 values": {"indices": MATRIX.indices[:-1]},
    "dimensions instead of 1": {"data": MATRIX.data.reshape(1, -1)},
}


@pytest.mark.parametrize("change", BROKEN)
def test_every_fault_is_found(change: str) -> None:
    arrays = parts(**BROKEN[change])
    assert csr_fault(*arrays, MATRIX.shape) is not None
    with pytest.raises(ValueError, match=r"ind|values|instead"):
        csr_block(*arrays, MATRIX.shape, FLOAT)


def test_a_sound_matrix_passes_with_indices_as_wide_as_needed() -> None:
    assert csr_fault(*parts(), MATRIX.shape) is None
    assert csr_block(*parts(), MATRIX.shape, FLOAT).indices.dtype == np.int32
    wide = csr_block(np.ones(1), np.array([2**32 + 1]), np.array([0, 1]), (1, 2**33), FLOAT)
    assert wide.indices.tolist() == [2**32 + 1]


@pytest.mark.parametrize("kind", ["csr", "csc", "coo"])
@pytest.mark.parametrize("stream", [False, True])
def test_matrices_of_users(kind: str, stream: bool) -> None:
    matrix: Any = MATRIX.copy().asformat(kind)
    index = matrix.coords[1] if kind == "coo" else matrix.indices
    index[3] = 10**6
    with pytest.raises(InputError, match="damaged: a column index is 1000000"):
        ek.decompose(matrix, "svd", k=2, stream=stream)


def test_chunks_of_dask() -> None:
    array = pytest.importorskip("dask.array")
    broken = MATRIX.copy()
    broken.indices[3] = 10**6
    rows = array.from_array(broken, chunks=(30, 8), asarray=False)
    with pytest.raises(InputError, match="damaged"):
        ek.decompose(rows, "svd", k=2)


CHECKED = """
import numpy as np, scipy.sparse as sp, eckart as ek
rng = np.random.default_rng(7)
for shape, density in (((400, 30), .1), ((60, 300), .03), ((50, 4), .4)):
    a = sp.csr_array(np.where(rng.random(shape) < density, rng.standard_normal(shape), 0.0))
    exact = np.linalg.svd(a.toarray(), compute_uv=False)[:2]
    for stream in (False, True):
        for solver in ("gram", "lanczos") if shape[0] > shape[1] else ("lanczos",):
            found = ek.decompose(a, "svd", k=2, solver=solver, stream=stream).values
            np.testing.assert_allclose(found, exact, rtol=1e-8)
    ek.decompose(abs(a), "nmf", k=2)
    ek.decompose(a, "pca", k=2)
    ek.decompose(a, "cur", k=2)
print("sound")
"""


def test_compiled_loops_stay_inside_their_arrays() -> None:
    """Numba checks every index of every loop (NUMBA_BOUNDSCHECK), and an access outside raises IndexError."""
    cache = Path(__file__).parent / "__pycache__" / "bounds_checked"  # compiled once, apart from the fast loops
    flags = {"NUMBA_BOUNDSCHECK": "1", "NUMBA_CACHE_DIR": str(cache)}
    ended = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", CHECKED], env={**os.environ, **flags}, capture_output=True, check=False
    )
    assert ended.stdout.decode().strip() == "sound", ended.stderr.decode()[-2000:]
