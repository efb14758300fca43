"""The meaning of a component in words: the columns that dominate it and the rows at its ends."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from eckart.analysis.labels import column_labels, component_labels, led_by, row_labels, top_loadings, total_name
from eckart.analysis.measures import check_component, floats, row_scores
from eckart.analysis.tables.coordinates import correlation_matrix
from eckart.fitted import takes_fitted
from eckart.formatting import joined, percent, short_names
from eckart.text import Cell, Table

if TYPE_CHECKING:
    from eckart.result import Decomposition

_ROWS = 3
"""Rows named at each end of a component."""


@takes_fitted
def describe(d: Decomposition, component: int) -> str:
    """Describe one component in sentences.

    Parameters
    ----------
    {d}
    component : int
        Index of the component, counted from 0.

    Returns
    -------
    str
        The share that the component explains, the columns that dominate it, and the rows with the lowest and highest
        scores.

    Raises
    ------
    ParameterError
        If there is no such component.

    {See Also: description}

    {Examples: arrests}
    >>> ek.tables.describe(d, 1)
    'PC2 explains 24.7 % of the variance. It is dominated by UrbanPop (+0.87). High on it are Hawaii, ...'
    """
    component = check_component(d, component)
    share = percent(float(floats(d.explained_variance_ratio)[component]))
    sentences = [
        f"{component_labels(d)[component]} explains {share} of the {total_name(d)}.",
        _columns_sentence(d, component),
    ]
    high, low = _ends(d, component)
    if high or low:
        ends = [f"{word} on it {'is' if len(rows) == 1 else 'are'} {joined(rows)}"
                for word, rows in (("High", high), ("low", low)) if rows]  # fmt: skip
        sentence = "; ".join(ends)
        sentences.append(f"{sentence[0].upper()}{sentence[1:]}.")
    return " ".join(sentence for sentence in sentences if sentence)


@takes_fitted
def description(d: Decomposition) -> Table:
    """Tabulate a description of all components.

    {Parameters: d; Returns: Table}
        One row per component: its explained share, its dominant columns with positive and with negative loadings, and
        its extreme rows.

    {See Also: describe}

    {Examples: arrests}
    >>> ek.tables.description(d).rows[1][2]
    'UrbanPop (+0.87)'
    """
    rows: list[tuple[Cell, ...]] = []
    for component, name in enumerate(component_labels(d)):
        with_, against = _sides(d, component)
        high, low = _ends(d, component)
        words = (", ".join(side) for side in (with_, against, high, low))
        rows.append((name, float(floats(d.explained_variance_ratio)[component]), *words))
    columns = ("component", "share", "positive columns", "negative columns", "highest rows", "lowest rows")
    caption = (
        "Columns that contribute more than average, strongest first, and the rows with the highest and lowest scores."
    )
    kinds = ("text", "percent", "text", "text", "text", "text")
    return Table("Meaning of the components", columns, tuple(rows), caption, kinds)


@takes_fitted
def component_columns(d: Decomposition, component: int = 0, *, threshold: float = 0.5) -> Table:
    """Tabulate the columns that correlate strongly with a component.

    Parameters
    ----------
    {d [centred], component}
    threshold : float, default 0.5
        Smallest absolute correlation to list. 0 lists all columns.

    Returns
    -------
    Table
        Correlation of each column with the component, and its square, in decreasing order.

    {Raises: ParameterError [not centred]; See Also: eckart.bootstrap, eckart.choose_rank, eckart.supplementary.columns}

    Notes
    -----
    The table has no p-values, because the component is computed from these same columns: the correlations are large
    even for pure noise. Only columns that were not used in the fit can be tested; see `eckart.supplementary.columns`.

    {Examples: arrests}
    >>> [(name, round(float(r), 2)) for name, r, _ in ek.tables.component_columns(d, 1).rows]
    [('UrbanPop', 0.87)]
    """
    correlation = correlation_matrix(d)[:, check_component(d, component)]
    names = column_labels(d)
    order = [j for j in np.argsort(-correlation, kind="stable").tolist() if abs(correlation[j]) >= threshold]
    rows = tuple((names[j], float(correlation[j]), float(correlation[j] ** 2)) for j in order)
    caption = (
        f"Columns whose correlation with the component is at least {threshold:g} in absolute value, "
        "with the squared correlation."
    )
    return Table(
        f"Columns of {component_labels(d)[component]}",
        ("column", "correlation", "cos2"),
        rows,
        caption,
        ("text", "number", "percent"),
    )


def _columns_sentence(d: Decomposition, component: int) -> str:
    with_, against = _sides(d, component)
    if not with_ and not against:
        return ""
    if with_ and against:
        return f"It contrasts {joined(with_)} with {joined(against)}."
    return f"It {led_by(d, component, top_loadings(d, component)).format(joined(with_ or against))}."


def _sides(d: Decomposition, component: int) -> tuple[list[str], list[str]]:
    """The columns that dominate the component, with their weights: positive ones and negative ones."""
    if floats(d.right).shape[1] != d.k:
        return [], []
    short = short_names(column_labels(d), 24)
    found = [(f"{short[name]} ({weight:+.2f})", weight) for name, weight in top_loadings(d, component)]
    return [word for word, weight in found if weight > 0], [word for word, weight in found if weight < 0]


def _ends(d: Decomposition, component: int) -> tuple[list[str], list[str]]:
    """The most extreme rows at both ends."""
    if d.left is None:
        return [], []
    scores = row_scores(d, components=[component])[:, 0]
    names = row_labels(d)
    count = min(_ROWS, d.rows // 2)
    order = np.argsort(scores, kind="stable")
    short = short_names(names, 24)
    high = [short[names[i]] for i in order[::-1][:count].tolist() if scores[i] > 0]
    return high, [short[names[i]] for i in order[:count].tolist() if scores[i] < 0]
