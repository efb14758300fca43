"""Quality of a ranking, given the relevant documents: average precision and precision at 10."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

_FIRST = 10


@dataclass(frozen=True)
class Evaluation:
    """Quality of a search over several queries."""

    average_precisions: tuple[float, ...]
    """One for each query with relevant documents."""
    first_ten: tuple[float, ...]
    """Share of relevant documents among the first ten."""

    @property
    def mean_average_precision(self) -> float:
        """Mean of the average precision over all queries."""
        return sum(self.average_precisions) / max(len(self.average_precisions), 1)

    @property
    def precision_at_10(self) -> float:
        """Mean of the precision at 10 over all queries."""
        return sum(self.first_ten) / max(len(self.first_ten), 1)

    def __str__(self) -> str:
        queries = len(self.average_precisions)
        return (
            f"Over {queries} quer{'y' if queries == 1 else 'ies'}, the mean average precision is "
            f"{self.mean_average_precision:.4f} and the precision at 10 is {self.precision_at_10:.4f}."
        )


def average_precision(order: Sequence[int], relevant: set[int]) -> float:
    """Mean over the relevant documents of the precision at their ranks; 0 for those that are not ranked."""
    ranks = [rank for rank, place in enumerate(order, 1) if place in relevant]
    return sum(count / rank for count, rank in enumerate(ranks, 1)) / len(relevant)


def first_ten(order: Sequence[int], relevant: set[int]) -> float:
    """Share of relevant documents among the first ten."""
    return sum(place in relevant for place in order[:_FIRST]) / _FIRST
