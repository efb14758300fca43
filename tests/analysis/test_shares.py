"""Standard errors of explained shares, against the jackknife."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse
from scipy.special import logit

import eckart as ek

DEVIATIONS = (4.0, 2.0, 1.0, 0.5, 0.4)


def table(rows: int, seed: int = 0) -> Any:
    random = np.random.default_rng([22, seed])
    basis = np.linalg.qr(random.normal(size=(5, 5)))[0]
    return (random.normal(size=(rows, 5)) * DEVIATIONS) @ basis.T + random.normal(0, 3, 5)


def shares(data: Any, method: str, scale: bool) -> Any:
    """The first two shares by NumPy."""
    if method == "pca":
        data = data - data.mean(axis=0)
    if scale:
        data = data / data.std(axis=0, ddof=1)
    squares = np.linalg.svd(data, compute_uv=False) ** 2
    return squares[:2] / squares.sum()


@pytest.mark.parametrize(("method", "scale"), [("pca", False), ("pca", True), ("svd", False)])
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_errors_of_the_data_are_those_of_the_jackknife(method: Any, scale: bool, kind: Any) -> None:
    """Both are equal to first order in 1 / n. Without the part of the total they differ by a factor of 2 and more."""
    data = table(400)
    left_out = logit([shares(np.delete(data, i, axis=0), method, scale) for i in range(len(data))])
    jackknife = (399 / 400 * np.square(left_out - left_out.mean(axis=0)).sum(axis=0)) ** 0.5
    given = kind(data)
    found = ek.bootstrap(given, method, k=2, count=2, **({"scale": True} if scale else {}))
    np.testing.assert_array_equal(given.toarray() if sparse.issparse(given) else given, data)
    np.testing.assert_allclose(found.share_errors[0], jackknife, rtol=0.05)


def test_errors_of_a_resample_are_those_of_its_rows() -> None:
    data = table(60, 1)
    found = ek.bootstrap(data, k=2, count=3, rng=5)
    random = np.random.Generator(np.random.Philox(5))
    for error in found.share_errors[1:]:
        rows = np.repeat(data, random.multinomial(60, np.full(60, 1 / 60)), axis=0)
        expected = ek.bootstrap(rows, k=2, count=2).share_errors[0]
        np.testing.assert_allclose(error, expected, rtol=0.02)  # along the axes of the data


@pytest.mark.parametrize("factor", [1e-250, 1e200])
def test_errors_do_not_depend_on_the_unit(factor: float) -> None:
    given, changed = (ek.bootstrap(rows, k=2, count=5) for rows in (table(30), factor * table(30)))
    np.testing.assert_allclose(changed.share_errors, given.share_errors, rtol=1e-6)


def test_intervals_contain_those_of_the_bootstrap_t() -> None:
    """The ends by their definition, for rows with heavy tails."""
    random = np.random.default_rng(3)
    found = ek.bootstrap(random.standard_t(5, (50, 5)) * DEVIATIONS, k=2, count=100)
    spread = logit(found.aligned_variance_ratio)
    ratios = (spread - spread.mean(axis=0)) / found.share_errors[1:]
    low, high = np.quantile(ratios, [0.025, 0.975], axis=0) * found.share_errors[0]
    centres = logit(found.corrected_variance_ratio)
    lower, upper = logit(np.array([row[2:4] for row in found.components().rows], dtype=float)).T
    assert (lower <= centres.min(axis=0) - high + 1e-9).all()
    assert (upper >= centres.max(axis=0) - low - 1e-9).all()
    assert np.isclose(upper, centres.max(axis=0) - low).any()
