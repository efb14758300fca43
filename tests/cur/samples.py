"""Matrices for the tests of CUR, and its answer multiplied out."""

import numpy as np
import scipy.sparse as sp

from eckart.testing import with_spectrum

SELECTIONS = ("pivot", "norm", "leverage", "volume")
CORES = ("best", "intersection")


def dense(matrix):
    return matrix.toarray() if sp.issparse(matrix) else np.asarray(matrix, dtype=float)


def product(d):
    return dense(d.details.C) @ d.details.core.matrix @ dense(d.details.R)


def falling(rows=90, columns=60, power=1.0, seed=0):
    return with_spectrum(np.arange(1.0, min(rows, columns) + 1) ** -power, rows, columns, seed=seed)


def counts(rows=90, columns=60, seed=0):
    """A sparse matrix with columns of falling size."""
    entries = sp.random_array((rows, columns), density=0.1, rng=seed, data_sampler=np.random.default_rng(seed).random)
    return sp.csr_array(entries.multiply(np.arange(1.0, columns + 1) ** -0.5))


def tail(matrix, k):
    return float(np.linalg.norm(np.linalg.svd(dense(matrix), compute_uv=False)[k:]))
