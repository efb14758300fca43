"""The options of `decompose` shared by all methods (reading, progress, device), and their checks."""

from __future__ import annotations

import contextlib
import inspect
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from eckart.aliases import Keywords
from eckart.errors import MemoryBudgetError, ParameterError
from eckart.formatting import counted
from eckart.io.open_data import open_with
from eckart.io.read_options import split_options
from eckart.options import check_names, memory_bytes
from eckart.progress import progress_bar
from eckart.registry import Method, resolve
from eckart.result import Decomposition

if TYPE_CHECKING:
    from collections.abc import Iterator


def callback_with_bar(method: Method, options: Keywords) -> contextlib.AbstractContextManager[None]:
    """Replace the option `progress` by a callback that moves a bar."""
    return _moving_bar(method, options) if options.pop("progress", False) else _NO_BAR


_NO_BAR = contextlib.nullcontext()


@contextlib.contextmanager
def _moving_bar(method: Method, options: Keywords) -> Iterator[None]:
    if "callback" not in method.streams:
        raise ParameterError(
            f"method={method.name!r} does not read the data in passes, so it has no progress to show. "
            "Leave out progress=."
        )
    with progress_bar(True, options.get("callback")) as callback:
        options["callback"] = callback
        yield


def one_line(d: Decomposition, seconds: float) -> str:
    """A log message about the computation."""
    solver = "" if d.plan is None else f", solver {d.plan.solver!r}"
    passes = "" if d.info is None else f", {counted(d.info.passes, 'pass', 'passes')} over the data"
    share = "" if d.certificate is None else f", {100 * d.certificate.explained[0]:.2f} % explained"
    components = counted(d.k, "component")
    return f"{d.method} of {d.rows:,} x {d.columns:,}: {components}{solver}{passes}, {seconds:.2f} s{share}."


def opened_with(data: object, options: Keywords) -> tuple[Any, Keywords]:
    """The data opened with the reading options, if any, and the other options."""
    reading, others = split_options(options)
    if reading is not None:
        data = open_with(data, reading, memory=memory_bytes(others.get("memory")), stream=others.get("stream"))
    return data, others


def check_options(method: Method, options: Keywords) -> None:
    """Refuse options that the method does not know, unless its function accepts any."""
    names = option_names(method)
    if names is not None:
        check_names("decompose", options, (*names, "device"))


def option_names(method: Method) -> tuple[str, ...] | None:
    """Names of the options of a method's `fit`; None if it accepts any."""
    return _names_of(method.options or method.fit)


@lru_cache(maxsize=64)
def _names_of(where: str) -> tuple[str, ...] | None:
    """Names of the options of a function or a dataclass. Cached, because reading a signature is slow."""
    parameters = inspect.signature(resolve(where)).parameters
    if any(found.kind is found.VAR_KEYWORD for found in parameters.values()):
        return None
    return tuple(name for name in parameters if name not in ("data", "method"))


def decompose_on(device: str, data: object, method: Method, options: Keywords) -> Decomposition:
    """Copy host data to a device, decompose them there and return the result to the host."""
    if method.device == "none":
        raise ParameterError(f"method={method.name!r} runs only on the CPU. Leave out device=.")
    from eckart.io.open_matrix import taken_to

    try:
        moved, metadata = taken_to(data, device)
    except MemoryBudgetError:
        if method.device != "blocks":
            raise
        in_blocks: Decomposition = method.function("fit")(data, device=device, **options)
        return in_blocks
    found: Decomposition = method.function("fit")(moved, **options)
    return found.on_host().named(metadata.row_names, metadata.column_names)
