"""eckart select: the columns that matter for a target, by a filter, by elimination or by random search."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from eckart.aliases import Keywords
from eckart.cli import numbers
from eckart.cli.app import Refused
from eckart.cli.console import Console
from eckart.cli.options import Output, ReadingOptions, count_option, output, reading, with_console
from eckart.formatting import counted

if TYPE_CHECKING:
    import numpy as np

    from eckart.cli.tables import Source
    from eckart.selection.base import Selector
    from eckart.text import Table

_MOST_LINES = 60
_HOW = (
    "Selection method: rank single columns (correlation), remove columns step by step (backward), or "
    "try random subsets (random)."
)
_FILE = "Write the selected columns to this file (.csv, .tsv, .npy or .parquet). '-' prints CSV to standard output."
_COUNT = "Number of columns to keep.  [default: half of the columns; for backward and random, the best number found]"
_KIND = "Treat the target as class labels or as numbers.  [default: detected]"
_NESTED = "backward, random: also estimate the score on new rows by nested cross-validation."
_JUDGE = "backward, random: model that scores the subsets (a linear model or a random forest)."


def _size(given: object) -> int:
    try:
        return numbers.components(given)
    except click.BadParameter:
        raise click.BadParameter(f"{given!r} is not a number of columns. Use a positive whole number.") from None


@click.command(short_help="Select the columns that best predict a target.")
@click.argument("data")
@click.option(
    "--target", metavar="COLUMN", required=True, help="Column to predict. It contains numbers or class labels."
)
@click.option("--how", type=click.Choice(["correlation", "backward", "random"]), default="correlation",
              show_default=True, help=_HOW)  # fmt: skip
@click.option("-n", "--keep", "count", type=_size, metavar="N", help=_COUNT)
@click.option(
    "--threshold", type=float, metavar="SCORE", help="correlation: keep all columns whose score is at least this high."
)
@click.option("--score", type=click.Choice(["pearson", "spearman", "mutual_info"]), default="pearson",
              show_default=True, help=("correlation: score columns by Pearson or Spearman correlation, or by mutual "
              "information."))  # fmt: skip
@click.option("--judge", type=click.Choice(["linear", "forest"]), default="linear", show_default=True, help=_JUDGE)
@click.option("--classes/--numbers", default=None, help=_KIND)
@click.option("--scoring", metavar="NAME", help=("backward, random: scikit-learn scorer for the predictions, such "
"as roc_auc.  [default: accuracy for "
"classes, r2 for numbers]"))  # fmt: skip
@count_option("--folds", 2, 5, "Number of cross-validation folds.")
@click.option("--nested/--no-nested", default=True, show_default=True, help=_NESTED)
@click.option("--step", metavar="N", default="1", show_default=True,
              help="backward: number of columns to remove per step, or a share such as 10%.")  # fmt: skip
@count_option("--patience", 1, 10, "backward: stop after this many steps without a better score.")
@count_option("--tries", 1, 100, "random: number of subsets to try.")
@click.option("--missing", type=click.Choice(["error", "mean", "em"]), default="error", show_default=True,
              help=("What to do with missing values: report an error, impute the column mean, or impute "
              "from the other values of the row (em)."))  # fmt: skip
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    default=0,
    metavar="N",
    help="random: seed for drawing subsets. The same seed gives the same result.",
)
@click.option("--jobs", type=int, metavar="N", help="Number of parallel processes; -1 uses all cores.")
@output(_FILE)
@reading
@with_console
def select(console: Console, data: str, target: str, output: Output, reading: ReadingOptions, **asked: Any) -> None:
    """Select the columns of DATA that best predict the target, and list the scores of all candidates.

    \b
    Examples:
      eckart select usarrests.csv --target Murder
      eckart select usarrests.csv --target Murder --how backward -o chosen.csv
    """
    import numpy as np

    from eckart.cli import outputs

    _check(asked)
    asked["progress"] = _teller(console)
    if output.path is not None:
        outputs.check(output, tuple(outputs.KINDS))
    with console.status(f"Reading {data}"):
        source, goal, classes, ambiguous = _split(data, target, reading, classes=asked["classes"])
    with console.warnings() as warned, console.status("Selecting columns"):
        selector = _fitted(source, goal, classes=classes, asked=asked)
    names = _names(source)
    chosen = [names[j] for j in np.flatnonzero(selector.support_)]
    asked |= {"classes": classes, "ambiguous": ambiguous}
    _told(console, source, target, asked, selector, chosen, warned, quietly=output.path == "-")
    if output.path is not None:
        kept = source.matrix[:, np.flatnonzero(selector.support_)]
        kept = kept.toarray() if source.sparse else kept
        outputs.write(outputs.Sheet(np.asarray(kept), tuple(chosen), source.metadata.row_names), output)
        console.say(
            f"Wrote {counted(len(chosen), 'selected column')} to {output.path}." if output.path != "-" else "Done."
        )


def _check(asked: Keywords) -> None:
    if asked["threshold"] is not None and asked["count"] is not None:
        raise click.UsageError("--keep and --threshold each determine the number of columns. Use only one of them.")
    if asked["scoring"] is not None:
        from eckart.options import near_match
        from eckart.selection.judges import scorer_names

        if asked["scoring"] not in scorer_names():
            hint = near_match(asked["scoring"], scorer_names())
            raise click.UsageError(f"--scoring: scikit-learn has no scorer {asked['scoring']!r}{hint}")
    if asked["threshold"] is not None and asked["how"] != "correlation":
        raise click.UsageError(
            "--threshold applies only to --how correlation, because the other methods score subsets "
            "of columns. Use --keep instead."
        )


def _teller(console: Console) -> Any:
    """Report each step, on a terminal only."""
    if not sys.stderr.isatty():
        return None
    return lambda row: console.say(f"{counted(row['n_columns'], 'column')}: score {row['score']:.4f}")


def _are_whole(numbers: np.ndarray) -> bool:
    """Whether all numbers are integers that float64 represents exactly."""
    import numpy as np

    return numbers.dtype.kind == "f" and bool(np.all((numbers == np.round(numbers)) & (np.abs(numbers) < 2**53)))


def _split(
    data: str, target: str, reading: ReadingOptions, *, classes: bool | None
) -> tuple[Source, np.ndarray, bool, bool]:
    """The candidate columns, the target, whether it is a class, and whether that was inferred from numbers."""
    import numpy as np

    from eckart.cli import tables
    from eckart.io.identifiers import without_identifiers
    from eckart.selection.correlation_filter import names_classes

    whole = tables.read(data, replace(reading, columns=(), drop=()), measurements=False)
    names = tables.column_names(whole)
    goal = _target(whole, target, names)
    classes = True if target in whole.metadata.labels else classes
    indices = [j for j in tables._chosen(whole, reading) if names[j] != target]
    if not indices:
        raise Refused("The target is the only column, so there is no column left to select.")
    whole_numbers = _are_whole(goal)
    ambiguous = classes is None and whole_numbers
    if classes is None:
        # Numbers read from a file are floats, so whole ones are treated as integers.
        classes = whole_numbers and names_classes(goal.astype(np.int64))
    candidates = tables.keep(whole, indices)
    if not reading.columns:
        candidates = without_identifiers(candidates, years=False)
    return candidates, goal.astype(str) if classes else goal, classes, ambiguous


def _target(whole: Source, target: str, names: tuple[str, ...]) -> np.ndarray:
    """The column to predict, without missing values: text or numbers."""
    import numpy as np

    from eckart.io.roles import quoted

    if target in whole.metadata.labels:
        words = np.array(whole.metadata.labels[target], dtype=object)
        if any(value == "" for value in words):
            raise Refused(f"The target {quoted(target)} is missing in some rows. Remove these rows first.")
        return words
    if target not in names:
        raise Refused(_no_target(whole, target, names))
    column = whole.matrix[:, [names.index(target)]]
    goal = np.asarray(column.toarray() if whole.sparse else column).ravel()
    if not np.isfinite(goal).all():
        raise Refused(
            f"The target {quoted(target)} is missing in {counted(int(np.sum(~np.isfinite(goal))), 'row')}. Remove "
            "these rows first."
        )
    return goal


def _no_target(whole: Source, target: str, names: tuple[str, ...]) -> str:
    from eckart.io.roles import listed, quoted
    from eckart.options import near_match

    if whole.metadata.column_roles.get(target) == "used as row names":
        return (
            f"--target: the column {quoted(target)} contains the row names. To use it as the target, "
            "add --no-row-names."
        )
    near = near_match(target, [*names, *whole.metadata.labels])
    hint = near if near != "." else f". Its columns are {listed([*names, *whole.metadata.labels])}."
    return f"--target: {whole.metadata.name} has no column {quoted(target)}{hint}"


def _names(source: Source) -> tuple[str, ...]:
    from eckart.cli.tables import column_names

    return column_names(source)


def _fitted(source: Source, goal: np.ndarray, *, classes: bool, asked: Keywords) -> Any:
    """The fitted selector; errors of scikit-learn become messages."""
    import numpy as np

    from eckart.cli.tables import gaps
    from eckart.errors import EckartError, MissingValuesError
    from eckart.missing.fill import fill_missing

    matrix = source.matrix
    values = matrix.data if source.sparse else np.asarray(matrix)
    if np.isnan(values).any():
        if asked["missing"] == "error" or source.sparse:
            raise gaps(source, MissingValuesError("Values are missing."), ways=() if source.sparse else ("em", "mean"))
        matrix = fill_missing(matrix, asked["missing"]).table
    selector = _selector(classes=classes, sparse=source.sparse, asked=asked)
    try:
        return selector.fit(matrix, goal)
    except ValueError as error:
        said = error.worded("cli") if isinstance(error, EckartError) else str(error)
        if getattr(selector, "nested", False) and hasattr(selector, "best_score_"):
            raise Refused(
                f"{source.metadata.name}: the score on new rows (nested cross-validation) could not "
                f"be computed. {said} To skip it, add --no-nested."
            ) from error
        raise Refused(f"{source.metadata.name}: {said}") from error


def _selector(*, classes: bool, sparse: bool, asked: Keywords) -> Any:
    from eckart.selection import BackwardElimination, CorrelationFilter, RandomSubsetSearch
    from eckart.selection.judges import judge

    if asked["how"] == "correlation":
        return CorrelationFilter(
            asked["score"], threshold=asked["threshold"], n_features=asked["count"],
            target="classes" if classes else "numbers",
        )  # fmt: skip
    model = judge(asked["judge"], classes=classes, sparse=sparse)
    common = {"scoring": asked["scoring"], "cv": asked["folds"], "n_jobs": asked["jobs"], "progress": asked["progress"],
              "nested": asked["nested"]}  # fmt: skip
    if asked["how"] == "random":
        size = None if asked["count"] is None else (asked["count"], asked["count"])
        return RandomSubsetSearch(
            model, n_iter=asked["tries"], subset_size=size, random_state=asked["seed"], **common
        )  # fmt: skip
    return BackwardElimination(
        model, n_features_to_select=asked["count"], step=_step(asked["step"]), patience=asked["patience"], **common
    )


def _step(given: str) -> int | float:
    try:
        return numbers.components(given)
    except click.BadParameter:
        return numbers.share(given)


def _told(
    console: Console, source: Source, target: str, asked: Keywords, selector: Selector, chosen: list[str],
    warned: list[str], *, quietly: bool,
) -> None:  # fmt: skip
    """The search as a table and the selection as a sentence."""
    from eckart.analysis.document import plain

    if console.json:
        console.document(
            data=source.metadata.name, target=target, kind="classes" if asked["classes"] else "numbers",
            how=asked["how"], chosen=chosen, best_score=getattr(selector, "best_score_", None),
            nested_score=getattr(selector, "nested_score_", None),
            history=plain(_named(selector.history_, _names(source))),
            notes=list(source.metadata.notes), warnings=warned,
        )  # fmt: skip
        return
    console.say_all(source.metadata.notes)
    if asked["ambiguous"]:
        console.say(_kind(target, classes=asked["classes"]))
    table = _table(source, asked["how"], selector)
    word = (
        f"Kept {len(chosen)} of {source.shape[1]} columns to predict {target!r}: "
        f"{', '.join(chosen)}.{_scores(selector)}"
    )
    if quietly:
        console.say(word)
        return
    click.echo(_text(table, console.width))
    click.echo(word)


def _text(table: Table, width: int) -> str:
    """The table with the names last, wrapped if they are long, never cut."""
    from eckart.formatting import clean

    names = [clean(str(row[0])) for row in table.rows]
    body = [[*row[1:], name] for row, name in zip(table.cells(_MOST_LINES), names, strict=False)]
    head = [*table.columns[1:], table.columns[0]]
    widths = [max(len(row[i]) for row in [head, *body]) for i in range(len(head) - 1)]
    rule = ["-" * n for n in [*widths, len(head[-1])]]
    lines = [line for row in (head, rule, *body) for line in _wrapped(row, widths, width)]
    left = len(table.rows) - len(body)
    lines += [f"Not shown: {counted(left, 'more row')}."] if left > 0 else []
    return "\n".join(line.rstrip() for line in lines) + "\n"


def _wrapped(row: list[str], widths: list[int], width: int) -> list[str]:
    import textwrap

    start = "  ".join(cell.rjust(n) for cell, n in zip(row, widths, strict=False)) + "  "
    room = max(width - len(start), 20)
    wrapped = textwrap.wrap(row[-1], room, break_long_words=False, break_on_hyphens=False) or [""]
    return [start + wrapped[0], *(" " * len(start) + more for more in wrapped[1:])]


def _kind(target: str, *, classes: bool) -> str:
    if classes:
        return (
            f"The target {target!r} contains whole numbers, which are treated as class labels. If they are "
            "measurements, add --numbers."
        )
    return (
        f"The target {target!r} contains whole numbers, which are treated as measurements. If they are "
        "class labels, add --classes."
    )


def _scores(selector: Selector) -> str:
    """The score of the selected columns, and the unbiased one."""
    from eckart.selection.base import Search

    if not isinstance(selector, Search):
        return ""
    best = f" On the folds that were used to select the columns, the score is {selector.best_score_:.4f}"
    if selector.nested_score_ is None:
        return f"{best}, which is too optimistic. To estimate the score on new rows, add --nested."
    # R2 of all held-out rows can be higher, because its mean over small folds is too low.
    excess = ", which is too optimistic" if selector.nested_score_ < selector.best_score_ else " on average"
    return f"{best}{excess}. On held-out rows, the score is {selector.nested_score_:.4f}."


def _named(history: dict[str, np.ndarray], names: tuple[str, ...]) -> Keywords:
    """The history with column names instead of indices."""
    known = {"column", "columns", "dropped"} & set(history)
    inside = {key: [_name_or_names(cell, names) for cell in history[key]] for key in known}
    return {key: inside.get(key, values) for key, values in history.items() if key != "name"}


def _name_or_names(cell: Any, names: tuple[str, ...]) -> Any:
    return [names[j] for j in cell] if isinstance(cell, tuple) else names[int(cell)]


def _scored(names: tuple[str, ...], history: dict[str, np.ndarray]) -> Table:
    """The columns with their scores, best first."""
    from eckart.text import Table

    scored = [
        (names[j], float(score), "kept" if kept else "")
        for j, score, kept in zip(history["column"], history["score"], history["kept"], strict=True)
    ]
    return Table("", ("column", "score", "choice"), tuple(scored), kinds=("text", "number", "text"))


def _table(source: Source, how: str, selector: Selector) -> Table:
    from eckart.text import Table

    names, history = _names(source), selector.history_
    if how == "correlation":
        return _scored(names, history)
    key, titles = ("dropped", ("removed", "columns left")) if how == "backward" else ("columns", ("subset", "columns"))
    words = [", ".join(names[j] for j in columns) or "-" for columns in history[key]]
    figures = zip(history["n_columns"], history["score"], history["spread"], strict=True)
    rows = [(word, int(n), float(s), float(d)) for word, (n, s, d) in zip(words, figures, strict=True)]
    if how == "random":
        rows = [rows[i] for i in history["rank"].argsort()]
    return Table("", (*titles, "score", "spread"), tuple(rows), kinds=("text", "count", "number", "number"))
