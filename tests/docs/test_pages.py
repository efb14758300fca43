"""Every example in README and docs runs and gives what is printed. The examples of one page share their names."""

import os
import re
import shlex
import subprocess
import sys
from doctest import ELLIPSIS, NORMALIZE_WHITESPACE, OutputChecker
from functools import cache
from pathlib import Path

import pytest
from click.testing import CliRunner
from sybil import Example, Sybil
from sybil.parsers.markdown import CodeBlockParser, PythonCodeBlockParser

import eckart as ek
from eckart.cli import main

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), *sorted((ROOT / "docs" / "how-to").glob("*.md"))]
GENERATED = {"_build", "api", "auto_gallery", "auto_tutorials"}
ALL_PAGES = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md")),
    *(page for page in sorted((ROOT / "docs").rglob("*.md")) if not GENERATED & set(page.relative_to(ROOT).parts)),
]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"^(`{3,})[^\n]*\n.*?^\1[ ]*$|`[^`\n]*`", re.MULTILINE | re.DOTALL)
NAME = re.compile(r"(?<![\w.])(?:ek|eckart)\.([A-Za-z_][\w.]*\w)")
INDENTED = re.compile(r"^(?![-*:\d ]).*\n\n {4}\S", re.MULTILINE)
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
FLAGS = ELLIPSIS | NORMALIZE_WHITESPACE

# Shell blocks and Python fragments that need a clone, a GPU or a cluster; `py` marks Python that cannot run here.
NOT_RUN = ("pip install", "make ", "eckart fit /shared", "eckart convert measurements.csv.gz")


def run_console(example: Example) -> None:
    """Lines after `$` are commands, which must succeed; the lines below, if any, are what they print."""
    parts = re.split(r"^\$ ", str(example.parsed), flags=re.MULTILINE)[1:]
    for part in parts:
        command, _, printed = part.partition("\n")
        stdout = run_command(command)
        if printed.strip():
            assert OutputChecker().check_output(printed, stdout, FLAGS), f"{command} printed:\n{stdout}"


def run_command(command: str) -> str:
    """What a command prints: Eckart's run in this process, since starting one takes longer than most examples."""
    words, redirected, path = command.partition(" > ")
    if not words.startswith("eckart ") or any(sign in command for sign in ("|", "$", "2>", "<", "*", "&&")):
        done = subprocess.run(["bash", "-c", command], check=False, capture_output=True, text=True)
        assert done.returncode == 0, f"{command}\n{done.stderr}"
        return done.stdout
    result = CliRunner().invoke(main, shlex.split(words, comments=True)[1:])
    assert result.exit_code == 0, f"{command}\n{result.stderr}"
    if redirected:
        Path(path.strip()).write_bytes(result.stdout_bytes)
        return ""
    return result.stdout


SYBIL = Sybil(
    parsers=[
        PythonCodeBlockParser(doctest_optionflags=FLAGS),
        CodeBlockParser(language="console", evaluator=run_console),
    ]
)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_examples(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent), prepend=os.pathsep)
    for example in SYBIL.parse(page).examples():
        example.evaluate()


@pytest.mark.parametrize("page", ALL_PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_block_is_run_or_checked(page: Path) -> None:
    """Python and console blocks run above, those of docs/course in tests/worked; the others parse. None is indented."""
    assert not INDENTED.search(CODE.sub("", page.read_text(encoding="utf-8"))), "an indented block is not checked"
    for language, code in BLOCK.findall(page.read_text(encoding="utf-8")):
        if language in ("python", "console"):
            assert page in PAGES or page.parent.name in ("course", "worked"), "its examples are not run"
        elif language == "py":
            compile(code, str(page), "exec")
        elif language in ("sh", "bash"):
            run = page.parent.name == "course"  # tests/cli/test_course.py
            assert run or any(code.lstrip().startswith(start) for start in NOT_RUN), code
            for command in re.findall(r"^eckart .*$", code, re.MULTILINE):
                check_options(command)
        else:
            assert language in ("text", "bibtex", "yaml", "toml"), f"a block of unknown kind {language!r}"


def check_options(command: str) -> None:
    """Each option of a command that is not run is one that its help names."""
    words = command.partition("#")[0].split()
    known = help_of(words[1])
    assert all(word in known for word in words if word.startswith("--")), command


@cache
def help_of(name: str) -> str:
    return CliRunner().invoke(main, [name, "--help"]).output


@pytest.mark.parametrize("page", ALL_PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_lead_somewhere(page: Path) -> None:
    text = re.sub(
        r"^(`{3,})[^\n]*\n.*?^\1[ ]*$|`[^`\n]*`", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL
    )
    for target in LINK.findall(text):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        file = (page.parent / path).resolve() if path else page
        generated = GENERATED & set(Path(path).parts)
        assert generated or file.exists(), f"{target} does not exist"
        if anchor and file.suffix == ".md":
            assert anchor in headings(file), f"{target}: no such heading"


@cache
def headings(page: Path) -> set[str]:
    """Anchors of the headings of a page, as MyST makes them."""
    found = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    explicit = re.findall(r"^\(([\w-]+)\)=$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.strip().lower()).replace(" ", "-") for title in found} | set(explicit)


@pytest.mark.parametrize("page", ALL_PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_names_in_the_text_exist(page: Path) -> None:
    """`ek.tables.loadings(d)` in a sentence or a table is a name that can be used."""
    spans = re.findall(r"`([^`\n]+)`", page.read_text(encoding="utf-8"))
    names = {
        name for span in spans for name in re.findall(r"(?<![\w.])(?:ek|eckart)\.([a-z_][\w.]*\w)", span, re.IGNORECASE)
    }
    assert not [name for name in sorted(names - {"methods"}) if not exists(name)]


def exists(name: str) -> bool:
    """Whether a dotted name is an attribute of eckart, or one of its modules."""
    if (ROOT / "src" / "eckart" / name.replace(".", "/")).with_suffix(".py").exists():
        return True
    found: object = ek
    for part in name.split("."):
        found = getattr(found, part, None)
    return found is not None
