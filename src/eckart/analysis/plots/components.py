"""Plots of explained shares: scree, cumulative share, reconstruction error."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from eckart.analysis.labels import column_labels, row_labels, total_name
from eckart.analysis.measures import check_orthogonal, floats, row_scores
from eckart.analysis.plots.drawing import BLUE, GREY, ORANGE, VERMILLION, new_axes, plain
from eckart.analysis.tables import eigenvalues as numbers
from eckart.analysis.tables.outliers import place_of, whole_row
from eckart.arrays import Floats
from eckart.errors import ParameterError
from eckart.fitted import takes_fitted
from eckart.formatting import counted, joined, short_names, shorten

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from eckart.result import Decomposition
    from eckart.text import Table


_MOST_COMPONENTS = 30
_MOST_COLUMNS = 40
_PAPER = {"facecolor": "white", "edgecolor": "none", "pad": 0.6}
_POINTS = 2.2
"""Approximate height in points of one percent on the share scale."""


@takes_fitted
def scree(d: Decomposition, ax: Axes | None = None, *, thresholds: bool = True) -> Axes:
    """Plot the explained share of each component.

    Error bars show the certified bounds. At most 30 components are drawn.

    Parameters
    ----------
    {d, ax}
    thresholds : bool, default True
        Draw the mean share (Kaiser's rule) and the broken-stick shares as lines.

    {Returns: matplotlib.axes.Axes; See Also: cumulative, eckart.choose_rank}

    {Examples: arrests}
    >>> ek.plots.scree(d).get_title()
    'Scree plot'
    """
    ax = ax or new_axes(6.4, 4.0)
    table = _columns(numbers.eigenvalues(d))
    shares, lower, upper = (100 * table[i][:_MOST_COMPONENTS] for i in (1, 3, 4))
    x = np.arange(1, len(shares) + 1)
    tops = shares
    ax.bar(x, shares, color=BLUE, width=0.7, label="share")
    if thresholds and d.which == "largest":
        limits = _columns(numbers.thresholds(d))
        mean, stick = (100 * column[:_MOST_COMPONENTS] for column in limits)
        ax.plot(x, stick, color=ORANGE, marker="D", markersize=4, linestyle="--", linewidth=1, label="broken stick")
        tops = np.maximum(shares, stick)
        ax.axhline(float(mean[0]) if len(mean) else 0, color=GREY, linestyle=":", label="mean share (Kaiser)")
    if np.isfinite(lower).any():
        around = np.clip([shares - lower, np.nan_to_num(upper, posinf=100) - shares], 0, None)
        ax.errorbar(x, shares, yerr=around, fmt="none", ecolor="black", capsize=3, label="certified bounds")
    if len(shares) <= 12:
        _write_shares(ax, shares, tops)
    ax.set_xticks(x if len(x) <= 12 else x[:: -(-len(x) // 10)])
    ax.set(xlabel="component", ylabel=f"share of the {total_name(d)} (%)", title="Scree plot")
    ax.set_ylim(0, 1.15 * float(tops.max(initial=1.0)))
    ax.legend(frameon=False)
    return ax


@takes_fitted
def cumulative(d: Decomposition, ax: Axes | None = None, *, targets: Sequence[float] = (0.8, 0.9, 0.95)) -> Axes:
    """Plot the cumulative explained share.

    Parameters
    ----------
    {d, ax}
    targets : sequence of float, default (0.8, 0.9, 0.95)
        Shares of the variance. The plot marks how many components are needed to reach each of them.

    {Returns: matplotlib.axes.Axes; See Also: scree}

    {Examples: arrests}
    >>> ek.plots.cumulative(d).get_title()
    'Cumulative share'
    """
    ax = ax or new_axes(6.4, 4.0)
    together = 100 * _columns(numbers.eigenvalues(d))[2]
    x = np.arange(1, len(together) + 1)
    ax.plot(x, together, color=BLUE, marker="o" if len(x) <= 40 else None, markersize=4)
    reached = [int(np.searchsorted(together, 100 * target - 1e-9)) + 1 for target in targets]
    indices = [
        (k, float(together[k - 1])) if k <= len(x) else (len(x), 100 * t) for k, t in zip(reached, targets, strict=True)
    ]
    for target, count, place, drop in zip(targets, reached, indices, _drops(indices, len(x)), strict=True):
        ax.axhline(100 * target, color=GREY, linestyle=":", linewidth=1)
        words = f"{100 * target:g} %: {counted(count, 'component') if count <= len(x) else 'more components'}"
        ax.annotate(
            words, place, (6, -6 - drop), textcoords="offset points", ha="left", va="top", fontsize=8, bbox=_PAPER
        )
        if count <= len(x):
            ax.plot(*place, marker="s", color=VERMILLION, markersize=6, linestyle="none")
    ax.set_xticks(x if len(x) <= 12 else x[:: -(-len(x) // 10)])
    ax.set(ylim=(0, 105), xlabel="number of components", ylabel=f"cumulative share of the {total_name(d)} (%)")
    ax.set_xlim(0.5, len(x) + 0.5 + 0.12 * len(x))
    ax.set_title("Cumulative share")
    return ax


def _write_shares(ax: Axes, shares: Floats, tops: Floats) -> None:
    """Write the percentages above the bars and markers."""
    for i, (share, top) in enumerate(zip(shares.tolist(), tops.tolist(), strict=True)):
        ax.annotate(f"{share:.1f}", (i + 1, top), (0, 6), textcoords="offset points", ha="center", fontsize=8)


def _drops(indices: list[tuple[int, float]], count: int) -> list[float]:
    """How far each label is shifted down, in points, so that it does not overlap the label to its right."""
    drops = [0.0] * len(indices)
    for i in range(len(indices) - 2, -1, -1):
        (x, y), (right, above) = indices[i], indices[i + 1]
        if right - x < 0.3 * count:
            drops[i] = max(0.0, drops[i + 1] + 11 - (above - y) * _POINTS)
    return drops


@takes_fitted
def reconstruction(
    d: Decomposition,
    ax: Axes | None = None,
    *,
    row: int | str | None = None,
    values: object = None,
    k: Sequence[int] | None = None,
) -> Axes:
    """Plot the reconstruction error, or the reconstruction of one row.

    Parameters
    ----------
    d : Decomposition or fitted estimator
        The decomposition. To use `row`, it must contain the scores of its rows (``left=True``).
    {ax}
    row : int, str or None, default None
        Index of a row, counted from 0, or its name. If the names are whole numbers, an int is a name. None plots the
        error of all rows.
    values : array-like of shape (n_features,), default None
        The observed values of the row, drawn for comparison. Not needed if all components were kept.
    k : sequence of int or None, default None
        Numbers of components from which to reconstruct the row. None uses 1, 2 and all components.

    {Returns: matplotlib.axes.Axes}

    Raises
    ------
    ParameterError
        If there is no such row, or a number in `k` is out of range.

    {See Also: eckart.tables.reconstruction_error}

    {Examples: arrests}
    >>> ek.plots.reconstruction(d).get_title()
    'Reconstruction error'
    """
    if row is not None:
        return _one_row(d, ax, row, values, k)
    ax = ax or new_axes(6.4, 4.0)
    error, _, low, high = _columns(numbers.reconstruction_error(d))
    x = np.arange(len(error))
    if np.isfinite(low).any():
        ax.fill_between(x, 100 * low, 100 * high, color=BLUE, alpha=0.25, linewidth=0, label="certified")
    ax.plot(x, 100 * error, color=BLUE, marker="o" if len(x) <= 40 else None, markersize=4, label="computed")
    ax.set_xticks(x if len(x) <= 13 else x[:: -(-len(x) // 10)])
    ax.set(ylim=(0, 105), xlabel="number of components", ylabel="relative error of the reconstruction (%)")
    ax.set_title("Reconstruction error")
    ax.legend(frameon=False)
    return ax


def _one_row(d: Decomposition, ax: Axes | None, row: int | str, values: object, ks: Sequence[int] | None) -> Axes:
    check_orthogonal(d, "Plots of one row")
    place = place_of(d, row)
    scores, right = row_scores(d, slice(place, place + 1))[0], floats(d.right)
    ks = _numbers_of_components(d, ks)
    whole = whole_row(d, values, scores)
    rebuilt = {k: right[:, :k] @ scores[:k] for k in ks}
    shown = _largest(rebuilt[ks[-1]] if whole is None else whole)
    ax = ax or new_axes(max(6.4, 1.5 + 0.3 * len(shown)), 4.4)
    x = np.arange(len(shown))
    if whole is not None:
        ax.bar(x, whole[shown], color="#c9c9c9", width=0.75, label="the row")
    _draw_rebuilt(ax, {k: rebuilt[k][shown] for k in ks})
    _name_columns(ax, d, shown)
    ax.set_ylabel("deviation from the mean" if d.scale is None else "deviation (standard deviations)")
    count = f"{joined([str(k) for k in ks])} component{'' if ks == [1] else 's'}"
    plain([ax.set_title(f"{shorten(row_labels(d)[place], 40)}, reconstructed from {count}")])
    ax.legend(frameon=False)
    return ax


def _largest(row: Floats) -> NDArray[np.intp]:
    """The columns with the largest entries, in their order; all of them if they fit."""
    return np.sort(np.argsort(-np.abs(row))[:_MOST_COLUMNS])


def _name_columns(ax: Axes, d: Decomposition, shown: NDArray[np.intp]) -> None:
    names = column_labels(d)
    degrees = 90 if len(shown) > 8 else 0
    short = short_names(names, 20)
    words = [short[names[j]] for j in shown]
    ax.set_xticks(np.arange(len(shown)), words, rotation=degrees, parse_math=False)


def _numbers_of_components(d: Decomposition, ks: Sequence[int] | None) -> list[int]:
    chosen = sorted({1, min(2, d.k), d.k} if ks is None else set(ks))
    if not all(1 <= k <= d.k for k in chosen):
        raise ParameterError(
            f"k={chosen} is not available, because the decomposition has {counted(d.k, 'component')}. "
            f"Use numbers from 1 to {d.k}."
        )
    return chosen


def _draw_rebuilt(ax: Axes, rebuilt: dict[int, Floats]) -> None:
    """Draw the row reconstructed from 1, 2, ... components, with one marker per number."""
    for (k, values), shape, color in zip(
        rebuilt.items(), "vsoDP", (ORANGE, VERMILLION, BLUE, GREY, "black"), strict=False
    ):
        words = f"{k} component{'' if k == 1 else 's'}"
        x = np.arange(len(values))
        ax.plot(x, values, marker=shape, color=color, linestyle="none", markersize=6, label=words)
    ax.axhline(0, color=GREY, linewidth=0.6)


def _columns(table: Table) -> list[Floats]:
    """The numbers of a table, one array for each column except the first."""
    count = len(table.columns) - 1
    cells = np.array([[np.nan if cell is None else cell for cell in row[1:]] for row in table.rows], dtype=float)
    return list(cells.reshape(-1, count).T)
