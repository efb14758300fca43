"""The command line: parses, calls, prints. Data to standard output, talk to standard error.

Exit codes: 0 done, 1 failed, 2 bad input or usage, 130 interrupted.
"""

from __future__ import annotations

import click

from eckart import __version__
from eckart.cli.app import Application
from eckart.cli.applying import reconstruct, transform
from eckart.cli.concepts import query, recommend, similar
from eckart.cli.convert import convert
from eckart.cli.course import course
from eckart.cli.errata import errata
from eckart.cli.example import example
from eckart.cli.exercise import exercise
from eckart.cli.fitting import fit, plan
from eckart.cli.rank import rank
from eckart.cli.reporting import report, short_forms
from eckart.cli.search import search
from eckart.cli.select import select
from eckart.cli.worked import worked

__all__ = ["main"]


@click.group(cls=Application, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, "--version", prog_name="eckart", message="%(prog)s %(version)s")
def main() -> None:
    """Find the few components that explain a table or a matrix, say what they mean, and prove how good they are.

    \b
    Start here:
      eckart example usarrests > usarrests.csv
      eckart report usarrests.csv --scale

    Results go to standard output, messages to standard error; '-' reads standard input. Exit codes: 0 done, 1 failed,
    2 bad input or usage, 130 interrupted.
    """


for command in (
    report,
    *short_forms,
    rank,
    fit,
    transform,
    reconstruct,
    plan,
    convert,
    query,
    recommend,
    similar,
    search,
    select,
    example,
    worked,
    exercise,
    course,
    errata,
):
    main.add_command(command)
