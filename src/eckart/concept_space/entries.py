"""Convert anything that describes a row to its entries: numbers, {column: value}, words, a text."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeGuard

import numpy as np

from eckart.arrays import is_array, is_sparse, to_numpy
from eckart.concept_space.best import Numbers
from eckart.concept_space.names import Names, listed
from eckart.errors import InputError, MissingValuesError, NotFiniteError
from eckart.formatting import counted
from eckart.options import check_choice
from eckart.wording import IGNORE_UNKNOWN

Unknown = Literal["error", "ignore"]

_WORD = re.compile(r"\w\w+")
_FORMS = "Pass the numbers of the row, a dict {column: value}, a list of words, or a string."


@dataclass(frozen=True)
class Entries:
    """The known entries of a row in column order, and what was left out."""

    columns: Numbers
    values: Numbers
    name: str = "the given row"
    notes: tuple[str, ...] = ()
    whole: bool = True
    """Whether all other entries are 0; otherwise they are unknown."""


def of_dense(row: Numbers, name: str = "the given row") -> Entries:
    """Entries other than 0 are known."""
    columns = np.flatnonzero(row)
    return Entries(columns, np.asarray(row, np.float64)[columns], name)


def take(given: object, names: Names, *, unknown: Unknown | None, vectorizer: object) -> Entries:
    """The checked entries of any input. Unknown names in a dict are an error, unknown words are not."""
    if unknown is not None:
        check_choice("unknown", unknown, ("error", "ignore"))
    if isinstance(given, str):
        return _of_text(given, names, unknown, vectorizer)
    if hasattr(given, "to_dict") and getattr(given, "ndim", 0) == 1:
        given = given.to_dict()  # a pandas Series, by its index
    if isinstance(given, Mapping):
        return _of_mapping(given, names, unknown or "error")
    return _of_words(list(given), names, unknown or "ignore") if _are_words(given) else _of_numbers(given, names)


def _are_words(given: object) -> TypeGuard[Iterable[str]]:
    if not isinstance(given, list | tuple | set | frozenset):
        return False
    return len(given) > 0 and all(isinstance(word, str) for word in given)


def _of_mapping(given: Mapping[Any, Any], names: Names, unknown: Unknown) -> Entries:
    indices: dict[int, float] = {}
    wrong: list[str] = []
    for name, value in given.items():
        place = names.find(name) if isinstance(name, str) else names.place(name)
        if place is None:
            wrong.append(str(name))
        else:
            indices[place] = _number(value, names.label(place))
    columns = np.array(sorted(indices), np.int64)
    values = np.array([indices[int(place)] for place in columns], np.float64)
    return Entries(columns, values, notes=_unknown(wrong, names, unknown), whole=False)


def _of_words(words: Sequence[str], names: Names, unknown: Unknown) -> Entries:
    counts = Counter(words)
    wrong = [word for word in counts if names.find(word) is None]
    notes = _unknown(wrong, names, unknown, what="word")
    known = {word: count for word, count in counts.items() if names.find(word) is not None}
    if not words:
        notes = ("The query contains no words.",)
    elif not known:
        none = "The word {} does not occur" if len(wrong) == 1 else "None of the words {} occurs"
        notes = (f"{none.format(listed(wrong))} in the data, so the query is empty.",)
    found = _of_mapping(known, names, "error")
    return Entries(found.columns, found.values, "the query", notes)


def _of_text(text: str, names: Names, unknown: Unknown | None, vectorizer: Any) -> Entries:
    """Counts of its words, or the output of the vectorizer."""
    analyze = vectorizer.build_analyzer() if hasattr(vectorizer, "build_analyzer") else _words
    counted = _of_words(analyze(text), names, unknown or "ignore")
    if vectorizer is None:
        return counted
    weighted = _of_numbers(vectorizer.transform([text]), names)
    return Entries(weighted.columns, weighted.values, "the query", counted.notes)


def _words(text: str) -> list[str]:
    """Runs of at least two letters or digits, in lower case."""
    return _WORD.findall(text.lower())


def _of_numbers(given: Any, names: Names) -> Entries:
    if is_sparse(given):
        row = given.toarray()
    else:
        try:
            row = to_numpy(given) if is_array(given) else np.asarray(given, np.float64)
        except (TypeError, ValueError) as error:
            raise InputError(f"{type(given).__name__} {str(given)[:60]!r} does not describe a row. {_FORMS}") from error
    if row.ndim == 2 and len(row) == 1:
        row = row[0]
    if row.ndim == 2:
        raise InputError(f"Expected one row, but got {len(row):,} rows. For several rows, use recommend_many.")
    if row.ndim != 1 or len(row) != names.count:
        raise InputError(
            f"The row has {counted(row.size, 'number')}, but the model has {counted(names.count, 'column')}. {_FORMS}"
        )
    for column in np.flatnonzero(~np.isfinite(row.astype(np.float64)))[:1]:
        _number(row[column], names.label(int(column)))
    return of_dense(row)


def _number(value: Any, column: str) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError) as error:
        raise InputError(f"The value {value!r} of column {column!r} is not a number. Use a number.") from error
    if np.isnan(number):
        raise MissingValuesError(f"The value of column {column!r} is NaN. Leave out unknown entries, or set them to 0.")
    if np.isinf(number):
        raise NotFiniteError(f"The value of column {column!r} is infinite. Replace it with a finite number.")
    return number


def _unknown(wrong: Sequence[str], names: Names, unknown: Unknown, what: str = "column") -> tuple[str, ...]:
    if not wrong:
        return ()
    if unknown == "error":
        kind = f"{what}s" if len(wrong) > 1 else what
        raise InputError(
            f"The model has no {kind} {listed(wrong)}{names.hint(wrong)} Correct the spelling, or use {IGNORE_UNKNOWN}."
        )
    where = "in the data" if what == "word" else "among the columns"
    return (f"Not found {where} and ignored: {listed(wrong)}.",)
