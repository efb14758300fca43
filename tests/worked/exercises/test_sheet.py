"""Sheets for a class, the key beside them, series from a class list, and the command that makes them."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from html.parser import HTMLParser
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from eckart import worked
from eckart.cli import main
from eckart.errors import ParameterError
from eckart.worked.exercises import KINDS, class_list
from eckart.worked.exercises.sheet import series, sheet


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*args: str) -> Result:
    return CliRunner().invoke(main, ["exercise", *args])


def test_exercises_of_a_sheet_are_different() -> None:
    made = sheet(["power_iteration"], 12, seed=3)
    assert len({tuple(one.given) for one in made.exercises}) == 12


def test_every_student_has_another_sheet() -> None:
    sheets = series(["Ada", "Émilie", " ", "Софья"], ["rank", "determinant"], 2, seed=1)
    assert [made.student for made in sheets] == ["Ada", "Émilie", "Софья"]
    given = {tuple(tuple(one.given) for one in made.exercises) for made in sheets}
    assert len(given) == 3
    with pytest.raises(ParameterError, match="no names"):
        series(["", " "], ["rank"])


@pytest.mark.parametrize("suffix", [".html", ".tex", ".md", ".txt"])
def test_questions_and_key_are_two_files(suffix: str, folder: Path) -> None:
    done = run("rank,determinant", "--count", "2", "--difficulty", "2", "--seed", "7", "--sheet", f"exam{suffix}")
    assert done.exit_code == 0, done.output
    questions, key = ((folder / f"exam{part}{suffix}").read_text(encoding="utf-8") for part in ("", "-key"))
    assert "Answer" not in questions
    assert key.count("Answer") == 4
    assert "Exercise 4" in questions
    assert "seed 7" in questions
    again = run("rank", "--sheet", f"exam{suffix}")
    assert again.exit_code != 0
    assert run("rank", "--sheet", f"exam{suffix}", "--force").exit_code == 0


def test_a_class_list(folder: Path) -> None:
    (folder / "names.txt").write_text("Ada Lovelace\nСофья К.\nAda Lovelace\n", encoding="utf-8")
    done = run("rank", "--sheet", "exam.md", "--class", "names.txt", "--lang", "ru")
    assert done.exit_code == 0, done.output
    stems = [f"exam-{name}" for name in ("Ada-Lovelace", "Ada-Lovelace-3", "Софья-К")]
    assert {path.name for path in folder.glob("exam*")} == {
        f"{stem}{end}" for stem in stems for end in (".md", "-key.md")
    }
    assert "Задача 1" in (folder / "exam-Софья-К.md").read_text(encoding="utf-8")


def test_check_by_command() -> None:
    made = worked.exercise("determinant", seed=5)
    right = run("determinant", "--seed", "5", "--check", str(made["determinant"]))
    assert (right.exit_code, right.stdout) == (0, "Right.\n")
    wrong = run("determinant", "--seed", "5", "--check", str(-made["determinant"]), "--json")
    assert wrong.exit_code == 3
    assert json.loads(wrong.stdout)["message"] == "The sign is wrong."
    assert run("determinant", "--check", "no number").exit_code == 2


def test_kinds_are_listed() -> None:
    shown = run("--list").stdout
    assert all(kind.replace("_", "-") in shown for kind in KINDS)
    assert run("rank", "--count", "3").exit_code == 2
    assert run("rank", "--sheet", "exam.doc").exit_code == 2
    assert "did you mean" in run("rnak").stderr


def test_a_class_gets_distinct_exercises() -> None:
    sheets = series([f"Student {i}" for i in range(30)], ["svd"], 2, seed=9)
    given = [str(one.steps[0].numbers) for made in sheets for one in made.exercises]
    assert len(set(given)) == len(given) == 60


def test_questions_without_seeds_and_keys_in_full() -> None:
    assert run("eigen", "--seed", "3", "--sheet", "exam.md", "--no-seeds", "--detail", "full").exit_code == 0
    questions, key = Path("exam.md").read_text(encoding="utf-8"), Path("exam-key.md").read_text(encoding="utf-8")
    assert "seed" not in questions
    assert "seed 3" in key
    assert "**2.1.**" in key


def test_class_lists_of_other_programs() -> None:
    Path("latin.txt").write_bytes("José Núñez\n".encode("cp1252"))
    assert run("rank", "--sheet", "quiz.md", "--class", "latin.txt").exit_code == 0
    assert Path("quiz-José-Núñez.md").exists()
    missing = run("rank", "--sheet", "quiz.md", "--class", "nobody.txt")
    assert missing.exit_code == 2
    assert "one name per line" in missing.stderr
    assert run("rank", "--sheet", "quiz.md", "--check", "1").exit_code == 2


def test_names_in_another_script_have_their_font() -> None:
    latin, cyrillic, greek = (sheet(["rank"], student=name).questions("latex") for name in ("Ada", "Софья", "Ελένη"))
    assert "T2A" not in latin
    assert r"\usepackage[T2A,T1]{fontenc}" in cyrillic
    assert r"\fontencoding{T2A}\selectfont" in cyrillic
    assert r"\DeclareUnicodeCharacter{0395}{?}" in greek


@pytest.mark.parametrize("kind", ["nmf", "missing", "cur", "select", "energy", "power_iteration"])
def test_the_key_ends_with_what_is_asked(kind: str) -> None:
    made = worked.exercise(kind, seed=21)
    assert made.answer
    for target in [one for one in made.targets if not one.optional]:
        values = target.value if isinstance(target.value, list) else [target.value]
        shown = [equation.value for equation in made.answer]
        assert target.form == "set" or all(value in shown for value in values)


def test_what_is_printed_makes_the_exercise_again(folder: Path) -> None:
    """Kind, difficulty, size and seed of a sheet lead back to the same matrix."""
    assert run("svd", "--seed", "5", "--difficulty", "2", "--size", "4x2", "--sheet", "exam.md").exit_code == 0
    printed = re.search(r"(\w+), difficulty (\d), size (\d)x(\d), seed (\d+)", (folder / "exam.md").read_text())
    assert printed is not None
    kind, difficulty, rows, cols, seed = printed.groups()
    again = worked.exercise(kind, difficulty=int(difficulty), size=(int(rows), int(cols)), seed=int(seed))
    assert str(again.question().markdown()).split("$$")[1] in (folder / "exam.md").read_text()


def test_a_class_table_with_a_header(folder: Path) -> None:
    table = '\ufeffcognome;nome;matricola\r\nRossi;José;1\r\nRossi;José;2\r\n"O\'Brien, Jr.";Seán;3\r\n'
    (folder / "class.csv").write_bytes(table.encode())
    done = run("rank", "--sheet", "exam.md", "--class", "class.csv", "--lang", "it")
    assert done.exit_code == 0, done.output
    names = sorted(file.stem for file in folder.glob("exam-*.md") if not file.stem.endswith("-key"))
    assert names == ["exam-O-Brien-Jr-Seán", "exam-Rossi-José", "exam-Rossi-José-2"]
    assert (
        (folder / names[0]).with_suffix(".md").read_text(encoding="utf-8").startswith("# Esercizi: O'Brien, Jr. Seán")
    )


@pytest.mark.parametrize(
    "students", [["Ana 3", "Ana", "Ana"], ["Ana", "Ana key"], ["ana", "ANA"], ["x" * 300, "x" * 300]]
)
def test_no_sheet_replaces_another(students: list[str], folder: Path) -> None:
    (folder / "names.txt").write_text("\n".join(students), encoding="utf-8")
    done = run("rank", "--sheet", "exam.txt", "--class", "names.txt", "--force")
    assert done.exit_code == 0, done.output
    assert len({file.name.casefold() for file in folder.glob("exam-*.txt")}) == 2 * len(students)


@pytest.mark.parametrize(("encoding", "lang"), [("utf-8", "en"), ("utf-16", "en"), ("cp1251", "ru")])
def test_encodings_of_class_lists(encoding: str, lang: str) -> None:
    with worked.language(lang):
        assert class_list.names(class_list.decoded("ФИО\nИван Петров\n".encode(encoding))) == ["Иван Петров"]


HOSTILE = r"A$\input{y}$ <b>B</b> 5 % _ # & {"


def test_names_are_words_in_every_form() -> None:
    """A name is neither a command of LaTeX nor markup, and stands on the page even above a single question."""
    made = series([HOSTILE], ["rank"])[0]
    latex = next(line for line in made.questions("latex").splitlines() if "begin{center}" in line)
    assert r"\input" not in latex.replace(r"\textbackslash{}input", "")
    assert "<b>B" not in made.questions("html")
    assert "<h1>Exercises: A$" in made.questions("html")
    assert r"\<b\>" in made.questions("markdown").splitlines()[0]


class _Words(HTMLParser):
    """The text of a page, without scripts, styles and pictures."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.text, self.hidden = "", 0
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.hidden += tag in {"script", "style", "svg"}

    def handle_endtag(self, tag: str) -> None:
        self.hidden -= tag in {"script", "style", "svg"}

    def handle_data(self, data: str) -> None:
        self.text += "" if self.hidden else f" {data}"


