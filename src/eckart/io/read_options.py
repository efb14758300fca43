"""How to read data: the options that `decompose`, `report`, `open_data` and the command line share."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from numbers import Real
from typing import TypedDict

from eckart.aliases import Keywords
from eckart.errors import ParameterError
from eckart.io.file_options import FileOptions
from eckart.io.text.layout import TextOptions
from eckart.wording import HEADER, MISSING_VALUES, assigned


@dataclass(frozen=True)
class ReadOptions(FileOptions):
    """All reading options of the library."""

    row_names: str | None = "auto"
    """Column that names the rows, "auto" for the first suitable text column, None for no column."""
    columns: Sequence[str | int] | None = None
    """Names, or positions counted from 0, of the columns to keep, in this order; ints are names if all names are."""
    mask: object = None
    """Columns of AnnData to keep: an array of booleans, or a boolean column of `var`."""

    ignored: Sequence[str] = ()
    """Names of columns that the command line leaves out or uses as labels."""
    used: Sequence[str] = ()
    """Names of columns that the command line selects after reading."""

    def __post_init__(self) -> None:
        columns: object = self.columns
        if isinstance(columns, str | int):
            one = "name" if isinstance(columns, str) else "number"
            raise ParameterError(
                f"columns={columns!r} is a single {one}, but columns takes a list. Use columns=[{columns!r}]."
            )
        if self.columns is not None:  # arrays, indexes of pandas and generators have no truth value or no length
            object.__setattr__(self, "columns", tuple(self.columns))
        for name in ("key", "layer", "delimiter", "encoding"):
            given = getattr(self, name)
            if not isinstance(given, str | None):
                raise ParameterError(f"{assigned(name, given)} is not valid: {name} must be a string.")
        self._check_header()
        object.__setattr__(self, "missing_values", missing_codes(self.missing_values))
        self.text  # noqa: B018 - checks the delimiter and the decimal sign

    def _check_header(self) -> None:
        given: object = self.header
        if given is None or isinstance(given, bool) or (isinstance(given, int) and given > 0):
            return
        raise ParameterError(
            f"{assigned('header', given)} is not valid. Use the line with the column names, counted from 1, or "
            f"{HEADER} if no line contains them."
        )

    @property
    def place(self) -> str | None:
        """Path of the array inside a file: the layer, or the key."""
        return f"layers/{self.layer}" if self.layer is not None else self.key

    @property
    def text(self) -> TextOptions:
        """The options of a delimited text file."""
        columns = [column for column in self.columns or () if isinstance(column, str)]
        named = columns if len(columns) == len(self.columns or ()) else ()
        kept = frozenset((*named, *self.used)) or None
        return TextOptions(
            self.delimiter, self.decimal, self.header, self.row_names, self.encoding, kept, frozenset(self.ignored),
            tuple(code for code in self.missing_values if isinstance(code, str)),
        )  # fmt: skip


def missing_codes(given: object) -> tuple[str | float, ...]:
    """The codes as numbers and texts: "-999" is a number."""
    if given is None:
        return ()
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise ParameterError(f"{MISSING_VALUES} takes a list, such as missing_values=[{given!r}].")
    return tuple(dict.fromkeys(map(_code, given)))


def _code(given: object) -> str | float:
    if isinstance(given, str):
        try:
            number = float(given)
        except ValueError:
            return given.strip()
        return number if math.isfinite(number) else given.strip()
    if isinstance(given, bool) or not isinstance(given, Real):
        raise ParameterError(f"{MISSING_VALUES} contains {given!r}, which is neither a number nor a text.")
    return float(given)


DEFAULT = ReadOptions()
"""Everything is detected."""


class ReadKeywords(TypedDict, total=False):
    """The same as keyword arguments."""

    format: str | None
    key: str | None
    delimiter: str | None
    decimal: str | None
    encoding: str | None
    header: bool | int | None
    missing_values: Sequence[str | float]
    row_names: str | None
    columns: Sequence[str | int] | None
    layer: str | None
    mask: object


NO_OPTIONS = "fit does not accept options for reading data. Open the data first: fit(eckart.open_data(X, {name}=...))."
"""What to do with a reading option at an estimator."""
NAMES = tuple(field.name for field in fields(ReadOptions) if field.name not in ("ignored", "used"))


def split_options(options: Keywords) -> tuple[ReadOptions | None, Keywords]:
    """(reading options, the others); None if there are no reading options."""
    if options.keys().isdisjoint(NAMES):
        return None, options
    reading = {name: value for name, value in options.items() if name in NAMES}
    others = {name: value for name, value in options.items() if name not in NAMES}
    return (ReadOptions(**reading) if reading else None), others
