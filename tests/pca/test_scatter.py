"""Certificates of statistics that were merged batch by batch, compared with the centred rows in extended precision."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

import eckart as ek
from eckart.errors import NotFiniteError
from eckart.pca import scatter

OUTSIDE = 5e-14
"""Accuracy of the reference, relative to the largest singular value."""


def truth(rows: np.ndarray, weights: np.ndarray | None = None) -> np.ndarray:
    rows = rows.astype(np.float64)
    exact = (rows - rows[0]).astype(np.longdouble)  # without rounding, where the offset is far larger than the spread
    counts = np.ones(len(rows), np.longdouble) if weights is None else weights.astype(np.longdouble)
    centred = exact - (counts[:, None] * exact).sum(axis=0) / counts.sum()
    return np.linalg.svd((np.sqrt(counts)[:, None] * centred).astype(np.float64), compute_uv=False)


def fitted(batches: list[np.ndarray], k: int, weights: list[np.ndarray] | None = None) -> ek.IncrementalPCA:
    pca = ek.IncrementalPCA(k)
    for i, batch in enumerate(batches):
        pca.partial_fit(batch, sample_weight=None if weights is None else weights[i])
    return pca


@pytest.mark.parametrize("offset", [0.0, 1e5, 1e9, 1e14])
@pytest.mark.parametrize("shape", [(60, 10), (30, 45), (300, 6)])
@pytest.mark.parametrize("kind", ["f8", "f4", "weights", "csr", "merge"])
@pytest.mark.filterwarnings("ignore:Sparse")
def test_bounds_hold_after_merges(kind: str, shape: tuple[int, int], offset: float) -> None:
    if kind == "f4" and offset > 1e5:
        pytest.skip("float32 keeps nothing of the spread")
    for seed in range(3):
        rng = np.random.default_rng([seed, *shape, int(np.log10(offset + 1.0))])
        scales = np.geomspace(1.0, 1e-3, shape[1])
        rows = (rng.standard_normal(shape) * scales + offset).astype("f4" if kind == "f4" else "f8")
        weights = rng.random(shape[0]) * 3.0 if kind == "weights" else None
        cuts = np.sort(rng.choice(np.arange(6, shape[0]), 2, replace=False))
        parts = np.split(rows, cuts)
        if kind == "csr":
            parts = [sparse.csr_array(part) for part in parts]
        if kind == "merge":
            pca = (
                fitted(parts[:1], 3).merge(fitted([np.concatenate(parts[1:])], 3)) if len(rows) - cuts[0] > 3 else None
            )
        else:
            pca = fitted(parts, 3, None if weights is None else np.split(weights, cuts))
        if pca is None:
            continue
        values, c = truth(rows, weights), pca.certificate_
        assert c is not None
        slack = OUTSIDE * values[0]
        assert np.all(c.lower <= values[:3] + slack), (seed, (c.lower - values[:3]) / values[0])
        assert np.all(values[:3] - slack <= c.upper), (seed, (values[:3] - c.upper) / values[0])
        share = float(np.sum(values[:3] ** 2) / np.sum(values**2))
        assert c.explained[0] - 1e-12 <= share <= c.explained[1] + 1e-12
        assert c.proved
        assert np.max(c.upper - c.lower) <= 1e-9 * values[0]


def test_residuals_and_angle_count_the_dtype() -> None:
    rows = np.random.default_rng(0).standard_normal((60, 20)).astype("f4")
    d = ek.IncrementalPCA(5).fit(rows).decomposition_
    exact = rows.astype(np.longdouble)
    exact -= exact.mean(axis=0)
    right = np.asarray(d.right, np.longdouble)
    left = exact.T @ (exact @ right) - right * np.asarray(d.values, np.longdouble) ** 2
    lengths = np.sqrt(np.sum(left**2, axis=0)).astype(float) / truth(rows)[0] ** 2
    assert d.certificate is not None
    assert np.all(lengths <= d.certificate.residuals)
    vectors = np.linalg.svd(exact.astype(float))[2][:5].T
    angle = np.linalg.norm(right.astype(float) - vectors @ (vectors.T @ right.astype(float)), 2)
    assert angle <= d.certificate.angle


def test_values_beyond_the_range_are_refused() -> None:
    rows = np.random.default_rng(0).uniform(-1e306, 1e306, (30, 5))
    with pytest.raises(NotFiniteError, match="overflow"):
        _ = ek.IncrementalPCA(2).partial_fit(rows, sample_weight=np.full(30, 1e8)).certificate_


def test_a_batch_after_a_random_proof_keeps_its_failure_probability(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scatter, "EXACT_COLUMNS", 20)
    monkeypatch.setattr(scatter, "FACTOR_BYTES", 8 * 1000 * 50)
    rows = sparse.random_array((3000, 1000), density=0.01, rng=np.random.default_rng(0), format="csr")
    rows = sparse.csr_array(rows * np.arange(1.0, 1001.0) ** -1.0)
    pca = ek.IncrementalPCA(2).fit(rows)
    before = pca.certificate_
    assert before is not None
    assert before.failure_probability > 0.0
    with pytest.warns(ek.errors.AccuracyWarning):
        after = pca.partial_fit(rows[:40]).certificate_
    assert after is not None
    assert after.failure_probability >= before.failure_probability
