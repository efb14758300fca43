"""Names and labels of rows that are read in batches of frames or records."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from eckart.engine.blocks.source import MemorySource, Metadata
from eckart.io.objects.collected import CollectedRows, Collector
from eckart.io.roles import MOST_NAMES, Parts, Text, assemble, listed, names_dropped
from eckart.notes import Note

_OF_COLUMNS = ("not_numbers", "truth_values", "names_numbered")
"""Codes of notes on columns that hold for all batches."""


class BatchLabels:
    """The columns of text and dates of all batches, which become names and labels of the rows.

    A column that tells the rows of one batch apart may not tell those of all batches apart, so the batches themselves
    are read without row names.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._first: Metadata | None = None
        self._texts: dict[str, list[str]] = {}
        self._later: set[str] = set()
        self._rows = 0

    def add(self, known: Metadata, rows: int) -> None:
        """The labels of the next batch."""
        if self._first is None:
            self._first = known
            self._texts = {name: [] for name in known.labels}
        self._rows += rows
        self._later |= known.labels.keys() - self._texts.keys()
        if self._rows > MOST_NAMES:
            return
        for name, values in self._texts.items():
            values.extend(known.labels.get(name, ()))

    def source(self, collector: Collector) -> MemorySource | CollectedRows:
        """The rows that were collected, with their names and labels."""
        first = self._first or Metadata(self._name)
        columns, roles = list(first.column_names or ()), first.column_roles
        texts = [_text(name, values, first) for name, values in self._texts.items() if len(values) == self._rows]
        parts = Parts(np.empty((0, len(columns))), columns, texts, self._notes(first), order=list(roles))
        parts.column_roles = {name: role for name, role in roles.items() if role.startswith("left out")}
        found = assemble(parts, self._name).metadata
        return collector.finish(found if columns else replace(found, column_names=None))

    def _notes(self, first: Metadata) -> list[Note]:
        """Notes on columns, and on names and labels that are not kept."""
        notes = [note for note in first.notes if note.code in _OF_COLUMNS]
        if self._rows > MOST_NAMES:
            return notes + ([names_dropped(list(self._texts))] if self._texts else [])
        missing = [name for name, values in self._texts.items() if len(values) != self._rows] + sorted(self._later)
        text = f"The names and labels in {listed(missing)} were dropped, because some batches do not have them."
        return notes + ([Note("names_dropped", text)] if missing else [])


def _text(name: str, values: list[str], first: Metadata) -> Text:
    kind = "date" if first.column_roles.get(name, "").startswith("dates") else "text"
    unique = len(set(values)) == len(values) and "" not in values
    return Text(name, tuple(values), unique, kind == "text", kind)
