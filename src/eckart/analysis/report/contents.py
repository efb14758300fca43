"""What the report says, before it is a page, Markdown or JSON: sections of sentences and tables."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from eckart.analysis import sentences
from eckart.analysis.labels import component_labels
from eckart.analysis.report.method_section import components_table, correlations, method_tables
from eckart.analysis.tables.contributions import contributions, scores
from eckart.analysis.tables.eigenvalues import reconstruction_error
from eckart.analysis.tables.loadings import correlations as column_correlations
from eckart.analysis.tables.loadings import loadings
from eckart.analysis.tables.quality import cos2
from eckart.analysis.unusual import Unusual, unusual
from eckart.errors import ParameterError
from eckart.formatting import number, shorten
from eckart.io.model_file import libraries
from eckart.registry import method_of
from eckart.text import Table

if TYPE_CHECKING:
    from eckart.result import Decomposition

_COMPONENTS_EXPLAINED = 8
ROWS, COLUMNS = 200, 500
"""Lines of the tables about rows and about columns."""
HEATMAP_ROWS, HEATMAP_COMPONENTS = 40, 10


@dataclass(frozen=True)
class Section:
    """A heading, what is to be said under it, and the tables that belong there."""

    key: str
    title: str
    lines: tuple[str, ...] = ()
    tables: dict[str, Table] = field(default_factory=dict)


@dataclass(frozen=True)
class ReportContext:
    """What the caller knows beside the decomposition: how the data were read, and how many axes each rule wants."""

    reading: tuple[str, ...] = ()
    data: Any = None
    """The table that was decomposed, rows x columns, dense or sparse."""
    columns: Table | None = None
    ranks: Table | None = None
    unusual: Unusual | None = None
    """What `report_unusual.unusual` says, where it was asked already."""


def sections(d: Decomposition, context: ReportContext) -> list[Section]:
    """The whole report in order."""
    found = [
        Section(
            "summary", "Summary", (sentences.carried(d), sentences.scree_finding(d), sentences.loadings_finding(d))
        ),
        Section("notes", "Read this first", tuple(sentences.doubts(d, context.reading))),
        Section(
            "data",
            "What was done to the data",
            (sentences.treated(d), *context.reading),
            _some(columns=context.columns),
        ),
        Section("components", "How much each axis carries", (), {"components": components_table(d)}),
        Section("ranks", "How many axes", _agreement(context.ranks), _some(ranks=context.ranks)),
        Section("method", method_of(d).section.title, (), method_tables(d)),
        Section("meaning", "What makes the axes", _makes(d), column_tables(d)),
        Section("rows", "Rows", (), row_tables(d)),
        Section("rebuilt", "Rebuilding the table from few axes", (), _errors(d)),
        Section("unusual", "Unusual rows", *(context.unusual or unusual(d, context.data))),
        Section("sure", "How sure this is", tuple(sentences.sure(d))),
        Section("how", "How it was computed", (sentences.how(d),), {"facts": facts(d)}),
    ]
    return [section for section in found if any(section.lines) or section.tables]


def column_tables(d: Decomposition) -> dict[str, Table]:
    """Loadings, contributions and correlations, as far as the method has them."""
    asked = {"loadings": loadings, "contributions": contributions, "correlations": column_correlations}
    found = {name: _known(make, d, limit=COLUMNS) for name, make in asked.items()}
    return _some(**(found | {"correlations": found["correlations"] or correlations(d)}))


def row_tables(d: Decomposition) -> dict[str, Table]:
    """Coordinates and quality of the first rows."""
    if d.left is None:
        return {}
    return _some(scores=_known(scores, d, limit=ROWS), quality=_known(cos2, d, limit=ROWS))


def facts(d: Decomposition) -> Table:
    """What somebody needs to compute it again, and the certificate's numbers."""
    found: list[tuple[str, str]] = [("Method", d.method), ("Axes", f"{d.k} ({d.which} first)")]
    if d.rank is not None:
        found.append(("Numerical rank", str(d.rank)))
    if d.info is not None:
        found += [("Solver", d.info.solver), ("Reads of the data", str(d.info.passes)), ("Steps", str(d.info.steps)),
                  ("Precision", d.info.precision), ("Threads", str(d.info.threads)),
                  ("Seed", "none" if d.info.seed is None else str(d.info.seed))]  # fmt: skip
    if d.plan is not None:
        found.append(("Planned", str(d.plan)))
        found += [(f"Setting: {key}", str(value)) for key, value in d.plan.settings.items()]
    if d.certificate is not None:
        c = d.certificate
        angle = "not known" if c.angle >= 1 else f"at most {number(c.angle)}"
        chance = "0 (no chance involved)" if c.failure_probability == 0 else f"at most {number(c.failure_probability)}"
        found += [("Accuracy asked for", f"{number(c.tolerance)} of the share"),
                  ("Proved", "yes" if c.proved else "NO"),
                  ("Sine of the angle to the true subspace", angle),
                  ("Largest residual", number(float(max(c.residuals, default=0.0)))),
                  ("Probability that a bound fails", chance)]  # fmt: skip
    found += [(name.capitalize() if name == "python" else name, version) for name, version in libraries().items()]
    return Table("How it was computed", ("what", "value"), tuple(found), kinds=("text", "text"))


