"""The blocks of a matrix on a Dask cluster: workers read and multiply them, and add up the results in a tree.

The task of a block contains all that is needed to read the block again (a path and rows, or the graph of a chunk), so
losing a worker loses nothing. The tree follows the order of the blocks, so the result does not depend on the number of
workers.
"""

from __future__ import annotations

import contextlib
import math
import secrets
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from eckart.aliases import JsonObject
from eckart.arrays import DType
from eckart.engine.blocks.dask_rows import DaskRows, answer
from eckart.engine.blocks.heartbeats import heartbeat_probe
from eckart.engine.blocks.reading import Reading
from eckart.engine.blocks.worker import Span, Sums, add_parts, make_work, run_blocks, run_chunk
from eckart.errors import ClusterError, EckartError, require
from eckart.fingerprint import in_files
from eckart.wording import CHECKPOINT, MEMORY

if TYPE_CHECKING:
    from eckart.engine.blocks.stacked import StackedBlocks
    from eckart.engine.blocks.task import BlockTask

_FAN_IN = 4
_TRAVELS, _TASKS = 4.0, 64
"""A task reads at least four times the bytes that it sends, as long as 64 tasks remain."""
_PATIENCE = 60.0
"""Seconds without any worker, or without an answer from the scheduler, before giving up."""
_ANSWER_SECONDS = 10.0


@dataclass
class _Shared:
    """A source as workers see it, and the objects that must live while they read it."""

    original: Any
    source: Any
    content: JsonObject | None
    token: str
    folders: list[Any]


@dataclass
class _Tasks:
    """The tasks of a pass that compute blocks: their names in messages by key, and the keys of complete tasks."""

    heartbeats: bool
    """Whether workers send heartbeats during these tasks: Eckart's own never hold the interpreter's lock for long, but
    those of a Dask array may."""
    names: dict[str, str] = field(default_factory=dict)
    complete: set[str] = field(default_factory=set)

    def add(self, future: Any, name: str) -> Any:
        self.names[future.key] = name
        future.add_done_callback(self._done)  # it keeps the future, and so its result, only until the task is complete
        return future

    def _done(self, future: Any) -> None:
        if future.status == "finished":
            self.complete.add(future.key)

    def first_open(self) -> str:
        """The first block, in order, that is not known to be complete."""
        otherwise = "the sum of all blocks" if self.names else "the first block"
        return next((name for key, name in self.names.items() if key not in self.complete), otherwise)


