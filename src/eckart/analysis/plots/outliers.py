"""The outlier map: T2 against Q, with both limits."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from eckart.analysis.labels import row_labels
from eckart.analysis.plots import geometry
from eckart.analysis.plots.drawing import BLACK, BLUE, GREY, VERMILLION, dots, label, new_axes
from eckart.analysis.tables.outliers import Distances, distances
from eckart.fitted import takes_fitted

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from eckart.result import Decomposition

# T2 beyond its limit, Q beyond its limit -> colour, shape, word
_LOOKS = {
    (False, False): (GREY, "o", "within both limits"),
    (True, False): (BLUE, "s", "beyond the T2 limit"),
    (False, True): (VERMILLION, "^", "beyond the Q limit"),
    (True, True): (BLACK, "D", "beyond both limits"),
}


@takes_fitted
def outlier_map(
    d: Decomposition, ax: Axes | None = None, *, k: int | None = None, confidence: float = 0.95, most: int = 30
) -> Axes:
    """Plot the outlier statistics T2 and Q of the rows, with their limits.

    Rows beyond a limit are labelled, and their markers have a different colour and shape.

    Parameters
    ----------
    {d [with rows], ax, k [model], confidence}
    most : int, default 30
        Maximum number of labelled rows.

    {Returns: matplotlib.axes.Axes; Raises: ParameterError [left vectors]; See Also: eckart.tables.outliers}

    {Examples: arrests}
    >>> ek.plots.outlier_map(d).get_xlabel()
    'T2: distance from the centre along the components'
    """
    found = distances(d, k, confidence)
    flat = not np.isfinite(found.outside_limit)
    height = np.zeros(d.rows) if flat else found.outside
    points = np.column_stack([found.inside, height])
    near = points / [found.inside_limit, 1.0 if flat else found.outside_limit]
    beyond = near > 1
    shown = geometry.drawn_rows(near)
    ax = ax or new_axes(6.8, 5.4)
    for kind, (color, shape, word) in _LOOKS.items():
        members = (beyond == kind).all(axis=1)
        if members.any():
            name = f"{word} ({int(members.sum()):,})"
            dots(ax, points[shown[members[shown]]], s=20, color=color, marker=shape, alpha=0.85, label=name)
    _limits(ax, found, points, flat=flat)
    few = (
        f"\n{len(shown):,} of {d.rows:,} rows are shown, including the most extreme rows" if len(shown) < d.rows else ""
    )
    ax.set_title(f"Outlier map (dashed: {100 * confidence:g} % limits){few}", fontsize=10)
    ax.legend(frameon=False, fontsize=8, loc="upper center", bbox_to_anchor=(0.5, -0.11), ncols=4)
    far = _farthest(near)[:most]
    names = row_labels(d)
    label(ax, [names[i] for i in far], points[far], [BLACK] * len(far), avoid=points[shown])
    return ax


def _limits(ax: Axes, found: Distances, points: NDArray[np.float64], *, flat: bool) -> None:
    """Draw dashed lines at the limits, ranges that include them, and axis titles."""
    right, top = points.max(axis=0, initial=0.0)
    if np.isfinite(found.inside_limit):
        ax.axvline(found.inside_limit, color=BLUE, linestyle="--", linewidth=1)
        right = max(right, found.inside_limit)
    ax.set(xlim=(0, 1.15 * float(right) or 1.0), xlabel="T2: distance from the centre along the components")
    if flat:
        ax.set(ylim=(-1, 1), yticks=[], ylabel=f"Q is not available: {found.rule}")
        return
    ax.axhline(found.outside_limit, color=VERMILLION, linestyle="--", linewidth=1)
    ax.set(ylim=(0, 1.15 * max(float(top), found.outside_limit)), ylabel="Q: squared distance to the components")


def _farthest(near: NDArray[np.float64]) -> NDArray[np.intp]:
    """Rows beyond a limit, farthest first."""
    order = np.argsort(-near.max(axis=1), kind="stable")
    return np.asarray(order[(near[order] > 1).any(axis=1)])
