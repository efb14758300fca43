"""The answers of exercises by another route: double precision, LAPACK and SciPy, none of the exact code."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.linalg
from scipy.sparse.csgraph import shortest_path

from eckart.worked.exercises import Exercise

Array = np.ndarray[Any, np.dtype[np.float64]]


def floats(matrix: Any) -> Array:
    return np.array([[float(matrix[i, j]) for j in range(matrix.cols)] for i in range(matrix.rows)])


def answer(made: Exercise, name: str) -> Any:
    """What the key says under a name."""
    value = next(target.value for target in made.targets if name in target.names)
    return (
        floats(value)
        if hasattr(value, "cols")
        else [float(x) for x in value]
        if isinstance(value, list)
        else float(value)
    )


def same(a: Any, b: Any) -> bool:
    a, b = np.asarray(a, float), np.asarray(b, float)
    return a.shape == b.shape and bool(np.allclose(a, b, rtol=1e-8, atol=1e-8))


def same_columns(a: Array, b: Array) -> bool:
    """Up to the sign of each column."""
    return a.shape == b.shape and all(same(a[:, j], b[:, j]) or same(a[:, j], -b[:, j]) for j in range(a.shape[1]))


def rank(made: Exercise) -> bool:
    a = floats(made.given)
    found = np.linalg.matrix_rank(a)
    chosen: list[int] = []
    for i in range(len(a)):
        if np.linalg.matrix_rank(a[[*chosen, i]]) == len(chosen) + 1:
            chosen.append(i)
    coordinates = np.linalg.lstsq(a[chosen].T, a.T, rcond=None)[0].T
    trivial = found in {0, 1, min(a.shape)}
    return not trivial and answer(made, "rank") == found and same(answer(made, "C"), coordinates)


def determinant(made: Exercise) -> bool:
    value = np.linalg.det(floats(made.given))
    return abs(value) > 1.5 and same(answer(made, "det"), value)


def spectral(made: Exercise) -> bool:
    """A v = λ v, unit length, all eigenvalues of LAPACK, real, apart and not zero."""
    a = floats(made.given)
    true = np.sort(np.linalg.eigvals(a).real)
    values, vectors = np.array(answer(made, "lambda")), answer(made, "e")
    good = same(np.sort(values), true) and same(a @ vectors, vectors * values)
    trivial = np.abs(true).min() < 0.5 or np.diff(true).min() < 0.5 or not np.abs(np.triu(a, 1)).any()
    return good and same((vectors**2).sum(axis=0), np.ones(len(a))) and not trivial


def power(made: Exercise) -> bool:
    a = floats(made.given)
    values, vectors = np.linalg.eig(a)
    order = np.argsort(-np.abs(values))
    top = vectors[:, order[:1]].real
    part = abs(float(np.linalg.solve(vectors, np.eye(len(a))[:, 0])[order[0]].real))
    slow = np.abs(values[order[1]]) > 0.75 * np.abs(values[order[0]])
    return (
        same(answer(made, "lambda"), values[order[0]].real)
        and same_columns(answer(made, "x"), top)
        and part > 1e-9
        and not slow
    )


def diagonalize(made: Exercise) -> bool:
    a = floats(made.given)
    name = f"A^{made.arguments['power']}"
    good = same(answer(made, name), np.linalg.matrix_power(a, made.arguments["power"]))
    return good and same(np.sort(answer(made, "lambda")), np.sort(np.linalg.eigvals(a).real))


def gram_schmidt(made: Exercise) -> bool:
    a = floats(made.given)
    q, r = np.linalg.qr(a)
    sign = np.sign(np.diag(r))
    crossed = np.abs(a.T @ a)[np.triu_indices(a.shape[1], 1)].min()
    return same(answer(made, "Q"), q * sign) and same(answer(made, "R"), (r.T * sign).T) and crossed > 0.5


def svd(made: Exercise) -> bool:
    a = floats(made.given)
    u, s, vt = np.linalg.svd(a, full_matrices=False)
    apart = np.diff(s).max() < -1e-3 and s.min() > 1e-3
    crossed = np.abs(a.T @ a)[np.triu_indices(a.shape[1], 1)].min() > 0.5
    good = (
        same(answer(made, "sigma"), s) and same_columns(answer(made, "v"), vt.T) and same_columns(answer(made, "u"), u)
    )
    return good and apart and bool(crossed)


def pseudo_inverse(made: Exercise) -> bool:
    a = floats(made.given)
    invertible = a.shape[0] == a.shape[1] == np.linalg.matrix_rank(a)
    return same(answer(made, "A+"), scipy.linalg.pinv(a)) and not invertible


def bounds(made: Exercise) -> bool:
    a, k = floats(made.given), made.arguments["k"]
    u, s, vt = np.linalg.svd(a, full_matrices=False)
    near = (u[:, :k] * s[:k]) @ vt[:k]
    error = np.linalg.norm(a - near)
    return same(answer(made, "A_k"), near) and same(answer(made, "error"), error) and bool(error > 1e-6)


def energy(made: Exercise) -> bool:
    s = np.linalg.svd(floats(made.given), compute_uv=False)
    share = np.cumsum(s**2) / (s**2).sum()
    k = int(np.searchsorted(share, made.arguments["share"])) + 1
    return same(answer(made, "sigma"), s) and answer(made, "k") == k < len(s)


def query(made: Exercise) -> bool:
    a, q = floats(made.given), np.array(made.arguments["q"], float)
    _, s, vt = np.linalg.svd(a, full_matrices=False)
    v = vt[: made.arguments.get("k", int((s > 1e-9).sum()))].T
    back = q @ v @ v.T
    wanted = [j + 1 for j in range(len(q)) if q[j] == 0 and back[j] > 1e-9]
    return (
        same(answer(made, "back")[0], back) and answer(made, "suggest") == wanted and bool(wanted) and not same(back, q)
    )


def components(x: Array) -> tuple[Array, Array, Array]:
    x = x - x.mean(axis=0)
    values, vectors = np.linalg.eigh(x.T @ x)
    return x, values[::-1], vectors[:, ::-1]


def pca(made: Exercise) -> bool:
    x, values, vectors = components(floats(made.given))
    k = int(np.searchsorted(values.cumsum() / values.sum(), made.arguments["share"])) + 1
    good = same(answer(made, "lambda"), values) and same_columns(answer(made, "v"), vectors)
    return good and same_columns(answer(made, "t"), x @ vectors) and answer(made, "k") == k < len(values)


def minor_components(made: Exercise) -> bool:
    _, values, vectors = components(floats(made.given))
    return same(answer(made, "lambda"), values[-1:]) and same_columns(answer(made, "w"), vectors[:, -1:])


def project(made: Exercise) -> bool:
    x = floats(made.given)
    _, _, vectors = components(x)
    new, v = floats(made.arguments["new"]) - x.mean(axis=0), vectors[:, : made.arguments["k"]]
    distances = ((new - new @ v @ v.T) ** 2).sum(axis=1)
    return (
        same_columns(answer(made, "z"), new @ v) and same(answer(made, "d"), distances) and bool(distances.min() > 1e-9)
    )


def correlation(made: Exercise) -> bool:
    x = floats(made.given)
    r = np.corrcoef(x.T)
    _, _, vectors = components(x)
    scaled = np.linalg.eigh(r)[1][:, ::-1]
    good = same(answer(made, "R"), r) and same_columns(answer(made, "v"), vectors)
    return good and same_columns(answer(made, "w"), scaled) and 1e-3 < abs(r[0, 1]) < 0.9999


def missing(made: Exercise) -> bool:
    rows = [
        [np.nan if cell == "?" else float(cell) for cell in row.split()] for row in made.arguments["given"].split(";")
    ]
    x = np.array(rows)
    holes = np.isnan(x)
    x[holes] = np.nanmean(x, axis=0)[np.where(holes)[1]]
    mean = x.mean(axis=0)
    _, _, vt = np.linalg.svd(x - mean)
    near = mean + (x - mean) @ np.outer(vt[0], vt[0])
    return same(answer(made, "x"), near[holes]) and not same(near[holes], x[holes])


def select(made: Exercise) -> bool:
    x, y = floats(made.given), floats(made.arguments["target"])[:, 0]
    r = np.array([np.corrcoef(x[:, j], y)[0, 1] for j in range(x.shape[1])])
    chosen = sorted(int(j) + 1 for j in np.argsort(-np.abs(r))[: made.arguments["count"]])
    return same(answer(made, "r"), r) and answer(made, "columns") == chosen


def cur(made: Exercise) -> bool:
    a = floats(made.given)
    draws = made.steps[0].numbers[1].rows  # type: ignore[union-attr]
    q, p = ((a**2).sum(axis=axis) / (a**2).sum() for axis in (0, 1))
    columns = sorted({int(np.searchsorted(q.cumsum(), float(u) - 1e-12)) for u, _ in draws})
    rows = sorted({int(np.searchsorted(p.cumsum(), float(u) - 1e-12)) for _, u in draws})
    c, r = a[:, columns] / np.sqrt(2 * q[columns]), a[rows] / np.sqrt(2 * p[rows])[:, None]
    w = a[np.ix_(rows, columns)] / np.sqrt(2 * q[columns]) / np.sqrt(2 * p[rows])[:, None]
    product = c @ scipy.linalg.pinv(w) @ r
    error = ((a - product) ** 2).sum()
    return same(answer(made, "CUR"), product) and same(answer(made, "error"), error) and bool(error > 1e-9)


def nmf(made: Exercise) -> bool:
    a, w, h = floats(made.given), floats(made.arguments["w"]), floats(made.arguments["h"])
    if made.arguments["loss"] == "kl":
        w = w * ((a / (w @ h)) @ h.T) / h.sum(axis=1)
        h = h * (w.T @ (a / (w @ h))) / w.sum(axis=0)[:, None]
    else:
        w = w * (a @ h.T) / (w @ h @ h.T)
        h = h * (w.T @ a) / (w.T @ w @ h)
    return same(answer(made, "W"), w) and same(answer(made, "H"), h)


def kernel_pca(made: Exercise) -> bool:
    x, own = floats(made.given), made.arguments
    if own["kernel"] == "rbf":
        top, bottom = own["gamma"].split("/")
        gram = np.exp(-int(top) / int(bottom) * ((x[:, None] - x[None]) ** 2).sum(axis=2))
    else:
        gram = (x @ x.T + own["coef0"]) ** 2
    centring = np.eye(len(x)) - 1 / len(x)
    values, vectors = np.linalg.eigh(centring @ gram @ centring)
    scores = vectors[:, ::-1][:, :2] * np.sqrt(values[::-1][:2])
    return (
        same(answer(made, "lambda"), values[::-1][:2])
        and same_columns(answer(made, "t"), scores)
        and own["kernel"] != "linear"
    )


def isomap(made: Exercise) -> bool:
    x = floats(made.given)
    gaps = np.linalg.norm(x[:, None] - x[None], axis=2)
    np.fill_diagonal(gaps, np.inf)
    near = gaps <= gaps.min(axis=1, keepdims=True) + 1e-9
    graph = np.where(near | near.T, gaps, 0)
    paths = shortest_path(graph, directed=False)
    centring = np.eye(len(x)) - 1 / len(x)
    values, vectors = np.linalg.eigh(-centring @ paths**2 @ centring / 2)
    straight = np.linalg.norm(x[:, None] - x[None], axis=2)
    bent = (paths > straight + 1e-9).sum() >= 4
    return (
        same(answer(made, "D"), paths)
        and same_columns(answer(made, "y"), vectors[:, -1:] * np.sqrt(values[-1]))
        and bool(bent)
    )


CHECKS: dict[str, Callable[[Exercise], bool]] = {
    "rank": rank, "determinant": determinant, "gram_schmidt": gram_schmidt, "eigen": spectral, "power_iteration": power,
    "deflation": spectral, "diagonalize": diagonalize, "svd": svd, "pseudo_inverse": pseudo_inverse, "bounds": bounds,
    "energy": energy, "query": query, "pca": pca, "minor_components": minor_components, "project": project,
    "correlation": correlation, "missing": missing, "select": select, "cur": cur, "nmf": nmf, "kernel_pca": kernel_pca,
    "isomap": isomap,
}  # fmt: skip
