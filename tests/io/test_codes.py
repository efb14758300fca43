"""Values that stand for something else: codes for missing values, answers in words, numbers padded with zeros."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import eckart as ek
from eckart.errors import FileError, InputError
from eckart.io.codes import padded_columns, padded_role
from eckart.io.identifiers import without_identifiers

RNG = np.random.default_rng(0)


def notes_of(tmp_path, columns):
    path = tmp_path / "codes.csv"
    lines = [",".join(f"{cell:g}" for cell in row) for row in np.column_stack(list(columns.values()))]
    path.write_text("\n".join([",".join(columns), *lines]))
    return [str(note) for note in ek.open_data(path).metadata.notes if note.code == "missing_code"]


@pytest.mark.parametrize("code", [-999, -99, 9999])
def test_a_code_far_from_all_values_gets_a_note(tmp_path, code):
    height = RNG.normal(170, 9, 30)
    height[[3, 8, 20]] = code
    weight = RNG.normal(70, 9, 30)
    weight[4:6] = code
    found = notes_of(tmp_path, {"height": height, "weight": weight, "x": RNG.normal(size=30)})
    assert len(found) == 1
    assert found[0].startswith(f"The value {code} occurs 5 times in 2 columns and is far from all other values.")


def test_a_code_that_occurs_once_in_each_of_two_columns_gets_a_note(tmp_path):
    height, weight = RNG.normal(170, 9, 30), RNG.normal(70, 9, 30)
    height[3], weight[8] = -999, -999
    found = notes_of(tmp_path, {"height": height, "weight": weight})
    assert found[0].startswith("The value -999 occurs 2 times in 2 columns")


def test_ordinary_numbers_get_none(tmp_path):
    once = RNG.normal(size=30)
    once[3] = -999
    spread = RNG.normal(0, 900, 30)
    spread[:3] = -999
    assert not notes_of(tmp_path, {"once": once, "spread": spread, "constant": np.full(30, 999.0)})


@pytest.mark.parametrize("codes", [(99,), (98, 99), (-9, -8), (77, 88)])
def test_codes_among_answers_get_a_note(tmp_path, codes):
    answers = [RNG.integers(1, 6, 40).astype(float) for _ in range(4)]
    for place, column in enumerate(answers):
        for shift, code in enumerate(codes):
            column[5 * place + shift] = code
    age = RNG.integers(18, 90, 40).astype(float)
    age[3] = 99
    found = notes_of(tmp_path, {**{f"q{i}": column for i, column in enumerate(answers)}, "age": age})
    assert [note.split(" occurs")[0] for note in found] == [f"The value {code}" for code in sorted(codes)]
    assert all("occurs 4 times in 4 columns" in note for note in found)


@pytest.mark.parametrize("code", [-9, -8])
def test_codes_below_answers_from_0_to_10_get_a_note(tmp_path, code):
    answers = {f"q{i}": RNG.integers(0, 11, 60).astype(float) for i in range(3)}
    for column in answers.values():
        column[:2] = 0, 10
        column[[7, 30]] = code
    found = notes_of(tmp_path, answers)
    assert [note.split(" and is")[0] for note in found] == [f"The value {code} occurs 6 times in 3 columns"]


def test_numbers_that_may_be_counts_or_measurements_are_no_codes(tmp_path):
    counts = RNG.poisson(40, 60).astype(float)
    counts[:3] = 99
    heights = RNG.normal(60, 3, 60)
    heights[:3] = 98
    degrees = np.r_[RNG.integers(0, 21, 58).astype(float), -8, -9]
    degrees[:2] = 0, 20
    columns = {"counts": counts, "heights": heights, "steps": np.r_[np.arange(58.0), 77, 88], "degrees": degrees}
    assert not notes_of(tmp_path, columns)


SCALE = ["Strongly disagree", "Disagree", "Neutral", "Agree", "Strongly agree"]


def answers_of(table: object) -> list[str]:
    return [str(note) for note in ek.open_data(table).metadata.notes if note.code == "answers"]


@pytest.mark.parametrize("words", [SCALE, ["No", "Yes"], ["low", "middle", "high"]])
@pytest.mark.parametrize("door", ["frame", "file"])
def test_columns_with_the_same_answers_are_named(tmp_path, words, door):
    rng = np.random.default_rng(1)
    table = pd.DataFrame(rng.choice(words, (60, 6)), columns=[f"item {i}" for i in range(6)])
    table["age"] = rng.integers(18, 80, 60)
    table["city"] = rng.choice(["Rome", "Oslo", "Paris"], 60)
    table.to_csv(tmp_path / "answers.csv", index=False)
    (note,) = answers_of(table if door == "frame" else tmp_path / "answers.csv")
    assert note.startswith("6 columns with text, such as 'item 0', contain the same answers: ")
    assert all(f"'{word}'" in note for word in words)
    assert f"such as {'0 and 1' if len(words) == 2 else f'1 to {len(words)}'}," in note


def test_categories_of_different_kinds_get_none():
    rng = np.random.default_rng(1)
    table = pd.DataFrame(
        {
            "x": rng.normal(size=60),
            "sex": rng.choice(["male", "female"], 60),
            "city": rng.choice(["Rome", "Oslo"], 60),
            "from": rng.choice(["Rome", "Oslo"], 60),
            "name": [f"person {i}" for i in range(60)],
        }
    )
    assert not answers_of(table)


def test_a_table_of_answers_alone_is_refused_with_a_remedy(tmp_path):
    path = tmp_path / "answers.csv"
    pd.DataFrame(np.random.default_rng(1).choice(["Yes", "No"], (20, 4))).to_csv(path, index=False)
    with pytest.raises(FileError, match="ordered answers such as agree and disagree, replace them with numbers"):
        ek.open_data(path)


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
