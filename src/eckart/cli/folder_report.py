"""eckart report FOLDER: a page for each table of a folder, and an index page that lists the answers."""

from __future__ import annotations

import os
from collections.abc import Callable
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from eckart.cli.app import Refused
from eckart.formatting import clean
from eckart.notes import for_door

if TYPE_CHECKING:
    from eckart.analysis.analysis import Analysis

_TABLES = (".csv", ".tsv", ".parquet", ".arrow", ".feather", ".npy", ".mtx")


def tables_in(folder: str) -> list[Path]:
    """The tables in a folder of separate tables.

    Empty if the folder is one table (Parquet parts, Zarr) or not a folder.
    """
    path = Path(folder)
    if not os.path.isdir(folder) or path.suffix == ".zarr":  # noqa: PTH112 - Path.is_dir fails on a name too long
        return []
    found = sorted(file for file in path.iterdir() if file.suffix.lower() in _TABLES and file.is_file())
    return [] if all(file.suffix.lower() == ".parquet" for file in found) else found


def write_index(
    files: list[Path], folder: Path, analyse: Callable[[Path, Path], Analysis], *, overwrite: bool
) -> tuple[int, int]:
    """Write a page for each file and index.html in `folder`.

    Return how many tables have a page and how many were refused.
    """
    from eckart.errors import EckartError
    from eckart.files import new_file

    folder.mkdir(parents=True, exist_ok=True)
    rows, refused = [], 0
    for file in files:
        page = folder / f"{file.name}.html"
        try:
            found = analyse(file, page)
        except (EckartError, Refused) as error:
            rows.append((file.name, "", str(error)))
            refused += 1
            continue
        d = found.decomposition
        rows.append(
            (file.name, page.name, f"{d.rows:,} x {d.columns:,}. {for_door(found.recommendation.sentence, 'cli')}")
        )
    with new_file(folder / "index.html", overwrite=overwrite) as target:
        target.write(_index(rows).encode("utf-8"))
    return len(files) - refused, refused


def _index(rows: list[tuple[str, str, str]]) -> str:
    """The index page: name, link, answer or the reason for the refusal."""
    lines = []
    for name, page, answer in rows:
        shown = escape(clean(name))
        linked = f'<a href="{escape(page)}">{shown}</a>' if page else shown
        lines.append(f"<tr><th scope='row'>{linked}</th><td>{escape(clean(answer))}</td></tr>")
    head = (
        '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, '
        'initial-scale=1"><title>Reports</title><style>body{margin:2rem auto;padding:0 1rem;max-width:60rem;font:1rem '
        "system-ui,sans-serif}table{border-collapse:collapse}th,td{padding:.4rem .8rem;border-bottom:1px solid #ddd;"
        "text-align:left;vertical-align:top;overflow-wrap:anywhere}</style></head><body>"
    )
    count = f"{len(rows)} table{'' if len(rows) == 1 else 's'}"
    return f"{head}<h1>Reports</h1><p>{count}.</p><table><tbody>{''.join(lines)}</tbody></table></body></html>\n"
