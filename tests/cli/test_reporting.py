"""eckart report: what it says of awkward files, the summary in the terminal, Markdown, JSON, every method."""

from __future__ import annotations

import html
import json
import re
import shlex
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner, Result

from eckart import api, datasets
from eckart.analysis import analyze
from eckart.cli import main
from eckart.errors import FileError
from eckart.io.bytes import OpenedFile
from eckart.io.open_source import open_source

ARRESTS = str(datasets.path("usarrests"))
AWKWARD = """id;name;when;group;height;weight;member;constant;empty;note, extra
1;Ann;2021-01-03;a;1,70;60,5;true;7;;x, 1
2;Bob;2021-01-04;b;1,82;;false;7;;y, 2
3;Cy;2021-01-05;a;1,65;55,0;true;7;;z, 3
4;Di;2021-01-06;b;;72,5;false;7;;w, 4
5;Ed;2021-01-07;a;1,90;88,0;true;7;;v, 5
6;Flo;2021-01-08;b;1,58;51,0;false;7;;u, 6
"""

FATES = {
    "id": "not analysed, because it identifies or numbers the rows",
    "name": "used as row names",
    "when": "supplementary: compared with the components",
    "group": "supplementary: compared with the components, and used to colour the rows",
    "height": "analysed; 1 of 6 values was missing and imputed from the components",
    "weight": "analysed; 1 of 6 values was missing and imputed from the components",
    "member": "true and false values, analysed as 1 and 0",
    "constant": "analysed, but it is constant, so it does not affect the components",
    "empty": "left out, because it contains no values",
    "note, extra": "text, used as a label (6 different values)",
}

ROLES = {
    "id": "identifier", "name": "row names", "when": "date", "group": "category", "height": "measure",
    "weight": "measure", "member": "measure", "constant": "measure", "empty": "left out", "note, extra": "label",
}  # fmt: skip


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    return tmp_path


def run(*args: str) -> Result:
    done = CliRunner().invoke(main, list(args))
    assert done.exit_code == 0, done.output
    return done


def refused(*args: str) -> str:
    done = CliRunner().invoke(main, list(args))
    assert done.exit_code == 2, done.output
    return done.stderr


def write(name: str, text: str) -> str:
    Path(name).write_text(text, encoding="utf-8")
    return name


class TestAwkwardFile:
    """Semicolons that compete with commas, gaps, text, a constant, an identifier, dates, truth values."""

    def test_each_column_is_accounted_for(self) -> None:
        done = run("report", write("awkward.csv", AWKWARD), "--scale", "--missing", "em", "--json")
        document = json.loads(done.stdout)
        (data,) = (section for section in document["sections"] if section["key"] == "data")
        table = data["tables"]["columns"]
        assert {row[0]: row[2] for row in table["rows"]} == FATES
        assert {row[0]: row[1] for row in table["rows"]} == ROLES
        assert [row[3] for row in table["rows"] if row[0] in ("height", "weight")] == [1, 1]
        assert table["caption"] == "Columns analysed: 4 of 10."
        words = " ".join(data["lines"])
        for part in (
            "Cells are separated by ';'",
            "decimal comma",
            "row names come from the column 'name'",
            "identifies or numbers the rows",
        ):
            assert part in words
        assert document["columns"] == 4
        assert document["loadings"]["columns"] == ["height", "weight", "member", "constant"]

    def test_the_page_and_the_terminal_say_it_too(self) -> None:
        done = run("report", write("awkward.csv", AWKWARD), "--scale", "--missing", "mean")
        page = Path("report.html").read_text(encoding="utf-8")
        for name, fate in FATES.items():
            assert name in page
            assert fate.replace("imputed from the components", "replaced by the column mean") in page
        flat = re.sub(r"\s+", " ", done.stdout)
        for part in (
            "separated by ';'",
            "contains dates or times, so it is used as a label",
            "'id' is not analysed, because it identifies or numbers the rows",
            "1 column is constant",
        ):
            assert part in flat
        assert "are computed" not in done.stdout
        assert "PC4" not in done.stdout, "a constant column has no axis of its own"

    def test_gaps_are_never_silent(self) -> None:
        assert "2 of 24 values are missing" in refused("report", write("awkward.csv", AWKWARD))

    def test_an_identifier_is_used_when_asked_for(self) -> None:
        document = json.loads(run("report", write("a.csv", AWKWARD), "--columns", "id,member", "--json").stdout)
        assert document["loadings"]["columns"] == ["id", "member"]

    def test_columns_left_out_as_asked(self) -> None:
        done = run("report", write("a.csv", AWKWARD), "--drop", "height,weight", "--json")
        (data,) = (section for section in json.loads(done.stdout)["sections"] if section["key"] == "data")
        fates = {row[0]: row[2] for row in data["tables"]["columns"]["rows"]}
        assert fates["height"] == fates["weight"] == "left out, as requested"
        assert fates["id"] == "not analysed, because it identifies or numbers the rows"

    def test_models_take_files_with_and_without_identifiers(self) -> None:
        rows = "\n".join(f"{i},{i * i % 7},{i % 3}" for i in range(1, 9))
        run("fit", write("with.csv", f"id,a,b\n{rows}\n"), "-k", "1", "-o", "m.eckart")
        some = "\n".join(f"{i},{i * i % 7},{i % 3}" for i in (2, 5, 9))
        done = run("transform", "m.eckart", write("some.csv", f"id,a,b\n{some}\n"))
        assert "Ignored columns that the model does not have: 'id'" in done.stderr
        assert len(done.stdout.splitlines()) == 4


