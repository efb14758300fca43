"""Documents that contain the words of a query, for queries that the concepts do not represent."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from eckart.concept_space.names import Names, listed
from eckart.concept_space.ranking import ranked
from eckart.notes import Note
from eckart.wording import either

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from eckart.concept_space.results import Query, Ranking

_NAMED = 3
"""Documents that a note names."""


def with_terms(ranking: Ranking, query: Query, terms: csr_array, names: tuple[str, ...], n: int, k: int) -> Ranking:
    """The ranking by concepts; by shared words if it is empty; with a note if no listed document has a word.

    `terms` has the weighted counts of the documents, one column for each word.
    """
    if query.cold or not len(query.columns):
        return ranking
    row = np.zeros(terms.shape[1], terms.dtype)
    row[query.columns] = query.entries
    cosines = terms @ (row / max(float(np.linalg.norm(row)), np.finfo(terms.dtype).tiny))
    matching = np.flatnonzero(cosines > 0.0)
    if not len(matching) or (cosines[ranking.indices] > 0.0).any():
        return ranking
    if len(ranking):
        best = matching[np.argsort(-cosines[matching], kind="stable")]
        where = listed([names[place] for place in best.tolist()], _NAMED)
        note = Note(
            "words_elsewhere",
            f"None of the listed documents contains a word of the query. These documents do: {where}. {_more(k)}",
        )
        return replace(ranking, notes=(*ranking.notes, note))
    others = np.setdiff1d(np.arange(terms.shape[0]), matching)
    found = ranked(ranking.title, cosines, n, Names("document", len(names), names), hidden=others)
    where = "the concept" if k == 1 else f"any of the {k} concepts"
    text = (
        f"No word of the query occurs in {where}, so documents are ranked by the words that they share with the query. "
        f"{_more(k)}"
    )
    note = Note("ranked_by_words", text)
    return replace(found, notes=(*query.notes, note))


def _more(k: int) -> str:
    return f"To search by concept, use more concepts: {either(f'n_components={2 * k}', f'-k {2 * k}')}."
