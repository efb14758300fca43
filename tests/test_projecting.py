"""project and reconstruct accept what users have: lists, data frames, sparse and masked arrays."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse

import eckart as ek
from eckart.errors import InputError

_TABLE = np.abs(np.random.default_rng(0).standard_normal((20, 4)))
_SCORES = np.array([[1.0, 2.0], [0.0, 3.0], [2.0, 1.0]])
_METHODS = ["pca", "svd", "cur", "nmf", "kernel_pca"]
_KINDS = {
    "list": lambda s: s.tolist(),
    "integers": lambda s: s.astype(np.int64),
    "lists of integers": lambda s: s.astype(int).tolist(),
    "float16": lambda s: s.astype(np.float16),
    "objects": lambda s: s.astype(object),
    "pandas": lambda s: pd.DataFrame(s, columns=["a", "b"]),
    "polars": lambda s: pl.DataFrame({"a": s[:, 0], "b": s[:, 1]}),
    "arrow": lambda s: pa.table({"a": s[:, 0], "b": s[:, 1]}),
    "csr": sparse.csr_matrix,
    "coo": sparse.coo_array,
    "masked": np.ma.MaskedArray,
}


@pytest.mark.parametrize("method", _METHODS)
@pytest.mark.parametrize("kind", _KINDS)
def test_scores_of_any_kind_give_the_rows_of_an_array(method, kind):
    d = ek.decompose(_TABLE, method, k=2)
    rows, wanted = ek.reconstruct(d, _KINDS[kind](_SCORES)), ek.reconstruct(d, _SCORES)
    assert rows.dtype == wanted.dtype
    assert (rows == wanted).all()


@pytest.mark.parametrize("method", _METHODS)
def test_integer_tensors_are_not_cut_off(method):
    torch = pytest.importorskip("torch")
    d = ek.decompose(_TABLE, method, k=2)
    rows = ek.reconstruct(d, torch.from_numpy(_SCORES.astype(np.int64)))
    assert np.allclose(rows, ek.reconstruct(d, _SCORES), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("method", _METHODS)
def test_no_scores_give_no_rows(method):
    assert ek.reconstruct(ek.decompose(_TABLE, method, k=2), _SCORES[:0]).shape == (0, 4)


@pytest.mark.parametrize("scores", [[["a", "b"]], [[1.0], [1.0, 2.0]], _SCORES + 1j, [[None, "x"]]])
def test_scores_that_are_not_real_numbers_are_refused(scores):
    d = ek.decompose(_TABLE, "svd", k=2)
    with pytest.raises(InputError, match="Pass an array of"):
        ek.reconstruct(d, scores)
