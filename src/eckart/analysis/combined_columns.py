"""A note on columns that are combinations of others: exact ones, and sums or means that were rounded."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

import numpy as np

from eckart.arrays import Floats
from eckart.formatting import joined
from eckart.io.roles import quoted
from eckart.notes import Note
from eckart.wording import either

if TYPE_CHECKING:
    from collections.abc import Sequence


_EXACT = 1e-10
"""Length of the residual, relative to the column, below which it is a combination of others."""
_ROUNDED = 0.05
"""The same for rounded sums and means: rounding errors larger than this would hide other differences."""
_MOST_ROUNDED = 60
"""Tables with more columns are checked for exact combinations only."""
_MOST_DECIMALS = 4
_MOST_NAMED = 5
OTHERS = "columns=[...] with the others"


def combined_columns(table: Floats, names: Sequence[str], *, center: bool) -> list[Note]:
    """Notes that name columns which are combinations of earlier columns, and columns which repeat an earlier one."""
    rows, columns = table.shape
    # With fewer rows, every column is a combination of the others.
    found, rounded = _combinations(table, center=center) if rows > columns + 1 else ([], False)
    combined, copies = ([pair for pair in found if (len(pair[1]) > 1) == several] for several in (True, False))
    notes = [_note(combined, names, up_to=", up to rounding" * rounded)] if combined else []
    return [*notes, _repeated(copies, names, center=center)] if copies else notes


def _combinations(table: Floats, *, center: bool) -> tuple[list[tuple[int, list[int]]], bool]:
    """Columns that are combinations of earlier columns, and these; whether rounding hides some of them."""
    scaled, rounding = _scaled(table, center=center), _rounding(table)
    found: list[tuple[int, list[int]]] = []
    kept: list[int] = []
    rounded = False
    basis = np.zeros((len(table), 0))
    for j, column in enumerate(scaled.T):
        rest = _outside(basis, column)
        length, left = float(np.linalg.norm(column)), float(np.linalg.norm(rest))
        parts: list[int] = []
        if rounding is not None and _EXACT * length < left <= _ROUNDED * length:
            parts = _rounded_parts(table, j, kept, rounding, center=center)
            rounded |= bool(parts)
        if left > _EXACT * length and not parts:
            kept.append(j)
            basis = np.column_stack([basis, rest / left])
        elif length > _EXACT:
            found.append((j, parts or _parts(scaled[:, kept], column, kept)))
    return [(j, parts) for j, parts in found if parts], rounded


def _scaled(table: Floats, *, center: bool) -> Floats:
    """Columns with largest absolute value 1, minus their means if PCA would subtract these."""
    scaled: Floats = table / np.maximum(np.abs(table).max(axis=0), np.finfo(float).tiny)
    if center:
        scaled = scaled - scaled.mean(axis=0)
    return scaled


def _rounding(table: Floats) -> Floats | None:
    """Half a unit of the last decimal of each column; None if rounded sums could be chance, or checks take too long."""
    rows, columns = table.shape
    return _half_units(table) if columns <= _MOST_ROUNDED and rows >= 2 * columns + 10 else None


def _outside(basis: Floats, column: Floats) -> Floats:
    """The part of a column that is orthogonal to a basis, up to rounding: two projections are enough."""
    for _ in range(2):
        column = column - basis @ (basis.T @ column)
    return column


def _parts(others: Floats, column: Floats, kept: list[int]) -> list[int]:
    """The columns that an exact combination consists of."""
    weights = np.linalg.lstsq(others, column, rcond=None)[0]
    sizes = np.abs(weights) * np.linalg.norm(others, axis=0)
    return [kept[i] for i in np.flatnonzero(sizes > 1e-6 * np.linalg.norm(column)).tolist()]


def _half_units(table: Floats) -> Floats:
    """Half a unit of the last decimal of each column; 0 for columns with more than 4 decimals."""
    found = np.zeros(table.shape[1])
    for decimals in range(_MOST_DECIMALS, -1, -1):
        units = table * 10.0**decimals
        found[(np.abs(units - np.rint(units)) < 1e-6 * np.maximum(1.0, np.abs(units))).all(axis=0)] = (
            0.5 * 10.0**-decimals
        )
    return found


def _rounded_parts(table: Floats, j: int, kept: list[int], rounding: Floats, *, center: bool) -> list[int]:
    """The columns of which column j is the rounded sum, difference or mean; none if it is not.

    With weights w of equal size, 1 for a sum or 1/m for a mean of m columns, rounding can change no row of
    x_j - sum_i w_i x_i by more than h_j + sum_i |w_i| h_i, where h is half a unit of the last decimal.
    """
    others = table[:, kept]
    design = np.column_stack([others, np.ones(len(table))]) if center else others
    fitted = np.linalg.lstsq(design, table[:, j], rcond=None)[0]
    error = float(np.abs(table[:, j] - design @ fitted).max())
    weights = fitted[: len(kept)]
    parts = np.flatnonzero(np.abs(weights) * others.std(axis=0) > 2.0 * error)
    for size in (1.0, 1.0 / max(len(parts), 1)):
        signs = np.rint(weights[parts] / size)
        if len(parts) < 2 or (np.abs(signs) != 1.0).any():
            continue
        rest = table[:, j] - others[:, parts] @ (size * signs)
        bound = rounding[j] + size * float(rounding[[kept[i] for i in parts]].sum())
        off = float(np.ptp(rest)) / 2.0 if center else float(np.abs(rest).max())
        if off <= bound * (1.0 + 1e-6) and bound <= _ROUNDED * float(table[:, j].std()):
            return [kept[i] for i in parts.tolist()]
    return []


def _note(found: list[tuple[int, list[int]]], names: Sequence[str], *, up_to: str) -> Note:
    if len(found) == 1:
        j, parts = found[0]
        it, first = "it", f"{quoted(names[j])} is a linear combination of {_named(names, parts)}{up_to}. It repeats"
    else:
        shown = [f"{quoted(names[j])} of {_named(names, parts)}" for j, parts in found[:_MOST_NAMED]]
        more = f", and {len(found) - len(shown)} more" if len(found) > len(shown) else ""
        listed = f"{'; '.join(shown)}{more}"
        it, first = "them", f"Some columns are linear combinations of others{up_to}: {listed}. They repeat"
    combined = tuple(names[j] for j, _ in found)
    drop = f"--drop {shlex.quote(','.join(combined))}"
    text = (
        f"{first} information, which can raise the number of components. To leave {it} out, use {either(OTHERS, drop)}."
    )
    return Note("combined_columns", text, {"columns": combined})


def _repeated(found: list[tuple[int, list[int]]], names: Sequence[str], *, center: bool) -> Note:
    """A note on columns that are another column in other units."""
    columns = tuple(names[j] for j, _ in found)
    shown = [f"{quoted(names[j])} repeats {quoted(names[parts[0]])}" for j, parts in found[:_MOST_NAMED]]
    more = f", and {len(found) - len(shown)} more" if len(found) > len(shown) else ""
    them = "it" if len(found) == 1 else "them"
    drop = f"--drop {shlex.quote(','.join(columns))}"
    apart = "a factor and a constant" if center else "a factor"
    text = (
        f"Apart from {apart}, {'; '.join(shown)}{more}. A measurement that is repeated has more weight in the "
        f"components. To leave {them} out, use {either(OTHERS, drop)}."
    )
    return Note("copied_columns", text, {"columns": columns})


def _named(names: Sequence[str], parts: list[int]) -> str:
    some = [quoted(names[j]) for j in parts[:_MOST_NAMED]]
    return joined(some) if len(parts) <= _MOST_NAMED else f"{', '.join(some)} and {len(parts) - _MOST_NAMED} more"
