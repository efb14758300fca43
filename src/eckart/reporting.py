"""report: the page about data, a decomposition or a fitted estimator."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import cast

from eckart.aliases import Keywords
from eckart.analysis.analysis import Analysis
from eckart.analysis.analyze import analyze
from eckart.analysis.report.markdown import is_markdown
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

    ``report(model, path, ...)`` is the same as ``analyze(model, ...).report(path)``, and as ``eckart report`` on the
    command line.

    Parameters
    ----------
    model : data, Decomposition, fitted estimator or Analysis
        What to report on. Data are analysed by `analyze`. The report shows individual rows if the decomposition
        contains their scores (``left=True``), or if you pass an estimator together with `data`.
    path : str or path, default None
        File to write. If its name ends in .md, the report is Markdown, otherwise HTML. None writes no file.
    overwrite : bool, default False
        Replace an existing file.
    title : str, default None
        Title. None uses the name of the method.
    data : array-like, sparse matrix, data frame or path, default None
        The fitted data. With them, the report compares rows with their reconstructions and can colour rows by a column.
    labels : mapping of str to sequence of str, default None
        Labels that the report can use to colour the rows. Each key is the name of a label, and each value contains one
        string per row.
    ranks : RankChoice, 'auto' or None, default 'auto'
        Result of `choose_rank`. 'auto' applies the rules for the number of components. None leaves this section out.
    **options : dict
        Options of `decompose`, including reading options, if `model` is data.

    Returns
    -------
    str
        The report as text. The file is written completely or not at all.

    Raises
    ------
    FileError
        If the file exists and `overwrite` is False, or if its name ends in the suffix of another format, such as .pdf.

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
    if path is not None:
        is_markdown(path)  # refuses other formats before the analysis
    more = cast("Keywords", options)
    found = model if isinstance(model, Analysis) else analyze(model, data=data, labels=labels, ranks=ranks, **more)
    return found.report(path, title=title, overwrite=overwrite)
