"""Answers as people type them: `3, 1`, `(1, -1)/sqrt(2)`, `V = [1 2; 3 4]; k = 2`, `λ₁ = 2 + √3, λ₂ = 2 - √3`.

An ambiguous answer (a decimal comma, `2 √3` as one number or two) is read in all ways, and the best verdict counts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from eckart.errors import InputError
from eckart.worked.exercises.arithmetic import Grid, Linear, Typed
from eckart.worked.exercises.by_row import row_by_row
from eckart.worked.exercises.cardinals import with_figures
from eckart.worked.exercises.meaning import Meaning, meaning, set_side
from eckart.worked.exercises.rows import Row
from eckart.worked.exercises.spellings import spellings
from eckart.worked.exercises.statements import MODES, Statement, flat, statements
from eckart.worked.exercises.structure import structured
from eckart.worked.exercises.targets import COLUMNS, Target
from eckart.worked.exercises.typed import plain
from eckart.worked.messages import tr

_LONGEST = 4000
_SAID = frozenset({"count", "share"})


def readings(text: str, targets: Sequence[Target]) -> Iterator[tuple[list[Row], list[str]]]:
    """All readings of an answer in the terms of the question, each with what could not be read.

    >>> rows, errors = next(readings("lambda = 3, 1; v = (1, 1)/sqrt(2)", ()))
    >>> [row.title for row in rows]
    ['lambda', 'v']
    """
    if len(text) > _LONGEST:
        raise InputError(
            tr("The answer has {count} characters; at most {most} are read.", count=len(text), most=_LONGEST)
        )
    try:
        whole = plain(text)
    except InputError as error:
        raise InputError(refusal(str(error))) from None
    edges = any(target.form == "edges" for target in targets)
    seen: list[list[Row]] = []
    for candidate in dict.fromkeys(spellings(whole, edges=edges)):
        modes = MODES if re.search(r"[\w)\]}][^\S\n]+[(\[{]|[)\]}][^\S\n]+[sc][qb]rt", candidate) else MODES[:3]
        for mode in modes:
            errors: list[str] = (
                [""] if with_figures(candidate) != candidate else []
            )  # number words count if all is right
            said = statements(candidate, mode, errors)
            if not any(one.entries for one in said) and (sign := _unexpected(said)):
                errors.append(sign)
            found = [_row(one, targets) for one in said]
            for rows in row_by_row(structured(found, targets), targets):
                if rows and rows not in seen:
                    seen += [] if errors else [rows]
                    yield rows, errors
            if not seen and any(errors):
                yield [], errors


def _row(own: Statement, targets: Sequence[Target]) -> Row:
    found = meaning(own, targets) if own.label or own.after else Meaning()
    found = _of_values(own, found, targets)
    if own.either and (own.indices or any(targets[i].form == "set" for i in found.targets or ())):
        found = replace(found, targets=frozenset())
    said = tuple(own.equals), tuple(own.label), tuple(own.after)
    return Row(tuple(own.entries), found, *said, own.differs, own.starts, own.indices)


def _of_values(own: Statement, found: Meaning, targets: Sequence[Target]) -> Meaning:
    """What the values themselves say: a number of things is a count, and a percentage is a share."""
    forms = {form: i for i, target in enumerate(targets) for form in (target.form, *target.names) if form in _SAID}
    if own.unit and own.is_count and "count" in forms:
        return replace(found, targets=frozenset({forms["count"]}))
    said = [targets[i] for i in found.targets or ()]
    if said and all(map(_is_number, said)) and any(isinstance(x, Grid) for x in own.entries):
        vectors = frozenset(i for i, one in enumerate(targets) if one.form in COLUMNS and not one.optional)
        return replace(found, targets=vectors or None)  # the component of least variance
    sides = {set_side(target) for target in targets if target.form == "set"}
    if found.targets is None and found.side and sides and found.side not in sides and own.is_whole:
        return replace(found, targets=frozenset())  # rows instead of columns
    if (
        said
        and found.index
        and {one.form for one in said} == {"numbers"}
        and any(isinstance(x, Grid) for x in own.entries)
    ):
        paired = [i for i, one in enumerate(targets) if one.pairing == said[0].pairing != "" and one.form in COLUMNS]
        return replace(found, targets=frozenset(paired[:1]))  # λ1 -> (1, 2)
    numbers = len(flat(own.entries))
    if said and all(one.optional and one.form == "number" for one in said) and numbers > 1:
        return replace(found, targets=frozenset())
    share = all(isinstance(x, Typed) and x.percent for x in own.entries) and bool(own.entries)
    asked = found.target is not None and targets[found.target].form in {"number", "count"}
    return replace(found, targets=frozenset({forms["share"]})) if share and "share" in forms and not asked else found


def _is_number(target: Target) -> bool:
    return target.form in {"number", "count"} or (target.form == "numbers" and len(target.value) == 1)


def _unexpected(found: Sequence[Statement]) -> str:
    """The symbol that is not a value, in an answer without values."""
    names = [name for one in found for side in (*one.equals, *one.label) if isinstance(side, Linear)
             for name, x in side.terms if one.equals or x.value != 1]  # fmt: skip
    return tr("{sign} was not expected.", sign=repr(names[0])) if names else ""


def refusal(why: str) -> str:
    """The message on an answer that cannot be read."""
    seen = tr("The answer could not be read: {why}", why=why) if why else tr("The answer is empty.")
    forms = tr("Write numbers (3, 1), vectors ((1, 2)/sqrt(2)) and matrices ([1 2; 3 4]), separated by ';', with "
               "names if you like (lambda = 3, 1).")  # fmt: skip
    return f"{seen} {forms}"
