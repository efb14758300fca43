"""Numbers for a script in a page: typed arrays as base64, about a third of the size of decimal text."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING

import numpy as np

from eckart.aliases import JsonObject

if TYPE_CHECKING:
    from numpy.typing import NDArray

_MISSING = 65_535
"""Code of a missing value; codes of other values are 0 to 65,534."""


def packed(array: np.ndarray) -> JsonObject:
    """The array in row order: float32, or float64 if float32 cannot represent its range."""
    kind = array.dtype.str[1:] if array.dtype.kind == "u" else _precision(array)
    data = np.ascontiguousarray(array, dtype=f"<{kind}")
    return {"type": kind, "data": base64.b64encode(data.tobytes()).decode("ascii")}


def levels(table: NDArray[np.float64]) -> JsonObject:
    """Each column quantised as low + step * code between its ends: half the size of float32, for plots."""
    known = np.isfinite(table)
    low = np.where(known, table, np.inf).min(axis=0, initial=np.inf)
    high = np.where(known, table, -np.inf).max(axis=0, initial=-np.inf)
    low, high = (np.where(np.isfinite(end), end, 0.0) for end in (low, high))
    span = high / (_MISSING - 1) - low / (_MISSING - 1)
    step = np.where(span > 0, span, 1.0)
    codes = np.where(known, np.rint((np.where(known, table, low) - low) / step), _MISSING)
    return {**packed(codes.astype(np.uint16)), "low": low.tolist(), "step": step.tolist()}


def _precision(array: np.ndarray) -> str:
    sizes = np.abs(array[np.isfinite(array) & (array != 0)])
    narrow = np.finfo(np.float32)
    return "f4" if not sizes.size or (sizes.max() < narrow.max and sizes.max() > narrow.tiny * 1e6) else "f8"
