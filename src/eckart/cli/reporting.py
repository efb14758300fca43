"""eckart report: a summary in the terminal and a page with figures; or the same as Markdown or JSON."""

from __future__ import annotations

import os
import sys
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from eckart.aliases import Keywords
from eckart.cli.console import Console
from eckart.cli.execution import ExecutionOptions, execution
from eckart.cli.fitting import Job, decomposing, prepared
from eckart.cli.folder_report import tables_in, write_index
from eckart.cli.options import FitOptions, Output, ReadingOptions, output, reading, wanted, with_console
from eckart.cli.tuning import TAKEN, Tuning, tuning
from eckart.errors import FileError, ParameterError
from eckart.notes import code_of
from eckart.registry import SHARED_OPTIONS, Method, all_methods

if TYPE_CHECKING:
    from eckart.analysis.analysis import Analysis


def _may_exist(data: str) -> bool:
    """Whether DATA may be readable; otherwise the reader reports what is missing."""
    return data == "-" or not set("*?[:").isdisjoint(data) or os.path.lexists(data)


@click.command(short_help="Summarise a table in the terminal and in a report with figures.")
@click.argument("data")
@wanted
@output(
    "Report file. Markdown if the name ends in .md, otherwise HTML. '-' prints the report.",
    default="report.html",
    show_default=True,
)
@click.option("--title", metavar="TEXT", help="Title of the report.")
@click.option(
    "--markdown", is_flag=True, help="Print the report as Markdown to standard output, instead of the summary."
)
@tuning
@execution
@reading
@with_console
def report(
    console: Console, data: str, wanted: FitOptions, reading: ReadingOptions, execution: ExecutionOptions,
    output: Output, title: str | None, markdown: bool, tuning: Tuning,
) -> None:  # fmt: skip
    """Summarise DATA: how many components to keep, and what they mean. Print a summary and write a report with figures.

    DATA is a file (CSV, TSV, Parquet, Arrow, NumPy, Matrix Market, HDF5, AnnData, Zarr, DuckDB or SQLite) or '-'. For a
    folder of tables, Eckart writes one report per table and an index page that lists them.

    \b
    Examples:
      eckart report usarrests.csv --scale
      eckart report ratings.csv --method svd -k 2 -o ratings.html
      eckart report tables/ -o pages/
    """
    from eckart.analysis.report.markdown import is_markdown
    from eckart.cli import outputs

    if markdown:
        _check_standard_output(console, output)
    job = Job(data, wanted, reading, execution, tuning)
    if files := tables_in(data):
        _folder(console, files, job, output)
        return
    is_markdown(output.path)  # refuses other formats before the analysis
    if _may_exist(data):
        outputs.check(output)
    found, warned = analysed(console, job)
    page = _written(console, found, output, title, command_line(job))
    if output.path == "-" and not console.json:
        sys.stdout.buffer.write(page.encode("utf-8"))
    if markdown:
        click.echo(_markdown(found, title or found.title), nl=False)
    else:
        _tell(console, found, warned, _next(found, job), output, page)
    if output.path != "-":
        console.say(f"Wrote the report to {output.path}.")


def _folder(console: Console, files: list[Path], job: Job, output: Output) -> None:
    """A page for each table, and an index page."""
    folder = Path("reports" if output.path == "report.html" else output.path)
    if folder.suffix.lower() in (".html", ".htm"):
        raise ParameterError(
            f"A folder of tables gets one report per table, so -o must name a folder, for example -o {folder.stem}."
        )

    def analyse(file: Path, page: Path) -> Analysis:
        own = replace(job, data=str(file))
        found, _ = analysed(console, own)
        found.report(page, overwrite=output.force, command=command_line(own))
        return found

    made, refused = write_index(files, folder, analyse, overwrite=output.force)
    if console.json:
        console.document(index=str(folder / "index.html"), pages=made, refused=refused)
        return
    if not made:
        raise FileError(
            f"None of the tables in the folder could be analysed. The reasons are listed in {folder / 'index.html'}."
        )
    listed = f"{made} report{'' if made == 1 else 's'}"
    listed += f" and {refused} table{'' if refused == 1 else 's'} that could not be analysed" if refused else ""
    console.say(f"{folder / 'index.html'} lists {listed}.")


def _check_standard_output(console: Console, output: Output) -> None:
    """Refuse other documents on standard output, where the Markdown goes."""
    if console.json:
        raise click.UsageError("--markdown and --json both write to standard output. Use only one of them.")
    if output.path == "-":
        raise click.UsageError(
            "--markdown already prints the report to standard output. Use either --markdown or -o FILE."
        )


def analysed(console: Console, job: Job) -> tuple[Analysis, list[str]]:
    """Read a table and analyse it; with the warnings."""
    from eckart.analysis.analyze import analyze

    task, wanted = prepared(console, job), job.wanted
    source = click.get_current_context().get_parameter_source("method")
    given = source not in (None, click.core.ParameterSource.DEFAULT) or wanted.method != "pca"
    with decomposing(console, task, wanted, job.execution) as (more, warned):
        found = analyze(task.source, wanted.method if given else None, rng=wanted.seed, **task.arguments, **more)
    d = found.decomposition
    options = {**job.reading.keywords(d.column_names or ()), **found.options}
    return replace(found, decomposition=replace(d, notes=(*d.notes, *task.notes)), options=options), warned


