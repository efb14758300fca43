"""Block Lanczos on diagonal matrices: bounds, residuals, orthonormal vectors, stated probabilities."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import eckart as ek
from eckart.engine.lanczos import block_lanczos as module
from eckart.engine.lanczos import solve
from eckart.engine.lanczos.block_lanczos import block_lanczos
from eckart.engine.lanczos.terms import Matrix, Pairs, Start, Target
from eckart.errors import AccuracyWarning

EPS = float(np.finfo(np.float64).eps)


def diagonal_run(squares: np.ndarray, target: Target, seed: int, block: int = 8, capacity: int = 160) -> Pairs:
    rng = np.random.default_rng(seed)
    size = len(squares)
    rounding = 2.0 * EPS * float(squares.max())
    matrix = Matrix(size, lambda q: squares[:, None] * q, np.empty(0), lambda: (float(np.sum(squares)), rounding))
    start = np.linalg.qr(rng.standard_normal((size, block)))[0]
    first = Start(start, matrix.apply(start), min(size, capacity))
    return block_lanczos(matrix, target, block=block, rng=lambda: np.random.default_rng([seed, 1]), start=first)


HARD = {
    "one far": lambda i: np.where(i == 1, 1.0, 1e-3),
    "pairs": lambda i: 0.8 ** ((i + 1) // 2),
    "near ties": lambda i: 1.0 / ((i + 2) // 3) * (1.0 + 1e-9 * (i % 3)),
    "graded": lambda i: 10.0 ** (-i / 10),
    "root": lambda i: i**-0.5,
    "hidden": lambda i: np.where(i <= 3, 1.0 - 1e-4 * i, 0.99 - 0.5 * i / len(i)),
    "low rank": lambda i: np.where(i <= 4, 1.0 / i, 0.0),
    "flat": lambda i: 1.0 + 1e-3 * np.cos(i),
}


@pytest.mark.parametrize("name", HARD)
@pytest.mark.parametrize("k", [1, 5])
def test_hard_diagonals(name: str, k: int) -> None:
    squares = np.sort(HARD[name](np.arange(1, 301)))[::-1]
    for seed in range(8):
        pairs = diagonal_run(squares, Target(k, max_passes=60), seed)
        assert np.all(pairs.lower <= squares[:k]), f"seed {seed}: lower bound above the value"
        assert np.all(squares[:k] <= pairs.upper[:k]), f"seed {seed}: upper bound below the value"
        residuals = squares[:, None] * pairs.vectors - pairs.vectors * pairs.values
        assert np.all(np.linalg.norm(residuals, axis=0) <= pairs.residuals + 64 * EPS * squares[0]), seed
        assert np.linalg.norm(pairs.vectors.T @ pairs.vectors - np.eye(k)) <= 1e-13, seed


def test_restarts_carry_the_proof() -> None:
    """Noise-like spectrum, a basis that fills up several times: still proved, with one number carried."""
    squares = np.linspace(1.0, 0.0, 1200) ** 2 + 1e-3
    pairs = diagonal_run(squares, Target(10), 3, block=12, capacity=120)
    assert pairs.restarts > 0
    assert pairs.proved
    assert np.all((pairs.lower <= squares[:10]) & (squares[:10] <= pairs.upper[:10]))
    assert np.max(pairs.upper[:10] - pairs.lower) <= 2.1e-8 * squares[0]


def test_a_direction_that_the_start_block_lacks_is_found() -> None:
    """The leading vector is orthogonal to the start block: the probes bring it in, or the bound allows for it."""
    squares = np.r_[4.0, 1.0, 0.8, np.linspace(0.5, 0.1, 397)]
    for seed in range(20):
        rng = np.random.default_rng(seed)
        start = np.linalg.qr(np.vstack([np.zeros((1, 8)), rng.standard_normal((399, 8))]))[0]
        matrix = Matrix(400, lambda q: squares[:, None] * q, np.empty(0), lambda: (float(squares.sum()), 1e-15))
        first = Start(start, matrix.apply(start), 160)
        pairs = block_lanczos(
            matrix, Target(3), block=8, rng=lambda seed=seed: np.random.default_rng([seed, 2]), start=first
        )
        assert np.all(squares[:3] <= pairs.upper[:3])
        assert pairs.proved
        np.testing.assert_allclose(pairs.values, squares[:3], rtol=1e-8)


def test_a_single_column_whose_residual_vanishes_is_followed_by_a_random_one() -> None:
    squares = np.r_[np.linspace(2.0, 1.0, 6), np.zeros(94)]
    size = len(squares)
    start = np.eye(size, 1)
    matrix = Matrix(size, lambda q: squares[:, None] * q, np.empty(0), lambda: (float(np.sum(squares)), 1e-15))
    first = Start(start, matrix.apply(start), size)
    pairs = block_lanczos(matrix, Target(3), block=1, rng=lambda: np.random.default_rng(1), start=first)
    np.testing.assert_allclose(pairs.values, squares[:3], rtol=1e-9)


def test_a_run_that_ends_with_no_bound_of_the_complement_has_infinite_upper_bounds() -> None:
    squares = np.linspace(1.0, 0.5, 200)
    matrix = Matrix(200, lambda q: squares[:, None] * q, np.empty(0), lambda: (np.inf, 1e-15))
    start = np.linalg.qr(np.random.default_rng(0).standard_normal((200, 8)))[0]
    first = Start(start, matrix.apply(start), 120)
    target = Target(3, max_passes=1)
    pairs = block_lanczos(matrix, target, block=8, rng=lambda: np.random.default_rng(1), start=first)
    assert not pairs.proved
    assert np.all(np.isinf(pairs.upper))
    assert np.all(pairs.lower <= squares[:3])


def test_a_raised_failure_probability_is_kept() -> None:
    squares = np.r_[1.0, 0.98, 0.97, np.linspace(0.96, 0.2, 197)]
    target = Target(3, tolerance=1e-3, failure_probability=0.5, max_passes=30)
    runs = [diagonal_run(squares, target, seed, block=4) for seed in range(40)]
    wrong = [bool(np.any(pairs.upper[:3] < squares[:3]) or np.any(pairs.lower > squares[:3])) for pairs in runs]
    assert all(0.0 <= pairs.failure_probability <= 0.5 for pairs in runs)
    assert any(pairs.failure_probability > 0.0 for pairs in runs)
    assert np.mean(wrong) <= 0.5


def test_a_run_that_continues_in_float64_draws_new_random_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its start depends on the numbers drawn in float32, so these must not be drawn again, and both are counted."""
    generators, budgets = [], []
    first, budget = solve.generator, module.FailureBudget
    monkeypatch.setattr(solve, "generator", lambda *given: generators.append(given[2]) or first(*given))
    monkeypatch.setattr(module, "FailureBudget", lambda total: budgets.append(budget(total)) or budgets[-1])
    data = np.random.default_rng(9).standard_normal((1500, 300)) * 0.6 ** np.arange(300)
    d = ek.decompose(data.astype("f4"), "svd", k=20, solver="lanczos", tol=1e-9)
    assert d.info.precision == "float64"
    assert generators == ["probes"]
    assert d.certificate.failure_probability == max(budget.spent for budget in budgets)
    assert len([budget for budget in budgets if budget.spent]) == 1


