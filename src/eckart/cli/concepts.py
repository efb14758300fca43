"""eckart query, recommend, similar: query the concepts of a saved model by name."""

from __future__ import annotations

import csv
import sys
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from eckart.cli import numbers
from eckart.cli.console import Console
from eckart.cli.options import Command, ReadingOptions, gathered, reading, results_option, with_console
from eckart.formatting import counted, percent

if TYPE_CHECKING:
    from eckart.concept_space import Concepts, Explanation, Query, Ranking, Rankings

_COUNT = results_option("Number of results to show.")


@dataclass(frozen=True)
class Asked:
    """The row in question: a row of DATA or of the model, single entries, or a text."""

    entries: tuple[str, ...] = ()
    row: str | None = None
    text: str | None = None
    data: str | None = None
    ignore_unknown: bool = False

    @property
    def given(self) -> int:
        return bool(self.entries) + (self.row is not None) + (self.text is not None)

    def __post_init__(self) -> None:
        if self.given > 1:
            raise click.UsageError("ENTRIES, --row and --text each describe a whole row. Use only one of them.")


def asked(f: Command) -> Command:
    """The options of commands about a single row."""
    option = click.option
    data = "Table that contains the rows. It must have the same columns as the model."
    return gathered("asked", Asked, [
        click.argument("entries", nargs=-1),
        option("--row", metavar="NAME", help="Name of the row in --data, or in a model fitted with --keep-rows."),
        option("--text", metavar="TEXT", help="Text that describes the row. Each word adds 1 to the column with "
        "that name."),
        option("--data", metavar="DATA", help=data),
        option("--ignore-unknown", is_flag=True, help="Ignore entries whose column is not in the model, instead of "
        "reporting an error."),
    ])(f)  # fmt: skip


@click.command(short_help="Show the coordinates of a row in concept space.")
@click.argument("model")
@asked
@reading
@with_console
def query(console: Console, model: str, asked: Asked, reading: ReadingOptions) -> None:
    """Show the coordinates of a row in the concept space of MODEL.

    Describe the row with ENTRIES of the form column=value, with --row or with --text. Entries that you leave out count
    as 0, or as the column mean if MODEL was fitted to centred data.

    \b
    Examples:
      eckart query films.eckart "Star Harbour=4"
      eckart query films.eckart --row Ada --data ratings.csv
    """
    from eckart.analysis.labels import component_labels

    space, found = _ask(console, model, asked, reading)
    labels = component_labels(space.d)
    top_columns = [space.top_columns(i, 3).names if space.geometry.linear else () for i in range(space.d.k)]
    if console.json:
        made_of = [{"name": label, "made_of": list(names)} for label, names in zip(labels, top_columns, strict=True)]
        console.document(query=found.to_dict(), concepts=made_of)
        return
    from eckart.text import Table

    shown = zip(labels, found.coordinates, top_columns, strict=True)
    lines = tuple((label, float(c), ", ".join(names)) for label, c, names in shown)
    unseen = (
        ""
        if found.to_dict()["unseen"] is None
        else (
            f"{percent(found.unseen)} of the row lies outside the concept space, so the coordinates do "
            "not describe this part."
        )
    )
    table = Table(f"Coordinates of {found.name}", ("concept", "coordinate", "top columns"), lines, unseen,
                  ("text", "number", "text"))  # fmt: skip
    console.say_all(found.notes)
    click.echo(table.text(width=console.width), nl=False)


@click.command(short_help="Recommend the columns with the highest predicted values for a row.")
@click.argument("model")
@asked
@_COUNT
@click.option("--include-known", is_flag=True, help="Also recommend columns in which the row already has an entry.")
@click.option("--why", metavar="COLUMN", help="Explain the predicted value of COLUMN, instead of recommending columns.")
@click.option(
    "--all", "everyone", is_flag=True, help="Write recommendations for every row of --data as CSV to standard output."
)
@click.option("--evaluate", "held_out", type=numbers.share, is_flag=False, flag_value="20%", metavar="[SHARE]",
              help=("For a table of ratings: hold out this share of the ratings and report the prediction "
              "error.  [default SHARE: 20%]"))  # fmt: skip
