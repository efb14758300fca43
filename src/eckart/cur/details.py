"""Details of a CUR decomposition: chosen columns and rows, the core, the exact error, and a priori bounds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from eckart.arrays import Array, Matrix, from_numpy
from eckart.cur.core import Core
from eckart.result import Details


@dataclass(frozen=True, kw_only=True)
class Bound:
    """A bound of ||A - C U R|| from the literature.

    Attributes
    ----------
    bound : float
        Upper bound of the error, in the units of the data.
    factor : float or None
        Bound / ||A - A_k||, for bounds without an additive term.
    eps : float or None
        Additional error that the bound allows, relative to ||A|| or ||A - A_k||.
    expected_eps : float or None
        eps in the bound of the expected error.
    delta : float or None
        Probability that the bound fails.
    applies : bool
        Whether columns, rows and core were chosen as the theorem requires.
    proved : bool
        Whether a theorem proves the bound for this choice, with all its constants.
    statement : str
        The bound as a formula, with its numbers.
    """

    bound: float
    factor: float | None = None
    eps: float | None = None
    expected_eps: float | None = None
    delta: float | None = None
    applies: bool
    proved: bool
    statement: str


@dataclass(frozen=True)
class CURDetails(Details):
    """Chosen columns and rows, factors and errors of A ~ C U R."""

    shapes: ClassVar = {
        "columns": ("chosen columns",), "column_scales": ("chosen columns",), "column_times": ("chosen columns",),
        "rows": ("chosen rows",), "row_scales": ("chosen rows",), "row_times": ("chosen rows",),
        "C": ("rows", "chosen columns"), "R": ("chosen rows", "columns"),
    }  # fmt: skip
    k: int
    select: str
    core_kind: str
    columns: np.ndarray
    column_scales: np.ndarray
    column_times: np.ndarray
    """How often each column was drawn."""
    rows: np.ndarray
    row_scales: np.ndarray
    row_times: np.ndarray
    C: Matrix
    R: Matrix
    core: Core
    error: float
    """||A - C U R||."""
    error_rounding: float
    """Bound of the rounding in `error`."""
    relative_error: float
    """||A - C U R|| / ||A||."""
    best_error: tuple[float, float]
    """Bounds of ||A - A_k||, which no approximation of rank k can beat."""
    ratio: tuple[float, float]
    """Bounds of error / best error."""
    bounds: dict[str, Bound]
    chosen_column_names: tuple[str, ...] | None = None
    chosen_row_names: tuple[str, ...] | None = None

    def fault(self, rows: int) -> str | None:
        for name, places, size in (("columns", self.columns, self.R.shape[1]), ("rows", self.rows, rows)):
            if places.dtype.kind not in "iu" or (places.size and not 0 <= places.min() <= places.max() < size):
                return f"the chosen {name} are not whole numbers from 0 to {size - 1}"
        return None


def factor_of(core: Core, prototype: Array) -> Core:
    """The core with its factors in the library and on the device of `prototype`."""

    return Core(**{name: from_numpy(factor, prototype) for name, factor in core.parts().items()})
