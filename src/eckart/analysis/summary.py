"""The summary for a terminal: what was decomposed, what the axes carry and what makes them, how many, how sure."""

from __future__ import annotations

import io
import textwrap
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from eckart.analysis import sentences
from eckart.analysis.labels import component_labels
from eckart.analysis.measures import floats
from eckart.analysis.report.contents import ReportContext
from eckart.analysis.report.method_section import components_table
from eckart.analysis.unusual import unusual
from eckart.fitted import takes_fitted
from eckart.formatting import clean

if TYPE_CHECKING:
    from rich.console import Group, RenderableType

    from eckart.result import Decomposition
    from eckart.text import Cell, Table

_MOST_COMPONENTS = 10
_COMPONENTS_EXPLAINED = 5
_MOST_UNUSUAL = 3
_BARS = (20, 16, 12, 8)
"""Lengths of the longest bar; the first that fits is taken."""


@takes_fitted
def renderable(
    d: Decomposition,
    *,
    width: int = 80,
    context: ReportContext | None = None,
    steps: Sequence[str] = (),
    bar: str = "\u2588",
) -> Group:
    """The summary for a rich console of at least that width. Names are literal: markup in them has no effect.

    `context` is what the caller knows beside the decomposition, `steps` are commands that may come next.
    """
    from rich.console import Group
    from rich.text import Text

    context = context or ReportContext()
    parts: list[RenderableType] = [Text(sentences.what(d), style="bold")]
    finding = sentences.scree_finding(d) if d.k > 2 else ""
    parts += [Text(line) for line in (sentences.how(d), sentences.carried(d), finding) if line]
    parts.append(_axes(d, width, bar).rich(width=width, limit=_MOST_COMPONENTS))
    parts += [Text("")] * (d.k > _MOST_COMPONENTS)
    parts += _section("What makes the axes", _top_loadings(d), width)
    parts += _section("How many axes", _ranks(context.ranks), width)
    parts += _section("What was done to the data", [f"- {clean(line)}" for line in context.reading], width)
    parts += _section("Notes", [f"- {line}" for line in sentences.doubts(d, context.reading)], width)
    parts += _section("Unusual rows", _unusual(d, context), width)
    if d.certificate is not None and d.certificate.summary:
        parts += _section("Certificate", [clean(d.certificate.summary)], width)
    if steps:
        parts += [Text("Next", style="bold"), *(Text(_command(step, width)) for step in steps)]
    return Group(*parts[:-1], *([] if isinstance(parts[-1], Text) and not parts[-1].plain else parts[-1:]))


@takes_fitted
def summary(
    d: Decomposition, *, width: int = 80, context: ReportContext | None = None, steps: Sequence[str] = ()
) -> str:
    """The same as plain text without colours; everything but the names is ASCII."""
    from rich.console import Console

    file = io.StringIO()
    console = Console(file=file, width=width, color_system=None, legacy_windows=False, force_terminal=False)
    console.print(renderable(d, width=width, context=context, steps=steps, bar="#"), soft_wrap=False)
    lines = (line.rstrip().replace("\u2500", "-") for line in file.getvalue().splitlines())
    return "\n".join(lines).rstrip() + "\n"


def _axes(d: Decomposition, width: int, bar: str) -> Table:
    """The table of axes, with a bar for each share where there is room for it."""
    table = replace(components_table(d), title="", caption="")
    shares = floats(d.explained_variance_ratio)
    largest = float(shares.max(initial=0.0)) or 1.0
    for long in _BARS:
        bars = [f"{bar * round(long * share / largest):<{long}}" for share in shares.tolist()]
        rows = tuple((*row, line) for row, line in zip(table.rows, bars, strict=True))
        wider = replace(table, columns=(*table.columns, ""), rows=rows, kinds=(*table.kinds, "text"))
        if wider.fits(width, _MOST_COMPONENTS):
            return wider
    return table


def _top_loadings(d: Decomposition) -> list[str]:
    names = component_labels(d)
    shown = [
        f"{names[component]}: {sentences.makes(d, component)}" for component in range(min(d.k, _COMPONENTS_EXPLAINED))
    ]
    return shown + ([f"... and {d.k - _COMPONENTS_EXPLAINED} more axes"] if d.k > _COMPONENTS_EXPLAINED else [])


def _ranks(ranks: Table | None) -> list[str]:
    """What the rules agree on, and who says which number, the most named first."""
    if ranks is None or not ranks.rows:
        return []
    said: dict[Cell, list[str]] = {}
    for row in ranks.rows:
        said.setdefault(row[1], []).append(clean(str(row[0])))
    order = sorted(said, key=lambda k: (k is None, -len(said[k]), str(k)))
    words = {k: f"{k} axis" if k == 1 else "cannot say" if k is None else f"{k} axes" for k in order}
    return [clean(ranks.caption), *(f"- {words[k]}: {'; '.join(said[k])}" for k in order)]


def _unusual(d: Decomposition, context: ReportContext) -> list[str]:
    lines, tables = context.unusual or unusual(d, context.data)
    rows = tables["unusual"].rows[:_MOST_UNUSUAL] if tables else ()
    if not rows:
        return []
    return [*lines, *(f"- {clean(str(row[0]))}: {row[3]}" for row in rows)]


def _command(step: str, width: int) -> str:
    """A command as it may be copied: lines that do not fit go on after a backslash."""
    if "'" in step:
        return f"  {step}"
    lines = textwrap.wrap(step, width - 6, break_long_words=False, break_on_hyphens=False)
    return "  " + " \\\n      ".join(lines)


def _section(title: str, lines: Sequence[str], width: int) -> list[RenderableType]:
    """A heading and its lines, each continued under its own text."""
    from rich.text import Text

    indents = ("  " * line.startswith("- ") for line in lines)
    wrapped = (
        Text("\n".join(textwrap.wrap(line, width, subsequent_indent=indent)) or line)
        for line, indent in zip(lines, indents, strict=True)
    )
    return [Text(title, style="bold"), *wrapped, Text("")] if lines else []
