"""Bounds of the complement of frozen vectors by Chebyshev polynomials of random columns."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import eckart as ek
from eckart.engine.lanczos.chebyshev import Wanted, chebyshev_bound
from eckart.engine.lanczos.terms import Matrix

SIZE, FROZEN = 300, 6


def problem(values: np.ndarray, seed: int, *, error: float = 0.0) -> tuple[Matrix, np.ndarray, float]:
    """(G with these values in a random basis, frozen vectors near the leading ones, lambda_1(P G P)).

    Products are wrong by `error` in the worst direction, the eigenvector of lambda_1(P G P).
    """
    rng = np.random.default_rng(seed)
    vectors = np.linalg.qr(rng.standard_normal((SIZE, SIZE)))[0]
    dense = (vectors * values) @ vectors.T
    frozen = np.linalg.qr(vectors[:, :FROZEN] + 1e-5 * rng.standard_normal((SIZE, FROZEN)))[0]
    outside = np.eye(SIZE) - frozen @ frozen.T
    found, worst = np.linalg.eigh(outside @ dense @ outside)
    top = worst[:, -1:]

    def apply(block: np.ndarray) -> np.ndarray:
        return dense @ block - error * top * np.sign(top.T @ block) * np.linalg.norm(block, axis=0)

    rounding = error + 1e-13 * float(values.sum())
    matrix = Matrix(SIZE, apply, np.empty(0), lambda: (float(np.trace(dense)), rounding))
    return matrix, frozen, float(found[-1])


def spectrum(rest: float = 1.0) -> np.ndarray:
    return np.r_[np.linspace(9.0, 3.0, FROZEN), np.linspace(rest, 0.0, SIZE - FROZEN) ** 2]


@pytest.mark.parametrize("expected", [0.3, 0.9, 1.1])
def test_the_bound_holds_whatever_was_expected(expected: float) -> None:
    for seed in range(15):
        matrix, frozen, truth = problem(spectrum(), seed)
        random = np.random.default_rng([seed, 1]).standard_normal((SIZE, 8))
        found, passes = chebyshev_bound(matrix, frozen, random, Wanted(1.2, expected, 60, 1e-9))
        assert found is not None
        assert truth <= found.bound <= 1.2
        assert passes <= 30


def test_the_lost_orthogonality_of_the_frozen_vectors_comes_with_the_bound() -> None:
    matrix, frozen, _ = problem(spectrum(), 0)
    frozen = frozen + 1e-12 * np.random.default_rng(1).standard_normal(frozen.shape)
    random = np.random.default_rng([0, 1]).standard_normal((SIZE, 8))
    found, _ = chebyshev_bound(matrix, frozen, random, Wanted(1.2, 0.9, 60, 1e-9))
    assert found is not None
    lost = float(np.linalg.norm(frozen.T @ frozen - np.eye(FROZEN), 2))
    assert lost <= found.loss <= 10.0 * lost


@pytest.mark.parametrize("value", [1.21, 1.5, 40.0])
def test_a_value_above_what_is_needed_is_never_excluded(value: float) -> None:
    """A direction that is not frozen, for example the second of two equal values."""
    values = spectrum()
    values[FROZEN] = value
    for seed in range(15):
        matrix, frozen, _ = problem(values, seed)
        random = np.random.default_rng([seed, 2]).standard_normal((SIZE, 8))
        found, passes = chebyshev_bound(matrix, frozen, random, Wanted(1.2, 0.9, 60, 1e-9))
        assert found is None
        assert passes <= 60


def test_a_false_bound_is_no_more_likely_than_stated() -> None:
    """The largest eigenvalue is just above the bound, so only columns nearly orthogonal to its vector can miss it."""
    values, probability, draws = spectrum(0.1), 0.2, 300
    values[FROZEN] = 1.0
    matrix, frozen, truth = problem(values, 3)
    rng = np.random.default_rng(4)
    wrong = sum(
        chebyshev_bound(
            matrix, frozen, rng.standard_normal((SIZE, 2)), Wanted((1.0 - 1e-9) * truth, 0.05, 40, probability)
        )[0]
        is not None
        for _ in range(draws)
    )
    assert 0 < wrong <= draws * probability + 3.0 * (draws * probability * (1.0 - probability)) ** 0.5


@pytest.mark.parametrize("error", [1e-9, 1e-6, 1e-3])
def test_errors_of_products_are_part_of_the_bound(error: float) -> None:
    for seed in range(10):
        matrix, frozen, truth = problem(spectrum(), seed, error=error)
        random = np.random.default_rng([seed, 3]).standard_normal((SIZE, 8))
        found, _ = chebyshev_bound(matrix, frozen, random, Wanted(1.0 + 0.2, 0.95, 60, 1e-9))
        assert found is None or truth <= found.bound
        assert (found is None) == (error == 1e-3)  # hidden by errors of this size


def test_errors_of_products_cannot_hide_a_value() -> None:
    """Products that are wrong by less than the value lower every Rayleigh quotient below what is needed."""
    values = spectrum(0.5)
    values[FROZEN] = 1.0
    for seed in range(10):
        matrix, frozen, _ = problem(values, seed, error=0.2)
        random = np.random.default_rng([seed, 4]).standard_normal((SIZE, 8))
        assert chebyshev_bound(matrix, frozen, random, Wanted(0.95, 0.3, 60, 1e-9))[0] is None


def test_a_small_sparse_table_with_a_flat_spectrum_is_proved_within_the_default_passes() -> None:
    table = sp.random_array((1500, 1000), density=0.01, rng=np.random.default_rng(5), format="csr")
    d = ek.decompose(table, "svd", k=12, solver="lanczos")
    truth = np.linalg.svd(table.toarray(), compute_uv=False)[:12]
    assert d.info.block == 1
    assert d.certificate.proved
    assert np.all(d.certificate.lower <= truth * (1 + 1e-14))
    assert np.all(truth * (1 - 1e-14) <= d.certificate.upper[:12])
