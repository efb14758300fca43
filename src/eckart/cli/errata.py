"""eckart errata: where lecture notes are wrong, each shown by a computation."""

from __future__ import annotations

import textwrap

import click

from eckart.cli.options import talking
from eckart.cli.talk import Talk


@click.command(short_help="List where lecture notes are wrong, with proof.")
@click.argument("number", type=int, required=False)
@talking
def errata(talk: Talk, number: int | None) -> None:
    """List known slips of lecture notes; with NUMBER, compute what shows one of them.

    \b
    Examples:
      eckart errata
      eckart errata 16
    """
    from eckart.worked.errata import ERRATA, Erratum, erratum

    def entry(one: Erratum) -> dict[str, object]:
        return {"number": one.number, "where": one.where, "claim": one.claim, "truth": one.truth}

    if number is None:
        if talk.json:
            talk.document(errata=[entry(one) for one in ERRATA])
            return
        for one in ERRATA:
            _show(talk, f"{one.number:2}. {one.where}", one.claim, one.truth)
        return
    one = erratum(number, ERRATA)
    shown = one.shown()
    if talk.json:
        computed = [{"what": line.what, "value": str(line.value), "holds": line.holds} for line in shown]
        talk.document(**entry(one), shown=computed)
        return
    _show(talk, f"{one.number}. {one.where}", one.claim, one.truth)
    click.echo("    Computed:")
    for line in shown:
        click.echo(
            textwrap.fill(f"{line.what}: {line.value}", talk.width, initial_indent=" " * 6, subsequent_indent=" " * 8)
        )


def _show(talk: Talk, title: str, claim: str, truth: str) -> None:
    click.echo(title)
    for word, text in (("They say:", claim), ("True:", truth)):
        click.echo(textwrap.fill(text, talk.width, initial_indent=f"    {word:<10}", subsequent_indent=" " * 14))
