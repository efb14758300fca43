"""How many components are computed and shown if no number is requested."""

from __future__ import annotations

from eckart.engine.blocks.source import DataSource
from eckart.registry import Method

SHOWN = 5
ALL = 20
"""Tables with a side of at most this many show all components."""
_MOST_CELLS = 20_000_000


def default_number(source: DataSource, method: Method, counts: tuple[int | None, ...] = ()) -> int:
    """All components of a small table, 5 of a larger one, or the default of the method if it has one.

    `counts` are other sizes that bound the number, such as the columns and rows that CUR keeps.
    """
    rows, columns = (int(size) for size in source.shape)
    most = max(1, rows - 1) if method.more_than_columns else min(rows, columns)
    if method.default_k is not None:
        return min([most, method.default_k, *(count for count in counts if count)])
    if most <= ALL and method.name == "pca":
        most = _varying(source)
    return most if most <= ALL else SHOWN


def _varying(source: DataSource) -> int:
    """Number of components that can have variance: at most the columns that vary, and one less than the rows."""
    rows, columns = source.shape
    columns = int(columns)
    matrix: DataSource = getattr(source, "matrix", source)
    if hasattr(matrix, "max") and not hasattr(matrix, "toarray") and rows * columns <= _MOST_CELLS:
        columns = int((matrix.max(axis=0) != matrix.min(axis=0)).sum())
    return max(1, min(int(rows) - 1, columns))
