"""Newton steps of Kullback-Leibler: against a general optimiser, and both forms of storage against each other."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import minimize
from sklearn.decomposition import NMF

import eckart as ek
from eckart.nmf.divergence import Divergence
from eckart.nmf.entries import NewtonEntries
from eckart.nmf.problem import Penalties, Penalty
from eckart.nmf.tiles import Stored


def counts(rows=30, columns=25, k=4, seed=0):
    rng = np.random.default_rng(seed)
    return rng.poisson(3.0 * rng.gamma(0.5, 1.0, (rows, k)) @ rng.gamma(0.5, 1.0, (k, columns))).astype(float)


def problems(X, penalties=None, tol=1e-8):
    penalties = penalties or Penalties()
    rows = sp.csr_array(X)
    stored = Stored(rows.data, rows.indices, rows.indptr, rows.shape)
    return {
        "dense": Divergence(X, penalties, 4, row_tolerance=tol),
        "sparse": Divergence(stored, penalties, 4, row_tolerance=tol),
        "compiled": NewtonEntries(sp.csr_array(X), penalties, observed=False, row_tolerance=tol),
    }


def objective(x, w, H, lasso=0.0, ridge=0.0):
    model = np.maximum(w @ H, 1e-300)
    return model.sum() - x @ np.log(model) + lasso * w.sum() + 0.5 * ridge * w @ w


@pytest.mark.parametrize("kind", ["dense", "sparse", "compiled"])
@pytest.mark.parametrize("penalty", [Penalty(), Penalty(0.3, 0.2)])
def test_rows_are_solved_as_well_as_by_a_general_optimiser(kind, penalty):
    X = counts()
    rng = np.random.default_rng(1)
    H = rng.gamma(0.5, 1.0, (4, X.shape[1])) + 1e-3
    problem = problems(X, Penalties(penalty, Penalty()))[kind]
    begin = np.full((X.shape[0], 4), 0.5)
    found = problem.rows(begin, np.ascontiguousarray(H.T), begin, 0.0, sweeps=100).new
    for x, w in zip(X, found, strict=True):
        start = np.full(4, 0.5)
        wanted = minimize(
            lambda v, x=x: objective(x, v, H, penalty.lasso, penalty.ridge),
            start,
            jac=lambda v, x=x: H.sum(1) - H @ (x / np.maximum(v @ H, 1e-300)) + penalty.lasso + penalty.ridge * v,
            bounds=[(0.0, None)] * 4,
            method="L-BFGS-B",
            options={"ftol": 1e-14, "gtol": 1e-10},
        ).fun
        assert objective(x, w, H, penalty.lasso, penalty.ridge) <= wanted + 1e-8 * max(x.sum(), 1.0)


@pytest.mark.parametrize("side", ["rows", "columns"])
def test_all_forms_of_storage_take_the_same_steps(side):
    X = counts(40, 30)
    rng = np.random.default_rng(2)
    W, H = rng.random((40, 4)) + 0.1, rng.random((30, 4)) + 0.1
    begin, other = (W, H) if side == "rows" else (H, W)
    dense, sparse, compiled = (getattr(p, side)(begin, other, begin, 0.3) for p in problems(X).values())
    assert np.allclose(sparse.new, dense.new, rtol=1e-9, atol=1e-12)
    assert sparse.value == pytest.approx(dense.value, rel=1e-12)
    assert np.allclose(compiled.new, dense.new, rtol=1e-8, atol=1e-10)
    assert compiled.violation == pytest.approx(dense.violation, rel=1e-9)


def test_a_step_never_raises_the_objective():
    X = counts(50, 40, seed=3)
    for problem in problems(X).values():
        rng = np.random.default_rng(4)
        W, H = rng.gamma(0.3, 1.0, (50, 4)) + 1e-6, rng.gamma(0.3, 1.0, (40, 4)) + 1e-6
        values = []
        for _ in range(12):
            half = problem.rows(W, H, W, 0.0)
            W, values = half.new, [*values, half.value]
            H = problem.columns(H, W, H, 0.0).new
        assert np.all(np.diff(values) <= 1e-12 * np.abs(values[0]))


def mixtures(rng):
    return rng.dirichlet(np.full(5, 0.3), 300) @ rng.gamma(2.0, 1.0, (5, 40)) * rng.lognormal(0.0, 0.3, (300, 1))


def heavy(rng):
    return rng.pareto(2.5, (250, 4)) @ rng.random((4, 30)) + 0.2 * rng.random((250, 30))


def sparse_counts(rng):
    return sp.csr_array(rng.poisson(rng.gamma(0.2, 1.0, (400, 6)) @ rng.gamma(0.2, 1.0, (6, 80))).astype(float))


@pytest.mark.filterwarnings("ignore:Maximum number of iterations")
@pytest.mark.parametrize("loss", ["kullback-leibler", "frobenius"])
@pytest.mark.parametrize("family", [mixtures, heavy, sparse_counts])
def test_the_default_call_ends_at_no_higher_loss_than_scikit_learn(family, loss):
    X = family(np.random.default_rng(11))
    solver = "mu" if loss[0] == "k" else "cd"
    theirs = NMF(5, beta_loss=loss, solver=solver, random_state=0).fit(X)
    ours = ek.NMF(5, beta_loss=loss).fit(X)
    assert ours.reconstruction_err_ <= theirs.reconstruction_err_ * (1 + 1e-6)


def test_the_start_scales_with_the_data():
    X = counts(40, 30)
    first, second = (ek.NMF(3, beta_loss="kullback-leibler").fit(X * size) for size in (1.0, 2.0**40))
    assert first.n_iter_ == second.n_iter_
    assert second.reconstruction_err_ == pytest.approx(first.reconstruction_err_ * 2.0**20, rel=1e-6)
