"""Figures for teaching, as matplotlib figures: `figure.savefig("circle.svg")` or `.png`.

The effect of a matrix on the unit circle, points with components and projections, circles and a sphere under kernel
PCA, a scree plot.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from eckart.errors import InputError
from eckart.worked.matrices import matrix
from eckart.worked.messages import tr, trn
from eckart.worked.numerals import comma
from eckart.worked.numerals import figure as shown

if TYPE_CHECKING:
    import sympy as sp
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Array = NDArray[np.float64]
BLUE, ORANGE, GREEN, GREY = "#1f5a8a", "#c8561b", "#3c7d3f", "#8a8a8a"


def unit_circle(given: object, right: sp.Matrix | None = None) -> Figure:
    """A = U Σ V^T as three maps of the unit circle (2 x 2) or sphere (3 x 3): rotate, stretch, rotate.

    `right` contains the right singular vectors of a solution as columns, whose signs the figure uses.
    """
    a = _numbers(given)
    if a.shape not in {(2, 2), (3, 3)}:
        raise InputError(
            tr(
                "The matrix is {rows} x {cols}, but this picture needs a 2 x 2 or 3 x 3 matrix.",
                rows=a.shape[0],
                cols=a.shape[1],
            )
        )
    u, s, vt = np.linalg.svd(a)
    if right is not None:
        for i in range(right.cols):
            sign = -1.0 if vt[i] @ _numbers(right[:, i])[:, 0] < 0 else 1.0
            vt[i], u[:, i] = sign * vt[i], sign * u[:, i]
    stages = [np.eye(len(a)), vt, np.diag(s) @ vt, u @ np.diag(s) @ vt]
    titles = [
        tr("unit circle") if len(a) == 2 else tr("unit sphere"),
        tr("$V^T$ rotates"),
        tr("$\\Sigma$ stretches"),
        tr("$U$ rotates: $A$"),
    ]
    figure = _figure(12, 3.6)
    for place, (stage, title) in enumerate(zip(stages, titles, strict=True), 1):
        reach = 1.3 * max(1.0, s[0] / 3 if place < 3 else s[0])  # the circle stays visible next to a long ellipse
        if len(a) == 2:
            names = ("v_1", "v_2") if place < 4 else (r"\sigma_1 u_1", r"\sigma_2 u_2")
            _flat(figure.add_subplot(1, 4, place), stage, dict(zip(names, vt, strict=True)), reach, title)
        else:
            _deep(figure.add_subplot(1, 4, place, projection="3d"), stage, vt, reach, title)
    return _localised(figure)


def drops(given: object, *, center: bool = True) -> Figure:
    """Points of a two-column table, the principal axes, and the projections onto the first one."""
    x = _numbers(given)
    if x.shape[1] != 2:
        raise InputError(
            trn("The table has {n} column, but this picture needs two.",
                "The table has {n} columns, but this picture needs two.", x.shape[1])
        )  # fmt: skip
    mean = x.mean(axis=0) if center else np.zeros(2)
    _, s, vt = np.linalg.svd(x - mean)
    feet = mean + (x - mean) @ np.outer(vt[0], vt[0])
    figure = _figure(6.5, 4.6)
    axes = figure.add_subplot()
    reach = 1.15 * abs((x - mean) @ vt.T).max() + 0.2
    for vector, color, name in zip(vt, (BLUE, ORANGE), (tr("first component"), tr("second component")), strict=True):
        ends = mean + np.outer([-reach, reach], vector)
        axes.plot(*ends.T, color=color, lw=1.6, label=name, zorder=1)
    for point, foot in zip(x, feet, strict=True):
        axes.plot(*np.array([point, foot]).T, color=GREY, ls="--", lw=1, zorder=2)
    axes.scatter(feet[:, 0], feet[:, 1], s=28, facecolor="white", edgecolor=BLUE, zorder=3, label=tr("projections"))
    axes.scatter(x[:, 0], x[:, 1], s=42, color="black", zorder=4, label=tr("points"))
    axes.set(aspect="equal", xlabel=tr("column {j}", j=1), ylabel=tr("column {j}", j=2))
    axes.legend(frameon=False, loc="center left", bbox_to_anchor=(1, 0.5))
    lost = float((s[1:] ** 2).sum())
    axes.set_title(
        tr(
            "Points and their projections onto the first component\nsum of squared distances: {lost}",
            lost=shown(lost, 4),
        ),
        fontsize=11,
    )
    return _localised(figure)


def scree(given: object, *, center: bool = True, scale: bool = False) -> Figure:
    """The share of variance of each axis, and the running total."""
    x = _numbers(given)
    x = x - x.mean(axis=0) if center else x
    x = x / x.std(axis=0, ddof=1) if scale else x
    squares = np.linalg.svd(x, compute_uv=False) ** 2
    if not squares.sum() > 0:
        raise InputError(tr("All rows are equal, so there are no shares of variance to draw. Check the entries."))
    share = squares / squares.sum()
    indices = np.arange(1, len(share) + 1)
    figure = _figure(5, 3.6)
    axes = figure.add_subplot()
    bars = axes.bar(indices, 100 * share, color=BLUE, width=0.6)
    axes.bar_label(bars, [f"{shown(round(100 * value, 1), 4)} %" for value in share], fontsize=9, padding=7)
    axes.plot(indices, 100 * share.cumsum(), color=ORANGE, marker="o", label=tr("running total"))
    axes.set(
        xticks=indices, xlabel=tr("component"), ylabel=tr("share of variance, %"), ylim=(0, 118), title=tr("Scree plot")
    )
    axes.legend(frameon=False, loc="center right")
    return _localised(figure)


def circles(*, points: int = 200, gamma: float = 4.0, seed: int = 0) -> Figure:
    """Two concentric circles: PCA cannot separate them, kernel PCA with the RBF kernel does."""
    rng = np.random.Generator(np.random.Philox(seed))
    angle = rng.uniform(0, 2 * np.pi, points)
    radius = np.where(np.arange(points) < points // 2, 0.35, 1.0) + 0.03 * rng.standard_normal(points)
    x = np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])
    color = np.where(np.arange(points) < points // 2, ORANGE, BLUE)
    figure = _figure(11, 3.8)
    panels = (
        (tr("the points"), x),
        ("PCA", _pca(x)),
        (tr("kernel PCA (RBF, $\\gamma$ = {gamma})", gamma=shown(gamma)), rbf_scores(x, gamma)),
    )
    for place, (title, scores) in enumerate(panels, 1):
        axes = figure.add_subplot(1, 3, place)
        axes.scatter(scores[:, 0], scores[:, 1], c=color, s=14)
        names = (
            (tr("column {j}", j=1), tr("column {j}", j=2))
            if place == 1
            else (tr("component {i}", i=1), tr("component {i}", i=2))
        )
        axes.set(title=title, xlabel=names[0], ylabel=names[1], aspect="equal" if place < 3 else "auto")
    return _localised(figure)


def sphere(*, points: int = 600, gamma: float = 3.0, seed: int = 0) -> Figure:
    """A ball inside a sphere, in three dimensions: PCA shows one disc, kernel PCA separates core and shell."""
    rng = np.random.Generator(np.random.Philox(seed))
    direction = rng.standard_normal((points, 3))
    direction /= np.linalg.norm(direction, axis=1, keepdims=True)
    inner = np.arange(points) < points // 3
    x = direction * np.where(inner, 0.3, 1.0)[:, None]
    color = np.where(inner, ORANGE, BLUE)
    figure = _figure(11, 3.8)
    first: Any = figure.add_subplot(1, 3, 1, projection="3d")
    first.scatter(*x.T, c=color, s=6)
    first.set(title=tr("the points"), box_aspect=(1, 1, 1), xticks=[-1, 0, 1], yticks=[-1, 0, 1], zticks=[-1, 0, 1])
    for place, title, scores in (
        (2, "PCA", _pca(x)),
        (3, tr("kernel PCA (RBF, $\\gamma$ = {gamma})", gamma=shown(gamma)), rbf_scores(x, gamma)),
    ):
        axes = figure.add_subplot(1, 3, place)
        axes.scatter(scores[:, 0], scores[:, 1], c=color, s=8)
        axes.set(
            title=title,
            xlabel=tr("component {i}", i=1),
            ylabel=tr("component {i}", i=2),
            aspect="equal" if place == 2 else "auto",
        )
    return _localised(figure)


def graph(given: object, edges: tuple[tuple[int, int], ...]) -> Figure:
    """Points of a two-column table and the edges of their neighbours, each with its length."""
    x = _numbers(given)
    figure = _figure(5.5, 4.2)
    axes = figure.add_subplot()
    for i, j in edges:
        axes.plot(*x[[i, j]].T, color=BLUE, lw=1.6, zorder=1)
        middle = x[[i, j]].mean(axis=0)
        length = shown(float(np.linalg.norm(x[i] - x[j])), 3)
        axes.annotate(length, middle, color=GREY, xytext=(3, 3), textcoords="offset points", fontsize=9)
    axes.scatter(x[:, 0], x[:, 1], s=60, color="black", zorder=2)
    for place, point in enumerate(x, 1):
        axes.annotate(str(place), point, xytext=(6, 6), textcoords="offset points", color=ORANGE, weight="bold")
    axes.set(
        aspect="equal", xlabel=tr("column {j}", j=1), ylabel=tr("column {j}", j=2), title=tr("Graph of neighbours")
    )
    axes.margins(0.15)
    return _localised(figure)


def unfolded(given: sp.Matrix, scores: sp.Matrix) -> Figure:
    """Points of a two-column table and their first two scores, in two panels."""
    figure = _figure(8, 3.8)
    panels = ((tr("the points"), _numbers(given), "column"), (tr("scores"), np.array(scores.tolist(), float), "score"))
    for place, (title, x, kind) in enumerate(panels, 1):
        axes = figure.add_subplot(1, 2, place)
        axes.scatter(x[:, 0], x[:, 1], s=42, color=BLUE if kind == "column" else ORANGE)
        for number, point in enumerate(x[:, :2], 1):
            axes.annotate(str(number), point, xytext=(5, 5), textcoords="offset points")
        names = [tr("column {j}", j=j) if kind == "column" else tr("component {i}", i=j) for j in (1, 2)]
        axes.set(title=title, xlabel=names[0], ylabel=names[1])
        axes.margins(0.15)
    return _localised(figure)


def rbf_scores(x: Array, gamma: float) -> Array:
    """The first two scores of kernel PCA: K~ = K - 1K - K1 + 1K1, T = V sqrt(λ).

    >>> rbf_scores(np.array([[0.0], [1.0], [2.0]]), 1.0).shape
    (3, 2)
    """
    gaps = ((x[:, None, :] - x[None, :, :]) ** 2).sum(axis=2)
    gram = np.exp(-gamma * gaps)
    means = gram.mean(axis=0)
    values, vectors = np.linalg.eigh(gram - means - means[:, None] + means.mean())
    scores: Array = vectors[:, ::-1][:, :2] * np.sqrt(np.maximum(values[::-1][:2], 0))
    return scores


def _pca(x: Array) -> Array:
    centred = x - x.mean(axis=0)
    scores: Array = centred @ np.linalg.svd(centred, full_matrices=False)[2][:2].T
    return scores


def _flat(axes: Axes, stage: Array, vectors: dict[str, Array], reach: float, title: str) -> None:
    angle = np.linspace(0, 2 * np.pi, 200)
    axes.plot(*(stage @ np.array([np.cos(angle), np.sin(angle)])), color=BLUE)
    for (name, vector), color in zip(vectors.items(), (ORANGE, GREEN), strict=True):
        x, y = stage @ vector
        axes.annotate("", xy=(x, y), xytext=(0, 0), arrowprops={"arrowstyle": "-|>", "color": color, "lw": 2})
        axes.annotate(f"${name}$", (x, y), color=color, xytext=(4, 4), textcoords="offset points")
    axes.axhline(0, color=GREY, lw=0.5)
    axes.axvline(0, color=GREY, lw=0.5)
    axes.set(aspect="equal", xlim=(-reach, reach), ylim=(-reach, reach), title=title)


def _deep(axes: Any, stage: Array, vt: Array, reach: float, title: str) -> None:
    around, down = np.meshgrid(np.linspace(0, 2 * np.pi, 25), np.linspace(0, np.pi, 13))
    ball = np.array([np.cos(around) * np.sin(down), np.sin(around) * np.sin(down), np.cos(down)])
    moved = np.einsum("ij,jkl->ikl", stage, ball)
    axes.plot_wireframe(*moved, color=BLUE, lw=0.4, alpha=0.7)
    for vector, color in zip(vt, (ORANGE, GREEN, "black"), strict=True):
        axes.quiver(0, 0, 0, *(stage @ vector), color=color, lw=2)
    limits = {f"{axis}lim": (-reach, reach) for axis in "xyz"}
    axes.set(title=title, box_aspect=(1, 1, 1), **limits)
    axes.tick_params(labelsize=6)


def _numbers(given: object) -> Array:
    return np.array(matrix(given, "pca", rows=2000, columns=50).tolist(), dtype=float)


def _localised(figure: Figure) -> Figure:
    """With the decimal sign of the language at the ticks."""
    from matplotlib.ticker import ScalarFormatter

    class Comma(ScalarFormatter):
        def __call__(self, x: float, pos: int | None = None) -> str:
            return super().__call__(x, pos).replace(".", ",")

    if comma():
        for axes in figure.axes:
            for name in ("xaxis", "yaxis", "zaxis"):
                if hasattr(axes, name):
                    getattr(axes, name).set_major_formatter(Comma())
    return figure


def _figure(width: float, height: float) -> Figure:
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")
