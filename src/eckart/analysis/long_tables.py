"""Tables with one value per line (long form): recognise them, because their components mean nothing."""

from __future__ import annotations

import numpy as np

from eckart.analysis.column_roles import label_role
from eckart.engine.blocks.source import Metadata
from eckart.io.entries.rating_lines import RatingLines, is_rating, rating_lines
from eckart.io.roles import quoted
from eckart.notes import Note
from eckart.wording import either

_RECOMMEND = "'eckart recommend'"


def value_lines(matrix: np.ndarray, metadata: Metadata) -> RatingLines | None:
    """The entries of a table with one value per line; None if its lines are rows with names, or pairs mostly repeat."""
    lines = rating_lines(matrix, metadata)
    if lines is None or is_rating(lines.titles[2]):
        return lines
    named = not all(map(str.isdigit, metadata.row_names or ()))
    return None if named or 2 * len(lines.values) <= len(matrix) else lines


def note_on_lines(lines: RatingLines | None, metadata: Metadata) -> list[Note]:
    """A note on a table with one value per line, whose components mean nothing."""
    if lines is None:
        return []
    row, column, number = lines.titles
    if label_role(column, metadata.labels.get(column, ())) == "date":
        row, column = column, row
    row, column, number = quoted(row), quoted(column), quoted(number)
    seen = f"Each line has one value of a table: a row ({row}), a column ({column}) and a number ({number})."
    if is_rating(lines.titles[2]):
        remedy = f"Use {either('eckart.Ratings', _RECOMMEND)} instead of a decomposition."
    else:
        remedy = (
            f"First reshape the data to one line per {row} and one column per {column}, for example with "
            "pandas.pivot_table."
        )
    code = "rating_lines" if is_rating(lines.titles[2]) else "long_table"
    return [Note(code, f"{seen} The components of such a list would be meaningless. {remedy}")]
