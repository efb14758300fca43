"""Columns of numbers that identify or count the rows (id, index, year) or are codes (zip), which are set aside.

A column is an identifier if all its values are different integers and its name suggests it. Names that may also denote
a quantity (number, no, row) and columns without a name must count the rows without a gap. A column named year with a
constant step is the time of each row, also if several rows have the same year. So is a column named date or time with
seconds since 1970 or dates as 20240131. Whole numbers in a column named like a code (zip, phone, FIPS) name something:
sums and means of them have no meaning. Times and codes become labels.

The rule is the same for rows read in blocks: columns named like identifiers are read once.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from eckart.engine.blocks.edges import edges_for
from eckart.engine.blocks.source import DataSource, Metadata, RowSource
from eckart.environment import SMALL, free_memory
from eckart.errors import InputError
from eckart.formatting import about_columns, listed
from eckart.io.columns import keep
from eckart.notes import Note
from eckart.wording import COLUMNS

_SURE = re.compile(r"(?i:id|ids|index|idx|uid|uuid|guid|key|ssn|rownames?|.*[_ .-](id|key|uid|uuid))|.*[a-z]I[Dd]")
_POSSIBLE = re.compile(
    r"(?i:row|rownum|no|nr|num|number|unnamed: ?\d+|column \d+|obs|observation|case|record|serial|"
    r"respondent|participant|subject|patient|person|student|customer|.*[_ .-](no|nr|num))"
)
_YEAR = re.compile(r"(?i:year_.*|.*[_ .-]year)")
_YEAR_ALONE = re.compile(r"(?i:year|yr|jahr|ann[eé]e)")
"""Several rows may have the same one; a year of birth or construction may be a measurement."""
_TIME = re.compile(
    r"(?i:(.*[_ .-])?(time|timestamp|date|datetime|datum|day|epoch|unixtime))|.*[a-z](Date|Time|Timestamp)"
)
_SECONDS = (1e8, 4.1e9)
"""Seconds from 1973 to 2099 since 1970; larger numbers of them are no likely measurements."""
_CALENDAR = (19000101, 20991231)
_CODE = re.compile(
    r"(?i:(.*[_ .-])?(code|codes|zip|zip ?codes?|zip4|post ?codes?|postal ?codes?|plz|postleitzahl|code ?postal|"
    r"c[oó]digo ?postal|phone|phone ?number|telephone|tel|mobile|fax|fips|naics|isbn|issn|ean|upc|gtin|sku|barcode))"
    r"|.*[a-z](Code|Zip|Phone)"
)
_FEWEST = 3
"""With fewer rows than this, any column could distinguish them."""
_BLOCK = 1 << 24
"""Bytes of the blocks in which rows are read."""


def is_identifier(name: str) -> bool:
    """Whether the name of a column suggests that it identifies the rows: id, index, no, customer_id, ..."""
    named = _SURE.fullmatch(name) is not None or _POSSIBLE.fullmatch(name) is not None
    return named and not name.lower().startswith(("unnamed", "column "))


def identifier_columns(names: Sequence[str], matrix: np.ndarray) -> list[int]:
    """Positions of the columns that identify or count the rows."""
    if len(matrix) < _FEWEST:
        return []
    sure = np.array([_SURE.fullmatch(name) is not None for name in names], bool)
    possible = np.array([_POSSIBLE.fullmatch(name) is not None for name in names], bool)
    found: list[int] = []
    candidates, step = np.flatnonzero(sure | possible), max(1, (1 << 20) // len(matrix))
    for start in range(0, len(candidates), step):  # avoids a second matrix
        some = candidates[start : start + step]
        ordered = np.sort(matrix[:, some], axis=0)
        kept = np.isfinite(ordered).all(axis=0) & (ordered == np.rint(ordered)).all(axis=0)
        steps = np.diff(ordered[:, kept], axis=0)
        identifies = (steps > 0).all(axis=0) & (sure[some[kept]] | (steps == 1).all(axis=0))
        found += some[kept][identifies].tolist()
    return found


def year_columns(names: Sequence[str], matrix: np.ndarray) -> list[int]:
    """Positions of the columns that contain the year of each row, in equal steps."""
    if len(matrix) < _FEWEST:
        return []
    return [
        j for j, name in enumerate(names)
        if (_YEAR.fullmatch(name) and _is_year(matrix[:, j], each=True))
        or (_YEAR_ALONE.fullmatch(name) and _is_year(matrix[:, j], each=False))
    ]  # fmt: skip


def moments(names: Sequence[str], matrix: np.ndarray) -> dict[int, tuple[str, ...]]:
    """Times as text, of the columns that have the time of each row as a number."""
    found = ((j, _moments(matrix[:, j])) for j, name in enumerate(names) if _TIME.fullmatch(name))
    return {j: texts for j, texts in found if texts is not None}


def _moments(column: np.ndarray) -> tuple[str, ...] | None:
    """Seconds or milliseconds since 1970, or dates as 20240131, as text in the form 2024-01-31; None for others."""
    low, high = column.min(initial=np.inf), column.max(initial=-np.inf)
    if not np.isfinite(column).all() or (column != np.rint(column)).any() or low == high:
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


def code_columns(names: Sequence[str], matrix: np.ndarray) -> list[int]:
    """Positions of the columns of codes: named so, with whole numbers or none."""
    return [j for j, name in enumerate(names) if _CODE.fullmatch(name) and _is_code(matrix[:, j])]


def _is_code(column: np.ndarray) -> bool:
    known = column[~np.isnan(column)]
    return len(known) > 0 and bool((np.isfinite(known) & (known >= 0) & (known == np.rint(known))).all())


def _code_texts(values: Sequence[float]) -> tuple[str, ...]:
    """Codes as text. Shorter ones get back the zeros that a number cannot begin with; missing ones are empty."""
    texts = ["" if value != value else f"{value:.0f}" for value in values]
    width = max(map(len, texts), default=0)
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
    """Positions of identifiers, labels of times and of codes by position, and possible identifiers."""

    identifiers: list[int]
    times: dict[int, tuple[str, ...]]
    codes: dict[int, tuple[str, ...]]
    unknown: list[int]


def _found(source: DataSource, names: Sequence[str], candidates: list[int], memory: int | None) -> _Found:
    """Classify the candidates from their values if these are few enough, otherwise in one pass over the rows."""
    if hasattr(source, "matrix"):
        return _compared(names, candidates, source.matrix[:, candidates])
    if 8 * source.shape[0] * len(candidates) <= max((free_memory() if memory is None else memory) // 4, SMALL):
        return _compared(names, candidates, _values(keep(source, candidates)))
    return _ascending(names, candidates, keep(source, candidates))


def _may_identify(name: str) -> bool:
    return any(form.fullmatch(name) for form in (_SURE, _POSSIBLE, _YEAR, _YEAR_ALONE, _TIME, _CODE))


def without_identifiers(source: DataSource, memory: int | None = None, *, years: bool = True) -> DataSource:
    """The source without columns that identify the rows; codes and, with `years`, times become labels.

    `metadata` has notes. For rows read in blocks, the values to compare take at most a quarter of `memory` bytes.
    """
    names = source.metadata.column_names
    if names is None or source.sparse:
        return source
    candidates = [j for j, name in enumerate(names) if _may_identify(name)]
    if not candidates:
        return source
    found = _found(source, names, candidates, memory)
    found = found if years else found._replace(times={})
    dropped = {*found.identifiers, *found.times, *found.codes}
    if not any(found):
        return source
    if len(dropped) == len(names):
        raise InputError(
            "No numeric column is left to analyse. These columns identify the rows, or contain times "
            f"or codes: {listed(names)}. To analyse one of them anyway, use {COLUMNS}. To analyse "
            "categories, encode them as numbers."
        )
    kept = keep(source, sorted(set(range(len(names))) - dropped)) if dropped else source
    return replace(kept, metadata=_noted(kept.metadata, names, found))


def _compared(names: Sequence[str], candidates: list[int], values: np.ndarray) -> _Found:
    some = [names[j] for j in candidates]
    years = {candidates[j]: tuple(f"{value:.0f}" for value in values[:, j]) for j in year_columns(some, values)}
    found = [candidates[j] for j in identifier_columns(some, values)]
    codes = {candidates[j]: _code_texts(values[:, j].tolist()) for j in code_columns(some, values)}
    times = years | {candidates[j]: texts for j, texts in moments(some, values).items()}
    return _Found(
        [j for j in found if j not in times],
        times,
        {j: texts for j, texts in codes.items() if j not in {*found, *times}},
        [],
    )


def _values(source: RowSource) -> np.ndarray:
    """All values of a source read in blocks; none is known if each column has a value that is not an integer."""
    values, whole = np.zeros(source.shape), np.ones(source.shape[1], bool)
    for start, stop in itertools.pairwise(edges_for(source, _BLOCK)):
        values[start:stop] = block = source.read(start, stop)
        whole &= ((block == np.rint(block)) | np.isnan(block)).all(axis=0)
        if not whole.any():
            return np.full(source.shape, np.nan)
    return values


def _ascending(names: Sequence[str], candidates: list[int], source: RowSource) -> _Found:
    """Identifiers and codes among columns with too many values to keep, without labels.

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
    sure = np.array([_SURE.fullmatch(names[j]) is not None for j in candidates])
    possible = np.array([_POSSIBLE.fullmatch(names[j]) is not None for j in candidates])
    found = whole & ((sure & rising) | (possible & by_one))
    coded &= np.array([_CODE.fullmatch(names[j]) is not None for j in candidates]) & ~found
    unknown = whole & ~rising & (sure | possible) & ~coded
    identifiers, codes, unsure = ([candidates[i] for i in np.flatnonzero(some)] for some in (found, coded, unknown))
    return _Found(identifiers, {}, dict.fromkeys(codes, ()), unsure)


