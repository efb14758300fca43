"""Variances about the mean of scores without centring, against the scores of the dense matrix."""

import numpy as np
import pytest
import scipy.sparse as sp

import eckart as ek


def sparse(rows, columns, seed):
    table = sp.random_array((rows, columns), density=0.05, format="csr", rng=np.random.default_rng(seed))
    table.data += 0.5
    return table


def with_full_column(table):
    """The last column is full, with a mean of a thousand times its spread."""
    rows = table.shape[0]
    column = 1e3 + np.random.default_rng(1).standard_normal((rows, 1))
    return sp.csr_array(sp.hstack([table[:, :-1], sp.csr_array(column)]))


def with_nearly_full_column(table):
    """The same with two zeros."""
    column = with_full_column(table)[:, [-1]].toarray()
    column[[3, 7]] = 0.0
    return sp.csr_array(sp.hstack([table[:, :-1], sp.csr_array(column)]))


def with_duplicates(table):
    """Every entry stored as two halves."""
    twice = sp.csr_array(
        (np.repeat(table.data / 2, 2), np.repeat(table.indices, 2), 2 * table.indptr), shape=table.shape
    )
    assert not twice.has_canonical_format
    return twice


@pytest.mark.parametrize(
    "change",
    [
        lambda table: table,
        with_full_column,
        with_nearly_full_column,
        with_duplicates,
        lambda table: 1e-250 * table,
        sp.csr_matrix,
    ],
)
@pytest.mark.parametrize("shape", [(300, 200), (200, 300), (900, 400)])
def test_variances_of_stored_entries(shape, change):
    X = change(sparse(*shape, seed=shape[0]))
    model = ek.TruncatedSVD(3).fit(X)
    unit = 1.0 / np.abs(X.data).max()
    dense = (X * unit).toarray()
    scores = dense @ model.components_.T
    total = dense.var(axis=0).sum()
    np.testing.assert_allclose(model.explained_variance_ratio_, scores.var(axis=0) / total, rtol=1e-7)
    with np.errstate(under="ignore"):
        np.testing.assert_allclose(model.explained_variance_, scores.var(axis=0) / unit / unit, rtol=1e-7)
