"""The report: one self-contained HTML page that runs no foreign code and loads nothing from the network.

Every name is escaped by Jinja2 or stored in an inert JSON block, from which the script writes it as text. A content
security policy admits only the scripts and the style sheet whose SHA-256 it names.
"""

from __future__ import annotations

import base64
import hashlib
import os
import re
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from eckart.aliases import JsonObject
from eckart.analysis import sentences
from eckart.analysis.labels import total_name
from eckart.analysis.report import charts
from eckart.analysis.report.charts import subset_sentence
from eckart.analysis.report.column_section import MOST_COLUMNS, histograms
from eckart.analysis.report.contents import Section, for_script, full, heatmap, sections
from eckart.analysis.report.markdown import is_markdown, markdown
from eckart.analysis.report.share_section import sharing
from eckart.analysis.tables.eigenvalues import total_ratio
from eckart.errors import ParameterError
from eckart.files import new_file
from eckart.formatting import clean, counted, interval, number, percent
from eckart.io.model_file import libraries
from eckart.missing.fill import imputation_of
from eckart.registry import method_of

if TYPE_CHECKING:
    from eckart.analysis.analysis import Analysis
    from eckart.result import Decomposition
    from eckart.wording import Door

_OPTION = re.compile(r"--[a-z][a-z-]*")
_SCRIPTS = (
    "report_base.js",
    "report_figures.js",
    "report_colours.js",
    "report_plane.js",
    "report_space.js",
    "report_row.js",
    "report.js",
)
_SCALINGS = {
    "form": "form: distances between rows",
    "covariance": "covariance: angles between columns",
    "correlation": "correlation circle: columns alone",
}
_COORDINATES = {
    "form": "The coordinates of the rows, with the same scale in both directions",
    "covariance": "The coordinates of the rows, in standard deviations of each component",
}
_MEANINGS = {
    "form": "Form biplot: distances between points approximate distances between rows",
    "covariance": "Covariance biplot: angles between arrows show correlations between columns",
    "correlation": (
        "Correlation circle: each arrow shows how a column correlates with the two components. If an "
        "arrow reaches the circle, the two components explain the column completely"
    ),
}


def write(
    found: Analysis,
    title: str,
    path: str | os.PathLike[str] | None = None,
    *,
    overwrite: bool = False,
    command: str = "",
) -> str:
    """The report as Markdown if `path` ends in .md, else as HTML; written if a path is given.

    With the command that makes it, remedies are worded for the command line.
    """
    if path is not None and is_markdown(path):
        text = markdown(found, title, sections(found, _door(command)))
    else:
        text = html(found, title, command)
    if path is not None:
        with new_file(path, overwrite=overwrite) as file:
            file.write(text.encode("utf-8"))
    return text


def html(found: Analysis, title: str, command: str = "") -> str:
    """The page as text."""
    if found.decomposition.k == 0:
        raise ParameterError(
            "The decomposition has no components (k=0), so there is nothing to report. Request at least one component."
        )
    page: str = template("report.html.jinja").render(**_contents(found, title, command))
    return page


def _door(command: str) -> Door:
    return "cli" if command else "python"