def _unknown(names: list[str]) -> Note:
    text = about_columns(
        names,
        "may only identify the rows, but it is analysed as a measurement. Checking it needs more memory than the limit "
        "allows. If it is not a measurement, leave it out.",
        "may only identify the rows, but they are analysed as measurements. Checking them needs more memory than the "
        "limit allows. Leave out columns that are not measurements.",
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


def _noted(metadata: Metadata, names: Sequence[str], found: _Found) -> Metadata:
    """The metadata with notes on what was set aside, and why."""
    notes, column_roles = [], dict(metadata.column_roles)
    reasons: tuple[tuple[Iterable[int], str, str], ...] = (
        (found.identifiers, "it identifies or numbers the rows", "they identify or number the rows"),
        (found.times, "it contains the time of each row", "they contain the times of the rows"),
        (found.codes, "its numbers are codes, not quantities", "their numbers are codes, not quantities"),
    )
    for places, one, several in reasons:
        if aside := [names[j] for j in places]:
            column_roles |= dict.fromkeys(column_roles.keys() & set(aside), f"not analysed, because {one}")
            notes.append(_set_aside(aside, one, several))
    if found.unknown:
        notes.append(_unknown([names[j] for j in found.unknown]))
    labels = {names[j]: texts for j, texts in (found.times | found.codes).items() if texts}
    return replace(
        metadata,
        labels=metadata.labels | labels,
        notes=(*metadata.notes, *notes),
        parsing_notes=(*metadata.parsing_notes, *notes),
        column_roles=column_roles,
        roles=metadata.roles
        | {names[j]: "identifier" for j in found.identifiers}
        | {names[j]: "code" for j, texts in found.codes.items() if not texts},
    )
