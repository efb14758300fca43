"""The kind of noise in a residual: equal variance in all entries, equal rows, or correlated columns or rows.

Each test compares a statistic of the residual with its values in simulated tables without the same components: white
noise, tables with shuffled columns, tables with random signs.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from eckart.engine.backends.symmetric import leading_values
from eckart.rank.evidence import Evidence
from eckart.rank.remainder import Remainder, cross_products
from eckart.rank.resampling import Clear, excess_is_clear, flipped, permuted, rank_is_clear, rows_flipped, until_clear

_FAR, _WIDE = 3.2, 2.0
"""Number of standard deviations beyond which the spread of the eigenvalues indicates correlated noise, or may."""
_NEIGHBOURS = 16.0
"""The same for the sum of squares of two standardised correlations of neighbours."""
_DOUBTFUL = 10.0
_FEWEST = 6
_ROUNDING = 1e-12
"""Eigenvalues below this share of the variance count as rounding."""
_BREAK = 4.0
_BEYOND = 1.25
"""Number of standard deviations beyond which eigenvalues are far from the others, and the factor relative to noise."""
_REACHED = 0.98
"""Share of the references that the limit relative to noise is based on."""
_EQUAL, _EXCHANGEABLE = 0.2, 0.05

Draw = Callable[[np.ndarray, np.random.Generator], np.ndarray]
_FAR_ROWS = 3.0
"""Number of standard deviations beyond which the correlation of neighbouring rows is not chance."""
_FEWEST_ROWS, _FEWEST_COLUMNS = 8, 3


def is_white(remainder: Remainder, rng: np.random.Generator) -> bool:
    """Whether neither rows nor columns differ in variance more than in 80 % of tables of white noise."""

    def white(table: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        return rng.standard_normal(table.shape)

    def excess(observed: np.ndarray, drawn: np.ndarray) -> np.ndarray:
        mean, deviation = drawn.mean(axis=0), np.maximum(drawn.std(axis=0, ddof=1), 1e-300)
        return np.asarray(np.sum(np.maximum((np.vstack([observed, drawn]) - mean) / deviation, 0.0) ** 2, axis=1))

    def clear(observed: np.ndarray, drawn: np.ndarray) -> bool:
        found = excess(observed, drawn)
        return rank_is_clear(float(found[0]), found[1:], _EQUAL)

    found = excess(*_compared(remainder, _inequality, white, rng, clear))
    return bool(1 + np.sum(found[1:] >= found[0]) > _EQUAL * len(found))


def rows_are_exchangeable(remainder: Remainder, rng: np.random.Generator) -> bool:
    """Whether rows differ no more in variance than they do with shuffled columns, at a level of 5 %."""

    def clear(observed: np.ndarray, drawn: np.ndarray) -> bool:
        return rank_is_clear(float(observed[0]), drawn[:, 0], _EXCHANGEABLE)

    observed, drawn = _compared(remainder, _inequality, permuted, rng, clear)
    return bool(1 + np.sum(drawn[:, 0] >= observed[0]) > _EXCHANGEABLE * (len(drawn) + 1))


def neighbours_are_correlated(found: Remainder, apart: Remainder, rng: np.random.Generator) -> bool:
    """Whether entries one and two columns apart are correlated, as in spectra and time series.

    Rows are exchangeable, so their order is not used: rows sorted by class look like a time series. `found` is the
    residual of all components that a test finds, `apart` that of the components that stand apart. Weak smooth
    components have correlated neighbours too, but not in `found`.
    """
    left = _neighbour_excess(found, rng)
    return left > _NEIGHBOURS or (left > _DOUBTFUL and _neighbour_excess(apart, rng) > _NEIGHBOURS)


def _neighbour_excess(remainder: Remainder, rng: np.random.Generator) -> float:
    """Sum of squares of the two standardised correlations: about chi-squared with 2 degrees."""

    def excess(observed: np.ndarray, drawn: np.ndarray) -> float:
        squares = ((observed - drawn.mean(axis=0)) / np.maximum(drawn.std(axis=0, ddof=1), 1e-300)) ** 2
        return float(squares.sum())

    def clear(observed: np.ndarray, drawn: np.ndarray) -> bool:
        return excess_is_clear(excess(observed, drawn) ** 0.5, len(drawn), _DOUBTFUL**0.5, _NEIGHBOURS**0.5)

    return excess(*_compared(remainder, _neighbours, flipped, rng, clear))


def spectrum_is_wide(remainder: Remainder, rng: np.random.Generator) -> bool:
    """Whether the eigenvalues spread wider than those of independent noise, away from the largest ones."""
    return spectrum_excess(remainder, rng) > _FAR


def spectrum_may_be_wide(remainder: Remainder, rng: np.random.Generator) -> bool:
    """Whether the eigenvalues spread wider than those of most independent noise."""
    return spectrum_excess(remainder, rng) > _WIDE


def spectrum_excess(remainder: Remainder, rng: np.random.Generator) -> float:
    """By how many standard deviations the eigenvalues spread wider than those of independent noise.

    The statistic is the mean of their squares over the square of their mean, which estimates that of the eigenvalues of
    the covariance even with few rows (Ledoit and Wolf, 2002). The largest tenth is left out, at least two: a few weak
    components do not change it.
    """
    if remainder.free < _FEWEST:
        return 0.0
    largest = max(2, remainder.free // 10)

    def spread(table: np.ndarray, _: Remainder) -> np.ndarray:
        values = np.maximum(leading_values(cross_products(table), remainder.free), 1e-300)[largest:]
        return np.asarray(np.log(np.mean(values**2) / np.mean(values) ** 2))

    def excess(observed: np.ndarray, drawn: np.ndarray) -> float:
        return float((observed - drawn.mean()) / max(float(drawn.std(ddof=1)), 1e-300))

    def clear(observed: np.ndarray, drawn: np.ndarray) -> bool:
        return excess_is_clear(excess(observed, drawn), len(drawn), _FAR, _WIDE)

    return excess(*_compared(remainder, spread, flipped, rng, clear))


def break_of_spectrum(remainder: Remainder, rng: np.random.Generator) -> int:
    """The i at which the first i eigenvalues are farther from the others than in independent noise; 0 if there is none.

    Two statistics are compared for each i: the ratio l_i / l_(i+1), and that of the mean of the first i to the mean of
    the others. If nearly all components are strong, only this shows them, because they dominate the references of the
    tests.
    """
    if remainder.free < 2:
        return 0

    def contrasts(table: np.ndarray, _: Remainder) -> np.ndarray:
        values = np.maximum(leading_values(cross_products(table), remainder.free), 1e-300)
        values = np.maximum(values, _ROUNDING * values.sum())
        counts, sums = np.arange(1, len(values)), np.cumsum(values)
        means = sums[:-1] / counts, (sums[-1] - sums[:-1]) / (len(values) - counts)
        return np.asarray(np.log([values[:-1] / values[1:], means[0] / np.maximum(means[1], 1e-300)]))

    def far_and_limit(observed: np.ndarray, drawn: np.ndarray) -> tuple[np.ndarray, float]:
        mean, deviation = drawn.mean(axis=0), np.maximum(drawn.std(axis=0, ddof=1), 1e-300)
        # The largest of many positions is more extreme by chance: the references show how much.
        reached = float(np.quantile(((drawn - mean) / deviation).max(axis=(1, 2)), _REACHED))
        return ((observed - mean) / deviation).max(axis=0), max(_BREAK, _BEYOND * reached)

    def clear(observed: np.ndarray, drawn: np.ndarray) -> bool:
        far, limit = far_and_limit(observed, drawn)
        return excess_is_clear(float(far.max()), len(drawn), limit)

    far, limit = far_and_limit(*_compared(remainder, contrasts, flipped, rng, clear))
    return int(np.argmax(far)) + 1 if far.max() > limit else 0


def _compared(
    remainder: Remainder,
    statistic: Callable[[np.ndarray, Remainder], np.ndarray],
    draw: Draw,
    rng: np.random.Generator,
    clear: Clear,
) -> tuple[np.ndarray, np.ndarray]:
    """The statistic of the residual, and of simulated tables: more of them until the result is clear."""

    def simulated() -> np.ndarray:
        return statistic(remainder.projected(draw(remainder.noise, rng)), remainder)

    observed = statistic(remainder.table, remainder)
    return observed, until_clear(observed, simulated, remainder.table.size, clear)


def _inequality(table: np.ndarray, remainder: Remainder) -> np.ndarray:
    """How much rows, and columns, differ: weighted variances of their mean squares, whose mean is 1."""
    squares = table**2
    parts = []
    for sums, free in ((squares.sum(axis=1), remainder.free_rows), (squares.sum(axis=0), remainder.free_columns)):
        mean_squares = sums / max(float(sums.sum()), 1e-300) * free.sum() / free
        parts.append(float(free @ (mean_squares - 1.0) ** 2))
    return np.asarray(parts)


def _neighbours(table: np.ndarray, _: Remainder) -> np.ndarray:
    """Correlations of entries 1 and 2 columns apart."""
    total = max(float(np.sum(table**2)), 1e-300)
    return np.asarray([float(np.sum(table[:, lag:] * table[:, :-lag])) for lag in (1, 2)]) / total


def neighbouring_rows(e: Evidence, k: int) -> float:
    """The correlation of neighbouring rows of the residual of k components, as in a time series; 0 if it may be chance.

    The tests take rows as independent. If they depend on each other, directions in which neighbours vary together look
    like components. With the rows e_i of the residual in their given order, c_j = sum_i e_ij e_(i+1)j says how much the
    neighbours in column j agree. If rows are independent and their noise is symmetric, c_j has the same law when each
    row gets a random sign. This holds for any covariance of the columns, and if rows differ in variance.

    Tables are often sorted by one of their columns, which makes the neighbours in that column similar. The column with
    the largest |c_j| is therefore left out, in the references too.
    """
    remainder = e.remainder(k)
    if e.rows - k < _FEWEST_ROWS or e.columns - k < _FEWEST_COLUMNS:
        return 0.0
    places, rng = e.given_order, e.rng(21)
    noise = remainder.noise

    def drawn() -> np.ndarray:
        return _agreement(remainder.projected(rows_flipped(noise, rng)), places)

    def far(observed: np.ndarray, references: np.ndarray) -> float:
        return float(abs(observed - references.mean()) / max(float(references.std(ddof=1)), 1e-300))

    def clear(observed: np.ndarray, references: np.ndarray) -> bool:
        return excess_is_clear(far(observed, references), len(references), _FAR_ROWS)

    observed = _agreement(remainder.table, places)
    references = until_clear(observed, drawn, remainder.table.size, clear)
    return float(observed - references.mean()) if far(observed, references) > _FAR_ROWS else 0.0


def _agreement(table: np.ndarray, places: np.ndarray) -> np.ndarray:
    """Sum of c_j without the largest |c_j|, over the sum of squares of these columns."""
    given = table[places]
    agreement, squares = np.sum(given[1:] * given[:-1], axis=0), np.sum(given**2, axis=0)
    others = np.arange(len(agreement)) != np.argmax(np.abs(agreement))
    return np.asarray(agreement[others].sum() / max(float(squares[others].sum()), 1e-300))
