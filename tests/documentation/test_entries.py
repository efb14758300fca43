"""Docstrings with shared entries: what help() and numpydoc see is complete, and no entry is left over."""

import inspect
import re
from pathlib import Path

import pytest
from numpydoc.docscrape import NumpyDocString

import eckart as ek
from eckart.documentation import document, expand
from eckart.documentation.entries import SECTIONS

SOURCES = Path(ek.__file__).parent
PLACEHOLDER = re.compile(r"^ *\{([^{}'\"\n]+)\}$", re.MULTILINE)


def test_a_section_and_single_entries_are_filled_in() -> None:
    @document
    def shown(d: object, k: int, limit: int) -> None:
        """Show.

        Parameters
        ----------
        {d [centred]}
        k : int
            Own text.
        {limit}

        {Returns: matplotlib.axes.Axes; Raises: ParameterError [not centred]}
        """

    doc = NumpyDocString(inspect.getdoc(shown) or "")
    assert [entry.name for entry in doc["Parameters"]] == ["d", "k", "limit"]
    assert doc["Parameters"][1].desc == ["Own text."]
    assert [entry.type for entry in doc["Returns"] + doc["Raises"]] == ["matplotlib.axes.Axes", "ParameterError"]


def test_a_type_is_described_below_it_and_further_entries_follow() -> None:
    @document
    def shown(d: object) -> None:
        """Show.

        {Attributes: title}
        {notes}

        {Parameters: d; Returns: Table}
            One row for each column.
        """

    doc = NumpyDocString(inspect.getdoc(shown) or "")
    assert [entry.name for entry in doc["Attributes"]] == ["title", "notes"]
    assert [(entry.type, entry.desc) for entry in doc["Returns"]] == [("Table", ["One row for each column."])]


def test_public_docstrings_are_complete() -> None:
    for function in (ek.tables.cos2, ek.plots.scores, ek.PCA.fit, ek.project_to, ek.TextConcepts.load):
        doc = inspect.getdoc(function) or ""
        assert not PLACEHOLDER.search(doc)
        listed = [entry.name.lstrip("*") for entry in NumpyDocString(doc)["Parameters"]]
        assert listed == [name for name in inspect.signature(function).parameters if name not in ("self", "cls")]


def test_a_docstring_without_placeholders_is_unchanged() -> None:
    doc = "Sum.\n\n    Parameters\n    ----------\n    of : {'rows', 'columns'}\n        {'rows'}\n    "
    assert expand(doc) == doc


def test_unknown_entries_are_refused() -> None:
    with pytest.raises(KeyError, match="unheard"):
        expand("Sum.\n\n    {Parameters: unheard}\n")


def test_every_entry_is_used() -> None:
    named = {
        name
        for path in SOURCES.rglob("*.py")
        for line in PLACEHOLDER.findall(path.read_text(encoding="utf-8"))
        for part in line.split("; ")
        for name in re.sub(r"^[A-Z][A-Za-z ]+: ", "", part).split(", ")
    }
    assert {name for texts in SECTIONS.values() for name in texts} <= named
