"""Missing and infinite entries are refused in the same words, whether the table is in memory or read in blocks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse

import eckart as ek
from eckart.errors import MissingValuesError, NotFiniteError


def write(path: Path, values: np.ndarray) -> Path:
    if path.suffix == ".csv":
        np.savetxt(path, values, delimiter=",", header="a,b,c", comments="")
    elif path.suffix == ".npy":
        np.save(path, values)
    else:
        sparse.save_npz(path, sparse.csr_array(values))
    return path


@pytest.mark.parametrize("name", ["a.csv", "a.npy", "a.npz"])
@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize("method", ["pca", "svd", "nmf"])
def test_both_ways_refuse_in_the_same_words(tmp_path: Path, name: str, value: float, method: str) -> None:
    if name == "a.csv" and value == np.inf:
        pytest.skip("the reader of text refuses infinite numbers")
    values = np.random.default_rng(0).random((50, 3))
    values[7, 1] = value
    path, said = write(tmp_path / name, values), []
    for options in ({"stream": False}, {"stream": True}, {"stream": True, "memory": "1MB"}):
        kind = MissingValuesError if np.isnan(value) else NotFiniteError
        with pytest.raises(kind, match=rf"Input {name} contains .* row 8, column 2") as caught:
            ek.decompose(path, method, k=1, **options)
        said.append(str(caught.value))
    assert len(set(said)) == 1


def test_an_array_is_called_x() -> None:
    values: Any = np.random.default_rng(0).random((50, 3))
    values[7, 1] = np.nan
    with pytest.raises(MissingValuesError, match="Input X contains NaN"):
        ek.decompose(values, k=1)