@dataclass(frozen=True)
class Cluster:
    """The workers of a Dask client."""

    client: Any
    patience: float = field(default_factory=lambda: _PATIENCE)
    _shared: dict[int, _Shared] = field(default_factory=dict, compare=False, repr=False)

    def parts(self, stack: StackedBlocks, task: BlockTask, spans: list[tuple[int, int]]) -> list[list[np.ndarray]]:
        """task(block) of every block, in order."""
        with self._watched(stack) as tasks:
            futures = self._submit(stack, task, spans, tasks)
            found = [self._wait(future, tasks) for future in futures]
            self._confirm(stack, spans, found)
            return [sums.arrays for sums in found]

    def total(self, stack: StackedBlocks, task: BlockTask, spans: list[tuple[int, int]]) -> list[np.ndarray]:
        """The sum of task(block) over the blocks."""
        with self._watched(stack) as tasks:
            level = self._submit(stack, task, spans, tasks, together=_together(stack, task, len(spans)))
            while len(level) > 1:
                groups = [level[i : i + _FAN_IN] for i in range(0, len(level), _FAN_IN)]
                level = [
                    group[0] if len(group) == 1 else self.client.submit(add_parts, group, pure=False)
                    for group in groups
                ]
            found = self._wait(level[0], tasks)
            self._confirm(stack, spans, [found])
            return [np.asarray(array, dtype=np.float64) for array in found.arrays]

    def _confirm(self, stack: StackedBlocks, spans: list[tuple[int, int]], found: list[Sums]) -> None:
        """Pass the digests from the workers to the checkpoint, and what they rounded to the notes."""
        journal, stops = stack.reading.journal, dict(spans)
        for sums in found:
            stack.source.metadata.rounded.add(sums.rounded)
            for start, digest in sums.digests.items():
                if journal is not None:
                    journal.digests.confirm(start, stops[start], digest)
            for start, digest in sums.repeated.items():
                stack.reading.repeated.confirm(start, stops[start], digest)

    @contextlib.contextmanager
    def _watched(self, stack: StackedBlocks) -> Iterator[_Tasks]:
        """The tasks of a pass; Dask's errors about a lost scheduler become a ClusterError that names the block."""
        tasks = _Tasks(heartbeats=not isinstance(stack.source, DaskRows))
        try:
            yield tasks
        except EckartError:
            raise
        except (CancelledError, OSError, TimeoutError) as error:
            raise self._scheduler_lost(tasks) from error
        except Exception as error:
            if self.client.status == "running":
                raise
            raise self._scheduler_lost(tasks) from error

    def _scheduler_lost(self, tasks: _Tasks) -> ClusterError:
        return ClusterError(
            f"The connection to the Dask scheduler was lost (client {self.client.status!r}) before "
            f"{tasks.first_open()} was complete. Start the scheduler again and repeat the call. To "
            f"make a run resumable, use {CHECKPOINT}."
        )

    def _submit(
        self, stack: StackedBlocks, task: BlockTask, spans: list[tuple[int, int]], tasks: _Tasks, *, together: int = 1
    ) -> list[Any]:
        """Futures of the blocks, or of groups of them; `tasks` gets their names for messages."""
        named = [Span(i + 1, len(spans), *span) for i, span in enumerate(spans)]
        shared, journal = self._share(stack.source), stack.reading.journal
        light = replace(stack, reading=Reading(), source=shared.source)
        digests = journal is not None and journal.digests.pending
        repeated = stack.reading.repeated.are_compared(stack.source)
        values = (light, task, _version(), shared.token, shared.content, digests, repeated)
        work = self.client.submit(make_work, *values, pure=False)
        if isinstance(stack.source, DaskRows):
            return [tasks.add(self._submit_chunk(stack.source, work, span), str(span)) for span in named]
        groups = [named[i : i + together] for i in range(0, len(named), together)]
        return [tasks.add(self.client.submit(run_blocks, work, group, pure=False), _named(group)) for group in groups]

    def _submit_chunk(self, source: DaskRows, work: object, span: Span) -> Any:
        chunk = self.client.compute(source.chunk(span.start))
        return self.client.submit(run_chunk, work, span, chunk, pure=False)

    def _share(self, source: object) -> _Shared:
        """The source in a serialisable form, with its files where workers can read them."""
        known = self._shared.get(id(source))
        if known is None:
            self._check_versions()
            folders: list[Any] = []
            if isinstance(source, DaskRows):
                # The graph of the whole array would be sent with every task: that of the chunk is enough.
                travels: Any = replace(source, array=_Shape(source.array))
            else:
                travels = _for_workers(source, folders)
            content = travels.fingerprint()["content"] if in_files(travels) else None
            known = _Shared(source, travels, content, secrets.token_hex(16), folders)
            self._shared[id(source)] = known
        return known

    def _check_versions(self) -> None:
        """Refuse workers without Eckart or with another version, which could not even read the tasks."""
        try:
            found = self._ask(self.client._run, _version_probe(), on_error="return")
        except TimeoutError:  # a worker that does not answer; tasks go to the others
            return
        for address, version in found.items():
            if version == _version() or isinstance(version, OSError | TimeoutError):  # a worker that was just lost
                continue
            what = f"has Eckart {version}" if isinstance(version, str) else "does not have Eckart"
            raise ClusterError(
                f"The worker {address} {what}, but the client has Eckart {_version()}. Install the same version on all "
                f"workers: pip install eckart=={_version()}"
            )

    def _ask(self, function: Callable[..., Any], *arguments: object, **options: object) -> Any:
        """Send a request to the scheduler, with a time limit."""
        timeout = min(_ANSWER_SECONDS, self.patience)
        return answer(lambda: self.client.sync(function, *arguments, callback_timeout=timeout, **options))

    def _wait(self, future: Any, tasks: _Tasks) -> Sums:
        """Wait for the result; raise an error if the cluster is gone for longer than `patience`."""
        idle_since: float | None = None
        while not future.done():
            with contextlib.suppress(Exception):  # a failed task is examined below
                future.result(timeout=1.0)
            if future.done() or future.status == "cancelled":
                break
            silent = self._seconds_of_silence(tasks)
            now = time.monotonic()
            idle_since = None if silent is not None else (now if idle_since is None else idle_since)
            if max(silent or 0.0, now - (now if idle_since is None else idle_since)) > self.patience:
                raise self._given_up(tasks)
        if future.status != "finished":
            raise self._explained(future, tasks)
        found: Sums = answer(future.result)
        return found

    def _given_up(self, tasks: _Tasks) -> ClusterError:
        if self.client.status != "running":
            return self._scheduler_lost(tasks)
        return ClusterError(
            f"The run stopped before {tasks.first_open()} was complete, because for {self.patience:.0f} seconds no "
            "worker of the Dask cluster accepted tasks, or its scheduler did not answer. Start the workers again, or "
            "allow them more memory if Dask paused them, and repeat the call. To make a run resumable, use "
            f"{CHECKPOINT}."
        )

    def _seconds_of_silence(self, tasks: _Tasks) -> float | None:
        """Seconds since the last heartbeat of any worker; None if none accepts tasks or the scheduler is silent."""
        if self.client.status != "running":
            return None
        try:
            return self._last_heartbeat(tasks)
        except (OSError, TimeoutError, AttributeError, RuntimeError):
            return None

    def _last_heartbeat(self, tasks: _Tasks) -> float | None:
        patience = self.patience if tasks.heartbeats else math.inf
        options = {"client": self.client.id, "patience": patience}
        try:
            silent: float | None = self._ask(self.client._run_on_scheduler, heartbeat_probe(), **options)
        except (OSError, TimeoutError):
            raise
        except Exception:  # noqa: BLE001 - a scheduler with another Python cannot run the function
            return 0.0 if self._ask(self.client.scheduler.ncores) else None
        return silent if tasks.heartbeats or silent is None else 0.0

    def _explained(self, future: Any, tasks: _Tasks) -> Exception:
        if self.client.status != "running":
            return self._scheduler_lost(tasks)
        if future.status == "cancelled":
            return ClusterError(
                f"The Dask scheduler cancelled the work before {tasks.first_open()} was complete{_reason(future)}. "
                f"Repeat the call. To make a run resumable, use {CHECKPOINT}."
            )
        error = answer(future.exception)
        if isinstance(error, EckartError):  # it already names the block
            return error
        block = self._failed(tasks.names)
        if type(error).__name__ == "KilledWorker":
            return ClusterError(
                f"{block} killed its worker repeatedly: {str(error).rstrip('.')}. Allow the workers more memory, or "
                f"use smaller blocks with {MEMORY}, or smaller chunks."
            )
        failure = ClusterError(f"{block} failed on the cluster: {type(error).__name__}: {error}")
        failure.__cause__ = error
        return failure

    def _failed(self, names: dict[str, str]) -> str:
        """The first failed block according to the scheduler."""
        try:
            failed = self._ask(self.client._run_on_scheduler, _failed_probe(), keys=list(names))
        except (OSError, TimeoutError, AttributeError, RuntimeError, ValueError):  # raise the error without the name
            failed = []
        return next((name[0].upper() + name[1:] for key, name in names.items() if key in failed), "A block")


