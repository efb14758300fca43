"""Errors of the command line in the language of the command."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from eckart.cli import main

WRONG = [
    ["worked", "pca", "1 2; 2 3", "-k", "7"],
    ["worked", "pca", "1 2; 2 3", "--flip", "x"],
    ["worked", "svd", "1 2; 2 3", "-k", "x"],
    ["worked", "svd", "1 2; 2 3", "--form", "foo"],
    ["worked", "svd", "1 2; 2 3", "--nope"],
    ["worked", "query", "1 2; 2 3"],
    ["worked", "query", "1 2; 2 3", "1 2 3"],
    ["worked", "select", "1 2; 2 3; 4 9", "1 2"],
    ["worked", "select", "1 2; 2 3; 4 9", "1 2 3", "--count", "1", "--threshold", "0.5"],
    ["worked", "svd", "nosuchfile.csv"],
    ["worked", "svd", "1 2; 2 3", "-o", "x.foo"],
    ["worked", "svd", "1 2; 2 3", "-o", "/nosuchfolder/x.txt"],
    ["worked", "foo", "1 2; 2 3"],
    ["worked", "power-iteration", "1 2; 2 3", "--eps", "x"],
    ["exercise", "foo"],
    ["exercise", "kernel-pc"],
    ["exercise", "eigen", "--size", "9x9"],
    ["exercise", "eigen", "--size", "abc"],
    ["exercise", "eigen", "--difficulty", "7"],
    ["exercise", "eigen", "--seed"],
    ["exercise", "eigen,svd"],
    ["exercise", "eigen", "--sheet", "x.foo"],
    ["exercise", "eigen", "--sheet", "x.html", "--check", "3"],
    ["exercise", "eigen", "--sheet", "x.html", "--class", "nosuchfile.txt"],
    ["errata", "99"],
    ["course", "99"],
]  # fmt: skip
_ENGLISH = re.compile(r"\b(?:is|not|one|of|the|give|there|should|value|valid|Try|Error|did|you)\b")


@pytest.mark.parametrize("arguments", WRONG, ids=" ".join)
def test_no_error_is_left_in_english(arguments: list[str]) -> None:
    option = ["--lang", "ru"]
    given = (
        [*arguments[:1], *option, *arguments[1:]]
        if arguments[0] != "worked"
        else [*arguments[:2], *option, *arguments[2:]]
    )
    if arguments[:2] == ["worked", "foo"]:
        given = ["worked", "foo", "1", *option]
    result = CliRunner().invoke(main, given)
    assert result.exit_code == 2, result.output
    assert result.stderr.startswith("Ошибка:")
    assert not _ENGLISH.search(re.sub(r"\([^)]*\)|--?[\w-]+|eckart [\w -]+", "", result.stderr)), result.stderr


def test_english_and_python_keep_their_words() -> None:
    result = CliRunner().invoke(main, ["worked", "pca", "1 2; 2 3", "-k", "7", "--lang", "en"])
    assert result.stderr == "Error: -k 7 is out of range. Use a whole number from 1 to 2.\n"
    result = CliRunner().invoke(main, ["exercise", "gram-schmit", "--lang", "en"])
    assert result.stderr.endswith("isomap; did you mean gram-schmidt?\n")


def test_files(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    first = CliRunner().invoke(main, ["worked", "rank", "1 2; 2 4", "-o", str(path), "--lang", "it"])
    assert first.stderr == f"Scritto in {path}.\n"
    second = CliRunner().invoke(main, ["worked", "rank", "1 2; 2 4", "-o", str(path), "--lang", "it"])
    assert "esiste già" in second.stderr
