"""Orthonormal bases of tall blocks by products of matrices, with dependent directions left out."""

from __future__ import annotations

import numpy as np

from eckart.array_api import Array, from_numpy, namespace, to_numpy

_UNIT = float(np.finfo(np.float64).eps)


def orthonormalize(block: Array, floor: float = 0.0) -> tuple[Array, np.ndarray]:
    """(Q, Z^T Z) with Q^T Q = I and span Q = span Z, less the directions shorter than `floor` or dependent on others.

    Two rounds of Q = Z D E L^-1/2, where D scales the columns and (L, E) are the eigenpairs of D Z^T Z D: the first
    leaves a basis with a condition number of at most about 1e8, the second an orthonormal one.
    """
    gram = to_numpy(block.T @ block)
    kept = _whiten(gram, floor)
    basis = block @ from_numpy(kept, block)
    if kept.shape[1]:
        basis = basis @ from_numpy(_whiten(to_numpy(basis.T @ basis), 0.0), block)
    return basis, gram


def _whiten(gram: np.ndarray, floor: float) -> np.ndarray:
    lengths = np.sqrt(np.maximum(np.diagonal(gram), 0.0))
    used = np.flatnonzero(lengths > floor)
    if not used.size:
        return np.zeros((gram.shape[0], 0))
    scaled = gram[np.ix_(used, used)] / np.outer(lengths[used], lengths[used])
    values, vectors = np.linalg.eigh(scaled)
    good = values > 100 * used.size * _UNIT
    result = np.zeros((gram.shape[0], int(good.sum())))
    result[used] = vectors[:, good] / np.sqrt(values[good]) / lengths[used, None]
    return result


def project_out(block: Array, basis: Array) -> Array:
    """Z - M (M^T Z), in two passes."""
    for _ in range(2):
        block = block - basis @ (basis.T @ block)
    return block


def purge(block: Array, basis: Array) -> Array:
    """Z - M (M^T Z) for a Z that is nearly orthogonal to M already; a second time if it was not."""
    xp = namespace(block)
    for _ in range(2):
        coefficients = basis.T @ block
        block = block - basis @ coefficients
        largest = float(xp.max(xp.abs(coefficients)))
        if largest <= 1e-6 * float(xp.max(xp.sqrt(xp.sum(block * block, axis=0)))):
            break
    return block


def departure(basis: Array, rng: np.random.Generator) -> float:
    """About ||I - M^T M||_F, from four random vectors, with a margin of three."""
    probes = from_numpy(rng.standard_normal((basis.shape[1], 4)), basis)
    error = basis.T @ (basis @ probes) - probes
    return 3.0 * float(namespace(error).sum(error * error) / 4.0) ** 0.5


def gaussian(rng: np.random.Generator, rows: int, columns: int, like: Array) -> Array:
    """A block of independent standard normal numbers beside `like`."""
    return from_numpy(rng.standard_normal((rows, columns)), like)


def flip_signs(right: Array) -> np.ndarray:
    """One sign per column: the entry of largest modulus (the first of equal ones) becomes positive."""
    host = to_numpy(right)
    if host.shape[0] == 0:
        return np.ones(host.shape[1])
    largest = np.argmax(np.abs(host), axis=0)
    signs = np.sign(host[largest, np.arange(host.shape[1])])
    return np.where(signs == 0.0, 1.0, signs)
