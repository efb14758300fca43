"""The concept space: queries, recommendations, similarity, explanations, and new rows in existing concepts.

In reading order: `front` (entry point), `space` (queries), `geometry` (reconstruction and similarity), `stored_rows`
(the rows), `entries` (inputs that describe a row), `best` (the n best), `ranking`, `proof`, `explanation`, `folding`,
`results`.
"""

from eckart.concept_space.explanation import Explanation
from eckart.concept_space.folding import Folded
from eckart.concept_space.front import concepts
from eckart.concept_space.results import Hit, Query, Ranking, Rankings
from eckart.concept_space.space import Concepts

__all__ = ["Concepts", "Explanation", "Folded", "Hit", "Query", "Ranking", "Rankings", "concepts"]
