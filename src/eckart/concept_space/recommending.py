"""The best columns of many rows at once."""

from __future__ import annotations

import numpy as np

from eckart.arrays import is_numpy
from eckart.concept_space.best import Best, Numbers, best, best_there
from eckart.concept_space.folding import blind_rows
from eckart.concept_space.geometry import Geometry
from eckart.concept_space.stored_rows import Rows
from eckart.errors import InputError
from eckart.wording import DATA, INCLUDE_KNOWN


def recommended(geometry: Geometry, part: Rows, n: int, *, exclude_known: bool) -> tuple[Best, Numbers]:
    """The best columns of each row, and the rows without recommendations because nothing is known about them."""
    if exclude_known and part.opened is None:
        raise InputError(
            "To leave out columns in which a row already has an entry, Eckart needs the rows of the "
            f"data, but the model does not contain them. {DATA}, or keep these columns with "
            f"{INCLUDE_KNOWN}."
        )
    forth, back = geometry.forth(part.coordinates), geometry.back
    if is_numpy(back):
        found = best(forth, back, n, part.known if exclude_known else None)
    else:
        found = best_there(forth, back, n, part.known_there if exclude_known else None)
    cold = blind_rows(geometry, part) if geometry.mean is None else np.zeros(0, np.int64)
    found.indices[cold], found.scores[cold] = -1, np.nan
    return found, cold
