"""The summary for a terminal: what was decomposed, how, what the axes carry and what makes them, how sure it is."""

from __future__ import annotations

import io
from dataclasses import replace
from typing import TYPE_CHECKING

from eckart.views import sentences
from eckart.views.tables import eigenvalues
from eckart.views.words import axis_labels, clean

if TYPE_CHECKING:
    from rich.console import Group, RenderableType

    from eckart.decomposition import Decomposition

_MOST_AXES = 10
_AXES_EXPLAINED = 5


def renderable(d: Decomposition, *, width: int = 80) -> Group:
    """The summary for a rich console of at least that width. Names are literal: markup in them has no effect."""
    from rich.console import Group
    from rich.text import Text

    parts: list[RenderableType] = [Text(sentences.what(d), style="bold")]
    finding = sentences.scree_finding(d) if d.k > 2 else ""
    parts += [Text(line) for line in (sentences.how(d), sentences.carried(d), finding) if line]
    parts.append(replace(eigenvalues(d), title="", caption="").rich(width=width, limit=_MOST_AXES))
    parts += _section("What makes the axes", _axes(d))
    parts += _section("Notes", [f"- {line}" for line in sentences.doubts(d)])
    if d.certificate is not None and d.certificate.word:
        parts += _section("Certificate", [clean(d.certificate.word)])
    return Group(*parts)


def summary(d: Decomposition, *, width: int = 80) -> str:
    """The same as plain text without colours; everything but the names is ASCII."""
    from rich.console import Console

    file = io.StringIO()
    console = Console(file=file, width=width, color_system=None, legacy_windows=False, force_terminal=False)
    console.print(renderable(d, width=width), soft_wrap=False)
    lines = (line.rstrip().replace("\u2500", "-") for line in file.getvalue().splitlines())
    return "\n".join(lines).rstrip() + "\n"


def _axes(d: Decomposition) -> list[str]:
    names = axis_labels(d)
    shown = [f"{names[axis]}: {sentences.makes(d, axis)}" for axis in range(min(d.k, _AXES_EXPLAINED))]
    return shown + ([f"... and {d.k - _AXES_EXPLAINED} more axes"] if d.k > _AXES_EXPLAINED else [])


def _section(title: str, lines: list[str]) -> list[RenderableType]:
    from rich.text import Text

    return [Text(title, style="bold"), *(Text(line) for line in lines), Text("")] if lines else []
