"""The report as Markdown: the same sentences and tables, for a repository, a notebook or an email."""

from __future__ import annotations

import os
import re
from pathlib import PurePath
from typing import TYPE_CHECKING

from eckart.analysis import sentences
from eckart.analysis.report.contents import Section, sections
from eckart.errors import FileError
from eckart.formatting import clean, counted
from eckart.io.open_source import FORMATS, STORED

if TYPE_CHECKING:
    from eckart.analysis.analysis import Analysis
    from eckart.text import Table

_LINES = 60
_SIGNS = re.compile(r"([\\`*_{}\[\]<>()#!|~&])")


def markdown(found: Analysis, title: str, made: list[Section] | None = None) -> str:
    """Headings, sentences and tables of the report; `made` are its sections, if already computed."""
    parts = [f"# {plain(title)}", plain(sentences.what(found.decomposition))]
    for section in sections(found) if made is None else made:
        parts += _section(section)
    return "\n\n".join(parts) + "\n"


def plain(text: str) -> str:
    """The text on one line, with all characters special to Markdown and HTML escaped."""
    return _SIGNS.sub(r"\\\1", clean(" ".join(text.split())))


def _section(section: Section) -> list[str]:
    lines = [plain(line) for line in section.lines if line]
    several = len(lines) > 1
    words = "\n".join(f"- {line}" for line in lines) if several else "".join(lines)
    return [f"## {section.title}", *([words] if words else []), *(_table(table) for table in section.tables.values())]


def _table(table: Table) -> str:
    """A table with at most this many lines, and a note on the rest."""
    head = f"| {' | '.join(map(plain, table.columns))} |"
    numeric = table.kinds[1:] if table.kinds else ["number"] * (len(table.columns) - 1)
    rule = f"|---|{''.join('---|' if kind == 'text' else '--:|' for kind in numeric)}"
    body = [f"| {' | '.join(map(plain, row))} |" for row in table.cells(_LINES)]
    left = len(table.rows) - len(body)
    notes = [plain(table.caption)] if table.caption else []
    notes += [f"Not shown: {counted(left, 'more row')}."] if left > 0 else []
    return "\n".join([f"**{plain(table.title)}**", "", head, rule, *body, *(f"\n{note}" for note in notes)])


_OTHERS = frozenset({
    ".pdf", ".doc", ".docx", ".odt", ".rtf", ".tex", ".pptx", ".png", ".jpg", ".svg", ".xlsx", ".json", ".ipynb",
    ".gz", ".eckart", *FORMATS, *(f".{kind}" for kind in STORED),
})  # fmt: skip
"""A report must not replace a table or a model by mistake."""


def is_markdown(path: str | os.PathLike[str]) -> bool:
    """Whether the report is Markdown rather than HTML; suffixes of other formats are refused.

    Examples
    --------
    >>> from eckart.analysis.report.markdown import is_markdown
    >>> is_markdown("report.md"), is_markdown("report.html")
    (True, False)
    """
    suffix = PurePath(path).suffix.lower()
    if suffix in _OTHERS:
        pdf = " To get a PDF, open the HTML page in a browser and print it." if suffix == ".pdf" else ""
        raise FileError(
            f"{str(path)!r} ends in {suffix}, but reports are HTML or Markdown. Use a name that ends in .html or "
            f".md.{pdf}"
        )
    return suffix in (".md", ".markdown")
