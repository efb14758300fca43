"""The report's three charts as coordinates in pixels; the template draws them, and escapes every name."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from eckart.array_api import to_numpy
from eckart.views import geometry
from eckart.views.tables import floats
from eckart.views.words import axis_labels, certified_shares, column_labels, interval, percent, row_labels, shorten

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from eckart.decomposition import Decomposition

WIDTH = 720
_SCREE_HEIGHT = 300
_PLANE_HEIGHT = 560
_LEFT, _RIGHT, _TOP, _BOTTOM = 52, WIDTH - 16, 18, _PLANE_HEIGHT - 46
_SCREE_BOTTOM = _SCREE_HEIGHT - 46
_CELL_HEIGHT = 26
_MOST_BARS = 40
_MOST_CELL_ROWS = 40
_MOST_CELL_COLUMNS = 10
_MOST_PLANE_AXES = 8
_MOST_COLUMNS = 200
_MOST_LABELS = 150
_GAP = 6
_NOWHERE = (-math.inf, -math.inf, math.inf, math.inf)
"""A box that overlaps everything, for a side where a label has no room."""
_LETTER = 6.4
"""Width of a letter in a label of 11 pixels, for labels that must not overlap before a browser has measured them."""


def scree(d: Decomposition) -> dict[str, Any]:
    """Bars of shares with certified bounds and the cumulative line."""
    shares = floats(d.shares)[:_MOST_BARS]
    cumulative = shares.cumsum()
    bounds = certified_shares(d)
    low, high = (shares, shares) if bounds is None else (bound[:_MOST_BARS] for bound in bounds)
    names = axis_labels(d)
    inner = _RIGHT - _LEFT
    step = min(inner / max(len(shares), 1), 140.0)
    bars = []
    for i, share in enumerate(shares.tolist()):
        certified = "" if bounds is None else f"; certified {interval(float(low[i]), float(high[i]))}"
        x = _LEFT + step * i
        bars.append(
            {
                "x": _round(x + step * 0.18), "width": _round(step * 0.64), "middle": _round(x + step * 0.5),
                "y": _height(share), "low": _height(float(low[i])), "high": _height(min(float(high[i]), 1.0)),
                "cumulative": _height(float(cumulative[i])), "name": names[i], "share": percent(share),
                "title": f"{names[i]}: {percent(share, 2)}{certified}; cumulative {percent(float(cumulative[i]), 2)}",
            }
        )  # fmt: skip
    ticks = [{"y": _height(share), "label": f"{100 * share:.0f} %"} for share in (0, 0.25, 0.5, 0.75, 1)]
    every = max(1, math.ceil(len(bars) * 60 / inner))
    right = _round(_LEFT + step * len(bars))
    return {"bars": bars, "ticks": ticks, "every": every, "base": _height(0.0), "left": _LEFT, "right": right,
            "width": _round(right + WIDTH - _RIGHT), "height": _SCREE_HEIGHT, "certified": bounds is not None,
            "left_out": f"Axes after {bars[-1]['name']} are in the table only." if len(bars) < d.k else ""}  # fmt: skip


def heatmap(d: Decomposition) -> dict[str, Any]:
    """Cells of loadings: colour by sign, strength by size."""
    matrix = floats(d.right)[:, :_MOST_CELL_COLUMNS]
    order = np.argsort(-np.abs(matrix).max(axis=1, initial=0.0), kind="stable")[:_MOST_CELL_ROWS]
    if d.columns <= _MOST_CELL_ROWS:
        order = np.arange(d.columns)
    largest = float(np.abs(matrix).max(initial=0.0)) or 1.0
    names, axes = column_labels(d), axis_labels(d)[:_MOST_CELL_COLUMNS]
    left = 24 + _LETTER * max((len(shorten(names[j], 24)) for j in order), default=0)
    step = min((WIDTH - left) / max(len(axes), 1), 92.0)
    lines = []
    for i, j in enumerate(order.tolist()):
        values = enumerate(matrix[j].tolist())
        cells = [_cell(value, left + step * a, largest, names[j], axes[a]) for a, value in values]
        lines.append({"name": shorten(names[j], 24), "y": 28 + _CELL_HEIGHT * i, "cells": cells})
    left_out = [f"{d.columns - len(lines):,} weaker columns are not drawn."] if len(lines) < d.columns else []
    left_out += [f"The first {len(axes)} of {d.k} axes are drawn."] if len(axes) < d.k else []
    heads = [{"x": _round(left + step * (a + 0.5)), "name": name} for a, name in enumerate(axes)]
    return {"lines": lines, "heads": heads, "left": _round(left), "step": _round(step - 2), "cell": _CELL_HEIGHT - 2,
            "width": _round(left + step * len(axes)), "height": 30 + _CELL_HEIGHT * len(lines),
            "left_out": " ".join(left_out)}  # fmt: skip


def plane(d: Decomposition) -> dict[str, Any]:
    """The form biplot of the first two axes, and the numbers with which the page draws the other planes."""
    pair = geometry.biplot(d)
    tips = pair.stretch * pair.arrows[pair.columns]
    points = np.empty((0, 2)) if pair.points is None else pair.points[pair.rows]
    view = _View.around(np.vstack([points, tips, np.zeros((1, 2))]))
    columns, rows = column_labels(d), row_labels(d)
    arrows = [_mark(columns[j], *view.place(tip)) for j, tip in zip(pair.columns.tolist(), tips, strict=True)]
    dots = [_mark(rows[i], *view.place(point)) for i, point in zip(pair.rows.tolist(), points, strict=True)]
    zero = view.place(np.zeros(2))
    _choose_labels(arrows, sorted(dots, key=lambda dot: -math.dist((dot["x"], dot["y"]), zero)))
    half = np.array([(_RIGHT - _LEFT) / 2, (_BOTTOM - _TOP) / 2]) / view.scale
    ticks = [geometry.ticks(view.middle[a] - half[a], view.middle[a] + half[a]) for a in (0, 1)]
    longest = f"The {len(arrows)} longest of {d.columns:,} arrows are drawn." if len(arrows) < d.columns else ""
    frame = {"left": _LEFT, "right": _RIGHT, "top": _TOP, "bottom": _BOTTOM, "width": WIDTH, "height": _PLANE_HEIGHT}
    return {
        "arrows": arrows, "dots": dots, "zero": zero, "labels": pair.labels, "stretch": pair.stretch, "frame": frame,
        "xticks": [{"at": view.place(np.array([t, 0.0]))[0], "label": f"{t:g}"} for t in ticks[0]],
        "yticks": [{"at": view.place(np.array([0.0, t]))[1], "label": f"{t:g}"} for t in ticks[1]],
        "data": _plane_data(d, pair.rows), "left_out": f"{geometry.subset_sentence(d)} {longest}".strip(),
        "rows_kept": d.left is not None,
    }  # fmt: skip


def _plane_data(d: Decomposition, rows: NDArray[np.intp]) -> dict[str, Any]:
    k = min(d.k, _MOST_PLANE_AXES)
    right = floats(d.right)[:, :k]
    deviations = np.sqrt(floats(d.variances)[:k])
    strongest = np.sort(np.argsort(-np.abs(right * deviations).max(axis=1), kind="stable")[:_MOST_COLUMNS])
    scores = np.empty((0, k)) if d.left is None else floats(to_numpy(d.left)[rows, :k]) * floats(d.values)[:k]
    row_names, column_names, names = row_labels(d), column_labels(d), axis_labels(d)
    shares = floats(d.shares).tolist()
    return {
        "axes": [{"name": names[a], "label": f"{names[a]} ({percent(shares[a])})"} for a in range(k)],
        "deviations": _short(deviations),
        "rows": [shorten(row_names[i], 60) for i in rows.tolist()], "scores": [_short(line) for line in scores],
        "columns": [shorten(column_names[j], 60) for j in strongest.tolist()],
        "loadings": [_short(right[j]) for j in strongest],
        "most_arrows": geometry.MOST_ARROWS, "letter": _LETTER, "reach": geometry.ARROW_REACH,
    }  # fmt: skip


def _choose_labels(arrows: list[dict[str, Any]], dots: list[dict[str, Any]]) -> None:
    """Mark which names are written, and at which side: arrows first, then points from the outside in."""
    taken = _write(arrows, [])
    _write(dots[:_MOST_LABELS], taken + [(dot["x"] - 3, dot["y"] - 3, dot["x"] + 3, dot["y"] + 3) for dot in dots])


def _write(marks: list[dict[str, Any]], taken: list[geometry.Box]) -> list[geometry.Box]:
    choices = [_sides(mark) for mark in marks]
    written = []
    for mark, boxes, side in zip(marks, choices, geometry.arrange(choices, taken), strict=True):
        if side is not None:
            mark["anchor"], mark["at"] = ("start", "end")[side], _round(mark["x"] + (_GAP, -_GAP)[side])
            written.append(boxes[side])
    return written


def _sides(mark: dict[str, Any]) -> list[geometry.Box]:
    """The boxes of a label at the right and at the left of its mark, in pixels."""
    x, y, width = mark["x"], mark["y"], _LETTER * len(mark["name"])
    right, left = (x + _GAP, y - 7, x + _GAP + width, y + 7), (x - _GAP - width, y - 7, x - _GAP, y + 7)
    return [right if right[2] <= WIDTH else _NOWHERE, left if left[0] >= _LEFT else _NOWHERE]


def _mark(name: str, x: float, y: float) -> dict[str, Any]:
    return {"name": shorten(name, 20), "x": x, "y": y, "anchor": None, "at": None}


def _cell(value: float, x: float, largest: float, column: str, axis: str) -> dict[str, Any]:
    strength = abs(value) / largest
    sign = "positive" if value >= 0 else "negative"
    kind = sign + " strong" * (strength > 0.68) + " full" * (strength > 0.85)
    return {"x": _round(x), "kind": kind, "strength": round(0.92 * strength, 3),
            "text": f"{value:z.2f}", "title": f"{shorten(column, 60)} on {axis}: {value:.4f}"}  # fmt: skip


@dataclass(frozen=True)
class _View:
    """Numbers to pixels, with the same scale in both directions so that angles and distances are true."""

    scale: float
    middle: NDArray[np.float64]

    @classmethod
    def around(cls, drawn: NDArray[np.float64]) -> _View:
        low, high = drawn.min(axis=0), drawn.max(axis=0)
        room = np.array([_RIGHT - _LEFT - 120, _BOTTOM - _TOP - 40])
        spans = [float(pixels / span) for pixels, span in zip(room, high - low, strict=True) if span > 1e-290]
        return cls(min(spans, default=1.0), (low + high) / 2)

    def place(self, xy: NDArray[np.float64]) -> tuple[float, float]:
        across, up = (self.scale * (xy - self.middle)).tolist()
        return _round((_LEFT + _RIGHT) / 2 + across), _round((_TOP + _BOTTOM) / 2 - up)


def _height(share: float) -> float:
    part = min(max(share, 0.0), 1.0) if math.isfinite(share) else 1.0
    return _round(_SCREE_BOTTOM - (_SCREE_BOTTOM - _TOP) * part)


def _round(pixels: float) -> float:
    return round(float(pixels), 1)


def _short(numbers: NDArray[np.float64]) -> list[float]:
    return [float(f"{x:.4g}") for x in numbers.tolist()]