def _written(console: Console, found: Analysis, output: Output, title: str | None, command: str) -> str:
    from eckart.cli import outputs

    path = None if output.path == "-" else output.path
    with console.status("Writing the report"), outputs.writing():
        return found.report(path, title=title, overwrite=output.force, command=command)


def _tell(console: Console, found: Analysis, warned: list[str], steps: list[str], output: Output, page: str) -> None:
    """Print the summary on standard output, unless the page itself goes there."""
    from eckart.analysis.document import of_analysis

    to_file = output.path != "-"
    stream = sys.stdout if to_file else sys.stderr
    if console.json:
        where: Keywords = {"report": output.path} if to_file else {"report": None, "page": page}
        console.document(data=found.name, **of_analysis(found, "cli"), warnings=warned, **where)
    elif not to_file and console.quiet:
        return
    elif stream.isatty():
        from eckart.analysis.summary import renderable

        console.show(renderable(found, width=console.width, steps=steps, door="cli"), stream)
    else:
        from eckart.analysis.summary import summary_text

        click.echo(summary_text(found, width=console.width, steps=steps, door="cli"), file=stream, nl=False)


def _markdown(found: Analysis, title: str) -> str:
    """The report as Markdown, worded for the command line."""
    from eckart.analysis.report.contents import sections
    from eckart.analysis.report.markdown import markdown

    return markdown(found, title, sections(found, "cli"))


def command_line(job: Job) -> str:
    """The command that makes the same report."""
    wanted = job.wanted
    given = {"-k": wanted.k, "--explain": wanted.explain, "--error": wanted.error, "--seed": wanted.seed}
    numbers = "".join(f" {option} {value:g}" for option, value in given.items() if value is not None)
    return f"eckart report {_file(job)}{_typed(job)}{numbers}"


def _file(job: Job) -> str:
    """The table and its reading options, as typed."""
    return f"{_quoted(job.data)}{job.reading.typed()}"


def _typed(job: Job) -> str:
    """The options that also apply to other commands, as typed."""
    wanted = job.wanted
    method = wanted.method.replace("_", "-")
    asked = f" --method {method}" * (wanted.method != "pca") + " --scale" * wanted.scale
    asked += f" --which {wanted.which}" * (wanted.which != "largest")
    return asked + f" --missing {wanted.missing}" * (wanted.missing != "error") + job.tuning.typed()


def _next(found: Analysis, job: Job) -> list[str]:
    """Suggested next commands, ready to type, with the recommended number of components."""
    from eckart.components.pairs import OF_PAIRS

    d, file, asked = found.decomposition, _file(job), _typed(job)
    codes = {code_of(note) for note in d.notes}
    if not _can_continue(found, job) or "long_table" in codes:
        return []
    if "rating_lines" in codes:
        return [f"eckart recommend {file} --evaluate"]
    if codes & set(OF_PAIRS):
        return [] if d.method == "svd" else [f"eckart report {file} --method svd -o eigenvalues.html"]
    steps = [f"eckart report {file}{asked} --scale -o scaled.html"] if found.scale_matters else []
    if found.recommendation.k == 0 and not found.requested:
        return [*steps, *_rank_command(file, job)]
    return [*steps, *_model_commands(found, job)]


def _model_commands(found: Analysis, job: Job) -> list[str]:
    """Save a model, and compute the scores with it."""
    d, file = found.decomposition, _file(job)
    k = d.k if found.requested else found.recommendation.k or d.k
    weights = "" if job.tuning.weights is None else f" --drop {_quoted(job.tuning.weights)}"
    return [
        f"eckart fit {file}{_typed(job)} -k {k} -o model.eckart",
        f"eckart transform model.eckart {file}{weights} -o scores.csv",
    ]


def _rank_command(file: str, job: Job) -> list[str]:
    """`eckart rank` for the same decomposition; none with row weights, which it does not accept."""
    wanted, tuning = job.wanted, job.tuning
    asked = replace(job, wanted=replace(wanted, which="largest"), tuning=type(tuning)())
    return [] if tuning.weights else [f"eckart rank {file}{_typed(asked)}"]


def _can_continue(found: Analysis, job: Job) -> bool:
    """Whether the data can be read again, and the requested method found something in them."""
    d = found.decomposition
    return job.data != "-" and d.method == job.wanted.method and d.norm != 0


def _quoted(path: str) -> str:
    """A path quoted for the shell; control characters are escaped as in Bash."""
    import shlex

    if path.isprintable():
        return shlex.quote(path)
    return "$'" + path.encode("unicode_escape").decode("ascii").replace("'", "\\'") + "'"


def short_form(method: Method) -> click.Command:
    """`eckart METHOD DATA`: report --method METHOD, with the options that apply to it."""
    special = {field.name for field in fields(Tuning)} - set(TAKEN.get(method.name, ()))
    hidden = {"method"} | special | (set(SHARED_OPTIONS) - method.takes)
    defaults = {name: getattr(FitOptions, name, None) for name in hidden} | {"method": method.name}

    def call(**given: object) -> Any:
        assert report.callback is not None
        return report.callback(**defaults, **given)

    name = method.name.replace("_", "-")
    first, _, others = method.title.partition(" ")
    title = f"a {first if first.isupper() else first.lower()} {others}" if others else first
    short = f"Run {title} and write a report."
    params = [param for param in report.params if param.name not in hidden]
    text = f"{short} This is the same as 'eckart report --method {name}'."
    return click.Command(name, callback=call, params=params, help=text, short_help=short)


short_forms = {name.replace("_", "-"): short_form(method) for name, method in all_methods().items()}
"""Name of the command -> the command."""
