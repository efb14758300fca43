"""Gram-Schmidt, bounds, new rows, correlations, missing entries and Isomap against NumPy and scikit-learn."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import sympy as sp
from sklearn.decomposition import PCA
from sklearn.manifold import Isomap

from eckart import worked
from eckart.errors import InputError, ParameterError

SEEDS = pytest.mark.parametrize("seed", [3, 14])
Array = np.ndarray[Any, np.dtype[np.float64]]


def numbers(matrix: Any) -> Array:
    return np.array(matrix.tolist(), dtype=float)


def table(seed: int, rows: int, columns: int) -> Array:
    return np.random.default_rng(seed).integers(-5, 9, (rows, columns)).astype(float)


def same_up_to_sign(a: Array, b: Array) -> bool:
    return all(min(np.abs(x - y).max(), np.abs(x + y).max()) < 1e-9 for x, y in zip(a.T, b.T, strict=True))


@SEEDS
def test_gram_schmidt(seed: int) -> None:
    a = table(seed, 4, 3)
    found = worked.gram_schmidt(a.astype(int).tolist())
    q, r = np.linalg.qr(a)
    sign = np.sign(np.diag(r))
    assert np.allclose(numbers(found["Q"]), q * sign)
    assert np.allclose(numbers(found["R"]), (r.T * sign).T)
    dependent = worked.gram_schmidt("1 2 0; 2 4 1")
    assert dependent["rank"] == 2
    assert dependent["Q"] * dependent["R"] == sp.Matrix([[1, 2, 0], [2, 4, 1]])


@SEEDS
def test_bounds(seed: int) -> None:
    a = table(seed, 4, 3)
    found = worked.bounds(a.astype(int).tolist(), 1)
    u, s, vt = np.linalg.svd(a)
    assert np.allclose(numbers(found["approximation"]), s[0] * np.outer(u[:, 0], vt[0]))
    assert float(found["error_squared"]) == pytest.approx((s[1:] ** 2).sum())
    assert float(found["spectral_error"]) == pytest.approx(s[1])
    assert found["other_error_squared"] >= found["error_squared"]
    given = worked.bounds("2 1; 1 2", 1, other="1 1; 1 1")
    assert given["other_error_squared"] == 2


@SEEDS
def test_project(seed: int) -> None:
    old, new = table(seed, 6, 3), table(seed + 1, 2, 3)
    found = worked.project(old.astype(int).tolist(), new.astype(int).tolist(), 2)
    model = PCA(2).fit(old)
    assert same_up_to_sign(numbers(found["scores"]), model.transform(new))
    back = model.inverse_transform(model.transform(new))
    assert np.allclose(numbers(found["reconstruction"]), back)
    assert np.allclose(numbers(found["distances"])[:, 0], ((new - back) ** 2).sum(axis=1))


@SEEDS
def test_correlation(seed: int) -> None:
    x = table(seed, 6, 2)
    found = worked.correlation(x.astype(int).tolist())
    assert np.allclose(numbers(found["correlation"]), np.corrcoef(x.T))
    assert np.allclose(numbers(found["covariance"]), np.cov(x.T))
    assert np.allclose(numbers(found["shares"])[:, 0], PCA().fit(x).explained_variance_ratio_)


@SEEDS
def test_missing(seed: int) -> None:
    x = table(seed, 6, 2)
    x[2, 1] = np.nan
    found = worked.missing(x, iterations=60)
    history = [float(value) for value in found["objective"]]
    assert all(b <= a + 1e-12 for a, b in pairwise(history))
    filled = np.where(np.isnan(x), np.nanmean(x, axis=0), x)
    for _ in range(60):
        model = PCA(1).fit(filled)
        filled[2, 1] = model.inverse_transform(model.transform(filled))[2, 1]
    assert float(found["values"][0]) == pytest.approx(filled[2, 1])


def test_isomap() -> None:
    x = np.array([[0, 4], [0, 2], [0, 0], [1, 0], [3, 0], [3, 3]], dtype=float)
    found = worked.isomap(x.astype(int).tolist(), 2, neighbors=2)
    theirs = Isomap(n_neighbors=2, n_components=2).fit(x)
    assert np.allclose(numbers(found["paths"]), theirs.dist_matrix_)
    assert same_up_to_sign(numbers(found["coordinates"]), theirs.embedding_)


@pytest.mark.parametrize(("call", "words"), [
    (lambda: worked.bounds("1 2; 2 4"), "rank of the matrix is less than 2"),
    (lambda: worked.bounds("2 1; 1 2", other="1 0; 0 1"), "rank at most 1"),
    (lambda: worked.project("1 2; 2 1; 3 4", "1 2 3"), "new row has 3 entries"),
    (lambda: worked.missing("1 2; 3 4"), "No entry is missing"),
    (lambda: worked.missing("1 ?; 3 ?"), "Column 2 has no known entry"),
    (lambda: worked.missing("1 2; ? ?; 3 4"), "Row 2 has no known entry"),
    (lambda: worked.isomap("0 0; 0 1; 5 5; 5 6", neighbors=1), "is not connected"),
    (lambda: worked.isomap("0 0; 0 1"), "at least three points"),
    (lambda: worked.isomap("1 1; 1 1; 1 1"), "coincide"),
])  # fmt: skip
def test_refusals(call: Any, words: str) -> None:
    with pytest.raises(InputError, match=words):
        call()


def test_sizes_are_checked() -> None:
    with pytest.raises(ParameterError, match="neighbors=9"):
        worked.isomap("0 0; 0 1; 1 1", neighbors=9)
    with pytest.raises(ParameterError, match="iterations=0"):
        worked.missing("1 2; 2 ?; 3 6", iterations=0)


def test_a_draw_by_hand() -> None:
    found = worked.cur("1 2 0; 2 3 1; 0 1 4", seed=5)
    totals = np.cumsum(numbers(found["q"])[:, 0])
    drawn = [int(np.searchsorted(totals, float(u))) + 1 for u in found["column_numbers"]]
    assert drawn == [int(j) for j in found["columns"]]
    assert "cumulative probability" in found.text()
    assert "leverage" in found.text()


def test_each_step_uses_what_is_known_by_then() -> None:
    """Column 1 is multiplied with no later vector, and vectors keep the numbers of their columns."""
    text = worked.gram_schmidt("1 2 0 1; 1 2 1 0; 0 0 1 1").at("full").text()
    first, last = text[text.index("2.1.") : text.index("3. ")], text[text.index("5.1.") : text.index("6. ")]
    assert "·" not in first
    assert "w_3 · a_4" in last
    assert "w_2" not in last


def test_parameters_of_a_kernel_and_exact_objectives_are_shown() -> None:
    assert "γ = 1\n" in worked.kernel_pca("1 0; 0 1; 2 1", kernel="rbf").text()
    assert "D = 211\n" in worked.nmf("1 2 0; 0 1 1; 2 4 0").text()
