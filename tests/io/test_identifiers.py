"""A column that identifies the rows is set aside whether a table is read whole or in blocks."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from click.testing import CliRunner
from pyarrow import parquet

import eckart as ek
from eckart.cli import main
from eckart.io import identifiers
from eckart.io.identifiers import without_identifiers

ROWS = 400
RNG = np.random.default_rng(11)
COUNTED = np.arange(ROWS) + 1.0
CASES = {
    "in order": ("id", COUNTED, True),
    "in no order": ("customer_id", RNG.permutation(ROWS) * 3.0, True),
    "twice the same": ("id", np.r_[COUNTED[:-1], 1.0], True),
    "twice the same index": ("index", np.r_[COUNTED[:-1], 5.0], False),
    "some patients with several rows": ("ID", RNG.integers(61_634, 13_454_352, ROWS).astype(float), True),
    "all patients with several rows": ("patientId", RNG.integers(0, 30, ROWS).astype(float), True),
    "in lower case": ("userid", RNG.integers(0, 30, ROWS).astype(float), True),
    "a running count in each group": ("index", (COUNTED - 1) % 50 + 1, True),
    "a running count in groups of other sizes": ("index", np.r_[COUNTED[:250], COUNTED[:90], COUNTED[:60]], True),
    "a running count in groups, in no order": ("index", RNG.permutation((COUNTED - 1) % 50), True),
    "groups of rows": ("subject", np.repeat(np.arange(40), 10) + 1.0, True),
    "groups of other sizes": ("subject", np.sort(np.r_[np.arange(40), RNG.integers(0, 40, ROWS - 40)]) + 1.0, True),
    "an index of prices": ("index", RNG.integers(90, 130, ROWS).astype(float), False),
    "account numbers": ("account_number", RNG.permutation(ROWS) * 7.0, True),
    "cases and controls": ("case", np.repeat([0.0, 1.0], ROWS // 2), False),
    "levels of an experiment": ("no", (COUNTED - 1) % 10 + 1, False),
    "a grid": ("row", (COUNTED - 1) % 20 + 1, False),
    "diodes": ("Id", np.r_[COUNTED[:-1], -1.0], False),
    "humidity": ("humidity", COUNTED, False),
    "acidity": ("acidity", RNG.integers(0, 9, ROWS).astype(float), False),
    "ages": ("age", RNG.integers(20, 60, ROWS).astype(float), False),
    "rooms": ("Num_rooms", RNG.integers(1, 9, ROWS).astype(float), False),
    "covid": ("covid", RNG.integers(0, 9, ROWS).astype(float), False),
    "covid in capitals": ("COVID", RNG.integers(0, 9, ROWS).astype(float), False),
    "a fraction": ("id", np.r_[COUNTED[:-1], 0.5], False),
    "missing": ("id", np.r_[COUNTED[:-1], np.nan], True),
    "missing index": ("index", np.r_[COUNTED[:-1], np.nan], False),
    "counts": ("row", COUNTED, True),
    "counts in no order": ("row", RNG.permutation(ROWS) + 5.0, True),
    "people": ("respondent", COUNTED, True),
    "with a gap": ("row", np.r_[COUNTED[:-1], 900.0], False),
    "years": ("year", 1500 + COUNTED, True),
    "codes": ("zip", RNG.integers(500, 99_999, ROWS).astype(float), True),
    "codes with gaps": ("Postal Code", np.r_[RNG.integers(0, 9, ROWS - 1).astype(float), np.nan], True),
    "codes in camel case": ("shipZip", RNG.integers(500, 99_999, ROWS).astype(float), True),
    "code with fractions": ("code", RNG.standard_normal(ROWS), False),
    "another word": ("zippers", RNG.integers(0, 9, ROWS).astype(float), False),
    "a year for several rows": ("year", 1990 + COUNTED % 7, True),
    "years of birth": ("birth_year", 1950 + COUNTED % 50, False),
    "years in unequal steps": ("year", 1990 + (COUNTED % 7) ** 2, False),
    "seconds": ("timestamp", 1.6e9 + 3600 * COUNTED, True),
    "milliseconds": ("eventTime", 1.6e12 + 3600 * COUNTED, True),
    "dates as digits": ("date", 20240100 + COUNTED % 28 + 1, True),
    "no dates": ("date", 20249900 + COUNTED, False),
    "seconds of a run": ("time", 60 + COUNTED % 7, False),
    "a time that counts the rows": ("TIME", COUNTED, True),
    "half seconds": ("time", COUNTED / 2, False),
    "individuals with several rows": ("individual", np.repeat(np.arange(100), 4) + 1.0, True),
    "an identifier with gaps": ("identifier", 4 + 3 * COUNTED, True),
    "row names of R": ("Row.names", COUNTED + 1, True),
    "another name": ("height", COUNTED, False),
}


def sources(tmp_path, name, values):
    columns = {"a": RNG.standard_normal(ROWS), name: values, "b": RNG.standard_normal(ROWS)}
    parquet.write_table(pa.table(columns), tmp_path / "a.parquet", row_group_size=70)
    return [ek.open_data(tmp_path / "a.parquet", stream=stream) for stream in (False, True)]


@pytest.mark.parametrize("case", CASES)
def test_whole_and_in_blocks(tmp_path, monkeypatch, case):
    monkeypatch.setattr(identifiers, "_BLOCK", 1000)
    name, values, aside = CASES[case]
    whole, rows = (without_identifiers(source) for source in sources(tmp_path, name, values))
    assert hasattr(rows, "read")
    assert whole.metadata.column_names == (("a", "b") if aside else ("a", name, "b"))
    assert rows.metadata.column_names == whole.metadata.column_names
    assert rows.metadata.roles == whole.metadata.roles
    assert rows.metadata.labels == whole.metadata.labels
    np.testing.assert_array_equal(rows.read(0, ROWS), whole.matrix)
    said = [[note for note in found.metadata.notes if " not analysed, because " in note] for found in (whole, rows)]
    assert said[0] == said[1]
    assert len(said[0]) == aside


@pytest.mark.parametrize("case", [
    "in order", "counts", "twice the same", "twice the same index", "with a gap", "a fraction", "missing", "codes",
    "codes with gaps", "code with fractions",
])  # fmt: skip
def test_ascending_values_need_no_memory(tmp_path, monkeypatch, case):
    monkeypatch.setattr(identifiers, "_BLOCK", 1000)
    monkeypatch.setattr(identifiers, "SMALL", 0)
    name, values, aside = CASES[case]
    whole, rows = sources(tmp_path, name, values)
    found = without_identifiers(rows, 1000)
    assert found.metadata.column_names == without_identifiers(whole).metadata.column_names
    assert (name in found.metadata.column_names) != aside


def test_what_could_not_be_compared_is_noted(tmp_path, monkeypatch):
    monkeypatch.setattr(identifiers, "SMALL", 0)
    name, values = "index", CASES["in no order"][1]
    found = without_identifiers(sources(tmp_path, name, values)[1], 1000)
    assert found.metadata.column_names == ("a", name, "b")
    assert [note.code for note in found.metadata.notes][-1] == "numbering_column"
    assert "more memory" in found.metadata.notes[-1]


def test_a_large_text_sets_its_identifier_aside_at_any_limit(tmp_path, monkeypatch):
    """A limit on the memory must not change what is analysed."""
    from eckart.cli import main
    from eckart.io.text import rows as text_rows

    monkeypatch.setattr(text_rows, "_HELD", 1000)
    lines = ["id,a,b", *(f"{i},{x:.4f},{y:.4f}" for i, (x, y) in enumerate(RNG.standard_normal((3000, 2))))]
    (tmp_path / "a.csv").write_text("\n".join(lines) + "\n")
    found = []
    for memory in ("1GB", "240kB"):
        with pytest.raises(SystemExit) as ended:
            main(
                [
                    "fit",
                    str(tmp_path / "a.csv"),
                    "-k",
                    "1",
                    "--memory",
                    memory,
                    "-o",
                    str(tmp_path / f"{memory}.eckart"),
                ]
            )
        assert ended.value.code in (0, None)
        found.append(ek.load(tmp_path / f"{memory}.eckart"))
    assert "blocks" in found[1].plan.why
    assert [model.column_names for model in found] == [("a", "b"), ("a", "b")]
    np.testing.assert_allclose(found[0].values, found[1].values, rtol=1e-10)


def test_codes_are_labels_unless_they_are_named(tmp_path):
    table = tmp_path / "shops.csv"
    zips = [f"{2000 + 7919 * i % 90_000:05d}" for i in range(40)]
    lines = [f"{zip_},{a:.3f},{b:.3f}" for zip_, (a, b) in zip(zips, RNG.standard_normal((40, 2)), strict=True)]
    table.write_text("zip,sales,staff\n" + "\n".join(lines))
    found = ek.analyze(table)
    assert [(role.name, role.role) for role in found.roles] == [
        ("zip", "label"), ("sales", "measure"), ("staff", "measure"),
    ]  # fmt: skip
    assert list(found.labels["zip"]) == zips
    note = (
        "The column 'zip' is not analysed, because its numbers are codes, not quantities. "
        "To analyse it anyway, use columns=[...]."
    )
    assert note in found.decomposition.notes
    assert ek.analyze(table, columns=["zip", "sales", "staff"]).decomposition.columns == 3
    assert any("'zip' seems to contain codes" in note for note in ek.open_data(table).metadata.notes)


def test_identifiers_of_groups_are_categories():
    rng = np.random.default_rng(5)
    school = np.repeat([3, 14, 20], 20)
    columns = {"school_id": school, "maths": rng.standard_normal(60) + school, "music": rng.standard_normal(60)}
    found = ek.analyze(columns)
    assert [(role.name, role.role) for role in found.roles] == [
        ("school_id", "category"), ("maths", "measure"), ("music", "measure"),
    ]  # fmt: skip
    assert set(found.labels["school_id"]) == {"3", "14", "20"}
    note = (
        "The column 'school_id' is not analysed, because it identifies groups of rows. "
        "To analyse it anyway, use columns=[...]."
    )
    assert note in found.decomposition.notes


@pytest.mark.parametrize("stream", [False, True])
def test_identifiers_of_ratings_are_kept(tmp_path, stream):
    """They say which row and column of the table each rating belongs to."""
    pairs = np.array([(i, j) for i in range(20) for j in range(15) if (i + j) % 3])
    columns = {"userId": pairs[:, 0], "movieId": pairs[:, 1], "rating": RNG.integers(1, 6, len(pairs))}
    parquet.write_table(pa.table(columns), tmp_path / "ratings.parquet")
    source = ek.open_data(tmp_path / "ratings.parquet", stream=stream)
    assert without_identifiers(source).metadata.column_names == ("userId", "movieId", "rating")


def test_times_as_numbers_are_dates():
    columns = {"date": 20240101 + np.arange(28), "a": RNG.standard_normal(28), "b": RNG.standard_normal(28)}
    found = ek.analyze(columns)
    assert {role.name: role.role for role in found.roles} == {"date": "date", "a": "measure", "b": "measure"}
    assert found.labels["date"][:2] == ("2024-01-01", "2024-01-02")
    seconds = ek.analyze({**columns, "date": 1_700_000_000 + 86_400 * np.arange(28)})
    assert seconds.labels["date"][0] == "2023-11-14T22:13:20"


def test_row_numbers_beside_two_texts_are_no_ratings(tmp_path):
    lines = [f"{i},{'ab'[i % 2]},{'xyz'[i % 3]}" for i in range(1, 25)]
    (tmp_path / "trial.csv").write_text("rownames,treatment,outcome\n" + "\n".join(lines))
    with pytest.raises(ek.errors.InputError, match=r"No numeric column is left .*'rownames'"):
        ek.analyze(tmp_path / "trial.csv")


def test_only_identifiers_are_refused(tmp_path):
    (tmp_path / "answers.csv").write_text("respondent,answer\n" + "\n".join(f"{i},agree" for i in range(1, 9)))
    with pytest.raises(ek.errors.InputError, match=r"No numeric column is left .*'respondent'"):
        ek.analyze(tmp_path / "answers.csv")
    assert ek.analyze(tmp_path / "answers.csv", columns=["respondent"]).decomposition.columns == 1


def test_identifiers_that_are_set_aside_name_the_rows(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(4)
    numbers = rng.permutation(np.arange(1000, 1030))
    table = pd.DataFrame(rng.normal(size=(30, 3)), columns=["a", "b", "c"])
    table.insert(0, "customer_id", numbers)
    table.to_csv("x.csv", index=False)
    assert ek.analyze("x.csv").decomposition.row_names == tuple(map(str, numbers))
    assert CliRunner().invoke(main, ["fit", "x.csv", "-k", "2", "--keep-rows", "-o", "m.eckart"]).exit_code == 0
    for data in ([], ["--data", "x.csv"]):
        said = CliRunner().invoke(main, ["similar", "m.eckart", "--row", str(numbers[7]), *data])
        assert f"Rows similar to {numbers[7]}" in said.output, said.output
    scores = CliRunner().invoke(main, ["transform", "m.eckart", "x.csv"]).stdout
    assert [line.partition(",")[0] for line in scores.splitlines()[1:]] == list(map(str, numbers))
    table["customer_id"] = np.arange(1, 31)
    table.to_csv("x.csv", index=False)
    assert ek.analyze("x.csv").decomposition.row_names is None
    table["name"] = [f"n{i}" for i in range(30)]
    table["customer_id"] = numbers
    assert ek.analyze(table).decomposition.row_names == tuple(table["name"])
