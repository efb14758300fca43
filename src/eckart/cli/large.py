"""Data larger than memory: --checkpoint, --scheduler, rows read in blocks, results written as they come."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from eckart.cli.options import Command, Output, Reading, gathered
from eckart.cli.talk import Talk
from eckart.registry import get_method

if TYPE_CHECKING:
    from eckart.engine.blocks.source import RowSource
    from eckart.result import Decomposition

_WRITTEN = (".npy", ".parquet", ".zarr")


@dataclass(frozen=True)
class Large:
    """What long work may be told."""

    checkpoint: str | None = None
    scheduler: str | None = None

    @property
    def asked(self) -> bool:
        return self.checkpoint is not None or self.scheduler is not None

    def check(self, method: str) -> None:
        for name, option in (("checkpoint", self.checkpoint), ("executor", self.scheduler)):
            if option is not None and name not in get_method(method).streams:
                shown = "--scheduler" if name == "executor" else "--checkpoint"
                raise click.UsageError(f"{shown} has no meaning for --method {method}: leave it out.")


def large(f: Command) -> Command:
    """--checkpoint and --scheduler."""
    checkpoint = "Save the work here on the way; the same command resumes an interrupted run."
    scheduler = "A Dask scheduler, such as tcp://10.0.0.1:8786, whose workers read and multiply the blocks."
    return gathered("large", Large, [
        click.option("--checkpoint", metavar="FOLDER", help=checkpoint),
        click.option("--scheduler", metavar="ADDRESS", help=scheduler),
    ])(f)  # fmt: skip


def in_blocks(source: Any) -> bool:
    """Whether the rows of a source are read when they are asked for."""
    return hasattr(source, "read")


def open_large(data: str, reading: Reading, *, memory: int | None, stream: bool) -> Any:
    """Rows in blocks where the table is too large for memory (or `stream`); None where it is to be read as ever.

    What is only ever read by rows (HDF5, AnnData, Zarr, folders, patterns) comes whole when it is small.
    """
    from eckart.cli.app import Refused
    from eckart.engine.blocks.source import MemorySource
    from eckart.io.open_rows import only_by_rows, too_large

    if data == "-" or reading.format is not None:
        if stream:
            raise Refused("Blocks are read more than once, so a file is needed: name it, without --format.")
        return None
    try:
        only = only_by_rows(data)
    except (OSError, ValueError):  # no name of a file; what reads it whole says so
        only = False
    if not (only or stream or _may_be_large(data, memory)):
        return None
    rows = _rows(data, reading, memory)
    if rows is None and stream:
        raise Refused(f"{data} cannot be read in blocks. Convert it once: eckart convert {data} table.npy.")
    if rows is None or stream or too_large(rows, memory):
        return rows
    return MemorySource(rows.read(0, rows.shape[0]), rows.about) if only else None


def _may_be_large(data: str, memory: int | None) -> bool:
    """Whether it is worth a look: files expand when they are read, some of them a lot."""
    path = Path(data)
    packed = path.suffix.lower() in (".gz", ".parquet", ".pq", ".npz", ".mtx")
    try:
        return path.is_file() and path.stat().st_size * (40 if packed else 4) > _limit(memory)
    except (OSError, ValueError):
        return False


def _limit(memory: int | None) -> int:
    """Bytes that a table may take in memory."""
    from eckart.environment import free_memory

    return free_memory() // 3 if memory is None else memory // 4


def _rows(data: str, reading: Reading, memory: int | None) -> RowSource | None:
    from eckart.io.open_rows import open_rows
    from eckart.io.text.layout import TextOptions

    place = os.path.abspath(data)  # noqa: PTH100 - workers elsewhere look in folders of their own; a pattern is no Path
    names = None if reading.no_row_names else reading.row_names or "auto"
    options = TextOptions(reading.delimiter, reading.decimal, reading.header, names, reading.encoding)
    return open_rows(place, key=reading.key, memory=memory, options=options)


@contextlib.contextmanager
def working(talk: Talk, source: Any, method: str, large: Large, what: str) -> Iterator[dict[str, Any]]:
    """The arguments that long work has beside the others; none where the table is in memory."""
    from eckart.cli.app import Refused
    from eckart.cli.progress import watching

    large.check(method)
    if not in_blocks(source):
        with talk.status(what):
            yield {}
        return
    takes = get_method(method).streams
    if not takes:
        rows, columns = source.shape
        raise Refused(
            f"{source.about.name} has {rows:,} rows x {columns:,} columns, too many for memory, and {method} compares "
            "all rows with each other. Give it fewer rows, or use another method."
        )
    with _client(large.scheduler) as client, watching(talk, what, large.checkpoint) as watcher:
        given = {"stream": True, "watch": watcher, "checkpoint": large.checkpoint, "executor": client}
        yield {name: value for name, value in given.items() if name in takes and value is not None}


@contextlib.contextmanager
def _client(address: str | None) -> Iterator[Any]:
    """A client of the Dask scheduler at `address`, closed afterwards."""
    if address is None:
        yield None
        return
    from eckart.cli.app import Failed
    from eckart.errors import require

    distributed = require("distributed", extra="dask", purpose="Dask clusters")
    try:
        client = distributed.Client(address, timeout=15)
    except (OSError, TimeoutError, ValueError) as error:
        raise Failed(f"No Dask scheduler answers at {address}: {error}. Check the address.") from error
    with client:
        yield client


def written_in_blocks(source: Any, output: Output, columns: int, memory: int | None) -> bool:
    """Whether `columns` numbers for every row go to the file as they come: they, or the rows, are too many to hold."""
    suffix = Path(output.path).suffix.lower()
    many = in_blocks(source) or 8 * source.shape[0] * columns > _limit(memory)
    return suffix == ".zarr" or (many and suffix in _WRITTEN)


def write_blocks(
    talk: Talk, d: Decomposition, source: Any, output: Output, memory: int | None, what: str, **options: Any
) -> None:
    """Scores ("scores") or rows ("rows") of a table of any size, written as it is read."""
    from eckart.analysis.labels import axis_labels
    from eckart.cli import outputs
    from eckart.cli.progress import watching
    from eckart.streaming import project_to, reconstruct_to

    write: Any = project_to
    if what == "scores":
        options["names"] = axis_labels(d)
    else:
        write = reconstruct_to
    with watching(talk, f"Writing {what}") as watcher, outputs.writing(), talk.warnings():
        rows = write(d, source, output.path, memory=memory, overwrite=output.force, watch=watcher, **options)
    columns = d.k if what == "scores" else d.columns
    if talk.json:
        talk.document(shape=[rows, columns], output=output.path, notes=list(source.about.notes))
        return
    talk.say(f"{rows:,} rows x {columns:,} columns are in {output.path}.")
