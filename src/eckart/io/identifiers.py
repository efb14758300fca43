"""Columns of numbers that identify or count the rows (id, index, year) or are codes (zip), which are set aside.

The name of a column and its whole numbers decide together:

- id, patient_id: any whole numbers. If they repeat, they identify groups of rows (patients with several rows).
- index, key, account number: all different, or a running count that starts again in each group of rows (1 to 50 in each
  of four groups).
- case, subject: a count of the rows without a gap, or a running count in each group.
- number, no, row, and columns without a name: a count of the rows without a gap, because such names may also denote a
  quantity.

A column named year with a constant step is the time of each row, also if several rows have the same year. So is a
column named time or period that counts the rows, and one named date or time with seconds since 1970 or dates as
20240131. Whole numbers in a column named like a code (zip, phone, FIPS), or padded with zeros (007), name something:
sums and means of them have no meaning. Times, codes and identifiers of groups become labels.

The rule is the same for rows read in blocks: columns named like identifiers are read once.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple, NoReturn

import numpy as np

from eckart.engine.blocks.edges import edges_for
from eckart.engine.blocks.source import DataSource, Metadata, RowSource
from eckart.environment import SMALL, free_memory
from eckart.errors import InputError
from eckart.formatting import about_columns, listed
from eckart.io.codes import padded_columns
from eckart.io.columns import keep, named_by
from eckart.io.entries.rating_lines import is_rating, rating_lines
from eckart.notes import Note
from eckart.wording import COLUMNS

_THINGS = (
    "account|case|client|customer|device|employee|household|invoice|item|member|movie|object|order|participant|passenger|"
    "patient|person|product|record|respondent|sample|session|station|store|student|subject|ticket|transaction|user"
)
_IDENTITY = re.compile(
    rf"(?i:id|ids|identifiers?|uid|uuid|guid|ssn|.*[_ .-](id|uid|uuid|guid)|({_THINGS})id)|.*[a-z]I[Dd]"
)  # not humidity, acid
_INDEX = re.compile(rf"(?i:index|idx|key|row[_ .-]?names?|.*[_ .-]key|(serial|{_THINGS})[_ .-]?(no|nr|num|number))")
_CASE = re.compile(
    r"(?i:obs|observation|case|record|serial|respondent|participant|subject|patient|person|individual|household|pupil|"
    r"student|customer)"
)
_NUMBER = re.compile(r"(?i:row|rownum|no|nr|num|number|unnamed: ?\d+|column \d+|.*[_ .-](no|nr|num))")
_NAMES = (_IDENTITY, _INDEX, _CASE, _NUMBER)
_FEWEST_COUNTED = 5
"""A running count in each group goes at least so far. Shorter ones may be levels of an experiment."""
_YEAR = re.compile(r"(?i:year_.*|.*[_ .-]year)")
_YEAR_ALONE = re.compile(r"(?i:year|yr|jahr|ann[eé]e)")
"""Several rows may have the same one; a year of birth or construction may be a measurement."""
_TIME = re.compile(
    r"(?i:(.*[_ .-])?(time|timestamp|date|datetime|datum|day|epoch|unixtime))|.*[a-z](Date|Time|Timestamp)"
)
_COUNTED_TIME = re.compile(r"(?i:time|time[_ .-]?(index|step)|period)")
_SECONDS = (1e8, 4.1e9)
"""Seconds from 1973 to 2099 since 1970; larger numbers of them are no likely measurements."""
_CALENDAR = (19000101, 20991231)
_CODE = re.compile(
    r"(?i:(.*[_ .-])?(code|codes|zip|zip ?codes?|zip4|post ?codes?|postal ?codes?|plz|postleitzahl|code ?postal|"
    r"c[oó]digo ?postal|phone|phone ?number|telephone|tel|mobile|fax|fips|naics|isbn|issn|ean|upc|gtin|sku|barcode))"
    r"|.*[a-z](Code|Zip|Phone)"
)
_MOST_RATING_COLUMNS = 4
_FEWEST = 3
"""With fewer rows than this, any column could distinguish them."""
_BLOCK = 1 << 24
"""Bytes of the blocks in which rows are read."""


def identifier_columns(names: Sequence[str], matrix: np.ndarray) -> list[int]:
    """Positions of the columns that identify or count the rows, or identify groups of them."""
    if len(matrix) < _FEWEST:
        return []
    return [j for j, name in enumerate(names) if _identifies(name, matrix[:, j])]


def _identifies(name: str, column: np.ndarray) -> bool:
    """Whether a column identifies or counts the rows: see above."""
    if _IDENTITY.fullmatch(name):
        return _is_code(column)
    index = _INDEX.fullmatch(name)
    may_restart = index or _CASE.fullmatch(name)
    if not (may_restart or _NUMBER.fullmatch(name)) or not _is_whole(column):
        return False
    steps = np.diff(np.sort(column))
    if (steps == 1).all() or (index and (steps > 0).all()):
        return True
    return bool(may_restart and _counts_in_groups(column))


def _is_whole(column: np.ndarray) -> bool:
    return bool(np.isfinite(column).all() and (column == np.rint(column)).all())


def _counts_in_groups(column: np.ndarray) -> bool:
    """Whether whole numbers from 0 or 1 count the rows of each group, or the groups of consecutive rows."""
    known, times = np.unique(column, return_counts=True)
    if known[0] not in (0, 1) or len(known) < _FEWEST_COUNTED or known[-1] - known[0] != len(known) - 1:
        return False
    if (times == times[0]).all():  # groups of equal size, in any order of the rows
        return True
    steps = np.diff(column)
    restarts, same = (steps == 1) | (column[1:] == known[0]), (steps == 0) | (steps == 1)
    return bool(column[0] == known[0] and (restarts.all() or same.all()))


def year_columns(names: Sequence[str], matrix: np.ndarray) -> list[int]:
    """Positions of the columns that contain the year or the number of each row, in equal steps."""
    if len(matrix) < _FEWEST:
        return []
    return [
        j for j, name in enumerate(names)
        if (_YEAR.fullmatch(name) and _is_year(matrix[:, j], each=True))
        or (_YEAR_ALONE.fullmatch(name) and _is_year(matrix[:, j], each=False))
        or (_COUNTED_TIME.fullmatch(name) and _counts_the_rows(matrix[:, j]))
    ]  # fmt: skip


def _counts_the_rows(column: np.ndarray) -> bool:
    return bool(column[0] in (0, 1) and (np.diff(column) == 1).all())


def moments(names: Sequence[str], matrix: np.ndarray) -> dict[int, tuple[str, ...]]:
    """Times as text, of the columns that have the time of each row as a number."""
    found = ((j, _moments(matrix[:, j])) for j, name in enumerate(names) if _TIME.fullmatch(name))
    return {j: texts for j, texts in found if texts is not None}


def _moments(column: np.ndarray) -> tuple[str, ...] | None:
    """Seconds or milliseconds since 1970, or dates as 20240131, as text in the form 2024-01-31; None for others."""
    low, high = column.min(initial=np.inf), column.max(initial=-np.inf)
    if not _is_whole(column) or low == high:
        return None
    whole = column.astype(np.int64)
    for unit, factor in (("s", 1), ("ms", 1000)):
        if _SECONDS[0] * factor <= low and high <= _SECONDS[1] * factor:
            return tuple(np.datetime_as_string(whole.astype(f"datetime64[{unit}]")).tolist())
    return _dates(whole) if _CALENDAR[0] <= low and high <= _CALENDAR[1] else None


def _dates(whole: np.ndarray) -> tuple[str, ...] | None:
    """20240131 as 2024-01-31; None if a number is not a date."""
    texts = [f"{value[:4]}-{value[4:6]}-{value[6:]}" for value in map(str, whole.tolist())]
    try:
        np.array(texts, "datetime64[D]")
    except ValueError:
        return None
    return tuple(texts)


def code_columns(names: Sequence[str], matrix: np.ndarray, padded: Container[str]) -> list[int]:
    """Positions of the columns of codes: named so, or padded with zeros, with whole numbers or none."""
    named = (j for j, name in enumerate(names) if name in padded or _CODE.fullmatch(name))
    return [j for j in named if _is_code(matrix[:, j])]


def _is_code(column: np.ndarray) -> bool:
    known = column[~np.isnan(column)]
    return len(known) > 0 and bool((np.isfinite(known) & (known >= 0) & (known == np.rint(known))).all())


def _texts(values: Sequence[float]) -> tuple[str, ...]:
    return tuple("" if value != value else f"{value:.0f}" for value in values)


def _code_texts(values: Sequence[float], digits: int) -> tuple[str, ...]:
    """Codes as text. Shorter ones get back the zeros that a number cannot begin with; missing ones are empty."""
    texts = _texts(values)
    width = max(map(len, texts), default=0) if digits == 0 else digits
    return tuple(text.zfill(width) if text else "" for text in texts)


def _is_year(column: np.ndarray, *, each: bool) -> bool:
    """Whether the values are years in equal steps; with `each`, every row has its own."""
    known = np.unique(column)
    steps = np.diff(known)
    if len(known) < 2 or (each and len(known) < len(column)):
        return False
    equal = bool((known == np.rint(known)).all() and (steps == steps[0]).all())
    return equal and known[0] >= 1000 and known[-1] <= 3000


class _Found(NamedTuple):
    """Positions of identifiers, labels of groups, times and codes by position, and possible identifiers."""

    identifiers: list[int]
    groups: dict[int, tuple[str, ...]]
    times: dict[int, tuple[str, ...]]
    codes: dict[int, tuple[str, ...]]
    unknown: list[int]


def _found(
    source: DataSource, names: Sequence[str], candidates: list[int], padded: Mapping[str, int], memory: int | None
) -> _Found:
    """Classify the candidates from their values if these are few enough, otherwise in one pass over the rows."""
    if hasattr(source, "matrix"):
        return _compared(names, candidates, source.matrix[:, candidates], padded)
    if 8 * source.shape[0] * len(candidates) <= max((free_memory() if memory is None else memory) // 4, SMALL):
        return _compared(names, candidates, _values(keep(source, candidates)), padded)
    return _ascending(names, candidates, keep(source, candidates), padded)


def may_identify(name: str) -> bool:
    """Whether the name of a column suggests that it identifies the rows, or contains times or codes."""
    return any(form.fullmatch(name) for form in (*_NAMES, _YEAR, _YEAR_ALONE, _TIME, _COUNTED_TIME, _CODE))


def _refuse_all(names: Sequence[str]) -> NoReturn:
    raise InputError(
        "No numeric column is left to analyse. These columns identify the rows, or contain times "
        f"or codes: {listed(names)}. To analyse one of them anyway, use {COLUMNS}. To analyse "
        "categories, encode them as numbers."
    )


def without_identifiers(source: DataSource, memory: int | None = None, *, years: bool = True) -> DataSource:
    """The source without columns that identify the rows; codes and, with `years`, times become labels.

    `metadata` has notes. For rows read in blocks, the values to compare take at most a quarter of `memory` bytes.
    """
    names = source.metadata.column_names
    if names is None or source.sparse:
        return source
    padded = padded_columns(source.metadata.column_roles)
    candidates = _candidates(source, names, padded)
    if not candidates:
        return source
    found = _found(source, names, candidates, padded, memory)
    found = found if years else found._replace(times={})
    dropped = {*found.identifiers, *found.groups, *found.times, *found.codes}
    if not any(found):
        return source
    if len(dropped) == len(names):
        _refuse_all(names)
    kept = keep(source, sorted(set(range(len(names))) - dropped)) if dropped else source
    dated = [j for j, texts in found.times.items() if all(map(str.isdigit, texts))]
    kept = named_by(kept, source, [*found.identifiers, *dated])
    return replace(kept, metadata=_noted(kept.metadata, names, found))


def set_aside(source: DataSource, memory: int | None = None) -> set[int]:
    """Positions of the columns that identify the rows, or contain codes or times."""
    names = source.metadata.column_names
    if names is None or source.sparse:
        return set()
    padded = padded_columns(source.metadata.column_roles)
    if not (candidates := _candidates(source, names, padded)):
        return set()
    found = _found(source, names, candidates, padded, memory)
    return {*found.identifiers, *found.groups, *found.times, *found.codes}


def _candidates(source: DataSource, names: Sequence[str], padded: Container[str]) -> list[int]:
    """Columns whose names or padded numbers suggest identifiers; a table of ratings keeps all its columns."""
    found = [j for j, name in enumerate(names) if name in padded or may_identify(name)]
    return [] if found and _has_ratings(source, names) else found


def _has_ratings(source: DataSource, names: Sequence[str]) -> bool:
    """Whether the table has one value per line, which belongs to the row and the column that identifiers name."""
    if not hasattr(source, "matrix"):
        return len(names) <= _MOST_RATING_COLUMNS and any(map(is_rating, names))
    lines = rating_lines(source.matrix, source.metadata) if isinstance(source.matrix, np.ndarray) else None
    return lines is not None and not may_identify(lines.titles[2])  # such as the number of the row


def _compared(names: Sequence[str], candidates: list[int], values: np.ndarray, padded: Mapping[str, int]) -> _Found:
    some = [names[j] for j in candidates]
    columns = dict(zip(candidates, values.T, strict=True))
    times = {candidates[i]: _texts(values[:, i].tolist()) for i in year_columns(some, values)}
    times |= {candidates[i]: texts for i, texts in moments(some, values).items()}
    found = _other(identifier_columns(some, values), candidates, times)
    groups = {j: _texts(columns[j].tolist()) for j in found if _has_groups(names[j], columns[j])}
    codes = _other(code_columns(some, values, padded), candidates, {*found, *times})
    alone = [j for j in found if j not in groups]
    texts = {j: _code_texts(columns[j].tolist(), padded.get(names[j], 0)) for j in codes}
    return _Found(alone, groups, times, texts, [])


def _other(positions: list[int], candidates: list[int], known: Container[int]) -> list[int]:
    """The columns at these positions among the candidates, without those whose role is known."""
    return [candidates[i] for i in positions if candidates[i] not in known]


def _has_groups(name: str, column: np.ndarray) -> bool:
    """Whether a column of identifiers has at least two rows for each of them, on average."""
    return _INDEX.fullmatch(name) is None and 1 < len(np.unique(column)) <= len(column) // 2


def _values(source: RowSource) -> np.ndarray:
    """All values of a source read in blocks; none is known if each column has a value that is not an integer."""
    values, whole = np.zeros(source.shape), np.ones(source.shape[1], bool)
    for start, stop in itertools.pairwise(edges_for(source, _BLOCK)):
        values[start:stop] = block = source.read(start, stop)
        whole &= ((block == np.rint(block)) | np.isnan(block)).all(axis=0)
        if not whole.any():
            return np.full(source.shape, np.nan)
    return values


def _ascending(names: Sequence[str], candidates: list[int], source: RowSource, padded: Container[str]) -> _Found:
    """Identifiers and codes among columns with too many values to keep, without labels and counts in groups.

    Strictly increasing integers are all different, and count the rows if all steps are 1. With more rows than possible
    years, rows have no year of their own.
    """
    count = len(candidates)
    whole, rising, by_one, coded = (np.ones(count, bool) for _ in range(4))
    last = np.empty((0, count))
    for start, stop in itertools.pairwise(edges_for(source, _BLOCK)):
        block = np.concatenate([last, source.read(start, stop)])
        steps, last = np.diff(block, axis=0), block[-1:]
        integer = np.isfinite(block) & (block == np.rint(block))
        whole &= integer.all(axis=0)
        coded &= ((integer & (block >= 0)) | np.isnan(block)).all(axis=0)
        rising &= (steps > 0).all(axis=0)
        by_one &= (steps == 1).all(axis=0)
        if not (whole | coded).any():
            break
    identity, index, case, number, code = (
        np.array([form.fullmatch(names[j]) is not None for j in candidates]) for form in (*_NAMES, _CODE)
    )
    found = (identity & coded) | (whole & ((index & rising) | ((case | number) & by_one)))
    coded &= (code | np.array([names[j] in padded for j in candidates])) & ~found
    unknown = whole & ~rising & (index | case | number) & ~coded
    identifiers, codes, unsure = ([candidates[i] for i in np.flatnonzero(some)] for some in (found, coded, unknown))
    return _Found(identifiers, {}, {}, dict.fromkeys(codes, ()), unsure)


def _unknown(names: list[str]) -> Note:
    text = about_columns(
        names,
        "may only identify the rows, but Eckart analyses it as a measurement. Checking it needs more memory than the "
        "limit allows. If it is not a measurement, leave it out.",
        "may only identify the rows, but Eckart analyses them as measurements. Checking them needs more memory than "
        "the limit allows. Leave out columns that are not measurements.",
    )
    return Note("numbering_column", text)


def _set_aside(names: list[str], one: str, several: str) -> Note:
    """A note on columns that are set aside, with the reason for one column or for several."""
    text = about_columns(
        names,
        f"is not analysed, because {one}. To analyse it anyway, use {COLUMNS}.",
        f"are not analysed, because {several}. To analyse them anyway, use {COLUMNS}.",
    )
    return Note("numbering_column_set_aside", text)


def _roles(names: Sequence[str], found: _Found) -> dict[str, str]:
    """Roles of the columns that are neither analysed nor labels."""
    codes = [j for j, texts in found.codes.items() if not texts]
    return {names[j]: "identifier" for j in found.identifiers} | {names[j]: "code" for j in codes}


def _noted(metadata: Metadata, names: Sequence[str], found: _Found) -> Metadata:
    """The metadata with notes on what was set aside, and why."""
    notes, column_roles = [], dict(metadata.column_roles)
    reasons: tuple[tuple[Iterable[int], str, str], ...] = (
        (found.identifiers, "it identifies or numbers the rows", "they identify or number the rows"),
        (found.groups, "it identifies groups of rows", "they identify groups of rows"),
        (found.times, "it contains the time of each row", "they contain the times of the rows"),
        (found.codes, "its numbers are codes, not quantities", "their numbers are codes, not quantities"),
    )
    for places, one, several in reasons:
        if aside := [names[j] for j in places]:
            column_roles |= dict.fromkeys(column_roles.keys() & set(aside), f"not analysed, because {one}")
            notes.append(_set_aside(aside, one, several))
    if found.unknown:
        notes.append(_unknown([names[j] for j in found.unknown]))
    labels = {names[j]: texts for j, texts in (found.groups | found.times | found.codes).items() if texts}
    return replace(
        metadata,
        labels=metadata.labels | labels,
        notes=(*metadata.notes, *notes),
        parsing_notes=(*metadata.parsing_notes, *notes),
        column_roles=column_roles,
        roles=metadata.roles | _roles(names, found),
    )
