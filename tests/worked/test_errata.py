"""Errata: every computation supports its correction, and the command shows it."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from eckart.cli import main
from eckart.errors import ParameterError
from eckart.worked.errata import ERRATA, Erratum, erratum


@pytest.mark.parametrize("one", ERRATA, ids=lambda one: str(one.number))
def test_the_computation_shows_it(one: Erratum) -> None:
    shown = one.shown()
    assert shown
    assert all(line.holds for line in shown), one.text()


def test_numbers_count_from_one() -> None:
    assert [one.number for one in ERRATA] == list(range(1, len(ERRATA) + 1))
    assert len(ERRATA) >= 34
    with pytest.raises(ParameterError, match="numbered from 1"):
        erratum(0, ERRATA)


def test_the_command() -> None:
    listed = CliRunner().invoke(main, ["errata"])
    assert listed.exit_code == 0
    assert all(one.where in listed.stdout for one in ERRATA)
    assert max(map(len, listed.stdout.splitlines())) <= 100
    one = CliRunner().invoke(main, ["errata", "11", "--json"])
    assert "-4.71" in json.loads(one.stdout)["shown"][0]["value"]
    assert CliRunner().invoke(main, ["errata", "99"]).exit_code == 2


@pytest.mark.parametrize("name", ["it", "es", "ru"])
def test_other_languages(name: str) -> None:
    shown = CliRunner().invoke(main, ["errata", "11", "--lang", name]).stdout
    assert "-4,71" in shown
    assert "-4.71" not in shown
    listed = CliRunner().invoke(main, ["errata", "--lang", name, "--as", "markdown"]).stdout
    assert len(listed.splitlines()) == len(ERRATA) + 2
