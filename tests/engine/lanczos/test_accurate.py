"""Products of a basis with random columns: their own rounding is within its bound, far below that of BLAS."""

from __future__ import annotations

import numpy as np
import pytest

from eckart.engine.lanczos import accurate


def orthonormal(rng: np.random.Generator, rows: int, columns: int) -> np.ndarray:
    return np.linalg.qr(rng.standard_normal((rows, columns)))[0]


def in_long_double(*factors: np.ndarray) -> np.ndarray:
    found = factors[0].astype(np.longdouble)
    for factor in factors[1:]:
        found = np.dot(found, factor.astype(np.longdouble))
    return found


@pytest.mark.parametrize("rows", [90, 3000])
def test_the_loss_of_orthogonality_is_known_to_its_last_digits(rows: int) -> None:
    rng = np.random.default_rng(rows)
    frozen, basis = np.split(orthonormal(rng, rows, 50), [20], axis=1)
    basis = basis * (1.0 + 1e-13 * rng.standard_normal(30))  # an error far below the rounding of a product
    random = rng.standard_normal((50, 16))
    seen, rounding = accurate.loss((frozen, basis), random)
    both = np.concatenate([frozen, basis], axis=1)
    true = in_long_double(both.T, both, random) - random
    assert float(np.linalg.norm((seen - true).astype(float))) <= rounding
    assert rounding <= 1e-13 * float(np.linalg.norm(random))


@pytest.mark.parametrize("count", [5, 150])
def test_the_rounding_of_a_residue_is_within_its_bound(count: int) -> None:
    rng = np.random.default_rng(count)
    basis, rest = orthonormal(rng, 700, count), 1e-3 * rng.standard_normal((700, 4))
    expected, tail = rng.standard_normal((count, 16)) / np.arange(1, count + 1)[:, None], rng.standard_normal((4, 16))
    product = (in_long_double(basis, expected) + in_long_double(rest, tail)).astype(np.float64)
    residue = accurate.Residue(product, expected, 0.0, rest, float(np.linalg.norm(rest)), tail)
    gram, rounding = accurate.error_gram(basis, residue)
    true = product - in_long_double(basis, expected) - in_long_double(rest, tail)
    assert abs(float(np.sqrt(np.trace(gram))) - float(np.linalg.norm(true.astype(float)))) <= rounding
    assert rounding <= 1e-13 * float(np.linalg.norm(expected)) * count**0.5
