"""eckart errata: where lecture notes are wrong, each shown by a computation."""

from __future__ import annotations

import click

from eckart.cli.console import Console
from eckart.cli.options import with_console
from eckart.cli.worked import lang


@click.command(short_help="List common errors in lecture notes, with proofs.")
@click.argument("number", type=int, required=False)
@click.option(
    "--as", "style", type=click.Choice(["text", "markdown"]), default="text", help="Output format.  [default: text]"
)
@lang
@with_console
def errata(console: Console, number: int | None, style: str, lang: str | None) -> None:
    """List common errors in lecture notes, or show the computation that proves correction NUMBER.

    \b
    Examples:
      eckart errata
      eckart errata 16 --lang it
    """
    from eckart.worked import language
    from eckart.worked.errata import ERRATA, Erratum, erratum, markdown
    from eckart.worked.messages import preferred, tr

    def entry(one: Erratum) -> dict[str, object]:
        return {"number": one.number, "where": tr(one.where), "claim": tr(one.claim), "truth": tr(one.truth)}

    with language(lang or preferred()):
        chosen = ERRATA if number is None else (erratum(number, ERRATA),)
        if console.json and number is None:
            console.document(errata=[entry(one) for one in chosen])
        elif console.json:
            shown = [{"what": line.what, "value": line.text()[len(line.what) + 2 :], "holds": line.holds}
                     for line in chosen[0].shown()]  # fmt: skip
            console.document(**entry(chosen[0]), shown=shown)
        elif style == "markdown":
            click.echo(markdown(chosen), nl=False)
        else:
            for one in chosen:
                click.echo(one.text(console.width, computed=number is not None), nl=False)
