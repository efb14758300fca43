"""eckart query, recommend, similar: by name, on a saved model."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from eckart import datasets
from eckart.cli import main

RATINGS = str(datasets.path("ratings"))
MIXED = str(datasets.path("ratings_mixed"))


@pytest.fixture(autouse=True)
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two models in a folder of their own: films.eckart without rows, rows.eckart with them."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    assert run("fit", RATINGS, "--method", "svd", "-k", "2", "-o", "films.eckart").exit_code == 0
    assert run("fit", MIXED, "--method", "svd", "-k", "2", "-o", "rows.eckart", "--keep-rows").exit_code == 0


def run(*args: str, stdin: bytes | None = None) -> Result:
    return CliRunner().invoke(main, list(args), input=stdin)


def refused(*args: str) -> str:
    """The one line of an error that is the user's to mend."""
    done = run(*args)
    assert done.exit_code == 2, done.output
    assert done.stderr.count("\n") == 1
    assert done.stdout == ""
    return done.stderr


def document(*args: str) -> dict:
    done = run(*args, "--json")
    assert done.exit_code == 0, done.output
    assert done.stderr == ""
    return json.loads(done.stdout)


class TestQuery:
    def test_entries(self) -> None:
        done = run("query", "films.eckart", "Star Harbour=4")
        assert re.search(r"component 1 +2\.309 +Star Harbour, The Ninth Orbit, Robot Winter", done.stdout)
        assert "66.7 % of the row lies outside the concept space" in done.stdout

    def test_json(self) -> None:
        made = document("query", "films.eckart", "Star Harbour=4")
        assert made["command"] == "query"
        assert made["query"]["coordinates"] == pytest.approx([4 / 3**0.5, 0], abs=1e-14)
        assert made["concepts"][1] == {"name": "component 2", "made_of": ["A Letter from Rome", "Two Summers"]}

    def test_a_row_of_a_table(self) -> None:
        made = document("query", "films.eckart", "--row", "Dmitri", "--data", RATINGS)
        assert made["query"]["coordinates"] == pytest.approx([75**0.5, 0], abs=1e-13)

    def test_a_text(self) -> None:
        Path("words.csv").write_text("doc,lens,eye,blood\na,2,1,0\nb,1,2,0\nc,0,0,3\n")
        run("fit", "words.csv", "--method", "svd", "-k", "2", "-o", "words.eckart")
        found = document("similar", "words.eckart", "--text", "the eye", "--data", "words.csv", "-n", "2")
        assert {hit["name"] for hit in found["hits"]} == {"a", "b"}
        assert "'the'" in found["notes"][0]


class TestRecommend:
    def test_a_new_user(self) -> None:
        done = run("recommend", "films.eckart", "Star Harbour=4", "-n", "2")
        assert "The Ninth Orbit  1.333" in done.stdout
        assert "Robot Winter     1.333" in done.stdout
        assert done.stderr == ""

    def test_decimal_comma_and_a_name_with_a_sign(self) -> None:
        Path("odd.csv").write_text("u;a=b;c\nx;1;2\ny;2;4\n")
        run("fit", "odd.csv", "--method", "svd", "-k", "1", "-o", "odd.eckart")
        made = document("recommend", "odd.eckart", "a=b=2,5")
        assert made["hits"] == [{"name": "c", "place": 1, "score": pytest.approx(1.0)}]

    def test_a_row_of_a_table_gets_what_it_has_not(self) -> None:
        made = document("recommend", "films.eckart", "--row", "Ada", "--data", RATINGS)
        assert {hit["name"] for hit in made["hits"]} == {"A Letter from Rome", "Two Summers"}
        made = document("recommend", "films.eckart", "--row", "Ada", "--data", RATINGS, "--include-known", "-n", "3")
        assert [hit["score"] for hit in made["hits"]] == pytest.approx([1, 1, 1])

    def test_why(self) -> None:
        done = run("recommend", "films.eckart", "Star Harbour=3", "Two Summers=2", "--why", "Robot Winter")
        assert "Predicted Robot Winter for the given row: contribution of each concept" in done.stdout
        assert "Star Harbour  3.000         1.000" in done.stdout
        made = document("recommend", "films.eckart", "Star Harbour=3", "--why", "Robot Winter")
        assert made["score"] == pytest.approx(1.0)
        assert made["entries"][0]["name"] == "Star Harbour"
        assert made["concepts"][0]["name"] == "component 1"

    def test_everyone(self) -> None:
        done = run("recommend", "films.eckart", "--all", "--data", RATINGS, "-n", "1")
        header, *rows = csv.reader(done.stdout.splitlines())
        assert header == ["row", "column", "score"]
        assert [row[0] for row in rows] == list(datasets.load("ratings").row_names)
        made = document("recommend", "films.eckart", "--all", "--data", RATINGS, "-n", "1")
        assert made["rows"][0]["name"] == "Ada"
        assert len(made["rows"][0]["hits"]) == 1

    def test_columns_in_another_order_are_found_by_name(self) -> None:
        lines = [line.split(",") for line in Path(RATINGS).read_text().splitlines()]
        Path("turned.csv").write_text("\n".join(",".join([line[0], *reversed(line[1:])]) for line in lines))
        one = document("recommend", "films.eckart", "--row", "Ada", "--data", RATINGS)
        two = document("recommend", "films.eckart", "--row", "Ada", "--data", "turned.csv")
        assert one["hits"] == two["hits"]

    def test_cold(self) -> None:
        done = run("recommend", "films.eckart", "Star Harbour=0")
        assert done.exit_code == 0
        assert done.stdout == ""
        assert "nothing to compare" in done.stderr