def test_remedies_in_the_page_are_options_of_the_command_line() -> None:
    lines = "\n".join(f"{i % 7}.5,{i * i % 11},{i % 7 + i * i % 11}.5,{i * 5 % 13}" for i in range(40))
    path = write("sums.csv", f"a,b,total,c\n{lines}\n")
    document = run("report", path, "--json").stdout
    printed = run("report", path, "--markdown", "--force").stdout
    run("report", path, "-o", "page.md")
    pages = (Path("report.html").read_text(encoding="utf-8"), Path("page.md").read_text(encoding="utf-8"))
    for text in (document, printed, *pages):
        assert "--drop total" in text
        assert "with the others" not in text
    assert "columns=[...] with the others" in analyze.analyze(path).report()


def test_columns_that_are_not_used_may_contain_anything() -> None:
    lines = "\n".join(f"{i % 7},{i * i % 11},{'rotary' if i == 5 else 4 + i % 3},{i * 5 % 13}" for i in range(40))
    path = write("cars.csv", f"a,b,cylinders,c\n{lines}\n")
    assert "To leave the column out, use --drop cylinders." in refused("report", path)
    for options in (("--drop", "cylinders"), ("--labels", "cylinders"), ("--columns", "a,b,c")):
        document = json.loads(run("report", path, *options, "--json", "--force").stdout)
        assert document["loadings"]["columns"] == ["a", "b", "c"]
    assert api.decompose(path, columns=["a", "b", "c"]).column_names == ("a", "b", "c")
    with pytest.raises(FileError, match=r"use columns=\[\.\.\.\] with the others"):
        api.decompose(path)


def test_sources_keep_identifiers_and_say_so() -> None:
    """Only the command line sets them aside; in a program the columns are the caller's."""
    metadata = open_source(write("a.csv", "id,a,b\n1,2,3\n2,5,4\n3,1,7\n")).metadata
    assert metadata.column_names == ("id", "a", "b")
    assert metadata.column_roles == {"id": "analysed", "a": "analysed", "b": "analysed"}
    assert any("'id' seems to identify or number the rows" in note for note in metadata.notes)


