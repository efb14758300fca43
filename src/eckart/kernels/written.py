"""Products and functions written over an array that is there, in the words of each library.

The array API makes a new array of every result; beside products of large tiles each further pass counts.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from eckart.array_api import Array, astype, is_numpy, namespace
from eckart.kernels import cuda_tiles

_GROUP = 32
"""Squares of float32 numbers are added up in float32 over so many, and in float64 beyond."""


def library(array: Array) -> str:
    return type(array).__module__.partition(".")[0]


def applied(function: str, array: Array) -> Array:
    """function(array), in the memory of the array where its library can."""
    xp = namespace(array)
    known = is_numpy(array) or library(array) in ("torch", "cupy")
    return getattr(xp, function)(array, out=array) if known else getattr(xp, function)(array)


def exponentials(argument: Array, *, lowered: bool) -> Array:
    """exp(min(argument, 0)), or that less 1; the argument is gone."""
    function = "expm1" if lowered else "exp"
    if is_numpy(argument):
        np.minimum(argument, 0.0, out=argument)
    elif cuda_tiles.usable(argument):
        cuda_tiles.exponentials(argument, lowered=lowered)
        return argument
    elif library(argument) == "torch":
        argument.clamp_(max=0.0)
    else:
        xp = namespace(argument)
        argument = xp.where(argument > 0.0, xp.zeros_like(argument), argument)
    return applied(function, argument)


def less_product(rows: Array, first: Array, second: Array) -> Array:
    """rows - first second; the rows are gone."""
    if library(rows) == "torch":
        return rows.addmm_(first, second, alpha=-1.0)
    rows -= first @ second
    return rows


def put_product(first: Array, second: Array, place: Array) -> Array:
    """first second, put into `place`."""
    if library(place) == "torch":
        xp: Any = namespace(place)
        return xp.matmul(first, second, out=place)
    if library(place) == "cupy" and place.flags.c_contiguous:
        return first.dot(second, out=place)
    product = first @ second
    place[...] = product
    return product


def subtract_squares(left: Array, rows: Array) -> None:
    """left -= the squared lengths of the columns of `rows`, added up in float64."""
    if is_numpy(rows):
        left -= np.einsum("ij,ij->j", rows, rows, dtype=np.float64)
        return
    if cuda_tiles.usable(rows):
        cuda_tiles.subtract_squares(left, rows)
        return
    xp = namespace(rows)
    for start in range(0, rows.shape[0], _GROUP):
        part = rows[start : start + _GROUP, :]
        left -= astype(xp.sum(part * part, axis=0), left.dtype)
