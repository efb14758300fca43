"""Plots of the rows: scores with groups, biplot."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from eckart.analysis.labels import column_labels, row_labels
from eckart.analysis.measures import check_linear, check_orthogonal, row_scores, row_weights
from eckart.analysis.plots import geometry
from eckart.analysis.plots.drawing import (
    BLACK,
    BLUE,
    GROUP_COLOURS,
    GROUP_SHAPES,
    MOST_LABELS,
    PURPLE,
    VERMILLION,
    along,
    arrows,
    cross,
    dots,
    label,
    new_axes,
    placed,
    plain,
    square,
)
from eckart.analysis.plots.groups import Around, groups
from eckart.arrays import Floats
from eckart.fitted import takes_fitted
from eckart.formatting import shorten

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from eckart.result import Decomposition
    from eckart.text import Table


@takes_fitted
def scores(
    d: Decomposition,
    components: tuple[int, int] = (0, 1),
    ax: Axes | None = None,
    *,
    by: Sequence[object] | None = None,
    around: Around | None = "rows",
    share: float = 0.95,
    supplementary: Table | None = None,
) -> Axes:
    """Plot the rows on two components.

    Parameters
    ----------
    {d [with rows], components, ax}
    by : sequence or None, default None
        Group of each row. Groups differ in colour and shape, and each has a mean and an ellipse.
    around : {'rows', 'means', None}, default 'rows'
        'rows' draws ellipses that contain `share` of normally distributed rows. 'means' draws confidence ellipses of
        the group means at level `share`. None draws no ellipse.
    share : float, default 0.95
        Coverage of the ellipses, or their confidence level.
    supplementary : Table or None, default None
        Result of `eckart.supplementary.rows`, whose rows are drawn as crosses.

    {Returns: matplotlib.axes.Axes; Raises: ParameterError [left vectors]; See Also: biplot, eckart.tables.scores}

    {Examples: arrests}
    >>> ek.plots.scores(d).get_xlabel()
    'PC1 (62.0 %)'
    """
    pair = geometry.check_pair(d, components)
    points = row_scores(d, components=pair)
    drawn = geometry.drawn_rows(points)
    ax = ax or new_axes(7.0, 7.3)
    cross(ax)
    edges = [points[drawn]]
    means = np.empty((0, 2))
    if by is None:
        dots(ax, points[drawn], s=16, color=BLUE, alpha=_paint(drawn))
    else:
        outlines, means = _draw_groups(ax, points, drawn, by, row_weights(d), around, share)
        edges += outlines
    other, other_names = placed(d, supplementary, pair)
    if len(other):
        dots(ax, other, s=34, color=PURPLE, marker="x", linewidths=1.4)
    square(ax, np.vstack([*edges, other]))
    first, second = geometry.component_titles(d, components)
    ax.set(xlabel=first, ylabel=second)
    lines = [_ellipse_words(None if by is None else around, share), geometry.subset_sentence(d)]
    lines += ["crosses: supplementary rows"] if len(other) else []
    ax.set_title("\n".join(line for line in lines if line), fontsize=9)
    far = drawn[np.argsort(-(points[drawn] ** 2).sum(axis=1), kind="stable")][:MOST_LABELS]
    names = row_labels(d)
    avoid = np.vstack([points[drawn], other, *(means + step for step in _spots(ax))])
    shown = [*other_names, *(names[i] for i in far)]
    colors = [PURPLE] * len(other) + [BLACK] * len(far)
    label(ax, shown, np.vstack([other, points[far]]), colors, avoid=avoid)
    return ax


@takes_fitted
def biplot(
    d: Decomposition, scaling: geometry.Scaling = "form", components: tuple[int, int] = (0, 1), ax: Axes | None = None
) -> Axes:
    """Plot rows as points and columns as arrows on two components.

    Parameters
    ----------
    {d}
    scaling : {'form', 'covariance'}, default 'form'
        'form' preserves the distances between rows, and 'covariance' preserves the correlations of columns. The title
        of the plot states how to read it.
    {components, ax}

    {Returns: matplotlib.axes.Axes; Raises: ParameterError [not orthogonal]}

    {See Also: scores [plot], correlation_circle}

    References
    ----------
    .. [1] K. R. Gabriel, "The biplot graphic display of matrices with application to principal component analysis",
           Biometrika 58, 1971.

    {Examples: arrests}
    >>> ek.plots.biplot(d).get_ylabel()
    'PC2 (24.7 %)'
    """
    check_linear(d)
    check_orthogonal(d, "Biplots")
    plane = geometry.biplot(d, scaling, components)
    ax = ax or new_axes(7.0, 7.3)
    cross(ax)
    tips = plane.stretch * plane.arrows[plane.columns]
    points = np.empty((0, 2)) if plane.points is None else plane.points[plane.rows]
    dots(ax, points, s=14, color=BLUE, alpha=_paint(points))
    arrows(ax, tips, VERMILLION)
    square(ax, np.vstack([tips, points]), 1.2)
    ax.set(xlabel=plane.labels[0], ylabel=plane.labels[1])
    note = "" if plane.points is not None else "\nthe model contains no row coordinates, so only arrows are drawn"
    many = geometry.subset_sentence(d)
    ax.set_title(geometry.MEANING[scaling] + note + (f"\n{many}" if many else ""), fontsize=9)
    if plane.points is not None:
        _arrow_scale(ax, plane.stretch)
    columns, rows = column_labels(d), row_labels(d)
    far = np.argsort(-np.hypot(*points.T), kind="stable")[:MOST_LABELS]
    names = [columns[j] for j in plane.columns] + [rows[plane.rows[i]] for i in far]
    colors = [VERMILLION] * len(tips) + [BLACK] * len(far)
    label(ax, names, np.vstack([tips, points[far]]), colors, avoid=np.vstack([along(tips), points]), must=len(tips))
    return ax


def _draw_groups(
    ax: Axes,
    points: Floats,
    drawn: NDArray[np.intp],
    by: Sequence[object],
    weights: Floats,
    around: Around | None,
    share: float,
) -> tuple[list[Floats], Floats]:
    """Draw points, means and outlines of the groups, and return outlines and means, so that labels avoid them."""
    visible = np.zeros(len(points), bool)
    visible[drawn] = True
    outlines = []
    found = groups(points, by, weights, around=around or "rows", share=share)
    for group, color, shape in zip(found, GROUP_COLOURS, GROUP_SHAPES, strict=False):
        members = group.members[visible[group.members]]
        name = f"{shorten(group.name, 24)} ({len(group.members):,})"
        name = f" {name}" if name.startswith("_") else name  # Matplotlib hides names that begin with an underscore
        dots(ax, points[members], s=22, color=color, marker=shape, alpha=_paint(drawn), label=name)
        dots(ax, group.mean[None], s=110, color=color, marker=shape, edgecolors="black", linewidths=1.2, zorder=4)
        if around is not None and group.outline is not None:
            ax.plot(*group.outline.T, color=color, linewidth=1.2)
            outlines.append(group.outline)
    # Finding the best position among all points takes seconds for many points.
    plain(ax.legend(frameon=False, fontsize=8, loc="upper right").get_texts())
    return outlines, np.array([group.mean for group in found])


def _ellipse_words(around: Around | None, share: float) -> str:
    """The title of the scores, with what the ellipses are."""
    if around is None:
        return "Scores of the rows"
    held = "contain {} of normally distributed rows" if around == "rows" else "contain the mean with a confidence of {}"
    return f"Scores of the rows (ellipses {held.format(f'{100 * share:g} %')})"


def _arrow_scale(ax: Axes, stretch: float) -> None:
    """Add scales at the top and on the right, in the units of the arrows."""
    functions = (lambda x: x / stretch, lambda x: x * stretch)
    ax.spines[["top", "right"]].set_visible(True)
    for axis in (ax.secondary_xaxis("top", functions=functions), ax.secondary_yaxis("right", functions=functions)):
        axis.tick_params(colors=VERMILLION, labelsize=8)


def _paint(drawn: Sequence[object] | np.ndarray) -> float:
    """Use more transparent paint for many points, so that their density is visible."""
    return 0.8 if len(drawn) <= 300 else 0.4


def _spots(ax: Axes) -> Floats:
    """Offsets that cover the large marker of a mean."""
    low, high = ax.get_xlim()
    step = 0.008 * (high - low)
    return np.array([(i * step, j * step) for i in (-1, 0, 1) for j in (-1, 0, 1)])
