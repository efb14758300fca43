"""The report: one HTML page that holds everything it shows, runs nothing foreign and asks the network for nothing.

Every name goes through Jinja2's autoescape or lies in an inert JSON block, from which the script writes it as text; a
content security policy admits only the scripts and the style sheet whose SHA-256 it names.
"""

from __future__ import annotations

import base64
import hashlib
import os
from importlib.resources import files
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from eckart.analysis import sentences
from eckart.analysis.labels import total_name
from eckart.analysis.report import charts
from eckart.analysis.report.contents import ReportContext, Section, for_script, full, heatmap, sections
from eckart.analysis.report.drawn_rows import subset_sentence
from eckart.analysis.report.method_section import total_ratio
from eckart.errors import ParameterError
from eckart.files import new_file
from eckart.formatting import clean, number, percent
from eckart.io.model_file import libraries
from eckart.registry import method_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from eckart.result import Decomposition

_SCRIPTS = ("report_base.js", "report_figures.js", "report_plane.js", "report_row.js", "report.js")
_SCALINGS = {
    "form": "form: distances between rows",
    "covariance": "covariance: angles between columns",
    "correlation": "correlation circle: columns alone",
}
_COORDINATES = {
    "form": "The coordinates of the rows, with the same scale in both directions",
    "covariance": "The coordinates of the rows, each axis in its own standard deviations",
}
_MEANINGS = {
    "form": "Form biplot: distances between points stand for distances between rows",
    "covariance": "Covariance biplot: angles between arrows show correlations between columns",
    "correlation": "Correlation circle: each arrow shows how a column correlates with the two axes; "
    "one that reaches the circle is shown completely",
}


def write(
    d: Decomposition,
    context: ReportContext,
    title: str,
    labels: Mapping[str, Sequence[str]],
    path: str | os.PathLike[str] | None = None,
    *,
    overwrite: bool = False,
) -> str:
    """The report, for a caller that has gathered what it says beside the decomposition."""
    if path is not None and PurePath(path).suffix.lower() in (".md", ".markdown"):
        from eckart.analysis.report.markdown import markdown

        text = markdown(d, context, title)
    else:
        text = html(d, context, title, labels)
    if path is not None:
        with new_file(path, overwrite=overwrite) as file:
            file.write(text.encode("utf-8"))
    return text


def html(d: Decomposition, context: ReportContext, title: str, labels: Mapping[str, Sequence[str]]) -> str:
    """The page as text."""
    if d.k == 0:
        raise ParameterError("There is no axis to report on: the decomposition has k=0. Ask for at least one axis.")
    page: str = _template().render(**_contents(d, context, title, labels))
    return page


def _template() -> Any:
    from jinja2 import Environment, StrictUndefined

    environment = Environment(
        autoescape=True, finalize=_finalize, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    return environment.from_string(_part("report.html.jinja"))


def _finalize(value: object) -> object:
    """Every text that is not our own markup loses its invisible and steering characters; '%' stays at its number."""
    return clean(value).replace(" %", "\N{NO-BREAK SPACE}%") if type(value) is str else value


def _contents(
    d: Decomposition, context: ReportContext, title: str, labels: Mapping[str, Sequence[str]]
) -> dict[str, Any]:
    from markupsafe import Markup

    found = {section.key: section for section in sections(d, context)}
    tables, drawing = full(list(found.values())), heatmap(d)
    numbers = charts.numbers(d, context.data, labels)
    style, library = _part("report.css"), _part("vendor/echarts.min.js")
    script = '"use strict";\n(() => {\n' + "".join(map(_part, _SCRIPTS)) + "})();\n"
    drawn = charts.drawn_count(numbers)
    kept = {name: for_script(made) for name, made in tables.items() if name not in ("facts", "scores")}
    return {
        "d": d, "title": title, "what": sentences.what(d), "share": total_ratio(d),
        "total_name": total_name(d), "scree_finding": sentences.scree_finding(d), "versions": libraries(),
        "loadings_finding": sentences.loadings_finding(d), "sections": found, "tables": tables, "heatmap": drawing,
        "contents": _headings(found, numbers, drawn),
        "k": numbers["k"], "axes": numbers["axes"][: numbers["k"]], "drawn": drawn, "additive": numbers["additive"],
        "right": numbers["columns"]["right"] is not None, "errors": numbers["errors"],
        "certified": d.certificate is not None and method_of(d).certifies_explained_variance,
        "observed": numbers["observed"] is not None, "levels": "step" in (numbers["observed"] or {}),
        "shown_columns": len(numbers["columns"]["names"]), "subset": subset_sentence(d.rows, drawn) if drawn else "",
        "scalings": _scalings(numbers), "meanings": _meanings(d), "colours": charts.colour_choices(numbers),
        "even_part": percent(1 / max(d.rows, 1), 3), "error_sentence": f"{numbers['k']} axes",
        "numbers": numbers | {"meanings": _meanings(d), "word": total_name(d), "unit": _unit(d)},
        "csv_tables": kept if drawing is None else kept | {"heatmap": for_script(drawing)},
        "limits": [number(limit) for limit in (numbers["outliers"] or {"limits": ()})["limits"]],
        "style": Markup(style), "style_hash": _hash(style), "library": Markup(library), "script": Markup(script),
        "script_hashes": [_hash(library), _hash(script)],
    }  # fmt: skip


def _headings(found: dict[str, Section], numbers: dict[str, Any], drawn: int) -> list[tuple[str, str]]:
    """Where the page can be entered."""
    weights = numbers["columns"]["right"] is not None
    entries = [(key, section.title) for key, section in found.items() if key not in ("notes", "rows", "rebuilt")]
    place = next((i + 1 for i, (key, _) in enumerate(entries) if key == "meaning"), len(entries))
    plane = [("rows", "Rows and columns" if weights else "Rows")] * (drawn > 0 or weights)
    rebuilt = [("rebuilt", "Rebuilding the table")] * (bool(numbers["errors"]) or (drawn > 0 and weights))
    return entries[:place] + plane + rebuilt + entries[place:]


def _scalings(numbers: dict[str, Any]) -> list[tuple[str, str]]:
    if not numbers["orthogonal"]:
        return [("form", "coordinates"), ("covariance", "coordinates in standard deviations")]
    known = numbers["columns"]["spread"] is not None
    return [(key, words) for key, words in _SCALINGS.items() if known or key != "correlation"]


def _meanings(d: Decomposition) -> dict[str, str]:
    """What may be read off the plane: distances and angles only where axes are perpendicular."""
    if method_of(d).orthogonal:
        return _MEANINGS
    arrows = "; arrows show the weights of the columns" if sentences.has_weights(d) else ""
    return {key: words + arrows for key, words in _COORDINATES.items()}


def _unit(d: Decomposition) -> str:
    """What the cells of a row are measured in."""
    if d.mean is None:
        return "value" if d.scale is None else "value in units of the column's size"
    return "distance from the mean" if d.scale is None else "standard deviations from the mean"


def _part(name: str) -> str:
    return (files("eckart.analysis.report") / name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode("ascii")
