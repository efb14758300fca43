"""Progress on a terminal: passes, blocks, certified share, speed, time left; handles Ctrl-C between blocks."""

from __future__ import annotations

import contextlib
import signal
import sys
import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from eckart.cli.console import Console
from eckart.progress import pass_text

if TYPE_CHECKING:
    from eckart.engine.blocks.reading import Progress


class ProgressReporter:
    """Callback after every block: records and shows the progress, and stops the computation on request."""

    def __init__(self, bar: Any = None, checkpoint: str | None = None) -> None:
        self.last: Progress | None = None
        self.stop = False
        self._bar, self._checkpoint = bar, checkpoint
        self._task = None if bar is None else bar.add_task("", total=None, rest="")

    def __call__(self, progress: Progress) -> None:
        self.last = progress
        if self._bar is not None:
            self._bar.update(
                self._task, description=pass_text(progress), total=progress.blocks, completed=progress.block,
                rest=rest_text(progress),
            )  # fmt: skip
        if self.stop:
            raise KeyboardInterrupt

    def where(self) -> str:
        """The message for a computation that was stopped."""
        place = "Stopped before the first block."
        if self.last is not None:
            place = (
                f"Stopped in pass {self.last.current_pass}, after block {self.last.block:,} of {self.last.blocks:,}."
            )
        if self._checkpoint is None:
            return f"{place} No incomplete files were left behind. To make a run resumable, add --checkpoint FOLDER."
        return f"{place} The checkpoint is in {self._checkpoint}. To resume, repeat the same command."


@contextlib.contextmanager
def reporting_progress(console: Console, what: str, checkpoint: str | None = None) -> Iterator[ProgressReporter]:
    """A progress callback for the computation inside, with a bar on a terminal."""
    with _bar(console, what) as bar:
        reporter = ProgressReporter(bar, checkpoint)
        try:
            with _first_interrupt(console, reporter):
                yield reporter
        except KeyboardInterrupt as interrupt:
            raise KeyboardInterrupt(reporter.where()) from interrupt


@contextlib.contextmanager
def _first_interrupt(console: Console, reporter: ProgressReporter) -> Iterator[None]:
    """Complete the current block on the first Ctrl-C, so that its sums are kept; stop immediately on the second."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.getsignal(signal.SIGINT)

    def ask(_number: int, _frame: object) -> None:
        reporter.stop = True
        signal.signal(signal.SIGINT, before)
        console.say("Stopping after the current block. Press Ctrl-C again to stop immediately.")

    signal.signal(signal.SIGINT, ask)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


@contextlib.contextmanager
def _bar(console: Console, what: str) -> Iterator[Any]:
    if console.quiet or console.json or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console as RichConsole
    from rich.markup import escape
    from rich.progress import BarColumn, Progress, TextColumn

    from eckart.cli.console import one_line

    columns = (
        TextColumn(escape(one_line(what))),
        TextColumn("{task.description}"),
        BarColumn(20),
        TextColumn("{task.fields[rest]}"),
    )
    with Progress(*columns, console=RichConsole(stderr=True), transient=True, refresh_per_second=4) as bar:
        yield bar


def rest_text(progress: Progress) -> str:
    """block 3 of 20, 93.12 to 93.40 % explained (proved bounds), 1,200,000 rows/s, 0:00:12 left."""
    words = [f"block {progress.block:,} of {progress.blocks:,}"]
    if progress.explained is not None:
        low, high = progress.explained
        words.append(f"{100 * low:.2f} to {100 * high:.2f} % explained (proved bounds)")
    minutes, seconds = divmod(round(progress.seconds_left), 60)
    hours, minutes = divmod(minutes, 60)
    return ", ".join([*words, f"{progress.rows_per_second:,.0f} rows/s", f"{hours}:{minutes:02}:{seconds:02} left"])
