"""Notes are sentences with a code; the code survives copies, pickles and model files."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path

import numpy as np
import pytest

import eckart as ek
from eckart.notes import Note, code_of, for_door
from eckart.wording import either


@pytest.fixture
def units() -> ek.Decomposition:
    table = np.random.default_rng(5).normal(size=(30, 3)) * [1.0, 1.0, 1e3]
    return ek.decompose(np.column_stack([table, np.ones(30)]), k=2)


def test_a_note_is_its_sentence() -> None:
    note = Note("code", f"say {either('header=False', '--no-header')}", {"rows": 3})
    assert note == "say header=False"
    assert note.worded("cli") == "say --no-header"
    for again in (copy.deepcopy(note), pickle.loads(pickle.dumps(note))):
        assert (again, again.code, dict(again.details)) == (note, "code", {"rows": 3})
        assert again.worded("cli") == "say --no-header"


def test_programs_branch_on_codes(units: ek.Decomposition) -> None:
    assert [note.code for note in units.notes] == ["constant_columns", "units_differ"]


def test_codes_survive_a_model_file(units: ek.Decomposition, tmp_path: Path) -> None:
    units.save(tmp_path / "m")
    assert [note.code for note in ek.load(tmp_path / "m").notes] == [note.code for note in units.notes]
    assert ek.load(tmp_path / "m").notes == units.notes


def test_notes_on_a_text_say_what_to_type_next(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("1,b\n3,4\n5,6\n", encoding="utf-8")
    (note,) = (note for note in ek.open_data(tmp_path / "t.csv").metadata.notes if note.code == "doubtful_header")
    assert "header=False" in note
    assert "--no-header" in note.worded("cli")


def test_a_note_without_figures_survives_a_pickle() -> None:
    note = Note("units_differ", "Column variances differ.")
    assert pickle.loads(pickle.dumps(note)).code == copy.deepcopy(note).code == "units_differ"


def test_lines_that_are_no_notes_pass_through():
    note = Note("overwrite", f"Give {either('overwrite=True', '--force')}.")
    assert [for_door(line, "cli") for line in (note, "Plain.")] == ["Give --force.", "Plain."]
    assert [code_of(line) for line in (note, "Plain.")] == ["overwrite", ""]
