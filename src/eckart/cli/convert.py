"""eckart convert: convert a table once to a format that loads fast."""

from __future__ import annotations

import click

from eckart.cli.console import Console
from eckart.cli.options import Output, with_console


@click.command(short_help="Convert a file to .npy or .npz for faster loading.")
@click.argument("data", metavar="IN")
@click.argument("target", metavar="OUT")
@click.option("--single", is_flag=True, help="Store numbers as float32 instead of float64, which halves the file size.")
@click.option("--force", is_flag=True, help="Replace OUT if it exists.")
@with_console
def convert(console: Console, data: str, target: str, single: bool, force: bool) -> None:
    """Convert the file IN to OUT: .npy for dense tables, .npz for sparse tables. The file may be larger than memory.

    IN can be any file that the other commands read. Converting pays off for text and
    Matrix Market files that you read more than once.

    \b
    Examples:
      eckart convert measurements.csv.gz measurements.npy --single
      eckart convert counts.mtx counts.npz
    """
    from eckart.cli import outputs
    from eckart.io.convert import convert as write

    outputs.check(Output(target, force), (".npy", ".npz"))
    with console.status(f"Converting {data}"), outputs.writing():
        summary = write(data, target, single=single, overwrite=force)
    if console.json:
        console.document(input=data, output=target, summary=summary)
        return
    console.say(f"{summary}.")
