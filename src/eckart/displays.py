"""HTML for notebooks: uniform tables and lists for all results. All text is escaped."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

_CELL = "padding:2px 10px;text-align:{side}"
_CAPTION = "caption-side:bottom;text-align:left;max-width:48em;opacity:0.75"


def html_table(
    title: str, columns: Sequence[str], rows: Iterable[Sequence[str]], caption: str = "", text_columns: int = 1
) -> str:
    """A table whose first `text_columns` columns are aligned left and the others right."""
    head = "".join(_cell("th", name, i < text_columns) for i, name in enumerate(columns))
    body = "".join(
        f"<tr>{''.join(_cell('td', cell, i < text_columns) for i, cell in enumerate(row))}</tr>" for row in rows
    )
    note = f'<caption style="{_CAPTION}">{escape(caption)}</caption>' if caption else ""
    table = f"<table>{note}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    return _titled(title, table)


def html_facts(title: str, facts: Iterable[tuple[str, str]], text: str = "") -> str:
    """Names and values, one pair per line, below a sentence."""
    rows = "".join(f"<tr>{_cell('th', name, True)}{_cell('td', value, True)}</tr>" for name, value in facts)
    sentence = f"<p>{escape(text)}</p>" if text else ""
    return _titled(title, f"{sentence}<table><tbody>{rows}</tbody></table>")


def html_page(page: str) -> str:
    """A whole page inside a frame, which isolates its styles and scripts."""
    return (
        f'<iframe srcdoc="{escape(page, quote=True)}" sandbox="allow-scripts" '
        'style="width:100%;height:480px;border:1px solid #ddd"></iframe>'
    )


def _titled(title: str, content: str) -> str:
    return f"<div><b>{escape(title)}</b>{content}</div>" if title else f"<div>{content}</div>"


def _cell(tag: str, content: str, left: bool) -> str:
    return f'<{tag} style="{_CELL.format(side="left" if left else "right")}">{escape(content)}</{tag}>'
