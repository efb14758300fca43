"""Element-wise cross-validation: hide single entries, predict them from k components of the others, compare the errors.

Entries are hidden part by part and predicted by regularised iterative PCA (Josse and Husson, 2012). The filled table is
approximated by k components whose singular values s_i are shrunk to (s_i^2 - v) / s_i, where v is the residual mean
square per direction. The missing entries take the values of the approximation, and so on. Each k starts from the means,
because a start from k - 1 components can stay there. k is the smallest number that is not worse than the best by more
than the standard error of the difference.
"""

from __future__ import annotations

import numpy as np

from eckart.engine.backends.symmetric import leading_pairs
from eckart.formatting import counted
from eckart.rank.evidence import Evidence
from eckart.rank.standard_error import fewest_as_good

_CELLS = 100_000
_PARTS = 5
_STEPS = 60
_TOLERANCE = 1e-3
_MOST = 25
_PATIENCE = 12
"""The search ends after this many consecutive numbers without a smaller error."""


def by_cells(e: Evidence) -> tuple[int | None, str]:
    if e.sparse and e.rows * e.columns > _CELLS:
        return None, (
            "This rule hides single entries of a dense table, so it does not apply to large sparse data. "
            "Use the rule 'bicross' instead."
        )
    if not e.center:
        return None, "This rule predicts hidden entries from the column means, so it needs a centred table."
    rng, table = e.rng(4), e.centred.astype(np.float64)
    sample = ""
    if table.size > _CELLS:
        kept = max(_CELLS // e.columns, min(e.rows, 50))
        table = table[np.sort(rng.choice(e.rows, kept, replace=False))]
        sample = f" (on {kept:,} rows drawn at random)"
    most = min(e.most, min(table.shape) - 2, _MOST)
    if most < 1:
        return None, (
            f"This rule needs at least 3 rows and 3 columns, but the table has {e.rows} rows and {e.columns} columns."
        )
    errors = cell_errors(table, most, rng)
    k, mean = fewest_as_good(errors), np.sqrt(errors.mean(axis=1))
    if (more := e.falls_beyond(k)) is not None:
        return (
            None,
            (
                f"Predictions of hidden entries do not improve beyond {counted(k, 'component')}, but "
                f"the eigenvalues drop sharply only after component {more}."
            ),
        )
    if k == most:
        return None, (
            f"Predictions of hidden entries keep improving up to {counted(k, 'component')}. There may be more."
        )
    beyond = f"; with {k + 1} the error is {mean[k + 1]:.3f}" if k + 1 < len(mean) else ""
    return (
        k,
        (
            f"With {counted(k, 'component')}, the mean error in predicting hidden entries is "
            f"{mean[k]:.3f} standard deviations{beyond}{sample}."
        ),
    )


def cell_errors(table: np.ndarray, most: int, rng: np.random.Generator) -> np.ndarray:
    """Mean squared errors of 0, 1, ... components (rows) on each hidden part (columns), in units of the variance."""
    part = np.resize(np.arange(_PARTS), table.size)
    rng.shuffle(part)
    hidden = [(part == one).reshape(table.shape) for one in range(_PARTS)]
    unit = max(float(table.var()), 1e-300)
    found: list[list[float]] = []
    for k in range(most + 1):
        predicted = [completed(table, mask, k) for mask in hidden]
        pairs = zip(predicted, hidden, strict=True)
        found.append([float(np.mean((values[mask] - table[mask]) ** 2)) / unit for values, mask in pairs])
        means = [float(np.mean(errors)) for errors in found]
        if k - int(np.argmin(means)) >= _PATIENCE:
            break
    return np.asarray(found)


def completed(table: np.ndarray, hidden: np.ndarray, k: int) -> np.ndarray:
    """The approximation of the table by k shrunk components of its visible entries."""
    visible = np.maximum((~hidden).sum(axis=0), 1)
    mean = np.where(hidden, 0.0, table).sum(axis=0) / visible
    filled = np.where(hidden, mean, table)
    if k == 0:
        return filled
    before = filled[hidden]
    for _ in range(_STEPS):
        mean = filled.mean(axis=0)
        centred = filled - mean
        approximation = _shrunk(centred, k) + mean
        now = approximation[hidden]
        filled[hidden] = now
        if np.linalg.norm(now - before) <= _TOLERANCE * np.linalg.norm(now - mean.mean()):
            break
        before = now
    return filled


def _shrunk(centred: np.ndarray, k: int) -> np.ndarray:
    """k components of a centred table with s -> (s^2 - v) / s, v = (sum of the other s^2) / (directions left)."""
    rows, columns = centred.shape
    tall = rows >= columns
    gram = centred.T @ centred if tall else centred @ centred.T
    squares, vectors = leading_pairs(gram, k)
    left = max(float(np.trace(gram)) - float(squares.sum()), 0.0)
    noise = left / max(min(rows - 1, columns) - k, 1)
    factors = np.maximum(squares - noise, 0.0) / np.maximum(squares, 1e-300)
    weighted = vectors * factors
    return np.asarray((centred @ vectors) @ weighted.T if tall else weighted @ (vectors.T @ centred))
