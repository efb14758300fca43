"""The summary for a terminal: the answer, the components, the columns behind them, and how certain they are."""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from eckart.analysis import sentences
from eckart.analysis.labels import component_labels
from eckart.analysis.measures import floats
from eckart.analysis.report.contents import answer
from eckart.analysis.report.supplementary_section import supplementary
from eckart.analysis.tables.eigenvalues import components_table
from eckart.documentation import document
from eckart.fitted import decomposition_of
from eckart.formatting import clean, counted, wrapped
from eckart.notes import for_door
from eckart.options import hint_keywords

if TYPE_CHECKING:
    from rich.console import Group, RenderableType

    from eckart.analysis.analysis import Analysis
    from eckart.rank.verdict import RankChoice
    from eckart.result import Decomposition
    from eckart.text import Table
    from eckart.wording import Door

_MOST_COMPONENTS = 10
_COMPONENTS_EXPLAINED = 5
_MOST_UNUSUAL = 3
_BARS = (20, 16, 12, 8, 5)
"""Possible lengths of the longest bar; the first that fits is used."""
_WORD = re.compile(r"(?:\$'(?:[^'\\]|\\.)*'|'[^']*'|\S)+")
"""An argument of a shell command; spaces in quotes are part of it."""


def _certified(found: Analysis) -> list[str]:
    certificate = found.kept.certificate
    known = "This result has no certificate." if certificate is None else clean(certificate.summary)
    return [line for line in (known, sentences.how(found.decomposition)) if line]


def renderable(
    found: Analysis, *, width: int = 80, steps: Sequence[str] = (), bar: str = "\u2588", door: Door = "python"
) -> Group:
    """The summary for a rich console of at least this width. Names are literal: markup in them has no effect.

    `steps` are commands that may come next.
    """
    from rich.console import Group
    from rich.text import Text

    d = found.decomposition
    parts: list[RenderableType] = [Text(sentences.what(d), style="bold"), Text("")]
    parts += _section("Answer", [for_door(line, door) for line in answer(found)], width)[
        :-1
    ]  # the table begins with an empty line
    parts.append(_axes(d, width, bar).rich(width=width, limit=_MOST_COMPONENTS))
    parts += [Text("")] * (d.k > _MOST_COMPONENTS)
    parts += _section("Read this first", [f"- {line}" for line in sentences.doubts(d, found.reading, door)], width)
    parts += _section("Main columns of each component", _makers(d), width)
    parts += _section("How many components", _ranks(found.ranks), width)
    parts += _section("Categories and dates", list(supplementary(found)[0]), width)
    parts += _section("Clusters of rows", [] if found.clusters is None else list(found.clusters.lines), width)
    parts += _section("Unusual rows", _unusual(found), width)
    parts += _section("Data preparation", [f"- {clean(for_door(line, door))}" for line in found.reading], width)
    parts += _section("Certificate", _certified(found), width)
    if steps:
        parts += [Text("Next", style="bold"), *(Text(_command(step, width)) for step in steps)]
    return Group(*parts[:-1], *([] if isinstance(parts[-1], Text) and not parts[-1].plain else parts[-1:]))


def summary_text(found: Analysis, *, width: int = 80, steps: Sequence[str] = (), door: Door = "python") -> str:
    """The same as plain text without colours; everything but the names is ASCII."""
    from rich.console import Console

    file = io.StringIO()
    console = Console(file=file, width=width, color_system=None, legacy_windows=False, force_terminal=False)
    console.print(renderable(found, width=width, steps=steps, bar="#", door=door), soft_wrap=False, crop=False)
    lines = (line.rstrip().replace("\u2500", "-") for line in file.getvalue().splitlines())
    return "\n".join(lines).rstrip() + "\n"


@document
@hint_keywords
def summary(model: object, *, width: int = 80) -> str:
    """Summarise a decomposition or a fitted estimator in plain text, as the command line does.

    Parameters
    ----------
    model : Decomposition or fitted estimator
        The model. For data use ``analyze(data).summary()``.
    width : int, default 80
        Maximum line length.

    Returns
    -------
    str
        The summary. Everything except names is ASCII.

    {See Also: analyze, report}

    Examples
    --------
    >>> import eckart as ek
    >>> d = ek.decompose(ek.datasets.load("usarrests").values, k=2, scale=True)
    >>> print(ek.summary(d).splitlines()[0])
    Principal component analysis of 50 rows x 4 columns, columns centred and scaled
    """
    from eckart.analysis.analyze import analyze

    return summary_text(analyze(decomposition_of(model)), width=width)


def _axes(d: Decomposition, width: int, bar: str) -> Table:
    """The table of components, with a bar for each share if there is room."""
    table = replace(components_table(d), title="", caption="")
    shares = floats(d.explained_variance_ratio)
    with np.errstate(invalid="ignore"):  # a model file that was edited may state infinite shares
        lengths = np.nan_to_num(shares / (float(shares.max(initial=0.0)) or 1.0))
    for long in _BARS:
        bars = [f"{bar * round(long * length):<{long}}" for length in lengths.tolist()]
        rows = tuple((*row, line) for row, line in zip(table.rows, bars, strict=True))
        wider = replace(table, columns=(*table.columns, ""), rows=rows, kinds=(*table.kinds, "text"))
        if wider.fits(width, _MOST_COMPONENTS):
            return wider
    return table


def _makers(d: Decomposition) -> list[str]:
    if not sentences.has_weights(d):
        return []
    names = component_labels(d)
    shown = [f"{names[axis]}: {sentences.makes(d, axis)}" for axis in range(min(d.k, _COMPONENTS_EXPLAINED))]
    left = d.k - _COMPONENTS_EXPLAINED
    return shown + ([f"... and {counted(left, 'more component')}"] if left > 0 else [])


def _ranks(choice: RankChoice | None) -> list[str]:
    """The rules behind each number, the most frequent first."""
    if choice is None:
        return []
    titles = {verdict.rule: verdict.title for verdict in choice.verdicts}
    lines = [
        f"- {k} component{'' if k == 1 else 's'}: {'; '.join(titles[rule] for rule in rules)}"
        for k, rules in choice.agreement.items()
    ]
    silent = [verdict.title for verdict in choice.verdicts if verdict.k is None]
    return [clean(choice.summary), *lines, *([f"- no answer: {'; '.join(silent)}"] if silent else [])]


def _unusual(found: Analysis) -> list[str]:
    tables = found.outliers.tables
    rows = tables["unusual"].rows[:_MOST_UNUSUAL] if tables else ()
    if not rows:
        return []
    return [*found.outliers.lines, *(f"- {clean(str(row[0]))}: {row[3]}" for row in rows)]


def _command(step: str, width: int) -> str:
    """A command ready to copy: lines that do not fit continue after a backslash, never inside quotes."""
    lines = [""]
    for word in _WORD.findall(step):
        if lines[-1] and len(lines[-1]) + 1 + len(word) > width - 8:
            lines.append("")
        lines[-1] += f" {word}" if lines[-1] else word
    return "  " + " \\\n      ".join(lines)


def _section(title: str, lines: Sequence[str], width: int) -> list[RenderableType]:
    """A heading and its lines, with continuation lines indented under the text."""
    from rich.text import Text

    indents = ("  " * line.startswith("- ") for line in lines)
    shown = (
        Text(wrapped(line, width, indent), no_wrap=True, overflow="ignore")
        for line, indent in zip(lines, indents, strict=True)
    )
    return [Text(title, style="bold"), *shown, Text("")] if lines else []