class TestTerminal:
    def test_everything_fits_eighty_columns(self) -> None:
        for extra in ((), ("--scale",), ("--method", "nmf", "-k", "2"), ("--method", "isomap")):
            done = run("report", ARRESTS, *extra, "--force")
            assert all(len(line) <= 80 and line == line.rstrip() for line in done.stdout.splitlines()), extra
            assert done.stdout.isascii()

    def test_bars_rules_rows_and_next_steps(self) -> None:
        text = run("report", ARRESTS, "--scale").stdout
        bars = {name: row.count("#") for name, row in re.findall(r"^ +(PC\d)(.*)$", text, re.MULTILINE)}
        longest = bars["PC1"]
        assert longest >= 8
        assert bars["PC2"] == round(longest * 24.744 / 62.006)
        assert "How many components\n" in text
        assert "Kaiser" in text
        assert "eckart fit" in text
        assert "Alaska" in text.partition("Unusual rows")[2]

    def test_commands_and_code_to_repeat_a_report_read_the_same_table(self, folder: Path) -> None:
        """Options of reading are part of the next commands, of the command on the page and of its Python code."""
        rng = np.random.default_rng(12)
        lines = [f"place {i};{';'.join(f'{x:.3f}'.replace('.', ',') for x in rng.normal(size=4))}" for i in range(40)]
        (folder / "odd name.csv").write_text("\n".join(["name;a;b;rank;c d", *lines]), encoding="utf-8")
        given = ("--delimiter", ";", "--decimal", ",", "--drop", "rank", "--seed", "3")
        done = run("report", "odd name.csv", *given, "-k", "2", "-o", "page.html")
        steps = done.stdout.replace("\\\n      ", "").partition("Next\n")[2].strip().splitlines()
        for step in steps:
            run(*shlex.split(step)[1:], "--force")
        assert len((folder / "scores.csv").read_text(encoding="utf-8").splitlines()) == 41
        page = html.unescape((folder / "page.html").read_text(encoding="utf-8"))
        command = page.partition('<pre id="share-command">')[2].partition("</pre>")[0]
        assert run(*shlex.split(command)[1:], "-o", "again.html").stdout == done.stdout
        code = page.partition("<pre>import eckart as ek")[2].partition("</pre>")[0]
        found: dict[str, Any] = {}
        exec("import eckart as ek" + code, found)
        assert found["analysis"].decomposition.column_names == ("a", "b", "c d")
        assert found["analysis"].recommendation.sentence in " ".join(done.stdout.split())

    def test_units_that_differ_are_said_and_the_remedy_shown(self) -> None:
        text = run("report", ARRESTS).stdout
        assert "The columns were not scaled" in text
        assert "--scale -o scaled.html" in text.replace("\\\n      ", "")


def test_a_lost_table_is_named_before_an_old_page(folder: Path) -> None:
    write("report.html", "old")
    assert "lost.csv" in refused("report", "lost.csv")
    assert "report.html" in refused("report", ARRESTS)
    assert (folder / "report.html").read_text(encoding="utf-8") == "old"


class TestForms:
    def test_markdown_on_standard_output(self, folder: Path) -> None:
        done = run("report", ARRESTS, "--scale", "--markdown")
        assert done.stdout.startswith("# Principal component analysis of usarrests.csv\n")
        headings = ("Summary", "How many components", "Main columns of each component", "Certificate")
        for heading in (*headings, "How it was computed"):
            assert f"\n## {heading}\n" in done.stdout
        assert "| PC1 | 2.480 |" in done.stdout
        assert (folder / "report.html").is_file()

    def test_markdown_file(self) -> None:
        run("report", ARRESTS, "--scale", "-o", "r.md")
        assert Path("r.md").read_text(encoding="utf-8").startswith("# Principal")

    def test_two_forms_at_once_are_refused(self) -> None:
        assert "both write to standard output" in refused("report", ARRESTS, "--markdown", "--json")
        assert "already prints the report to standard output" in refused("report", ARRESTS, "--markdown", "-o", "-")

    def test_json_has_the_sections_of_the_page(self) -> None:
        document = json.loads(run("report", ARRESTS, "--scale", "--json").stdout)
        keys = [section["key"] for section in document["sections"]]
        assert keys == [
            "summary",
            "components",
            "ranks",
            "meaning",
            "rows",
            "clusters",
            "rebuilt",
            "unusual",
            "columns",
            "data",
            "sure",
            "how",
        ]
        found = {section["key"]: section for section in document["sections"]}
        assert found["meaning"]["tables"]["loadings"]["rows"][1][1] == pytest.approx(0.5831836, abs=1e-7)
        rules = {row[0]: row[1] for row in found["ranks"]["tables"]["ranks"]["rows"]}
        assert rules["Kaiser"] == 1
        page = Path("report.html").read_text(encoding="utf-8")
        for section in document["sections"]:
            assert section["title"] in page


