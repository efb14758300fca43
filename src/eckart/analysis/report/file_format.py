"""The format of a report, from the name of its file."""

from __future__ import annotations

import os
from pathlib import PurePath

from eckart.errors import FileError

_OTHERS = frozenset({
    ".pdf", ".doc", ".docx", ".odt", ".rtf", ".tex", ".pptx", ".png", ".jpg", ".svg", ".csv", ".xlsx", ".json",
    ".ipynb",
})  # fmt: skip


def is_markdown(path: str | os.PathLike[str]) -> bool:
    """Whether the report is Markdown rather than HTML; suffixes of other formats are refused.

    Examples
    --------
    >>> from eckart.analysis.report.file_format import is_markdown
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
