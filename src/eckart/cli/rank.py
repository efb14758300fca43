"""eckart rank: the number of components by every rule."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from eckart.cli import numbers
from eckart.cli.console import Console, one_line
from eckart.cli.options import MethodChoice, ReadingOptions, gathered, memory, reading, with_console

if TYPE_CHECKING:
    from eckart.missing.fill import How
    from eckart.rank.verdict import RankChoice

_RULES = "Rules to apply: 'all', 'quick' (rules without resampling), or a list such as minka,elbow."


@dataclass(frozen=True)
class RankOptions:
    """Options for the rules."""

    method: str
    scale: bool
    explain: float
    noise: float | None
    most: int | None
    missing: How
    seed: int | None


_rank_options = gathered("asked", RankOptions, [
    click.option("--method", type=MethodChoice(["pca", "svd", "nmf", "cur"]), default="pca", show_default=True,
                 help="Decomposition method. pca subtracts the column means; the other methods do not."),
    click.option("--scale/--no-scale", default=False,
                 help="Divide each column by its standard deviation.  [default: no]"),
    click.option("--explain", type=numbers.share, metavar="SHARE", default=0.9, show_default=True,
                 help=("Share to explain, such as 0.9 or 90%, for the rules 'variance' and 'energy'.")),
    click.option("--noise", type=float, metavar="SIZE", help="Standard deviation of the noise in the data, if known."),
    click.option("--most", type=numbers.components, metavar="N",
                 help="Largest number of components to consider.  [default: 40]"),
    click.option("--missing", type=click.Choice(["error", "mean", "em"]), default="error", show_default=True,
                 help=("What to do with missing values: report an error, impute the column mean, or impute "
                 "from the other values of the row (em).")),
    click.option("--seed", type=click.IntRange(min=0), metavar="N", help="Seed for resampling. The same seed gives "
    "the same result."),
])  # fmt: skip


@click.command(short_help="Recommend a number of components by applying several rules.")
@click.argument("data")
@click.option("--rules", metavar="NAMES", default="all", show_default=True, help=_RULES)
@_rank_options
@memory
@reading
@with_console
def rank(
    console: Console, data: str, rules: str, asked: RankOptions, memory: int | None, reading: ReadingOptions
) -> None:
    """Recommend a number of components for DATA, and show what each rule recommends and why.

    \b
    Examples:
      eckart rank usarrests.csv --scale
      eckart rank counts.mtx --method svd --rules quick --json
    """
    from eckart.cli.tables import gaps, notes_on_pairs, read
    from eckart.errors import MissingValuesError
    from eckart.rank.choose import choose_rank

    with console.status(f"Reading {data}"):
        source = read(data, reading, memory=memory)
    named = rules if rules in ("all", "quick") else [name.strip() for name in rules.split(",") if name.strip()]
    rows, columns = source.shape
    with console.warnings() as warned, console.status(f"Applying the rules to {rows:,} rows x {columns:,} columns"):
        try:
            choice = choose_rank(
                source, named, method=asked.method, scale=asked.scale, explain=asked.explain, noise=asked.noise,
                most=asked.most, missing=asked.missing, rng=asked.seed, memory=memory,
            )  # fmt: skip
        except MissingValuesError as error:
            raise gaps(source, error) from error
    notes = [*source.metadata.notes, *choice.notes, *notes_on_pairs(source, asked.method)]
    if console.json:
        console.document(data=source.metadata.name, **{**choice.to_dict(), "notes": notes}, warnings=warned)
        return
    console.say_all(notes)
    click.echo(text(choice, console.width))


def text(choice: RankChoice, width: int) -> str:
    """One paragraph for each rule: its name, k, the reason and what it assumes; the agreement at the end."""
    column = max(len(verdict.title) for verdict in choice.verdicts)
    lines = [f"{'rule':<{column}}    k  why"]
    for verdict in choice.verdicts:
        head = f"{verdict.title:<{column}} {'-' if verdict.k is None else verdict.k:>4}  "
        body = one_line(f"{verdict.reason} Assumes {verdict.assumes}")
        lines.append(textwrap.fill(body, width, initial_indent=head, subsequent_indent=" " * len(head)))
    return "\n".join([*lines, "", textwrap.fill(choice.summary, width)])