def find_cluster(executor: object, *, wanted: bool) -> Cluster | None:
    """The cluster of `executor` ("dask" or a Client), or of the active client if the data are Dask's (`wanted`)."""
    if executor is None and (not wanted or sys.modules.get("distributed") is None):  # no client is active
        return None
    distributed = require("distributed", extra="dask", purpose="Dask clusters")
    if isinstance(executor, distributed.Client):
        return _synchronous(executor)
    if executor not in (None, "dask"):
        raise ClusterError(f"executor={executor!r} is not valid. Use 'dask' or a dask.distributed Client.")
    try:
        return _synchronous(distributed.get_client())
    except ValueError as error:
        if executor is None:
            return None
        raise ClusterError(
            "executor='dask' needs a running cluster, because Eckart does not start one. Create a "
            "client first, for example client = dask.distributed.Client('tcp://scheduler:8786') or "
            "Client(LocalCluster())."
        ) from error


def _synchronous(client: Any) -> Cluster:
    if client.asynchronous:
        raise ClusterError(
            "The Dask client is asynchronous, so Eckart cannot wait for its results. Create a client without "
            "asynchronous=True. In a coroutine, call Eckart in a thread with asyncio.to_thread."
        )
    return Cluster(client)


@dataclass(frozen=True)
class _Shape:
    """The shape of a Dask array whose graph stays with the client."""

    shape: tuple[int, int]
    dtype: DType

    def __init__(self, array: Any) -> None:
        object.__setattr__(self, "shape", tuple(int(size) for size in array.shape))
        object.__setattr__(self, "dtype", array.dtype)


