"""Results as files: written completely or not at all, never over another file without --force.

'-' is standard output.
"""

from __future__ import annotations

import contextlib
import csv
import io
import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import click
import numpy as np

from eckart.cli.app import Failed, Refused
from eckart.cli.options import Output
from eckart.errors import FileError, ReadError
from eckart.files import input_conflict, is_replaceable, new_file
from eckart.text import is_formula

KINDS = {".csv": "csv", ".tsv": "tsv", ".npy": "npy", ".parquet": "parquet"}
_ROWS = 10_000


@dataclass(frozen=True)
class Sheet:
    """Numbers with column names, and row names if there are any."""

    values: np.ndarray
    columns: tuple[str, ...]
    rows: tuple[str, ...] | None


def check(output: Output, kinds: Sequence[str] | None = None) -> None:
    """Refuse in advance what could not be written later."""
    if output.path == "-":
        return
    path = Path(output.path)
    shown = repr(output.path)
    if kinds is not None and path.suffix.lower() not in kinds:
        raise Refused(
            f"{shown} does not have a supported suffix. The suffix determines the format: use {' '.join(kinds)}."
        )
    try:
        obstacle = _obstacle(path, shown, force=output.force)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise Refused(f"{shown[:200]} cannot be written: {reason}. Choose another file name.") from error
    if obstacle is not None:
        raise Refused(obstacle)


def _obstacle(path: Path, shown: str, *, force: bool) -> str | None:
    """Why nothing can be written to `path`."""
    if path.is_dir() and path.suffix.lower() != ".zarr":
        return f"{shown} is a folder. Give the name of a file inside it."
    if not path.is_dir() and not is_replaceable(path):
        return (
            f"{shown} is a pipe or a device, but Eckart writes only regular files. Give a file name, or "
            "use '-' to print to standard output."
        )
    if os.path.lexists(path) and not force:
        return f"{shown} already exists, so nothing was written. To overwrite it, add --force."
    if conflict := _conflict(path):
        return f"{shown} {conflict}, so nothing was written. Give another file name."
    return (
        None
        if path.parent.is_dir()
        else f"{shown} cannot be written: the folder {str(path.parent)!r} does not exist. Create it first."
    )


_INPUTS = (
    "data", "model", "scores", "from_data", "matrix", "other", "new", "query", "w", "h", "start", "names",
)  # fmt: skip
"""Parameters of commands that may name a file or folder to read."""


def _conflict(path: Path) -> str | None:
    """What writing to `path` would do to an input of the current command, if anything."""
    context = click.get_current_context(silent=True)
    params = {} if context is None else context.params
    checkpoint, given = params.get("checkpoint"), [params.get(name) for name in _INPUTS]
    if isinstance(checkpoint, str) and _contains(Path(checkpoint), path):
        return f"is in the checkpoint folder {checkpoint!r}, which is deleted when the run is complete"
    return input_conflict(path, [place for place in given if isinstance(place, str)])


def _contains(folder: Path, path: Path) -> bool:
    """Whether a path is the folder, is inside it, or contains it."""
    try:
        place, real = folder.resolve(), path.resolve()
    except (OSError, RuntimeError, ValueError):  # a loop of links or an invalid name: the run refuses the folder
        return False
    return place == real or place in real.parents or real in place.parents


@contextlib.contextmanager
def writing() -> Iterator[None]:
    """System errors (full disk, no permission) become `Failed`, wrong requests `Refused`."""
    try:
        yield
    except ReadError:
        raise
    except FileError as error:
        if isinstance(error.__cause__, OSError) and not isinstance(error.__cause__, FileExistsError):
            raise Failed(error.worded("cli")) from error
        raise


def write(sheet: Sheet, output: Output, *, guard: bool = False) -> None:
    """Write the sheet in the format given by the file name; CSV to standard output."""
    if output.path == "-":
        write_csv(sheet, sys.stdout.buffer, guard=guard)
        return
    kind = KINDS[Path(output.path).suffix.lower()]
    with writing(), new_file(output.path, overwrite=output.force) as file:
        if kind == "npy":
            np.save(file, sheet.values, allow_pickle=False)
        elif kind == "parquet":
            _write_parquet(sheet, file)
        else:
            write_csv(sheet, file, guard=guard, delimiter="\t" if kind == "tsv" else ",")


def write_csv(sheet: Sheet, file: IO[bytes], *, guard: bool = False, delimiter: str = ",") -> None:
    """Write all digits in UTF-8; the cell above the row names is empty, as in R."""
    text = io.TextIOWrapper(file, encoding="utf-8", errors="backslashreplace", newline="", write_through=True)
    try:
        writer = csv.writer(text, delimiter=delimiter, lineterminator="\n")
        corner = [] if sheet.rows is None else [""]
        writer.writerow(corner + guarded(sheet.columns, guard))
        for start in range(0, len(sheet.values), _ROWS):
            writer.writerows(_cells(sheet, slice(start, start + _ROWS), guard))
        text.flush()
    finally:
        text.detach()


def guarded(names: Sequence[str], guard: bool) -> list[str]:
    """Prefix names that a spreadsheet would execute as a formula with an apostrophe."""
    return [f"'{name}" if guard and is_formula(name) else name for name in names]


def _cells(sheet: Sheet, rows: slice, guard: bool) -> list[list[Any]]:
    block = sheet.values[rows]
    # The shortest digits that reproduce the number: Python provides them for doubles, NumPy for other types.
    lines = block.tolist() if block.dtype == np.float64 else block.astype(str).tolist()
    if sheet.rows is None:
        return lines  # type: ignore[no-any-return]
    return [[name, *line] for name, line in zip(guarded(sheet.rows[rows], guard), lines, strict=True)]


def _write_parquet(sheet: Sheet, file: IO[bytes]) -> None:
    import pyarrow as pa
    from pyarrow import parquet

    columns: dict[str, Any] = {}
    if sheet.rows is not None:
        name = next(word for word in ("row", "row name", "row names", "name of the row") if word not in sheet.columns)
        columns[name] = pa.array(sheet.rows, pa.string())
    columns |= {name: pa.array(np.ascontiguousarray(sheet.values[:, j])) for j, name in enumerate(sheet.columns)}
    parquet.write_table(pa.table(columns), file)
