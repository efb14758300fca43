"""document: fill in the entries of a docstring that several functions share, so that each text is written once.

A docstring names shared entries in braces, on a line of their own: whole sections as ``{Parameters: d, limit}`` or
``{Returns: Self; Raises: MissingValuesError}``, or single entries between others of a section as ``{limit}``. The texts
are in `entries`. An entry that is only a type, as in ``{Parameters: d; Returns: Table}``, is described by the indented
lines below it. Further entries of the last section may follow a placeholder. `help()`, Sphinx and numpydoc see the
complete docstring.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TypeVar

from eckart.documentation.entries import SECTIONS

Documented = TypeVar("Documented")

_PLACEHOLDER = re.compile(r"( *)\{([^{}'\"]+)\}")
_SECTION = re.compile(r"(?:([A-Z][A-Za-z ]+): )?(.+)")


def document(target: Documented) -> Documented:
    """Complete the docstring of a function or class.

    Examples
    --------
    >>> from eckart.documentation import document
    >>> @document
    ... def total(d, limit):
    ...     '''Sum.
    ...
    ...     {Parameters: limit}
    ...     '''
    >>> print(total.__doc__.strip())
    Sum.
    <BLANKLINE>
        Parameters
        ----------
        limit : int or None, default None
            Maximum number of rows of the table. None includes all.
    """
    if target.__doc__:  # none under `python -OO`
        target.__doc__ = expand(target.__doc__)
    return target


def expand(doc: str) -> str:
    """The docstring with its shared entries."""
    section, lines = "", []
    for line, following in pairwise([*doc.split("\n"), ""]):
        if following.strip(" -") == "" and "---" in following:
            section = line.strip()
        found = _PLACEHOLDER.fullmatch(line)
        if found is None:
            lines.append(line)
            continue
        lines += [f"{found[1]}{text}".rstrip() for text in _texts(found[2], section)]
        section = _SECTION.fullmatch(found[2].split("; ")[-1])[1] or section  # type: ignore[index]
    return "\n".join(lines)


def _texts(named: str, section: str) -> list[str]:
    """The lines of entries of the current section, or of whole sections with a blank line between them."""
    lines: list[str] = []
    for part in named.split("; "):
        title, names = _SECTION.fullmatch(part).groups()  # type: ignore[union-attr]
        lines += ["", title, "-" * len(title)] if title else []
        lines += [text for name in names.split(", ") for text in SECTIONS[title or section][name]]
    return lines[1:] if lines[0] == "" else lines
