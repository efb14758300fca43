"""All parts, and the tables of a cell; imported by every process of the study."""

from __future__ import annotations

import numpy as np

from benchmarks.statistics import bootstrap, em, limits, nmf, oracle, rank, robust, selection, weights
from benchmarks.statistics.part import Outcome, Part
from eckart.engine.threads import one_blas_thread

PARTS: dict[str, Part] = {
    "limits": limits.PART, "scaled": limits.SCALED_PART,
    "rank": rank.PART, "small": rank.SMALL_PART, "rules": rank.RULES_PART, "robust": robust.PART,
    "oracle": oracle.PART,
    "bootstrap": bootstrap.PART, "em": em.PART,
    "selection": selection.PART, "weights": weights.PART, "columns": limits.COLUMNS_PART, "nmf": nmf.PART,
}  # fmt: skip


def simulate(name: str, place: int, seed: int, start: int, stop: int) -> list[Outcome]:
    """Tables `start` to `stop` of a cell; each has random numbers of its own, so that chunks do not matter."""
    part = PARTS[name]
    cell = part.cells[place]
    tag = sum(map(ord, name))
    with one_blas_thread():
        return [part.one(cell, np.random.default_rng([seed, tag, place, table])) for table in range(start, stop)]
