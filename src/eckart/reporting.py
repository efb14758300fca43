"""report: the page about data, a decomposition or a fitted estimator."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import cast

from eckart.aliases import Keywords
from eckart.analysis.analysis import Analysis
from eckart.analysis.analyze import analyze
from eckart.rank.verdict import RankChoice


def report(
    model: object,
    path: str | os.PathLike[str] | None = None,
    *,
    overwrite: bool = False,
    title: str | None = None,
    data: object = None,
    labels: Mapping[str, Sequence[str]] | None = None,
    ranks: RankChoice | str | None = "auto",
    **options: object,
) -> str:
    """Create a report on a decomposition, a fitted estimator or data.

    This is the same as ``analyze(model, ...).report(path)``, and as ``eckart report`` on the command line.

    Parameters
    ----------
    model : data, Decomposition, fitted estimator or Analysis
        Data are decomposed once, by `analyze`. A decomposition with left vectors (``left=True``), or an estimator
        together with `data`, also shows the rows.
    path : str or path, default None
        File to write: Markdown if the name ends in .md, otherwise HTML. None writes no file.
    overwrite : bool, default False
        Replace an existing file.
    title : str, default None
        Title. None uses the name of the method.
    data : array-like, sparse matrix, data frame or path, default None
        The decomposed table. With it, rows are compared with their reconstructions and coloured by columns.
    labels : mapping of str to sequence of str, default None
        Labels of the rows, by name, to colour the rows by.
    ranks : RankChoice, 'auto' or None, default 'auto'
        Result of `choose_rank`. 'auto' applies the rules; None leaves them out.
    **options : dict
        For data: options of `decompose`, including reading options.

    Returns
    -------
    str
        The report. The file is written completely or not at all.

    Raises
    ------
    FileError
        If the file exists and `overwrite` is False.

    See Also
    --------
    summary : Plain text summary.
    decompose : The decomposition.

    Examples
    --------
    >>> import eckart as ek
    >>> arrests = ek.datasets.load("usarrests")
    >>> d = ek.decompose(arrests.values, k=2, scale=True, left=True).named(arrests.row_names, arrests.column_names)
    >>> page = ek.report(d, data=arrests.values)
    >>> page[:15]
    '<!DOCTYPE html>'
    """
    more = cast("Keywords", options)
    found = model if isinstance(model, Analysis) else analyze(model, data=data, labels=labels, ranks=ranks, **more)
    return found.report(path, title=title, overwrite=overwrite)
