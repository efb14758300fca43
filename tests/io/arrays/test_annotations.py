"""Names, labels and masks of AnnData files, as anndata writes them in its versions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import eckart as ek
from eckart.errors import FileError, ParameterError

h5py = pytest.importorskip("h5py")
VALUES = np.random.default_rng(0).random((4, 3))


def categorical(table: Any, name: str, categories: list[str], codes: list[int]) -> None:
    group = table.create_group(name)
    group.attrs["encoding-type"] = "categorical"
    group["categories"] = np.array(categories, dtype=h5py.string_dtype())
    group["codes"] = np.array(codes, np.int8)


@pytest.fixture
def annotated(tmp_path: Path) -> Path:
    with h5py.File(tmp_path / "a.h5ad", "w") as file:
        file["X"] = VALUES
        for side, names in (("obs", ["w", "x", "y", "z"]), ("var", ["g", "h", "i"])):
            file.create_group(side)["_index"] = np.array(names, dtype=h5py.string_dtype())
        categorical(file["obs"], "type", ["B", "T"], [1, 0, -1, 1])
        categorical(file["var"], "chosen", ["False", "True"], [1, 0, 1])
        file["obs"]["size"] = np.arange(4.0)
    return tmp_path / "a.h5ad"


@pytest.mark.parametrize("stream", [False, True])
def test_categories_label_the_rows(annotated: Path, stream: bool) -> None:
    metadata = ek.open_data(annotated, stream=stream).metadata
    assert metadata.row_names == ("w", "x", "y", "z")
    assert metadata.labels == {"type": ("T", "B", "", "T")}


def test_a_mask_may_be_a_categorical_column(annotated: Path) -> None:
    found = ek.decompose(annotated, "svd", k=1, mask="chosen")
    assert found.column_names == ("g", "i")
    np.testing.assert_allclose(found.values, np.linalg.svd(VALUES[:, [0, 2]], compute_uv=False)[:1])
    with pytest.raises(ParameterError, match="no column 'other' in var"):
        ek.decompose(annotated, k=1, mask="other")


def test_a_mask_that_is_not_true_or_false_is_refused(annotated: Path) -> None:
    with h5py.File(annotated, "a") as file:
        categorical(file["var"], "kind", ["a", "b"], [0, 1, 0])
    with pytest.raises(ParameterError, match="'kind' of var does not contain true or false"):
        ek.decompose(annotated, k=1, mask="kind")


def test_codes_without_a_category_are_refused(annotated: Path) -> None:
    with h5py.File(annotated, "a") as file:
        file["obs/type/codes"][2] = 7
    with pytest.raises(FileError, match="obs/type/codes contains values other than the whole numbers from -1 to 1"):
        ek.open_data(annotated)


def test_tables_of_records_name_rows_and_columns(tmp_path: Path) -> None:
    """As anndata wrote them before version 0.7."""
    with h5py.File(tmp_path / "a.h5ad", "w") as file:
        file["X"] = VALUES
        file["obs"] = np.array([(b"w", 1), (b"x", 2), (b"y", 3), (b"z", 4)], [("index", "S5"), ("n", "i8")])
        file["var"] = np.array([(b"g",), (b"h",), (b"i",)], [("index", "S5")])
    metadata = ek.open_data(tmp_path / "a.h5ad").metadata
    assert metadata.row_names == ("w", "x", "y", "z")
    assert metadata.column_names == ("g", "h", "i")


def test_names_that_are_not_utf8_are_located(tmp_path: Path) -> None:
    with h5py.File(tmp_path / "a.h5ad", "w") as file:
        file["X"] = VALUES
        file.create_group("var")["_index"] = np.array([b"g", b"\xe9", b"i"])
    with pytest.raises(FileError, match="'var/_index' contains names that are not UTF-8"):
        ek.open_data(tmp_path / "a.h5ad")


def test_a_link_to_nothing_is_named(tmp_path: Path) -> None:
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file["X"] = h5py.SoftLink("/nothing")
    with pytest.raises(ParameterError, match="'X' is a link to an array that is not in the file"):
        ek.open_data(tmp_path / "a.h5")


@pytest.mark.parametrize("missing", [[0, 0, 0], [0, 0, 1]])
def test_a_nullable_mask_selects_genes_only_if_no_value_is_missing(annotated: Path, missing: list[int]) -> None:
    with h5py.File(annotated, "r+") as file:
        group = file["var"].create_group("known")
        group.attrs["encoding-type"] = "nullable-boolean"
        group["values"], group["mask"] = np.array([True, False, True]), np.array(missing, bool)
    if any(missing):
        with pytest.raises(ParameterError, match="'known' of var has missing values"):
            ek.decompose(annotated, "svd", k=1, mask="known")
    else:
        assert ek.decompose(annotated, "svd", k=1, mask="known").column_names == ("g", "i")
