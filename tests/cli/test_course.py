"""The course: its examples run, and its exercises can be solved and checked as printed."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner

from eckart import worked
from eckart.cli import main
from eckart.worked.errata import ERRATA, markdown
from eckart.worked.messages import LANGUAGES, tr
from eckart.worked.notation import markdown_prose
from eckart.worked.theory import LESSONS as THEORY
from tests.docs.test_pages import ROOT, SYBIL

LESSONS = sorted((ROOT / "docs" / "course").glob("[0-9]*.md"))


@pytest.mark.parametrize("page", LESSONS, ids=lambda page: page.stem)
def test_examples(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for example in SYBIL.parse(page).examples():
        example.evaluate()


@pytest.mark.parametrize("page", LESSONS, ids=lambda page: page.stem)
def test_exercises(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    commands = re.findall(r"^eckart (exercise .* --no-key)$", text, re.MULTILINE)
    assert len(commands) == 3
    for command in commands:
        assert f"{command.removesuffix(' --no-key')} --check" in text
        words = shlex.split(command)
        made = worked.exercise(words[1].replace("-", "_"), difficulty=int(words[3]), seed=int(words[5]))
        assert CliRunner().invoke(main, [*words, "--lang", "en"]).stdout.count(made.steps[0].statement[:8]) >= 1
        right = "; ".join(f"{target.names[0]} = {written(target.value)}" for target in made.targets)
        assert CliRunner().invoke(main, [*words[:-1], "--check", right]).exit_code == 0, right


def written(value: object) -> str:
    shown = str(value.tolist()) if hasattr(value, "tolist") else str(value)
    return re.sub(r"\d+\.\d{20,}", lambda number: number[0][:12], shown)


def test_twelve_lessons_in_four_languages() -> None:
    assert len(LESSONS) == 12
    index = (ROOT / "docs" / "course" / "index.md").read_text(encoding="utf-8")
    assert all(page.stem in index for page in LESSONS)
    for page in LESSONS:
        text = page.read_text(encoding="utf-8")
        headings = re.findall(r"^## (.*)$", text, re.MULTILINE)
        assert len(headings) == 4
        assert all(heading.count(" · ") == 3 for heading in headings)
        assert all(text.count(f"- {name.capitalize()}: ") == 4 for name in LANGUAGES.values())


@pytest.mark.parametrize("page", LESSONS, ids=lambda page: page.stem)
def test_tasks_are_those_of_the_exercises(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    tasks = re.findall(r"((?:- \S+: .*\n){4})\n```sh\neckart (exercise .*) --no-key", text)
    assert len(tasks) == 3
    for lines, command in tasks:
        words = shlex.split(command)
        for line, (name, own) in zip(lines.splitlines(), LANGUAGES.items(), strict=True):
            with worked.language(name):
                made = worked.exercise(words[1].replace("-", "_"), difficulty=int(words[3]), seed=int(words[5]))
                assert line == f"- {own.capitalize()}: {markdown_prose(made.steps[0].statement)}"


@pytest.mark.parametrize("page", LESSONS, ids=lambda page: page.stem)
def test_theory_is_that_of_the_catalogue(page: Path) -> None:
    text, number = page.read_text(encoding="utf-8"), int(page.stem[:2])
    assert text.startswith(f"# {number}. {THEORY[number - 1].title}\n")
    for name in LANGUAGES:
        with worked.language(name):
            assert tr(THEORY[number - 1].title) in text
            for paragraph in THEORY[number - 1].paragraphs:
                assert name == "en" or tr(paragraph) != paragraph
                assert markdown_prose(tr(paragraph)) in text


def test_errata_are_those_of_the_catalogue() -> None:
    page = (ROOT / "docs" / "course" / "errata.md").read_text(encoding="utf-8")
    for name in LANGUAGES:
        with worked.language(name):
            assert markdown(ERRATA) in page


@pytest.mark.parametrize("name", list(LANGUAGES))
def test_the_command(name: str, tmp_path: Path) -> None:
    with worked.language(name):
        title = worked.lesson(6).title
        listed = CliRunner().invoke(main, ["course", "--lang", name]).stdout.splitlines()
        assert listed == [f"{place:2}. {tr(one.title)}" for place, one in enumerate(THEORY, 1)]
    assert CliRunner().invoke(main, ["course", "6", "--lang", name]).stdout.startswith(title)
    file = tmp_path / "lesson.html"
    assert CliRunner().invoke(main, ["course", "6", "--lang", name, "-o", str(file)]).exit_code == 0
    assert f'<html lang="{name}">' in file.read_text(encoding="utf-8")
    assert CliRunner().invoke(main, ["course", "13"]).exit_code == 2
