"""The columns themselves: their correlations with each other, and their distributions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from eckart.aliases import JsonObject
from eckart.analysis.labels import column_labels
from eckart.arrays import part_on_host
from eckart.formatting import short_names
from eckart.text import Cell, Table

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from eckart.analysis.analysis import Analysis

MOST_COLUMNS = 25
"""Columns whose correlations and distributions are shown."""
_MOST_ROWS = 100_000
_FEWEST_ROWS = 3
_BINS = 16


def column_statistics(found: Analysis) -> dict[str, Table]:
    """Correlations between the first columns, and their distributions: quartiles and skewness."""
    sample = sampled(found)
    if sample is None:
        return {}
    full = column_labels(found.decomposition)[: sample.shape[1]]
    names = [short_names(full, 40)[name] for name in full]
    tables = {"distributions": _distributions(names, sample)}
    if len(names) > 1 and len(sample) >= _FEWEST_ROWS:
        matrix = correlation_matrix(sample)
        rows = tuple((name, *line) for name, line in zip(names, matrix.tolist(), strict=True))
        caption = "Pearson correlations, computed from the rows in which both columns have values."
        tables["matrix"] = Table("Correlations between columns", ("column", *names), rows, caption)
    return tables


def sampled(found: Analysis) -> NDArray[np.float64] | None:
    """The first columns of the table; rows in equal steps if there are many. None if the table is not in memory."""
    data, d = found.data, found.decomposition
    if data is None or tuple(getattr(data, "shape", ())) != (d.rows, d.columns) or d.method not in ("pca", "svd"):
        return None
    step = -(-d.rows // _MOST_ROWS)
    return part_on_host(data, np.arange(0, d.rows, step), np.arange(min(d.columns, MOST_COLUMNS)))


def correlation_matrix(table: NDArray[np.float64]) -> NDArray[np.float64]:
    """Pearson correlations of the columns, pairwise complete; NaN for a column that does not vary.

    Over the rows in which both are known: (n sum xy - sum x sum y) / sqrt of the same for xx and yy, of columns shifted
    by their means and divided by their largest values, so that no digits are lost.
    """
    known = np.isfinite(table).astype(np.float64)
    counts = np.maximum(known.sum(axis=0), 1)
    filled = np.where(known > 0, table, 0.0)
    largest = np.maximum(np.abs(filled).max(axis=0), np.finfo(float).tiny)
    filled = filled / largest
    x = np.where(known > 0, filled - filled.sum(axis=0) / counts, 0.0)
    n, sums, squares = known.T @ known, x.T @ known, (x**2).T @ known
    covariance = n * (x.T @ x) - sums * sums.T
    variance = n * squares - sums**2
    size = np.sqrt(np.maximum(variance, 0) * np.maximum(variance.T, 0))
    varies = np.ptp(np.where(known > 0, table, np.nanmean(np.where(known > 0, table, np.nan), axis=0)), axis=0) > 0
    valid = (size > 0) & varies & varies[:, None]
    found = np.divide(covariance, size, out=np.full_like(size, np.nan), where=valid)
    return np.asarray(np.clip(found, -1.0, 1.0))


def histograms(found: Analysis) -> list[JsonObject]:
    """For each of the first columns: name, ends, and the heights of equal bins relative to the highest."""
    sample = sampled(found)
    if sample is None:
        return []
    names = column_labels(found.decomposition)
    made, short = [], short_names(names, 60)
    for j in range(sample.shape[1]):
        values = sample[np.isfinite(sample[:, j]), j]
        if not len(values):
            continue
        low, high = float(values.min()), float(values.max())
        if not np.isfinite(high - low):
            continue
        # Around large numbers, float64 cannot tell the ends of the bins apart.
        counts = np.histogram((values - low) / ((high - low) or 1.0), _BINS, (0.0, 1.0))[0]
        heights = (counts / counts.max()).round(3).tolist()
        made.append({"name": short[names[j]], "low": low, "high": high, "heights": heights, "count": len(values)})
    return made


def _distributions(names: list[str], sample: NDArray[np.float64]) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for name, column in zip(names, sample.T, strict=True):
        values = column[np.isfinite(column)]
        if not len(values):
            rows.append((name, *(None,) * 6))
            continue
        rows.append((name, *np.quantile(values, (0, 0.25, 0.5, 0.75, 1)).tolist(), _skewness(values)))
    columns = ("column", "minimum", "25 %", "median", "75 %", "maximum", "skewness")
    kinds = ("text", *("quantity",) * 6)
    return Table("Distributions", columns, tuple(rows), "Quartiles and skewness of each column.", kinds)


def _skewness(values: NDArray[np.float64]) -> float | None:
    """m_3 / m_2^(3/2)."""
    largest = float(np.abs(values).max())
    centred = (values / largest - (values / largest).mean()) if largest > 0 else values
    variance = float((centred**2).mean())
    return float((centred**3).mean() / variance**1.5) if variance > 1e-24 else None
