"""Notes on data and results: a sentence for people, a code for programs."""

from __future__ import annotations

from collections.abc import Mapping

from eckart.wording import Door, worded


def for_door(line: str, door: Door) -> str:
    """A note worded for Python or for the command line; any other line unchanged."""
    return line.worded(door) if isinstance(line, Note) else line


def code_of(line: str) -> str:
    """The code of a note; "" for any other line."""
    return line.code if isinstance(line, Note) else ""


class Note(str):
    """A sentence with a code that programs can branch on and the figures it contains.

    It is a string, worded for Python; `worded("cli")` names command-line options instead of keywords.

    >>> note = Note("constant_columns", "1 column is constant: x.", {"columns": ("x",)})
    >>> note.code, str(note)
    ('constant_columns', '1 column is constant: x.')
    """

    __slots__ = ("_template", "code", "details")

    code: str
    details: Mapping[str, object]
    _template: str

    def __new__(cls, code: str, text: str, details: Mapping[str, object] | None = None) -> Note:
        made = super().__new__(cls, worded(text, "python"))
        made.code, made.details, made._template = code, dict(details or {}), text
        return made

    def __getnewargs__(self) -> tuple[str, str, dict[str, object]]:  # type: ignore[override]
        return self.code, self._template, dict(self.details)

    def __getstate__(self) -> None:
        """Nothing beyond the arguments of `__new__`, from which pickles and copies are made."""

    def worded(self, door: Door) -> str:
        """The sentence for Python or for the command line."""
        return worded(self._template, door)
