"""Numbers padded with zeros are codes: labels in a report, and named in a note elsewhere."""

from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import eckart as ek
from eckart.errors import InputError
from eckart.io.identifiers import without_identifiers
from eckart.io.padded import padded_columns, padded_role


@pytest.mark.parametrize(
    ("cells", "digits"),
    [
        (["007", "012", "140"], 3), (["01", "", "NA", "12", "09"], 2), (["0001", "0002", "0003"], 4),
        (["7", "12", "140"], 0), (["0", "1", "0"], 0), (["0.5", "0.25", "1.5"], 0), (["10", "20", "30"], 0),
        (["007", "12", "140"], 0), (["01", "02", "0.5"], 0), (["01", "02"], 0), (["-01", "-02", "-03"], 0),
        ([" 007", " 012", "140 "], 3),
    ],
)  # fmt: skip
def test_which_cells_are_padded(cells: list[str], digits: int) -> None:
    role = padded_role(cells)
    assert padded_columns({"code": role, "x": "analysed"}) == ({"code": digits} if digits else {})


def table(path: Path, rows: int = 60) -> Path:
    rng = np.random.default_rng(2)
    lines = [f"{rng.integers(1, 12):03d},{a:.4f},{b:.4f}" for a, b in rng.normal(size=(rows, 2))]
    path.write_text("branch,a,b\n" + "\n".join(lines))
    return path


def test_codes_become_labels_of_a_report_with_all_their_digits(tmp_path: Path) -> None:
    found = ek.analyze(table(tmp_path / "branches.csv"))
    assert found.decomposition.column_names == ("a", "b")
    assert {len(label) for label in found.labels["branch"]} == {3}
    assert any("'branch' is not analysed, because its numbers are codes" in line for line in found.reading)
    assert {role.name: role.role for role in found.roles}["branch"] == "category"
    named = ek.analyze(tmp_path / "branches.csv", columns=["branch", "a", "b"])
    assert named.decomposition.columns == 3


def test_decompose_analyses_them_with_a_note(tmp_path: Path) -> None:
    d = ek.decompose(table(tmp_path / "branches.csv"), k=1)
    assert d.columns == 3
    assert any("'branch' seems to contain codes" in note for note in d.notes)


def test_codes_are_set_aside_from_rows_read_in_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("eckart.io.text.rows._HELD", 1000)
    path = table(tmp_path / "many.csv", 3000)
    source = without_identifiers(ek.open_data(path, memory="20MB", stream=True))
    assert not hasattr(source, "matrix")
    assert source.metadata.column_names == ("a", "b")


@pytest.mark.parametrize("door", ["pandas", "polars", "arrow"])
def test_codes_stored_as_text_are_labels_of_frames(tmp_path: Path, door: str) -> None:
    frame = pd.read_csv(table(tmp_path / "branches.csv"), dtype={"branch": str})
    given = {"pandas": frame, "polars": pl.from_pandas(frame), "arrow": pa.Table.from_pandas(frame)}[door]
    metadata = ek.open_data(given).metadata
    assert metadata.column_names == ("a", "b")
    assert metadata.labels["branch"] == tuple(frame["branch"])
    with pytest.raises(InputError, match=r"'branch' contains numbers that are stored as text, such as '[1-9]"):
        ek.open_data(frame.assign(branch=frame["branch"].str.lstrip("0")))
