"""Pictures of a decomposition with matplotlib: each draws into `ax` (or a new figure) and gives the axes back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from eckart.errors import require
from eckart.views import geometry
from eckart.views.tables import floats
from eckart.views.words import axis_labels, certified_shares, column_labels, row_labels, shorten, total_word

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from eckart.decomposition import Decomposition

BLUE, ORANGE, VERMILLION, GREY = "#0072B2", "#E69F00", "#D55E00", "#7f7f7f"  # Okabe and Ito: told apart by everybody

_MOST_AXES = 30
_MOST_CELLS = 40
_MOST_LABELS = 60


def scree(d: Decomposition, ax: Axes | None = None) -> Axes:
    """Share of each axis as bars with certified bounds, and the cumulative share as a line."""
    ax = ax or _new_axes(6.4, 4.0)
    shares = 100 * floats(d.shares)[:_MOST_AXES]
    x = np.arange(1, len(shares) + 1)
    ax.bar(x, shares, color=BLUE, width=0.7, label="share")
    ax.plot(x, shares.cumsum(), color=VERMILLION, marker="o", markersize=4, label="cumulative")
    bounds = certified_shares(d)
    if bounds is not None:
        lower, upper = (100 * bound[:_MOST_AXES] for bound in bounds)
        around = np.clip([shares - lower, np.nan_to_num(upper, posinf=100) - shares], 0, None)
        ax.errorbar(x, shares, yerr=around, fmt="none", ecolor="black", capsize=3, label="certified bounds")
    if len(shares) <= 12:
        for position, share in zip(x, shares, strict=True):
            inside = share >= 8
            place = (position, share / 2 if inside else share + 3)
            ax.annotate(f"{share:.1f}", place, ha="center", va="center", color="wk"[not inside], fontsize=8)
    ax.set_xticks(x if len(x) <= 12 else x[:: -(-len(x) // 10)])
    ax.set(ylim=(0, 105), xlabel="axis", ylabel=f"share of the {total_word(d)} (%)", title="Scree plot")
    ax.legend(frameon=False)
    return ax


def loadings(d: Decomposition, ax: Axes | None = None) -> Axes:
    """Weights of the columns on the axes as a heatmap, blue for negative and red for positive, white at 0."""
    matrix = floats(d.right)[:, :_MOST_AXES]
    names = column_labels(d)
    order = np.arange(len(matrix))
    if len(matrix) > _MOST_CELLS:
        order = np.sort(np.argsort(-np.abs(matrix).max(axis=1), kind="stable")[:_MOST_CELLS])
    ax = ax or _new_axes(2.5 + 0.55 * matrix.shape[1], 1.2 + 0.3 * len(order))
    largest = float(np.abs(matrix).max(initial=0.0)) or 1.0
    image = ax.imshow(matrix[order], cmap="RdBu_r", vmin=-largest, vmax=largest, aspect="auto")
    ax.set_yticks(range(len(order)), [shorten(names[j], 24) for j in order], parse_math=False)
    ax.set_xticks(range(matrix.shape[1]), axis_labels(d)[:_MOST_AXES], rotation=90 if matrix.shape[1] > 8 else 0)
    if matrix.shape[1] <= 10:
        for (i, j), value in np.ndenumerate(matrix[order]):
            color = "white" if abs(value) > 0.6 * largest else "black"
            ax.annotate(f"{value:z.2f}", (j, i), ha="center", va="center", color=color, fontsize=8)
    ax.figure.colorbar(image, ax=ax, label="loading")
    left_out = len(matrix) - len(order)
    ax.set_title(f"Loadings ({left_out:,} weaker columns not shown)" if left_out else "Loadings")
    return ax


def biplot(
    d: Decomposition, scaling: geometry.Scaling = "form", axes: tuple[int, int] = (0, 1), ax: Axes | None = None
) -> Axes:
    """Rows as points and columns as arrows on two axes; the title says which scaling, and so what may be read off."""
    plane = geometry.biplot(d, scaling, axes)
    ax = ax or _new_axes(7.0, 7.0)
    ax.axhline(0, color=GREY, linewidth=0.6)
    ax.axvline(0, color=GREY, linewidth=0.6)
    if plane.points is not None:
        x, y = plane.points[plane.rows].T
        ax.scatter(x, y, s=14, color=BLUE, alpha=0.7, linewidths=0)
    tips = plane.stretch * plane.arrows
    arrow = {"arrowstyle": "-|>", "color": VERMILLION, "shrinkA": 0, "shrinkB": 0}
    for j in plane.columns:
        ax.annotate("", tips[j], (0, 0), arrowprops=arrow)
    drawn = tips[plane.columns] if plane.points is None else np.vstack([tips[plane.columns], plane.points[plane.rows]])
    reach = 1.25 * float(np.abs(drawn).max(initial=0.0)) or 1.0
    ax.set(xlim=(-reach, reach), ylim=(-reach, reach), xlabel=plane.labels[0], ylabel=plane.labels[1])
    ax.set_aspect("equal", adjustable="box")
    note = "" if plane.points is not None else "\nrows were not kept: arrows only"
    many = geometry.subset_sentence(d)
    ax.set_title(geometry.MEANING[scaling] + note + (f"\n{many}" if many else ""), fontsize=9)
    if plane.points is not None:
        _arrow_scale(ax, plane.stretch)
    _label(ax, d, plane, tips)
    return ax


def _arrow_scale(ax: Axes, stretch: float) -> None:
    """Second scales on top and at the right, in the units of the arrows."""
    functions = (lambda x: x / stretch, lambda x: x * stretch)
    for axis in (ax.secondary_xaxis("top", functions=functions), ax.secondary_yaxis("right", functions=functions)):
        axis.tick_params(colors=VERMILLION, labelsize=8)


def _label(ax: Axes, d: Decomposition, plane: geometry.Biplot, tips: NDArray[np.float64]) -> None:
    """Names at the arrows, then at the points farthest out, as long as none covers another."""
    columns, rows = column_labels(d), row_labels(d)
    texts = [_text(ax, columns[j], tips[j], VERMILLION) for j in plane.columns]
    if plane.points is not None:
        points = plane.points
        order = plane.rows[np.argsort(-np.hypot(*points[plane.rows].T), kind="stable")][:_MOST_LABELS]
        texts += [_text(ax, rows[i], points[i], "black") for i in order]
    _thin(ax, texts)


def _text(ax: Axes, name: str, position: NDArray[np.float64], color: str) -> Any:
    x, y = position
    side = "left" if x >= 0 else "right"
    offset = (3 if x >= 0 else -3, 3 if y >= 0 else -3)
    return ax.annotate(
        shorten(name, 20), (x, y), xytext=offset, textcoords="offset points", ha=side,
        va="bottom" if y >= 0 else "top", color=color, fontsize=8, parse_math=False,
    )  # fmt: skip


def _thin(ax: Axes, texts: Sequence[Any]) -> None:
    figure = ax.get_figure(root=True)
    if figure is None:
        return
    figure.draw_without_rendering()
    extents = [text.get_window_extent() for text in texts]
    kept = set(geometry.thin([(box.x0, box.y0, box.x1, box.y1) for box in extents]))
    for i, text in enumerate(texts):
        if i not in kept:
            text.remove()


def _new_axes(width: float, height: float) -> Axes:
    pyplot = require("matplotlib.pyplot", purpose="plots")
    _, ax = pyplot.subplots(figsize=(width, height), layout="constrained")
    axes: Axes = ax
    return axes
