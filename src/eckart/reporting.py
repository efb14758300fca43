"""report: the page about data, a decomposition or a fitted estimator."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from eckart.analysis.analyze import Analysis, analyze
from eckart.rank.verdict import RankChoice


def report(
    model: Any,
    path: str | os.PathLike[str] | None = None,
    *,
    overwrite: bool = False,
    title: str | None = None,
    data: Any = None,
    labels: Mapping[str, Sequence[str]] | None = None,
    ranks: RankChoice | str | None = "auto",
    **options: Any,
) -> str:
    """The report as text, and written to `path` when one is given: whole or not at all, never over another file.

    The same as ``analyze(model, ...).report(path)``, and as ``eckart report`` on the command line.

    Parameters
    ----------
    model : data, Decomposition, fitted estimator, or Analysis
        Data are decomposed once, by `analyze`. A decomposition with left vectors (`left=True`), or an estimator with
        `data`, shows the rows too.
    path : path, optional
        Where to write it. A name that ends in .md gives Markdown, any other the HTML page.
    overwrite : bool
        Replace a file that exists.
    title : str, optional
        Title; the method and the name of the data by default.
    data : anything `decompose` takes, optional
        For a model: the table that was decomposed. With it, rows are compared with what few components rebuild, and
        coloured by columns.
    labels : mapping of str to sequence of str, optional
        Text for each row, by name, to colour the rows by.
    ranks : "auto", RankChoice or None
        What `eckart.choose_rank` returned; "auto" asks the rules, None asks none.
    **options
        For data: those of `decompose`, reading options included.

    Examples
    --------
    >>> import eckart as ek
    >>> arrests = ek.datasets.load("usarrests")
    >>> d = ek.decompose(arrests.values, k=2, scale=True, left=True).named(arrests.row_names, arrests.column_names)
    >>> page = ek.report(d, data=arrests.values)
    >>> "PC1 is led by Assault, Rape and Murder" in page
    True
    >>> page = ek.report(ek.PCA(2).fit(arrests.values), data=arrests.values)
    >>> page = ek.report(ek.datasets.path("usarrests"), k=2, scale=True)
    """
    found = model if isinstance(model, Analysis) else analyze(model, data=data, labels=labels, ranks=ranks, **options)
    return found.report(path, title=title, overwrite=overwrite)
