"""Products in float32 of data that one row or one column rules: their rounding does not cancel, and the bounds know."""

from __future__ import annotations

import warnings
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp

import eckart as ek
from eckart.engine.certificate import coupling_factor
from eckart.engine.lanczos import outcome
from eckart.engine.lanczos.finish import Errors, Known, Statement, measure, with_rounding
from eckart.engine.standardize.tall import Tall


def ruled(seed: int, rule: str) -> tuple[np.ndarray, int]:
    rng = np.random.default_rng(seed)
    rows, columns = int(rng.integers(400, 3000)), int(rng.integers(150, 500))
    data = rng.standard_normal((rows, columns)) * np.geomspace(1, 0.05, columns)
    if rule in ("column", "both"):
        data[:, 0] *= 30.0
    if rule in ("row", "both"):
        data[3] *= 60.0
    return data.astype(np.float32), int(rng.integers(1, 8))


def held(form: str, data: np.ndarray) -> tuple[object, np.ndarray]:
    if form == "sparse":
        data = data * (np.random.default_rng(0).random(data.shape) < 0.2)
        return sp.csr_array(data), data
    if form == "wide":
        data = np.ascontiguousarray(data.T)
    if form == "torch":
        return pytest.importorskip("torch").from_numpy(data), data
    return data, data


@pytest.mark.parametrize("rule", ["row", "column", "both", "nobody"])
@pytest.mark.parametrize(
    ("form", "seed"),
    [(form, seed) for form in ("dense", "wide", "sparse") for seed in range(4)] + [("torch", 1), ("torch", 4)],
)
@pytest.mark.parametrize("method", ["svd", "pca"])
def test_bounds_hold(seed: int, rule: str, form: str, method: str) -> None:
    data, k = ruled(seed, rule)
    given, data = held(form, data)
    exact = data.astype(np.float64)
    truth = np.linalg.svd(exact - exact.mean(axis=0) if method == "pca" else exact, compute_uv=False)
    found = ek.decompose(given, method, k=k, solver="lanczos", rng=seed)
    bounds = found.certificate
    assert np.all(bounds.lower <= truth[:k] * (1 + 1e-13))
    assert np.all(bounds.upper >= truth[:k] * (1 - 1e-13))
    low, high = bounds.explained
    assert low - 1e-13 <= np.sum(truth[:k] ** 2) / np.sum(truth**2) <= high + 1e-13


def test_float32_products_are_verified_by_one_pass() -> None:
    rng = np.random.default_rng(1)
    data = rng.standard_normal((4000, 300)) * np.geomspace(1, 0.05, 300)
    even = (data @ np.linalg.qr(rng.standard_normal((300, 300)))[0]).astype(np.float32)
    ruling = even.copy()
    ruling[7] *= 200.0
    passes = [ek.decompose(x, "svd", k=5, solver="lanczos", rng=0, tol=2e-6) for x in (even, ruling)]
    assert passes[0].info.passes == passes[0].info.steps + 1
    for more, d in enumerate(passes):
        truth = np.linalg.svd((even, ruling)[more].astype(np.float64), compute_uv=False)[:5]
        np.testing.assert_allclose(d.values, truth, rtol=3e-7)


