"""Plots of the columns: loadings, correlation circle, contributions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from eckart.analysis.labels import column_labels, component_labels, row_labels
from eckart.analysis.measures import check_component, check_linear, floats, left_vectors, parts_of_hundred
from eckart.analysis.plots import geometry
from eckart.analysis.plots.drawing import BLUE, GREY, VERMILLION, along, arrows, cross, label, new_axes, placed
from eckart.analysis.tables.coordinates import correlation_matrix
from eckart.errors import ParameterError
from eckart.fitted import takes_fitted
from eckart.formatting import counted, short_names

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

    from eckart.result import Decomposition
    from eckart.text import Table

_MOST_COMPONENTS = 30
_MOST_CELLS = 40
_MOST_BARS = 20


@takes_fitted
def loadings(d: Decomposition, ax: Axes | None = None) -> Axes:
    """Plot the loadings as a heatmap.

    Negative loadings are blue, positive ones red, and zeros white. The plot shows at most 30
    components and at most 40 columns, those with the largest loadings.

    {Parameters: d, ax; Returns: matplotlib.axes.Axes}

    {Raises: ParameterError [no column weights]; See Also: eckart.tables.loadings}

    {Examples: arrests}
    >>> ek.plots.loadings(d).get_title()
    'Loadings'
    """
    check_linear(d)
    matrix = floats(d.right)[:, :_MOST_COMPONENTS]
    names = column_labels(d)
    order = np.arange(len(matrix))
    if len(matrix) > _MOST_CELLS:
        order = np.sort(np.argsort(-np.abs(matrix).max(axis=1), kind="stable")[:_MOST_CELLS])
    ax = ax or new_axes(2.5 + 0.6 * matrix.shape[1], 1.2 + 0.3 * len(order))
    largest = float(np.abs(matrix).max(initial=0.0)) or 1.0
    image = ax.imshow(matrix[order], cmap="RdBu_r", vmin=-largest, vmax=largest, aspect="auto")
    ax.set_yticks(range(len(order)), [short_names(names, 24)[names[j]] for j in order], parse_math=False)
    ax.set_xticks(
        range(matrix.shape[1]), component_labels(d)[:_MOST_COMPONENTS], rotation=90 if matrix.shape[1] > 8 else 0
    )
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    if matrix.shape[1] <= 10:
        for (i, j), value in np.ndenumerate(matrix[order]):
            color = "white" if abs(value) > 0.6 * largest else "black"
            ax.annotate(f"{value:z.2f}", (j, i), ha="center", va="center", color=color, fontsize=8)
    ax.figure.colorbar(image, ax=ax, label="loading")
    left_out = len(matrix) - len(order)
    ax.set_title(f"Loadings ({counted(left_out, 'weaker column')} not shown)" if left_out else "Loadings")
    return ax


@takes_fitted
def correlation_circle(
    d: Decomposition,
    components: tuple[int, int] = (0, 1),
    ax: Axes | None = None,
    *,
    supplementary: Table | None = None,
) -> Axes:
    """Plot the correlations of the columns with two components.

    Each column is an arrow in the unit circle. If an arrow ends outside the inner circle, the two components explain
    more than half of the variance of that column.

    Parameters
    ----------
    {d [centred], components, ax}
    supplementary : Table or None, default None
        Result of `eckart.supplementary.columns`, drawn dashed in another colour.

    {Returns: matplotlib.axes.Axes; Raises: ParameterError [not centred]; See Also: eckart.tables.correlations}

    {Examples: arrests}
    >>> ek.plots.correlation_circle(d).get_xlabel()
    'PC1 (62.0 %)'
    """
    from matplotlib.patches import Circle

    pair = geometry.check_pair(d, components)
    tips = correlation_matrix(d)[:, pair]
    ax = ax or new_axes(6.4, 6.7)
    ax.spines[:].set_visible(False)
    cross(ax)
    for radius, style in ((1.0, "solid"), (0.5**0.5, "dashed")):
        ax.add_patch(Circle((0, 0), radius, fill=False, color=GREY, linestyle=style, linewidth=0.9))
    order = np.argsort(-np.hypot(*tips.T), kind="stable")
    shown = order[: geometry.MOST_ARROWS]
    other, other_names = placed(d, supplementary, pair)
    arrows(ax, tips[shown], BLUE)
    arrows(ax, other, VERMILLION, "dashed")
    ax.set(xlim=(-1.2, 1.2), ylim=(-1.2, 1.2), xticks=(-1, -0.5, 0, 0.5, 1), yticks=(-1, -0.5, 0, 0.5, 1))
    ax.set_aspect("equal", adjustable="box")
    first, second = geometry.component_titles(d, components)
    hidden = len(tips) - len(shown)
    note = f"\n{counted(hidden, 'shorter arrow is', 'shorter arrows are')} not drawn" if hidden else ""
    note += "\ndashed: supplementary columns" if len(other) else ""
    ax.set(xlabel=first, ylabel=second)
    ax.set_title(
        f"Correlation circle: beyond the inner circle, over half of a column's variance is explained{note}",
        fontsize=9,
    )
    names = [column_labels(d)[j] for j in shown]
    colors = [BLUE] * len(names) + [VERMILLION] * len(other_names)
    every = np.vstack([tips[shown], other])
    angle = np.linspace(0, 2 * np.pi, 240)
    rims = np.vstack([radius * np.column_stack([np.cos(angle), np.sin(angle)]) for radius in (1.0, 0.5**0.5)])
    label(ax, names + other_names, every, colors, avoid=np.vstack([along(every), rims]), must=len(every))
    return ax


@takes_fitted
def contributions(
    d: Decomposition, component: int = 0, ax: Axes | None = None, *, of: str = "columns", most: int = _MOST_BARS
) -> Axes:
    """Plot the contributions of columns or rows to one component.

    The bars are sorted. A dashed line marks the contribution that each would have if all were equal.

    Parameters
    ----------
    {d, component, ax}
    of : {'columns', 'rows'}, default 'columns'
        Whether to plot the contributions of columns or of rows.
    most : int, default 20
        Maximum number of bars.

    {Returns: matplotlib.axes.Axes}

    Raises
    ------
    ParameterError
        If `of` is not valid, or the left vectors were not kept.

    {See Also: eckart.tables.contributions}

    {Examples: arrests}
    >>> ek.plots.contributions(d).get_title()
    'PC1: contributions of columns'
    """
    component = check_component(d, component)
    vectors, names = _vector_of(d, component, of)
    parts = parts_of_hundred(vectors[:, None])[:, 0]
    order = np.argsort(-parts, kind="stable")[:most]
    ax = ax or new_axes(6.4, 1.4 + 0.26 * len(order))
    colors = [BLUE if vectors[j] >= 0 else VERMILLION for j in order]
    bars = ax.barh(range(len(order)), parts[order], color=colors, height=0.72)
    for bar, j in zip(bars, order.tolist(), strict=True):
        bar.set_hatch("" if vectors[j] >= 0 else "///")
        bar.set_edgecolor("white")
    even = 100 / max(len(parts), 1)
    ax.axvline(even, color=GREY, linestyle="--", linewidth=1)
    ax.set_yticks(range(len(order)), [short_names(names, 24)[names[j]] for j in order], parse_math=False)
    ax.invert_yaxis()
    title = f"{component_labels(d)[component]}: contributions of {of}"
    rest = f" ({len(parts) - len(order):,} smaller ones not shown)" if len(order) < len(parts) else ""
    ax.set_title(title + rest)
    ax.set_xlabel(f"contribution (%); dashed: equal contributions ({even:.3g} %)")
    _sign_legend(ax)
    return ax


def _vector_of(d: Decomposition, component: int, of: str) -> tuple[np.ndarray, Sequence[str]]:
    """One singular vector, and the names of its entries."""
    if of == "rows":
        return left_vectors(d, components=[component])[:, 0], row_labels(d)
    if of != "columns":
        raise ParameterError(f"of={of!r} is not valid. Use 'columns' or 'rows'.")
    check_linear(d)
    return floats(d.right)[:, component], column_labels(d)


def _sign_legend(ax: Axes) -> None:
    from matplotlib.patches import Patch

    signs = [Patch(facecolor=BLUE, label="positive"), Patch(facecolor=VERMILLION, hatch="///", edgecolor="white",
             label="negative")]  # fmt: skip
    ax.legend(
        handles=signs, frameon=False, loc="lower right", title="sign of the loading", fontsize=8, title_fontsize=8
    )
