"""Explained variance of each component: variance s^2 / (w - 1), share s^2 / ||A||^2, and certified bounds."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from eckart.analysis.labels import certified_ratios, component_labels, explained, total_name
from eckart.analysis.measures import floats, svd_details
from eckart.fitted import takes_fitted
from eckart.formatting import interval, percent
from eckart.registry import method_of
from eckart.text import Table

if TYPE_CHECKING:
    from eckart.result import Decomposition


@takes_fitted
def eigenvalues(d: Decomposition) -> Table:
    """Tabulate the explained variance of each component with certified bounds.

    {Parameters: d; Returns: Table}
        Variance of each component (or its singular value, if the data were not centred), its share of the total
        variance, the cumulative share, and lower and upper bounds on the share.

    {See Also: thresholds, eckart.plots.scree}

    {Examples: arrests}
    >>> [round(float(row[2]), 4) for row in ek.tables.eigenvalues(d).rows]
    [0.6201, 0.2474]
    """
    centred = d.mean is not None
    size = floats(d.explained_variance if centred else d.values)
    shares = floats(d.explained_variance_ratio)
    unknown = np.full(d.k, np.nan)
    lower, upper = certified_ratios(d) or (unknown, unknown)
    columns = ("component", "variance" if centred else "singular value", "share", "cumulative", "lower", "upper")
    rows = zip(component_labels(d), *(a.tolist() for a in (size, shares, shares.cumsum(), lower, upper)), strict=True)
    verb = "The component explains" if d.k == 1 else f"Together, the {d.k} components explain"
    together = f"{verb} {interval(*explained(d))} of the {total_name(d)}"
    sure = "certified" if d.certificate is not None else "not certified"
    kinds = ("text", "number", "percent", "percent", "floor", "ceiling")
    return Table("Components", columns, tuple(rows), f"{together} ({sure}).", kinds)


@takes_fitted
def thresholds(d: Decomposition) -> Table:
    """Tabulate the explained shares above which two classical rules keep a component.

    {Parameters: d; Returns: Table}
        Mean share (Kaiser's rule) and broken-stick share of each component.

    {See Also: eckart.choose_rank}

    Notes
    -----
    If a stick is broken at random into m pieces, the expected length of the i-th largest piece is 1/m times the sum of
    1/j for j from i to m. This is the broken-stick share of component i. For centred data, m = min(n_samples - 1,
    n_features), where constant columns do not count.

    References
    ----------
    .. [1] D. A. Jackson, "Stopping rules in principal components analysis", Ecology 74, 1993.

    {Examples: arrests}
    >>> [round(float(row[2]), 4) for row in ek.tables.thresholds(d).rows]
    [0.5208, 0.2708]
    """
    rows = max(round(d.weight), d.rows)  # a row of weight 2 counts as two rows
    lengths = svd_details(d).column_norms
    columns = d.columns if lengths is None else int(np.count_nonzero(floats(lengths)))
    m = max(min(rows - (d.mean is not None), columns), 1)
    pieces = 1.0 / np.arange(m, 0, -1)
    stick = pieces.cumsum()[::-1] / m
    shares = ((name, 1.0 / m, float(stick[i]) if i < m else 0.0) for i, name in enumerate(component_labels(d)))
    caption = f"Thresholds for {m} possible components. Kaiser's rule assumes that all columns have the same variance."
    return Table(
        "Thresholds",
        ("component", "mean share", "broken stick"),
        tuple(shares),
        caption,
        ("text", "percent", "percent"),
    )


@takes_fitted
def reconstruction_error(d: Decomposition) -> Table:
    """Tabulate the relative reconstruction error of the first 0, 1, ..., k components.

    {Parameters: d; Returns: Table}
        Relative error ||A - A_j|| / ||A|| = sqrt(1 - cumulative share) for each number j of components, with certified
        bounds.

    {See Also: eckart.plots.reconstruction}

    {Examples: arrests}
    >>> [round(float(row[1]), 4) for row in ek.tables.reconstruction_error(d).rows]
    [1.0, 0.6164, 0.364]
    """
    error = _lost(floats(d.explained_variance_ratio)) if d.norm > 0 else np.zeros(d.k + 1)
    error[error**2 <= 4 * d.k * np.finfo(np.float64).eps] = 0.0  # rounding can bring a sum of shares slightly above 1
    bounds = certified_ratios(d)
    unknown = np.full(d.k + 1, np.nan)
    low, high = (
        (unknown, unknown) if bounds is None else (_lost(bounds[1]), _lost(bounds[0], _rounding_of(d, bounds[0])))
    )
    rows = zip(map(str, range(d.k + 1)), error.tolist(), (error**2).tolist(), low.tolist(), high.tolist(), strict=True)
    caption = (
        "Relative error in the Frobenius norm; its square is the share that is not explained. 'lower' and 'upper' "
        "are certified bounds."
    )
    kinds = ("text", "percent", "percent", "floor", "ceiling")
    return Table("Reconstruction", ("components", "error", "share lost", "lower", "upper"), tuple(rows), caption, kinds)


def _rounding_of(d: Decomposition, lower: np.ndarray) -> float:
    """Share that vectors rounded to their dtype may explain less than the lower bounds of the singular values."""
    if d.method not in ("pca", "svd") or d.which == "smallest":
        return 0.0
    return max(0.0, float(np.sum(lower)) - explained(d)[0])


def _lost(shares: np.ndarray, rounding: float = 0.0) -> np.ndarray:
    """sqrt(1 - cumulative share) after 0, 1, ... components, whose share is less by up to `rounding`."""
    kept = np.concatenate([[0.0], np.nan_to_num(shares, posinf=1.0).cumsum() - rounding])
    return np.asarray(np.sqrt(np.clip(1.0 - kept, 0.0, 1.0)))


def components_table(d: Decomposition) -> Table:
    """The explained variance of each component, without sums if shares do not add up."""
    made = eigenvalues(d)
    method = method_of(d)
    if method.section.shares_of:
        explain = "The component explains" if d.k == 1 else f"The {d.k} components together explain"
        caption = f"{explain} {total_ratio(d)} of the {method.section.shares_of}."
        return replace(made, caption=caption)
    if method.additive:
        return made
    rows = tuple(row[:3] for row in made.rows)
    caption = "The parts are not orthogonal, so the shares they explain overlap and do not add up to the total."
    return Table("Parts", (made.columns[0], "size", "share of the total sum of squares"), rows, caption, made.kinds[:3])


def total_ratio(d: Decomposition) -> str:
    """The explained variance of all components, as computed if the certificate is about something else."""
    if not method_of(d).certifies_explained_variance:
        return percent(float(floats(d.explained_variance_ratio).sum()), 2)
    return interval(*explained(d))
