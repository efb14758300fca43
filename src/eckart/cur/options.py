"""The options of CUR: names, types and defaults; `eckart.CUR` describes them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from eckart.options import MatrixKeywords, MatrixOptions

Selection = Literal["pivot", "norm", "leverage", "volume"]
Core = Literal["best", "intersection"]


@dataclass(frozen=True, kw_only=True)
class CUROptions(MatrixOptions):
    """Options with their defaults, not yet checked."""

    n_columns: int | None = None
    n_rows: int | None = None
    select: Selection = "pivot"
    core: Core = "best"
    cutoff: float | None = None


class CURKeywords(MatrixKeywords, total=False):
    """The same as keyword arguments."""

    n_columns: int | None
    n_rows: int | None
    select: Selection
    core: Core
    cutoff: float | None
