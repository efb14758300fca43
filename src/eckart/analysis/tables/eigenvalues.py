"""What each axis carries: variance s^2 / (w - 1), share s^2 / ||A||^2, and what is certified of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from eckart.analysis.labels import certified_ratios, component_labels, explained, total_name
from eckart.analysis.measures import floats
from eckart.fitted import takes_fitted
from eckart.formatting import interval
from eckart.text import Table

if TYPE_CHECKING:
    from eckart.result import Decomposition


@takes_fitted
def eigenvalues(d: Decomposition) -> Table:
    """Variance (for uncentred data: singular value), share, cumulative share and certified bounds of each axis."""
    centred = d.mean is not None
    size = floats(d.explained_variance if centred else d.values)
    shares = floats(d.explained_variance_ratio)
    unknown = np.full(d.k, np.nan)
    lower, upper = certified_ratios(d) or (unknown, unknown)
    columns = ("component", "variance" if centred else "singular value", "share", "cumulative", "lower", "upper")
    rows = zip(component_labels(d), *(a.tolist() for a in (size, shares, shares.cumsum(), lower, upper)), strict=True)
    together = f"The {d.k} axes together carry {interval(*explained(d))} of the {total_name(d)}"
    sure = "certified" if d.certificate is not None else "no certificate was made"
    kinds = ("text", "number", "percent", "percent", "floor", "ceiling")
    return Table("Axes", columns, tuple(rows), f"{together} ({sure}).", kinds)


@takes_fitted
def thresholds(d: Decomposition) -> Table:
    """Shares above which an axis counts by two old rules: the mean of all axes (Kaiser), and the broken stick.

    Broken stick: 1/m times the sum of 1/i from i = the axis to m, the share of the largest pieces of a stick broken at
    random into m pieces, m = min(rows - 1, columns) for centred data.
    """
    m = max(min(d.rows - (d.mean is not None), d.columns), 1)
    pieces = 1.0 / np.arange(m, 0, -1)
    stick = pieces.cumsum()[::-1] / m
    rows = ((name, 1.0 / m, float(stick[i]) if i < m else 0.0) for i, name in enumerate(component_labels(d)))
    caption = f"Of {m} possible axes; Kaiser's rule is meant for columns of equal variance."
    return Table(
        "Thresholds", ("component", "mean share", "broken stick"), tuple(rows), caption, ("text", "percent", "percent")
    )


@takes_fitted
def reconstruction_error(d: Decomposition) -> Table:
    """What is lost with the first 0, 1, ..., k axes: ||A - A_j|| / ||A|| = sqrt(1 - cumulative share), with bounds."""
    error = _lost(floats(d.explained_variance_ratio)) if d.norm > 0 else np.zeros(d.k + 1)
    bounds = certified_ratios(d)
    unknown = np.full(d.k + 1, np.nan)
    low, high = (unknown, unknown) if bounds is None else (_lost(bounds[1]), _lost(bounds[0]))
    rows = zip(map(str, range(d.k + 1)), error.tolist(), (error**2).tolist(), low.tolist(), high.tolist(), strict=True)
    caption = "Relative error in the Frobenius norm; its square is the share lost. Lower and upper are certified."
    kinds = ("text", "percent", "percent", "floor", "ceiling")
    return Table("Reconstruction", ("components", "error", "share lost", "lower", "upper"), tuple(rows), caption, kinds)


def _lost(shares: np.ndarray) -> np.ndarray:
    """sqrt(1 - cumulative share) after 0, 1, ... axes."""
    kept = np.concatenate([[0.0], np.nan_to_num(shares, posinf=1.0).cumsum()])
    return np.asarray(np.sqrt(np.clip(1.0 - kept, 0.0, 1.0)))
