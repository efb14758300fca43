"""Evidence on principal components, the SVD and its proofs, CUR, kernels and NMF."""

from __future__ import annotations

import numpy as np
import sympy as sp
from numpy.typing import NDArray

from eckart.worked.cur import cur
from eckart.worked.errata.erratum import Evidence
from eckart.worked.messages import tr
from eckart.worked.nmf import objective, step
from eckart.worked.pca import pca
from eckart.worked.svd import svd

Array = NDArray[np.float64]
TABLE = "1 3; 0 2; 0 0; 3 3"


def features() -> list[Evidence]:
    found = pca(TABLE)
    u, x = found["components"][:, :1], found["centred"][3, :].T
    return [
        Evidence(
            tr("U_k^T x and the score"), ((u.T * x)[0], found["scores"][3, 0]), (u.T * x)[0] == found["scores"][3, 0]
        ),
        Evidence(tr("shapes of U_k and x: U_k x is not defined"), (u.shape, x.shape), u.cols != x.rows),
    ]


def projection() -> list[Evidence]:
    u = pca(TABLE)["components"][:, :1].T
    return [
        Evidence(
            tr("U with components as rows: U U^T, U^T U"),
            ((u * u.T).tolist(), (u.T * u).tolist()),
            u.T * u != sp.eye(2),
        )
    ]


def scores() -> list[Evidence]:
    found = pca(TABLE)
    x, v, t = found["centred"], found["components"], found["scores"]
    plain = sum(x[3, j] * v[j, 0] for j in range(2))
    return [Evidence(tr("sum, its square, score of row 4"), (plain, plain**2, t[3, 0]), plain == t[3, 0] != plain**2)]


def score_covariance() -> list[Evidence]:
    t = pca(TABLE)["scores"]
    s = sp.Matrix([sp.sqrt(10), sp.sqrt(2)])
    return [
        Evidence("T^T T / 3", (t.T * t / 3).tolist(), (t.T * t / 3).is_diagonal()),
        Evidence("s s^T / 3", (s * s.T / 3).tolist(), not (s * s.T / 3).is_diagonal()),
    ]


def variance_divisor() -> list[Evidence]:
    t = pca(TABLE)["scores"]
    squared, variance = (t[:, 0].T * t[:, 0])[0], np.var(np.array(t[:, 0], float), ddof=1)
    return [
        Evidence(
            tr("‖z_1‖^2 and its variance with 1/(l-1)"),
            (squared, round(float(variance), 4)),
            float(squared) != float(variance),
        )
    ]


def cross_validation() -> list[Evidence]:
    rng = np.random.default_rng(0)
    table = rng.standard_normal((40, 2)) @ rng.standard_normal((2, 20)) + rng.standard_normal((40, 20)) / 2

    def held_out(k: int) -> float:
        total = 0.0
        for rows in np.array_split(np.arange(40), 4):
            for columns in np.array_split(np.arange(20), 4):
                b, c = np.delete(table[rows], columns, axis=1), np.delete(table[:, columns], rows, axis=0)
                d = np.delete(np.delete(table, rows, axis=0), columns, axis=1)
                u, s, vt = np.linalg.svd(d, full_matrices=False)
                near = b @ (vt[:k].T / s[:k] @ u[:, :k].T) @ c
                total += float(((table[np.ix_(rows, columns)] - near) ** 2).sum())
        return total

    best = min(range(1, 7), key=held_out)
    return [
        Evidence(
            tr("number of components that bi-cross-validation chooses for a noisy table with two components"),
            best,
            best == 2,
        )
    ]


def distances() -> list[Evidence]:
    points = np.array([[0, 0], [1, 0], [2, 0], [3, 0], [0, 3.0]])
    angles = np.linspace(0, np.pi, 2001)
    normals = np.column_stack([-np.sin(angles), np.cos(angles)])
    mean = float(abs((points - points.mean(axis=0)) @ normals.T).sum(axis=0).min())
    axis = float(abs(points[:, 1]).sum())
    return [
        Evidence(
            tr("sum of distances to the x axis, and to the best line through the mean"),
            (axis, round(mean, 3)),
            axis < mean,
        )
    ]


