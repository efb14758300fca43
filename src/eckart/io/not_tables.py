"""Errors for objects that are not tables: what they are, and what to pass instead."""

from __future__ import annotations

from typing import Any, NoReturn

from eckart.errors import InputError
from eckart.formatting import counted, joined
from eckart.io.guard import reason

_KNOWN = (
    "an array, a sparse matrix, a data frame, a path or a list of paths, an Arrow table or stream, a database cursor, "
    "an AnnData or xarray object, a dict of columns, a list of dicts, or an iterator of batches"
)


def not_rectangular(data: object, error: Exception) -> InputError:
    """Why the data are not a table: the first row of another length, or the error of the conversion."""
    rows = data if isinstance(data, list | tuple) else []
    shapes = [row.shape for row in rows if hasattr(row, "shape")]
    if len(shapes) > 1 and len(shapes[0]) > 1:  # (X, y), or batches
        same = all(len(shape) == 2 and shape[1] == shapes[0][1] for shape in shapes)
        remedy = "If they are parts of one table, pass iter(data) or stack them" if same else "Pass only the table"
        return InputError(
            f"The data are a {type(data).__name__} of {len(shapes)} arrays with the shapes "
            f"{joined([str(tuple(shape)) for shape in shapes])}. {remedy}."
        )
    lengths = [len(row) for row in rows if hasattr(row, "__len__")]
    for number, length in enumerate(lengths, 1):
        if length != lengths[0]:
            return InputError(
                f"The data are not a rectangular table: row 1 has {counted(lengths[0], 'value')}, but row {number} has "
                f"{length}. All rows must have the same length."
            )
    return InputError(f"The data are not a rectangular table of numbers: {reason(error)}.")


def refuse(data: object) -> NoReturn:
    """Refuse an object that is not a table."""
    kind = type(data)
    name = kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__.partition('.')[0]}.{kind.__name__}"
    raise InputError(f"An object of type {name} is not a table. Pass {_KNOWN}.{_hint(data)}")


def _hint(data: Any) -> str:
    """What to do with an object that leads to a table but is not one."""
    module = type(data).__module__.partition(".")[0]
    if module == "dask":
        return " Compute it first, or convert it to a Dask array or Dask data frame."
    if hasattr(data, "get_params") or module == "eckart":
        return (
            " A fitted result cannot be decomposed again, but report, tables, plots, project, save, "
            "summary, bootstrap and choose_rank accept it."
        )
    if isinstance(data, bytes | bytearray):
        return " To read the content of a file, wrap it in io.BytesIO."
    if module == "anndata":
        return " Pass the AnnData object, with layer= for one of its layers. For its raw counts, pass raw.to_adata()."
    if module == "torch" and hasattr(data, "__getitem__"):
        return " Wrap the dataset in a DataLoader, which Eckart reads batch by batch."
    if module == "sqlalchemy" or hasattr(data, "cursor"):  # a query or a connection
        return " Execute a query first, and pass the result of the query."
    if module == "fsspec":
        return " Open it, and pass the stream: with file as stream."
    return next((remedy for name, remedy in _CONVERSIONS if hasattr(data, name)), "")


_CONVERSIONS = (
    ("to_pandas", " Convert it to a data frame with to_pandas()."),
    ("toPandas", " Convert it to a data frame with toPandas()."),
    ("todense", " Convert it with todense()."),
    ("variables", " Pass one of its variables."),
)
"""Methods and attributes that lead from an object to a table."""
