"""Errors for objects that are not tables: what they are, and what to pass instead."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from eckart.errors import InputError
from eckart.formatting import counted, joined, listed, quoted
from eckart.io.guard import reason

_KNOWN = (
    "an array, a sparse matrix, a data frame, a path or a list of paths, an Arrow table or stream, a database cursor, "
    "an AnnData or xarray object, a dict of columns, a list of dicts, or an iterator of batches"
)


def not_rectangular(data: object, error: Exception) -> InputError:
    """Why the data are not a table: the first row of another length, or the error of the conversion."""
    rows = data if isinstance(data, list | tuple) else []
    shapes = [tuple(row.shape) for row in rows if hasattr(row, "shape")]
    if len(shapes) > 1 and len(shapes[0]) > 1:
        return _of_arrays(data, shapes)
    lengths = [len(row) for row in rows if hasattr(row, "__len__")]
    for number, length in enumerate(lengths, 1):
        if length != lengths[0]:
            return InputError(
                f"The data are not a rectangular table: row 1 has {counted(lengths[0], 'value')}, but row {number} has "
                f"{length}. All rows must have the same length."
            )
    return InputError(f"The data are not a rectangular table of numbers: {reason(error)}.")


def _of_arrays(data: object, shapes: list[tuple[int, ...]]) -> InputError:
    """Why a list of arrays is not a table: it contains batches, or (X, y)."""
    batches = all(len(shape) == 2 and shape[1] == shapes[0][1] for shape in shapes)
    remedy = "If they are parts of one table, pass iter(data) or stack them" if batches else "Pass only the table"
    return InputError(
        f"The data are a {type(data).__name__} of {len(shapes)} arrays with the shapes "
        f"{joined(list(map(str, shapes)))}. {remedy}."
    )


def refuse(data: object) -> NoReturn:
    """Refuse an object that is not a table."""
    kind = type(data)
    name = kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__.partition('.')[0]}.{kind.__name__}"
    raise InputError(f"An object of type {name} is not a table. Pass {_KNOWN}.{_hint(data)}")


def refuse_empty_frame(shape: tuple[int, int]) -> None:
    if 0 in shape:
        lacking = "rows" if shape[0] == 0 else "columns"
        raise InputError(f"The data frame has no {lacking} (its shape is {shape}), so there is nothing to analyse.")


def refuse_without_numbers(numbers: Sequence[object], columns: Sequence[str], lists: Sequence[str] = ()) -> None:
    """Refuse a frame without numbers. `lists` are columns of lists, such as embeddings."""
    if numbers or not columns:
        return
    remedy = remedy_for_lists(lists[0]) if lists else "Convert at least one column to numbers."
    raise InputError(f"The data frame has no numeric column. Its columns are {listed(columns)}. {remedy}")


def remedy_for_lists(name: str) -> str:
    """What to do with a column of lists or arrays of one length, whose type does not tell the length."""
    return f"If the lists in {quoted(name)} have the same length, pass numpy.array(frame[{name!r}].to_list())."


def _hint(data: Any) -> str:
    """What to do with an object that leads to a table but is not one."""
    module = type(data).__module__.partition(".")[0]
    return next((f" {remedy}" for leads, remedy in _REMEDIES if leads(data, module)), "")


def _has(name: str) -> Callable[[Any, str], bool]:
    return lambda data, module: hasattr(data, name)


_REMEDIES: tuple[tuple[Callable[[Any, str], bool], str], ...] = (
    (
        lambda _, module: module == "dask",
        "Compute it first, or convert it to a Dask array or Dask data frame.",
    ),
    (
        lambda data, module: hasattr(data, "get_params") or module == "eckart",
        (
            "A fitted result cannot be decomposed again, but report, tables, plots, project, save, summary, bootstrap "
            "and choose_rank accept it."
        ),
    ),
    (lambda data, _: isinstance(data, bytes | bytearray), "To read the content of a file, wrap it in io.BytesIO."),
    (
        lambda _, module: module == "anndata",
        "Pass the AnnData object, with layer= for one of its layers. For its raw counts, pass raw.to_adata().",
    ),
    (
        lambda data, module: module == "torch" and hasattr(data, "__getitem__"),
        "Wrap the dataset in a DataLoader, which Eckart reads batch by batch.",
    ),
    (
        lambda data, module: module == "sqlalchemy" or hasattr(data, "cursor"),
        "Execute a query first, and pass the result of the query.",
    ),
    (lambda _, module: module == "fsspec", "Open it, and pass the stream: with file as stream."),
    (_has("to_pandas"), "Convert it to a data frame with to_pandas()."),
    (_has("toPandas"), "Convert it to a data frame with toPandas()."),
    (_has("todense"), "Convert it with todense()."),
    (_has("variables"), "Pass one of its variables."),
)
"""Whether an object of a package leads to a table, and how; the first match decides."""
