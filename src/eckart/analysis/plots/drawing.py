"""Shared by all plots: colour-blind safe colours and shapes, axes, arrows, labels that do not overlap."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from eckart.analysis.labels import component_labels
from eckart.analysis.plots import geometry
from eckart.arrays import Floats
from eckart.documentation import document
from eckart.errors import ParameterError, require
from eckart.formatting import short_names
from eckart.options import hint_keywords

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    from matplotlib.axes import Axes

    from eckart.result import Decomposition
    from eckart.text import Table


# Okabe and Ito's colours, distinguishable with colour blindness. Yellow is left out: it is too light on white paper.
BLUE, ORANGE, GREEN, PURPLE = "#0072B2", "#E69F00", "#009E73", "#CC79A7"
SKY, VERMILLION, BLACK, GREY = "#56B4E9", "#D55E00", "#1a1a1a", "#767676"
GROUP_COLOURS = (BLUE, VERMILLION, GREEN, PURPLE, ORANGE, SKY, BLACK, GREY)
GROUP_SHAPES = ("o", "^", "s", "D", "v", "P", "X", ".")

MOST_LABELS = 60
_GAP = 4
_MARKER = 3.5
_NOWHERE = (-math.inf, -math.inf, math.inf, math.inf)
"""A box that overlaps every other one."""
_OUTSIDE = (-2.0, -2.0, -1.0, -1.0)
"""A box that only `_NOWHERE` overlaps."""


def new_axes(width: float, height: float) -> Axes:
    """New axes in a figure of this size, in inches."""
    pyplot = require("matplotlib.pyplot", purpose="plots")
    _, ax = pyplot.subplots(figsize=(width, height), layout="constrained")
    ax.spines[["top", "right"]].set_visible(False)
    axes: Axes = ax
    return axes


@hint_keywords
@document
def save(ax: Axes, path: str | os.PathLike[str], *, overwrite: bool = False, dpi: int = 200) -> None:
    """Save a plot as SVG, PNG or PDF.

    The file is written completely or not at all. The same plot always gives the same bytes.

    Parameters
    ----------
    ax : matplotlib.axes.Axes
        The plot.
    path : str or path
        File to write. Its suffix determines the format.
    {overwrite}
    dpi : int, default 200
        Resolution of PNG files.

    Returns
    -------
    None
        The plot is written to `path`.

    Raises
    ------
    ParameterError
        If the suffix is not supported.
    FileError
        If the file exists and `overwrite` is False.

    {See Also: biplot}

    Examples
    --------
    >>> import eckart as ek, pathlib, tempfile
    >>> d = ek.decompose(ek.datasets.load("usarrests").values, k=2, scale=True)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "scree.svg"
    ...     ek.plots.save(ek.plots.scree(d), path)
    ...     print(path.read_text()[:5])
    <?xml
    """
    from pathlib import Path

    import matplotlib as mpl

    from eckart.files import new_file

    kind = Path(path).suffix.lower().lstrip(".")
    if kind not in ("svg", "png", "pdf"):
        raise ParameterError(f"{path}: the file name must end in .svg, .png or .pdf, not in {kind!r}.")
    figure: Any = ax.get_figure(root=True)
    metadata = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(kind, {})
    with mpl.rc_context({"svg.hashsalt": "eckart"}), new_file(path, overwrite=overwrite) as file:
        figure.savefig(file, format=kind, dpi=dpi, metadata=metadata)


def cross(ax: Axes) -> None:
    """Zero lines."""
    ax.axhline(0, color=GREY, linewidth=0.6, zorder=0)
    ax.axvline(0, color=GREY, linewidth=0.6, zorder=0)


def square(ax: Axes, drawn: Floats, room: float = 1.12) -> None:
    """Use the same unit in both directions, with room for the data and the labels."""
    low, high = np.minimum(drawn.min(axis=0), 0.0), np.maximum(drawn.max(axis=0), 0.0)
    middle, half = (low + high) / 2, room * float(np.max(high - low, initial=0.0)) / 2 or 1.0
    ax.set(xlim=(middle[0] - half, middle[0] + half), ylim=(middle[1] - half, middle[1] + half))
    ax.set_aspect("equal", adjustable="box")


def dots(ax: Axes, points: Floats, **look: Any) -> None:
    """Points without an outline."""
    ax.scatter(points[:, 0], points[:, 1], **{"linewidths": 0, **look})


def arrows(ax: Axes, tips: Floats, color: str, style: str = "solid") -> None:
    """Draw arrows from the centre to each tip."""
    look = {"arrowstyle": "-|>", "color": color, "shrinkA": 0, "shrinkB": 0, "linewidth": 1.3, "linestyle": style}
    for tip in tips:
        if np.hypot(*tip) > 0:
            ax.annotate("", tip, (0, 0), arrowprops=look)


def along(tips: Floats) -> Floats:
    """Points along the arrows, for labels to avoid."""
    return np.vstack([tips * step for step in np.linspace(0.06, 1.0, 24)]) if len(tips) else tips


def placed(d: Decomposition, table: Table | None, pair: list[int]) -> tuple[Floats, list[str]]:
    """Coordinates of a supplementary table in the plane of two components, and its names."""
    if table is None:
        return np.empty((0, 2)), []
    if table.columns[1 : d.k + 1] != component_labels(d):
        raise ParameterError(
            "The supplementary table belongs to another decomposition. Compute it from the decomposition that you plot."
        )
    numbers = np.array([[row[1 + axis] for axis in pair] for row in table.rows], dtype=float).reshape(-1, 2)
    known = np.isfinite(numbers).all(axis=1)
    return numbers[known], [str(row[0]) for row, there in zip(table.rows, known, strict=True) if there]


def plain(texts: Sequence[Any]) -> None:
    """Escape names, so that Matplotlib does not read them as formulas."""
    for text in texts:
        text.set_parse_math(False)


def _place_all(
    choices: list[list[geometry.Box]], obstacles: Sequence[geometry.Box]
) -> tuple[list[int | None], list[geometry.Box]]:
    """A position for each name, over obstacles if necessary, and the boxes that are then taken."""
    chosen = geometry.arrange(choices, obstacles)
    held = [choices[i][place] for i, place in enumerate(chosen) if place is not None]
    for i in [i for i, place in enumerate(chosen) if place is None]:
        (place,) = geometry.arrange([choices[i]], held or [_OUTSIDE])
        held += [] if place is None else [choices[i][place]]
        chosen[i] = place
    return chosen, held


def label(ax: Axes, names: Sequence[str], at: Floats, colors: Sequence[str], *, avoid: Floats, must: int = 0) -> None:
    """Write names next to points: each takes the first free one of eight positions, or none.

    Names do not cover points in `avoid`, except the first `must` names if there is no other way. Draw everything else
    and set the limits first.
    """
    figure: Any = ax.get_figure(root=True)
    short = short_names(names, 20)
    texts = [_text(ax, *item) for item in zip((short[name] for name in names), at, colors, strict=True)]
    figure.draw_without_rendering()
    choices = [_indices(ax, text, point) for text, point in zip(texts, at, strict=True)]
    obstacles = _around(ax, avoid, _MARKER * figure.dpi / 72)
    chosen, held = _place_all(choices[:must], obstacles)
    chosen += geometry.arrange(choices[must:], [*held, *obstacles, _OUTSIDE])
    for text, point, place in zip(texts, at, chosen, strict=True):
        _put(text, point, place)


def _put(text: Any, point: Floats, place: int | None) -> None:
    """Put a label at one of the eight positions around its point, or remove it if none is free."""
    if place is None:
        text.remove()
        return
    across, up = _sides(point)[place]
    text.set_position((across * _GAP, up * _GAP))
    text.set_horizontalalignment({1: "left", 0: "center", -1: "right"}[across])
    text.set_verticalalignment({1: "bottom", 0: "center", -1: "top"}[up])


def _indices(ax: Axes, text: Any, point: Floats) -> list[geometry.Box]:
    """The eight boxes of a label, in pixels; boxes outside the figure overlap everything."""
    extent, frame = text.get_window_extent(), ax.get_window_extent()
    x, y = ax.transData.transform(point)
    gap = _GAP * text.get_figure(root=True).dpi / 72
    return [_box(x, y, extent.width, extent.height, side, gap, frame) for side in _sides(point)]


def _text(ax: Axes, name: str, point: Floats, color: str) -> Any:
    text = ax.annotate(
        name, (point[0], point[1]), xytext=(0, 0), textcoords="offset points", ha="left", va="bottom",
        color=color, fontsize=8, parse_math=False,
    )  # fmt: skip
    text.set_in_layout(False)  # it must not move the axes after its position was found
    return text


def _sides(point: Floats) -> list[tuple[int, int]]:
    """The eight positions around a point as signs, those away from the centre first."""
    x, y = (1 if point[0] >= 0 else -1), (1 if point[1] >= 0 else -1)
    steep = abs(point[1]) > 2 * abs(point[0])
    first = [(0, y), (x, y)] if steep else [(x, 0), (x, y)]
    rest = [(x, 0), (0, y), (x, y), (x, -y), (0, -y), (-x, y), (-x, 0), (-x, -y)]
    return first + [side for side in rest if side not in first]


def _box(
    x: float, y: float, width: float, height: float, side: tuple[int, int], gap: float, frame: Any
) -> geometry.Box:
    across, up = side
    left = x + gap * across - width * {1: 0.0, 0: 0.5, -1: 1.0}[across]
    bottom = y + gap * up - height * {1: 0.0, 0: 0.5, -1: 1.0}[up]
    inside = left >= frame.x0 and left + width <= frame.x1 and bottom >= frame.y0 and bottom + height <= frame.y1
    return (left, bottom, left + width, bottom + height) if inside else _NOWHERE


def _around(ax: Axes, points: Floats, half: float) -> list[geometry.Box]:
    pixels = ax.transData.transform(points) if len(points) else np.empty((0, 2))
    return [(x - half, y - half, x + half, y + half) for x, y in pixels.tolist()]
