"""Small sparse data: Lanczos with single vectors, proved like any other run."""

import numpy as np
import pytest
import scipy.sparse as sp

import eckart as ek
from eckart.errors import AccuracyWarning


def words(rows: int, columns: int, seed: int) -> sp.csr_array:
    """Counts of terms whose frequencies fall like 1 / rank."""
    rng = np.random.default_rng(seed)
    rank = (columns ** rng.random((rows, 30))).astype(int) - 1
    table = sp.coo_array((np.ones(rank.size), (np.repeat(np.arange(rows), 30), rank.ravel())), (rows, columns))
    return table.tocsr()


def singular_values(table: sp.csr_array, *, center: bool) -> np.ndarray:
    dense = table.toarray().astype(float)
    return np.linalg.svd(dense - dense.mean(axis=0) if center else dense, compute_uv=False)


@pytest.mark.parametrize("shape", [(900, 500), (400, 1200)])
@pytest.mark.parametrize("method", ["svd", "pca"])
def test_values_are_proved_and_accurate(method: str, shape: tuple[int, int]) -> None:
    table = words(*shape, 3)
    d = ek.decompose(table, method, k=6, solver="lanczos")
    truth = singular_values(table, center=method == "pca")[:6]
    assert d.info.block == 1
    assert d.certificate.proved
    np.testing.assert_allclose(d.values, truth, rtol=1e-9)
    assert np.all(d.certificate.lower <= truth * (1 + 1e-14))
    assert np.all(d.certificate.upper[:6] >= truth * (1 - 1e-14))


@pytest.mark.parametrize("k", [1, 3, 4, 7])
def test_equal_values_are_found_although_one_vector_shows_each_only_once(k: int) -> None:
    """Four equal blocks: each singular value occurs four times, and a single start vector lies in one copy of each."""
    block = words(150, 90, 5)
    table = sp.csr_array(sp.block_diag([block] * 4))
    d = ek.decompose(table, "svd", k=k, solver="lanczos")
    truth = np.repeat(singular_values(block, center=False), 4)[:k]
    assert d.certificate.proved
    np.testing.assert_allclose(d.values, truth, rtol=1e-9)


def test_float32_data_are_multiplied_in_float64() -> None:
    table = words(900, 500, 7).astype(np.float32)
    d = ek.decompose(table, "pca", k=6, solver="lanczos")
    assert d.info.precision == "float64"
    assert d.values.dtype == d.right.dtype == np.float32
    np.testing.assert_allclose(d.values, singular_values(table, center=True)[:6], rtol=1e-6)


def test_a_matrix_of_low_rank_ends_the_vectors_early() -> None:
    """After three vectors nothing is left of the residual but rounding."""
    rng = np.random.default_rng(9)
    rank_three = sp.random_array((800, 3), density=0.2, rng=rng) @ sp.random_array((3, 600), density=0.2, rng=rng)
    table = sp.csr_array(rank_three)
    d = ek.decompose(table, "svd", k=5, solver="lanczos")
    truth = singular_values(table, center=False)
    np.testing.assert_allclose(d.values[:3], truth[:3], rtol=1e-9)
    assert np.all(d.values[3:] <= 1e-6 * truth[0])
    assert d.info.passes < 20


def test_blocks_are_used_where_passes_are_limited() -> None:
    table = words(900, 500, 11)
    with pytest.warns(AccuracyWarning):
        limited = ek.decompose(table, "svd", k=6, solver="lanczos", max_passes=4)
    assert limited.info.block > 1
    assert limited.info.passes <= 4


def test_the_plan_mentions_single_vectors() -> None:
    plan = ek.plan(words(900, 500, 13), "svd", k=6, solver="lanczos")
    assert "single vectors" in plan.why
    assert str(plan.passes) in plan.why
