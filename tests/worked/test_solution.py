"""Each solution as text, Markdown, LaTeX and for programs."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
import sympy as sp

from eckart import worked
from eckart.errors import InputError
from eckart.worked.as_latex import body, opening
from eckart.worked.as_pdf import pdf
from eckart.worked.exercises.arithmetic import Typed
from eckart.worked.exercises.expressions import Reader
from eckart.worked.exercises.tokens import tokens_of
from eckart.worked.exercises.typed import plain
from eckart.worked.messages import LANGUAGES
from eckart.worked.solution import Solution

CASES: dict[str, Callable[[], Solution]] = {
    "rank": lambda: worked.rank("1 2 1; -2 -3 1; 3 5 0"),
    "determinant": lambda: worked.determinant("0 1 3; 1 4 2; 0 5 6"),
    "eigen": lambda: worked.eigen("2 1; 3 2"),
    "eigen repeated": lambda: worked.eigen("2 0 0; 0 2 0; 0 0 3"),
    "eigen complex": lambda: worked.eigen("1 -2; 3 1"),
    "eigen numbers": lambda: worked.eigen("1 3 5; 2 4 1; 6 1 9"),
    "eigen nested": lambda: worked.eigen("1 2 0; 2 3 0; 0 0 5"),
    "pca": lambda: worked.pca("1 2; 2 1; 3 4; 4 3", center=False),
    "pca scaled": lambda: worked.pca("1 2 0; 2 1 1; 3 4 5; 4 3 1", scale=True, route="svd"),
    "pca scaled roots": lambda: worked.pca("sqrt(2) 1; 1 sqrt(3)", scale=True),
    "pca reconstruction": lambda: worked.pca("1 2; 2 1; 4 4", route="reconstruction", divide="n"),
    "svd": lambda: worked.svd("3 0; 4 5; 1 1", 1, form="full"),
    "power_iteration": lambda: worked.power_iteration("-3 1; 1 -2"),
    "deflation": lambda: worked.deflation("30 28; 28 30"),
    "deflation with a root": lambda: worked.deflation("1 2 2; 1 1 2; 0 1 2"),
    "deflation wielandt": lambda: worked.deflation("1 3 5; 2 4 1; 6 1 9"),
    "diagonalize": lambda: worked.diagonalize("2 1; 3 2"),
    "diagonalize complex": lambda: worked.diagonalize("0 -1 0; 1 0 0; 0 0 1"),
    "diagonalize complex numbers": lambda: worked.diagonalize("3 1 4; 1 5 9; -9 2 6"),
    "eigen cube roots": lambda: worked.eigen("1 3 3; 1 1 3; 1 1 1"),
    "minor_components": lambda: worked.minor_components("1 3; 0 2; 0 0; 3 3"),
    "energy": lambda: worked.energy("1 2; 2 1; 3 3"),
    "query": lambda: worked.query("1 1 0; 2 2 0; 0 1 3", "1 0 0", 2),
    "pseudo_inverse": lambda: worked.pseudo_inverse("2 0 0 0; 0 0 0 0; 0 0 3 0"),
    "cur": lambda: worked.cur("1 2 0; 2 3 1; 0 1 4"),
    "cur best": lambda: worked.cur("1 2 0; 2 3 1; 0 1 4", rows=[1, 1], columns=[2, 3], core="best"),
    "nmf": lambda: worked.nmf("1 2 0; 0 1 1; 2 4 0"),
    "nmf zero": lambda: worked.nmf("0 0; 0 0"),
    "nmf kl": lambda: worked.nmf("1 2 0; 0 1 1; 2 4 0", loss="kl"),
    "kernel_pca": lambda: worked.kernel_pca("1 0; 0 1; 2 1", new="1 1"),
    "kernel_pca rbf": lambda: worked.kernel_pca("1 0; 0 1; 2 1", kernel="rbf", new="1 1"),
    "select": lambda: worked.select("1 2; 2 1; 3 5; 4 2", "1 2 3 4"),
    "gram_schmidt": lambda: worked.gram_schmidt("1 1 0; 1 0 1; 0 1 1"),
    "gram_schmidt dependent": lambda: worked.gram_schmidt("1 2; 2 4"),
    "bounds": lambda: worked.bounds("3 0; 4 5; 1 1"),
    "project": lambda: worked.project("1 3; 0 2; 0 0; 3 3", "3 4; 1 1"),
    "correlation": lambda: worked.correlation("1 10; 2 30; 3 20"),
    "missing": lambda: worked.missing("1 2; 2 3; 3 ?; 4 7", iterations=20),
    "isomap": lambda: worked.isomap("0 2; 0 1; 0 0; 1 0; 2 0", neighbors=1),
    "svd wide": lambda: worked.svd("1 1 1 0 0; 3 3 3 0 0; 0 2 0 4 4"),
}
WRITTEN = pytest.mark.parametrize("name", list(CASES))
TEX = shutil.which("pdflatex")
LONG = {"deflation with a root": {"en"}, "pca scaled roots": {"en", "ru"}}
"""Languages in which these two are compiled: they take seconds, and share their words with the other solutions."""


@pytest.fixture(scope="module")
def solutions() -> dict[str, Solution]:
    return {name: make() for name, make in CASES.items()}


@WRITTEN
def test_text_keeps_to_the_width(name: str, solutions: dict[str, Solution]) -> None:
    for width in (80, 100):
        text = solutions[name].text(width)
        assert max(map(len, text.splitlines())) <= width
    assert "Answer" in text
    assert "$" not in text
    assert "\\" not in text


@WRITTEN
def test_latex_is_well_formed(name: str, solutions: dict[str, Solution]) -> None:
    source = solutions[name].latex()
    assert source.isascii(), sorted({sign for sign in source if not sign.isascii()})
    assert source.count("{") == source.count("}")
    assert source.count(r"\[") == source.count(r"\]")
    begun, ended = (re.findall(rf"\\{word}{{(\w+)\*?}}", source) for word in ("begin", "end"))
    assert sorted(begun) == sorted(ended)


@pytest.mark.skipif(TEX is None, reason="pdflatex is not installed: LaTeX was checked for syntax only")
@pytest.mark.parametrize("name", list(LANGUAGES))
def test_latex_compiles(name: str, tmp_path: Path) -> None:
    """All solutions of one language in one document, in full detail."""
    with worked.language(name):
        cases = [make for case, make in CASES.items() if name in LONG.get(case, {name})]
        bodies = [line for make in cases for line in body(make().at("full"))]
        source = "\n".join([opening(), *bodies, r"\end{document}", ""])
    (tmp_path / "all.tex").write_text(source, encoding="utf-8")
    command = [str(TEX), "-interaction=nonstopmode", "-halt-on-error", "all.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, check=False)
    assert done.returncode == 0, done.stdout[-2000:].decode("latin-1")
    assert (tmp_path / "all.pdf").exists()


@pytest.mark.skipif(sys.platform == "win32", reason="the engine is a shell script")
@pytest.mark.parametrize(
    ("said", "reason"),
    [("", "failed without a message. Write a .tex"), ("! Undefined.", "failed: ! Undefined. Write a .tex")],
)
def test_a_failed_latex_engine_is_an_error(
    said: str, reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = tmp_path / "xelatex"
    engine.write_text(f"#!/bin/sh\necho '{said}'\nexit 1\n", encoding="utf-8")
    engine.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    with pytest.raises(InputError) as caught:
        pdf("")
    assert str(caught.value).startswith(f"xelatex {reason}")


@WRITTEN
def test_html_is_well_formed(name: str, solutions: dict[str, Solution]) -> None:
    page = solutions[name].html()
    outside = re.sub(r"<svg.*?</svg>", "", page, flags=re.DOTALL)
    outside = re.sub(r"<(style|script)>.*?</\1>", "", outside, flags=re.DOTALL).replace("<!DOCTYPE html>", "")
    outside = re.sub(r"<meta [^>]*>", "", outside)
    ET.fromstring(outside)
    assert "http" not in re.sub(r'(xmlns(:\w+)?|href|rdf:\w+)="[^"]*"', "", page).replace("http://www.w3.org", "")
    assert "$" not in re.sub(r"<script>.*?</script>", "", outside, flags=re.DOTALL)
    assert "data-do" in page


def test_levels_of_detail(solutions: dict[str, Solution]) -> None:
    solution = solutions["eigen"]
    brief, normal, full = (solution.at(level).text() for level in ("brief", "normal", "full"))
    assert len(brief) < len(normal) < len(full)
    assert "Check" not in brief
    assert "det(M - λ I) = (2 - λ) (2 - λ) - 1 · 3" in full
    assert "-√3 x_1 + x_2 = 0" in full
    assert "R_2 ← R_2 - 3 R_1" in full
    assert all(line in full for line in solution.at("normal").text().splitlines() if line.startswith("    λ"))


def test_power_iteration_writes_out_the_first_multiplication(solutions: dict[str, Solution]) -> None:
    normal, full = (solutions["power_iteration"].at(level).text() for level in ("normal", "full"))
    assert "(A x_0)_1 = (-3) · 1 + 1 · 1 = -2" in full
    assert "x_1 = (-2√5/5, -√5/5)" in full
    assert "(A x_0)_1" not in normal


def test_full_detail_of_larger_ones() -> None:
    four = worked.determinant("2 1 0 3; 1 4 2 1; 0 5 6 1; 1 1 1 2").at("full").text(width=200)
    assert "cofactors along row 1" in four
    assert "M_(1,1) = 4 · 6 · 2" in four
    assert "b_(1,1) = 2 · 4 - 1 · 1 = 7" in four
    assert "Sarrus" in worked.eigen("1 3 5; 2 4 1; 6 1 9").at("full").text()
    cube = worked.eigen("0 0 24; 1 0 0; 0 1 0").at("full").text()
    assert "λ = 2∛3" in cube
    assert "opposite signs" in worked.eigen("1 3 5; 2 4 1; 6 1 9").at("full").text().replace("\n     ", " ")


@WRITTEN
def test_markdown_renders(name: str, solutions: dict[str, Solution]) -> None:
    text = solutions[name].markdown()
    assert text == solutions[name]._repr_markdown_()
    myst = pytest.importorskip("markdown_it", reason="markdown-it is not installed: Markdown was not rendered")
    page = myst.MarkdownIt("commonmark").enable("table").render(text)
    assert page.startswith("<h2>")
    assert ("<table>" in page) == ("|---" in text)
    assert text.replace("$$", "").count("$") % 2 == 0
    assert text.count("$$") % 2 == 0


@WRITTEN
def test_document_is_json_and_reads_back_exactly(name: str, solutions: dict[str, Solution]) -> None:
    solution = solutions[name]
    document = json.loads(json.dumps(solution.document(), allow_nan=False))
    assert document["title"]
    assert len(document["steps"]) == len(solution.steps)
    for key, value in solution.parts.items():
        if isinstance(value, sp.MatrixBase) and document["parts"][key]["exact"]:
            read = sp.Matrix(sp.sympify(document["parts"][key]["exact"]))
            assert (read - value).applyfunc(sp.simplify).is_zero_matrix


def test_every_solution_is_here() -> None:
    functions = {name for name in worked.__all__ if name[0].islower()} - {"exercise", "language", "lesson", "pictures"}
    assert functions == {name.split()[0] for name in CASES}


def test_show_prints(capsys: pytest.CaptureFixture[str]) -> None:
    worked.eigen("2 1; 3 2").show()
    assert "2 + √3 ≈ 3.73205" in capsys.readouterr().out


def test_a_decimal_stands_beside_what_is_not_whole() -> None:
    text = worked.eigen("2 1; 3 2").text()
    assert "λ_1 = 2 + √3 ≈ 3.73205" in text
    assert "tr(M) = 4\n" in text


@pytest.mark.parametrize("side", [6, 8])
def test_wide_matrices_keep_to_the_width_too(side: int) -> None:
    wide = sp.Matrix(side, side, lambda i, j: (i * 7 + j * j * 3) % 11 - 5)
    for solution in (worked.eigen(wide), worked.power_iteration(wide), worked.kernel_pca(wide[:6, :])):
        assert max(map(len, solution.text().splitlines())) <= 80
    large = sp.Matrix(12, 12, lambda i, j: 10**8 + i * j)
    assert max(map(len, worked.rank(large).text().splitlines())) <= 80


def test_formulas_break_outside_brackets() -> None:
    text = worked.eigen("1 3 3; 1 1 3; 1 1 1").at("full").text()
    lines = [line for line in text.splitlines() if line.startswith("    ") and "⎡⎢⎣" not in line]
    assert all(line.count("(") == line.count(")") for line in lines), text
    assert "∛3 + ∛9" in text
    assert max(map(len, worked.diagonalize("1 2 0 1; 0 1 3 0; 5 0 1 2; 1 7 0 3").at("full").text().splitlines())) <= 80


def value(text: str) -> float | None:
    """What one side of a printed equation comes to, if it has no letters."""
    try:
        tokens = tokens_of(plain(text.strip()))
        values, stop = Reader(tokens, product=2).read(0, named=True)
    except InputError:
        return None
    whole = stop == len(tokens) and len(values) == 1
    return float(values[0].value) if whole and isinstance(values[0], Typed) else None


CHAINS = {
    **{
        name: CASES[name]
        for name in (
            "determinant",
            "eigen",
            "pca",
            "diagonalize complex",
            "query",
            "cur",
            "kernel_pca",
            "kernel_pca rbf",
            "select",
            "gram_schmidt",
            "correlation",
            "isomap",
        )
    },
    "pseudo_inverse nested": lambda: worked.pseudo_inverse("0.1 0.25; 1.75 -2.5"),
    "cur fractions": lambda: worked.cur("1/3 2/7; 5/11 -3/13"),
    "cur roots": lambda: worked.cur("1+sqrt(2) sqrt(3); sqrt(5) 2"),
    "svd numbers": lambda: worked.svd("1 2 3; 4 5 6; 7 8 10"),
    "pca numbers": lambda: worked.pca("1 0 2; 0 3 1; 2 1 0; 1 1 1"),
    "project numbers": lambda: worked.project("1 0 2; 0 3 1; 2 1 0; 1 1 1", "1 2 3"),
}


def test_every_printed_equation_is_true() -> None:
    """Both sides of each = agree to rounding, those of each ≈ to the digits shown."""
    checked, false = 0, []
    for name, make in CHAINS.items():
        for line in make().at("full").text(width=10**6).splitlines():
            if "⎡" in line or "⎣" in line or "⎢" in line:
                continue
            sides = re.split(r" (=|≈) ", line)
            for left, sign, right in zip(sides[::2], sides[1::2], sides[2::2], strict=False):
                first, second = value(left), value(right)
                if first is None or second is None:
                    continue
                checked += 1
                scale = max(1.0, abs(first), abs(second))
                if abs(first - second) > (1e-9 if sign == "=" else 2e-4) * scale:
                    false.append((name, line))
    assert not false, false[:3]
    assert checked > 200


def test_nothing_is_not_a_number() -> None:
    assert "nan" not in CASES["nmf zero"]().at("full").text()
