"""A table as a value: title, columns, rows, caption. It prints in 80 columns and converts to a data frame or JSON."""

from __future__ import annotations

import csv
import io
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from eckart.displays import html_table
from eckart.documentation import document
from eckart.formatting import indices, number, percent, short_names, shorten, wrapped

if TYPE_CHECKING:
    from collections.abc import Callable

    import pandas as pd
    from rich.table import Table as RichTable

Cell = str | int | float | None

_NAME_WIDTH = 24
_GAP = 2
_RICH_GAP = 3
_RICH_EDGES = 4
"""Width of the borders and padding of a line."""
_HTML_ROWS = 60


@dataclass(frozen=True)
class Table:
    """A table with a title, named columns, rows and a caption.

    A table prints as aligned text, and converts to a data frame, CSV or JSON.

    Attributes
    ----------
    title : str
        Heading above the table.
    columns : tuple of str
        Names of the columns.
    rows : tuple of tuple
        Cells: text, numbers or None.
    caption : str
        Explanation below the table.
    kinds : tuple of str
        Format of each column: 'text', 'number', 'count', 'percent' (shares between 0 and 1), 'floor' and 'ceiling'
        (percentages rounded down and up, so that bounds remain valid), 'chance' (p-values), or 'quantity' (four
        digits). If empty, the first column is text and the others are numbers.

    See Also
    --------
    tables.eigenvalues : Example of a function that returns a Table.

    Examples
    --------
    >>> import eckart as ek
    >>> table = ek.types.Table("Sizes", ("name", "size"), (("a", 1.5), ("b", 20.25)))
    >>> print(table.text(), end="")
    Sizes
    <BLANKLINE>
    name   size
    ----  -----
    a      1.50
    b     20.25
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    caption: str = ""
    kinds: tuple[str, ...] = ()

    def to_pandas(self) -> pd.DataFrame:
        """Convert to a data frame.

        Returns
        -------
        pandas.DataFrame
            The rows, indexed by the first column.

        Raises
        ------
        MissingDependencyError
            If pandas is not installed.
        """
        from eckart.errors import require

        pandas = require("pandas", purpose="tables as data frames")
        frame: pd.DataFrame = pandas.DataFrame(list(self.rows), columns=list(self.columns))
        return frame.set_index(self.columns[0])

    @document
    def to_dict(self) -> dict[str, object]:
        """Convert to a dict of plain values, for JSON.

        {Returns: dict}
            Title, columns, rows and caption. Numbers that are not finite become None.
        """
        rows = [[None if isinstance(c, float) and not math.isfinite(c) else c for c in row] for row in self.rows]
        return {"title": self.title, "columns": list(self.columns), "rows": rows, "caption": self.caption}

    @document
    def csv(self, *, guard: bool = False) -> str:
        """Format as comma-separated text with full precision.

        Parameters
        ----------
        guard : bool, default False
            Put an apostrophe before text such as '=cmd()', which a spreadsheet would execute as a formula.

        {Returns: str [text]}
        """
        file = io.StringIO()
        writer = csv.writer(file, lineterminator="\n")
        for row in (self.columns, *self.rows):
            writer.writerow([f"'{cell}" if guard and is_formula(cell) else cell for cell in row])
        return file.getvalue()

    def cells(self, limit: int | None = None) -> list[list[str]]:
        """Format the cells as text.

        Parameters
        ----------
        limit : int or None, default None
            Maximum number of rows. None formats all.

        Returns
        -------
        list of list of str
            The formatted rows.
        """
        kinds = self.kinds or ("text",) + ("number",) * (len(self.columns) - 1)
        shown = [_column([row[i] for row in self.rows[:limit]], kind) for i, kind in enumerate(kinds)]
        return [list(row) for row in zip(*shown, strict=True)]

    @document
    def text(self, *, width: int = 80, limit: int = 40) -> str:
        """Format as aligned plain text.

        Columns and rows that do not fit are left out, and the last line states how many.

        {Parameters: width, limit [40]; Returns: str [text]}
        """
        body, widths = self._fitted(width, limit, _GAP)
        lines = [shorten(self.title, width), ""] if self.title else []
        for row in [list(self.columns), ["-" * n for n in widths], *body]:
            first = _padded(row[0], widths[0], right=False)
            rest = (_padded(cell, n, right=True) for cell, n in zip(row[1:], widths[1:], strict=False))
            lines.append((" " * _GAP).join((first, *rest)).rstrip())
        for words in (self._left_out(len(body), len(widths)), self.caption):
            lines += wrapped(words, width).splitlines()
        return "\n".join(lines) + "\n"

    @document
    def rich(self, *, width: int = 80, limit: int = 40) -> RichTable:
        """Format for a rich console.

        {Parameters: width [rich], limit [40]}

        Returns
        -------
        rich.table.Table
            The table. Markup in names has no effect.
        """
        from rich.box import SIMPLE_HEAD
        from rich.table import Table as RichTable
        from rich.text import Text

        body, widths = self._fitted(width - _RICH_EDGES, limit, _RICH_GAP)
        notes = " ".join(line for line in (self._left_out(len(body), len(widths)), self.caption) if line)
        table = RichTable(title=Text(self.title) if self.title else None, caption=Text(notes), box=SIMPLE_HEAD)
        table.title_justify = table.caption_justify = "left"
        kinds = self.kinds or ("text", *("number",) * len(self.columns))
        for i, (name, kind) in enumerate(zip(self.columns[: len(widths)], kinds, strict=False)):
            side: Literal["left", "right"] = "left" if kind == "text" else "right"
            table.add_column(Text(name), justify=side, no_wrap=True, style="" if i else "bold")
        for row in body:
            table.add_row(*(Text(cell) for cell in row[: len(widths)]))
        return table

    def __str__(self) -> str:
        return self.text()

    def _repr_html_(self) -> str:
        kinds = self.kinds or ("text",)
        texts = next((i for i, kind in enumerate(kinds) if kind != "text"), len(kinds))
        body = self.cells(_HTML_ROWS)
        notes = " ".join(line for line in (self._left_out(len(body), len(self.columns)), self.caption) if line)
        return html_table(self.title, self.columns, body, notes, text_columns=texts)

    @document
    def fits(self, width: int = 80, limit: int = 40) -> bool:
        """Check whether all columns fit into a given width.

        {Parameters: width [rich], limit [40]}

        Returns
        -------
        bool
            Whether `rich` shows every column.
        """
        return len(self._fitted(width - _RICH_EDGES, limit, _RICH_GAP)[1]) == len(self.columns)

    def _fitted(self, width: int, limit: int, gap: int) -> tuple[list[list[str]], list[int]]:
        """The shown cells and the widths of as many columns as fit."""
        cells = self.cells(limit)
        names = short_names((row[0] for row in cells), _NAME_WIDTH)
        body = [[names[row[0]], *row[1:]] for row in cells]
        widths: list[int] = []
        for i, name in enumerate(self.columns):
            need = max([_wide(name), *(_wide(row[i]) for row in body)])
            if i > 1 and sum(widths) + gap * len(widths) + need > width:
                break
            widths.append(need)
        return body, widths

    def _left_out(self, rows: int, columns: int) -> str:
        row = self.columns[0] if self.columns[:1] == ("component",) else "row"
        left = [(len(self.rows) - rows, row), (len(self.columns) - columns, "column")]
        words = [f"{count:,} more {word}{'s' * (count > 1)}" for count, word in left if count > 0]
        return f"Not shown: {' and '.join(words)}." if words else ""


def is_formula(cell: Cell) -> bool:
    return isinstance(cell, str) and cell.startswith(("=", "+", "-", "@", "\t", "\r"))


def _column(cells: list[Cell], kind: str) -> list[str]:
    """The cells of one column, with equal decimals for all numbers."""
    numbers = [abs(cell) for cell in cells if isinstance(cell, int | float) and math.isfinite(cell)]
    decimals = indices(max(numbers, default=0.0))
    return [_shown(cell, kind, decimals) for cell in cells]


def _shown(cell: Cell, kind: str, decimals: int | None) -> str:
    if cell is None or (isinstance(cell, float) and not math.isfinite(cell)):
        return "-"
    if isinstance(cell, str):
        return shorten(cell, 200)
    if kind in _FORMATS:
        return _FORMATS[kind](cell)
    return f"{cell:.3e}" if decimals is None else f"{cell:z,.{decimals}f}"


def _share(cell: float) -> str:
    """A share in percent. '>' marks one that is not rounded up to 100 %: bounds shown next to it have more digits."""
    shown = percent(cell, 2)
    return shown if shown == f"{100 * cell:.2f} %" else f">{shown}"


_FORMATS: dict[str, Callable[[float], str]] = {
    "count": lambda cell: f"{cell:,}",
    "quantity": lambda cell: number(float(cell)),
    "percent": _share,
    "chance": lambda cell: f"{cell:.4f}" if cell >= 1e-4 else f"{cell:.0e}",
    "floor": lambda cell: f"{math.floor(cell * 1e5) / 1000:.3f} %",
    "ceiling": lambda cell: f"{min(math.ceil(cell * 1e5) / 1000, 100.0):.3f} %",
}
"""Formatting function per kind of column; bounds are rounded outwards."""


def _wide(text: str) -> int:
    from rich.cells import cell_len

    return len(text) if text.isascii() else cell_len(text)


def _padded(text: str, width: int, *, right: bool) -> str:
    space = " " * max(width - _wide(text), 0)
    return space + text if right else text + space
