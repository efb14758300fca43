"""The verdict of choose_rank on planted ranks.

Strong components have singular values of 1.4 to 3 times the largest singular value of the noise ("very strong": 2.5 to
5 times), whatever the noise. Weak ones have 1.35 to 1.75 (rows columns)^(1/4), where 1 is the limit of
detection in white noise (Benaych-Georges and Nadakuditi, 2012).

Ranks go up to what can be identified: with a noise variance of its own for each column, r components of p columns are
determined only if (p - r)^2 >= p + r (Ledermann, 1937), 2 of 5. This applies to unequal noise and to counts, whose
variances differ as their means do. White noise has one variance, so 3 of 5 are planted.

"right or in doubt" counts verdicts that are right or say that they are not certain; "certain" shows how many are.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

import eckart as ek
from benchmarks.statistics.part import Cell, Outcome, Part

SHAPES = {(40, 5): 3, (60, 12): 5, (100, 20): 8, (15, 30): 3, (30, 100): 6, (200, 40): 12, (150, 100): 12}
"""Shape -> largest planted rank."""
SMALL = {(40, 5): 3, (25, 4): 2, (60, 6): 3, (30, 8): 4, (100, 3): 1}
"""The same for the part `small`: tables of 3 to 8 columns, on which no rule was tuned except those of 5."""
FAMILIES = ("null", "strong", "weak", "null unequal", "strong unequal", "null correlated", "strong correlated",
            "very strong correlated", "strong heavy-tailed", "strong counts")  # fmt: skip
TESTS = ("sign_flip", "permutation", "gap")


def planted(family: str, shape: tuple[int, int], rng: np.random.Generator) -> tuple[np.ndarray, int]:
    """(table, its number of components)"""
    rank = _rank(family, shape, rng)
    return _with_components(family, noise_of(family, shape, rng), rank, rng), rank


def with_components(family: str, noise: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, int]:
    """The same with noise that is given."""
    rank = _rank(family, noise.shape, rng)
    return _with_components(family, noise, rank, rng), rank


def _rank(family: str, shape: tuple[int, ...], rng: np.random.Generator) -> int:
    rows, columns = shape
    most = 3 if "weak" in family else (SHAPES | SMALL)[rows, columns]
    while ("unequal" in family or "counts" in family) and (columns - most) ** 2 < columns + most:
        most -= 1
    return 0 if "null" in family else int(rng.integers(1, most + 1))


def _with_components(family: str, noise: np.ndarray, rank: int, rng: np.random.Generator) -> np.ndarray:
    rows, columns = noise.shape
    left, right = rng.standard_normal((rows, rank)), rng.standard_normal((columns, rank))
    left, right = np.linalg.qr(left - left.mean(axis=0))[0], np.linalg.qr(right)[0]
    if "weak" in family:
        strength = rng.uniform(1.35, 1.75, rank) * (rows * columns) ** 0.25
    else:
        low, high = (2.5, 5.0) if "very" in family else (1.4, 3.0)
        strength = rng.uniform(low, high, rank) * np.linalg.norm(noise - noise.mean(axis=0), 2)
    return np.asarray((left * strength) @ right.T + noise + rng.normal(0, 3, columns))


def noise_of(family: str, shape: tuple[int, int], rng: np.random.Generator) -> np.ndarray:
    rows, columns = shape
    if "heavy" in family:
        return np.asarray(rng.standard_t(3, shape))
    if "counts" in family:
        return np.asarray(rng.poisson(rng.uniform(1.0, 9.0, columns), shape).astype(float))
    noise = rng.standard_normal(shape)
    if "unequal" in family:
        noise *= rng.uniform(0.5, 2.0, (rows, 1)) * rng.uniform(0.5, 2.0, columns)
    elif "correlated" in family:
        near = 0.5 ** np.abs(np.subtract.outer(np.arange(columns), np.arange(columns)))
        noise = noise @ np.linalg.cholesky(near).T
    return noise


def one(cell: Cell, rng: np.random.Generator) -> Outcome:
    family, rows, columns = cell
    table, rank = planted(str(family), (rows, columns), rng)
    choice = ek.choose_rank(table, TESTS)
    quick = ek.choose_rank(table, "quick")
    said = [choice.k, *(choice[rule].k for rule in TESTS), quick.k]
    doubts = [float(c.k == rank or not c.certain) for c in (choice, quick)]
    same = np.nan
    if rng.random() < 0.1:
        rare = np.where(np.abs(table) < 1.0, 0.0, table)
        pair = [[v.k for v in ek.choose_rank(data, TESTS).verdicts] for data in (rare, sparse.csr_array(rare))]
        same = float(pair[0] == pair[1])
    return [*(float(k == rank) for k in said), float((choice.k or 0) > rank), float(choice.certain), *doubts, same]


def wanted(cell: Cell) -> dict[str, tuple[float, float]]:
    family = str(cell[0])
    same = {"CSR = dense": (1.0, 1.0)}
    if "null" in family:
        return {"verdict": (0.95, 1.0)} | same
    return same if family == "weak" else {"verdict": (0.98, 1.0), "right or in doubt": (0.98, 1.0)} | same


PART = Part(
    ("family", "rows", "columns"),
    ("verdict", *TESTS, "quick", "too many", "certain", "right or in doubt", "quick, same", "CSR = dense"),
    tuple((family, *shape) for family in FAMILIES for shape in SHAPES),
    one,
    lambda _: 200,
    wanted,
)


def one_small(cell: Cell, rng: np.random.Generator) -> Outcome:
    family, rows, columns = cell
    table, rank = planted(str(family), (rows, columns), rng)
    choice = ek.choose_rank(table, TESTS)
    inside = (choice.lowest or 0) <= rank <= (rank if choice.highest is None else choice.highest)
    said = [choice.k == rank, choice.certain, choice.k == rank or not choice.certain, inside]
    return [float(what) for what in said]


SMALL_PART = Part(
    ("family", "rows", "columns"),
    ("verdict", "certain", "right or in doubt", "within range"),
    tuple((family, *shape) for shape in SMALL for family in FAMILIES if family != "weak" and "very" not in family),
    one_small,
    lambda _: 200,
    lambda _: {"right or in doubt": (0.98, 1.0), "within range": (0.95, 1.0)},
)

VOTERS = ("permutation", "sign_flip", "deterministic", "unknown_noise", "screenot", "gap", "bicross", "cells")


def votes(cell: Cell, rng: np.random.Generator) -> Outcome:
    """Of each rule that votes: 1 if right, 0 if wrong, not a number if it abstains."""
    family, rows, columns = cell
    table, rank = planted(str(family), (rows, columns), rng)
    choice = ek.choose_rank(table, VOTERS)
    said = [choice[rule].k for rule in VOTERS]
    return [np.nan if k is None else float(k == rank) for k in said]


RULES_PART = Part(
    ("family", "rows", "columns"),
    VOTERS,
    tuple((family, *shape) for family in ("null", "strong") for shape in SHAPES),
    votes,
    lambda cell: 10 if cell[1] * cell[2] > 5000 else 50,
)
