"""Functions applied to kernel tiles in place: another pass would cost as much as the product."""

from __future__ import annotations

import numpy as np

from eckart.arrays import Array, astype, is_numpy, namespace
from eckart.engine.backends.written import applied, library
from eckart.kernel_pca import tiles as cuda_tiles
from eckart.kernel_pca.constants import SUMMED_SQUARES


def exponentials(argument: Array, *, lowered: bool) -> Array:
    """exp(min(argument, 0)), or that minus 1; overwrites the argument."""
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


def subtract_squares(left: Array, rows: Array) -> None:
    """left -= the squared lengths of the columns of `rows`, summed in float64."""
    if is_numpy(rows):
        left -= np.einsum("ij,ij->j", rows, rows, dtype=np.float64)
        return
    if cuda_tiles.usable(rows):
        cuda_tiles.subtract_squares(left, rows)
        return
    xp = namespace(rows)
    for start in range(0, rows.shape[0], SUMMED_SQUARES):
        part = rows[start : start + SUMMED_SQUARES, :]
        left -= astype(xp.sum(part * part, axis=0), left.dtype)
