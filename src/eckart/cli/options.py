"""Options that several commands share, gathered into one value each."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import click

from eckart.aliases import Keywords
from eckart.cli import numbers
from eckart.io.file_options import FileOptions
from eckart.registry import SHARED_OPTIONS, all_methods, get_method

if TYPE_CHECKING:
    from eckart.io.read_options import ReadOptions

Command = Callable[..., Any]
Decorator = Callable[[Command], Command]


@dataclass(frozen=True)
class ReadingOptions(FileOptions):
    """How to read a table, and which of its columns."""

    no_header: bool = False
    row_names: str | None = None
    no_row_names: bool = False
    columns: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    mask: str | None = None

    def __post_init__(self) -> None:
        if self.row_names is not None and self.no_row_names:
            raise click.UsageError("--row-names and --no-row-names contradict each other. Use only one of them.")
        if self.header is not None and self.no_header:
            raise click.UsageError("--header and --no-header contradict each other. Use only one of them.")

    @property
    def options(self) -> ReadOptions:
        """The options of the library; columns are selected afterwards."""
        from eckart.io.read_options import ReadOptions

        names = None if self.no_row_names else self.row_names or "auto"
        ignored, used = _words((*self.drop, *self.labels)), _words(self.columns)
        shared = self._shared()
        return ReadOptions(**shared, row_names=names, ignored=ignored, used=used, mask=self.mask)

    def _shared(self) -> Keywords:
        """The options of files, as the library takes them."""
        found = {field.name: getattr(self, field.name) for field in fields(FileOptions)}
        codes = [word.strip() for text in self.missing_values for word in str(text).split(",")]
        return {**found, "header": False if self.no_header else self.header, "missing_values": codes}

    def typed(self) -> str:
        """The options as typed, for a command that reads the same table."""
        import shlex

        words = []
        for field in fields(self):
            name, value = field.name.replace("_", "-"), getattr(self, field.name)
            if isinstance(value, bool):
                words += [f" --{name}"] * value
            else:
                given = value if isinstance(value, tuple) else () if value is None else (value,)
                words += [f" --{name} {shlex.quote(str(text))}" for text in given]
        return "".join(words)

    def keywords(self, columns: Sequence[str]) -> Keywords:
        """The same as Python keyword arguments, for a table whose numeric columns are `columns`."""
        given = {**self._shared(), "row_names": self.row_names, "mask": self.mask}
        found: Keywords = {name: value for name, value in given.items() if value is not None and value != []}
        if self.no_row_names:
            found["row_names"] = None
        if self.columns or self.drop or self.labels:
            found["columns"] = list(columns)
        return found


def _words(given: tuple[str, ...]) -> tuple[str, ...]:
    """The names in options: each text as it is, and its parts between commas."""
    return (*given, *(word.strip() for text in given for word in text.split(",")))


def count_option(name: str, least: int, default: int, help: str, most: int | None = None) -> Decorator:
    """An option that takes a whole number from `least` to `most`."""
    limits = click.IntRange(least, most)
    return click.option(name, type=limits, default=default, show_default=True, metavar="N", help=help)


def results_option(help: str) -> Decorator:
    """The option -n: how many results to list."""
    return click.option("-n", "n", type=numbers.count, metavar="N", default=10, show_default=True, help=help)


_MEMORY = "Memory limit, such as 2GB. Eckart reads tables larger than a quarter of the limit in blocks."
memory = click.option("--memory", type=numbers.memory, metavar="AMOUNT", help=_MEMORY)


def _typed(method: str) -> str:
    """A method name in command-line spelling."""
    return method.replace("_", "-")


class MethodChoice(click.Choice[str]):
    """A method, spelled with hyphens like other names on the command line; kernel_pca and PCA are accepted as well."""

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> str:
        return super().convert(str(value).replace("_", "-").lower(), param, ctx).replace("-", "_")


@dataclass(frozen=True)
class FitOptions:
    """What to compute."""

    method: str = "pca"
    k: int | None = None
    explain: float | None = None
    error: float | None = None
    scale: bool = False
    which: str = "largest"
    seed: int | None = None
    memory: int | None = None
    missing: str = "error"

    def __post_init__(self) -> None:
        self._check_number()
        method = get_method(self.method)
        for name in sorted(set(SHARED_OPTIONS) - method.takes):
            if getattr(self, name) != getattr(type(self), name):
                raise click.UsageError(f"--{name} does not apply to --method {_typed(self.method)}. Leave it out.")
        ways = ("error", *method.missing)
        if self.missing not in ways:
            use = " or ".join(f"--missing {way}" for way in ways[1:])
            applies = f"--missing {self.missing} does not apply to --method {_typed(self.method)}."
            raise click.UsageError(f"{applies} {f'{method.missing_reason}: use {use}' if use else 'Leave it out'}.")

    def _check_number(self) -> None:
        """Check that at most one option determines the number of components."""
        shares = [share for share in (self.explain, self.error) if share is not None]
        if len(shares) + (self.k is not None) > 1:
            raise click.UsageError(
                "-k, --explain and --error each determine the number of components. Use only one of them."
            )
        if self.which == "smallest" and shares:
            raise click.UsageError(
                "--explain and --error count the largest components first, so they do not apply to "
                "--which smallest. Use -k instead."
            )


@dataclass(frozen=True)
class Output:
    """Where a result goes."""

    path: str
    force: bool = False


def reading(f: Command) -> Command:
    """The options of all commands that read a table."""
    option = click.option
    kinds = (
        "File format: csv, tsv, parquet, arrow, npy, npz, mtx, h5, h5ad or zarr.  [default: detected "
        "from the file name]"
    )
    names = "Column that contains the row names.  [default: the first text column without duplicates]"
    return gathered("reading", ReadingOptions, [
        option("--format", metavar="NAME", help=kinds),
        option("--delimiter", metavar="CHAR", help="Delimiter of a text file, such as ';' or 'tab'.  "
        "[default: detected]"),
        option("--decimal", metavar="CHAR", help="Decimal separator of a text file, '.' or ','.  [default: detected]"),
        option("--header", type=click.IntRange(1), metavar="N", help="The line of a text file that contains the column "
        "names. Lines above it are skipped.  [default: detected]"),
        option("--no-header", is_flag=True, help="Read the first line of a text file as data."),
        option("--missing-values", metavar="A,B,...", multiple=True, help="Numbers and texts that stand for missing "
        "values, such as -999. Empty cells and NA always do."),
        option("--encoding", metavar="NAME", help="Encoding of a text file, such as utf-8 or cp1252.  "
        "[default: detected]"),
        option("--row-names", metavar="COLUMN", help=names),
        option("--no-row-names", is_flag=True, help="Do not use any column as row names."),
        option("--columns", metavar="A,B,...", multiple=True, help="Use only these columns."),
        option("--drop", metavar="A,B,...", multiple=True, help="Ignore these columns."),
        option("--labels", metavar="A,B,...", multiple=True, help="Use these columns as row labels in tables and "
        "plots, not as data."),
        option("--key", metavar="NAME", help=("Name of the array in an .npz, HDF5 or Zarr file. For a database, the "
        "name of a table or an "
        "SQL query.")),
        option("--layer", metavar="NAME", help="AnnData files: read this layer instead of the matrix X."),
        option("--mask", metavar="COLUMN", help="AnnData files: use only the genes for which this column of var is "
        "true, such as highly_variable."),
    ])(f)  # fmt: skip


def wanted(f: Command) -> Command:
    """The options of all commands that decompose."""
    option, choice = click.option, click.Choice
    method = "Decomposition method. pca subtracts the column means; svd does not."
    error = "Keep the fewest components that give a relative error (Frobenius norm) of at most SHARE, such as 0.1."
    methods = MethodChoice(list(map(_typed, all_methods())))
    return gathered("wanted", FitOptions, [
        option("--method", type=methods, default="pca", show_default=True, help=method),
        option("-k", "k", type=numbers.components, metavar="N", help="Number of components."),
        option("--explain", type=numbers.share, metavar="SHARE", help="Keep the fewest components that explain "
        "this share of the variance (svd: of the sum of squares), such as 0.9 or 90%."),
        option("--error", type=numbers.share, metavar="SHARE", help=error),
        option("--scale/--no-scale", default=False, help="Divide each column by its standard deviation.  [default: "
                                                         "no]"),
        option("--which", type=choice(["largest", "smallest"]), default="largest", show_default=True,
               help=("Compute the components that explain the most variance (largest) or the least "
               "(smallest).")),
        option("--seed", type=click.IntRange(min=0), metavar="N", help="Seed for random starting values. The same "
        "seed gives the same result."),
        memory,
        option("--missing", type=choice(["error", "mean", "em", "mask"]), default="error", show_default=True,
               help=("What to do with missing values: report an error, impute the column mean, impute from "
               "the other values of the row (em), or ignore them (mask, nmf only).")),
    ])(f)  # fmt: skip


def output(help: str, **more: Any) -> Decorator:
    """-o and --force."""
    return gathered("output", Output, [
        click.option("-o", "--output", "path", metavar="FILE", help=help, **more),
        click.option("--force", is_flag=True, help="Overwrite the output file if it exists."),
    ])  # fmt: skip


def with_console(f: Command) -> Command:
    """Add --json, --quiet and --debug, and pass the resulting Console as first argument."""
    for name, help in (
        ("debug", "If an error occurs, show the Python traceback."),
        ("quiet", "Print only results and errors, no notes or progress."),
        ("json", "Print the results as one JSON document."),
    ):
        flag = click.option(f"--{name}", is_flag=True, is_eager=True, expose_value=False, callback=_remember, help=help)
        f = flag(f)
    return click.pass_obj(f)


def _remember(ctx: click.Context, param: click.Parameter, value: bool) -> None:
    ctx.obj.command = ctx.info_name or ""
    if value and param.name:
        setattr(ctx.obj, param.name, True)


def gathered(name: str, kind: type[Any], options: Sequence[Decorator]) -> Decorator:
    """Add options to a command, which receives them as one value of `kind` under `name`."""

    def decorate(f: Command) -> Command:
        @functools.wraps(f)
        def gather(*args: object, **given: object) -> Any:
            own = {field.name: given.pop(field.name) for field in fields(kind)}
            return f(*args, **{name: kind(**own)}, **given)

        command: Command = gather
        for option in reversed(options):
            command = option(command)
        return command

    return decorate