def numbers(text: str) -> set[str]:
    text = re.sub(r"(?<=\d),(?=\d)", ".", text.replace("{,}", ","))
    return set(re.findall(r"\d+(?:\.\d+)?", re.sub(r"\\[a-zA-Z]+|[{}]", " ", text)))


@pytest.mark.parametrize(("lang", "difficulty"), [("en", 2), ("it", 1)])
def test_html_and_markdown_have_the_same_numbers(lang: str, difficulty: int) -> None:
    with worked.language(lang):
        made = sheet(list(KINDS), seed=302, difficulty=difficulty)
        for part in (made.questions, made.key):
            assert numbers(part("markdown")) == numbers(_Words(part("html")).text)


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="pdflatex is not installed")
def test_names_compile(folder: Path) -> None:
    (folder / "sheet.tex").write_text(series([HOSTILE], ["rank"])[0].questions("latex"), encoding="utf-8")
    done = subprocess.run(
        ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "sheet.tex"],
        cwd=folder,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-800:]


@pytest.mark.parametrize("form", ["text", "markdown", "latex", "html"])
def test_a_question_alone_has_no_number(form: str) -> None:
    made = worked.exercise("determinant", seed=7)
    numbered = {"text": "1. Compute", "markdown": "**1.** Compute", "latex": r"\item[1.] Compute", "html": "<b>1.</b>"}
    assert numbered[form] in getattr(made, form)()
    assert numbered[form] not in getattr(made.question(), form)()
    assert "Compute the determinant" in getattr(made.question(), form)()
