"""Four languages: no message is missing, placeholders agree, and the numbers are the same in all of them."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest
from click.testing import CliRunner

import eckart.cli
import eckart.worked
from eckart import worked
from eckart.cli import main
from eckart.errors import ParameterError
from eckart.worked.messages import LANGUAGES, catalogue, preferred, tr, trn
from eckart.worked.solution import Solution
from tests.worked.test_solution import CASES

OTHERS = [name for name in LANGUAGES if name != "en"]
SOURCES = sorted(
    path for package in (eckart.worked, eckart.cli) for path in Path(str(package.__file__)).parent.rglob("*.py")
)


def messages() -> dict[str, str | None]:
    """Every marked message, with its plural."""
    found: dict[str, str | None] = {}
    for path in SOURCES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in {"tr", "trn", "mark"}:
                first = node.args[0]
                if isinstance(first, ast.Constant):
                    plural = node.args[1] if node.func.id == "trn" else None
                    found[first.value] = plural.value if isinstance(plural, ast.Constant) else None
    return found


MESSAGES = messages()


@pytest.mark.parametrize("name", OTHERS)
def test_no_message_is_missing(name: str) -> None:
    own = catalogue(name).messages
    assert not [message for message in MESSAGES if not all(own.get(message, [""]))]
    assert not [message for message in own if message not in MESSAGES]


@pytest.mark.parametrize("name", OTHERS)
def test_placeholders_and_formulas_agree(name: str) -> None:
    for message, forms in catalogue(name).messages.items():
        fields = set(re.findall(r"{(\w+)}", message)) | set(re.findall(r"{(\w+)}", MESSAGES[message] or ""))
        for form in forms:
            assert set(re.findall(r"{(\w+)}", form)) <= fields, form
            if MESSAGES[message] is None:
                assert set(re.findall(r"{(\w+)}", form)) == fields, form
            assert form.count("$") % 2 == 0
            assert sorted(re.findall(r"\$([^$]*)\$", form)) == sorted(re.findall(r"\$([^$]*)\$", message)), form


@pytest.mark.parametrize("name", OTHERS)
def test_plural_forms_are_complete(name: str) -> None:
    count = 3 if name == "ru" else 2
    assert all(len(forms) == (count if MESSAGES[message] else 1) for message, forms in catalogue(name).messages.items())


def test_plurals_of_russian() -> None:
    with worked.language("ru"):
        one, many = "Isomap of {rows} points, {n} neighbour", "Isomap of {rows} points, {n} neighbours"
        said = [trn(one, many, n, rows=9) for n in (1, 2, 5, 11, 21, 22)]
    assert [text.split()[-1] for text in said] == ["сосед", "соседа", "соседей", "соседей", "сосед", "соседа"]


def numbers(solution: Solution) -> list[str]:
    """Every number of the text, with points as decimal signs."""
    text = re.sub(r"[_^]\([^)]*\)", "", solution.text(width=4000))
    text = re.sub(r"(?<=\d),(?=\d)", ".", text) if solution.language != "en" else text
    return sorted(re.findall(r"\d+(?:\.\d+)?(?:e-?\d+)?", text))


@pytest.mark.parametrize("case", list(CASES))
def test_the_numbers_are_the_same(case: str) -> None:
    plain = CASES[case]()
    name = OTHERS[list(CASES).index(case) % len(OTHERS)]
    with worked.language(name):
        other = CASES[case]()
    assert other.parts == plain.parts
    assert max(map(len, other.at("full").text(80).splitlines())) <= 80
    assert [len(step.numbers) for step in other.steps] == [len(step.numbers) for step in plain.steps]
    ours, theirs = numbers(plain), numbers(other)
    # Sentences may name a count that English writes as a word, such as "1 component".
    assert set(ours) <= set(theirs) | {"1"}, (name, set(ours) - set(theirs))
    assert set(theirs) <= set(ours) | {"1"}, (name, set(theirs) - set(ours))


@pytest.mark.parametrize("name", OTHERS)
def test_decimal_commas_and_the_name_of_the_rank(name: str) -> None:
    with worked.language(name):
        text = worked.eigen("2 1; 3 2").text()
        assert "λ_1 = 2 + √3 ≈ 3,73205" in text
        assert "e_1 = (1/2; √3/2) ≈ (0,5; 0,866025)" in text
        assert "rg(A) = 2" in worked.rank("1 2 1; -2 -3 1; 3 5 0").text()
        assert "3{,}73205" in worked.eigen("2 1; 3 2").latex()
        assert tr("Answer") in text


def test_the_language_of_a_solution_stays() -> None:
    with worked.language("ru"):
        solution = worked.eigen("2 1; 3 2")
    assert "Ответ" in solution.text()
    assert "Ответ" in solution.html()
    assert "Answer" in worked.eigen("2 1; 3 2").text()


def test_the_command_follows_the_locale(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("LC_ALL", "LC_MESSAGES"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("LANG", "it_IT.UTF-8")
    assert "Risposta" in CliRunner().invoke(main, ["worked", "eigen", "2 1; 3 2"]).stdout
    assert "Respuesta" in CliRunner().invoke(main, ["worked", "eigen", "2 1; 3 2", "--lang", "es"]).stdout
    monkeypatch.setenv("LANG", "C.UTF-8")
    assert "Answer" in CliRunner().invoke(main, ["worked", "eigen", "2 1; 3 2"]).stdout
    assert preferred({}) == "en"


def test_unknown_languages_are_refused() -> None:
    with pytest.raises(ParameterError, match="language='de'"), worked.language("de"):
        pass
