"""Some eigenpairs of a symmetric matrix, against spectra that are known in closed form and against all pairs."""

import numpy as np
import pytest

from eckart.engine.backends.symmetric import SymmetricMatrix, by_all, leading_pairs, spectrum_and_pairs

UNIT = 2.0**-53


def with_spectrum(values, seed=11):
    size = len(values)
    basis = np.linalg.qr(np.random.default_rng(seed).standard_normal((size, size)))[0]
    matrix = (basis * values) @ basis.T
    return (matrix + matrix.T) / 2.0


def wilkinson(size):
    """W+: pairs of eigenvalues that agree to more digits than float64 has."""
    middle = (size - 1) / 2
    off = np.ones(size - 1)
    return np.diag(np.abs(np.arange(size) - middle)) + np.diag(off, 1) + np.diag(off, -1)


def laplacian(size):
    """2 - 2 cos(pi j / (n + 1)), j = 1, ..., n."""
    return 2.0 * np.eye(size) - np.eye(size, k=1) - np.eye(size, k=-1)


def nearly_equal(size, seed):
    """A diagonal matrix in which a few values exceed all others by 1e-13 to 1e-8: LAPACK splits it completely."""
    rng = np.random.default_rng(seed)
    values = np.ones(size)
    values[:5] += 10.0 ** rng.uniform(-13.0, -8.0, 5)
    return np.diag(rng.permutation(values))


MATRICES = {
    "decaying": with_spectrum(np.arange(1.0, 131.0) ** -1.5),
    "steep": with_spectrum(0.6 ** np.arange(100.0)),
    "three clusters": with_spectrum(np.repeat([3.0, 2.0, 1.0], [5, 40, 75])),
    "rank four": with_spectrum(np.append([4.0, 3.0, 2.0, 1.0], np.zeros(96))),
    "identity": np.eye(90),
    "wilkinson": wilkinson(121),
    "laplacian": laplacian(150),
    "split": nearly_equal(104, 3),
    "split and coupled": nearly_equal(180, 4) - 1.0 / 180,
    "split below": 2.0 * np.eye(150) - nearly_equal(150, 5),
    "zero": np.zeros((70, 70)),
    "both signs": with_spectrum(np.linspace(-1.0, 1.0, 110)),
}


@pytest.mark.parametrize("smallest", [False, True])
@pytest.mark.parametrize("share", [20, 6])
@pytest.mark.parametrize("name", MATRICES)
def test_some_pairs_are_those_of_all(name, share, smallest):
    matrix = MATRICES[name]
    size, count = len(matrix), len(matrix) // share
    assert not by_all(size, count)
    values, vectors = SymmetricMatrix(matrix).leading(count, smallest=smallest)
    every = np.linalg.eigvalsh(matrix)
    allowed = 64.0 * UNIT * size**0.5 * max(np.abs(every).max(), 1e-300)
    np.testing.assert_allclose(values, every[:count] if smallest else every[::-1][:count], rtol=0, atol=allowed)
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(count), rtol=0, atol=64 * UNIT * size)
    assert np.linalg.norm(matrix @ vectors - vectors * values, axis=0).max() <= allowed


def test_the_laplacian_has_its_known_spectrum():
    values, vectors = leading_pairs(laplacian(150), 6)
    index = np.arange(150, 144, -1)
    np.testing.assert_allclose(values, 2.0 - 2.0 * np.cos(np.pi * index / 151), rtol=1e-14)
    waves = np.sin(np.pi * np.outer(np.arange(1, 151), index) / 151) * np.sqrt(2.0 / 151)
    np.testing.assert_allclose(np.abs(np.sum(waves * vectors, axis=0)), 1.0, rtol=1e-12)


def test_the_matrix_is_left_as_it_was():
    matrix = MATRICES["decaying"].copy()
    leading_pairs(matrix, 5)
    np.testing.assert_array_equal(matrix, MATRICES["decaying"])


@pytest.mark.parametrize("name", MATRICES)
@pytest.mark.parametrize("count", [3, 60])
def test_spectrum_and_pairs_from_one_reduction(name, count):
    matrix = MATRICES[name]
    spectrum, values, vectors = spectrum_and_pairs(matrix, count)
    every = np.linalg.eigvalsh(matrix)[::-1]
    allowed = 64.0 * UNIT * len(matrix) ** 0.5 * max(np.abs(every).max(), 1e-300)
    np.testing.assert_allclose(spectrum, every, rtol=0, atol=allowed)
    np.testing.assert_allclose(values, every[:count], rtol=0, atol=allowed)
    assert np.linalg.norm(matrix @ vectors - vectors * values, axis=0).max() <= allowed
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(count), rtol=0, atol=64 * UNIT * len(matrix))
