"""The report: one HTML page that holds everything it shows, runs nothing foreign and asks the network for nothing.

Every name goes through Jinja2's autoescape, numbers for the script lie in an inert JSON block, and a content security
policy admits only the one script and the one style sheet whose SHA-256 it names.
"""

from __future__ import annotations

import base64
import hashlib
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from eckart.modelfile import libraries
from eckart.newfile import new_file
from eckart.views import charts, geometry, sentences, tables
from eckart.views.words import axis_labels, clean, explained, interval, method_name, number, total_word

if TYPE_CHECKING:
    import os

    from eckart.decomposition import Decomposition

_AXES_EXPLAINED = 8
_ROWS, _COLUMNS = 200, 500  # in the tables of the page


def report(
    d: Decomposition, path: str | os.PathLike[str] | None = None, *, overwrite: bool = False, title: str | None = None
) -> str:
    """The page as text, and written to `path` when one is given: whole or not at all, never over another file."""
    page: str = _template().render(**_contents(d, title or method_name(d)))
    if path is not None:
        with new_file(path, overwrite=overwrite) as file:
            file.write(page.encode("utf-8"))
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


def _contents(d: Decomposition, title: str) -> dict[str, Any]:
    from markupsafe import Markup

    style, script = _part("report.css"), _part("report.js")
    names = axis_labels(d)[:_AXES_EXPLAINED]
    return {
        "d": d, "title": title, "what": sentences.what(d), "how": sentences.how(d), "carried": sentences.carried(d),
        "doubts": sentences.doubts(d), "share": interval(*explained(d)), "total_word": total_word(d),
        "scree_finding": sentences.scree_finding(d), "loadings_finding": sentences.loadings_finding(d),
        "makes": [(name, sentences.makes(d, axis)) for axis, name in enumerate(names)],
        "scree": charts.scree(d), "heatmap": charts.heatmap(d), "plane": charts.plane(d) if d.k > 1 else None,
        "meaning": {key: words.capitalize() for key, words in geometry.MEANING.items()},
        "eigenvalues": tables.eigenvalues(d), "loadings": tables.loadings(d, limit=_COLUMNS),
        "contributions": tables.contributions(d, limit=_COLUMNS), "facts": _facts(d), "versions": libraries(),
        "scores": tables.scores(d, limit=_ROWS) if d.left is not None else None,
        "style": Markup(style), "style_hash": _hash(style), "script": Markup(script), "script_hash": _hash(script),
    }  # fmt: skip


def _facts(d: Decomposition) -> list[tuple[str, str]]:
    """What somebody needs to compute it again, and the certificate's numbers."""
    facts = [("Method", d.method), ("Axes", f"{d.k} ({d.which} first)")]
    if d.rank is not None:
        facts.append(("Numerical rank", str(d.rank)))
    if d.info is not None:
        facts += [("Solver", d.info.solver), ("Reads of the data", str(d.info.reads)), ("Steps", str(d.info.steps)),
                  ("Precision", d.info.precision), ("Threads", str(d.info.threads)),
                  ("Seed", "none" if d.info.seed is None else str(d.info.seed))]  # fmt: skip
    if d.plan is not None:
        facts += [(f"Setting: {key}", str(value)) for key, value in d.plan.settings.items()]
    if d.certificate is not None:
        c = d.certificate
        angle = "not known" if c.angle >= 1 else f"at most {number(c.angle)}"
        facts += [("Accuracy asked for", f"{number(c.tolerance)} of the share"),
                  ("Proved", "yes" if c.proved else "NO"), ("Sine of the angle to the true subspace", angle),
                  ("Largest residual", number(float(max(c.residuals, default=0.0)))),
                  ("Probability that a bound fails", "0 (no chance involved)" if c.failure_probability == 0
                   else f"at most {number(c.failure_probability)}")]  # fmt: skip
    return facts


def _part(name: str) -> str:
    return (files("eckart.views") / name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode("ascii")
