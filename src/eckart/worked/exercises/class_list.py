"""Names from a class list: one name per line, or a table (CSV) whose header says which columns hold names."""

from __future__ import annotations

import codecs
import csv
import re
from collections.abc import Sequence

from eckart.worked.messages import current

_HEADINGS = re.compile(
    r"(?:full|first|last|given|family|student'?s?)?[ _]?(?:name|surname|names)|student|pupil"
    r"|nome(?: e cognome)?|cognome(?: e nome)?|nominativo|studente|alunno"
    r"|nombres?|apellidos?(?: y nombres?)?|nombres? y apellidos?|alumno|estudiante"
    r"|имя|фамилия(?:,? имя)?|отчество|фио|ф\.и\.о\.|студент|ученик",
    re.IGNORECASE,
)
_LONGEST = 60
"""Maximum number of characters of a name used in a file name."""


def decoded(content: bytes) -> str:
    """The text of a list: UTF-8, UTF-16 with a byte order mark, or otherwise the legacy Windows encoding."""
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return content.decode("utf-16", errors="replace")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return content.decode("cp1251" if current() == "ru" else "cp1252", errors="replace")


def names(text: str) -> list[str]:
    """The names of a class list.

    >>> names("cognome;nome;matricola\\nRossi;José;101\\nBianchi;Ada;102\\n")
    ['Rossi José', 'Bianchi Ada']
    >>> names("Ada Lovelace\\nKovalevskaya, Sofia\\n")
    ['Ada Lovelace', 'Kovalevskaya, Sofia']
    """
    lines = list(filter(str.strip, text.splitlines()))
    if not lines:
        return []
    delimiter = max(";\t,", key=lambda sign: (lines[0].count(sign), sign == ";"))
    rows = [list(map(str.strip, row)) for row in csv.reader(lines, delimiter=delimiter)]
    columns = [place for place, cell in enumerate(rows[0]) if _HEADINGS.fullmatch(cell)]
    if columns:
        found = [_joined(row, columns) for row in rows[1:]]
    elif delimiter == ",":  # Surname, Name
        found = lines
    else:
        found = [" ".join(filter(None, row)) for row in rows]
    return list(filter(None, map(str.strip, found)))


def _joined(row: list[str], columns: list[int]) -> str:
    return " ".join(row[place] for place in columns if place < len(row))


def file_words(students: Sequence[str]) -> list[str]:
    """A different word for each name, for file names; also distinct if case is ignored, and from the names of the keys.

    >>> file_words(["Ana", "ANA", "Ana key", "../x", "?"])
    ['Ana', 'ANA-2', 'Ana-key-3', 'x', '5']
    """
    taken: set[str] = set()
    found = []
    for place, student in enumerate(students, 1):
        first = re.sub(r"[^\w]+", "-", student)[:_LONGEST].strip("-_") or str(place)
        word, number = first, place
        while {word.casefold(), f"{word}-key".casefold()} & taken:
            word, number = f"{first}-{number}", number + 1
        taken |= {word.casefold(), f"{word}-key".casefold()}
        found.append(word)
    return found
