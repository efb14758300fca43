"""The commands: what they print, where, and with which exit code."""

from __future__ import annotations

import csv
import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result

import eckart
from eckart import datasets
from eckart.api import decompose
from eckart.cli import main

ARRESTS = str(datasets.path("usarrests"))


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Each test in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    return tmp_path


def run(*args: str, stdin: bytes | str | None = None) -> Result:
    return CliRunner().invoke(main, list(args), input=stdin)


def refused(*args: str, stdin: bytes | str | None = None) -> str:
    """The one line of an error that is the user's to mend."""
    done = run(*args, stdin=stdin)
    assert done.exit_code == 2, done.output
    assert done.stderr.count("\n") == 1
    assert "Traceback" not in done.stderr
    assert done.stdout == ""
    return done.stderr


def write(name: str, text: str) -> str:
    Path(name).write_text(text, encoding="utf-8")
    return name


def table(text: str) -> tuple[list[str], list[str], np.ndarray]:
    """Column names, row names and numbers of a CSV with row names."""
    header, *rows = csv.reader(text.splitlines())
    return header[1:], [row[0] for row in rows], np.array([row[1:] for row in rows], float)


def scaled(values: np.ndarray) -> np.ndarray:
    return (values - values.mean(axis=0)) / values.std(axis=0, ddof=1)


class TestReport:
    def test_summary_and_page(self, folder: Path) -> None:
        done = run("report", ARRESTS, "--scale")
        assert done.exit_code == 0
        assert re.search(r"PC1 +2\.480 +62\.01 % +62\.01 %", done.stdout)
        assert "Keep 1 component. It explains 62.01 % of the variance." in done.stdout
        assert "Wrote the report to report.html." in done.stderr
        page = (folder / "report.html").read_text("utf-8")
        assert "Principal component analysis of usarrests.csv" in page
        assert "Alabama" in page

    def test_fits_eighty_columns_without_blanks_at_the_end(self) -> None:
        lines = run("report", ARRESTS, "--scale").stdout.splitlines()
        assert all(len(line) <= 80 and line == line.rstrip() for line in lines)

    def test_json(self) -> None:
        done = run("report", ARRESTS, "--scale", "-k", "2", "--json")
        document = json.loads(done.stdout)
        assert done.stderr == ""
        assert document["eckart"] == eckart.__version__
        assert (document["format"], document["command"], document["k"]) == (1, "report", 2)
        assert document["report"] == "report.html"
        assert document["components"][0]["explained_variance_ratio"] == pytest.approx(0.62006039, abs=1e-8)
        low, high = document["certificate"]["explained"]
        squares = np.linalg.svd(scaled(datasets.load("usarrests").values), compute_uv=False) ** 2
        assert low - 1e-15 <= squares[:2].sum() / squares.sum() <= high + 1e-15
        assert len(document["loadings"]["values"]) == 4

    def test_page_to_standard_output(self, folder: Path) -> None:
        done = run("report", ARRESTS, "-o", "-", "--title", "A & B", "-k", "2")
        assert done.stdout.startswith("<!DOCTYPE html>")
        assert "A &amp; B" in done.stdout
        assert "Main columns of each component" in done.stderr
        assert not list(folder.iterdir())

    def test_never_over_another_file_unless_forced(self, folder: Path) -> None:
        (folder / "report.html").write_text("mine")
        assert "--force" in refused("report", ARRESTS)
        assert (folder / "report.html").read_text() == "mine"
        assert run("report", ARRESTS, "--force").exit_code == 0
        assert (folder / "report.html").read_text("utf-8").startswith("<!DOCTYPE")

    def test_standard_input(self) -> None:
        done = run("report", "-", "--explain", "90%", stdin=Path(ARRESTS).read_bytes())
        assert done.exit_code == 0
        assert "50 rows x 4 columns" in done.stdout

    def test_a_table_as_analysts_have_it(self) -> None:
        text = "\ufeffStadt;Größe;Alter;Farbe\nKöln;1,5;3;rot\nBonn;2,5;4;rot\nUlm;0,5;1;blau\n"
        done = run("report", write("de.csv", text), "--scale", "--no-row-names")
        assert "decimal comma" in done.stdout
        assert "'Stadt', 'Farbe'" in done.stdout
        assert "3 rows x 2 columns" in done.stdout

    def test_five_axes_of_a_wide_table(self, folder: Path) -> None:
        np.save(folder / "wide.npy", np.random.default_rng(0).standard_normal((40, 30)))
        text = run("report", "wide.npy").stdout
        assert "PC5 " in text
        assert "PC6" not in text

    def test_warnings_are_said_once_without_their_source(self) -> None:
        done = run("report", write("same.csv", "a,b\n1,2\n1,2\n1,2\n"))
        assert done.exit_code == 0
        assert done.stderr.splitlines()[0].startswith("Warning: The data have no variance")
        assert ".py" not in done.stderr

    def test_quiet_leaves_the_result(self) -> None:
        done = run("report", ARRESTS, "--quiet")
        assert done.stderr == ""
        assert "PC1" in done.stdout


