"""The analysis in a notebook cell: the answer, the components, the columns behind them; HTML without scripts."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from eckart.analysis import sentences
from eckart.analysis.labels import component_labels
from eckart.analysis.report.contents import answer
from eckart.analysis.tables.eigenvalues import components_table
from eckart.formatting import clean

if TYPE_CHECKING:
    from eckart.analysis.analysis import Analysis

_MOST_COMPONENTS = 10
_MOST_NOTES = 5


def fragment(found: Analysis) -> str:
    """HTML for `_repr_html_`."""
    d = found.decomposition
    table = components_table(d)
    head = "".join(f"<th>{_text(name)}</th>" for name in (*table.columns, "columns"))
    body = []
    for i, cells in enumerate(table.cells(_MOST_COMPONENTS)):
        kept = found.recommendation.k is not None and i < found.recommendation.k
        shown = "".join(f"<td>{_text(cell)}</td>" for cell in (*cells, sentences.makes(d, i)))
        style = ' style="font-weight:bold"' if kept else ""
        body.append(f"<tr{style}>{shown}</tr>")
    left = len(component_labels(d)) - len(body)
    more = f"<p>{left} more component{'s' * (left > 1)}.</p>" if left > 0 else ""
    lines = "".join(f"<p>{_text(line)}</p>" for line in answer(found))
    notes = "".join(f"<li>{_text(note)}</li>" for note in sentences.doubts(d, found.reading)[:_MOST_NOTES])
    notes = f"<ul>{notes}</ul>" if notes else ""
    rows = f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(body)}</tbody></table>"
    return f"<div><p><b>{_text(sentences.what(d))}</b></p>{lines}{rows}{more}{notes}</div>"


def _text(text: str) -> str:
    return escape(clean(text))
