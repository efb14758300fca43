"""The options of Isomap: names, types and defaults; `eckart.Isomap` describes them."""

from __future__ import annotations

from dataclasses import dataclass

from eckart.options import CommonOptions, FitKeywords


@dataclass(frozen=True, kw_only=True)
class IsomapOptions(CommonOptions):
    """Options with their defaults, not yet checked."""

    k: int = 2
    n_neighbors: int | None = 5
    radius: float | None = None
    n_landmarks: int | None = None
    solver: str = "auto"
    tol: float | None = None
    left: bool = True


class IsomapKeywords(FitKeywords, total=False):
    """The same as keyword arguments."""

    k: int
    n_neighbors: int | None
    radius: float | None
    n_landmarks: int | None
    solver: str
    tol: float | None
