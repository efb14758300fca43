"""What makes exercises worth solving, by kind, from the question alone: double precision, none of the exact code."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from eckart.worked.exercises import Exercise
from tests.worked.independent import Array, components, floats


def rank(made: Exercise) -> bool:
    """2 <= rank < min(rows, columns), and no row is zero or a multiple of another."""
    a = floats(made.given)
    return 2 <= np.linalg.matrix_rank(a) < min(a.shape) and no_parallel(a)


def no_parallel(rows: Array) -> bool:
    lengths = np.linalg.norm(rows, axis=1)
    if lengths.min() == 0:
        return False
    cosines = np.abs(rows @ rows.T / np.outer(lengths, lengths))
    return bool(cosines[np.triu_indices(len(rows), 1)].max() < 1 - 1e-9)


def no_equal(rows: Array) -> bool:
    return len(np.unique(rows, axis=0)) == len(rows)


def coupled(gram: Array) -> bool:
    """No two columns are orthogonal."""
    return bool(np.abs(gram[np.triu_indices(len(gram), 1)]).min() > 1e-9)


def apart(values: Array, least: float = 0.4) -> bool:
    return bool(np.abs(np.diff(np.sort(values))).min() > least)


def full(a: Array) -> bool:
    """Not triangular."""
    return bool(np.abs(np.triu(a, 1)).any() and np.abs(np.tril(a, -1)).any())


def determinant(made: Exercise) -> bool:
    a = floats(made.given)
    return full(a) and (a == 0).sum() <= len(a) and 1.5 < abs(np.linalg.det(a)) < 60.5


def spectral(made: Exercise) -> bool:
    """Real eigenvalues, different and not zero; not triangular."""
    a = floats(made.given)
    values = np.linalg.eigvals(a)
    real = bool(np.abs(values.imag).max() < 1e-9 and np.abs(values).min() > 0.5)
    return full(a) and real and apart(values.real)


def deflation(made: Exercise) -> bool:
    return spectral(made) and apart(np.abs(np.linalg.eigvals(floats(made.given))))


def power(made: Exercise) -> bool:
    """The dominant eigenvalue is at least 1.4 times the next, and the start has a part along its vector."""
    a, start = floats(made.given), floats(made.arguments["start"])[:, 0]
    values, vectors = np.linalg.eig(a)
    order = np.argsort(-np.abs(values))
    part = np.linalg.solve(vectors, start)[order[0]]
    return spectral(made) and bool(abs(values[order[0]]) > 1.4 * abs(values[order[1]]) and abs(part) > 1e-6)


def diagonalize(made: Exercise) -> bool:
    raised = np.linalg.matrix_power(floats(made.given), made.arguments["power"])
    return spectral(made) and made.arguments["power"] >= 3 and bool(np.abs(raised).max() < 1e4)


def gram_schmidt(made: Exercise) -> bool:
    a = floats(made.given)
    return coupled(a.T @ a) and np.linalg.matrix_rank(a) == a.shape[1]


def table(made: Exercise) -> bool:
    """Different singular values, no two columns orthogonal, no two rows equal."""
    a = floats(made.given)
    values = np.linalg.svd(a, compute_uv=False) ** 2
    return coupled(a.T @ a) and no_equal(a) and apart(values) and bool(values.min() > 0.2)


def pseudo_inverse(made: Exercise) -> bool:
    a = floats(made.given)
    found = np.linalg.matrix_rank(a)
    return bool(found >= 2) and not a.shape[0] == a.shape[1] == found and no_parallel(a) and coupled(a.T @ a)


def bounds(made: Exercise) -> bool:
    """The projection onto columns of the matrix is strictly worse."""
    a, k = floats(made.given), made.arguments["k"]
    best = np.sqrt((np.linalg.svd(a, compute_uv=False)[k:] ** 2).sum())
    chosen = np.argsort(-np.linalg.norm(a, axis=0))[:k]
    q = np.linalg.qr(a[:, chosen])[0]
    return table(made) and bool(np.linalg.norm(a - q @ (q.T @ a)) > best + 1e-9 > 1e-6)


def reached_early(squares: Array, share: float) -> bool:
    shares = squares.cumsum() / squares.sum()
    return bool((shares >= share).argmax() + 1 < len(squares) and np.abs(shares - share).min() > 1e-3)


def energy(made: Exercise) -> bool:
    squares = np.linalg.svd(floats(made.given), compute_uv=False) ** 2
    return table(made) and reached_early(squares, made.arguments["share"])


def query(made: Exercise) -> bool:
    a = floats(made.given)
    k = made.arguments.get("k", np.linalg.matrix_rank(a))
    q = np.array(made.arguments["q"], float)
    v = np.linalg.svd(a)[2][:k].T
    back = q @ v @ v.T
    return k < a.shape[1] and no_equal(a) and bool((back[q == 0] > 1e-9).any())


def covariance(made: Exercise) -> bool:
    """Covariances that are not zero, different variances of the components, no two rows equal."""
    a = floats(made.given)
    x, values, _ = components(a)
    return coupled(x.T @ x) and apart(values) and bool(values.min() > 0.2) and no_equal(a)


def pca(made: Exercise) -> bool:
    return covariance(made) and reached_early(components(floats(made.given))[1], made.arguments["share"])


def project(made: Exercise) -> bool:
    """No new row lies at the centre or in the space of the components."""
    a = floats(made.given)
    v = components(a)[2][:, : made.arguments["k"]]
    new = floats(made.arguments["new"]) - a.mean(axis=0)
    scores = new @ v
    outside = ((new - scores @ v.T) ** 2).sum(axis=1)
    return covariance(made) and bool(np.abs(scores).min() > 1e-9 and outside.min() > 1e-9)


def correlation(made: Exercise) -> bool:
    """Correlated columns, and one variance at least three times the other."""
    variances = floats(made.given).var(axis=0)
    r = np.corrcoef(floats(made.given).T)[0, 1]
    return covariance(made) and bool(variances.max() >= 3 * variances.min() and 1e-6 < abs(r) < 1 - 1e-9)


def missing(made: Exercise) -> bool:
    """The first round moves the entry, and the next error of the known entries is smaller."""
    cells = [row.split() for row in made.arguments["given"].split(";")]
    x = np.array([[np.nan if cell == "?" else float(cell) for cell in row] for row in cells])
    holes = np.isnan(x)
    x[holes] = np.nanmean(x, axis=0)[np.where(holes)[1]]
    errors, first = [], x[holes]
    for _ in range(2):
        mean = x.mean(axis=0)
        axis = np.linalg.svd(x - mean)[2][0]
        near = mean + np.outer((x - mean) @ axis, axis)
        errors.append(((x - near)[~holes] ** 2).sum())
        x[holes] = near[holes]
    return bool(holes.any() and np.abs(x[holes] - first).min() > 1e-9 and errors[1] < 0.9995 * errors[0])


def select(made: Exercise) -> bool:
    """The choice is clear by at least 0.1, and no column determines the target exactly."""
    x, y = floats(made.given), floats(made.arguments["target"])[:, 0]
    r = np.sort([-abs(np.corrcoef(column, y)[0, 1]) for column in x.T])
    count = made.arguments["count"]
    return count < len(r) and bool(r[count] - r[count - 1] > 0.1 and r[0] > -0.9995)


def cur(made: Exercise) -> bool:
    """Two different columns and rows are drawn, and their intersection is invertible."""
    a = floats(made.given)
    draws = made.steps[0].numbers[1].rows  # type: ignore[union-attr]
    q, p = ((a**2).sum(axis=axis) / (a**2).sum() for axis in (0, 1))
    columns = sorted({int(np.searchsorted(q.cumsum(), float(u) - 1e-12)) for u, _ in draws})
    rows = sorted({int(np.searchsorted(p.cumsum(), float(u) - 1e-12)) for _, u in draws})
    return len(columns) == len(rows) == 2 and abs(np.linalg.det(a[np.ix_(rows, columns)])) > 0.5


def nmf(made: Exercise) -> bool:
    """The first round lowers the objective by at least a tenth."""
    a, w, h = floats(made.given), floats(made.arguments["w"]), floats(made.arguments["h"])
    kl = made.arguments["loss"] == "kl"

    def objective(w: Array, h: Array) -> float:
        b = w @ h
        if not kl:
            return float(((a - b) ** 2).sum())
        return float((np.where(a > 0, a * np.log(np.where(a > 0, a, 1) / b), 0) - a + b).sum())

    before = objective(w, h)
    if kl:
        w = w * ((a / (w @ h)) @ h.T) / h.sum(axis=1)
        h = h * (w.T @ (a / (w @ h))) / w.sum(axis=0)[:, None]
    else:
        w = w * (a @ h.T) / (w @ h @ h.T)
        h = h * (w.T @ a) / (w.T @ w @ h)
    return no_equal(a) and np.linalg.matrix_rank(a) > w.shape[1] and objective(w, h) < 0.9 * before


def kernel_pca(made: Exercise) -> bool:
    """A kernel that is not linear, and two components apart from each other and from the third."""
    x, own = floats(made.given), made.arguments
    if own["kernel"] == "rbf":
        above, below = own["gamma"].split("/")
        gram = np.exp(-int(above) / int(below) * ((x[:, None] - x[None]) ** 2).sum(axis=2))
    else:
        gram = (x @ x.T + own["coef0"]) ** own["degree"]
    centring = np.eye(len(x)) - 1 / len(x)
    values = np.linalg.eigvalsh(centring @ gram @ centring)[::-1]
    different = values[0] > 1.001 * values[1] and values[1] > 1.001 * values[2] + 1e-9 and values[1] > 1e-3 * values[0]
    return own["kernel"] != "linear" and no_equal(x) and bool(different)


def isomap(made: Exercise) -> bool:
    """One nearest neighbour each, a chain through all points, and two shortest paths longer than the straight way."""
    from scipy.sparse.csgraph import shortest_path

    x = floats(made.given)
    straight: Any = np.linalg.norm(x[:, None] - x[None], axis=2)
    gaps = straight + np.where(np.eye(len(x)) > 0, np.inf, 0)
    near = gaps <= gaps.min(axis=1, keepdims=True) + 1e-9
    links = near | near.T
    paths = shortest_path(np.where(links, straight, 0), directed=False)
    chain = links.sum() == 2 * (len(x) - 1) and links.sum(axis=1).max() <= 2 and np.isfinite(paths).all()
    unique = near.sum(axis=1).max() == 1
    return bool(chain and unique and (paths > straight + 1e-9).sum() >= 4)


WORTH: dict[str, Callable[[Exercise], bool]] = {
    "rank": rank, "determinant": determinant, "gram_schmidt": gram_schmidt, "eigen": spectral, "power_iteration": power,
    "deflation": deflation, "diagonalize": diagonalize, "svd": table, "pseudo_inverse": pseudo_inverse,
    "bounds": bounds, "energy": energy, "query": query, "pca": pca, "minor_components": covariance, "project": project,
    "correlation": correlation, "missing": missing, "select": select, "cur": cur, "nmf": nmf, "kernel_pca": kernel_pca,
    "isomap": isomap,
}  # fmt: skip
