"""Attributes that ask for another scale or for missing values: numbers stay as stored, and a note says so."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import eckart as ek

h5py = pytest.importorskip("h5py")
zarr = pytest.importorskip("zarr")
VALUES = np.random.default_rng(0).integers(0, 100, (12, 3)).astype(np.int16)


def written(path: Path, attributes: dict[str, Any], values: np.ndarray = VALUES) -> Path:
    if path.suffix == ".zarr":
        zarr.create_array(str(path), data=values).attrs.update(attributes)
        return path
    with h5py.File(path, "w") as file:
        file.create_dataset("t", data=values).attrs.update(attributes)
    return path


def notes(data: object) -> list[str]:
    source: Any = ek.open_data(data)
    np.testing.assert_array_equal(source.read(0, 12) if hasattr(source, "read") else source.matrix, VALUES)
    return [str(note) for note in ek.decompose(data, k=1).notes if note.code == "packed_values"]


@pytest.mark.parametrize("name", ["a.h5", "a.zarr"])
@pytest.mark.parametrize(
    ("attributes", "shown"),
    [
        ({"scale_factor": 0.01, "add_offset": 273.15}, ["scale_factor=0.01", "add_offset=273.15"]),
        ({"_FillValue": -9999}, ["_FillValue=-9999"]),
        ({"missing_value": [-1, -2]}, ["missing_value=-1, -2"]),
        ({"missing_value": "none"}, ["missing_value=none"]),
        ({"_Unsigned": "true"}, ["_Unsigned=true"]),
    ],
)
def test_attributes_that_are_not_applied_are_noted(
    tmp_path: Path, name: str, attributes: dict[str, Any], shown: list[str]
) -> None:
    path = written(tmp_path / name, attributes)
    (note,) = notes(path)
    assert all(part in note for part in shown)
    assert "as they are stored" in note
    opened = zarr.open(str(path), mode="r") if name == "a.zarr" else h5py.File(path)["t"]
    (note,) = notes(opened)
    assert all(part in note for part in shown)


@pytest.mark.parametrize("name", ["a.h5", "a.zarr"])
def test_attributes_without_effect_are_not_noted(tmp_path: Path, name: str) -> None:
    attributes = {"scale_factor": 1.0, "add_offset": 0, "_Unsigned": "false", "units": "K"}
    if name == "a.h5":
        attributes |= {"_FillValue": np.float32(np.nan), "missing_value": np.array([np.nan])}
    assert notes(written(tmp_path / name, attributes)) == []


def test_sparse_values_are_noted(tmp_path: Path) -> None:
    with h5py.File(tmp_path / "a.h5ad", "w") as file:
        group = file.create_group("X")
        group.attrs.update({"encoding-type": "csr_matrix", "shape": (3, 2)})
        for part, values in (("data", [1.0, 2.0, 3.0]), ("indices", [0, 1, 0]), ("indptr", [0, 1, 2, 3])):
            group[part] = np.array(values)
        group["data"].attrs["scale_factor"] = 10.0
    found = ek.decompose(tmp_path / "a.h5ad", "svd", k=1)
    assert any("scale_factor=10.0 of the array 'X/data' is not applied" in note for note in found.notes)


def test_xarray_applies_the_attributes_itself(tmp_path: Path) -> None:
    xarray = pytest.importorskip("xarray")
    packed = xarray.DataArray(VALUES, dims=("row", "column"), attrs={"scale_factor": 0.5, "_FillValue": -1}, name="t")
    (note,) = notes(packed)
    assert "scale_factor=0.5 and _FillValue=-1 of the array 't' are not applied" in note
    decoded = xarray.decode_cf(packed.to_dataset())["t"]
    found = ek.decompose(decoded, "svd", k=1)
    assert not any(note.code == "packed_values" for note in found.notes)
    np.testing.assert_allclose(found.values, np.linalg.svd(0.5 * VALUES, compute_uv=False)[:1], rtol=1e-6)


@pytest.mark.parametrize(("mark", "program"), [("MATLAB_class", "MATLAB"), ("rhdf5-NA.OK", "R")])
def test_matrices_of_programs_that_store_columns_are_noted(tmp_path: Path, mark: str, program: str) -> None:
    """MATLAB's 3 x 12 matrix is 12 x 3 in the file."""
    path = written(tmp_path / "a.h5", {mark: np.bytes_("double")})
    with h5py.File(path) as file:
        for data in (path, file["t"], file):
            (note,) = (note for note in ek.decompose(data, "svd", k=1).notes if note.code == "stored_by_columns")
            assert note.startswith(f"{program} wrote the array ")
            assert "which is 12 x 3" in note
