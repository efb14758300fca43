"""Results in notebooks and in print: HTML that parses, escaped names, and text that names the figures."""

import re
from html.parser import HTMLParser

import numpy as np
import pytest

import eckart as ek
from eckart import worked

ARRESTS = ek.datasets.load("usarrests")
MODEL = ek.decompose(ARRESTS.values, k=2, scale=True, left=True).named(ARRESTS.row_names, ARRESTS.column_names)


class Balanced(HTMLParser):
    """Checks that every tag is closed in order, and collects the text."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def text_of(html: str) -> str:
    parser = Balanced()
    parser.feed(html)
    parser.close()
    assert not parser.open
    return parser.text


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (MODEL, ("62.01 %", "86.75 %", "component")),
        (MODEL.certificate, ("proved", "86.7502 %", "passes over the data")),
        (MODEL.plan, ("direct", "50 rows x 4 columns")),
        (ek.tables.loadings(MODEL), ("Murder", "PC2")),
        (ek.choose_rank(ARRESTS.values, ["kaiser", "broken_stick"], scale=True), ("Kaiser", "Broken stick")),
        (ek.bootstrap(ARRESTS.values, k=1, scale=True, count=20), ("PC1", "lower")),
    ],
    ids=["decomposition", "certificate", "plan", "table", "rank", "bootstrap"],
)
def test_html_shows_the_figures(value: object, words: tuple[str, ...]) -> None:
    shown = text_of(value._repr_html_())  # type: ignore[attr-defined]
    assert all(word in shown for word in words), shown
    assert len(str(value)) > 40


def test_names_are_aligned_left_and_numbers_right() -> None:
    shown = ek.types.Table("t", ("name", "n"), (("a", 1.0),))._repr_html_()
    cells = [cell.partition(">")[::2] for cell in re.split("<t[hd] ", shown)[1:]]
    sides = {text.partition("<")[0]: "left" if "text-align:left" in style else "right" for style, text in cells}
    assert sides == {"name": "left", "n": "right", "a": "left", "1.000": "right"}


def test_names_are_escaped() -> None:
    table = ek.types.Table("<b>", ("name", "n"), (("<script>alert(1)</script>", 1.0),), "a & b")
    html = table._repr_html_()
    assert "<script>" not in html
    assert "&lt;script&gt;" in html
    assert "a &amp; b" in html


def test_long_results_are_cut() -> None:
    d = ek.decompose(np.random.default_rng(0).normal(size=(60, 30)))
    assert len(str(d).splitlines()) < 16
    many = ek.types.Table("t", ("i", "n"), tuple((str(i), float(i)) for i in range(500)))
    assert "440 more rows" in text_of(many._repr_html_())


def test_a_solution_is_shown_as_page_text_and_markdown() -> None:
    solution = worked.rank("1 2; 2 4")
    assert 'srcdoc="&lt;!DOCTYPE html&gt;' in solution._repr_html_()
    assert str(solution) == solution.text()
    assert solution._repr_markdown_() == solution.markdown()


def test_an_exercise_is_shown_as_its_question() -> None:
    made = worked.exercise("determinant", seed=3)
    assert made._repr_markdown_() == made.question().markdown()
    assert "data-mode=&quot;playing&quot;" in made._repr_html_()
    assert "data-mode=" not in made.solution._repr_html_()


def test_printed_results_fit_into_80_columns() -> None:
    space = ek.concepts(MODEL)
    printed = [
        MODEL, MODEL.certificate, MODEL.plan, ek.tables.loadings(MODEL), space, space.query(0), space.similar_rows(0),
        ek.choose_rank(ARRESTS.values, "quick", scale=True), ek.analyze(MODEL, ranks=None), worked.svd("1 2; 2 1"),
    ]  # fmt: skip
    for value in printed:
        text = str(value)
        assert max(map(len, text.splitlines())) <= 80, text
        assert not text.startswith("<") or value is space
