"""Every example in README and docs runs and gives what is printed. The examples of one page share their names."""

import os
import subprocess
import sys
from doctest import ELLIPSIS, NORMALIZE_WHITESPACE
from pathlib import Path

import pytest
from sybil import Example, Sybil
from sybil.parsers.markdown import CodeBlockParser, PythonCodeBlockParser

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), *sorted((ROOT / "docs" / "how-to").glob("*.md"))]


def run_console(example: Example) -> None:
    """Lines after `$` are commands; each must succeed."""
    for line in str(example.parsed).splitlines():
        if line.startswith("$ "):
            done = subprocess.run(["bash", "-c", line[2:]], check=False, capture_output=True, text=True)
            assert done.returncode == 0, f"{line}\n{done.stderr}"


SYBIL = Sybil(
    parsers=[
        PythonCodeBlockParser(doctest_optionflags=ELLIPSIS | NORMALIZE_WHITESPACE),
        CodeBlockParser(language="console", evaluator=run_console),
    ]
)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_examples(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent), prepend=os.pathsep)
    for example in SYBIL.parse(page).examples():
        example.evaluate()
