"""The only module that prints solutions."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, Any

from eckart.worked.messages import language, tr
from eckart.worked.solution import Solution

if TYPE_CHECKING:
    from rich.text import Text

_WIDEST = 100


def styled(solution: Solution, width: int) -> Text:
    """The solution with its title, step numbers and answer highlighted."""
    from rich.text import Text

    page = Text(solution.text(width), no_wrap=True)
    page.highlight_regex(r"\A(.*\n)+?=+", "bold")
    page.highlight_regex(r"(?m)^\d+(\.\d+)?\.", "bold cyan")
    with language(solution.language):
        page.highlight_regex(rf"(?m)^{tr('Answer')}$", "bold green")
    return page


def show(solution: Solution, **options: Any) -> None:
    """Print the solution in the width of the terminal, up to the longest readable line."""
    from rich.console import Console

    width = min(shutil.get_terminal_size().columns, _WIDEST)
    console = Console(highlight=False, width=width, **options)
    console.print(styled(solution, width), end="", crop=False, overflow="ignore")
