"""Notes of PCA and SVD on square matrices whose rows are not observations."""

import numpy as np
import pandas as pd
import pytest

import eckart as ek
from eckart.notes import code_of

POINTS = np.random.default_rng(4).normal(size=(9, 2))
DISTANCES = np.linalg.norm(POINTS[:, None] - POINTS[None], axis=2)
CORRELATIONS = np.corrcoef(np.random.default_rng(5).normal(size=(30, 9)).T)
COVARIANCES = np.cov(np.random.default_rng(5).normal(size=(30, 9)).T)
KINDS = ("distances", "correlations", "symmetric")


def of_pairs(d: ek.Decomposition) -> list[str]:
    return [note for note in d.notes if code_of(note) in KINDS]


@pytest.mark.parametrize(
    ("matrix", "kind", "said"),
    [
        (DISTANCES, "distances", "use eckart.report without method=."),
        (CORRELATIONS, "correlations", "Its rows are not observations"),
        (COVARIANCES, "symmetric", "like a matrix of covariances"),
    ],
)
@pytest.mark.parametrize("form", [np.asarray, np.float32, pd.DataFrame, np.ndarray.tolist])
def test_decompose_names_matrices_of_pairs(matrix, kind, said, form):
    [note] = of_pairs(ek.decompose(form((matrix + matrix.T) / 2), k=2))
    assert code_of(note) == kind
    assert said in note


def test_the_solver_and_the_options_do_not_matter():
    for options in ({}, {"solver": "direct"}, {"scale": True}, {"left": True}, {"sample_weight": np.arange(1.0, 10)}):
        assert len(of_pairs(ek.decompose(DISTANCES, "pca", k=2, **options))) == 1


def test_an_svd_has_a_note_on_eigenvalues_but_not_for_distances():
    [note] = of_pairs(ek.decompose(COVARIANCES, "svd", k=2))
    assert "absolute values of its eigenvalues" in note
    assert not of_pairs(ek.decompose(DISTANCES, "svd", k=2))


@pytest.mark.parametrize("place", [(8, 3), (0, 5)])
def test_other_square_tables_have_no_note(place):
    matrix = DISTANCES.copy()
    matrix[place] += 0.01
    assert not of_pairs(ek.decompose(matrix, k=2))
    assert not of_pairs(ek.decompose(DISTANCES[:8], k=2))


@pytest.mark.parametrize("method", ["pca", None])
def test_a_report_has_the_note_once(method):
    assert len(of_pairs(ek.analyze(DISTANCES, method=method).decomposition)) == 1
