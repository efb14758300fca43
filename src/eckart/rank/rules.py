"""The rules for the number of components: what each of them assumes and needs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from eckart.rank.cross_validation import by_bicross, by_cells, by_stability
from eckart.rank.descriptive import by_average, by_broken_stick, by_elbow, by_energy, by_linear_energy, by_variance
from eckart.rank.evidence import Evidence
from eckart.rank.gap import by_gap
from eckart.rank.minka import by_evidence
from eckart.rank.parallel import by_edge, by_permutation, by_sign_flips
from eckart.rank.thresholds import by_known_noise, by_screenot, by_unknown_noise

Answer = tuple[int | None, str]


@dataclass(frozen=True)
class Rule:
    """Name of a rule, its assumptions, and whether it needs the table itself."""

    title: str
    ask: Callable[[Evidence], Answer]
    assumes: str
    counts: bool = True
    data: bool = False
    spectrum: bool = False
    """Whether values far beyond the leading ones matter."""
    no_vote: str = ""
    """Why the rule does not vote; empty if it does."""


_NOTHING = "nothing about noise: it only describes the data."
RULES: dict[str, Rule] = {
    "variance": Rule("Share of variance", by_variance, _NOTHING, counts=False, spectrum=True),
    "energy": Rule("Energy", by_energy, _NOTHING, counts=False, spectrum=True),
    "linear_energy": Rule(
        "Energy (unsquared)",
        by_linear_energy,
        f"{_NOTHING} Some lecture notes use it.",
        counts=False,
        spectrum=True,
    ),
    "elbow": Rule("Elbow (Kneedle)", by_elbow, "that the scree plot falls steeply and then flattens.", counts=False),
    "kaiser": Rule(
        "Kaiser",
        by_average,
        "many more rows than columns; with fewer rows, it keeps too many components.",
        counts=False,
        spectrum=True,
    ),
    "broken_stick": Rule(
        "Broken stick",
        by_broken_stick,
        "that the variance is divided at random; it often keeps too few components.",
        counts=False,
    ),
    "permutation": Rule(
        "Parallel analysis (permutations)",
        by_permutation,
        "independent noise with the same distribution within each column.",
        data=True,
    ),
    "sign_flip": Rule(
        "Parallel analysis (sign flips)",
        by_sign_flips,
        "independent noise, whose variance may differ between entries.",
        data=True,
    ),
    "deterministic": Rule(
        "Parallel analysis (deterministic)", by_edge, "independent noise, whose variance may differ between columns."
    ),
    "known_noise": Rule(
        "Gavish-Donoho, known noise", by_known_noise, "white noise with the specified standard deviation."
    ),
    "unknown_noise": Rule(
        "Gavish-Donoho",
        by_unknown_noise,
        "white noise with the same variance everywhere, and few components.",
        spectrum=True,
    ),
    "screenot": Rule(
        "ScreeNOT", by_screenot, "noise whose eigenvalues have a smooth upper edge, and few components.", spectrum=True
    ),
    "gap": Rule(
        "Gap", by_gap, "noise with any smooth covariance, and components that are clearly larger than the noise."
    ),
    "minka": Rule(
        "Minka",
        by_evidence,
        "normally distributed data with the same noise variance in all columns, and at least as many rows as columns.",
        no_vote=(
            "This rule does not vote, because it never returns 0 and mistakes noise of unequal variance for components."
        ),
    ),
    "bicross": Rule("Bi-cross-validation", by_bicross, "independent noise; it predicts held-out blocks.", data=True),
    "cells": Rule("Cross-validation by cells", by_cells, "independent noise; it predicts held-out cells.", data=True),
    "stability": Rule(
        "Stability",
        by_stability,
        "independent rows, and enough of them to compare two halves.",
        data=True,
        no_vote=("This rule does not vote, because directions of unequal or correlated noise are stable as well."),
    ),
}
"""Name -> rule, in the order of the table."""

SPECTRAL = ("variance", "elbow", "broken_stick")
"""Rules that need only shares."""
QUICK = tuple(name for name, rule in RULES.items() if not rule.data)
