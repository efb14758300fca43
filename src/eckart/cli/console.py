"""Output of a command: results to standard output, everything else to standard error."""

from __future__ import annotations

import contextlib
import json
import shutil
import sys
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING

import click

from eckart import __version__
from eckart.notes import for_door

if TYPE_CHECKING:
    from rich.console import RenderableType

FORMAT = 1
"""Version of the JSON documents, raised when a field changes its meaning or is removed."""

_WIDEST = 100


@dataclass
class Console:
    """How much to print, and in which form."""

    quiet: bool = False
    json: bool = False
    debug: bool = False
    command: str = ""
    language: str = "en"

    def say(self, text: str) -> None:
        """One line for people, on standard error."""
        if not self.quiet and not self.json:
            report(one_line(text))

    def say_all(self, lines: Sequence[str]) -> None:
        for line in lines:
            self.say(f"Note: {for_door(line, 'cli')}")

    def document(self, **content: object) -> None:
        """One JSON document on standard output."""
        whole = {"eckart": __version__, "format": FORMAT, "command": self.command, **content}
        click.echo(json.dumps(_in_options(whole), indent=2, allow_nan=False))

    def show(self, renderable: RenderableType, stream: IO[str]) -> None:
        """Rich text, with colours only if the terminal supports them, and lines of readable length."""
        from rich.console import Console as RichConsole

        RichConsole(file=stream, highlight=False, width=self.width).print(renderable, crop=False)

    @property
    def width(self) -> int:
        """Width of the terminal, up to the longest readable line."""
        return min(shutil.get_terminal_size().columns, _WIDEST)

    @contextlib.contextmanager
    def status(self, text: str) -> Iterator[None]:
        """A status line shown while the work runs, on a terminal only."""
        if self.quiet or self.json or not sys.stderr.isatty():
            yield
            return
        from rich.console import Console as RichConsole
        from rich.markup import escape

        with RichConsole(stderr=True).status(escape(one_line(text))):
            yield

    @contextlib.contextmanager
    def warnings(self) -> Iterator[list[str]]:
        """Collect the library's warnings and print them afterwards; drop those of other libraries unless debugging."""
        from eckart.errors import EckartWarning

        heard: list[str] = []
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", EckartWarning)
            yield heard
        for warning in caught:
            if isinstance(warning.message, EckartWarning):
                heard.append(warning.message.worded("cli"))
                self.say(f"Warning: {heard[-1]}")
            elif self.debug:
                self.say(f"{warning.category.__name__}: {warning.message} ({warning.filename}:{warning.lineno})")


def _in_options(content: object) -> object:
    """The content of a JSON document with its notes worded for the command line."""
    if isinstance(content, dict):
        return {name: _in_options(value) for name, value in content.items()}
    if isinstance(content, list | tuple):
        return [_in_options(value) for value in content]
    return for_door(content, "cli") if isinstance(content, str) else content


def report(message: str, color: bool | None = None) -> None:
    """Write a message to standard error, and ignore it if that fails."""
    with contextlib.suppress(OSError):
        click.echo(message, err=True, color=color)


def one_line(text: str) -> str:
    """The text without line breaks and terminal control characters."""
    from eckart.formatting import clean

    return clean(" ".join(text.split()))