@pytest.mark.parametrize("method", ["svd", "nmf", "cur", "kernel-pca", "isomap"])
def test_other_methods(method: str) -> None:
    document = json.loads(run("report", ARRESTS, "--method", method, "-k", "2", "--json").stdout)
    assert document["method"] == method.replace("-", "_")
    assert document["k"] == 2
    assert Path("report.html").stat().st_size > 500_000


def test_options_without_meaning_are_refused() -> None:
    assert "--scale does not apply to --method nmf" in refused("report", ARRESTS, "--method", "nmf", "--scale")
    assert "--error does not apply" in refused("report", ARRESTS, "--method", "isomap", "--error", "0.1")


def test_columns_of_parquet_are_accounted_for(folder: Path) -> None:
    import pyarrow as pa
    from pyarrow import parquet

    rng = np.random.default_rng(0)
    table = pa.table(
        {"a": rng.normal(size=9), "b": rng.normal(size=9), "t": ["x", "y", "z"] * 3, "f": [True, False, True] * 3}
    )
    parquet.write_table(table, folder / "t.parquet")
    assert open_source("t.parquet").metadata.column_roles == {
        "a": "analysed", "b": "analysed", "t": "text, used as a label (3 different values)",
        "f": "true and false values, analysed as 1 and 0",
    }  # fmt: skip


