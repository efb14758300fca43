"""|r| of each column with a target, dense or sparse: r = x^T y / sqrt(x^T x y^T y), with x and y centred."""

from __future__ import annotations

import numpy as np
from scipy import sparse, stats

from eckart.arrays import EPSILON, Array, Matrix

_ENTRIES = 4_000_000


def correlations(X: Matrix, y: np.ndarray, *, classes: bool, ranks: bool) -> np.ndarray:
    """One correlation per column, from 0 to 1; 0 if a column or the target does not vary.

    For classes: the square root of the share of a column's variance that lies between the classes.
    """
    if ranks and not classes:
        y = stats.rankdata(y)
    goals = _indicators(y) if classes else _centred(y)[:, None]
    width = max(1, _ENTRIES // X.shape[0])
    parts = []
    for start in range(0, X.shape[1], width):
        part = X[:, start : start + width]
        if ranks:
            part = stats.rankdata(_dense(part), axis=0)
        parts.append(_with_goals(part, goals))
    return np.concatenate(parts)


def _centred(y: np.ndarray) -> np.ndarray:
    """The centred y, in units in which squares are safe; zero if it is only rounding."""
    largest = float(np.abs(y).max(initial=0.0))
    unit = y / largest if largest > 0 else y
    centred = unit - unit.mean()
    return np.asarray(centred if np.linalg.norm(centred) > 8 * EPSILON * len(y) ** 0.5 else np.zeros_like(centred))


def _indicators(y: np.ndarray) -> np.ndarray:
    """Orthonormal columns that span the centred indicators of the classes."""
    labels = np.unique(y, return_inverse=True)[1].ravel()
    counts = np.bincount(labels)
    basis = np.zeros((len(y), len(counts)))
    basis[np.arange(len(y)), labels] = 1.0 / np.sqrt(counts[labels])
    constant = np.sqrt(counts / len(y))[:, None]
    # The constant is one direction among the classes; a Householder reflection removes it from the others.
    complement = np.linalg.qr(constant, mode="complete")[0][:, 1:]
    return np.asarray(basis @ complement)


def _with_goals(part: Matrix, goals: np.ndarray) -> np.ndarray:
    """||Q^T x|| / ||x|| for centred columns x, with Q the orthogonal goals scaled to unit vectors."""
    lengths = np.linalg.norm(goals, axis=0)
    goals = goals[:, lengths > 0] / lengths[lengths > 0]
    squares, products = _sparse_moments(part, goals) if sparse.issparse(part) else _moments(part, goals)
    shared = np.sqrt(np.sum(products**2, axis=0))
    length = np.sqrt(squares)
    # A column whose spread is within the rounding of its largest entry does not vary.
    varies = length > 8 * EPSILON * part.shape[0] ** 0.5
    return np.asarray(np.minimum(np.where(varies, shared / np.where(varies, length, 1.0), 0.0), 1.0))


def _moments(part: np.ndarray, goals: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Sums of squares about the mean and goals^T x, of columns scaled to a largest modulus of 1."""
    part = np.asarray(part, dtype=np.float64)
    centred = part / _or_one(np.abs(part).max(axis=0))
    centred -= centred.mean(axis=0)
    return np.einsum("ij,ij->j", centred, centred), goals.T @ centred


def _sparse_moments(part: Matrix, goals: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The same without filling in the zeros: each of them is at distance `mean` from the mean."""
    part = part.tocsc().astype(np.float64)
    rows, columns = part.shape
    stored = np.diff(part.indptr)
    owner = np.repeat(np.arange(columns), stored)
    part.data /= _or_one(np.asarray(abs(part).max(axis=0).toarray()).ravel())[owner]
    mean = np.asarray(part.sum(axis=0)).ravel() / rows
    metadata = np.bincount(owner, (part.data - mean[owner]) ** 2, minlength=columns)
    return metadata + (rows - stored) * mean**2, np.asarray((part.T @ goals).T)


def _or_one(largest: np.ndarray) -> np.ndarray:
    return np.where(largest > 0, largest, 1.0)


def _dense(part: Matrix) -> Array:
    return part.toarray() if hasattr(part, "toarray") else part
