"""Details of a factorisation beyond its factors: losses, runs, and options for coordinates of new rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from eckart.nmf.options import CoordinateOptions
from eckart.result import Details


@dataclass(frozen=True)
class NMFDetails(Details):
    """Losses and runs of A ~ W H."""

    shapes: ClassVar = {"lengths": ("k",), "sums": ("k",), "runs": ("runs",)}
    lengths: np.ndarray
    """Lengths of the rows of H; the rows of `right` have unit length."""
    options: CoordinateOptions
    history: np.ndarray
    """Loss after each iteration of the best run."""
    error: float
    """sqrt(2 loss); for the squared error the Frobenius norm of A - W H."""
    iterations: int
    compressed_iterations: int
    """Preliminary iterations: on a compressed table, or for the squared error before Kullback-Leibler."""
    converged: bool
    why: str
    """Why the iteration stopped."""
    runs: np.ndarray
    """Loss of each run."""
    agreement: np.ndarray
    """Cosines between the parts of each run and those of the best."""
    sums: np.ndarray
    """Column sums of W."""
    error_rounding: float | None = None
    """Bound of the error of `error`, for the factors that are returned. None if it is not known."""
