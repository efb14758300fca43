"""Messages name keywords in Python and options on the command line."""

from __future__ import annotations

import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import eckart as ek
from eckart.errors import EckartError, FileError, ParameterError
from eckart.wording import either, worded


def test_a_message_without_alternatives_is_the_same_at_both_doors() -> None:
    assert worded("plain", "python") == worded("plain", "cli") == "plain"


def test_alternatives_are_chosen_by_door() -> None:
    error = FileError(f"Give {either('overwrite=True', '--force')} to {either('a', 'b')}.")
    assert str(error) == "Give overwrite=True to a."
    assert error.worded("cli") == "Give --force to b."
    assert str(pickle.loads(pickle.dumps(error))) == str(error)


def test_warnings_are_worded_by_door(tmp_path: Path) -> None:
    rows = np.random.default_rng(0).random((30, 8))
    with pytest.warns(ek.errors.EckartWarning, match="Allow more with max_iter") as issued:
        ek.decompose(rows, "nmf", k=3, max_iter=1)
    assert isinstance(issued[0].message, ek.errors.EckartWarning)
    assert "Allow more with --iterations" in issued[0].message.worded("cli")
    np.save(tmp_path / "rows.npy", rows)
    command = [sys.executable, "-m", "eckart", "fit", str(tmp_path / "rows.npy"), "--method", "nmf", "-k", "3"]
    command += ["--iterations", "1", "-o", str(tmp_path / "m.eckart")]
    said = subprocess.run(command, capture_output=True, check=True, text=True).stderr
    assert "Allow more with --iterations" in said
    assert "max_iter" not in said


def test_errors_carry_argument_value_and_remedy() -> None:
    error = ParameterError("k=0 is not possible.", argument="k", value=0, remedy="Give a whole number from 1 on.")
    assert str(error) == "k=0 is not possible. Give a whole number from 1 on."
    assert (error.argument, error.value, error.remedy) == ("k", 0, "Give a whole number from 1 on.")
    with pytest.raises(EckartError) as caught:
        ek.decompose(np.eye(4), k=9)
    assert (caught.value.argument, caught.value.value) == ("k", 9)


def test_the_command_line_names_its_own_options(tmp_path: Path) -> None:
    table = tmp_path / "t.csv"
    table.write_text("a,b\n1,2\n3,5\n4,4\n")
    model = tmp_path / "m.eckart"
    command = [sys.executable, "-m", "eckart", "fit", str(table), "-o", str(model)]
    assert subprocess.run(command, capture_output=True, check=False).returncode == 0
    refused = subprocess.run(command, capture_output=True, check=False, text=True).stderr
    assert "--force" in refused
    assert "overwrite=True" not in refused
    with pytest.raises(FileError, match="overwrite=True"):
        ek.load(model).save(model)
