"""The options of CUR: names, types and defaults; `eckart.CUR` describes them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from eckart.options import CommonOptions, FitKeywords

Selection = Literal["pivot", "norm", "leverage", "volume"]
Core = Literal["best", "intersection"]


@dataclass(frozen=True, kw_only=True)
class CUROptions(CommonOptions):
    """Options with their defaults, not yet checked."""

    k: int | None = None
    explain: float | None = None
    error: float | None = None
    n_columns: int | None = None
    n_rows: int | None = None
    select: Selection = "pivot"
    core: Core = "best"
    cutoff: float | None = None
    tol: float | None = None
    stream: bool | None = None
    device: str | None = None


class CURKeywords(FitKeywords, total=False):
    """The same as keyword arguments."""

    k: int | None
    explain: float | None
    error: float | None
    n_columns: int | None
    n_rows: int | None
    select: Selection
    core: Core
    cutoff: float | None
    tol: float | None
    stream: bool | None
    device: str | None
