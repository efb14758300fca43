"""500 small integer matrices: answers against NumPy, identities exactly."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import sympy as sp

from eckart import worked
from eckart.worked.spectrum import LAMBDA, Spectrum, spectrum
from eckart.worked.svd import factors

KINDS = ("plain", "symmetric", "singular", "repeated", "zero rows")
EACH = 25
TOLERANCE = 1e-10


def made(kind: str, side: int, seed: int) -> sp.Matrix:
    rng = np.random.default_rng([KINDS.index(kind), side, seed])
    a = rng.integers(-6, 7, (side, side))
    if kind == "symmetric":
        a = a + a.T
    elif kind == "singular":
        a[-1] = a[:-1].sum(axis=0)
    elif kind == "zero rows":
        a[rng.integers(side)] = 0
    elif kind == "repeated":
        turn = np.eye(side, dtype=int) + np.triu(rng.integers(-2, 3, (side, side)), 1)
        values = np.diag(rng.integers(-3, 4, side))
        values[0, 0] = values[-1, -1]
        back = np.rint(np.linalg.inv(turn)).astype(int)
        a = turn @ values @ back
    return sp.Matrix(a.tolist())


def numbers(matrix: Any) -> np.ndarray:
    """As NumPy array."""
    return np.array(sp.N(matrix, 20).tolist(), dtype=complex)


def check_eigenvectors(a: sp.Matrix, found: Spectrum) -> None:
    """M x = λ x, exactly: as polynomials in λ modulo the factor that λ is a root of."""
    by_factor = {root.factor: root for root in found.roots}  # conjugate roots share one computation
    for root in by_factor.values():
        for axis in root.eigenpairs:
            x = [
                sp.Poly(entry.to_list() if hasattr(entry, "to_list") else [entry], LAMBDA, domain=sp.QQ)
                for entry in axis.entries
            ]
            for i in range(a.rows):
                rest = sum((x[j] * a[i, j] for j in range(a.cols)), sp.Poly(0, LAMBDA)) - x[i] * sp.Poly(LAMBDA, LAMBDA)
                assert sp.rem(rest, root.factor).is_zero
            lengths = np.linalg.norm(numbers(axis.unit))
            assert abs(lengths - 1) < TOLERANCE


def check_symmetric(a: sp.Matrix, found: Spectrum) -> None:
    """∑ v v^T = I and ∑ λ v v^T = A."""
    ones, back = sp.zeros(*a.shape), sp.zeros(*a.shape)
    for axis in found.eigenpairs:
        term = axis.outer(axis.entries, axis.entries)
        ones, back = ones + term, back + axis.value * term
    for got, wanted in ((ones, sp.eye(a.rows)), (back, a)):
        rest = (got - wanted).applyfunc(sp.expand)
        if found.exact:
            assert rest.is_zero_matrix
        else:
            assert max(abs(sp.N(entry, 15)) for entry in rest) < 1e-25


def check_eigenvalues(a: sp.Matrix, found: Spectrum) -> None:
    values = numbers(sp.Matrix(found.values)).ravel()
    array = np.array(a.tolist(), dtype=float)
    assert np.allclose(np.poly(values).real, np.poly(array), rtol=TOLERANCE, atol=1e-8)
    if a.is_symmetric():
        assert np.allclose(values.real, np.linalg.eigvalsh(array)[::-1], rtol=TOLERANCE, atol=TOLERANCE)
    elif all(root.multiplicity == 1 for root in found.roots):
        # A repeated root of a matrix that is not symmetric is known to NumPy to half its digits only.
        theirs = np.linalg.eigvals(array)
        condition = np.linalg.cond(np.linalg.eig(array)[1])
        for value in values:
            assert abs(theirs - value).min() < TOLERANCE * max(1.0, condition)


def check_svd(a: sp.Matrix) -> None:
    found = factors(a)
    array = np.array(a.tolist(), dtype=float)
    ours = numbers(sp.Matrix(found.values)).real.ravel() if found.eigenpairs else np.zeros(0)
    assert len(ours) == np.linalg.matrix_rank(array)
    assert np.allclose(ours, np.linalg.svd(array)[1][: len(ours)], rtol=TOLERANCE, atol=TOLERANCE)
    assert found.approximation(len(ours)) == a
    left, right = numbers(found.left), numbers(found.right)
    assert np.allclose(left * ours @ right.T, array, atol=TOLERANCE)
    assert np.allclose(left.T @ left, np.eye(len(ours)), atol=TOLERANCE)


@pytest.mark.parametrize("side", [2, 3, 4, 5])
@pytest.mark.parametrize("kind", KINDS)
def test_agrees_with_numpy_and_holds_exactly(kind: str, side: int) -> None:
    for seed in range(EACH):
        a = made(kind, side, seed)
        found = spectrum(a)
        check_eigenvalues(a, found)
        check_eigenvectors(a, found)
        if a.is_symmetric():
            check_symmetric(a, found)
        check_svd(a)
        value = worked.determinant(a)["determinant"]
        assert value == a.det()
        assert np.isclose(float(value), np.linalg.det(np.array(a.tolist(), dtype=float)), rtol=TOLERANCE, atol=1e-8)
        ranked = worked.rank(a)
        assert ranked["rank"] == a.rank()
        assert ranked["coordinates"] * ranked["basis"] == a


def test_there_are_five_hundred() -> None:
    assert len(KINDS) * 4 * EACH == 500
