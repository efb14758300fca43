"""Codes for missing values get a note; ordinary numbers do not."""

import numpy as np
import pytest

import eckart as ek

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
