"""The options of PCA and SVD: names, types and defaults; `eckart.decompose` describes them."""

from __future__ import annotations

from dataclasses import dataclass
from os import PathLike
from typing import TYPE_CHECKING, Literal

from eckart.options import FitKeywords, Seed
from eckart.result import Which

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from eckart.engine.blocks.reading import ProgressCallback

Solver = Literal["auto", "exact", "direct", "gram", "lanczos"]
Missing = Literal["error", "mean", "em"]


@dataclass(frozen=True, kw_only=True)
class SVDOptions:
    """Options with their defaults, not yet checked, in the order in which `help(decompose)` lists them."""

    k: int | None = None
    explain: float | None = None
    error: float | None = None
    center: bool | None = None
    scale: bool = False
    ddof: int = 1
    which: Which = "largest"
    sample_weight: ArrayLike | None = None
    solver: Solver = "auto"
    tol: float | None = None
    left: bool = False
    rng: Seed = None
    memory: str | int | None = None
    max_passes: int = 200
    stream: bool | None = None
    checkpoint: str | PathLike[str] | None = None
    callback: ProgressCallback | None = None
    executor: object = None
    device: str | None = None
    missing: Missing = "error"

    @property
    def plain(self) -> bool:
        """Whether rows in memory need no preparation except centring."""
        special = self.left or self.scale or self.sample_weight is not None or self.which != "largest"
        return not special and self.missing == "error" and self._in_place

    @property
    def _in_place(self) -> bool:
        """Whether rows in memory are processed at once, by this process and on their own device."""
        elsewhere = (self.checkpoint, self.executor, self.device, self.memory)
        return not self.stream and all(option is None for option in elsewhere)


class SVDKeywords(FitKeywords, total=False):
    """The same as keyword arguments."""

    k: int | None
    explain: float | None
    error: float | None
    center: bool | None
    scale: bool
    ddof: int
    which: Which
    sample_weight: ArrayLike | None
    solver: Solver
    tol: float | None
    max_passes: int
    stream: bool | None
    checkpoint: str | PathLike[str] | None
    callback: ProgressCallback | None
    executor: object
    device: str | None
    missing: Missing