class TestSimilar:
    def test_columns(self) -> None:
        done = run("similar", "films.eckart", "--column", "Two Summers", "-n", "1", "--proof")
        assert "A Letter from Rome  1.000        1.000        1.000" in done.stdout
        assert "The order of the results is proved." in done.stdout

    def test_rows_that_the_model_kept(self) -> None:
        made = document("similar", "rows.eckart", "--row", "Elena", "-n", "1", "--proof")
        assert made["hits"][0]["name"] == "Goran"
        assert made["hits"][0]["lower"] <= 1 - 1e-12 <= made["hits"][0]["upper"]
        assert (made["proved"], made["set_proved"]) == (0, False)

    def test_a_new_row_among_those_of_a_table(self) -> None:
        made = document("similar", "films.eckart", "Two Summers=1", "--data", RATINGS, "-n", "3")
        assert {hit["name"] for hit in made["hits"]} == {"Elena", "Fatima", "Goran"}

    def test_by_dot(self) -> None:
        made = document("similar", "rows.eckart", "Two Summers=1", "--by", "dot", "-n", "1")
        assert made["hits"][0]["name"] == "Fatima"


class TestRefused:
    @pytest.mark.parametrize(
        ("args", "word"),
        [
            (("recommend", "films.eckart", "Star Harbor=4"), "Did you mean 'Star Harbour'?"),
            (("recommend", "films.eckart", "Star Harbor=4"), "--ignore-unknown"),
            (("recommend", "films.eckart", "Star Harbour"), "column=value"),
            (("recommend", "films.eckart", "Star Harbour=good"), "column=value"),
            (("recommend", "films.eckart"), "No row was specified"),
            (("recommend", "films.eckart", "Two Summers=1", "--row", "Ada"), "a whole row"),
            (("recommend", "films.eckart", "--all"), "--data DATA"),
            (("recommend", "films.eckart", "Two Summers=1", "--why", "Robot"), "Did you mean 'Robot Winter'"),
            (("recommend", "films.eckart", "--row", "Ada"), "--data, or fit the model with --keep-rows"),
            (("recommend", "rows.eckart", "--row", "Ada"), "--include-known"),
            (("similar", "rows.eckart", "--row", "Eleni"), "Did you mean 'Elena'"),
            (("similar", "films.eckart", "--column", "x", "--row", "Ada"), "Use only one of them"),
            (("similar", "films.eckart", "Two Summers=1"), "--data"),
            (("similar", "nothing.eckart", "--column", "x"), "nothing.eckart"),
            (("query", "films.eckart", "--row", "Ada", "--data", str(datasets.path("usarrests"))), "Missing:"),
            (("recommend", "films.eckart", "Two Summers=1", "-n", "0"), "-n"),
        ],
    )
    def test_with_one_sentence(self, args: tuple[str, ...], word: str) -> None:
        assert word in refused(*args)

    def test_unknown_entries_ignored_if_asked(self) -> None:
        done = run("recommend", "films.eckart", "Nope=1", "Star Harbour=4", "--ignore-unknown", "-n", "1")
        assert done.exit_code == 0
        assert "'Nope'" in done.stderr

    def test_gaps_in_the_table(self) -> None:
        Path("gaps.csv").write_text(Path(RATINGS).read_text().replace("Bruno,3", "Bruno,"))
        assert "missing" in refused("query", "films.eckart", "--row", "Ada", "--data", "gaps.csv", "--quiet")
