"""Products with CSR rows on the host: the same bits for any number of workers, and one accumulator for A^T A."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from scipy import sparse

from eckart.engine.backends import host_csr
from eckart.engine.rows import RowBlocks


def rows_of(kind: str) -> sparse.csr_array:
    rng = np.random.default_rng(4)
    matrix = sparse.random_array((700, 90), density=0.1, rng=rng, format="lil")
    if kind == "one dense row":
        matrix[17] = rng.standard_normal(90)
    elif kind == "one dense column":
        matrix[:, [3]] = rng.standard_normal((700, 1))
    elif kind == "empty":
        matrix = sparse.lil_array((700, 90))
    return sparse.csr_array(matrix)


@pytest.mark.parametrize("kind", ["random", "one dense row", "one dense column", "empty"])
def test_cross_products_for_any_number_of_workers(kind: str) -> None:
    matrix = rows_of(kind)
    found = [host_csr.gram(RowBlocks(matrix, workers=workers)) for workers in (1, 2, 3, 7, 200)]
    for other in found[1:]:
        np.testing.assert_array_equal(other, found[0])
    dense = matrix.toarray()
    np.testing.assert_allclose(found[0], dense.T @ dense, atol=1e-12)
    np.testing.assert_array_equal(found[0], found[0].T)


def test_one_accumulator_whatever_the_number_of_workers() -> None:
    columns = 600  # more than one piece of the triangle is mirrored
    matrix = sparse.random_array((2000, columns), density=0.3, rng=np.random.default_rng(0), format="csr")
    host_csr.gram(RowBlocks(matrix, workers=2))
    tracemalloc.start()
    host_csr.gram(RowBlocks(matrix, workers=8))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2 * 8 * columns**2


def test_stored_entries_are_counted_in_the_rows_that_count() -> None:
    matrix = sparse.csr_array(np.array([[1.0, 0, 2], [3, 0, 0], [4, 5, 6]]))
    np.testing.assert_array_equal(host_csr.stored_counts(matrix), [3, 1, 2])
    np.testing.assert_array_equal(host_csr.stored_counts(matrix, np.array([True, True, False])), [2, 0, 1])


@pytest.mark.parametrize("precision", ["float32", "float64"])
def test_small_products_reuse_the_columns(precision: str) -> None:
    matrix = rows_of("random").astype(precision)
    rows, right = RowBlocks(matrix, precision), np.random.default_rng(1).standard_normal((90, 5))
    dense = matrix.toarray().astype(np.float64)
    product = rows.normal(np.asfortranarray(right))
    by_columns = rows.memo["by_columns"]
    np.testing.assert_array_equal(rows.normal(right), product)
    assert rows.memo["by_columns"] is by_columns
    assert product.dtype == np.float64
    np.testing.assert_allclose(product, dense.T @ (dense @ right), rtol=1e-12 if precision == "float64" else 1e-4)
