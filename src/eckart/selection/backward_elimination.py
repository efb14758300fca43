"""BackwardElimination: remove the least useful columns first, and keep the set that performs best on held-out rows."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass

import numpy as np

from eckart.documentation import document
from eckart.errors import ParameterError
from eckart.estimators import constraints as allowed
from eckart.selection.base import History, Row, Search, best_set, table
from eckart.selection.folds import Folds
from eckart.wording import either


@document
@dataclass(eq=False, repr=False)
class BackwardElimination(Search):
    """Remove columns one after another, and keep the set that performs best on held-out rows.

    Each round removes the columns whose removal reduces the cross-validated score least. With step=1 and a fixed number
    of columns, the result is the same as that of ``SequentialFeatureSelector(direction="backward")``.

    Parameters
    ----------
    {estimator, scoring, cv, nested, n_jobs}
    progress : callable or None, default None
        Function that is called after each round with the newest row of the history.
    n_features_to_select : int, float or None, default None
        Number of columns to keep, or their share. None keeps the set with the best score. If several sets have the best
        score, the smallest of them is kept.
    step : int or float, default 1
        Number of columns removed per round, or their share of the remaining columns.
    patience : int or None, default 10
        Stop after this many rounds without a better score. None continues until one column is left. `patience` has no
        effect if the number of columns is fixed.

    Attributes
    ----------
    history_ : dict of array
        One entry per round: n_columns, score, spread (standard deviation over the folds) and dropped (column indices).
        Pass it to ``pandas.DataFrame``.

    {See Also: RandomSubsetSearch, CorrelationFilter}

    {Examples: iris}
    >>> found = ek.BackwardElimination(LogisticRegression(max_iter=500), n_features_to_select=2).fit(X, y)
    >>> list(found.get_feature_names_out())
    ['petal length (cm)', 'petal width (cm)']
    """

    _parameter_constraints = {  # noqa: RUF012
        **Search._parameter_constraints,
        "n_features_to_select": [allowed.COUNT, allowed.SHARE, None],
        "step": [allowed.COUNT, allowed.SHARE],
        "patience": [allowed.COUNT, None],
    }

    _: KW_ONLY
    n_features_to_select: float | None = None
    step: float = 1
    patience: int | None = 10

    def _search(self, folds: Folds) -> tuple[np.ndarray, float, History]:
        least = self._least(self.n_features_in_)
        current = np.arange(self.n_features_in_)
        rows = [self._row(current, folds.first(current), np.zeros(0, int))]
        sets = [current]
        while len(current) > least and not self._tired(rows):
            dropped, scores = self._round(folds, current, least)
            current = np.setdiff1d(current, dropped)
            rows.append(self._row(current, scores, dropped))
            sets.append(current)
        score = np.array([row["score"] for row in rows])
        sizes = np.array([len(one) for one in sets])
        best = len(rows) - 1 if self.n_features_to_select is not None else best_set(score, sizes)
        return sets[best], float(score[best]), table(rows)

    def _round(self, folds: Folds, current: np.ndarray, least: int) -> tuple[np.ndarray, np.ndarray]:
        """The columns whose removal hurts least, and the scores without them."""
        wanted = self.step if isinstance(self.step, int | np.integer) else int(self.step * len(current))
        count = min(max(1, int(wanted)), len(current) - least)
        scores = folds.scores([np.delete(current, place) for place in range(len(current))])
        # A stable sort: ties go to the first, as with max().
        indices = np.argsort(-scores.mean(axis=1), kind="stable")[:count]
        if count == 1:
            return current[indices], scores[indices[0]]
        return current[indices], folds.scores([np.delete(current, indices)])[0]

    def _row(self, current: np.ndarray, scores: np.ndarray, dropped: np.ndarray) -> Row:
        row = {
            "n_columns": len(current),
            "score": float(scores.mean()),
            "spread": float(scores.std()),
            "dropped": tuple(dropped.tolist()),
        }
        if self.progress is not None:
            self.progress(row)
        return row

    def _tired(self, rows: list[Row]) -> bool:
        """Whether the best score is `patience` rounds old; a given number of columns is always reached."""
        if self.n_features_to_select is not None or self.patience is None:
            return False
        score = np.array([row["score"] for row in rows])
        return len(rows) - 1 - int(np.flatnonzero(score == score.max())[-1]) >= self.patience

    def _least(self, columns: int) -> int:
        wanted = self.n_features_to_select
        if wanted is None:
            return 1
        least = int(wanted) if isinstance(wanted, int | np.integer) else max(1, int(columns * wanted))
        if least >= columns:
            raise ParameterError(
                f"{either('n_features_to_select must be < n_features', '--keep is too large')}: with "
                f"{least} of {columns} columns kept, there is no column left to remove."
            )
        return least