def proof_of_theorem_1() -> list[Evidence]:
    z = sp.Matrix([[1, 1], [1, 1]])
    d = sp.diag(*z.diagonal())
    x = sp.diag(2, 1)
    return [
        Evidence(tr("Σ = diag(2, 1), U = V = I, Z all ones: rank of Z, rank of diag(U^T Z V)"), (z.rank(), d.rank()),
                 z.rank() == 1 and d.rank() == 2),
        Evidence(tr("so Z' = U D V^T is closer, but its rank is too large: squared errors of Z and Z'"),
                 ((x - z).norm() ** 2, (x - d).norm() ** 2), (x - d).norm() < (x - z).norm()),
    ]  # fmt: skip


def swapped_vectors() -> list[Evidence]:
    a = sp.Matrix([[3, 0], [4, 5], [0, 0]])
    found = svd(a)
    u, v = found["U"], found["V"]
    left = [
        (a * a.T * u[:, i] - found["singular_values"][i] ** 2 * u[:, i]).applyfunc(sp.simplify).is_zero_matrix
        for i in range(2)
    ]
    return [
        Evidence(tr("columns of U are eigenvectors of A A^T"), left, all(left)),
        Evidence(
            tr("shapes of U and V: V^T acts first, U last"),
            (u.shape, v.shape),
            u.rows == a.rows and v.rows == a.cols,
        ),
    ]


def circle() -> list[Evidence]:
    angles = np.linspace(0, 2 * np.pi, 8, endpoint=False)
    radius = np.hypot(np.cos(angles), np.sin(angles))
    counts = len(set(radius.round(9))), len(set(angles.round(9)))
    return [
        Evidence(
            tr("number of different radii and of different angles among points of a circle"), counts, counts == (1, 8)
        )
    ]


def kernel_of_what() -> list[Evidence]:
    x, z = sp.Matrix([1, 2]), sp.Matrix([3, 1])
    phi = [sp.Matrix([v[0] ** 2, sp.sqrt(2) * v[0] * v[1], v[1] ** 2]) for v in (x, z)]
    value = (phi[0].T * phi[1])[0]
    return [
        Evidence("(x · z)^2, φ(x) · φ(z), x · z", (x.dot(z) ** 2, value, x.dot(z)), value == x.dot(z) ** 2 != x.dot(z))
    ]


def centring() -> list[Evidence]:
    k = sp.Matrix([[4, 1, 9], [1, 4, 4], [9, 4, 36]])
    one = sp.ones(3, 3) / 3
    wrong, right = k - one * k + one * k * one, k - one * k - k * one + one * k * one
    sums = [[sum(m[:, j]) for j in range(3)] for m in (wrong, right)]
    return [Evidence(tr("column sums without and with the term K1"), sums, sums[1] == [0, 0, 0] != sums[0])]


def pseudo_code() -> list[Evidence]:
    x = np.array([[1.0, 3], [0, 2], [0, 0], [3, 3]])
    centred = x - x.mean(axis=0)
    return [
        Evidence(
            tr("shape of the centred data, whose eigenpairs the pseudo-code computes"),
            centred.shape,
            centred.shape[0] != centred.shape[1],
        )
    ]


def dependent() -> list[Evidence]:
    changed = sp.Matrix([[0, 2, 0, 4, 4], [0, 0, 0, 5, 5], [0, 1, 0, 2, 2]])
    return [Evidence(tr("rank of the last three rows after the change"), changed.rank(), changed.rank() == 2)]