def template(name: str) -> Any:
    """A template whose values are escaped and cleaned."""
    from jinja2 import Environment, StrictUndefined

    environment = Environment(
        autoescape=True, finalize=_finalize, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters["prose"] = _prose
    return environment.from_string(part(name))


def _finalize(value: object) -> object:
    """Remove control characters from all text except our own markup, and keep '%' next to its number."""
    return clean(value).replace(" %", "\N{NO-BREAK SPACE}%") if type(value) is str else value


def _prose(text: str) -> object:
    """A sentence in which the name of an option, such as --scale, stays on one line."""
    from markupsafe import Markup, escape

    return Markup(_OPTION.sub(r'<span class="option">\g<0></span>', str(escape(_finalize(text)))))


def _contents(found: Analysis, title: str, command: str) -> JsonObject:
    d, numbers = found.decomposition, charts.numbers(found)
    made = {section.key: section for section in sections(found, _door(command))}
    tables, drawing = full(list(made.values())), heatmap(d)
    drawn = charts.drawn_count(numbers)
    kept = {name: for_script(table) for name, table in tables.items() if name not in ("facts", "scores")}
    shared = sharing(found, title, command)
    copied = {"markdown": markdown(found, title, list(made.values())), "python": shared["python"]}
    return {
        "d": d, "title": title, "what": sentences.what(d), "cards": _cards(found), "share_lines": shared,
        "total_name": total_name(d), "scree_finding": sentences.scree_finding(d), "versions": libraries(),
        "loadings_finding": sentences.loadings_finding(d), "sections": made, "tables": tables, "heatmap": drawing,
        "contents": _headings(made, numbers, drawn), "histograms": histograms(found), "number": number,
        "k": numbers["k"], "axes": numbers["axes"][: numbers["k"]], "drawn": drawn, "additive": numbers["additive"],
        "right": numbers["columns"]["right"] is not None, "errors": numbers["errors"],
        "observed": numbers["observed"] is not None, "levels": "step" in (numbers["observed"] or {}),
        "shown_columns": len(numbers["columns"]["names"]), "subset": subset_sentence(d.rows, drawn) if drawn else "",
        "scalings": _scalings(numbers), "meanings": _meanings(d), "colours": charts.colour_choices(numbers),
        "first_colour": numbers["first_colour"], "most_columns": MOST_COLUMNS,
        "even_part": percent(1 / max(d.rows, 1), 3), "error_sentence": counted(int(numbers["model"]), "component"),
        "numbers": numbers | {"meanings": _meanings(d), "word": total_name(d), "unit": _unit(d), "shared": copied},
        "csv_tables": kept if drawing is None else kept | {"heatmap": for_script(drawing)},
        "limits": [number(limit) for limit in (numbers["outliers"] or {"limits": ()})["limits"]],
        **_scripts(),
    }  # fmt: skip


def _scripts() -> JsonObject:
    """The style sheet and the scripts, with the hashes that the content security policy admits."""
    from markupsafe import Markup

    style, library = part("report.css"), part("vendor/echarts.min.js")
    script = '"use strict";\n(() => {\n' + "".join(map(part, _SCRIPTS)) + "})();\n"
    return {
        "style": Markup(style), "style_hash": content_hash(style), "library": Markup(library),
        "script": Markup(script), "script_hashes": [content_hash(library), content_hash(script)],
    }  # fmt: skip


_CERTIFIED = {True: "certified", False: "not certified"}


def _cards(found: Analysis) -> list[tuple[str, str]]:
    """The answer in figures: how many components, what they explain, how large the table is."""
    d, advice = found.decomposition, found.recommendation
    certified = d.certificate is not None and method_of(d).certifies_explained_variance
    cards = []
    if advice.k is None:
        cards.append((f"Explained by {counted(d.k, 'component')}{' (certified)' * certified}", total_ratio(d)))
    else:
        cards.append(("Recommended components", str(advice.k or "none")))
    if advice.k and advice.explained is not None:
        verb = "It explains" if advice.k == 1 else "They explain"
        proved = "of the table with imputed values" if imputation_of(d) is not None else _CERTIFIED[certified]
        cards.append((f"{verb} ({proved})", interval(*advice.explained)))
    cards.append(("Components requested" if found.requested else "Components shown", str(d.k)))
    cards.append(("Rows × columns", f"{d.rows:,} × {d.columns:,}"))
    return cards


def _headings(found: dict[str, Section], numbers: JsonObject, drawn: int) -> list[tuple[str, str]]:
    """Headings for the navigation of the page."""
    weights = numbers["columns"]["right"] is not None
    plane = [("rows", "Rows and columns" if weights else "Rows")] * (drawn > 0 or weights)
    rebuilt = [("rebuilt", "Reconstruction")] * (bool(numbers["errors"]) or (drawn > 0 and weights))
    follows = {"meaning": plane, "clusters": rebuilt}
    entries: list[tuple[str, str]] = []
    for key, section in found.items():
        if key not in ("notes", "rows", "rebuilt"):
            entries += [(key, section.title), *follows.get(key, [])]
    entries += [entry for entry in (*plane, *rebuilt) if entry not in entries]
    return [*entries, ("share", "Share and reproduce")]


def _scalings(numbers: JsonObject) -> list[tuple[str, str]]:
    if not numbers["orthogonal"]:
        return [("form", "coordinates"), ("covariance", "coordinates in standard deviations")]
    known = numbers["columns"]["spread"] is not None
    return [(key, words) for key, words in _SCALINGS.items() if known or key != "correlation"]


def _meanings(d: Decomposition) -> dict[str, str]:
    """What can be read off the plane: distances and angles only if the components are orthogonal."""
    if method_of(d).orthogonal:
        return _MEANINGS
    arrows = "; arrows show the loadings of the columns" if sentences.has_weights(d) else ""
    return {key: words + arrows for key, words in _COORDINATES.items()}


def _unit(d: Decomposition) -> str:
    """Unit of the cells of a row."""
    if d.mean is None:
        return "value" if d.scale is None else "value / root mean square of the column"
    return "distance from the mean" if d.scale is None else "standard deviations from the mean"


def part(name: str) -> str:
    return (files("eckart.analysis.report") / name).read_text(encoding="utf-8")


def content_hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode("ascii")
