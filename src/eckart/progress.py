"""A progress bar for long computations: tqdm if it is installed (also in notebooks), otherwise rich."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from eckart.engine.blocks.reading import Progress, ProgressCallback


@contextlib.contextmanager
def progress_bar(wanted: bool, callback: ProgressCallback | None) -> Iterator[ProgressCallback | None]:
    """A callback that updates a bar and then calls `callback`; `callback` itself if no bar is wanted.

    The bar appears with the first block, so computations in memory show none.
    """
    if not wanted:
        yield callback
        return
    with contextlib.ExitStack() as stack:
        show: Callable[[Progress], None] | None = None

        def report(progress: Progress) -> None:
            nonlocal show
            if show is None:
                show = _tqdm_bar(stack) or _rich_bar(stack)
            show(progress)
            if callback is not None:
                callback(progress)

        yield report


def _tqdm_bar(stack: contextlib.ExitStack) -> Callable[[Progress], None] | None:
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return None
    bar: Any = stack.enter_context(tqdm(unit="block", dynamic_ncols=True))

    def show(progress: Progress) -> None:
        bar.total = progress.passes * progress.blocks
        bar.set_description(pass_text(progress), refresh=False)
        bar.set_postfix_str(certified_text(progress), refresh=False)
        bar.update((progress.current_pass - 1) * progress.blocks + progress.block - bar.n)

    return show


def _rich_bar(stack: contextlib.ExitStack) -> Callable[[Progress], None]:
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as RichProgress

    columns = (
        TextColumn("{task.description}"),
        BarColumn(20),
        TimeRemainingColumn(),
        TextColumn("{task.fields[rest]}"),
    )
    bar = stack.enter_context(RichProgress(*columns, console=Console(stderr=True)))
    task = bar.add_task("", total=None, rest="")

    def show(progress: Progress) -> None:
        bar.update(
            task,
            description=pass_text(progress),
            total=progress.passes * progress.blocks,
            completed=(progress.current_pass - 1) * progress.blocks + progress.block,
            rest=certified_text(progress),
        )

    return show


def pass_text(progress: Progress) -> str:
    """The current pass over the data, as text."""
    return f"pass {progress.current_pass} of about {progress.passes}"


def certified_text(progress: Progress) -> str:
    """The certified share as text, once there is one."""
    if progress.explained is None:
        return ""
    low, high = progress.explained
    return f"{100 * low:.2f} to {100 * high:.2f} % explained (proved bounds)"
