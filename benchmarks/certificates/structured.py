"""Families of matrices with structure: Toeplitz, graphs, tridiagonal, blocks.

Their values are exactly equal, equal to rounding, or cluster exponentially fast, and their vectors are smooth or sit in
few coordinates.
"""

from __future__ import annotations

import numpy as np

from benchmarks.certificates.families import SPARSE, family, of_spectrum


def _difference(rows: int, columns: int) -> np.ndarray:
    return np.arange(rows)[:, None] - np.arange(columns)


@family
def prolate(rng: np.random.Generator, rows: int, columns: int, dtype: np.dtype) -> np.ndarray:
    """Toeplitz (Slepian): nearly all values are 1 or 0 up to rounding."""
    width = rng.uniform(0.05, 0.45)
    return np.asarray(2.0 * width * np.sinc(2.0 * width * _difference(rows, columns)))


@family
def parter(rng: np.random.Generator, rows: int, columns: int, dtype: np.dtype) -> np.ndarray:
    """Toeplitz and Cauchy: most values are pi up to rounding."""
    return np.asarray(1.0 / (_difference(rows, columns) + rng.choice([0.5, 0.25])))


@family
def circulant(rng: np.random.Generator, rows: int, columns: int, dtype: np.dtype) -> np.ndarray:
    """Pairs of exactly equal values, and smooth vectors."""
    size = max(rows, columns)
    first = np.exp(-np.minimum(np.arange(size), size - np.arange(size)) / rng.uniform(0.3, 10.0))
    return np.asarray(first[_difference(rows, columns) % size])


@family
def glued_wilkinson(rng: np.random.Generator, rows: int, columns: int, dtype: np.dtype) -> np.ndarray:
    """Tridiagonal blocks with pairs of values equal to rounding, joined by a tiny entry."""
    size, side = int(rng.integers(3, 30)), max(rows, columns)
    place = np.arange(side)
    below = np.where(place % size == size - 1, 10.0 ** -rng.uniform(1, 16), 1.0)[:-1]
    table = np.diag(np.abs(place % size - (size - 1) / 2)) + np.diag(below, 1) + np.diag(below, -1)
    return table[:rows, :columns]


@family
def clement(rng: np.random.Generator, rows: int, columns: int, dtype: np.dtype) -> np.ndarray:
    """Tridiagonal with eigenvalues of both signs: singular values in equal pairs."""
    size = max(rows, columns)
    below = np.sqrt(np.arange(1.0, size) * np.arange(size - 1.0, 0.0, -1.0))
    return (np.diag(below, 1) + np.diag(below, -1))[:rows, :columns]


@family
def laplacian_of_a_graph(rng: np.random.Generator, rows: int, columns: int, dtype: np.dtype) -> np.ndarray:
    """Of a random graph in one to five pieces: as many zero values."""
    size, pieces = max(rows, columns), int(rng.integers(1, 6))
    first, second = rng.integers(size, size=(2, 3 * size))
    joined = (first % pieces == second % pieces) & (first != second)
    edges = np.zeros((size, size))
    edges[first[joined], second[joined]] = edges[second[joined], first[joined]] = 1.0
    return (np.diag(edges.sum(axis=0)) - edges)[:rows, :columns]


@family
def identical_blocks(rng: np.random.Generator, rows: int, columns: int, dtype: np.dtype) -> np.ndarray:
    """The same block along the diagonal, rows and columns permuted: every value is multiple."""
    height, width = (int(number) for number in rng.integers(2, 9, 2))
    table = np.zeros((rows, columns))
    block = rng.standard_normal((height, width))
    for number in range(max(-(-rows // height), -(-columns // width))):
        part = table[number * height : (number + 1) * height, number * width : (number + 1) * width]
        part[...] = block[: part.shape[0], : part.shape[1]]
    return table[rng.permutation(rows)][:, rng.permutation(columns)]


@family
def arrow(rng: np.random.Generator, rows: int, columns: int, dtype: np.dtype) -> np.ndarray:
    """Ones in one row and one column, and a multiple of the identity: all values but two are equal."""
    table = rng.uniform(0.1, 1.0) * np.eye(rows, columns)
    table[0], table[:, 0] = 1.0, 1.0
    return table


@family
def strakos(rng: np.random.Generator, rows: int, columns: int, dtype: np.dtype) -> np.ndarray:
    """The spectrum on which Lanczos without orthogonalisation finds copies (Strakos 1991)."""
    size = min(rows, columns)
    i = np.arange(size)
    squares = 1e-3 + i / max(size - 1, 1) * 100.0 * rng.uniform(0.6, 0.95) ** (size - 1 - i)
    return of_spectrum(rng, rows, columns, np.sqrt(np.sort(squares)[::-1]))


@family
def few_different_values(rng: np.random.Generator, rows: int, columns: int, dtype: np.dtype) -> np.ndarray:
    """A diagonal of up to four different numbers, rows permuted: block Lanczos spans an invariant subspace at once."""
    table = np.diag(rng.choice([1.0, 2.0, 3.0, 5.0][: rng.integers(1, 5)], max(rows, columns)))
    return table[:rows, :columns][rng.permutation(rows)]


@family
def near_duplicates(rng: np.random.Generator, rows: int, columns: int, dtype: np.dtype) -> np.ndarray:
    """Each column twice, up to 1e-8 to 1e-16 of its entries."""
    half = rng.standard_normal((rows, -(-columns // 2)))
    other = half * (1.0 + 10.0 ** -rng.uniform(8, 16) * rng.standard_normal(half.shape))
    return np.hstack([half, other])[:, :columns]


SPARSE |= {"glued wilkinson", "clement", "laplacian of a graph", "identical blocks", "arrow", "few different values"}
