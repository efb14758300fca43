"""The contents of the report, before it becomes a page, Markdown or JSON: sections of sentences and tables."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from eckart.aliases import JsonObject
from eckart.analysis import sentences
from eckart.analysis.column_roles import columns_table
from eckart.analysis.labels import column_labels, component_labels, explained, total_name
from eckart.analysis.measures import floats
from eckart.analysis.report.column_section import column_statistics
from eckart.analysis.report.supplementary_section import supplementary
from eckart.analysis.tables.coordinates import contributions, cos2, loadings, scores
from eckart.analysis.tables.coordinates import correlations as column_correlations
from eckart.analysis.tables.eigenvalues import components_table, reconstruction_error, total_ratio
from eckart.errors import ParameterError
from eckart.formatting import clean, counted, interval, number, shorten
from eckart.io.model_file import libraries
from eckart.notes import for_door
from eckart.registry import method_of
from eckart.text import Cell, Table

if TYPE_CHECKING:
    from eckart.analysis.analysis import Analysis
    from eckart.rank.verdict import RankChoice
    from eckart.result import Certificate, Decomposition
    from eckart.wording import Door

_COMPONENTS_EXPLAINED = 8
ROWS, COLUMNS = 200, 500
"""Maximum number of lines of the tables about rows and about columns."""
HEATMAP_ROWS, HEATMAP_COMPONENTS = 40, 10


@dataclass(frozen=True)
class Section:
    """A heading with its sentences and tables."""

    key: str
    title: str
    lines: tuple[str, ...] = ()
    tables: dict[str, Table] = field(default_factory=dict)


def sections(found: Analysis, door: Door = "python") -> list[Section]:
    """The whole report in order: the answer first. Remedies are worded for Python or for the command line."""
    d = found.decomposition
    made = [
        Section("summary", "Summary", answer(found), {}),
        Section("notes", "Read this first", tuple(sentences.doubts(d, found.reading, door))),
        Section("components", "Explained variance", (), {"components": components_table(d)}),
        Section("ranks", "How many components", _agreement(found), _some(ranks=rank_table(found.ranks))),
        Section("method", method_of(d).section.title, (), _method_tables(d)),
        Section("meaning", "Main columns of each component", _makes(d), column_tables(d)),
        Section("rows", "Rows", (), row_tables(d)),
        Section("supplementary", "Categories and dates", *supplementary(found)),
        Section("clusters", "Clusters of rows", *_clusters(found)),
        Section("rebuilt", "Reconstruction from a few components", (), _errors(d)),
        Section("unusual", "Unusual rows", found.outliers.lines, found.outliers.tables),
        Section("columns", "Columns and correlations", (), column_statistics(found)),
        Section(
            "data",
            "Data preparation",
            (sentences.treated(d), *found.reading),
            _some(columns=columns_table(found.roles, d)),
        ),
        Section("sure", "Certificate", tuple(sentences.sure(found.kept))),
        Section("how", "How it was computed", (sentences.how(d),), {"facts": facts(d)}),
    ]
    made = [replace(section, lines=tuple(for_door(line, door) for line in section.lines)) for section in made]
    return [section for section in made if any(section.lines) or section.tables]


def answer(found: Analysis) -> tuple[str, ...]:
    """The recommendation, what the components mean, and what was requested instead."""
    d, advice = found.decomposition, found.recommendation
    asked = ""
    if found.requested and advice.k is not None and d.k != advice.k:
        share = interval(*explained(d)) if method_of(d).certifies_explained_variance else total_ratio(d)
        verb = "component was requested: it explains" if d.k == 1 else "components were requested: they explain"
        asked = f"{d.k} {verb} {share} of the {total_name(d)}."
    return tuple(line for line in (advice.sentence, asked, sentences.loadings_finding(d)) if line)


def _clusters(found: Analysis) -> tuple[tuple[str, ...], dict[str, Table]]:
    if found.clusters is None:
        return (), {}
    return found.clusters.lines, _some(clusters=found.clusters.table)


def _method_tables(d: Decomposition) -> dict[str, Table]:
    """Tables of the method's own figures and choices."""
    return _figures(d) | method_of(d).tables(d)


def _figures(d: Decomposition) -> dict[str, Table]:
    section = method_of(d).section
    found = {label: getattr(d.details, name, None) for name, label in section.figures.items()}
    known = {label: value for label, value in found.items() if value is not None}
    rows: tuple[tuple[Cell, ...], ...] = tuple((label, _shown(value)) for label, value in known.items())
    return {"method": Table(section.title, ("what", "value"), rows, kinds=("text", "text"))} if rows else {}


def _shown(value: object) -> str:
    if isinstance(value, tuple):
        return " to ".join(number(float(bound)) for bound in value)
    if isinstance(value, bool | np.bool_):
        return "yes" if value else "no"
    if isinstance(value, float | np.floating):
        return number(float(value)) if math.isfinite(value) else "not known"
    return clean(str(value))


