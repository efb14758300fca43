"""Small tables that ship with Eckart, for examples and tests.

`usarrests`      arrests per 100,000 residents in the 50 US states in 1973, and the urban population in % (50 x 4)
`films`          films rated from 1 to 5 by users who have not seen all of them (24 x 10, 35 % unknown)
`ratings`        films rated by users with two separate tastes (7 x 5, rank 2)
`ratings_mixed`  the same, with two users who liked one film of the other kind (7 x 5, rank 3)
"""

from __future__ import annotations

import csv
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from eckart.documentation import document
from eckart.errors import ParameterError

__all__ = ["Dataset", "load", "names", "path"]

_FOLDER = Path(__file__).parent


@document
class Dataset(NamedTuple):
    """A table of numbers with the names of its rows and columns.

    Attributes
    ----------
    values : array of shape (n_rows, n_columns)
        The numbers. Unknown values are NaN.
    row_names : tuple of str
        Names of the rows.
    column_names : tuple of str
        Names of the columns.

    {See Also: load [dataset]}

    Examples
    --------
    >>> import eckart as ek
    >>> ek.datasets.load("ratings").values.shape
    (7, 5)
    """

    values: NDArray[np.float64]
    row_names: tuple[str, ...]
    column_names: tuple[str, ...]


@document
def names() -> tuple[str, ...]:
    """List the tables that ship with Eckart.

    Returns
    -------
    tuple of str
        Names of the tables.

    {See Also: load [dataset]}

    Examples
    --------
    >>> import eckart as ek
    >>> ek.datasets.names()
    ('films', 'ratings', 'ratings_mixed', 'usarrests')
    """
    return tuple(sorted(file.stem for file in _FOLDER.glob("*.csv")))


@document
def path(name: str) -> Path:
    """Get the path of the CSV file of a table.

    {Parameters: name [dataset]}

    Returns
    -------
    pathlib.Path
        Path of the file.

    {Raises: ParameterError [dataset]; See Also: names}

    Examples
    --------
    >>> import eckart as ek
    >>> ek.datasets.path("usarrests").name
    'usarrests.csv'
    """
    if name not in names():
        raise ParameterError(f"There is no example table {name!r}. The available tables are {', '.join(names())}.")
    return _FOLDER / f"{name}.csv"


@document
def load(name: str) -> Dataset:
    """Load a table with its row and column names.

    {Parameters: name [dataset]; Returns: Dataset}
        Numbers, row names and column names.

    {Raises: ParameterError [dataset]; See Also: names}

    Examples
    --------
    >>> import eckart as ek
    >>> table = ek.datasets.load("usarrests")
    >>> table.values.shape, table.row_names[0], table.column_names
    ((50, 4), 'Alabama', ('Murder', 'Assault', 'UrbanPop', 'Rape'))
    """
    with path(name).open(encoding="utf-8", newline="") as file:
        (_, *column_names), *lines = csv.reader(file)
    values = np.array([[float(cell or "nan") for cell in line[1:]] for line in lines])
    return Dataset(values, tuple(line[0] for line in lines), tuple(column_names))
