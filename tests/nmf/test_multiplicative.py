"""Rows for given parts by multiplicative updates: at the minimum, not only where updates have become slow."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import minimize

import eckart as ek


def _data(seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    low = rng.gamma(1, 1, (40, 3)) @ rng.gamma(1, 1, (3, 12))
    return low * rng.gamma(20, 1 / 20, low.shape) + 0.01


def _itakura_saito(row: np.ndarray, parts: np.ndarray, w: np.ndarray) -> tuple[float, np.ndarray]:
    model = w @ parts
    return float(np.sum(row / model - np.log(row / model) - 1.0)), parts @ (1.0 / model - row / model**2)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_itakura_saito_coordinates_are_those_of_a_general_solver(seed: int) -> None:
    data = _data(seed)
    model = ek.NMF(3, beta_loss="itakura-saito", solver="mu", max_iter=500).fit(data)
    found, parts = model.transform(data), model.components_
    best = np.array(
        [
            minimize(
                lambda w, row=row: _itakura_saito(row, parts, w), start + 1e-6, jac=True, method="L-BFGS-B",
                bounds=[(1e-12, None)] * 3, options={"ftol": 1e-15, "gtol": 1e-12, "maxiter": 2000},
            ).x
            for row, start in zip(data, found, strict=True)
        ]
    )  # fmt: skip
    np.testing.assert_allclose(found, best, atol=3e-4 * best.max())


@pytest.mark.parametrize("beta_loss", ["itakura-saito", 0.5, 1.5, 3.0])
def test_scikit_learns_transform_agrees(beta_loss: str | float) -> None:
    data = _data(1)
    model = ek.NMF(3, beta_loss=beta_loss, solver="mu", max_iter=1000).fit(data)
    found = model.transform(data)
    np.testing.assert_allclose(model.to_sklearn().transform(data), found, atol=3e-4 * found.max())


@pytest.mark.parametrize("shape", [(40, 12), (900, 300)])
@pytest.mark.parametrize("penalties", [{}, {"alpha_W": 0.01, "l1_ratio": 0.4}])
def test_kullback_leibler_updates_of_dense_and_sparse_tables_agree(
    shape: tuple[int, int], penalties: dict[str, float]
) -> None:
    """Dense tables use matrix products (here of one tile and of several), sparse tables a loop over stored entries."""
    rng = np.random.default_rng(3)
    data = rng.poisson(rng.gamma(1, 1, (shape[0], 3)) @ rng.gamma(1, 1, (3, shape[1]))).astype(np.float64)
    data[4] = data[:, 5] = 0.0
    fits = [
        ek.NMF(3, beta_loss="kullback-leibler", solver="mu", init="nndsvda", max_iter=30, tol=0, **penalties)
        for _ in range(2)
    ]
    dense, stored = fits[0].fit_transform(data), fits[1].fit_transform(sparse.csr_array(data))
    np.testing.assert_allclose(dense, stored, rtol=1e-7, atol=1e-10 * dense.max())
    np.testing.assert_allclose(fits[0].components_, fits[1].components_, rtol=1e-7, atol=1e-10)
    np.testing.assert_allclose(fits[0].loss_history_, fits[1].loss_history_, rtol=1e-10)
    assert np.all(np.diff(fits[0].loss_history_) <= 0.0)


@pytest.mark.parametrize("shape", [(40, 12), (30, 30)])
def test_divergence_follows_the_textbook_updates(shape: tuple[int, int]) -> None:
    rng = np.random.default_rng(4)
    data = rng.gamma(1.0, 1.0, shape)
    W, H = rng.random((shape[0], 3)) + 0.1, rng.random((3, shape[1])) + 0.1
    model = ek.NMF(3, beta_loss="kullback-leibler", solver="mu", init="custom", max_iter=7, tol=0.0)
    found = model.fit_transform(data, W=W.copy(), H=H.copy())
    for _ in range(7):
        W = W * ((data / (W @ H)) @ H.T) / H.sum(axis=1)
        H = H * (W.T @ (data / (W @ H))) / W.sum(axis=0)[:, None]
    np.testing.assert_allclose(found, W, rtol=1e-10)
    np.testing.assert_allclose(model.components_, H, rtol=1e-10)