class TestSentences:
    """What the summary says in cases that are easily said wrongly."""

    def test_one_row_is_singular(self) -> None:
        done = run("report", write("row.csv", "a,b\n1,2\n"))
        assert "of 1 row x 2 columns" in done.stdout
        assert "PC1 is not unique" in done.stdout

    def test_less_than_all_is_not_rounded_to_all(self) -> None:
        rows = "\n".join(f"{100 * (-1) ** i},{2 * (-1) ** (i // 2)},{0.5 * (-1) ** (i // 4)}" for i in range(8))
        done = run("report", write("steep.csv", f"a,b,c\n{rows}\n"))
        assert "PC1 explains 99.9 % of the variance" in re.sub(r"\s+", " ", done.stdout)

    def test_a_column_without_name_is_called_by_its_place(self) -> None:
        done = run("report", write("r.csv", ",a,b\nx,1,2\ny,4,3\nz,0,1\n"))
        assert "The row names come from column 1." in done.stdout

    @pytest.mark.parametrize("width", ["40", "60", "200"])
    def test_other_widths(self, width: str, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("COLUMNS", width)
        lines = run("report", ARRESTS, "--scale").stdout.splitlines()
        assert max(map(len, lines)) <= min(int(width), 100)
        assert not any("\u2026" in line for line in lines)
        assert any(line.split()[:2] == ["PC1", "2.480"] for line in lines)


class TestColumns:
    def test_only_these(self) -> None:
        done = run("report", ARRESTS, "--columns", "Rape, Murder", "--json")
        assert json.loads(done.stdout)["loadings"]["columns"] == ["Rape", "Murder"]

    def test_without_these_and_their_notes(self) -> None:
        name = write("gaps.csv", "name,id,a,b,c\nx,1,2,9,3\ny,2,5,,6\nz,3,8,7,1\n")
        done = run("report", name, "--drop", "b,id", "--json")
        document = json.loads(done.stdout)
        assert document["loadings"]["columns"] == ["a", "c"]
        assert not [note for note in document["notes"] if "missing" in note or "numbers the rows" in note]

    def test_a_name_with_a_comma(self) -> None:
        name = write("comma.csv", 'u,"v, w",z\n1,2,3\n4,5,7\n7,8,8\n')
        done = run("report", name, "--columns", "v, w", "--columns", "u", "--json")
        assert json.loads(done.stdout)["loadings"]["columns"] == ["v, w", "u"]

    def test_numbered_where_there_are_no_names(self, folder: Path) -> None:
        np.save(folder / "bare.npy", np.random.default_rng(0).standard_normal((9, 4)))
        done = run("report", "bare.npy", "--columns", "x3,x1", "--json")
        assert json.loads(done.stdout)["loadings"]["columns"] == ["x3", "x1"]

    @pytest.mark.parametrize(
        ("options", "word"),
        [
            (("--columns", "Murdr"), "did you mean 'Murder'"),
            (("--drop", "xyz"), "no numeric column 'xyz'"),
            (("--drop", "Murder,Assault,UrbanPop,Rape"), "No columns are left"),
            (("--row-names", "Stade"), "no column 'Stade'"),
            (("--row-names", "a", "--no-row-names"), "contradict each other"),
        ],
    )
    def test_what_is_not_there_is_refused(self, options: tuple[str, ...], word: str) -> None:
        assert word in refused("report", ARRESTS, *options)


class TestNumbers:
    @pytest.mark.parametrize("k", ["2", "2.0", "0.2e1", " 2 "])
    def test_k(self, k: str) -> None:
        if "." in k and "e" in k:
            assert "not a number of components" in refused("plan", ARRESTS, "-k", k)
        else:
            assert json.loads(run("plan", ARRESTS, "-k", k, "--json").stdout)["plan"]["k"] == 2

    def test_k_with_an_exponent(self, folder: Path) -> None:
        np.save(folder / "wide.npy", np.ones((120, 130)))
        assert json.loads(run("plan", "wide.npy", "-k", "1e2", "--json").stdout)["plan"]["k"] == 100

    @pytest.mark.parametrize("k", ["50%", "0,5", "0.5"])
    def test_a_share_is_no_number_of_axes(self, k: str) -> None:
        assert "--explain" in refused("plan", ARRESTS, "-k", k)

    @pytest.mark.parametrize("k", ["0", "-1", "1,000", "2.5", "two", "nan", "inf", "", "1e99", "٣"])
    def test_k_refused(self, k: str) -> None:
        assert "not a number of components" in refused("plan", ARRESTS, "-k", k)

    def test_k_beyond_the_table(self) -> None:
        assert "from 1 to 4" in refused("report", ARRESTS, "-k", "5")

    @pytest.mark.parametrize("share", ["0.9", "90%", "0,9", "90 %", ".9", "9e-1", "90,0%"])
    def test_share(self, share: str) -> None:
        plan = json.loads(run("plan", ARRESTS, "--explain", share, "--json").stdout)["plan"]
        assert plan["settings"]["explain"] == pytest.approx(0.9)

    @pytest.mark.parametrize(
        ("share", "word"),
        [("95", "Did you mean 95%"), ("1", "keep all components"), ("100%", "keep all components"),
         ("150%", "not a share"), ("-0.5", "not a share"), ("0", "not a share"), ("nan", "not a share"),
         ("half", "not a share")],
    )  # fmt: skip
    def test_share_refused(self, share: str, word: str) -> None:
        assert word in refused("plan", ARRESTS, "--explain", share)

    def test_one_way_of_saying_how_many(self) -> None:
        assert "-k, --explain and --error each determine" in refused("plan", ARRESTS, "-k", "2", "--error", "0.1")
        assert "--which smallest" in refused("plan", ARRESTS, "--which", "smallest", "--explain", "0.5")

    def test_facts_of_a_plan_stand_in_columns(self):
        lines = run("plan", ARRESTS, "-k", "2").stdout.splitlines()
        assert all(re.match(r"(\w+ +|  +)\S", line) for line in lines), lines
        assert "components  2" in lines

    @pytest.mark.parametrize("amount", ["lots", "0", "-1GB"])
    def test_memory_refused(self, amount: str) -> None:
        assert "amount of memory" in refused("plan", ARRESTS, "--memory", amount)

    def test_too_little_memory_is_refused_with_what_to_type(self) -> None:
        done = run("plan", ARRESTS, "--memory", "1B")
        assert done.exit_code == 2
        assert "bytes" in done.stderr
        assert "--memory" in done.stderr


class TestModels:
    def test_round_trip_equals_numpy(self) -> None:
        assert run("fit", ARRESTS, "--scale", "-k", "2", "-o", "m.eckart").exit_code == 0
        values = datasets.load("usarrests").values
        u, s, vt = np.linalg.svd(scaled(values), full_matrices=False)
        columns, rows, scores = table(run("transform", "m.eckart", ARRESTS).stdout)
        assert columns == ["PC1", "PC2"]
        assert rows == list(datasets.load("usarrests").row_names)
        signs = np.sign((u[:, :2] * scores).sum(axis=0))
        np.testing.assert_allclose(scores, u[:, :2] * s[:2] * signs, atol=1e-12)
        copy = (u[:, :2] * s[:2]) @ vt[:2] * values.std(axis=0, ddof=1) + values.mean(axis=0)
        for name in ("s.csv", "s.tsv", "s.npy", "s.parquet"):
            assert run("transform", "m.eckart", ARRESTS, "-o", name).exit_code == 0
            columns, rows, rebuilt = _rebuilt("m.eckart", name)
            assert columns == ["Murder", "Assault", "UrbanPop", "Rape"]
            assert rows[:1] == ([] if name == "s.npy" else ["Alabama"])
            np.testing.assert_allclose(rebuilt, copy, rtol=1e-12)
        _, rows, rebuilt = table(run("reconstruct", "m.eckart", "--from-data", ARRESTS).stdout)
        np.testing.assert_allclose(rebuilt, copy, rtol=1e-12)
        assert rows[0] == "Alabama"

    def test_whitened_there_and_back(self) -> None:
        run("fit", ARRESTS, "-o", "m.eckart")
        assert run("transform", "m.eckart", ARRESTS, "--whiten", "-o", "w.csv").exit_code == 0
        scores = table(Path("w.csv").read_text())[2]
        np.testing.assert_allclose(scores.std(axis=0, ddof=1), 1.0)
        back = table(run("reconstruct", "m.eckart", "w.csv", "--whiten").stdout)[2]
        np.testing.assert_allclose(back, datasets.load("usarrests").values, rtol=1e-10)

    def test_columns_are_found_by_name(self) -> None:
        run("fit", ARRESTS, "--scale", "-k", "2", "-o", "m.eckart")
        names, values = datasets.load("usarrests").column_names, datasets.load("usarrests").values
        order = [2, 0, 3, 1]
        lines = [",".join(names[j] for j in order), *(",".join(str(row[j]) for j in order) for row in values)]
        done = run("transform", "m.eckart", write("turned.csv", "\n".join(lines)))
        assert "were reordered by name to match the model" in done.stderr
        plain = table(run("transform", "m.eckart", ARRESTS).stdout)[2]
        _, *rows = csv.reader(done.stdout.splitlines())
        np.testing.assert_array_equal(np.array(rows, float), plain)

    def test_missing_and_extra_columns_are_named(self) -> None:
        run("fit", ARRESTS, "-o", "m.eckart")
        name = write("other.csv", "Murder,Assault,UrbanPop,Year\n1,2,3,4\n5,6,7,9\n")
        message = refused("transform", "m.eckart", name)
        assert "Missing: 'Rape'" in message
        assert "Extra columns: 'Year'" in message
        assert run("transform", "m.eckart", write("year.csv", "Year,Murder,Assault,UrbanPop,Rape\n1,2,3,4,5\n"),
                   "--drop", "Year").exit_code == 0  # fmt: skip

    def test_columns_without_names_go_by_place(self, folder: Path) -> None:
        run("fit", ARRESTS, "-o", "m.eckart")
        np.save(folder / "bare.npy", datasets.load("usarrests").values)
        done = run("transform", "m.eckart", "bare.npy")
        assert "no column names" in done.stderr
        assert done.stdout.startswith("PC1,PC2,PC3,PC4\n")
        np.save(folder / "narrow.npy", np.ones((3, 2)))
        assert "2 columns, but the model has 4" in refused("transform", "m.eckart", "narrow.npy")

    def test_scores_of_another_model(self, folder: Path) -> None:
        run("fit", ARRESTS, "-k", "2", "-o", "m.eckart")
        np.save(folder / "s.npy", np.ones((3, 3)))
        assert "3 columns" in refused("reconstruct", "m.eckart", "s.npy")
        assert "Exactly one of SCORES and --from-data" in refused("reconstruct", "m.eckart")

    def test_gaps_in_scores(self) -> None:
        run("fit", ARRESTS, "-k", "2", "-o", "m.eckart")
        assert "1 of 4 values is missing" in refused("reconstruct", "m.eckart", write("s.csv", "PC1,PC2\n1,2\n3,\n"))

    def test_json(self) -> None:
        fitted = json.loads(run("fit", ARRESTS, "-k", "1", "-o", "m.eckart", "--json").stdout)
        assert (fitted["command"], fitted["model"], fitted["k"]) == ("fit", "m.eckart", 1)
        context = json.loads(run("transform", "m.eckart", ARRESTS, "--json").stdout)
        assert context["shape"] == [50, 1]
        assert context["row_names"][0] == "Alabama"
        assert len(context["scores"]) == 50
        context = json.loads(run("transform", "m.eckart", ARRESTS, "-o", "s.csv", "--json").stdout)
        assert context["output"] == "s.csv"
        assert len(json.loads(run("reconstruct", "m.eckart", "s.csv", "--json").stdout)["rows"]) == 50

    def test_a_model_from_python_is_the_same(self) -> None:
        run("fit", ARRESTS, "--scale", "-k", "3", "-o", "m.eckart", "--seed", "5")
        d = decompose(ARRESTS, "pca", k=3, scale=True)
        np.testing.assert_array_equal(eckart.load("m.eckart").right, d.right)

    def test_what_is_no_model(self) -> None:
        assert "not an Eckart model" in refused("transform", ARRESTS, ARRESTS)
        assert "cannot be opened" in refused("transform", "none.eckart", ARRESTS)
        assert "Give a file name" in refused("fit", ARRESTS, "-o", "-")

    def test_unknown_ending(self) -> None:
        assert ".csv .tsv .npy .parquet" in refused("transform", "m.eckart", ARRESTS, "-o", "s.xyz")

    def test_names_that_a_spreadsheet_would_run(self) -> None:
        name = write("evil.csv", "who,a,b\n=cmd(),1,2\n-x,3,5\nplain,-4,4\n")
        run("fit", name, "-k", "1", "-o", "m.eckart")
        safe = run("transform", "m.eckart", name, "--safe-csv").stdout
        assert [line.split(",")[0] for line in safe.splitlines()] == ["", "'=cmd()", "'-x", "plain"]
        assert ",'-" not in safe  # numbers stay numbers
        assert "\n=cmd()," in run("transform", "m.eckart", name).stdout

    def test_single_precision_is_written_in_its_digits(self, folder: Path) -> None:
        np.save(folder / "f.npy", np.random.default_rng(0).standard_normal((20, 3)).astype(np.float32))
        run("fit", "f.npy", "-k", "1", "-o", "m.eckart")
        header, *cells = run("transform", "m.eckart", "f.npy").stdout.split()
        assert header == "PC1"
        assert max(map(len, cells)) <= 14


def _rebuilt(model: str, name: str) -> tuple[list[str], list[str], np.ndarray]:
    text = run("reconstruct", model, name).stdout
    if not name.endswith(".npy"):
        return table(text)
    header, *rows = csv.reader(text.splitlines())
    return header, [], np.array(rows, float)


class TestPlanAndExample:
    def test_plan(self) -> None:
        done = run("plan", ARRESTS, "--explain", "0,9")
        assert done.exit_code == 0
        assert "solver      gram" in done.stdout
        assert "as many as --explain or --error requires" in done.stdout
        assert json.loads(run("plan", ARRESTS, "--json").stdout)["plan"]["rows"] == 50

    def test_example(self) -> None:
        assert run("example").stdout_bytes == Path(ARRESTS).read_bytes()
        assert run("example", "ratings").stdout_bytes == datasets.path("ratings").read_bytes()
        assert len(json.loads(run("example", "--json").stdout)["values"]) == 50

    def test_list(self) -> None:
        lines = run("example", "--list").stdout.splitlines()
        assert [line.split()[0] for line in lines] == list(datasets.names())
        assert all(len(line.split()) > 3 for line in lines)
        assert len(json.loads(run("example", "--list", "--json").stdout)["tables"]) == len(datasets.names())

    def test_no_such_example(self) -> None:
        assert "ratings" in refused("example", "nope")


def test_a_command_imports_its_own_module_only() -> None:
    code = "import sys; sys.argv = ['eckart', 'example', '--help']; import eckart.cli\n"
    code += "try: eckart.cli.main()\nfinally: print([name for name in sys.modules if name.startswith('eckart.cli.')])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(re.findall(r"eckart\.cli\.(\w+)", done.stdout.splitlines()[-1]))
    assert "example" in loaded
    assert not loaded & {"reporting", "fitting", "worked", "exercise", "search", "select"}


def test_every_command_of_the_help_can_be_loaded() -> None:
    listed = re.findall(r"^  ([a-z-]+)  ", run("--help").stdout.partition("Commands:")[2], flags=re.MULTILINE)
    assert {"report", "pca", "kernel-pca", "worked", "errata"} <= set(listed)
    for name in listed:
        done = run(name, "--help")
        assert done.exit_code == 0
        assert f"eckart {name}" in done.stdout or f"main {name}" in done.stdout


@pytest.mark.skipif(sys.platform == "win32", reason="needs a POSIX shell")
@pytest.mark.parametrize("command", ["fit - -k 1 -o m.eckart", "worked svd -"])
def test_standard_input_that_is_closed(command: str) -> None:
    ended = subprocess.run(
        f"{sys.executable} -m eckart {command} <&-", shell=True, capture_output=True, text=True, check=False
    )
    assert ended.returncode == 2
    assert "standard input is closed" in ended.stderr


LOST = """
import os, signal, sys, time, weakref
from eckart.cli import main
from eckart.cli.app import Application
from eckart.spool import Spool

class Thing: pass

def terminate(_):
    os.kill(os.getpid(), signal.SIGTERM)
    for _ in range(1000): pass

def run(self, console, *args, **extra):
    spool, thing = Spool(sys.argv[1]), Thing()
    reference = weakref.ref(thing, terminate)
    del thing
    time.sleep(float(sys.argv[2]))
    return 0

Application._run = run
main()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals are POSIX")
@pytest.mark.parametrize("seconds", [60.0, 0.0])
def test_termination_is_not_lost_in_a_callback(tmp_path, seconds):
    """Python prints and drops exceptions in callbacks; commands then ran to their end and returned 0."""
    command = [sys.executable, "-W", "ignore", "-c", LOST, str(tmp_path), str(seconds)]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=50, check=False)
    assert "Exception ignored" in ended.stderr
    assert ended.returncode == 143
    assert not list(tmp_path.iterdir())
