"""Answers as people type them: `3, 1`, `(1, -1)/sqrt(2)`, `V = [1 2; 3 4]; k = 2`, `λ₁ = 2 + √3, λ₂ = 2 - √3`.

An ambiguous answer (a decimal comma, `2 √3` as one number or two) is read in all ways, and the best verdict counts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from eckart.errors import InputError
from eckart.worked.exercises.arithmetic import Grid, Linear
from eckart.worked.exercises.by_row import row_by_row
from eckart.worked.exercises.cardinals import with_figures
from eckart.worked.exercises.dyads import as_eigenvectors, as_factors
from eckart.worked.exercises.formulas import approximants, identities
from eckart.worked.exercises.meaning import Meaning, meaning, set_side
from eckart.worked.exercises.rows import Row
from eckart.worked.exercises.shares import without_shares
from eckart.worked.exercises.spellings import spellings
from eckart.worked.exercises.squares import with_squares
from eckart.worked.exercises.statement import Statement
from eckart.worked.exercises.statements import MODES, Mode, statements
from eckart.worked.exercises.structure import structured
from eckart.worked.exercises.targets import COLUMNS, Target
from eckart.worked.exercises.typed import plain
from eckart.worked.messages import tr

_LONGEST = 4000
_SAID = frozenset({"count", "share"})


@dataclass(frozen=True)
class Reading:
    """One reading of an answer: its rows in the terms of the question and as they were said, and what is unreadable.

    `leaves` says whether it leaves out an equation that has no value.
    """

    rows: list[Row]
    said: list[Row]
    errors: list[str]
    leaves: bool = False


def readings(text: str, targets: Sequence[Target]) -> Iterator[Reading]:
    """All readings of an answer.

    >>> [row.title for row in next(readings("lambda = 3, 1; v = (1, 1)/sqrt(2)", ())).rows]
    ['lambda', 'v']
    """
    if len(text) > _LONGEST:
        raise InputError(
            tr("The answer has {count} characters, but the limit is {most}.", count=len(text), most=_LONGEST)
        )
    try:
        whole = plain(text)
    except InputError as error:
        raise InputError(refusal(str(error))) from None
    seen: list[list[Row]] = []
    for candidate, mode in _candidates(whole, targets):
        found, errors, leaves = _said(candidate, mode, targets)
        for rows in row_by_row(structured(found, targets), targets):
            if rows and rows not in seen:
                seen += [] if errors else [rows]
                yield Reading(rows, found, errors, leaves)
        if not seen and any(errors):
            yield Reading([], found, errors)


def _said(text: str, mode: Mode, targets: Sequence[Target]) -> tuple[list[Row], list[str], bool]:
    """The rows of a text, what could not be read, and whether an equation has no value."""
    errors = [""] if with_figures(text) != text else []  # number words count if all is right
    said = statements(text, mode, errors)
    if not any(one.entries for one in said) and (sign := _unexpected(said)):
        errors.append(sign)
    rows = [row for one in said for row in _rows(one, targets)]
    leaves = any(one.relation == "=" and not one.entries and all(map(_is_mixed, one.equals)) for one in said)
    return without_shares(with_squares(rows, targets), targets), errors, leaves


def _is_mixed(side: Linear) -> bool:
    """Whether one side of an equation has symbols and a number without one, as `2 r1 + 5` in `2r1 + 5,5r2`."""
    return len(side.terms) > 1 and "" in {name for name, _ in side.terms}


def _candidates(text: str, targets: Sequence[Target]) -> Iterator[tuple[str, Mode]]:
    """All spellings of a text, each with the meanings that its spaces may have."""
    square = (one.value.rows for one in targets if one.form == "matrix" and one.value.rows == one.value.cols)
    text = identities(text, next(square, 2))
    text = approximants(text, _approximation(targets))
    edges = any(target.form == "edges" for target in targets)
    triplets = any("sigma" in target.names and target.pairing for target in targets)
    if any("D" in target.names and target.form == "numbers" for target in targets):
        text = as_eigenvectors(text)
    for candidate in dict.fromkeys(spellings(as_factors(text) if triplets else text, edges=edges)):
        spaced = re.search(r"[\w)\]}][^\S\n]+[(\[{]|[)\]}][^\S\n]+[sc][qb]rt", candidate)
        yield from ((candidate, mode) for mode in (MODES if spaced else MODES[:3]))


def _approximation(targets: Sequence[Target]) -> str:
    """The name of the approximation of A that is asked for, A_2 or CUR; "" if there is none."""
    names = (target.names[0] for target in targets if target.form == "matrix")
    return next((name for name in names if re.fullmatch(r"A_\d|CUR", name)), "")


def _rows(own: Statement, targets: Sequence[Target]) -> list[Row]:
    """The rows of a statement: after the name of numbers, its vectors are something else: `lambda = 3, (1, 2)`."""
    first = next((i for i, entry in enumerate(own.entries) if isinstance(entry, Grid)), 0)
    if first:
        row = _row(replace(own, entries=own.entries[:first]), targets)
        named = [targets[i] for i in row.meaning.targets or ()]
        if named and all(target.is_number for target in named):
            return [row, Row(tuple(own.entries[first:]), Meaning(), starts=False)]
    return [_row(own, targets)]


def _row(own: Statement, targets: Sequence[Target]) -> Row:
    found = meaning(own, targets) if own.label or own.after else Meaning()
    found = replace(found, targets=None) if _is_unknown(own, found, targets) else _of_values(own, found, targets)
    if own.either and (own.indices or any(targets[i].form == "set" for i in found.targets or ())):
        found = replace(found, targets=frozenset())
    said = tuple(own.equals), tuple(own.label), tuple(own.after)
    return Row(tuple(own.entries), found, *said, own.differs, own.starts, own.indices)


def _of_values(own: Statement, found: Meaning, targets: Sequence[Target]) -> Meaning:
    """What the values themselves say: a number of things is a count, and a percentage is a share."""
    places = _places(targets)
    if own.counts and "count" in places:
        return replace(found, targets=frozenset({places["count"]}))
    said = [targets[i] for i in found.targets or ()]
    if said and own.has_vectors:
        listed = len(own.entries) > 1 and all(one.form == "set" and one.optional for one in said)
        found = replace(found, targets=None) if listed else _of_vectors(found, said, targets)
    elif _is_side(own, found, targets) or _are_shares(own, said):
        return replace(found, targets=frozenset())
    share = places.get("share")
    if share is None or not _is_share(own, found, targets):
        return found
    return replace(found, targets=frozenset({share} if len(own.entries) == 1 else ()))  # those of all components


def _is_unknown(own: Statement, found: Meaning, targets: Sequence[Target]) -> bool:
    """Whether one number is a solution `x` of an equation, not an entry of one of several vectors x."""
    letter = own.label[0] if len(own.label) == len(own.entries) == 1 and not own.has_vectors else None
    if not isinstance(letter, Linear) or not re.fullmatch(r"x_?\d?", letter.symbol):
        return False
    return bool(found.targets) and all(_has_several(targets[i]) for i in found.targets or ())


def _has_several(target: Target) -> bool:
    """Whether several vectors of several entries are asked for."""
    return target.form in COLUMNS and min(target.value.shape) > 1


def _places(targets: Sequence[Target]) -> dict[str, int]:
    """The targets that values name without a label."""
    return {form: i for i, target in enumerate(targets) for form in (target.form, *target.names) if form in _SAID}


def _is_share(own: Statement, found: Meaning, targets: Sequence[Target]) -> bool:
    """Whether percentages are a share, not a number that is asked for."""
    asked = found.target is not None and targets[found.target].form in {"number", "count"}
    return own.is_share and not asked


def _of_vectors(found: Meaning, said: Sequence[Target], targets: Sequence[Target]) -> Meaning:
    """Vectors under the name of a number: `the component of least variance (0.6, 0.8)`, `λ1 -> (1, 2)`."""
    if all(target.is_number for target in said):
        return replace(found, targets=frozenset(_vectors(targets)) or None)
    if found.index and {one.form for one in said} == {"numbers"}:
        return replace(found, targets=frozenset(_paired(said[0].pairing, targets)[:1]))
    return found


def _vectors(targets: Sequence[Target]) -> list[int]:
    """The vectors that are asked for."""
    return [i for i, one in enumerate(targets) if one.form in COLUMNS and not one.optional]


def _paired(pairing: str, targets: Sequence[Target]) -> list[int]:
    """The vectors that belong to some numbers."""
    return [i for i, one in enumerate(targets) if one.pairing == pairing != "" and one.form in COLUMNS]


def _is_side(own: Statement, found: Meaning, targets: Sequence[Target]) -> bool:
    """Whether rows are given instead of columns, or columns instead of rows."""
    sides = {set_side(target) for target in targets if target.form == "set"}
    return found.targets is None and bool(found.side and sides) and found.side not in sides and own.is_whole


def _are_shares(own: Statement, said: Sequence[Target]) -> bool:
    """Whether several numbers have the name of the share of some components: `energies 72, 18, 9`."""
    shares = bool(said) and all(one.optional and "share" in one.names for one in said)
    return shares and len(own.entries) > 1


def _unexpected(found: Sequence[Statement]) -> str:
    """The symbol that is not a value, in an answer without values."""
    names = [name for one in found for side in (*one.equals, *one.label) if isinstance(side, Linear)
             for name, x in side.terms if name and (one.equals or x.value != 1)]  # fmt: skip
    return tr("{sign} was not expected.", sign=repr(names[0])) if names else ""


def refusal(why: str) -> str:
    """The message on an answer that cannot be read."""
    seen = tr("The answer could not be read: {why}", why=why) if why else tr("The answer is empty.")
    forms = tr("Write numbers (3, 1), vectors ((1, 2)/sqrt(2)) and matrices ([1 2; 3 4]), separated by ';', with "
               "names if you like (lambda = 3, 1).")  # fmt: skip
    return f"{seen} {forms}"
