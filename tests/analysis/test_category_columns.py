"""A note on columns of 0 and 1 that stand for one category."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import eckart as ek

RNG = np.random.default_rng(12)
ANSWERS = pd.DataFrame({"colour": RNG.choice(["red", "green", "blue"], 90), "sex": RNG.choice(["f", "m"], 90)})
ONE_HOT = pd.get_dummies(ANSWERS, dtype=float)


def notes(table: object, code: str) -> list[str]:
    found = ek.analyze(table, ranks=None).decomposition.notes
    return [str(note) for note in found if getattr(note, "code", "") == code]


@pytest.mark.parametrize("kind", [float, int, bool])
def test_columns_of_one_category_are_named(kind: type) -> None:
    (note,) = notes(ONE_HOT.astype(kind), "category_columns")
    assert note.startswith(
        "The group of 3 columns 'colour_blue' to 'colour_red' and the pair of columns 'sex_f' and 'sex_m' each stand "
        "for one category: in every row, exactly one of the columns is 1."
    )
    assert "multiple correspondence analysis" in note


def test_they_are_found_among_measurements_and_not_called_combinations() -> None:
    table = ONE_HOT.assign(height=RNG.normal(size=90), weight=RNG.normal(size=90))
    assert len(notes(table, "category_columns")) == 1
    assert notes(table, "combined_columns") == notes(table, "copied_columns") == []
    (combined,) = notes(table.assign(total=table.height + table.weight), "combined_columns")
    assert combined.startswith("'total' is a linear combination of 'height' and 'weight'")


def test_other_columns_of_0_and_1_are_answers() -> None:
    answers = pd.DataFrame((RNG.random((90, 6)) < 0.5).astype(float), columns=list("abcdef"))
    assert notes(answers, "category_columns") == []
    assert notes(ONE_HOT.iloc[:, 1:4].assign(x=RNG.normal(size=90)), "category_columns") == []  # one value is left out
    (note,) = notes(answers.assign(p=answers.a, q=1 - answers.a).drop(columns="a"), "category_columns")
    assert note.startswith("The pair of columns 'p' and 'q' stands for one category")
