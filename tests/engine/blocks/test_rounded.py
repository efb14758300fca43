"""Integers that float64 rounds are reported in the same words, whatever the format and however it is read."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import feather, parquet
from scipy import sparse

import eckart as ek
from eckart.errors import DataWarning
from tests.anomalies.fuzz.variants import VARIANTS

PLAIN = "Integers larger than 2**53 were rounded to the nearest float64 number."
FILES = (
    "large.npz", "large-coo.npz", "large-dense.npz", "large-entry.mtx", "rounded-entries.parquet", "integers.h5",
    "integers.h5ad",
)  # fmt: skip


def rounding(path: object, **options: object) -> list[str]:
    d = ek.decompose(path, "svd", k=1, **options)
    return [str(note) for note in d.notes if note.code == "rounded_integers"]


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("name", FILES)
def test_rounded_integers_of_every_format(tmp_path: Path, name: str, stream: bool) -> None:
    if "h5" in name:
        pytest.importorskip("h5py")
    VARIANTS[name](tmp_path / name)
    assert rounding(tmp_path / name, stream=stream) == [PLAIN]


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("suffix", ["csv", "parquet", "feather"])
def test_columns_with_rounded_integers_are_named(
    tmp_path: Path, suffix: str, stream: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("eckart.io.text.rows._HELD", 0)
    monkeypatch.setattr("eckart.io.text.rows._HEAD", 100)
    large = [*range(100), 2**53 + 1]
    columns = {"a": [float(i % 7) for i in range(101)], "b": large, "c": [1e300 if i == 3 else 0.5 for i in large]}
    path = tmp_path / f"x.{suffix}"
    if suffix == "csv":
        lines = [",".join(map(repr, row)) for row in zip(*columns.values(), strict=True)]
        path.write_text("\n".join(["a,b,c", *lines]))
    else:
        (parquet.write_table if suffix == "parquet" else feather.write_feather)(pa.table(columns), path)
    assert rounding(path, stream=stream) == [f"{PLAIN[:-1]} in 'b'."]


def test_a_folder_of_files_with_rounded_integers(tmp_path: Path) -> None:
    for part in range(2):
        table = pa.table({"a": [1.0, 2.0, 4.0], "b": [part * 2**60, 5, 2]})
        parquet.write_table(table, tmp_path / f"{part}.parquet")
        np.save(tmp_path / f"{part}.npy", np.array([[1, part * 2**60], [3, 5], [2, 2]]))
    assert rounding(tmp_path) == [f"{PLAIN[:-1]} in 'b'."]
    assert rounding(str(tmp_path / "*.npy"), stream=True) == [PLAIN]


def test_conversion_reports_rounded_integers(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", np.array([[1, 2**53 + 1], [3, 5]]))
    assert ek.convert(tmp_path / "x.npy", tmp_path / "y.npy").endswith(PLAIN[:-1])


def test_sparse_matrices_in_memory(tmp_path: Path) -> None:
    with pytest.warns(DataWarning, match=r"larger than 2\*\*53 were rounded"):
        ek.decompose(sparse.csr_array(np.array([[1, 2**53 + 1], [3, 5]])), "svd", k=1)
