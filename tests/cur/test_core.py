"""The core of CUR and its error: exact, the best there is, and accurate where it is small."""

import numpy as np
import pytest
import scipy.sparse as sp

import eckart as ek
from eckart.errors import DataWarning
from eckart.testing import with_spectrum
from tests.cur.samples import CORES, SELECTIONS, counts, dense, falling, product


@pytest.mark.parametrize("select", SELECTIONS)
@pytest.mark.parametrize("core", CORES)
@pytest.mark.parametrize("shape", [(90, 60), (60, 90), (70, 70)])
@pytest.mark.parametrize("make", [falling, counts])
def test_the_error_is_that_of_the_product_multiplied_out(select, core, shape, make):
    A = make(*shape)
    d = ek.decompose(A, "cur", k=6, select=select, core=core, rng=3, left=True)
    parts = d.details
    made = product(d)
    assert np.linalg.norm(dense(A) - made) == pytest.approx(parts.error, rel=1e-10)
    assert parts.relative_error == pytest.approx(parts.error / np.linalg.norm(dense(A)), rel=1e-12)
    columns = dense(A)[:, parts.columns] * parts.column_scales
    rows = dense(A)[parts.rows] * parts.row_scales[:, None]
    np.testing.assert_allclose(dense(parts.C), columns, rtol=1e-14)
    np.testing.assert_allclose(dense(parts.R), rows, rtol=1e-14)
    assert sp.issparse(parts.C) == sp.issparse(parts.R) == sp.issparse(A)
    scale = np.abs(made).max()
    np.testing.assert_allclose((d.left * d.values) @ d.right.T, made, atol=1e-9 * scale)
    np.testing.assert_allclose(ek.reconstruct(d, ek.project(d, A)), made, atol=1e-9 * scale)


@pytest.mark.parametrize("select", SELECTIONS)
@pytest.mark.parametrize("make", [falling, counts])
def test_the_best_core_is_the_pseudo_inverses_around_A(select, make):
    A = make()
    d = ek.decompose(A, "cur", k=5, select=select)
    C, R = dense(d.details.C), dense(d.details.R)
    wanted = np.linalg.pinv(C) @ dense(A) @ np.linalg.pinv(R)
    found = d.details.core.matrix
    np.testing.assert_allclose(found, wanted, atol=1e-10 * np.abs(wanted).max())
    rng = np.random.default_rng(0)
    for _ in range(20):
        other = found + 1e-3 * np.abs(found).max() * rng.standard_normal(found.shape)
        assert np.linalg.norm(dense(A) - C @ other @ R) > d.details.error


@pytest.mark.parametrize("select", SELECTIONS)
def test_the_intersection_core_is_the_pseudo_inverse_of_where_they_meet(select):
    A = falling()
    d = ek.decompose(A, "cur", k=5, select=select, core="intersection")
    parts = d.details
    W = dense(parts.R)[:, parts.columns] * parts.column_scales
    wanted = np.linalg.pinv(W, rcond=1e-14)
    np.testing.assert_allclose(parts.core.matrix, wanted, atol=1e-9 * np.abs(wanted).max())
    if select != "norm":
        assert len(parts.rows) > len(parts.columns)


def test_zeros_of_the_intersection_stay_zeros():
    A = np.diag([2.0, 0.0, 3.0])
    d = ek.decompose(A, "cur", n_columns=2, n_rows=2, core="intersection")
    U = d.details.core.matrix
    order = np.argsort(d.details.columns), np.argsort(d.details.rows)
    np.testing.assert_allclose(U[np.ix_(*order)], np.diag([1 / 2, 1 / 3]), atol=1e-15)


def test_the_cutoff_decides_what_counts_as_zero():
    A = np.diag([1.0, 1e-3, 1e-6])
    full = ek.decompose(A, "cur", k=3, core="intersection")
    with pytest.warns(DataWarning, match="independent"):
        cut = ek.decompose(A, "cur", k=3, core="intersection", cutoff=1e-4)
    assert full.details.error < 1e-15
    assert cut.details.error == pytest.approx(1e-6, rel=1e-9)


