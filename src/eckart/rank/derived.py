"""Rows of the table for rules that apply only if the residual requires it, and then can decide."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from eckart.rank.answer import Verdict

if TYPE_CHECKING:
    from eckart.rank.verdict import RankChoice


def with_derived(choice: RankChoice) -> RankChoice:
    """The choice with one verdict for each rule that was applied to correlated, unequal or related noise."""
    answers = {
        "decorrelated": (
            "Parallel analysis (decorrelated)", choice.decorrelated,
            f"Sign flips, after the correlation of neighbouring columns ({choice.neighbours:.2f}) is removed.",
            "correlated noise in neighbouring columns, and independent noise otherwise.",
        ),
        "equalised": (
            "Parallel analysis (equal noise)", choice.equalised,
            "Sign flips, after the noise is scaled to equal variance.",
            "independent noise whose variance differs between columns (between rows, if there are fewer rows).",
        ),
        "horn": (
            "Parallel analysis (Horn)", choice.horn,
            "Compares each component with the component in the same position in shuffled tables.",
            "nothing about correlations that remain after the components are removed; it tends to keep few components.",
        ),
        "drop": ("Largest eigenvalue drop", choice.drop, _drop(choice), "few columns or rows, and strong components."),
    }  # fmt: skip
    made = tuple(
        Verdict(name, title, k, reason, assumes, votes=False)
        for name, (title, k, reason, assumes) in answers.items()
        if k is not None
    )
    return replace(choice, verdicts=(*choice.verdicts, *made))


def _drop(choice: RankChoice) -> str:
    span = f"{choice.lowest} or more" if choice.highest is None else f"{choice.lowest} to {choice.highest}"
    return (
        f"The number of components is uncertain ({span}). In this range, the largest drop in the "
        f"eigenvalues is after component {choice.drop}."
    )
