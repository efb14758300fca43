"""Rules that decompose parts of the table: cross-validation by cells and by blocks, and the stability of two halves.

Bi-cross-validation (Owen and Perry, 2009) hides some rows of some columns. A = [[A11, A12], [A21, A22]]: A11 is
predicted by A12 (A22)_k^+ A21 = (A12 V) S^-1 (U^T A21), where A22 ~ U S V^T. One decomposition of A22 gives the errors
for all k. Means are those of the rows that are not held out.

Cross-validation by cells hides single entries, part by part, and predicts them by regularised iterative PCA (Josse and
Husson, 2012). The filled table is approximated by k components whose singular values s_i are shrunk to (s_i^2 - v) /
s_i, where v is the residual mean square per direction. The missing entries take the values of the approximation, and so
on. Each k starts from the means, because a start from k - 1 components can stay there. k is the smallest number that is
not worse than the best by more than the standard error of the difference.

Stability asks how much of the space of k components two random halves of the rows share. With the first k components
V, W of the halves, ||V^T W||^2 of k directions are shared and k - ||V^T W||^2 lost. If k - 1 of them are shared and the
last is random, 1 - 1/(columns - k + 1) of a direction is lost. k is the largest number for which less than two thirds
of that is lost.
"""

from __future__ import annotations

import numpy as np

from eckart.arrays import Matrix, is_sparse
from eckart.components.find import find_components
from eckart.engine.backends.symmetric import leading_pairs
from eckart.formatting import counted
from eckart.rank.evidence import Evidence

_CELLS = 100_000
_PARTS = 5
_STEPS = 60
_TOLERANCE = 1e-3
_MOST = 25
_SMALL = 64
"""Up to this size, all eigenvalues of several matrices are computed together."""
_TOGETHER = 20_000
"""Entries of the tables that are completed together."""
_PATIENCE = 12
"""The search ends after this many consecutive numbers without a smaller error."""
_TOLERATED = 2.0 / 3.0