def test_bounds_are_evaluated_only_where_they_can_prove_the_goal(monkeypatch: pytest.MonkeyPatch) -> None:
    evaluated = []

    def spy(*given: object) -> float:
        evaluated.append(given)
        return found(*given)

    found = module.best_probe_bound
    monkeypatch.setattr(module, "best_probe_bound", spy)
    pairs = diagonal_run(np.arange(1, 601) ** -0.7, Target(10), 1, block=16, capacity=400)
    assert pairs.proved
    assert len(evaluated) == 1


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("k", [5, 7, 14])
def test_values_inside_a_cluster_larger_than_the_basis_are_proved(k: int, dtype: str) -> None:
    """Five spikes over 595 equal values: a basis of some hundred columns never contains the cluster that k cuts."""
    rng = np.random.default_rng(31)
    left, right = (np.linalg.qr(rng.standard_normal((size, 600)))[0] for size in (1000, 600))
    data = ((left * np.r_[np.linspace(10.0, 5.0, 5), np.ones(595)]) @ right.T).astype(dtype)
    truth = np.linalg.svd(data.astype(np.float64), compute_uv=False)[:k]
    found = ek.decompose(data, "svd", k=k, solver="lanczos").certificate
    assert found.proved
    assert found.passes <= (20 if dtype == "f4" else 64)  # up to 61: rounding differs
    assert np.all(found.lower <= truth * (1 + 1e-13))
    assert np.all(found.upper >= truth * (1 - 1e-13))
    assert np.all(found.upper <= truth * (1 + 2e-6))


def test_bounds_proved_before_a_restart_stay_known() -> None:
    """Ten spikes over 690 equal values, of which k takes ten: the last basis alone bounds them only by the trace."""
    rng = np.random.default_rng(0)
    left, right = (np.linalg.qr(rng.standard_normal((size, 700)))[0] for size in (1400, 700))
    data = (left * np.r_[np.linspace(10.0, 5.0, 10), np.ones(690)]) @ right.T
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AccuracyWarning)
        found = ek.decompose(data, "svd", k=20, solver="lanczos", memory=6_000_000, max_passes=60).certificate
    truth = np.linalg.svd(data, compute_uv=False)[:20]
    assert np.all(found.lower <= truth * (1 + 1e-13))
    assert np.all(found.upper >= truth * (1 - 1e-13))
    assert np.all(found.upper <= truth * (1 + 1e-5))


def test_vectors_stay_orthonormal_over_restarts() -> None:
    for seed in range(3):
        data = np.random.default_rng(seed).standard_normal((900, 160))
        found = ek.decompose(data, "svd", k=12, solver="lanczos", memory=2_500_000)
        right = np.asarray(found.right, dtype=np.longdouble)
        assert np.abs(right.T @ right - np.eye(12)).max() <= 2e-15
