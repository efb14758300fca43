"""Weighted rows against repeated rows, every attribute and table: largest difference over the largest entry."""

from __future__ import annotations

import numpy as np

import eckart as ek
from benchmarks.statistics.part import Cell, Outcome, Part
from eckart.analysis.tables.outliers import new_limits
from eckart.text import Table

ATTRIBUTES = ("components_", "explained_variance_", "explained_variance_ratio_", "singular_values_", "mean_",
              "noise_variance_")  # fmt: skip
OF_COLUMNS = ("eigenvalues", "loadings", "correlations", "contributions", "column_cos2", "rotated_loadings",
              "rotated_variances", "outlier_limits", "reconstruction_error", "component_columns")  # fmt: skip
OF_ROWS = ("scores", "cos2", "row_quality", "rotated_scores", "outliers")


def numbers(table: Table) -> np.ndarray:
    """The numbers of a table, NaN for text; rows by their label, because equal values may change places."""
    rows = [[c if isinstance(c, float | int) else np.nan for c in row] for row in table.rows]
    return np.asarray(rows, dtype=float)


def difference(a: np.ndarray, b: np.ndarray) -> float:
    """Largest difference over the largest entry of its column."""
    a, b = np.atleast_2d(a), np.atleast_2d(b)
    largest = np.maximum(np.max(np.abs(np.nan_to_num(b)), axis=0), 1e-300)
    return float(np.max(np.abs(np.nan_to_num(a) - np.nan_to_num(b)) / largest))


def one(cell: Cell, rng: np.random.Generator) -> Outcome:
    rows, columns, scale = cell
    data, times = rng.standard_normal((rows, columns)) + rng.normal(0, 3, columns), rng.integers(1, 4, rows)
    repeated, first = np.repeat(data, times, axis=0), np.cumsum(times) - times
    models = ek.PCA(3, scale=scale).fit(data, sample_weight=times.astype(float)), ek.PCA(3, scale=scale).fit(repeated)
    arrays = []
    for model in models:
        computed = [model.get_covariance(), model.get_precision(), model.score_samples(data)]
        arrays.append([np.asarray(getattr(model, name)) for name in ATTRIBUTES] + computed)
    attributes = max(difference(a, b) for a, b in zip(*arrays, strict=True))
    d = [ek.decompose(x, k=3, scale=scale, left=True, sample_weight=w) for x, w in ((data, times), (repeated, None))]
    views = [[numbers(getattr(ek.tables, name)(one)) for name in OF_COLUMNS] for one in d]
    of_columns = max(difference(a, b) for a, b in zip(*views, strict=True))
    of_rows = max(
        difference(numbers(getattr(ek.tables, name)(d[0])), numbers(getattr(ek.tables, name)(d[1]))[first])
        for name in OF_ROWS
    )
    parts = [numbers(ek.tables.row_contributions(one)) for one in d]
    of_rows = max(of_rows, difference(parts[0], np.add.reduceat(parts[1], first)))
    limits = difference(np.array(new_limits(d[0])), np.array(new_limits(d[1])))
    votes = [[(v.k, v.reason) for v in ek.choose_rank(one).verdicts] for one in d]
    return [attributes, of_columns, of_rows, limits, float(votes[0] == votes[1])]


PART = Part(
    ("rows", "columns", "scaled"),
    ("attributes", "tables of columns", "tables of rows", "limits, new rows", "rank rules equal"),
    tuple((rows, columns, scale) for rows, columns in ((30, 6), (12, 25), (200, 8)) for scale in (False, True)),
    one,
    lambda _: 10,
    lambda _: (
        dict.fromkeys(("attributes", "tables of columns", "tables of rows", "limits, new rows"), (0.0, 1e-10))
        | {"rank rules equal": (1.0, 1.0)}
    ),
    percent=False,
)