def test_the_table_is_read_once_and_decomposed_once(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first bytes tell whether it is packed, then the whole content is read; rules decompose other tables."""
    (folder / "t.csv").write_bytes(Path(ARRESTS).read_bytes())
    opened: list[str] = []
    whole: list[tuple[int, int]] = []
    stream, found = OpenedFile.stream, api.decompose

    def counted_stream(self: OpenedFile) -> Any:
        opened.append(self.name)
        return stream(self)

    def counted_decompose(data: Any, *args: Any, **options: Any) -> Any:
        whole.append(data.shape)
        return found(data, *args, **options)

    monkeypatch.setattr(OpenedFile, "stream", counted_stream)
    monkeypatch.setattr(analyze, "decompose", counted_decompose)
    run("report", "t.csv")
    assert opened == ["'t.csv'", "'t.csv'"]
    assert whole == [(50, 4)]


def test_labels_keep_all_digits(folder: Path) -> None:
    """Rounded identifiers of two groups would be one group."""
    rng = np.random.default_rng(4)
    lines = [f"{1_000_025 + i % 2},{a:.3f},{b:.3f}" for i, (a, b) in enumerate(rng.standard_normal((20, 2)))]
    (folder / "t.csv").write_text("batch,x,y\n" + "\n".join(lines))
    run("report", "t.csv", "--labels", "batch", "-o", "t.html")
    page = (folder / "t.html").read_text()
    assert "1000026" in page
    assert "1e+06" not in page
    assert "has no column 'group'. Its columns are 'batch', 'x', 'y'." in refused(
        "report", "t.csv", "--labels", "group"
    )


def test_lists_of_ratings_are_not_told_to_lose_their_identifiers(folder: Path) -> None:
    lines = [f"{i},{j},{(i * j) % 5 + 1}" for i in range(20) for j in range(15) if (i + j) % 3]
    (folder / "t.csv").write_text("userId,movieId,rating\n" + "\n".join(lines))
    text = run("report", "t.csv", "-o", "t.html").output
    assert "Use 'eckart recommend' instead" in " ".join(text.split())
    assert "userId', 'movieId' seem" not in text


def test_ways_to_treat_missing_values_are_named_by_method(folder: Path) -> None:
    message = refused("report", ARRESTS, "--method", "nmf", "--missing", "em")
    assert "use --missing mask." in message
    assert "Leave it out" not in message


@pytest.mark.parametrize(
    ("options", "next_commands"),
    [
        ([], ["eckart rank noise.csv"]),
        (["--missing", "mean", "--scale"], ["eckart rank noise.csv --scale --missing mean"]),
        (["--method", "svd"], ["eckart rank noise.csv --method svd"]),
        (["--weights", "w"], []),
    ],
)
def test_the_next_command_after_noise_has_the_same_options(tmp_path, monkeypatch, options, next_commands):
    monkeypatch.chdir(tmp_path)
    table = np.column_stack([np.random.default_rng(3).normal(size=(60, 6)).round(3), np.arange(60) % 3 + 1])
    np.savetxt(
        "noise.csv",
        table if "--weights" in options else table[:, :6],
        "%g",
        ",",
        header="a,b,c,d,e,f,w"[: 11 + 2 * ("--weights" in options)],
        comments="",
    )
    said = CliRunner().invoke(main, ["report", "noise.csv", *options]).output
    assert "No component stands out" in said
    following = [line.strip() for line in said.partition("Next\n")[2].splitlines() if line.startswith("  ")]
    assert following == next_commands
    assert all(CliRunner().invoke(main, command.split()[1:]).exit_code == 0 for command in following)


@pytest.mark.parametrize(
    ("names", "options"),
    [(["zip", "year"], []), (["branch"], []), (["w"], ["--weights", "w"])],
    ids=["codes and years", "padded with zeros", "weights"],
)
def test_the_next_commands_work_for_columns_that_are_not_analysed(tmp_path, monkeypatch, names, options):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(3)
    measured = rng.normal(size=(60, 1)) @ rng.normal(size=(1, 5)) * 3 + rng.normal(size=(60, 5))
    extra = {"zip": "{:05d}", "year": "{}", "branch": "{:03d}", "w": "{}"}
    lines = [",".join([*names, *"abcde"])]
    for row, cells in enumerate(measured.round(3).tolist()):
        values = {"zip": 700 + 31 * row, "year": 1960 + row, "branch": row % 12, "w": 1 + row % 3}
        lines.append(",".join([*(extra[name].format(values[name]) for name in names), *map(str, cells)]))
    Path("t.csv").write_text("\n".join(lines))
    said = CliRunner().invoke(main, ["report", "t.csv", *options]).output
    commands = [line.strip() for line in said.partition("Next\n")[2].splitlines() if line.startswith("  eckart")]
    assert any("transform" in command for command in commands)
    for command in commands:
        found = CliRunner().invoke(main, shlex.split(command)[1:])
        assert found.exit_code == 0, found.output
        assert "analyses them anyway" not in found.output
        assert "analyses it anyway" not in found.output


def test_other_commands_say_what_is_missing_in_one_triangle(tmp_path):
    table = np.random.default_rng(3).random((6, 6))
    table = np.where(np.tri(6, dtype=bool), table + table.T, np.nan)
    np.fill_diagonal(table, 0.0)
    path = tmp_path / "apart.csv"
    path.write_text("\n".join(",".join("" if cell != cell else f"{cell:.4f}" for cell in row) for row in table))
    found = CliRunner().invoke(main, ["rank", str(path), "--no-header"])
    assert found.exit_code == 2
    assert "apart.csv is a symmetric matrix of which only one triangle is given." in found.output
    assert "--missing" not in found.output


def test_a_mask_selects_the_genes_of_a_cell_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    h5py = pytest.importorskip("h5py")
    monkeypatch.chdir(tmp_path)
    table = np.random.default_rng(0).standard_normal((30, 6))
    chosen = np.array([True, False, True, True, False, True])
    with h5py.File("cells.h5ad", "w") as file:
        file["X"] = table
        file["X"].attrs["encoding-type"] = "array"
        var = file.create_group("var")
        var["_index"] = np.array([f"g{i}" for i in range(6)], "S2")
        var["highly_variable"] = chosen
        var.attrs.update({"encoding-type": "dataframe", "_index": "_index", "column-order": ["highly_variable"]})
    done = CliRunner().invoke(main, ["report", "cells.h5ad", "--mask", "highly_variable", "--json"])
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["columns"] == 4
    values = [component["variance"] for component in json.loads(done.stdout)["components"]]
    np.testing.assert_allclose(values, np.linalg.eigvalsh(np.cov(table[:, chosen].T))[::-1], rtol=1e-10)
    done = CliRunner().invoke(main, ["report", "cells.h5ad", "--mask", "nothing", "--force"])
    assert done.exit_code == 2
    assert "highly_variable" in done.stderr
    done = CliRunner().invoke(main, ["report", ARRESTS, "--mask", "nothing", "-o", "other.html"])
    assert "--mask is a name" in done.stderr