def by_bicross(e: Evidence) -> tuple[int | None, str]:
    if e.rows < 8 or e.columns < 4:
        return None, (f"This rule needs at least 8 rows and 4 columns, but the table is {e.rows:,} x {e.columns:,}.")
    errors = bicross_errors(e.table, e.most, center=e.center, rng=e.rng(3), repeats=max(1, e.repeats(4, 40) // 4))
    k = int(np.argmin(errors))
    if k == len(errors) - 1:
        return None, _too_small(k - 1)
    if (more := e.falls_beyond(k)) is not None:
        return (
            None,
            (
                f"The eigenvalues fall steeply after component {more}, but this rule predicts "
                f"quarters of the table, which can reveal at most {counted(len(errors) - 2, 'component')}."
            ),
        )
    beyond = f"; with {k + 1} it is {errors[k + 1]:.4f}" if k + 1 < len(errors) else ""
    best = counted(k, "component")
    return k, (
        f"Predictions of held-out quarters of the table are most accurate with {best}: the relative error "
        f"is {errors[k]:.4f}{beyond}."
    )


def _too_small(most: int) -> str:
    """Why a table in which a quarter shows at most this many components gives no answer."""
    if most < 1:
        return "This rule compares quarters of the table, and a quarter of this table is too small."
    return (
        "This rule compares quarters of the table, which can reveal at most "
        f"{counted(most, 'component')}. There may be more."
    )


def bicross_errors(table: Matrix, most: int, *, center: bool, rng: np.random.Generator, repeats: int = 1) -> np.ndarray:
    """Squared error of held-out quarters for k = 0, 1, ..., as a share of their sum of squares."""
    rows, columns = table.shape
    most = min(most, rows // 2 - 2, columns // 2 - 1)
    errors = np.zeros(most + 1)
    for _ in range(repeats):
        halves = np.array_split(rng.permutation(rows), 2)
        sides = np.array_split(rng.permutation(columns), 2)
        for i in range(2):
            for j in range(2):
                errors += _quarter(table, halves[i], halves[1 - i], sides[j], sides[1 - j], most, center=center)
    return errors / errors[0] if errors[0] > 0.0 else errors


def _quarter(
    table: Matrix, out: np.ndarray, kept: np.ndarray, far: np.ndarray, near: np.ndarray, most: int, *, center: bool
) -> np.ndarray:
    """||A11 - A12 (A22)_k^+ A21||^2 for k = 0..most, from products with U and V alone."""
    above, below = table[out], table[kept]
    a11, a12, a21, a22 = above[:, far], above[:, near], below[:, far], below[:, near]
    d = find_components(a22, "pca" if center else "svd", k=most, tol=1e-6, left=True)
    values = np.asarray(d.values, dtype=np.float64)
    good = values > 1e-10 * max(float(values[0]), 1e-300)
    right, left = np.asarray(d.right, dtype=np.float64)[:, good], np.asarray(d.left, dtype=np.float64)[:, good]
    rows = a12 @ right - (np.asarray(d.mean, dtype=np.float64) @ right if d.mean is not None else 0.0)
    columns = (a21.T @ left) / values[good]
    mean = np.asarray(a21.mean(axis=0)).ravel() if center else np.zeros(len(far))
    cross = np.einsum("ik,ik->k", a11.T @ rows, columns) - rows.sum(axis=0) * (mean @ columns)
    squares = (rows.T @ rows) * (columns.T @ columns)
    total = _sum_of_squares(a11, mean)
    steps = np.array([np.sum(squares[: k + 1, : k + 1]) for k in range(len(cross))])
    errors = np.full(most + 1, np.inf)
    errors[0] = total
    errors[1 : len(cross) + 1] = total - 2.0 * np.cumsum(cross) + steps
    return errors


def _sum_of_squares(block: Matrix, mean: np.ndarray) -> float:
    """||A - 1 mean^T||^2, without filling the zeros of a sparse block."""
    if not is_sparse(block):
        return float(np.sum((block - mean) ** 2, dtype=np.float64))
    sums = np.asarray(block.sum(axis=0)).ravel()
    return float(np.sum(block.data.astype(np.float64) ** 2) - 2.0 * mean @ sums + block.shape[0] * mean @ mean)


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
        return None, (f"This rule needs at least 3 rows and 3 columns, but the table is {e.rows:,} x {e.columns:,}.")
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
    hidden = part.reshape(table.shape) == np.arange(_PARTS)[:, None, None]
    unit = max(float(table.var()), 1e-300)
    found: list[list[float]] = []
    groups = np.array_split(hidden, min(_PARTS, -(-_PARTS * table.size // _TOGETHER)))
    for k in range(most + 1):
        predicted = np.concatenate([completed(table, masks, k) for masks in groups])
        pairs = zip(predicted, hidden, strict=True)
        found.append([float(np.mean((values[mask] - table[mask]) ** 2)) / unit for values, mask in pairs])
        means = [float(np.mean(errors)) for errors in found]
        if k - int(np.argmin(means)) >= _PATIENCE:
            break
    return np.asarray(found)


def completed(table: np.ndarray, hidden: np.ndarray, k: int) -> np.ndarray:
    """For each mask in `hidden`, the approximation of the table by k shrunk components of its visible entries.

    The masks are processed together, because a step on a small table takes less time than its calls.
    """
    visible = np.maximum((~hidden).sum(axis=1), 1)
    mean = np.where(hidden, 0.0, table).sum(axis=1) / visible
    filled = np.where(hidden, mean[:, None, :], table)
    active = np.arange(len(hidden) if k else 0)
    for _ in range(_STEPS):
        if not len(active):
            break
        before, mask = filled[active], hidden[active]
        mean = before.mean(axis=1, keepdims=True)
        now = np.where(mask, _shrunk(before - mean, k) + mean, before)
        filled[active] = now
        change = _norms(now - before)
        active = active[change > _TOLERANCE * _norms(np.where(mask, now - mean.mean(axis=2, keepdims=True), 0.0))]
    return filled


def _norms(tables: np.ndarray) -> np.ndarray:
    return np.asarray(np.sqrt(np.einsum("ijk,ijk->i", tables, tables)))


def _shrunk(centred: np.ndarray, k: int) -> np.ndarray:
    """k components of centred tables with s -> (s^2 - v) / s, v = (sum of the other s^2) / (directions left)."""
    rows, columns = centred.shape[1:]
    across = np.swapaxes(centred, 1, 2)
    tall = rows >= columns
    gram = across @ centred if tall else centred @ across
    squares, vectors = _leading(gram, k)
    left = np.maximum(np.trace(gram, axis1=1, axis2=2) - squares.sum(axis=1), 0.0)
    noise = left[:, None] / max(min(rows - 1, columns) - k, 1)
    factors = np.maximum(squares - noise, 0.0) / np.maximum(squares, 1e-300)
    weighted = vectors * factors[:, None, :]
    if tall:
        return np.asarray((centred @ vectors) @ np.swapaxes(weighted, 1, 2))
    return np.asarray(weighted @ (np.swapaxes(vectors, 1, 2) @ centred))


def _leading(grams: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """The k leading eigenpairs of each matrix."""
    if grams.shape[1] <= _SMALL:
        values, vectors = np.linalg.eigh(grams)
        return values[:, : -k - 1 : -1], vectors[:, :, : -k - 1 : -1]
    values, vectors = zip(*(leading_pairs(gram, k) for gram in grams), strict=True)
    return np.array(values), np.array(vectors)


def fewest_as_good(errors: np.ndarray) -> int:
    """The smallest k (row) that is not worse than the best by more than the standard error of the difference.

    Examples
    --------
    >>> fewest_as_good(np.array([[9.0, 9.5], [1.0, 1.3], [1.1, 1.1]]))
    1
    """
    best = int(np.argmin(errors.mean(axis=1)))
    difference = errors - errors[best]
    slack = difference.std(axis=1, ddof=1) / errors.shape[1] ** 0.5
    return int(np.argmax(difference.mean(axis=1) <= slack))


def fewest_not_worse(errors: np.ndarray, *, overlap: float = 0.0) -> int:
    """The smallest k (row) that a paired t-test of the logarithms at level 0.95 does not find worse than the best.

    Errors of different parts (columns) may differ by orders of magnitude, but their ratios do not. `overlap` is the
    ratio of held-out entries to the others if the parts come from several splits of the same table. It is added to the
    variance of the mean (the corrected resampled test of Nadeau and Bengio, 2003).

    Examples
    --------
    >>> fewest_not_worse(np.array([[9.0, 9.5, 90], [1.0, 1.3, 11], [1.1, 1.1, 10]]))
    1
    """
    from scipy.special import stdtrit

    logarithms = np.log(np.maximum(errors, 1e-300))
    count = errors.shape[1]
    difference = logarithms - logarithms[int(np.argmin(logarithms.mean(axis=1)))]
    slack = stdtrit(count - 1, 0.95) * difference.std(axis=1, ddof=1) * (1.0 / count + overlap) ** 0.5
    return int(np.argmax(difference.mean(axis=1) <= slack))


def by_stability(e: Evidence) -> tuple[int | None, str]:
    most = min(e.most, e.columns - 1, e.rows // 2 - 2)
    if most < 1:
        return None, (f"A table of {e.rows} x {e.columns} is too small to compare two halves of its rows.")
    repeats = max(5, e.repeats(20, 100) // 5)
    lost = lost_directions(e.table, most, center=e.center, rng=e.rng(5), repeats=repeats)
    chance = 1.0 - 1.0 / (e.columns - np.arange(1, most + 1) + 1.0)
    stable = np.flatnonzero(lost < _TOLERATED * chance)
    k = int(stable[-1]) + 1 if stable.size else 0
    if k == most < min(e.short, e.columns) - 1:
        return None, (
            f"Random halves of the rows agree on all {most} components that were considered. There may be more."
        )
    shared = f"{k - lost[k - 1]:.2f} of {counted(k, 'component')}" if k else "no component"
    beyond = f", and {k + 1 - lost[k]:.2f} of {k + 1}" if k < most else ""
    return k, f"On average over {repeats} random splits, the two halves of the rows agree on {shared}{beyond}."


def lost_directions(table: object, most: int, *, center: bool, rng: np.random.Generator, repeats: int) -> np.ndarray:
    """Mean of k - ||V_k^T W_k||^2 for k = 1..most over random splits of the rows."""
    shared = np.zeros(most)
    for _ in range(repeats):
        order = rng.permutation(table.shape[0])  # type: ignore[attr-defined]
        first, second = (_axes(table[np.sort(half)], most, center=center) for half in np.array_split(order, 2))  # type: ignore[index]
        squares = (first.T @ second) ** 2
        shared += np.diagonal(squares.cumsum(axis=0).cumsum(axis=1))
    return np.arange(1, most + 1) - shared / repeats


def _axes(rows: object, most: int, *, center: bool) -> np.ndarray:
    d = find_components(rows, "pca" if center else "svd", k=most, tol=1e-4)
    return np.asarray(d.right, dtype=np.float64)
