"""The part of a cluster run on the workers: read blocks, compute, sum.

A worker uses only the data that the client opened. It compares the fingerprint of its files with the client's before
reading the first block, and names the block in every error.
"""

from __future__ import annotations

import platform
from collections import OrderedDict
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from eckart.aliases import JsonObject
from eckart.engine.blocks.dask_rows import DaskRows
from eckart.engine.blocks.digests import digest_of, sums_of
from eckart.errors import ClusterError, FileError, InputError, require
from eckart.fingerprint import on_this_machine
from eckart.wording import MEMORY

if TYPE_CHECKING:
    from eckart.engine.blocks.source import RowSource
    from eckart.engine.blocks.stacked import StackedBlocks
    from eckart.engine.blocks.task import BlockTask

_MOST_SOURCES = 4
_sources: OrderedDict[str, RowSource] = OrderedDict()
"""Sources whose files were verified on this machine, by the token of the client's source."""


@dataclass(frozen=True)
class Span:
    """Rows start..stop, block `number` of `blocks`, counted from 1."""

    number: int
    blocks: int
    start: int
    stop: int

    def __str__(self) -> str:
        return f"block {self.number:,} of {self.blocks:,} (rows {self.start + 1:,} to {self.stop:,})"


@dataclass(frozen=True)
class Work:
    """What all blocks of a pass share."""

    stack: StackedBlocks
    task: BlockTask
    version: str
    token: str
    content: JsonObject | None
    """Fingerprint of the client's files; None for data that are not in files."""
    digests: bool
    """Whether digests of the blocks are needed, for a checkpoint."""
    repeated: bool
    """Whether the blocks are compared with those of earlier passes."""


@dataclass
class Sums:
    """The sum over some blocks, their digests and digest sums by first row, and columns with rounded integers."""

    arrays: list[np.ndarray]
    digests: dict[int, str] = field(default_factory=dict)
    repeated: dict[int, str] = field(default_factory=dict)
    rounded: tuple[str, ...] = ()


def make_work(*values: Any) -> Work:
    """One task with everything that the blocks share; a worker that loses it gets it again."""
    return Work(*values)


def run_blocks(work: Work, spans: list[Span]) -> Sums:
    """Read each block and run the task; with several blocks, return the sum in order."""
    total = _block(work, spans[0], None)
    for span in spans[1:]:
        total = add_parts([total, _block(work, span, None)])
    return total


def run_chunk(work: Work, span: Span, chunk: object) -> Sums:
    """The same with a chunk from another task."""
    return _block(work, span, chunk)


def add_parts(parts: list[Sums]) -> Sums:
    """The sum of some results, in order."""
    total = [np.array(array, dtype=np.float64) for array in parts[0].arrays]
    for part in parts[1:]:
        for sum_, array in zip(total, part.arrays, strict=True):
            np.add(sum_, array, out=sum_)
    rounded = dict.fromkeys(name for part in parts for name in part.rounded)
    digests = {start: digest for part in parts for start, digest in part.digests.items()}
    repeated = {start: sums for part in parts for start, sums in part.repeated.items()}
    return Sums(total, digests, repeated, tuple(rounded))


def _block(work: Work, span: Span, chunk: object) -> Sums:
    """Process one block; errors name it, unless they are about the numbers themselves."""
    worker = require("distributed", extra="dask", purpose="Dask clusters").get_worker()
    try:
        # Use as many threads as this worker was given: other workers on the machine have their own.
        stack = replace(work.stack, source=_source(work), workers=worker.state.nthreads)
        source = stack.source
        if isinstance(source, DaskRows) and chunk is not None:
            block = source.accept(chunk, span.start, span.stop)
        else:
            block = source.read(span.start, span.stop)
        digests = {span.start: digest_of(block)} if work.digests else {}
        repeated = {span.start: sums_of(block)} if work.repeated else {}
        arrays = stack.part(work.task, span.start, span.stop, block)
        return Sums(arrays, digests, repeated, tuple(source.metadata.rounded.names))
    except InputError:
        raise
    except Exception as error:
        raise ClusterError(
            f"The worker {worker.address} on {platform.node()} cannot compute {span}: {_reason(error)}{_remedy(error)}"
        ) from error


def _source(work: Work) -> RowSource:
    """The source with the files of this machine, after checking that they are those of the client."""
    if work.version != _version():
        raise ClusterError(f"it has Eckart {_version()}, but the client has {work.version}. Install the same version.")
    if work.content is None:
        return work.stack.source
    source = _sources.get(work.token)
    if source is None:  # several threads may verify the same files, and remove those of another
        source = on_this_machine(work.stack.source)
        _refuse_other_files(work.content, source.fingerprint()["content"])
        _sources[work.token] = source
        while len(_sources) > _MOST_SOURCES:
            _sources.popitem(last=False)
    return source


def _refuse_other_files(wanted: JsonObject, found: JsonObject) -> None:
    if wanted == found:
        return
    sizes = (found.get("bytes"), wanted.get("bytes"))
    what = "same size, different content" if sizes[0] == sizes[1] else f"{sizes[0]:,} bytes instead of {sizes[1]:,}"
    raise FileError(f"its file at this path is not the same as the client's ({what}).")


def _reason(error: Exception) -> str:
    text = str(error).strip() or type(error).__name__
    if isinstance(error, OSError) and error.filename:
        text = f"{error.filename}: {error.strerror}"
    elif not isinstance(error, FileError | ClusterError):
        text = f"{type(error).__name__}: {text}"
    return text[:2000] if text.endswith(".") else f"{text[:2000]}."


def _remedy(error: Exception) -> str:
    if isinstance(error, FileError | OSError):
        return (
            " All workers must see the same files at the same path. Use a shared file system, or copy "
            "the files to every worker."
        )
    if isinstance(error, MemoryError):
        return f" Allow the workers more memory, or use smaller blocks with {MEMORY}, or smaller chunks."
    return ""


def _version() -> str:
    from eckart import __version__

    return __version__
