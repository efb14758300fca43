"""Products and functions that write into an existing array, for each library.

The array API allocates a new array for every result; with products of large tiles, each additional memory pass counts.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from eckart.arrays import Array, is_numpy, namespace


def library(array: Array) -> str:
    return type(array).__module__.partition(".")[0]


def applied(function: str, array: Array) -> Array:
    """function(array), in place if the library supports it."""
    xp = namespace(array)
    known = is_numpy(array) or library(array) in ("torch", "cupy")
    return getattr(xp, function)(array, out=array) if known else getattr(xp, function)(array)


def less_product(rows: Array, first: Array, second: Array) -> Array:
    """rows - first second; overwrites the rows."""
    if library(rows) == "torch":
        return rows.addmm_(first, second, alpha=-1.0)
    rows -= first @ second
    return rows


def put_product(first: Array, second: Array, place: Array) -> Array:
    """first second, written to `place`."""
    if isinstance(place, np.ndarray):
        return np.matmul(first, second, out=place)
    if library(place) == "torch":
        xp: Any = namespace(place)
        return xp.matmul(first, second, out=place)
    if library(place) == "cupy" and place.flags.c_contiguous:
        return first.dot(second, out=place)
    product = first @ second
    place[...] = product
    return product
