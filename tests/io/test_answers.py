"""Columns of ordered answers in words get a note that names them; other texts do not."""

import numpy as np
import pandas as pd
import pytest

import eckart as ek
from eckart.errors import FileError

SCALE = ["Strongly disagree", "Disagree", "Neutral", "Agree", "Strongly agree"]


def notes_of(table: object) -> list[str]:
    return [str(note) for note in ek.open_data(table).metadata.notes if note.code == "answers"]


@pytest.mark.parametrize("words", [SCALE, ["No", "Yes"], ["low", "middle", "high"]])
@pytest.mark.parametrize("door", ["frame", "file"])
def test_columns_with_the_same_answers_are_named(tmp_path, words, door):
    rng = np.random.default_rng(1)
    table = pd.DataFrame(rng.choice(words, (60, 6)), columns=[f"item {i}" for i in range(6)])
    table["age"] = rng.integers(18, 80, 60)
    table["city"] = rng.choice(["Rome", "Oslo", "Paris"], 60)
    table.to_csv(tmp_path / "answers.csv", index=False)
    (note,) = notes_of(table if door == "frame" else tmp_path / "answers.csv")
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
    assert not notes_of(table)


def test_a_table_of_answers_alone_is_refused_with_a_remedy(tmp_path):
    path = tmp_path / "answers.csv"
    pd.DataFrame(np.random.default_rng(1).choice(["Yes", "No"], (20, 4))).to_csv(path, index=False)
    with pytest.raises(FileError, match="ordered answers such as agree and disagree, replace them with numbers"):
        ek.open_data(path)
