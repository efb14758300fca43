"""RandomSubsetSearch: draw sets of columns and keep the one that performs best on held-out rows."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from numbers import Integral

import numpy as np

from eckart.documentation import document
from eckart.engine.settings import generator
from eckart.errors import ParameterError
from eckart.estimators import constraints as allowed
from eckart.options import Seed
from eckart.selection.base import History, Row, Search, best_set, table
from eckart.selection.folds import Folds

_TOGETHER = 16
"""Sets that are scored between two progress reports."""


@document
@dataclass(eq=False, repr=False)
class RandomSubsetSearch(Search):
    """Try random sets of columns and keep the one that performs best on held-out rows.

    Parameters
    ----------
    {estimator, scoring, cv, nested, n_jobs}
    progress : callable or None, default None
        Function that is called after each batch of sets with the newest row of the history.
    n_iter : int, default 100
        Number of sets to try. No set is tried twice. If fewer sets exist, all of them are tried.
    subset_size : tuple of int or float, default None
        Smallest and largest number of columns in a set, or shares of all columns. All sizes in between are equally
        likely. None allows sets from one column to all columns.
    random_state : int, RandomState, Generator or None, default None
        Seed for drawing the sets. None uses a fixed seed.

    Attributes
    ----------
    history_ : dict of array
        One entry per set: n_columns, score, spread (standard deviation over the folds), columns (indices) and rank (1
        is best; among equal scores the smaller set comes first).

    {See Also: BackwardElimination, CorrelationFilter}

    {Examples: iris}
    >>> search = ek.RandomSubsetSearch(LogisticRegression(max_iter=500), n_iter=10, subset_size=(1, 2)).fit(X, y)
    >>> len(search.history_["score"])  # four columns have ten sets of one or two
    10
    >>> search.get_support()  # one column is as good as any pair
    array([False, False, False,  True])
    """

    _parameter_constraints = {  # noqa: RUF012
        **Search._parameter_constraints,
        "n_iter": [allowed.COUNT],
        "subset_size": [tuple, list, None],
        "random_state": allowed.RANDOM_STATE,
    }

    _: KW_ONLY
    n_iter: int = 100
    subset_size: tuple[float, float] | None = None
    random_state: Seed = None

    def _search(self, folds: Folds) -> tuple[np.ndarray, float, History]:
        sets = _draw(self.n_features_in_, self.n_iter, *self._range(self.n_features_in_), self.random_state)
        scores = [folds.first(sets[0])]
        rows = [_row(sets[0], scores[0])]
        for start in range(1, len(sets), _TOGETHER):
            part = sets[start : start + _TOGETHER]
            rows += [_row(columns, found) for columns, found in zip(part, folds.scores(part), strict=True)]
            if self.progress is not None:
                leader = max(rows, key=lambda row: float(row["score"]))
                self.progress({"tried": len(rows), "of": len(sets), **leader})
        order = _best_first(rows)
        for rank, i in enumerate(order):
            rows[i]["rank"] = rank + 1
        return sets[order[0]], float(rows[order[0]]["score"]), table(rows)

    def _range(self, columns: int) -> tuple[int, int]:
        """Smallest and largest size as numbers of columns."""
        given = (1, columns) if self.subset_size is None else tuple(self.subset_size)
        sizes = [max(1, round(end * columns)) if isinstance(end, float) and 0 < end <= 1 else end for end in given]
        whole = len(sizes) == 2 and all(isinstance(size, Integral) and not isinstance(size, bool) for size in sizes)
        if not whole or not 1 <= sizes[0] <= sizes[1] <= columns:
            raise ParameterError(
                f"subset_size={self.subset_size!r} is not a range. Use the smallest and the largest "
                f"number of columns, from 1 to {columns}, or shares of all columns."
            )
        return int(sizes[0]), int(sizes[1])


def _row(columns: np.ndarray, scores: np.ndarray) -> Row:
    return {
        "n_columns": len(columns),
        "score": float(scores.mean()),
        "spread": float(scores.std()),
        "columns": tuple(columns.tolist()),
    }


def _best_first(rows: list[Row]) -> list[int]:
    """Indices of the sets: the best one, then by score, the smaller of equal sets first."""
    order = sorted(range(len(rows)), key=lambda i: (-rows[i]["score"], rows[i]["n_columns"], i))
    best = best_set(np.array([row["score"] for row in rows]), np.array([row["n_columns"] for row in rows]))
    return [best, *(i for i in order if i != best)]


def _draw(columns: int, count: int, smallest: int, largest: int, seed: object) -> list[np.ndarray]:
    """`count` different sets; fewer if the sizes allow no more, or if random draws find no new one."""
    _, rng = generator(seed)
    found: dict[tuple[int, ...], None] = {}
    for _ in range(50 * count):
        size = int(rng.integers(smallest, largest + 1))
        found.setdefault(tuple(sorted(rng.choice(columns, size, replace=False).tolist())))
        if len(found) == count:
            break
    return [np.array(columns) for columns in found]
