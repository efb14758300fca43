"""Ratings: known entries only, biases, cold starts, errors on held-out entries."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from scipy import sparse

import eckart as ek
from eckart.cli import main
from eckart.errors import InputError


def tastes(seed: int, noise: float = 0.3, known: float = 0.4) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    truth = 3 + 0.5 * rng.normal(size=(90, 1)) + 0.5 * rng.normal(size=(1, 30))
    truth = truth + 0.7 * rng.normal(size=(90, 2)) @ rng.normal(size=(2, 30))
    table = truth + noise * rng.normal(size=truth.shape)
    table[rng.random(table.shape) > known] = np.nan
    return truth, table


def test_concepts_predict_held_out_entries() -> None:
    _, table = tastes(0)
    score = ek.Ratings(2).evaluate(table)
    assert score.rmse < 0.7 * score.rmse_of_biases < 0.9 * score.rmse_of_mean
    model = ek.Ratings(2).fit(table)
    stored = sparse.csr_array(np.nan_to_num(table))
    again = ek.Ratings(2).fit(stored)
    assert again.predict(3, 4) == pytest.approx(model.predict(3, 4))


def test_noise_is_not_fitted() -> None:
    rng = np.random.default_rng(5)
    table = 3 + rng.normal(size=(80, 30))
    table[rng.random(table.shape) > 0.3] = np.nan
    score = ek.Ratings(4).evaluate(table)
    assert score.rmse < 1.03 * score.rmse_of_mean


def test_cold_rows_fall_back_to_the_columns() -> None:
    _, table = tastes(1)
    table[7] = np.nan
    model = ek.Ratings(2).fit(table)
    assert model.predict(7, 3) == pytest.approx(model.mean_ + model.column_bias_[3])
    found = model.recommend(7, 3)
    assert "columns with the highest means" in found.notes[0]
    best = np.argsort(-model.column_bias_)[:3]
    assert found.indices.tolist() == best.tolist()
    rated = set(np.flatnonzero(~np.isnan(table[0])).tolist())
    assert not rated & set(model.recommend(0, 30).indices.tolist())


def test_refusals() -> None:
    with pytest.raises(InputError, match="contains no ratings"):
        ek.Ratings(1).fit(np.full((3, 3), np.nan))


def test_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    _, table = tastes(2)
    rows = [",".join(["" if np.isnan(x) else f"{x:.2f}" for x in row]) for row in table]
    names = ",".join(f"film {j}" for j in range(30))
    Path("r.csv").write_text(f"who,{names}\n" + "\n".join(f"p{i},{row}" for i, row in enumerate(rows)) + "\n")
    done = CliRunner().invoke(main, ["recommend", "r.csv", "--evaluate", "20%", "-k", "2", "--json"])
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["rmse"] < json.loads(done.stdout)["rmse_of_biases"]
    done = CliRunner().invoke(main, ["recommend", "r.csv", "--row", "p3", "-n", "2"])
    assert "film" in done.stdout
    for ignored in (["--row", "p3", "--why", "film 2"], ["--all"], ["film 2=3"], ["--row", "p3", "--include-known"]):
        done = CliRunner().invoke(main, ["recommend", "r.csv", *ignored])
        assert done.exit_code == 2
        assert "works only with a model file" in done.stderr


def test_one_rating_per_line_is_the_same_table(tmp_path: Path) -> None:
    _, known = tastes(3)
    wide = ek.Ratings(2, rng=0).fit(known)
    lines = [f"r{i:02},c{j:02},{known[i, j]!r}" for i, j in zip(*np.nonzero(~np.isnan(known)), strict=True)]
    (tmp_path / "long.csv").write_text(
        "user,item,rating\n" + "\n".join(lines).replace("np.float64(", "").replace(")", "")
    )
    long = ek.Ratings(2, rng=0).fit(tmp_path / "long.csv")
    assert (long.row_names_[5], long.column_names_[7]) == ("r05", "c07")
    assert long.predict("r05", "c07") == pytest.approx(wide.predict(5, 7), rel=1e-6)


def test_predictions_do_not_depend_on_the_order_of_the_input() -> None:
    _, table = tastes(8, known=0.3)
    names = [f"user {number}" for number in range(len(table))]
    wide = pd.DataFrame(table, index=names, columns=[f"item {number}" for number in range(table.shape[1])])
    order = np.random.default_rng(0).permutation(len(table))
    i, j = np.nonzero(np.isfinite(table))
    lines = pd.DataFrame({"user": wide.index[i], "item": wide.columns[j], "rating": table[i, j]})
    for first, second in ((wide, wide.iloc[order]), (lines, lines.sample(frac=1, random_state=0))):
        models = [ek.Ratings(2, rng=0).fit(ratings) for ratings in (first, second)]
        assert models[0].penalties_ == models[1].penalties_
        assert models[0].predict("user 5", "item 7") == pytest.approx(models[1].predict("user 5", "item 7"), rel=1e-9)
        assert models[0].evaluate(first).rmse == pytest.approx(models[0].evaluate(second).rmse, rel=1e-9)


class TestNamesThatAreNumbers:
    """An integer is a name if all names are whole numbers, as with `loc` of pandas."""

    LINES = pd.DataFrame(
        {"user": [1, 1, 1, 2, 2, 3, 3], "film": [10, 20, 30, 10, 20, 20, 30], "rating": [5.0, 3, 1, 4, 2, 1, 2]}
    )
    WIDE = LINES.pivot_table(index="user", columns="film", values="rating")

    @pytest.mark.parametrize(
        "table", [LINES, WIDE, WIDE.rename_axis(None)], ids=["lines", "wide", "index without name"]
    )
    def test_an_integer_is_the_name_of_a_user(self, table):
        model = ek.Ratings(1, rng=0).fit(table)
        for user in (1, 2, 3):
            assert model.predict(user, 20) == model.predict(str(user), "20")
        assert model.recommend(2).title == "Columns for 2"
        assert model.recommend(np.int64(2)).names == model.recommend("2").names == ("30",)
        with pytest.raises(InputError, match=r"There is no row 0. The names of the rows are whole numbers: 1, 2, 3."):
            model.recommend(0)
        with pytest.raises(
            InputError, match=r"There is no column 2. The names of the columns are whole numbers: 10, 20"
        ):
            model.predict(1, 2)

    def test_concepts_take_the_same_names(self):
        whole = self.WIDE.fillna(1.5)
        space = ek.concepts(ek.decompose(whole, "svd", k=2, left=True), rows=whole)
        assert space.row(2).name == space.query(2).name == "2"
        assert space.similar_columns(10).names == space.similar_columns("10").names
        assert space.explain(1, 20).score == space.explain("1", "20").score
        np.testing.assert_array_equal(space.query({20: 3.0}).coordinates, space.query({"20": 3.0}).coordinates)
        np.testing.assert_allclose(space.query(whole.loc[2]).coordinates, space.row("2").coordinates)
        with pytest.raises(InputError, match=r"There is no column 0"):
            space.query({0: 3.0})

    def test_an_ambiguous_integer_is_refused(self):
        named = self.WIDE.fillna(1.5).set_axis(["7", "b", "2"]).set_axis(["u", "1", "w"], axis=1)
        space = ek.concepts(ek.decompose(named, "svd", k=2, left=True), rows=named)
        assert space.row(1).name == "b"
        assert space.columns.place(1) == 1  # "1" is at this index
        with pytest.raises(InputError, match=r"7 is the name of a row\. Use the name as a string, such as '7'"):
            space.row(7)
        assert space.row(2).name == "2"
        with pytest.raises(InputError, match="0 is the name of a row and the index of 'b'"):
            ek.concepts(space.d, rows=named.set_axis(["b", "0", "c"])).row(0)
        twice = named.set_axis(["5", "5", "6"])
        with pytest.raises(InputError, match=r"Several rows have the name '5'. Give the rows different names"):
            ek.concepts(space.d, rows=twice).row(5)
