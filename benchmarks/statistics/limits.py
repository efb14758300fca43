"""False alarms of T2 and Q at 5 %, of fitted and of new rows; correlations of columns with a component of noise."""

from __future__ import annotations

import numpy as np

import eckart as ek
from benchmarks.statistics.part import Cell, Outcome, Part
from eckart.analysis.tables.outliers import distances, new_limits


def one(cell: Cell, rng: np.random.Generator) -> Outcome:
    computed, noise, columns, rows, k = cell
    deviations = np.ones(columns) if noise == "equal" else rng.uniform(0.5, 2.0, columns)
    deviations[:k] = np.linspace(9.0, 6.0, k)
    table = rng.standard_normal((rows, columns)) * deviations
    d = ek.decompose(table, k=k if computed == "k" else None, left=True)
    # The limits for new rows must not need the rows of the fit.
    found, (inside, beside) = distances(d, k), new_limits(ek.decompose(table, k=k) if computed == "k" else d, k)
    others = rng.standard_normal((1000, columns)) * deviations - np.asarray(d.mean)
    scores = others @ np.asarray(d.right)[:, :k]
    t2 = (scores**2 / np.asarray(d.explained_variance)[:k]).sum(axis=1)
    q = (others**2).sum(axis=1) - (scores**2).sum(axis=1)
    fitted = [(found.inside > found.inside_limit).mean(), (found.outside > found.outside_limit).mean()]
    return [*fitted, (t2 > inside).mean(), (q > beside).mean()]


def wanted(cell: Cell) -> dict[str, tuple[float, float]]:
    return dict.fromkeys(PART.columns, (0.03, 0.07) if cell[3] == 15 else (0.04, 0.06))


PART = Part(
    ("computed", "noise", "columns", "rows", "k"),
    ("T2 fitted", "Q fitted", "T2 new", "Q new"),
    tuple(
        (computed, noise, columns, rows, k)
        for computed in ("all", "k") for noise in ("equal", "unequal")
        for columns in (8, 30) for rows in (15, 30, 100, 1000) for k in (1, 2, 5)
    ),
    one,
    lambda cell: {15: 600, 30: 400, 100: 200, 1000: 50}[cell[3]],
    wanted,
)  # fmt: skip


def scaled_one(cell: Cell, rng: np.random.Generator) -> Outcome:
    """Columns with components and unequal noise, scaled; the deviations that scale new rows are estimated too."""
    columns, rows, k = (int(str(entry)) for entry in cell)
    axes = np.linalg.qr(rng.standard_normal((columns, k)))[0] * np.linspace(7.0, 4.0, k)
    units = rng.uniform(0.5, 2.0, columns)

    def draw(count: int) -> np.ndarray:
        table = rng.standard_normal((count, k)) @ axes.T + rng.standard_normal((count, columns))
        return np.asarray(table * units)

    d = ek.decompose(draw(rows), k=k, scale=True, left=True)
    found, (inside, beside) = distances(d, k), new_limits(d, k)
    others = (draw(1000) - np.asarray(d.mean)) / np.asarray(d.scale)
    scores = others @ np.asarray(d.right)
    t2 = (scores**2 / np.asarray(d.explained_variance)).sum(axis=1)
    q = (others**2).sum(axis=1) - (scores**2).sum(axis=1)
    fitted = [(found.inside > found.inside_limit).mean(), (found.outside > found.outside_limit).mean()]
    return [*fitted, (t2 > inside).mean(), (q > beside).mean()]


SCALED_PART = Part(
    ("columns", "rows", "k"),
    PART.columns,
    tuple((columns, rows, k) for columns in (8, 30, 80) for rows in (15, 30, 100) for k in (1, 2)),
    scaled_one,
    lambda cell: {15: 600, 30: 400, 100: 200}[int(str(cell[1]))],
    lambda cell: dict.fromkeys(PART.columns, (0.03, 0.07) if cell[1] == 15 else (0.04, 0.06)),
)


def noise_columns(_: Cell, rng: np.random.Generator) -> Outcome:
    from scipy import stats

    table = rng.standard_normal((50, 10))
    found = stats.pearsonr(table, np.asarray(ek.decompose(table, k=1, left=True).left)).pvalue
    return [float(np.mean(found < 0.05))]


COLUMNS_PART = Part(("table",), ("columns with p < .05",), (("noise 50 x 10",),), noise_columns, lambda _: 100)
