"""The verdict of choose_rank on noise and components of other kinds than those of `rank`.

Noise: heavy-tailed and skewed distributions, counts, zeros and ones, rows or columns of unequal variance, correlated
columns (in order, in random order, in blocks) and rows. Components: equal strengths, one large and several small, few
columns each, skewed scores, clusters, smooth loadings. Shapes: very tall, very wide, few rows, few columns.

Components have singular values of 1.5 to 3 times the largest singular value of the noise.
"""

from __future__ import annotations

import numpy as np

import eckart as ek
from benchmarks.statistics.part import Cell, Outcome, Part
from benchmarks.statistics.rank import TESTS

SHAPES = ((40, 5), (60, 12), (200, 30), (25, 60))
EXTREMES = ((8, 4), (12, 6), (20, 4), (30, 8), (12, 300), (8, 2000), (3000, 5), (20000, 6), (2000, 40))
NOISE = ("t5", "laplace", "lognormal", "poisson", "binary", "unequal rows", "unequal columns", "ar1 columns",
         "ar1 rows", "shuffled ar1", "blocks")  # fmt: skip
SIGNAL = ("equal", "one large", "sparse", "skewed scores", "clusters", "smooth", "scaled", "repeated columns",
          "constant columns")  # fmt: skip


def noise_of(kind: str, shape: tuple[int, int], rng: np.random.Generator) -> np.ndarray:
    rows, columns = shape
    drawn = {"t5": lambda: rng.standard_t(5, shape), "laplace": lambda: rng.laplace(size=shape),
             "lognormal": lambda: rng.lognormal(0.0, 0.8, shape),
             "poisson": lambda: rng.poisson(rng.uniform(0.5, 3.0, columns), shape).astype(float),
             "binary": lambda: (rng.random(shape) < rng.uniform(0.1, 0.5, columns)).astype(float)}  # fmt: skip
    if kind in drawn:
        return np.asarray(drawn[kind]())
    noise = rng.standard_normal(shape)
    if kind == "unequal rows":
        return np.asarray(noise * rng.lognormal(0.0, 0.5, (rows, 1)))
    if kind == "unequal columns":
        return np.asarray(noise * rng.lognormal(0.0, 0.5, columns))
    if kind in ("ar1 columns", "shuffled ar1"):
        noise = noise @ np.linalg.cholesky(_near(columns)).T
        return noise[:, rng.permutation(columns)] if "shuffled" in kind else noise
    if kind == "ar1 rows":
        return np.asarray(np.linalg.cholesky(_near(rows)) @ noise)
    if kind == "blocks":
        return np.asarray(noise + 0.7 * np.repeat(rng.standard_normal((rows, -(-columns // 3))), 3, 1)[:, :columns])
    return noise


def _near(size: int) -> np.ndarray:
    return np.asarray(0.6 ** np.abs(np.subtract.outer(np.arange(size), np.arange(size))))


def with_components(kind: str, noise: np.ndarray, rank: int, rng: np.random.Generator) -> np.ndarray:
    rows, columns = noise.shape
    left, right = rng.standard_normal((rows, rank)), rng.standard_normal((columns, rank))
    strength = rng.uniform(1.5, 3.0, rank)
    if kind == "equal":
        strength[:] = 2.0
    elif kind == "one large":
        strength[:1] = 100.0
    elif kind == "sparse":
        few = max(3, columns // 5)
        for j in range(rank):
            right[rng.choice(columns, columns - few, replace=False), j] = 0.0
    elif kind == "skewed scores":
        left = rng.exponential(size=(rows, rank))
    elif kind == "clusters":
        left = np.eye(rank + 1)[rng.permutation(np.arange(rows) % (rank + 1))][:, :rank]
    elif kind == "smooth":
        right = np.cos(np.pi * np.outer(np.arange(columns) + 0.5, np.arange(1, rank + 1)) / columns)
    left, right = np.linalg.qr(left - left.mean(axis=0))[0], np.linalg.qr(right)[0]
    table = (left * strength * np.linalg.norm(noise - noise.mean(axis=0), 2)) @ right.T + noise
    if kind == "repeated columns":
        table = np.hstack([table, table[:, : columns // 4]])
    elif kind == "constant columns":
        table = np.hstack([table, np.full((rows, columns // 4), 7.0)])
    elif kind == "scaled":
        table = table * rng.lognormal(0.0, 1.0, columns) + rng.normal(0.0, 3.0, columns)
    return np.asarray(table)


def one(cell: Cell, rng: np.random.Generator) -> Outcome:
    noise, signal, rows, columns = cell
    short = min(rows - 1, columns)
    rank = 0 if signal == "none" else int(rng.integers(1, max(1, short // 4) + 1))
    table = with_components(str(signal), noise_of(str(noise), (rows, columns), rng), rank, rng)
    choice = ek.choose_rank(table, TESTS, scale=signal == "scaled")
    k = choice.k if choice.k is not None else -1
    inside = (choice.lowest or 0) <= rank <= (rank if choice.highest is None else choice.highest)
    said = [k == rank, k > rank, choice.certain, k == rank or not choice.certain, inside]
    return [*(float(what) for what in said), *(float(choice[rule].k == rank) for rule in TESTS)]


CELLS = (
    *((noise, signal, *shape) for noise in NOISE for signal in ("none", "plain") for shape in SHAPES),
    *(("white", signal, *shape) for signal in SIGNAL for shape in SHAPES),
    *(("white", signal, *shape) for signal in ("none", "plain") for shape in EXTREMES),
)

PART = Part(
    ("noise", "components", "rows", "columns"),
    ("verdict", "too many", "certain", "right or in doubt", "within bounds", *TESTS),
    CELLS,
    one,
    lambda cell: 40 if cell[2] * cell[3] > 10_000 else 100,
    lambda cell: {"verdict": (0.95 if cell[1] == "none" else 0.98, 1.0), "right or in doubt": (0.98, 1.0)},
)
