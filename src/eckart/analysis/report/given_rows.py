"""Some rows of the data given to a report, dense and on the host; the rest stays where it is."""

from __future__ import annotations

import numpy as np

from eckart.arrays import Matrix, from_numpy, namespace, to_numpy
from eckart.devices import is_off_host, to_host


def at_edge(data: object) -> Matrix:
    """Copy sparse matrices from a GPU to the host, once; leave everything else unchanged."""
    sparse = is_off_host(data) and (hasattr(data, "toarray") or "sparse" in str(getattr(data, "layout", "")))
    return to_host(data) if sparse else data


def some(data: Matrix, rows: np.ndarray, columns: np.ndarray | None = None) -> np.ndarray:
    """data[rows][:, columns] in float64."""
    if is_off_host(data):
        xp = namespace(data)
        part = xp.take(data, from_numpy(np.asarray(rows), data), axis=0)
        part = to_numpy(part if columns is None else xp.take(part, from_numpy(np.asarray(columns), data), axis=1))
    else:
        part = data[rows] if columns is None else data[rows][:, columns]
    part = part.toarray() if hasattr(part, "toarray") else part
    return np.asarray(part, dtype=np.float64)
