"""Columns of numbers that identify or count the rows (id, index, year) or are codes (zip), which are set aside.

A column is an identifier if all its values are different integers and its name suggests it. Names that may also denote
a quantity (number, no, row) and columns without a name must count the rows without a gap. A column named year with a
constant step is the time of each row. Whole numbers in a column named like a code (zip, postal code, phone, FIPS) name
something: sums and means of them have no meaning. Years and codes become labels.

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
from eckart.io.columns import keep
from eckart.io.roles import listed
from eckart.notes import Note
from eckart.wording import COLUMNS

_SURE = re.compile(r"(?i:id|ids|index|idx|uid|uuid|guid|key|ssn|rownames?|.*[_ .-](id|key|uid|uuid))|.*[a-z]I[Dd]")
_POSSIBLE = re.compile(
    r"(?i:row|rownum|no|nr|num|number|unnamed: ?\d+|column \d+|obs|observation|case|record|serial|"
    r"respondent|participant|subject|patient|person|student|customer|.*[_ .-](no|nr|num))"
)
_YEAR = re.compile(r"(?i:year|yr|jahr|ann[eé]e|year_.*|.*[_ .-]year)")
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
    return [j for j, name in enumerate(names) if _YEAR.fullmatch(name) and _is_time(matrix[:, j])]


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


def _steps(column: np.ndarray) -> np.ndarray | None:
    """Differences of the sorted values; None unless all are different integers."""
    ordered = np.sort(column)
    if not np.isfinite(ordered).all() or (ordered != np.rint(ordered)).any():
        return None
    steps = np.diff(ordered)
    return steps if (steps > 0).all() else None


def _is_time(column: np.ndarray) -> bool:
    steps = _steps(column)
    return steps is not None and bool((steps == steps[0]).all()) and column.min() >= 1000 and column.max() <= 3000


class _Found(NamedTuple):
    """Positions of identifiers, labels of years and of codes by position, and possible identifiers."""

    identifiers: list[int]
    years: dict[int, tuple[str, ...]]
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
    return any(form.fullmatch(name) for form in (_SURE, _POSSIBLE, _YEAR, _CODE))


def without_identifiers(source: DataSource, memory: int | None = None, *, years: bool = True) -> DataSource:
    """The source without columns that identify the rows; codes and, with `years`, years become labels.

    `metadata` has notes. For rows read in blocks, the values to compare take at most a quarter of `memory` bytes.
    """
    names = source.metadata.column_names
    if names is None or source.sparse:
        return source
    candidates = [j for j, name in enumerate(names) if _may_identify(name)]
    if not candidates:
        return source
    found = _found(source, names, candidates, memory)
    found = found if years else found._replace(years={})
    dropped = {*found.identifiers, *found.years, *found.codes}
    if len(dropped) == len(names) or not any(found):
        return source
    kept = keep(source, sorted(set(range(len(names))) - dropped)) if dropped else source
    return replace(kept, metadata=_noted(kept.metadata, names, found))


def _compared(names: Sequence[str], candidates: list[int], values: np.ndarray) -> _Found:
    some = [names[j] for j in candidates]
    years = {candidates[j]: tuple(f"{value:.0f}" for value in values[:, j]) for j in year_columns(some, values)}
    found = [candidates[j] for j in identifier_columns(some, values)]
    codes = {candidates[j]: _code_texts(values[:, j].tolist()) for j in code_columns(some, values)}
    return _Found(found, years, {j: texts for j, texts in codes.items() if j not in found}, [])


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
    text = (
        f"Analysed as measurements, although they may only identify the rows: {listed(names)}. Checking them "
        "would take more memory than is allowed. Leave out columns that are not measurements."
    )
    return Note("numbering_column", text)


def _noted(metadata: Metadata, names: Sequence[str], found: _Found) -> Metadata:
    """The metadata with notes on what was set aside, and why."""
    notes, fates = [], dict(metadata.column_roles)
    reasons: tuple[tuple[Iterable[int], str], ...] = (
        (found.identifiers, "it identifies or numbers the rows"),
        (found.years, "it contains the time of each row"),
        (found.codes, "its numbers are codes, not quantities"),
    )
    for places, why in reasons:
        aside = [names[j] for j in places]
        fates |= dict.fromkeys(fates.keys() & set(aside), f"set aside: {why}")
        if aside:
            text = f"Set aside, because {why}: {listed(aside)}. To analyse such a column, name it in {COLUMNS}."
            notes.append(Note("numbering_column_set_aside", text))
    if found.unknown:
        notes.append(_unknown([names[j] for j in found.unknown]))
    labels = {names[j]: texts for j, texts in (found.years | found.codes).items() if texts}
    return replace(
        metadata,
        labels=metadata.labels | labels,
        notes=(*metadata.notes, *notes),
        parsing_notes=(*metadata.parsing_notes, *notes),
        column_roles=fates,
        roles=metadata.roles
        | {names[j]: "identifier" for j in found.identifiers}
        | {names[j]: "code" for j, texts in found.codes.items() if not texts},
    )