def _for_workers(source: Any, folders: list[Any]) -> Any:
    """The source with temporary files in a folder that workers see; `folders` keeps this folder alive."""
    if hasattr(source, "for_workers"):
        travels, folder = source.for_workers()
        folders.append(folder)
        return travels
    if isinstance(several := getattr(source, "sources", None), tuple):
        return replace(source, sources=tuple(_for_workers(inner, folders) for inner in several))
    inner = getattr(source, "source", None)
    return source if inner is None else replace(source, source=_for_workers(inner, folders))


def _version_probe() -> Callable[[], str | None]:
    """A function that is sent by value, so that a worker without Eckart can run it."""

    def probe() -> str | None:
        try:
            import eckart
        except ImportError:
            return None
        return str(eckart.__version__)

    return probe


def _failed_probe() -> Callable[..., list[str]]:
    """The keys of failed tasks on the scheduler; sent by value as well."""

    def probe(keys: list[str], dask_scheduler: Any = None) -> list[str]:
        tasks = dask_scheduler.tasks
        return [key for key in keys if key in tasks and tasks[key].state == "erred"]

    return probe


def _reason(future: Any) -> str:
    """Why the scheduler cancelled a task, if it gives a reason: for example a graph that it cannot read."""
    try:
        future.result(timeout=1.0)
    except Exception as error:  # noqa: BLE001 - only what it says is of interest
        said = getattr(error, "msg", None) or getattr(error, "reason", None)
        return f": {str(said).strip().rstrip('.')}" if said else ""
    return ""


def _named(group: list[Span]) -> str:
    if len(group) == 1:
        return str(group[0])
    first, last = group[0], group[-1]
    return f"one of blocks {first.number:,} to {last.number:,} (rows {first.start + 1:,} to {last.stop:,})"


def _together(stack: StackedBlocks, task: BlockTask, blocks: int) -> int:
    """Number of blocks that a worker sums before sending anything: more if a sum is large compared with a block.

    It depends only on the shape, so the bits are the same for any number of workers; at least 64 tasks remain.
    """
    columns = stack.shape[1]
    factor = getattr(task, "factor", None)
    width = columns if getattr(task, "gram", False) or factor is None else factor.shape[1]
    block = max(stack.entries * stack.dtype.itemsize / max(blocks, 1), 1.0)
    return int(np.clip(np.ceil(_TRAVELS * 8.0 * columns * width / block), 1, max(1, blocks // _TASKS)))


def _version() -> str:
    from eckart import __version__

    return __version__
