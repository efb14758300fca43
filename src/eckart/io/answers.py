"""Columns with the same few words as answers, such as "agree" and "disagree", which numbers could replace."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from eckart.formatting import counted, joined, quoted
from eckart.notes import Note

_FEWEST_COLUMNS = 3
_MOST_ANSWERS = 11
"""Scales from 0 to 10 have this many answers."""
_SHARED = 2
"""Answers that two columns need in common; of two columns, one may lack rare answers."""


def answer_notes(columns: Mapping[str, Sequence[str]]) -> list[Note]:
    """A note for each group of text columns with the same few answers."""
    return [_note(names, answers) for names, answers in _groups(columns) if len(names) >= _FEWEST_COLUMNS]


def _groups(columns: Mapping[str, Sequence[str]]) -> list[tuple[list[str], set[str]]]:
    """Columns whose answers are among those of another column, or contain them, with all answers of the group."""
    found: list[tuple[list[str], set[str]]] = []
    for name, values in columns.items():
        answers = set(values) - {""}
        if not _SHARED <= len(answers) <= min(_MOST_ANSWERS, len(values) // 2):
            continue
        for names, known in found:
            if len(answers & known) >= _SHARED and len(answers | known) <= _MOST_ANSWERS:
                names.append(name)
                known.update(answers)
                break
        else:
            found.append(([name], answers))
    return found


def _note(names: Sequence[str], answers: set[str]) -> Note:
    words = joined([quoted(answer) for answer in sorted(answers)])
    numbers = "0 and 1" if len(answers) == 2 else f"1 to {len(answers)}"
    text = (
        f"{counted(len(names), 'column')} with text, such as {quoted(names[0])}, contain the same answers: {words}. If "
        f"these are ordered, replace them with numbers, such as {numbers}, to analyse the columns."
    )
    return Note("answers", text, {"columns": tuple(names)})
