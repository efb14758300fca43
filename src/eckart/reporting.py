"""report: the page about a decomposition, a fitted estimator, or data that are decomposed for it."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from eckart.analysis.labels import method_name
from eckart.analysis.report.contents import ReportContext, rank_table
from eckart.analysis.report.given_rows import at_edge
from eckart.analysis.report.page import write
from eckart.analysis.with_rows import with_rows
from eckart.api import decompose
from eckart.arrays import is_array, is_sparse
from eckart.engine.blocks.source import Source
from eckart.errors import ParameterError
from eckart.fitted import decomposition_of, is_model
from eckart.io.open_data import open_with
from eckart.io.read_options import split_options
from eckart.options import memory_bytes
from eckart.result import Decomposition
from eckart.text import Table


def report(
    model: Any,
    path: str | os.PathLike[str] | None = None,
    *,
    overwrite: bool = False,
    title: str | None = None,
    data: Any = None,
    labels: Mapping[str, Sequence[str]] | None = None,
    ranks: Any = None,
    columns: Table | None = None,
    reading: Sequence[str] = (),
    **options: Any,
) -> str:
    """The report as text, and written to `path` when one is given: whole or not at all, never over another file.

    Parameters
    ----------
    model : Decomposition, fitted estimator, or data
        A decomposition with left vectors (`left=True`), or an estimator with `data`, has the rows drawn too. Anything
        `decompose` takes as data is decomposed first.
    path : path, optional
        Where to write it. A name that ends in .md gives Markdown, any other the HTML page.
    overwrite : bool
        Replace a file that exists.
    title : str, optional
        Title; the method's name by default.
    data : anything `decompose` takes, optional
        The table that was decomposed: with it, rows are compared with what few axes rebuild, and coloured by columns.
    labels : mapping of str to sequence of str, optional
        Words for each row, by name, to colour the rows by.
    ranks : RankChoice or Table, optional
        How many axes each rule wants: what `eckart.choose_rank` gives.
    columns : Table, optional
        What was done to each column of the source.
    reading : sequence of str
        What was decided while reading the source, in sentences.
    **options
        For data: those of `decompose`, reading options included.

    Examples
    --------
    >>> import eckart as ek
    >>> arrests = ek.datasets.load("usarrests")
    >>> d = ek.decompose(arrests.values, k=2, scale=True, left=True).named(arrests.row_names, arrests.column_names)
    >>> page = ek.report(d, data=arrests.values)
    >>> "PC1 is made by Assault, Rape and Murder" in page
    True
    >>> page = ek.report(ek.PCA(2).fit(arrests.values), data=arrests.values)
    >>> page = ek.report(ek.datasets.path("usarrests"), k=2, scale=True)
    """
    labels = dict(labels or {})
    if is_model(model):
        if options:
            name = next(iter(options))
            raise TypeError(f"report() got an unexpected keyword argument {name!r}: a model is decomposed already.")
        d = decomposition_of(model)
        matrix, found = _table(data, None)
        if d.left is None and data is not None:
            d = with_rows(d, data if found is None else found)
    else:
        if data is not None:
            raise ParameterError("report(data) decomposes its first argument: leave data= out.")
        d, matrix, found = _decomposed(model, options)
    if found is not None:
        labels = {**found.metadata.labels, **labels}
        reading = tuple(reading) or found.metadata.decided
    d = d.on_host()  # what is on a device comes to the host once, not for every table
    context = ReportContext(tuple(reading), at_edge(matrix), columns, rank_table(ranks))
    return write(d, context, title or method_name(d), labels, path, overwrite=overwrite)


def _decomposed(data: Any, options: dict[str, Any]) -> tuple[Decomposition, Any, Any]:
    given, others = split_options(options)
    memory = memory_bytes(others.get("memory"))
    matrix, found = _table(data, open_with(data, given, memory=memory, stream=others.get("stream")))
    d = decompose(matrix if found is None else found, **{"left": True, **others})
    return d, matrix, found


def _table(data: Any, opened: Any) -> tuple[Any, Any]:
    """(matrix in memory or None, source or None) of data, dense or sparse."""
    if data is None:
        return None, None
    found = open_with(data) if opened is None else opened
    if is_array(found) or is_sparse(found):
        return found, None
    if isinstance(found, Source):
        return getattr(found, "matrix", None), found
    return (found, None) if not hasattr(found, "metadata") else (None, found)