def _computed_correlations(d: Decomposition) -> Table | None:
    """Correlations of the columns with the components, if the method computed them."""
    found = getattr(d.details, "correlations", None)
    if found is None or floats(found).shape != (d.columns, d.k):
        return None
    rows = tuple((name, *line) for name, line in zip(column_labels(d), floats(found).tolist(), strict=True))
    caption = "Correlation of each column with the scores on each component."
    return Table("Correlations", ("column", *component_labels(d)), rows, caption)


def column_tables(d: Decomposition) -> dict[str, Table]:
    """Loadings, contributions and correlations, as far as the method has them."""
    asked = {"loadings": loadings, "contributions": contributions, "correlations": column_correlations}
    found = {name: _known(make, d, limit=COLUMNS) for name, make in asked.items()}
    return _some(**(found | {"correlations": found["correlations"] or _computed_correlations(d)}))


def row_tables(d: Decomposition) -> dict[str, Table]:
    """Coordinates and quality of the first rows."""
    if d.left is None:
        return {}
    return _some(scores=_known(scores, d, limit=ROWS), quality=_known(cos2, d, limit=ROWS))


def facts(d: Decomposition) -> Table:
    """What is needed to compute the result again, and the numbers of the certificate."""
    found: list[tuple[str, str]] = [("Method", d.method), ("Components", f"{d.k} ({d.which} first)")]
    if d.rank is not None:
        found.append(("Numerical rank", str(d.rank)))
    if d.info is not None:
        found += [("Solver", d.info.solver), ("Passes over the data", str(d.info.passes)), ("Steps", str(d.info.steps)),
                  ("Precision", d.info.precision), ("Threads", str(d.info.threads)),
                  ("Seed", "none" if d.info.seed is None else str(d.info.seed))]  # fmt: skip
    if d.plan is not None:
        found.append(("Planned", " ".join(str(d.plan).split())))
        found += [(f"Setting: {key}", str(value)) for key, value in d.plan.settings.items()]
    found += [] if d.certificate is None else _certificate_facts(d.certificate)
    found += [(name.capitalize() if name == "python" else name, version) for name, version in libraries().items()]
    return Table("How it was computed", ("what", "value"), tuple(found), kinds=("text", "text"))


def _certificate_facts(c: Certificate) -> list[tuple[str, str]]:
    angle = "not known" if c.angle >= 1 else f"at most {number(c.angle)}"
    chance = "0 (deterministic)" if c.failure_probability == 0 else f"at most {number(c.failure_probability)}"
    return [
        ("Requested accuracy", f"{number(c.tolerance)} of the explained variance"),
        ("Proved", "yes" if c.proved else "NO"),
        ("Sine of the angle to the true subspace", angle),
        ("Largest residual", number(float(max(c.residuals, default=0.0)))),
        ("Probability that a bound fails", chance),
    ]


def rank_table(choice: RankChoice | None) -> Table | None:
    """The number of components by each rule, its reason and its assumptions."""
    if choice is None:
        return None
    rows = tuple((v.title, v.k, v.reason, v.assumes) for v in choice.verdicts)
    columns = ("rule", "components", "why", "assumes")
    return Table("How many components", columns, rows, choice.summary, ("text", "count", "text", "text"))


def heatmap(d: Decomposition) -> Table | None:
    """The strongest columns and first components of the loadings, in the order of the data if all columns fit."""
    made = _known(loadings, d) or _computed_correlations(d)
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
        return ("The components are not linear combinations of the columns, so the columns have no loadings.",)
    names = component_labels(d)[:_COMPONENTS_EXPLAINED]
    shown = tuple(f"{name}: {sentences.makes(d, axis)}" for axis, name in enumerate(names))
    left = d.k - len(names)
    return (*shown, f"... and {counted(left, 'more component')}") if left else shown


def _errors(d: Decomposition) -> dict[str, Table]:
    return {"errors": reconstruction_error(d)} if method_of(d).orthogonal and d.which == "largest" else {}


def _agreement(found: Analysis) -> tuple[str, ...]:
    """The answers of the rules, and how many components a fixed share needs, which is another question."""
    if found.ranks is None:
        return ()
    d = found.decomposition
    lines = [found.ranks.summary]
    enough = int(np.searchsorted(floats(d.explained_variance_ratio).cumsum(), 0.9 - 1e-12)) + 1
    if enough <= d.k and enough != found.recommendation.k:
        components = f"{enough} component{'' if enough == 1 else 's'}"
        lines.append(f"Explaining 90 % of the {total_name(d)}, including noise, takes {components}.")
    return tuple(lines)


def _known(make: Any, *arguments: Any, **options: Any) -> Table | None:
    """The table, or None if the decomposition lacks the data for it."""
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


def for_script(table: Table) -> JsonObject:
    """A table for the page's script: names clean and not too long, numbers with nine digits."""

    def cell(value: object) -> Any:
        if isinstance(value, float):
            return float(f"{value:.9g}") if math.isfinite(value) else None
        return shorten(value, 200) if isinstance(value, str) else value

    rows = [[cell(value) for value in row] for row in table.rows]
    return {"columns": [shorten(name, 200) for name in table.columns], "rows": rows}
