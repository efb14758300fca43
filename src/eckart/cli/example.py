"""eckart example: the tables that ship with Eckart."""

from __future__ import annotations

import re
import sys

import click

from eckart.cli.console import Console
from eckart.cli.options import with_console


@click.command(short_help="Print an example table that ships with Eckart.")
@click.argument("name", default="usarrests")
@click.option("--list", "listing", is_flag=True, help="List the example tables and exit.")
@with_console
def example(console: Console, name: str, listing: bool) -> None:
    """Print an example table as CSV. The default table is usarrests.

    \b
    Examples:
      eckart example > usarrests.csv
      eckart example --list
    """
    from eckart import datasets

    if listing:
        _list(console)
    elif console.json:
        table = datasets.load(name)
        console.document(
            name=name,
            row_names=list(table.row_names),
            column_names=list(table.column_names),
            values=table.values.tolist(),
        )
    else:
        sys.stdout.buffer.write(datasets.path(name).read_bytes())


def _list(console: Console) -> None:
    from eckart import datasets

    words = dict(re.findall(r"^`(\w+)`\s+(.+)$", datasets.__doc__ or "", re.MULTILINE))
    tables = {name: words.get(name, "") for name in datasets.names()}
    if console.json:
        console.document(tables=[{"name": name, "about": about} for name, about in tables.items()])
        return
    wide = max(map(len, tables))
    for name, about in tables.items():
        click.echo(f"{name:<{wide}}  {about}".rstrip())