@click.option(
    "-k", "k", type=numbers.components, metavar="N", help="For a table of ratings: number of concepts.  [default: 5]"
)
@reading
@with_console
def recommend(
    console: Console, model: str, asked: Asked, reading: ReadingOptions, n: int, include_known: bool, why: str | None,
    everyone: bool, held_out: float | None, k: int | None,
) -> None:  # fmt: skip
    """Recommend the columns with the highest predicted values for a row.

    Describe the row with ENTRIES of the form column=value, with --row or with --text.

    MODEL is a model file or a table of ratings. In a table of ratings, empty cells are unknown ratings. A table with
    one rating per line (row, column, rating) also works. Eckart fits its model only to the known ratings. For a row
    without ratings, it predicts the column means.

    \b
    Examples:
      eckart example films > films.csv
      eckart recommend films.csv --row Ada -n 3
      eckart recommend films.csv --evaluate
      eckart recommend films.eckart "Star Harbour=4" -n 2
      eckart recommend films.eckart --row Ada --data ratings.csv
      eckart recommend films.eckart "Star Harbour=4" --why "Robot Winter"
      eckart recommend films.eckart --all --data ratings.csv > suggestions.csv
    """
    if held_out is not None or _is_table(model):
        _refuse_model_options(asked, why=why, everyone=everyone, include_known=include_known)
        _ratings(console, model, asked, reading, n, held_out, k)
        return
    if k is not None:
        raise click.UsageError(
            "-k applies only if MODEL is a table of ratings. A model file already has a fixed number of "
            "concepts, so leave out -k."
        )
    if everyone:
        if asked.given or asked.data is None or why is not None:
            raise click.UsageError(
                "--all recommends for every row of --data DATA. Add --data DATA, and leave out --row, "
                "--text, ENTRIES and --why."
            )
        space = _space(console, model, asked, reading)
        _deliver_all(console, space, space.recommend_many(n=n, exclude_known=not include_known))
        return
    space, found = _ask(console, model, asked, reading)
    if why is not None:
        _deliver_why(console, space, space.explain(found, why))
        return
    _deliver(console, space.recommend(found, n, exclude_known=not include_known), "column")


@click.command(short_help="Find similar rows or columns.")
@click.argument("model")
@asked
@click.option("--column", metavar="NAME", help="Find columns similar to this column, instead of similar rows.")
@_COUNT
@click.option(
    "--by",
    type=click.Choice(["cosine", "dot"]),
    default="cosine",
    show_default=True,
    help="Similarity measure: cosine of the angle, or dot product.",
)
@click.option(
    "--proof",
    is_flag=True,
    help="Also prove how much of the ranking would stay the same if full rows were compared.",
)
@reading
@with_console
def similar(
    console: Console,
    model: str,
    asked: Asked,
    reading: ReadingOptions,
    column: str | None,
    n: int,
    by: Any,
    proof: bool,
) -> None:
    """Find the rows or columns that are most similar in the concept space of MODEL.

    To find similar rows, describe a row with ENTRIES of the form column=value, with --row or with --text. To find
    similar columns, use --column.

    \b
    Examples:
      eckart similar films.eckart --column "Robot Winter"
      eckart similar films.eckart --row Ada --data ratings.csv --proof
      eckart similar films.eckart "Star Harbour=4" --data ratings.csv
    """
    if column is not None:
        if asked.given:
            raise click.UsageError(
                "--column asks for similar columns, and a row asks for similar rows. Use only one of them."
            )
        _deliver(
            console, _space(console, model, asked, reading).similar_columns(column, n, by=by, proof=proof), "column"
        )
        return
    space, found = _ask(console, model, asked, reading)
    _deliver(console, space.similar_rows(found, n, by=by, proof=proof), "row")


# Steps


def _is_table(path: str) -> bool:
    """Whether a path is a file that is not a model, whatever its name."""
    from eckart.io.model_file import is_model_file

    return Path(path).is_file() and Path(path).suffix != ".eckart" and not is_model_file(path)


def _refuse_model_options(asked: Asked, *, why: str | None, everyone: bool, include_known: bool) -> None:
    """Refuse the options that a table of ratings would ignore."""
    given = {
        "ENTRIES": asked.entries, "--text": asked.text is not None, "--data": asked.data is not None,
        "--ignore-unknown": asked.ignore_unknown, "--why": why is not None, "--all": everyone,
        "--include-known": include_known,
    }  # fmt: skip
    ignored = next((name for name, value in given.items() if value), None)
    if ignored is not None:
        raise click.UsageError(
            f"{ignored} works only with a model file, but MODEL is a table of ratings. Use --row NAME, or fit a model "
            "of a complete table with 'eckart fit --method svd' first."
        )


def _ratings(
    console: Console, data: str, asked: Asked, reading: ReadingOptions, n: int, held_out: float | None, k: int | None
) -> None:
    """Recommendations, or their errors on held-out entries, from a table of ratings."""
    from eckart.cli.tables import read
    from eckart.concept_space.ratings import Ratings

    with console.status(f"Reading {data}"):
        source = read(data, reading)
    model = Ratings(5 if k is None else k)
    if held_out is not None:
        with console.status("Predicting held-out ratings"):
            score = model.evaluate(source, held_out)
        if console.json:
            console.document(**asdict(score))
        else:
            click.echo(str(score))
        return
    if asked.row is None:
        raise click.UsageError("No row was specified. Use --row NAME, or --evaluate to measure the prediction error.")
    with console.status("Fitting the known ratings"):
        model.fit(source)
    _deliver(console, model.recommend(asked.row, n), "column")


