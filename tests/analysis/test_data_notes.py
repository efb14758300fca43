"""Notes on sums of columns, targets, time series and long tables: given where they apply, not on ordinary tables."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from sklearn import datasets

import eckart as ek
from eckart.cli import main

CODES = {"combined_columns", "target_column", "series"}


def _table(seed: int = 0, rows: int = 80) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    numbers = rng.standard_normal((rows, 2)) @ rng.standard_normal((2, 5)) + 0.5 * rng.standard_normal((rows, 5))
    return pd.DataFrame(numbers, columns=list("abcde"))


def _noted(table: object, **options: object) -> dict[str, str]:
    notes = ek.analyze(table, ranks=None, **options).decomposition.notes
    return {note.code: str(note) for note in notes if getattr(note, "code", "") in CODES}


def test_sums_of_columns_are_named() -> None:
    table = _table().assign(total=lambda t: t.a + t.b + t.c)
    assert _noted(table) == {
        "combined_columns": "'total' is a linear combination of 'a', 'b' and 'c'. It repeats information, which can "
        "raise the number of components. To leave it out, use columns=[...] with the others."
    }
    both = _noted(table.assign(net=lambda t: t.d - 2 * t.e))["combined_columns"]
    assert "'total' of 'a', 'b' and 'c'; 'net' of 'd' and 'e'" in both
    assert _noted(_table()) == _noted(_table(rows=6)) == {}


def test_shares_that_add_up_to_1_are_combinations() -> None:
    table = np.exp(_table())
    assert "'e' is a linear combination of 'a', 'b', 'c' and 'd'" in str(_noted(table.div(table.sum(axis=1), axis=0)))


def test_targets_are_named(tmp_path) -> None:
    table = _table().assign(target=np.arange(80) % 3)
    assert _noted(table)["target_column"].startswith("'target' has 3 different values and looks like a class")
    assert _noted(table.rename(columns={"target": "floor"})) == {}
    assert _noted(_table().rename(columns={"e": "target"})) == {}
    path = tmp_path / "table.csv"
    table.to_csv(path, index=False)
    printed = CliRunner().invoke(main, ["report", str(path), "-o", str(tmp_path / "page.html")]).output
    assert "--labels target" in " ".join(printed.split())


@pytest.mark.parametrize("dated", [False, True])
def test_series_are_noticed(dated: bool) -> None:
    steps = np.random.default_rng(1).standard_normal((200, 4))
    table = pd.DataFrame(np.cumsum(steps, axis=0), columns=list("wxyz"))
    if dated:
        slow = table.copy()
        for i in range(1, 200):
            slow.iloc[i] = 0.8 * slow.iloc[i - 1] + steps[i]
        table = slow.assign(date=pd.date_range("2020-01-01", periods=200).strftime("%Y-%m-%d"))
    assert "table.diff()" in _noted(table)["series"]
    assert "series" not in _noted(table.sample(frac=1, random_state=0))


@pytest.mark.parametrize("name", ["iris", "wine", "breast_cancer", "diabetes", "digits", "linnerud"])
def test_ordinary_tables_have_no_such_notes(name: str) -> None:
    """The rows of iris and wine are sorted by species and cultivar, so consecutive rows are similar."""
    found = _noted(getattr(datasets, f"load_{name}")(as_frame=True).data)
    assert found == {}


def test_a_column_of_huge_numbers_is_named_as_the_cause() -> None:
    table = _table().assign(serial=np.random.default_rng(0).integers(10**15, 10**16, 80))
    sentence = ek.analyze(table).recommendation.sentence
    assert sentence.startswith("The variance of 'serial' is so large that PC1 consists of this column alone.")
    assert "scale=True" in sentence
    assert "--scale or --drop serial" in sentence.worded("cli")
    assert ek.analyze(table, scale=True).recommendation.k == 2


def test_rows_sorted_by_one_column_are_no_series() -> None:
    rng = np.random.default_rng(5)
    girth = np.sort(rng.gamma(9.0, 1.5, 60))
    trees = pd.DataFrame({"girth": girth, "volume": girth**2 + rng.standard_normal(60) * 6})
    assert _noted(trees) == {}
    trend = np.arange(60) + np.cumsum(rng.standard_normal((2, 60)), axis=1)
    assert "series" in _noted(pd.DataFrame({"population": np.arange(60.0) ** 1.5, "a": trend[0], "b": trend[1]}))


def test_a_list_of_ratings_is_recognised(tmp_path):
    rng = np.random.default_rng(0)
    path = tmp_path / "ratings.csv"
    lines = [f"{rng.integers(1, 60)},{rng.integers(1, 120)},{rng.integers(1, 6)}" for _ in range(400)]
    path.write_text("\n".join(["userId,movieId,rating", *lines]))
    assert any(note.code == "rating_lines" for note in ek.analyze(path).decomposition.notes)


def test_a_long_table_is_not_called_ratings(tmp_path):
    days = [f"2024-01-{day:02d}" for day in range(1, 21)]
    rng = np.random.default_rng(2)
    lines = [f"{name},{day},{rng.normal():.3f}" for name in ("IBM", "AMZN") for day in days]
    path = tmp_path / "stocks.csv"
    path.write_text("symbol,date,price\n" + "\n".join(lines))
    found = ek.analyze(path)
    note = next(note for note in found.decomposition.notes if note.code == "long_table")
    assert "one line per 'date' and one column per 'symbol'" in note
    assert found.clusters is None
    assert found.recommendation.k is None
    assert "Eckart does not recommend a number of components" in found.recommendation.sentence
    said = CliRunner().invoke(main, ["report", str(path), "-o", str(tmp_path / "page.html")]).output
    assert "Next" not in said


def _with_equal_steps(table: pd.DataFrame) -> list[str]:
    notes = ek.analyze(table, ranks=None).decomposition.notes
    return [note.details["column"] for note in notes if getattr(note, "code", "") == "equal_steps"]


def test_columns_that_change_by_equal_steps_are_named() -> None:
    table = _table(rows=40)
    assert _with_equal_steps(table.assign(wavelength=400 + 2.5 * np.arange(40))) == ["wavelength"]
    assert _with_equal_steps(table.assign(depth=(-0.1 * np.arange(40)).round(3))) == ["depth"]
    assert _with_equal_steps(table.assign(constant=1.0, sorted=np.sort(table.a))) == []
    assert _with_equal_steps(table[:8].assign(step=np.arange(8) * 3.0)) == []


def test_the_command_line_offers_to_use_equal_steps_as_labels(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    _table(rows=40).assign(wl=400 + 2.5 * np.arange(40)).to_csv("spectra.csv", index=False)
    found = CliRunner().invoke(main, ["report", "spectra.csv"])
    assert "use --labels wl, which also colours the rows by it" in " ".join(found.output.split())
    again = CliRunner().invoke(main, ["report", "spectra.csv", "--labels", "wl", "-o", "again.html"])
    assert again.exit_code == 0
    assert "same amount from row to row" not in " ".join(again.output.split())
