"""Attributes of HDF5, NetCDF and Zarr arrays that give stored numbers another meaning; Eckart reports them only."""

from __future__ import annotations

from typing import Any

import numpy as np

from eckart.formatting import joined, quoted, shorten
from eckart.notes import Note

_WITHOUT_EFFECT = {"scale_factor": 1.0, "add_offset": 0.0, "_FillValue": np.nan, "missing_value": np.nan}
"""The attributes of the CF conventions [1] for packed and missing values, with the values that change nothing.

[1] https://cfconventions.org/cf-conventions/cf-conventions.html#packed-data
"""
_UNSIGNED = "_Unsigned"
_BY_COLUMNS = {"MATLAB_class": "MATLAB", "rhdf5-NA.OK": "R"}
"""Attributes that MATLAB (format 7.3) and the R package rhdf5 add to arrays."""


def packing_notes(array: Any, name: str) -> tuple[Note, ...]:
    """A note if the attributes of an array ask for another scale, for missing values or for unsigned integers."""
    attributes = getattr(array, "attrs", {})
    found = {key: attributes[key] for key in (*_WITHOUT_EFFECT, _UNSIGNED) if key in attributes}
    shown = [f"{key}={_shown(value)}" for key, value in found.items() if not _is_neutral(key, value)]
    if not shown:
        return ()
    subject, verb, them = ("attribute", "is", "it") if len(shown) == 1 else ("attributes", "are", "them")
    array_name = f"the array {quoted(name)}" if name else "the array"
    text = (
        f"The {subject} {joined(shown)} of {array_name} {verb} not applied: Eckart analyses the numbers as they "
        f"are stored. To apply {them}, save the converted numbers, for example with xarray."
    )
    return (Note("packed_values", text, {"attributes": tuple(found)}),)


def layout_notes(array: Any, name: str) -> tuple[Note, ...]:
    """A note if MATLAB or R wrote the array: they store matrices by columns, and HDF5 by rows [1].

    [1] https://www.bioconductor.org/packages/release/bioc/vignettes/rhdf5/inst/doc/rhdf5.html, section 4.2
    """
    attributes = getattr(array, "attrs", {})
    program = next((program for mark, program in _BY_COLUMNS.items() if mark in attributes), None)
    if program is None or len(array.shape) != 2:
        return ()
    array_name = f"the array {quoted(name)}" if name else "the array"
    shape = " x ".join(map(str, array.shape))
    text = (
        f"{program} wrote {array_name} and stores matrices by columns, so the rows of the file may be columns in "
        f"{program}. Check the shape, which is {shape}. If it is the wrong way round, transpose the matrix before you "
        "save it."
    )
    return (Note("stored_by_columns", text),)


def _is_neutral(key: str, value: object) -> bool:
    """Whether an attribute changes no number."""
    if key == _UNSIGNED:
        return str(_text(value)).lower() != "true"
    try:
        return bool(np.array_equal(np.asarray(value, float).ravel(), [_WITHOUT_EFFECT[key]], equal_nan=True))
    except (TypeError, ValueError):  # not a number, so that its meaning is unknown
        return False


def _text(value: object) -> object:
    return value.decode(errors="replace") if isinstance(value, bytes) else value


def _shown(value: object) -> str:
    return shorten(", ".join(map(str, np.ravel(np.asarray(_text(value)))[:4])), 40)
