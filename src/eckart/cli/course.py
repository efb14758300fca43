"""eckart course: the theory of the twelve lessons."""

from __future__ import annotations

import click

from eckart.cli.console import Console
from eckart.cli.options import Output, output, with_console
from eckart.cli.worked import WRITE, check, form, give, lang


@click.command(short_help="List the lessons of the course, or show the theory of one lesson.")
@click.argument("number", type=int, required=False)
@form
@lang
@output(WRITE)
@with_console
def course(console: Console, number: int | None, style: str | None, lang: str | None, output: Output) -> None:
    """List the twelve lessons of the course, or show the theory of lesson NUMBER.

    \b
    Examples:
      eckart course
      eckart course 6 --lang it
      eckart course 9 --lang ru -o lesson.html
    """
    from eckart.worked import language
    from eckart.worked.messages import preferred, tr
    from eckart.worked.theory import LESSONS, lesson

    with language(lang or preferred()):
        if number is not None:
            check(output)
            give(console, lesson(number), style, output)
        elif console.json:
            console.document(lessons=[tr(one.title) for one in LESSONS])
        else:
            for place, one in enumerate(LESSONS, 1):
                click.echo(f"{place:2}. {tr(one.title)}")
