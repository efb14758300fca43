"""Reading options that the library and the command line share; this module loads nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class FileOptions:
    """Where in a file the table is, and how it is written; None means detected from the data."""

    format: str | None = None
    """Format of a file, regardless of its name."""
    key: str | None = None
    """Array of an .npz, HDF5 or Zarr file, of a group or a mapping; table or query of a database."""
    layer: str | None = None
    """Layer of an AnnData object or file."""
    delimiter: str | None = None
    decimal: str | None = None
    encoding: str | None = None
    header: bool | int | None = None
    """Line of a text file that contains the column names, counted from 1; False if no line does."""
    missing_values: Sequence[str | float] = ()
    """Texts and numbers that stand for missing values, in addition to those that every reader knows."""