def core_of_cur() -> list[Evidence]:
    def product(a: Array, power: int) -> Array:
        x, s, yt = np.linalg.svd(a[:2, :2])
        near: Array = a[:, :2] @ (yt.T * s**-power @ x.T) @ a[:2]
        return near

    a = np.array([[1.0, 2, 0], [2, 3, 1], [0, 1, 4]])
    squared = bool(np.allclose(product(10 * a, 2), product(a, 2)))
    plain = bool(np.allclose(product(10 * a, 1), 10 * product(a, 1)))
    return [
        Evidence(
            tr("CUR of 10 A: equal to CUR of A with (Σ^+)^2, ten times CUR of A with Σ^+"),
            (squared, plain),
            squared and plain,
        )
    ]


def norm_sampling() -> list[Evidence]:
    """A small but important row: squared norms hardly ever draw it, and then the error is far above the best."""
    a = np.zeros((6, 6))
    a[:5, :5], a[5, 5] = 100.0, 1.0
    chance = float((a[5] ** 2).sum() / (a**2).sum())
    best = float(np.sqrt((np.linalg.svd(a, compute_uv=False)[2:] ** 2).sum()))
    exact = cur(sp.Matrix(a.astype(int).tolist()), rows=[1, 2], columns=[1, 2])
    error = float(sp.sqrt(exact["error_squared"]))
    return [
        Evidence(
            tr("‖A - A_2‖_F, error of CUR without the small row"),
            (round(best, 9), round(error, 6)),
            error > 2.5 * best + 0.5,
        ),
        Evidence(
            tr("probability of drawing that row in one draw, by squared norms and by leverage scores"),
            (f"{chance:.1e}", 0.5),
            chance < 1e-4,
        ),
    ]


def strict_inequality() -> list[Evidence]:
    a = sp.diag(2, 2, 1)
    x = sp.Matrix([1, 1, 0]) / sp.sqrt(2)
    return [Evidence("A = diag(2, 2, 1), x = (1, 1, 0)/√2: x^T A x", (x.T * a * x)[0], (x.T * a * x)[0] == 2),
            Evidence(tr("and v_3^T A v_3, which is not larger"), 1, (x.T * a * x)[0] > 1)]  # fmt: skip


def full_rank() -> list[Evidence]:
    a = sp.Matrix([[1, 0, 0], [0, 2, 0]])
    values = list(svd(a)["singular_values"])
    return [Evidence(tr("a 2 x 3 matrix of rank 2: its singular values"), values, 0 not in values and a.rank() == 2)]


def unique() -> list[Evidence]:
    a = sp.eye(2) * 3
    rotation = sp.Matrix([[1, -1], [1, 1]]) / sp.sqrt(2)
    u, v = sp.Matrix([1, 0]), sp.Matrix([0, 1])
    same, opposite = (2 * u * v.T).tolist(), (2 * -u * (-v).T).tolist()
    return [
        Evidence(tr("σ u v^T and σ (-u) (-v)^T for u = (1, 0), v = (0, 1), σ = 2"), (same, opposite), same == opposite),
        Evidence(
            tr("3 I = U Σ V^T with U = V = I, and with both rotated by 45°"),
            (rotation * a * rotation.T).tolist(),
            rotation * a * rotation.T == a,
        ),
    ]


def local_optimum() -> list[Evidence]:
    a = np.array([[1.0, 0], [0, 1]])
    w, h = step(a, np.array([[1.0, 0], [0, 0]]), np.array([[1.0, 0], [0, 0]]), "euclidean")
    stuck = objective(a, w, h, "euclidean")
    near = objective(a, np.array([[1.0, 0], [0, 0.1]]), np.array([[1.0, 0], [0, 0.1]]), "euclidean")
    return [
        Evidence(
            tr("A = I with zeros in the initial factors: objective where the updates stop, and at a nearby point"),
            (stuck, round(near, 4)),
            near < stuck,
        ),
    ]


def symmetric_singular() -> list[Evidence]:
    a = sp.Matrix([[0, 1], [0, 0]])
    values = (list(a.eigenvals(multiple=True)), list(svd(a)["singular_values"]))
    return [
        Evidence(tr("[[0, 1], [0, 0]]: eigenvalues, singular values"), values, values[0] == [0, 0] and values[1] == [1])
    ]