@pytest.mark.parametrize(("exponent", "sparse"), [(4, False), (8, False), (11, False), (8, True)])
def test_small_errors_keep_their_digits(exponent, sparse):
    """||A||^2 - ||Q_C^T A Q_R||^2 would leave nothing of an error of 1e-11."""
    values = 10.0 ** -np.arange(0.0, 16.0)
    A = with_spectrum(values, 200, 40)
    if sparse:
        A = sp.block_diag([A, np.zeros((200, 300))], format="csr")
    d = ek.decompose(A, "cur", k=exponent)
    C, R = dense(d.details.C), dense(d.details.R)
    left, right = np.linalg.qr(C)[0], np.linalg.qr(R.T)[0]
    inside = left.T @ dense(A) @ right
    direct = np.linalg.norm(dense(A) - left @ inside @ right.T)
    assert d.details.error == pytest.approx(direct, abs=2 * d.details.error_rounding, rel=1e-6)
    assert d.details.error_rounding < 1e-12  # a proved bound, some ten times what rounding does
    low, high = d.details.best_error
    assert low <= np.linalg.norm(values[exponent:]) * (1 + 1e-9)
    assert high >= np.linalg.norm(values[exponent:]) * (1 - 1e-3)


def test_an_error_that_is_too_dear_to_form_says_how_far_it_may_be_off(monkeypatch):
    A = sp.block_diag([with_spectrum(10.0 ** -np.arange(0.0, 16.0), 200, 40), np.zeros((200, 300))], format="csr")
    exact = ek.decompose(A, "cur", k=9).details
    monkeypatch.setattr("eckart.cur.rank_k.DENSE_WORK", 0.0)
    found = ek.decompose(A, "cur", k=9).details
    assert exact.error_rounding < 1e-12 < found.error_rounding
    assert abs(found.error - exact.error) <= found.error_rounding


def test_nearly_dependent_columns_do_not_spoil_the_way_back():
    rng = np.random.default_rng(0)
    base = rng.standard_normal((80, 3))
    A = np.column_stack([base, base + 1e-9 * rng.standard_normal((80, 3)), rng.standard_normal((80, 4))])
    d = ek.decompose(A, "cur", n_columns=8, n_rows=10, select="norm", rng=0)
    assert np.linalg.norm(A - dense(d.details.C) @ d.details.core @ dense(d.details.R)) == pytest.approx(
        d.details.error, rel=1e-5
    )


@pytest.mark.parametrize("value", [0.1, 1 / 3, 0.7])
@pytest.mark.parametrize("core", CORES)
def test_the_error_of_long_rows_of_equal_entries_includes_the_rounding_of_their_sums(value, core):
    A = np.full((8, 400_000), value)
    d = ek.decompose(A, "cur", k=1, core=core, n_rows=1)
    # All columns are equal, so one column of C U R stands for all.
    column = np.asarray(d.details.C, np.longdouble)
    for factor in core_factors(d.details.core, d.details.R[:, :1]):
        column = column @ factor
    exact = float(np.sqrt(np.sum((column - A[:, :1]) ** 2) * A.shape[1]))
    assert abs(exact - d.details.error) <= d.details.error_rounding <= 1e-11 * np.linalg.norm(A)
    assert all(bound.bound >= exact for bound in d.details.bounds.values() if bound.proved)


def core_factors(core, rows):
    """The factors of U, and some columns of R, in long double."""
    left, left_values, middle, right_values, right = (np.asarray(f, np.longdouble) for f in core.parts().values())
    return left / left_values, middle / right_values, right.T, rows.astype(np.longdouble)


def test_a_cutoff_is_not_among_the_assumptions_of_the_additive_bound():
    A = falling(60, 40)
    options = {"select": "norm", "k": 3, "rng": 1}
    assert ek.decompose(A, "cur", **options).details.bounds["additive"].proved
    assert not ek.decompose(A, "cur", cutoff=0.5, **options).details.bounds["additive"].proved


@pytest.mark.parametrize("eps", [1e-4, 1e-7, 1e-10])
@pytest.mark.parametrize("rows", [300, 20_000])
def test_errors_of_nearly_dependent_columns_are_bounded(rows, eps):
    """Two long columns that nearly agree are chosen, and the others are multiples of their difference."""
    for seed in range(2):
        rng = np.random.default_rng(seed)
        one, other = 100.0 * rng.standard_normal(rows) if seed else np.full(rows, 100.1), rng.standard_normal(rows)
        A = np.column_stack([one, one + 100 * eps * other, 0.01 * other, 0.02 * other])
        d = ek.decompose(A, "cur", k=2, select="norm", n_columns=6, n_rows=6, rng=1)
        C, right = (np.asarray(part, np.longdouble) for part in (d.details.C, d.right))
        error = np.sqrt(np.sum((A - C @ right.T) ** 2))
        norm = np.sqrt(np.sum(C**2)) * np.linalg.norm(d.right)
        assert abs(error - d.details.error) <= d.details.error_rounding + np.finfo(float).eps * norm
        assert d.details.error_rounding <= 1e-17 / eps * np.linalg.norm(A) + 1e-11 * np.linalg.norm(A)