@pytest.mark.parametrize("noise", [0.0, 1e-6, 1e-2])
@pytest.mark.parametrize("k", [6, 8, 12])
@pytest.mark.parametrize("sparse_rows", [False, True])
def test_more_axes_than_there_are(k: int, noise: float, sparse_rows: bool) -> None:
    """Six axes and what rounding makes of nothing: no read would tell more, and none is spent on it."""
    rng = np.random.default_rng(k)
    data = rng.standard_normal((900, 6)) @ rng.standard_normal((6, 500)) + noise * rng.standard_normal((900, 500))
    data = (data * (rng.random((900, 1)) < 0.4)).astype(np.float32)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        d = ek.decompose(sp.csr_array(data) if sparse_rows else data, "svd", k=k, solver="lanczos", rng=0)
    truth = np.linalg.svd(data.astype(float), compute_uv=False)
    # The steps that reach six axes and one more in float32, a pass that verifies them, and where values are zero the
    # same steps in float64. Few stored entries are multiplied with one vector at a time.
    steps = -(-6 // d.info.block) + 1
    assert d.info.passes <= (2 * steps + 1 if noise < 1e-3 or k == 6 else 45 if d.info.block > 1 else 90)
    np.testing.assert_allclose(d.values[:6], truth[:6], rtol=1e-6)
    assert np.all(d.certificate.lower <= truth[:k] * (1 + 1e-9))
    assert np.all(d.certificate.upper >= truth[:k] * (1 - 1e-9))
    low, high = d.certificate.explained
    assert low <= np.sum(truth[:k] ** 2) / np.sum(truth**2) * (1 + 1e-15)
    assert high >= min(np.sum(truth[:k] ** 2) / np.sum(truth**2), 1.0) * (1 - 1e-15)


def bordered(rng: np.random.Generator, gap: float, residual: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """T, R and S of a symmetric G in the basis (M, complement of M)."""
    size, rest = 12, 30
    turn = np.linalg.qr(rng.standard_normal((size, size)))[0]
    projected = turn @ np.diag(np.geomspace(1.0, 0.2, size)) @ turn.T
    coupling = residual * rng.standard_normal((rest, size)) / rest**0.5
    complement = rng.standard_normal((rest, rest))
    complement = complement + complement.T
    return projected, coupling, complement * (gap / np.linalg.eigvalsh(complement)[-1])


@pytest.mark.parametrize("gap", [0.02, 0.19, 0.6, 1.2])
@pytest.mark.parametrize("residual", [0.0, 1e-6, 1e-3, 0.1])
@pytest.mark.parametrize("size", [1e-9, 1e-4, 3e-2])
def test_bounds_hold_for_every_direction_of_rounding(gap: float, residual: float, size: float) -> None:
    rng = np.random.default_rng(int(1e6 * gap) + int(1e9 * residual) + int(1e10 * size))
    for attempt in range(10):
        projected, coupling, complement = bordered(rng, gap, residual)
        true = np.linalg.eigvalsh(np.block([[projected, coupling.T], [coupling, complement]]))[::-1]
        # The worst errors lie along leading eigenvectors; others are drawn at random.
        if attempt % 2:
            lead = np.linalg.eigh(projected)[1][:, -1]
            within = -size * np.outer(lead, lead)
            across = -size * np.outer(np.linalg.eigh(complement)[1][:, -1], lead)
        else:
            within = rng.standard_normal(projected.shape)
            within = within + within.T
            within *= 0.3 * size / np.linalg.norm(within, 2)
            across = rng.standard_normal(coupling.shape)
            across *= size / np.linalg.norm(across, 2)
        computed, rest = projected + within, coupling + across
        values, vectors = (part[..., ::-1] for part in np.linalg.eigh(computed))
        coupled = coupling_factor(rest.T @ rest) @ vectors
        errors = Errors(
            main=float(np.linalg.norm(np.vstack([within, across]), 2)),
            projected=float(np.linalg.norm(within, 2)),
            main_loss=0.0,
            product=0.0,
        )
        statement = Statement(len(values), float(np.linalg.eigvalsh(complement)[-1]))
        upper = with_rounding(Known(values, coupled, [statement]), statement, errors, 8)
        assert np.all(upper >= true[:8] - 1e-13)
        assert np.all(values[:8] - errors.below(1.0) <= true[:8] + 1e-13)


def test_errors_across_count_by_their_squares() -> None:
    projected, coupling, complement = bordered(np.random.default_rng(3), 0.1, 1e-5)
    values, vectors = (part[..., ::-1] for part in np.linalg.eigh(projected))
    coupled = coupling_factor(coupling.T @ coupling) @ vectors
    statement = Statement(len(values), float(np.linalg.eigvalsh(complement)[-1]))
    errors = Errors(main=1e-5, projected=1e-7, main_loss=0.0, product=0.0)
    upper = with_rounding(Known(values, coupled, [statement]), statement, errors, 5)
    assert np.all(upper - values[:5] <= 1e-7 + 1e-8)


def test_bounds_of_the_whole_basis_need_no_eigenvectors_of_it() -> None:
    """T and R_c give the same bounds as all Ritz values and R_c X."""
    projected, coupling, complement = bordered(np.random.default_rng(5), 0.3, 1e-3)
    values, vectors = (part[..., ::-1] for part in np.linalg.eigh(projected))
    factor = coupling_factor(coupling.T @ coupling)
    statement = Statement(len(values), float(np.linalg.eigvalsh(complement)[-1]))
    errors = Errors(main=1e-6, projected=1e-8, main_loss=0.0, product=0.0)
    every = Known(values, factor @ vectors, [statement])
    basis = SimpleNamespace(count=len(values), projected=projected, coupling=factor)
    leading = Known(values[:5], factor @ vectors[:, :5], [statement], basis)
    wanted = with_rounding(every, statement, errors, 5)
    np.testing.assert_allclose(with_rounding(leading, statement, errors, 5), wanted, rtol=1e-13)


def test_rounding_is_measured_with_as_few_columns_as_the_tolerance_allows(monkeypatch: pytest.MonkeyPatch) -> None:
    widths, refined = [], []

    def spied(*arguments: object, **options: object) -> tuple[Errors, object]:
        found = measure(*arguments, **options)
        widths.append(arguments[5])
        refined.append(found[1] is not None)
        return found

    monkeypatch.setattr(outcome, "measure", spied)
    rng = np.random.default_rng(9)
    data = (rng.standard_normal((1500, 800)) * 0.95 ** np.arange(800)).astype(np.float32)
    truth = np.linalg.svd(data.astype(np.float64), compute_uv=False)
    for tolerance in (1e-3, 1e-5, 5e-6, 1e-8):
        bounds = ek.decompose(data, "svd", k=5, solver="lanczos", tol=tolerance).certificate
        assert bounds.proved
        assert np.all(bounds.lower <= truth[:5] * (1 + 1e-13))
        assert np.all(bounds.upper >= truth[:5] * (1 - 1e-13))
    assert widths[0] == 8
    assert max(widths) > 8
    assert (refined[0], refined[-1]) == (False, True)


def test_few_random_columns_verify_a_run_that_the_trace_proves(monkeypatch):
    """What the trace leaves for the complement does not depend on the columns: eight of them suffice."""
    widths = []
    exact = Tall.exact_product
    monkeypatch.setattr(Tall, "exact_product", lambda self, Q: widths.append(Q.shape[1]) or exact(self, Q))
    rng = np.random.default_rng(5)
    left, right = (np.linalg.qr(rng.standard_normal((size, 600)))[0] for size in (1500, 600))
    X = (left * np.where(np.arange(600) < 10, 10.0, 0.05)) @ right.T
    X = X.astype(np.float32)
    d = ek.decompose(X, "svd", k=10, solver="lanczos")
    assert d.certificate.proved
    assert widths == [8]
    values = np.linalg.svd(X.astype(np.float64), compute_uv=False)[:10]
    assert np.all(d.certificate.lower <= values * (1 + 1e-12))
    assert np.all(values * (1 - 1e-12) <= d.certificate.upper)