def _space(console: Console, model: str, asked: Asked, reading: ReadingOptions) -> Concepts:
    from eckart.cli.tables import gaps, matched, read
    from eckart.concept_space import concepts
    from eckart.errors import MissingValuesError
    from eckart.io.model_file import load

    d = load(model)
    if asked.data is None:
        return concepts(d)
    with console.status(f"Reading {asked.data}"):
        source, notes = matched(read(asked.data, reading), d.column_names, "the model")
    console.say_all(notes)
    with console.warnings(), console.status(f"Projecting {counted(source.shape[0], 'row')}"):
        try:
            return concepts(d, rows=source)
        except MissingValuesError as error:
            raise gaps(source, error) from error


def _ask(console: Console, model: str, asked: Asked, reading: ReadingOptions) -> tuple[Concepts, Query]:
    if not asked.given:
        raise click.UsageError(
            'No row was specified. Give entries such as "Star Harbour=4", or use --row NAME or --text TEXT.'
        )
    space = _space(console, model, asked, reading)
    if asked.row is not None:
        return space, space.row(asked.row)
    unknown: Literal["ignore"] | None = "ignore" if asked.ignore_unknown else None
    return space, space.query(asked.text if asked.text is not None else _entries(asked.entries), unknown=unknown)


def _entries(given: tuple[str, ...]) -> dict[str, float]:
    """'Star Harbour=4' -> {'Star Harbour': 4.0}. The last = counts, because a name may contain one."""
    found: dict[str, float] = {}
    for text in given:
        name, sign, value = text.rpartition("=")
        try:
            found[name.strip()] = float(value.strip().replace(",", ".")) if sign else float("nan")
        except ValueError:
            sign = ""
        if not sign:
            raise click.UsageError(
                f'{text!r} is not of the form column=value. Write an entry such as "Star Harbour=4", or name a row '
                "with --row."
            )
    return found


def _deliver(console: Console, ranking: Ranking, what: str) -> None:
    from eckart.text import Table

    if console.json:
        console.document(**ranking.to_dict())
        return
    console.say_all(ranking.notes or ("There are no results.",) if not len(ranking) else ranking.notes)
    if not len(ranking):
        return
    columns: tuple[str, ...] = (what, "score")
    cells: list[tuple[Any, ...]] = [(hit.name, hit.score) for hit in ranking]
    if ranking.lower is not None and ranking.upper is not None:
        columns = (*columns, "lower bound", "upper bound")
        bounds = zip(ranking.lower.tolist(), ranking.upper.tolist(), strict=True)
        cells = [(*cell, *pair) for cell, pair in zip(cells, bounds, strict=True)]
    caption = "" if ranking.proved is None else f"{ranking.summary[0].upper()}{ranking.summary[1:]}."
    click.echo(
        Table(ranking.title, columns, tuple(cells), caption).text(width=console.width, limit=len(cells)), nl=False
    )


def _deliver_why(console: Console, space: Concepts, made: Explanation) -> None:
    from eckart.analysis.labels import component_labels
    from eckart.text import Table

    labels = component_labels(space.d)
    made = replace(made, concepts=tuple(part._replace(name=labels[part.place]) for part in made.concepts))
    if console.json:
        console.document(**made.to_dict())
        return
    console.say_all(made.notes)
    lines: list[tuple[Any, ...]] = [("mean of the column", None, made.mean)] if made.mean else []
    concepts = [part[:3] for part in made.concepts]
    entries = [part[:3] for part in made.entries]
    others = [("columns without entries", None, made.others)] if made.others else []
    for title, parts in (("concept", concepts), ("entry", [*entries, *others])):
        if parts:
            whole = (*lines, *parts, ("total", None, made.score))
            table = Table(
                f"Predicted {made.column} for {made.row}: contribution of each {title}",
                (title, "value", "contribution"),
                whole,
            )
            click.echo(table.text(width=console.width))


def _deliver_all(console: Console, space: Concepts, rankings: Rankings) -> None:
    if len(rankings.cold):
        console.say(f"Note: {counted(len(rankings.cold), 'row')} without known entries received no recommendations.")
    assert space.rows is not None
    name = space.rows.names.label
    if console.json:
        hits: Any = rankings.to_dict()["rows"]
        console.document(rows=[{"name": name(i), "hits": found} for i, found in enumerate(hits)])
        return
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(("row", "column", "score"))
    for i, ranking in enumerate(rankings):
        writer.writerows((name(i), hit.name, hit.score) for hit in ranking)
