"""One draw of as many rows as there are, with replacement."""

from __future__ import annotations

import numpy as np

from eckart.arrays import Floats

_MOST_COPIES = 10_000_000
"""Maximum sum of whole weights for drawing each copy of a row separately."""


def row_draws(weights: Floats, random: np.random.Generator) -> Floats:
    """How often each row is drawn, as a share of the sum of the weights."""
    total, counted = float(weights.sum()), np.flatnonzero(weights)
    times = np.zeros(len(weights))
    if np.all(weights == np.floor(weights)) and total <= _MOST_COPIES:
        # With one cell for each copy of a row, the draws are those of the table with repeated rows.
        copies = weights[counted].astype(np.intp)
        drawn = random.multinomial(int(total), np.full(int(total), 1 / int(total)))
        times[counted] = np.add.reduceat(drawn, np.cumsum(copies) - copies)
        return times
    count = max(round(total), len(counted))
    times[counted] = random.multinomial(count, weights[counted] / total) * (total / count)
    return times
