"""Wording for Python and for the command line: what to type next is a keyword or an option.

A message is written once. If the wording differs, it contains `either(python, command_line)`, and `worded` picks one.
"""

from __future__ import annotations

import re
from typing import Literal, TypeAlias

Door: TypeAlias = Literal["python", "cli"]

# Characters of the private use area, which do not occur in messages.
_START, _MIDDLE, _END = "\ue000", "\ue001", "\ue002"
_EITHER = re.compile(f"{_START}(.*?){_MIDDLE}(.*?){_END}", re.DOTALL)


def either(python: str, cli: str) -> str:
    """Text for a message: `python` in Python, `cli` on the command line.

    >>> worded(f"Use {either('overwrite=True', '--force')}.", "cli")
    'Use --force.'
    """
    return f"{_START}{python}{_MIDDLE}{cli}{_END}"


def worded(message: str, door: Door) -> str:
    """The message for Python or for the command line."""
    return _EITHER.sub(r"\1" if door == "python" else r"\2", message) if _START in message else message


class Worded:
    """A message that is worded for Python or for the command line."""

    _template: str

    def worded(self, door: Door) -> str:
        """Format the message for Python or for the command line.

        Parameters
        ----------
        door : {'python', 'cli'}
            Where the message is shown. "python" names keywords, and "cli" names command-line options.

        Returns
        -------
        str
            The message.
        """
        return worded(self._template, door)


_SAME = (
    "rules", "which", "missing", "method", "solver", "select", "core", "kernel", "explain", "error", "memory", "format",
    "decimal", "delimiter", "noise", "key", "layer", "header",
)  # fmt: skip
_OPTIONS = {
    "k": "-k",
    "most": "--most",
    "rng": "--seed",
    "row_names": "--row-names",
    "n_features": "--keep",
    "n_landmarks": "--landmarks",
    "n_neighbors": "--neighbors",
    "n_columns": "--columns-count",
    "n_rows": "--rows-count",
    **{name: f"--{name}" for name in _SAME},
}
"""Keywords of Python that are options of the command line."""


def assigned(name: str, given: object) -> str:
    """An argument with its value, as typed: k=5 in Python, -k 5 on the command line.

    >>> worded(assigned("rules", "foo"), "cli"), worded(assigned("rules", "foo"), "python")
    ('--rules foo', "rules='foo'")
    """
    typed = f"{name}={given!r}"
    return either(typed, f"{_OPTIONS[name]} {given}") if name in _OPTIONS else typed


def header_line(line: int) -> str:
    """The option that says which line of a text file contains the column names."""
    return either(f"header={line}", f"--header {line}")


OVERWRITE = either("overwrite=True", "--force")
DECIMAL_COMMA = either("decimal=','", "--decimal ,")
KEY = either("key='NAME'", "--key NAME")
AS_PARQUET = either("format='parquet'", "--format parquet")
COLUMNS = either("columns=[...]", "--columns")
FORMAT = either("format=...", "--format")
HEADER = either("header=False", "--no-header")
MISSING_VALUES = either("missing_values=", "--missing-values")
ENCODING = either("encoding=...", "--encoding")
ITERATIONS = either("max_iter", "--iterations")
K = either("k", "-k")
SCALE = either("scale=True", "--scale")
SMALLEST = either("which='smallest'", "--which smallest")
MEMORY = either("memory=...", "--memory")
CHECKPOINT = either("checkpoint=...", "--checkpoint")
KEEP_ROWS = either("left=True", "--keep-rows")
DATA = either("Pass the data with concepts(model, rows=...)", "Use --data")
INCLUDE_KNOWN = either("exclude_known=False", "--include-known")
IGNORE_UNKNOWN = either("unknown='ignore'", "--ignore-unknown")
PROOF = either("proof", "--proof")
SAVE = either("Decomposition.save", "'eckart fit'")
