"""Data larger than memory: --checkpoint, --scheduler, rows read in blocks, results written as they are computed."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from eckart.aliases import Keywords
from eckart.cli.console import Console
from eckart.cli.options import Command, Output, gathered
from eckart.formatting import counted
from eckart.registry import get_method

if TYPE_CHECKING:
    from eckart.engine.blocks.source import DataSource
    from eckart.result import Decomposition

_IN_BLOCKS = (".npy", ".parquet", ".zarr")
"""Formats that are written block by block."""
_CONNECT_SECONDS = 15


@dataclass(frozen=True)
class ExecutionOptions:
    """Options of long computations."""

    checkpoint: str | None = None
    scheduler: str | None = None

    @property
    def asked(self) -> bool:
        return self.checkpoint is not None or self.scheduler is not None

    def check(self, method: str) -> None:
        for name, option in (("checkpoint", self.checkpoint), ("executor", self.scheduler)):
            if option is not None and name not in get_method(method).streams:
                shown = "--scheduler" if name == "executor" else "--checkpoint"
                raise click.UsageError(f"{shown} does not apply to --method {method.replace('_', '-')}. Leave it out.")


def execution(f: Command) -> Command:
    """--checkpoint and --scheduler."""
    checkpoint = "Save checkpoints in this folder. To resume an interrupted run, repeat the same command."
    scheduler = "Compute on the workers of the Dask scheduler at this address, such as tcp://10.0.0.1:8786."
    return gathered("execution", ExecutionOptions, [
        click.option("--checkpoint", metavar="FOLDER", help=checkpoint),
        click.option("--scheduler", metavar="ADDRESS", help=scheduler),
    ])(f)  # fmt: skip


def in_blocks(source: object) -> bool:
    """Whether the rows of a source are read on demand."""
    return hasattr(source, "read")


def whole_if_small(source: DataSource, memory: int | None, stream: bool) -> DataSource:
    """Load rows as one matrix if they are small and of a kind that is only read by rows (HDF5, Zarr, folders)."""
    from eckart.engine.blocks.source import MemorySource
    from eckart.io.open_rows import too_large

    if stream or not in_blocks(source) or too_large(source, memory):
        return source
    return MemorySource(source.read(0, source.shape[0]), source.metadata)


def _limit(memory: int | None) -> int:
    """Number of bytes that a table may take in memory."""
    from eckart.environment import free_memory

    return free_memory() // 3 if memory is None else memory // 4


@contextlib.contextmanager
def working(
    console: Console, source: DataSource, method: str, execution: ExecutionOptions, what: str
) -> Iterator[Keywords]:
    """Additional arguments of computations in blocks; none if the table is in memory."""
    from eckart.cli.app import Refused
    from eckart.cli.progress import reporting_progress

    execution.check(method)
    if not in_blocks(source):
        with console.status(what):
            yield {}
        return
    takes = get_method(method).streams
    if not takes:
        rows, columns = source.shape
        raise Refused(
            f"{source.metadata.name} ({rows:,} rows x {columns:,} columns) does not fit into memory, "
            f"and {method} needs all rows at once. Use a table with fewer rows, or a method that "
            "reads in blocks, such as --method pca."
        )
    with (
        _client(execution.scheduler, console) as client,
        reporting_progress(console, what, execution.checkpoint) as reporter,
    ):
        given = {"stream": True, "callback": reporter, "checkpoint": execution.checkpoint, "executor": client}
        yield {name: value for name, value in given.items() if name in takes and value is not None}


@contextlib.contextmanager
def _client(address: str | None, console: Console) -> Iterator[Any]:
    """A client of the Dask scheduler at `address`, closed afterwards."""
    if address is None:
        yield None
        return
    from eckart.cli.app import Failed
    from eckart.errors import require

    distributed = require("distributed", extra="dask", purpose="Dask clusters")
    with contextlib.nullcontext() if console.debug else _without_logs("distributed", "tornado", "asyncio"):
        try:
            asyncio.run(_greet(address))
            client = distributed.Client(address, timeout=_CONNECT_SECONDS)
        except Exception as error:
            # Whatever another program than a scheduler answers: its bytes can even look like a message of terabytes
            raise Failed(f"Cannot connect to a Dask scheduler at {address}: {_why_not(error, address)}") from error
        with client:
            yield client


@contextlib.contextmanager
def _without_logs(*packages: str) -> Iterator[None]:
    """No log messages of these packages: Dask logs tracebacks about a lost scheduler, which Eckart reports itself."""
    loggers = [logging.getLogger(name) for name in logging.root.manager.loggerDict if name.split(".")[0] in packages]
    levels = [logger.level for logger in loggers]
    try:
        for logger in loggers:
            logger.setLevel(logging.CRITICAL + 1)
        yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)


async def _greet(address: str) -> None:
    """Connect to the scheduler and close the connection; a Client has no time limit for the greeting itself."""
    from distributed.comm import connect
    from distributed.security import Security

    options = Security().get_connection_args("client")
    comm = await asyncio.wait_for(connect(address, timeout=_CONNECT_SECONDS, **options), _CONNECT_SECONDS + 1)
    comm.abort()


def _why_not(error: Exception, address: str) -> str:
    from distributed.comm import get_address_host_port

    running = "Check that the scheduler is running and that the address is correct."
    try:
        get_address_host_port(address)
    except ValueError as invalid:
        return f"{invalid}. {running}"
    if isinstance(error, TypeError) and "ssl_context" in str(error):
        return (
            "its connection is encrypted, but no certificate is configured. Set the environment variables "
            "DASK_DISTRIBUTED__COMM__TLS__CA_FILE, DASK_DISTRIBUTED__COMM__TLS__CLIENT__CERT and "
            "DASK_DISTRIBUTED__COMM__TLS__CLIENT__KEY."
        )
    if isinstance(error, OSError) and str(error):
        return f"{error}. {running}"
    limit = f" within {counted(_CONNECT_SECONDS, 'second')}" if isinstance(error, TimeoutError) else ""
    return f"the program at this address did not answer like a scheduler{limit}. {running}"


def written_in_blocks(source: DataSource, output: Output, columns: int, memory: int | None) -> bool:
    """Whether results with `columns` numbers per row are written in blocks: they or the rows do not fit in memory."""
    suffix = Path(output.path).suffix.lower()
    many = in_blocks(source) or 8 * source.shape[0] * columns > _limit(memory)
    return suffix == ".zarr" or (many and suffix in _IN_BLOCKS)


def write_blocks(
    console: Console,
    d: Decomposition,
    source: DataSource,
    output: Output,
    memory: int | None,
    what: Literal["scores", "rows"],
    **options: object,
) -> None:
    """Write the scores of a table of any size, or its reconstructed rows, while reading it."""
    from eckart.analysis.labels import component_labels
    from eckart.cli import outputs
    from eckart.cli.progress import reporting_progress
    from eckart.streaming import project_to, reconstruct_to

    write: Any = project_to if what == "scores" else reconstruct_to
    if what == "scores":
        options["names"] = component_labels(d)
    with reporting_progress(console, f"Writing {what}") as reporter, outputs.writing(), console.warnings():
        rows = write(d, source, output.path, memory=memory, overwrite=output.force, callback=reporter, **options)
    columns = d.k if what == "scores" else d.columns
    if console.json:
        console.document(shape=[rows, columns], output=output.path, notes=list(source.metadata.notes))
        return
    console.say(f"Wrote {counted(rows, 'row')} x {counted(columns, 'column')} to {output.path}.")
