"""Tables with one rating per line, identified by texts or numbers, and tables that only look like them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import eckart as ek
from eckart.cli import main
from eckart.io.entries.rating_lines import rating_lines

RNG = np.random.default_rng(0)
PAIRS = RNG.choice(40 * 25, 400, replace=False)
LINES = pd.DataFrame({
    "userId": PAIRS // 25 + 1,
    "movieId": (PAIRS % 25 + 1) * 37,
    "rating": RNG.integers(1, 11, 400) / 2,
    "timestamp": RNG.integers(800_000_000, 900_000_000, 400),
})  # fmt: skip
TABLE = LINES.pivot_table(index="userId", columns="movieId", values="rating")
FORMS = {
    "four columns": LINES,
    "without times": LINES.iloc[:, :3],
    "without known names": LINES.iloc[:, :3].set_axis(["a", "b", "c"], axis=1),
    "items by name": LINES.assign(movieId=[f"{number:04d}" + "x" for number in LINES.movieId]),
    "dates": LINES.assign(timestamp=pd.to_datetime(LINES.timestamp, unit="s").astype(str)),
}


@pytest.mark.parametrize("form", FORMS)
def test_numbers_as_identifiers(form, tmp_path):
    FORMS[form].to_csv(tmp_path / "lines.csv", index=False)
    long, wide = ek.Ratings(2, penalty=0.1, rng=0).fit(tmp_path / "lines.csv"), ek.Ratings(2, penalty=0.1, rng=0)
    wide.fit(TABLE)
    assert (len(long.row_names_), len(long.column_names_)) == TABLE.shape
    assert sorted(long.row_names_, key=int) == [str(user) for user in TABLE.index]
    item = "0074x" if form == "items by name" else 74
    assert long.predict(7, item) == pytest.approx(wide.predict(7, 74), rel=1e-6)


@pytest.mark.parametrize("unique", [True, False])
def test_texts_that_describe_rows_and_columns(unique, tmp_path):
    titles = [f"Film {number}" if unique else f"Film {number % 3}" for number in LINES.movieId]
    person = [f"person {number % 5}" for number in LINES.userId]
    LINES.assign(title=titles, city=person).to_csv(tmp_path / "lines.csv", index=False)
    found = ek.Ratings(1, penalty=30, rng=0).fit(tmp_path / "lines.csv")
    plain = ek.Ratings(1, penalty=30, rng=0).fit(LINES)
    assert len(found.row_names_) == TABLE.shape[0]
    name = "Film 74" if unique else "74"
    assert found.predict("7", name) == pytest.approx(plain.predict("7", "74"), rel=1e-6)  # biases only


def test_tables_of_ratings_are_not_lists():
    full = RNG.integers(1, 6, (60, 3)).astype(float)
    assert rating_lines(full, None) is None
    assert rating_lines(RNG.normal(size=(60, 3)), None) is None
    assert rating_lines(np.where(RNG.random((60, 3)) < 0.3, np.nan, full), None) is None


def test_the_command_evaluates_a_fifth_by_default(tmp_path):
    LINES.to_csv(tmp_path / "u.data", sep="\t", index=False, header=False)
    found = CliRunner().invoke(main, ["recommend", str(tmp_path / "u.data"), "--evaluate"])
    assert found.exit_code == 0, found.output
    same = CliRunner().invoke(main, ["recommend", str(tmp_path / "u.data"), "--evaluate", "20%"])
    assert found.output == same.output
    assert "held-out ratings" in found.output


AGAIN = pd.DataFrame({
    "user": ["a", "a", "b", "b", "c", "c", "a", "a"],
    "item": ["x", "y", "x", "z", "y", "z", "x", "x"],
    "rating": [1, 2, 3, 4, 5, 1, 5.0, 4.5],
    "when": [f"2024-01-{day:02d}" for day in (5, 2, 2, 2, 2, 2, 1, 9)],
})  # fmt: skip


@pytest.mark.parametrize(("form", "rating", "kept"), [
    ("by date", 4.5, "its latest rating"), ("by seconds", 4.5, "its latest rating"),
    ("without times", 3.5, "the mean of its ratings"),
])  # fmt: skip
def test_pairs_rated_several_times(form, rating, kept, tmp_path):
    lines = {
        "by date": AGAIN,
        "by seconds": AGAIN.assign(when=pd.to_datetime(AGAIN.when).astype("datetime64[s]").astype(np.int64)),
        "without times": AGAIN.iloc[:, :3],
    }[form]
    once = pd.concat([lines.iloc[1:6], lines.iloc[:1].assign(rating=rating)])
    found, same = ek.Ratings(1, penalty=0.1, rng=0).fit(lines), ek.Ratings(1, penalty=0.1, rng=0).fit(once)
    assert found.predict("a", "z") == pytest.approx(same.predict("a", "z"), rel=1e-9)
    assert found.note_ == (
        f"The file has 8 ratings for 6 pairs of a row and a column. If a pair has several ratings, Eckart uses {kept}."
    )
    assert same.note_ == ""
    lines.to_csv(tmp_path / "lines.csv", index=False)
    printed = CliRunner().invoke(main, ["recommend", str(tmp_path / "lines.csv"), "--row", "a"])
    assert printed.exit_code == 0, printed.output
    assert found.note_ in printed.output


def test_three_measurements_are_not_a_list(tmp_path):
    """Ages at two times and an outcome: no pair of ages repeats, but hardly any age does."""
    rng = np.random.default_rng(12)
    entry = rng.integers(200, 500, 45)
    path = tmp_path / "x.csv"
    table = pd.DataFrame({"ageentry": entry, "age": entry + rng.integers(5, 60, 45), "death": rng.integers(0, 2, 45)})
    assert table["age"].nunique() < 45 > table["ageentry"].nunique()
    table.to_csv(path, index=False)
    assert not {"rating_lines", "long_table"} & {note.code for note in ek.analyze(path).decomposition.notes}
