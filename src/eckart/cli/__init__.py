"""The command line: parse, call, print. Data go to standard output, messages to standard error.

Exit codes: 0 success, 1 failure of the machine, 2 refused (input, usage, memory), 3 wrong answer (exercise), 130
interrupted.
"""

from __future__ import annotations

import click

from eckart import __version__
from eckart.cli.app import Application
from eckart.registry import all_methods

__all__ = ["main"]


_MODULES = {
    "report": "reporting",
    **dict.fromkeys((name.replace("_", "-") for name in all_methods()), "reporting"),
    "rank": "rank",
    "fit": "fitting",
    "transform": "applying",
    "reconstruct": "applying",
    "plan": "fitting",
    "convert": "convert",
    "query": "concepts",
    "recommend": "concepts",
    "similar": "concepts",
    "search": "search",
    "select": "select",
    "example": "example",
    "worked": "worked",
    "exercise": "exercise",
    "course": "course",
    "errata": "errata",
}
"""Command -> the module of this package that has it; imported when needed."""


@click.group(
    cls=Application,
    modules=_MODULES,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, "--version", prog_name="eckart", message="%(prog)s %(version)s")
def main() -> None:
    """Find the few components that explain a table or matrix, interpret them, and prove how accurate they are.

    \b
    Start here:
      eckart example usarrests > usarrests.csv
      eckart report usarrests.csv --scale

    Results go to standard output, messages to standard error; '-' reads standard input. Exit codes: 0 success,
    1 failure, 2 invalid input or usage or too little memory, 3 wrong answer ('exercise'), 130 interrupted.
    """
