"""Entries of Attributes sections that several classes share, written once and inserted when a class is defined."""

from __future__ import annotations

import re
from inspect import cleandoc
from typing import ClassVar

_SECTION = re.compile(r"\n([ ]*)Attributes\n\1-+\n(.*?)(?=\n\s*\n|\s*\Z)", re.DOTALL)
_ENTRY = re.compile(r"^(?=\w+ :)", re.MULTILINE)


class SharesAttributes:
    """Base of classes whose subclasses have the attributes `_shared_attributes`."""

    _shared_attributes: ClassVar[str] = ""

    def __init_subclass__(cls, **kwargs: object) -> None:
        super().__init_subclass__(**kwargs)
        cls.__doc__ = with_attributes(cls.__doc__, cls._shared_attributes)


def with_attributes(doc: str | None, shared: str) -> str | None:
    """The docstring with the entries of `shared` that its Attributes section lacks, appended to that section.

    A docstring without the section, such as that of an external subclass, is unchanged. An attribute with its own entry
    keeps it.
    """
    section = _SECTION.search(doc) if doc else None
    if doc is None or section is None:
        return doc
    indent, entries = section.groups()
    described = set(re.findall(rf"^{indent}(\w+)(?= :)", entries, re.MULTILINE))
    added = [entry for entry in _ENTRY.split(cleandoc(shared)) if entry and entry.partition(" :")[0] not in described]
    lines = "".join(f"\n{indent}{line}" for entry in added for line in entry.splitlines())
    return doc[: section.end()] + lines + doc[section.end() :]
