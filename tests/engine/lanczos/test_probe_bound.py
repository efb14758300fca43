"""Bounds of the complement from random columns: how often they fail, and that both agree."""

from __future__ import annotations

import numpy as np
import pytest

from eckart.engine.lanczos.probe_bound import ProbeRun, length_quantile, monotone_bound, sharp_bound


def probe_run(squares: np.ndarray, frozen: int, width: int, passes: int, seed: int) -> ProbeRun:
    """Block Lanczos from probes on a diagonal matrix; F = e_1, ..., e_frozen."""
    rng = np.random.default_rng(seed)
    rest = squares[frozen:]
    block, coordinates = np.linalg.qr(rng.standard_normal((len(rest), width)))
    basis = block
    for index in range(passes):
        product = rest[:, None] * block
        for _ in range(2):
            product = product - basis @ (basis.T @ product)
        if index + 1 < passes:
            block = np.linalg.qr(product)[0]
            basis = np.hstack([basis, block])
    projected = basis.T @ (rest[:, None] * basis)
    far = np.abs(np.subtract.outer(np.arange(len(projected)) // width, np.arange(len(projected)) // width)) > 1
    projected[far] = 0.0
    return ProbeRun((projected + projected.T) / 2.0, product.T @ product, coordinates, 0.0)


@pytest.mark.parametrize("bound", [monotone_bound, sharp_bound])
@pytest.mark.parametrize("frozen", [0, 5])
@pytest.mark.parametrize(("width", "passes"), [(1, 4), (1, 10), (4, 5)])
def test_probes_fail_no_more_often_than_stated(bound, frozen: int, width: int, passes: int) -> None:
    squares = np.r_[np.full(frozen, 2.0), 1.0, np.linspace(0.9, 0.1, 149)]
    runs = [probe_run(squares, frozen, width, passes, seed) for seed in range(200)]
    bounds = np.array([bound(run, 0.05) for run in runs])
    # 200 trials at p = 0.05: more than 24 failures would have a probability below 1e-4.
    assert np.sum(bounds < 1.0) <= 24
    assert all(run.largest <= 1.0 + 1e-12 for run in runs)
    assert np.median(bounds) < np.sum(squares[frozen:]) / 10, "the bound says nothing"


def possible(run: ProbeRun, value: float, length: float) -> bool:
    """Whether ||K^-1/2 R (l - T)^-1 C|| >= c, by inverses and square roots as they are written."""
    size, newest = len(run.projected), len(run.residual_gram)
    inverse = np.linalg.inv(value * np.eye(size) - run.projected)
    values, vectors = np.linalg.eigh(run.residual_gram)
    coupling = np.sqrt(values.clip(0.0))[:, None] * vectors.T @ inverse[size - newest :]
    values, vectors = np.linalg.eigh(np.eye(newest) + coupling @ coupling.T)
    product = (vectors / np.sqrt(values)) @ vectors.T @ coupling[:, : len(run.coordinates)] @ run.coordinates
    return bool(np.linalg.norm(product, 2) >= length)


@pytest.mark.parametrize(("width", "passes"), [(1, 8), (4, 3), (4, 6), (8, 10)])
def test_the_sharp_bound_excludes_nothing_possible_and_ends_where_something_is(width: int, passes: int) -> None:
    length = length_quantile(1e-6, width)
    for seed in range(5):
        run = probe_run(np.linspace(1.0, 0.0, 400) ** (1 + seed), 0, width, passes, seed)
        high, low = monotone_bound(run, 1e-6), sharp_bound(run, 1e-6)
        assert run.largest < low <= high
        assert not any(possible(run, value, length) for value in np.linspace(low, high, 60)[1:])
        assert possible(run, low - 0.01 * (low - run.largest), length)


def test_the_sharp_bound_stops_where_it_is_enough() -> None:
    run = probe_run(np.linspace(1.0, 0.0, 400), 0, 4, 6, 1)
    high, low = monotone_bound(run, 1e-6), sharp_bound(run, 1e-6)
    middle = (low + high) / 2
    assert low < sharp_bound(run, 1e-6, lambda bound: bound <= middle) <= middle


def test_rounding_widens_the_bounds() -> None:
    run = probe_run(np.linspace(1.0, 0.0, 400), 0, 4, 6, 1)
    blurred = ProbeRun(run.projected, run.residual_gram, run.coordinates, 1e-3)
    for bound in (monotone_bound, sharp_bound):
        assert bound(blurred, 1e-6) > bound(run, 1e-6)
