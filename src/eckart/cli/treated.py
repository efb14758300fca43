"""What was done with each column of a file, as a table."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from eckart.cli.tables import Source
from eckart.errors import ParameterError

if TYPE_CHECKING:
    from eckart.result import Decomposition, Imputation
    from eckart.text import Table

_WAYS = {"mean": "filled with the column's mean", "em": "foretold by the axes"}


def columns_table(source: Source, d: Decomposition) -> Table | None:
    """Each column of the file: analysed, used as names, set aside or left out; gaps; mean and standard deviation."""
    from eckart.text import Cell, Table

    column_roles = source.metadata.column_roles
    if not column_roles:
        return None
    indices = {name: j for j, name in enumerate(source.metadata.column_names or ())}
    means, spreads, gaps = _means(d), _spreads(d), _gaps(d)
    rows: list[tuple[Cell, ...]] = []
    for name, fate in column_roles.items():
        j = indices.get(name)
        if j is None:
            rows.append((name, fate, None, None, None))
            continue
        mean, spread = (None if a is None else float(a[j]) for a in (means, spreads))
        rows.append((name, _fate(d, fate, int(gaps[j]), spread), int(gaps[j]), mean, spread))
    columns = ("column", "what was done", "missing", "mean", "standard deviation")
    caption = f"{len(indices):,} of {len(column_roles):,} columns were analysed."
    return Table("Columns of the file", columns, tuple(rows), caption, ("text", "text", "count", "number", "number"))


def _fate(d: Decomposition, fate: str, gaps: int, spread: float | None) -> str:
    if spread == 0:
        fate += ", but it does not vary: no part in any axis"
    known = _imputation(d)
    if gaps and known is not None:
        way = _WAYS.get(known.how, "filled")
        fate += f"; {gaps:,} of {d.rows:,} values {'was' if gaps == 1 else 'were'} missing and {way}"
    return fate


def _means(d: Decomposition) -> np.ndarray | None:
    from eckart.analysis.measures import floats

    return None if d.mean is None else floats(d.mean)


def _spreads(d: Decomposition) -> np.ndarray | None:
    """Standard deviations in the units of the file."""
    from eckart.analysis.measures import column_spread, floats

    if d.mean is None:
        return None
    try:
        spread = column_spread(d)
    except ParameterError:
        return None
    return np.asarray(spread if d.scale is None else spread * floats(d.scale))


def _gaps(d: Decomposition) -> np.ndarray:
    known = _imputation(d)
    columns = np.empty(0, np.intp) if known is None else np.asarray(known.columns, np.intp)
    return np.bincount(columns, minlength=d.columns)


def _imputation(d: Decomposition) -> Imputation | None:
    from eckart.missing.fill import imputation_of

    return imputation_of(d)