def rank_table(choice: Any) -> Table | None:
    """How many axes each rule wants, why, and what it takes for granted; from `eckart.choose_rank`, or a table."""
    if choice is None or isinstance(choice, Table):
        return choice
    rows = tuple((v.title, v.k, v.reason, v.assumes) for v in choice.verdicts)
    columns = ("rule", "components", "why", "assumes")
    return Table("How many axes", columns, rows, choice.summary, ("text", "count", "text", "text"))


def heatmap(d: Decomposition) -> Table | None:
    """The strongest columns and first axes of the loadings, in the order of the data when all columns fit."""
    made = _known(loadings, d) or correlations(d)
    if made is None:
        return None
    components = min(d.k, HEATMAP_COMPONENTS)
    rows = [row[: components + 1] for row in made.rows]
    if len(rows) > HEATMAP_ROWS:
        strength = [max((abs(x) for x in row[1:] if isinstance(x, float)), default=0.0) for row in rows]
        rows = [rows[j] for j in sorted(range(len(rows)), key=lambda j: -strength[j])[:HEATMAP_ROWS]]
    return Table(made.title, made.columns[: components + 1], tuple(rows), made.caption)


def _makes(d: Decomposition) -> tuple[str, ...]:
    if not sentences.has_weights(d):
        return ("The axes do not lie in the space of the columns, so no column has a weight on them.",)
    names = component_labels(d)[:_COMPONENTS_EXPLAINED]
    return tuple(f"{name}: {sentences.makes(d, component)}" for component, name in enumerate(names))


def _errors(d: Decomposition) -> dict[str, Table]:
    return {"errors": reconstruction_error(d)} if method_of(d).orthogonal and d.which == "largest" else {}


def _agreement(ranks: Table | None) -> tuple[str, ...]:
    return (ranks.caption,) if ranks is not None and ranks.caption else ()


def _known(make: Any, *arguments: Any, **options: Any) -> Table | None:
    """The table, or None where the decomposition does not have what it is made of."""
    try:
        table: Table = make(*arguments, **options)
    except ParameterError:
        return None
    return table


def _some(**given: Table | None) -> dict[str, Table]:
    return {name: table for name, table in given.items() if table is not None and table.rows}


def full(found: Sequence[Section]) -> dict[str, Table]:
    """Every table of the report by name."""
    return {name: table for section in found for name, table in section.tables.items()}


def for_script(table: Table) -> dict[str, Any]:
    """A table for the page's script: names clean and not too long, numbers with nine digits."""

    def cell(value: Any) -> Any:
        if isinstance(value, float):
            return float(f"{value:.9g}") if math.isfinite(value) else None
        return shorten(value, 200) if isinstance(value, str) else value

    rows = [[cell(value) for value in row] for row in table.rows]
    return {"columns": [shorten(name, 200) for name in table.columns], "rows": rows}
