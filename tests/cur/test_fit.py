"""CUR through decompose: what it is compared with, how many, hard cases, invariances, reads and files."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import eckart as ek
from eckart.components.find import find_components
from eckart.errors import (
    AccuracyWarning,
    DataWarning,
    MemoryBudgetError,
    MissingValuesError,
    NotFiniteError,
    ParameterError,
)
from eckart.testing import with_spectrum
from tests.cur.samples import CORES, SELECTIONS, counts, dense, falling, product, tail

# What it is compared with


@pytest.mark.parametrize("select", SELECTIONS)
@pytest.mark.parametrize(
    "A", [falling(), counts(), falling(40, 400, 0.5), with_spectrum(np.linspace(2, 1, 80), 2000, 80), counts(1500, 250)]
)
def test_best_error_and_ratio_hold_lapacks(A, select):
    d = ek.decompose(A, "cur", k=7, select=select)
    exact, (low, high), error = tail(A, 7), d.details.best_error, d.details.error
    assert low * (1 - 1e-12) <= exact <= high * (1 + 1e-12)
    assert d.details.ratio[0] <= error / exact * (1 + 1e-12)
    assert d.details.ratio[1] >= error / exact * (1 - 1e-12)
    captured, most = d.certificate.explained
    assert captured == pytest.approx(1 - d.details.relative_error**2, abs=1e-12)
    rank = min(len(d.details.columns), len(d.details.rows))
    assert most >= 1 - (tail(A, rank) / np.linalg.norm(dense(A))) ** 2 - 1e-12
    if rank <= 7:
        assert d.details.ratio[1] >= 1


def test_pivots_beat_what_is_asked_of_them():
    matrices = {1.7: falling(400, 300), 3.0: rbf(), 1.1: zipf()}
    for most, A in matrices.items():
        d = ek.decompose(A, "cur", k=20)
        assert d.details.error <= most * tail(A, 20)


def rbf():
    points = np.random.default_rng(0).uniform(size=(400, 2))
    return np.exp(-((points[:, None] - points[None, :300]) ** 2).sum(axis=2) / (2 * 0.3**2))


def zipf():
    """Few entries, most of them 1, some very large."""
    rng = np.random.default_rng(0)
    return sp.csr_array((rng.zipf(2.0, size=(400, 300)) * (rng.random((400, 300)) < 0.05)).astype(float))


def test_taught_bounds_carry_eps_and_delta():
    A, k = falling(), 2
    columns, rows = 64 * k * 16, 4 * k * 4  # eps = 1/2: c = 64 k / eps^4, r = 4 k / eps^2
    d = ek.decompose(A, "cur", k=k, select="norm", n_columns=columns, n_rows=rows)
    additive, relative = d.details.bounds["additive"], d.details.bounds["relative"]
    assert additive.expected_eps == pytest.approx(0.5)
    assert additive.applies
    assert not relative.applies
    assert additive.bound == pytest.approx(d.details.best_error[1] + additive.eps * d.norm)
    assert relative.bound == pytest.approx((2 + relative.eps) * d.details.best_error[1])
    assert (additive.delta, round(relative.delta, 12)) == (0.05, 0.02)
    assert d.details.error <= additive.bound
    assert ek.decompose(A, "cur", k=k, select="leverage").details.bounds["relative"].applies
    assert not ek.decompose(A, "cur", k=k, select="norm", core="intersection").details.bounds["additive"].applies


@settings(max_examples=30)
@given(seed=st.integers(0, 2**20), k=st.integers(1, 8), power=st.floats(0.1, 3.0))
def test_the_bound_of_the_pivots_is_never_broken(seed, k, power):
    d = ek.decompose(falling(50, 30, power, seed), "cur", k=k)
    assert d.details.error <= d.details.bounds["pivot"].bound * (1 + 1e-9)


# How many


@pytest.mark.parametrize("target", [0.6, 0.3, 0.1])
@pytest.mark.parametrize("select", SELECTIONS)
def test_a_tolerance_is_met_by_the_smallest_k(target, select):
    A = falling(50, 30, 1.2, seed=3)
    d = ek.decompose(A, "cur", error=target, select=select)
    k = d.details.k
    assert d.details.relative_error <= target
    for less in range(1, k):
        assert ek.decompose(A, "cur", k=less, select=select).details.relative_error > target


def test_a_tolerance_that_draws_do_not_reach_is_said():
    A = falling(50, 30, 1.2, seed=3)
    with pytest.warns(AccuracyWarning, match="was not reached: 120 drawn columns"):
        d = ek.decompose(A, "cur", error=0.02, select="norm")
    assert d.details.relative_error > 0.02
    assert not d.certificate.proved
    assert "0.02 could not be proved" in d.certificate.summary
    assert ek.decompose(A, "cur", error=0.02).details.relative_error <= 0.02


def test_an_error_below_rounding_is_not_called_proved():
    """All columns leave nothing but rounding, which nobody can prove to be as small as this."""
    with pytest.warns(AccuracyWarning, match="Allow a larger error"):
        d = ek.decompose(falling(50, 30, 1.2, seed=3), "cur", error=1e-14)
    assert not d.certificate.proved
    assert ek.decompose(falling(50, 30, 1.2, seed=3), "cur", error=1e-9).certificate.proved


def test_a_share_is_an_error():
    A = falling()
    d = ek.decompose(A, "cur", explain=0.9)
    assert 1 - d.details.relative_error**2 >= 0.9
    assert d.details.k == ek.decompose(A, "cur", error=0.1**0.5).details.k


def test_a_tolerance_on_data_too_large_for_all_axes():
    A = falling(3000, 150, 0.8)
    d = ek.decompose(A, "cur", error=0.5)
    k = d.details.k
    assert d.plan.solver != "direct"
    assert d.details.relative_error <= 0.5
    assert ek.decompose(A, "cur", k=k - 1).details.relative_error > 0.5


def test_counts_beside_a_tolerance_are_refused():
    with pytest.raises(ParameterError, match="The target error determines"):
        ek.decompose(falling(), "cur", error=0.1, n_columns=4)


def test_counts_alone_decide_the_rank():
    parts = ek.decompose(falling(), "cur", n_columns=5, n_rows=7).details
    assert (parts.k, len(parts.columns), len(parts.rows)) == (5, 5, 7)
    assert ek.decompose(falling(), "cur").details.k == 2


# Hard cases


@pytest.mark.parametrize("select", ["pivot", "leverage", "volume"])
def test_of_fewer_independent_columns_only_those_are_kept_and_it_is_said(select):
    A = np.outer(np.arange(1.0, 9.0), np.ones(6)) + np.outer(np.ones(8), np.arange(6.0))
    with pytest.warns(DataWarning, match="4 columns were requested, but only 2"):
        d = ek.decompose(A, "cur", k=4, select=select)
    assert np.linalg.matrix_rank(d.details.C) == len(d.details.columns) == 2
    assert np.isfinite(d.right).all()
    assert d.details.error < 1e-13 * np.linalg.norm(A)
    assert d.notes


def test_columns_and_rows_of_zeros_are_never_chosen():
    A = falling(40, 30)
    A[:, ::3] = 0.0
    A[::4] = 0.0
    for select in SELECTIONS:
        parts = ek.decompose(A, "cur", k=5, select=select).details
        assert not np.any(parts.columns % 3 == 0)
        assert not np.any(parts.rows % 4 == 0)


def test_large_sparse_float32_data_have_their_gram_matrix_in_float64(monkeypatch):
    monkeypatch.setattr("eckart.engine.gram.FAST_WORK", 0.0)
    monkeypatch.setattr("eckart.engine.gram._SAVING", 4)
    A = counts(300, 50).astype(np.float32)
    d = ek.decompose(A, "svd", k=4, solver="gram")
    np.testing.assert_allclose(d.values, np.linalg.svd(dense(A), compute_uv=False)[:4], rtol=1e-6)
    assert ek.decompose(A, "cur", k=4).details.best_error[1] == pytest.approx(tail(A, 4), rel=1e-5)


def test_dependent_draws_of_the_taught_algorithm_are_kept_and_noted():
    A = np.outer(np.arange(1.0, 9.0), np.ones(6))
    d = ek.decompose(A, "cur", k=1, n_columns=8, n_rows=8, select="norm")
    assert any("of which 1 is linearly independent" in note for note in d.notes)
    assert d.details.error < 1e-13 * np.linalg.norm(A)


@pytest.mark.parametrize("select", SELECTIONS)
@pytest.mark.parametrize("core", CORES)
def test_a_zero_matrix_has_a_finite_answer(select, core):
    d = ek.decompose(np.zeros((5, 4)), "cur", k=2, select=select, core=core)
    assert d.details.error == 0.0
    assert np.isfinite(d.right).all()
    assert "zero" in d.notes[0]
    np.testing.assert_array_equal(ek.reconstruct(d, ek.project(d, np.zeros((5, 4)))), np.zeros((5, 4)))


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("size", [1e200, 1e-200, 1e306, 1e-300])
def test_size_is_no_matter(size, sparse):
    base = dense(counts(30, 20))
    A = base * size
    d, plain = (ek.decompose(sp.csr_array(X) if sparse else X, "cur", k=4) for X in (A, base))
    np.testing.assert_array_equal(d.details.columns, plain.details.columns)
    assert d.details.relative_error == pytest.approx(plain.details.relative_error, rel=1e-12)
    assert d.details.error == pytest.approx(plain.details.error * size, rel=1e-12)
    np.testing.assert_allclose(d.right, plain.right, atol=1e-12)
    np.testing.assert_allclose(dense(d.details.C), A[:, d.details.columns], rtol=1e-15)
    back = dense(d.details.C) @ d.details.core @ dense(d.details.R)
    np.testing.assert_allclose(back / size, product(plain), atol=1e-12)


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
def test_a_norm_beyond_the_range_is_refused(kind):
    A = np.zeros((30, 20))
    A[::3, ::3] = 1.7e308
    with pytest.raises(NotFiniteError, match="overflow"):
        ek.decompose(kind(A), "cur", k=1)


@pytest.mark.parametrize("shape", [(1, 5), (5, 1), (1, 1), (2, 2)])
def test_the_smallest_shapes(shape):
    A = np.arange(1.0, 1.0 + shape[0] * shape[1]).reshape(shape)
    for select in SELECTIONS:
        d = ek.decompose(A, "cur", k=1, select=select)
        assert len(d.details.columns) >= 1
        assert np.linalg.norm(A - product(d)) == pytest.approx(d.details.error, abs=1e-13)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("select", SELECTIONS)
def test_missing_and_infinite_entries_are_refused(bad, select):
    A = falling()
    A[3, 4] = bad
    with pytest.raises((MissingValuesError, NotFiniteError), match="row 4, column 5"):
        ek.decompose(A, "cur", k=2, select=select)


@pytest.mark.parametrize("dtype", [np.float32, np.int64, np.uint8, bool])
def test_other_dtypes(dtype):
    whole = (np.abs(falling() * 1000) % 5).astype(int).astype(dtype)
    d = ek.decompose(whole, "cur", k=3)
    wanted = np.float32 if dtype is np.float32 else np.float64
    assert d.right.dtype == d.details.C.dtype == d.details.R.dtype == ek.project(d, whole).dtype == wanted
    assert d.details.error == pytest.approx(np.linalg.norm(whole - product(d)), rel=1e-5)


@pytest.mark.parametrize("sparse", [False, True])
def test_float32_errors_are_measured_in_float64(sparse):
    A = with_spectrum(10.0 ** -np.arange(0.0, 8.0, 0.5), 300, 60).astype(np.float32)
    A = np.pad(A, ((0, 200), (0, 100))) if sparse else A
    d = ek.decompose(sp.csr_array(A) if sparse else A, "cur", k=6)
    C, R = dense(d.details.C).astype(float), dense(d.details.R).astype(float)
    made = C @ np.linalg.pinv(C) @ A @ np.linalg.pinv(R) @ R
    assert d.details.error == pytest.approx(np.linalg.norm(A - made), rel=1e-7)


def test_arrays_of_another_library_stay_there():
    torch = pytest.importorskip("torch")
    A = falling()
    d, plain = ek.decompose(torch.from_numpy(A), "cur", k=4), ek.decompose(A, "cur", k=4)
    assert isinstance(d.right, torch.Tensor)
    assert isinstance(d.details.C, torch.Tensor)
    np.testing.assert_array_equal(d.details.columns, plain.details.columns)
    np.testing.assert_allclose(ek.project(d, torch.from_numpy(A)).numpy(), ek.project(plain, A))


# Invariances


@settings(max_examples=25)
@given(seed=st.integers(0, 2**20), k=st.integers(1, 6), exponent=st.integers(-30, 30), sparse=st.booleans())
def test_scaling_by_a_power_of_two_changes_nothing_else(seed, k, exponent, sparse):
    A = dense(counts(25, 18, seed))
    kind = sp.csr_array if sparse else np.asarray
    for select in ("pivot", "norm"):
        first, second = (ek.decompose(kind(X), "cur", k=k, select=select) for X in (A, A * 2.0**exponent))
        np.testing.assert_array_equal(first.details.columns, second.details.columns)
        np.testing.assert_array_equal(first.details.rows, second.details.rows)
        assert second.details.error == pytest.approx(first.details.error * 2.0**exponent, rel=1e-12)


@settings(max_examples=25)
@given(seed=st.integers(0, 2**20), k=st.integers(1, 6))
def test_permuted_and_transposed_data_choose_the_same(seed, k):
    A = falling(25, 18, 0.8, seed)
    plain = ek.decompose(A, "cur", k=k).details
    rng = np.random.default_rng(seed)
    rows, columns = rng.permutation(25), rng.permutation(18)
    moved = ek.decompose(A[rows][:, columns], "cur", k=k).details
    assert sorted(rows[moved.rows]) == sorted(plain.rows)
    assert sorted(columns[moved.columns]) == sorted(plain.columns)
    turned = ek.decompose(A.T, "cur", k=k).details
    assert sorted(turned.rows) == sorted(plain.columns)
    assert turned.error == pytest.approx(plain.error, rel=1e-9)


@settings(max_examples=25)
@given(seed=st.integers(0, 2**20), k=st.integers(1, 6), select=st.sampled_from(SELECTIONS))
def test_sparse_and_dense_give_the_same(seed, k, select):
    A = counts(40, 25, seed)
    first, second = (ek.decompose(X, "cur", k=k, select=select, rng=seed) for X in (A, A.toarray()))
    assert first.details.columns.tolist() == second.details.columns.tolist()
    assert first.details.error == pytest.approx(second.details.error, rel=1e-9)
    np.testing.assert_allclose(first.right, second.right, atol=1e-9 * np.abs(second.right).max())


def test_the_same_seed_gives_the_same_and_another_one_others():
    A = falling()
    for select in ("norm", "leverage", "volume"):
        runs = [ek.decompose(A, "cur", k=5, select=select, rng=s).details.columns.tolist() for s in (1, 1, 2)]
        assert runs[0] == runs[1] != runs[2]


# Reads, files


@pytest.mark.parametrize("A", [counts(6000, 400), counts(400, 6000), falling(3000, 200)])
def test_one_more_read_beside_those_of_the_singular_vectors(A):
    components = find_components(A, "svd", k=5, left=True)
    d = ek.decompose(A, "cur", k=5)
    assert d.info.passes == d.certificate.passes == components.info.passes + 1


@pytest.mark.parametrize("select", SELECTIONS)
@pytest.mark.parametrize("sparse", [False, True])
def test_rows_read_in_blocks_give_the_same(tmp_path, select, sparse):
    A = counts(3000, 40) if sparse else falling(3000, 40)
    path = tmp_path / ("a.npz" if sparse else "a.npy")
    sp.save_npz(path, A) if sparse else np.save(path, A)
    whole = ek.decompose(A, "cur", k=4, select=select)
    blocks = ek.decompose(path, "cur", k=4, select=select, stream=True, memory="1MB" if sparse else "2MB")
    np.testing.assert_array_equal(blocks.details.columns, whole.details.columns)
    np.testing.assert_array_equal(blocks.details.rows, whole.details.rows)
    assert blocks.details.error == pytest.approx(whole.details.error, rel=1e-9)
    np.testing.assert_allclose(dense(blocks.details.C), dense(whole.details.C), rtol=1e-14)
    np.testing.assert_allclose(dense(blocks.details.R), dense(whole.details.R), rtol=1e-14)
    np.testing.assert_allclose(ek.project(blocks, path), ek.project(whole, A), rtol=1e-14)


def test_too_little_memory_is_refused_beforehand():
    with pytest.raises(MemoryBudgetError, match="bytes in addition to the data"):
        ek.decompose(falling(3000, 40), "cur", k=30, memory="1.2MB", select="leverage")
    with pytest.raises(MemoryBudgetError, match="chosen columns"):
        ek.decompose(falling(30_000, 60), "cur", k=2, n_columns=60, memory="5MB")


def test_a_model_file_holds_it_whole(tmp_path):
    A = counts()
    d = ek.decompose(A, "cur", k=4, left=True)
    d.save(tmp_path / "cur.eckart")
    again = ek.load(tmp_path / "cur.eckart")
    np.testing.assert_array_equal(ek.project(again, A), ek.project(d, A))
    np.testing.assert_array_equal(ek.reconstruct(again, ek.project(d, A)), ek.reconstruct(d, ek.project(d, A)))
    assert (again.details.C != d.details.C).nnz == 0
    assert again.details.bounds == d.details.bounds
    np.testing.assert_array_equal(again.details.core.matrix, d.details.core.matrix)


@pytest.mark.parametrize("library", ["torch", "array_api_strict"])
@pytest.mark.parametrize("select", SELECTIONS)
@pytest.mark.parametrize("core", CORES)
@pytest.mark.parametrize("shape", [(90, 30), (30, 90)])
def test_other_libraries_choose_the_same_and_keep_it(library, select, core, shape):
    xp = pytest.importorskip(library)
    A = with_spectrum(0.7 ** np.arange(30), *shape, seed=3)
    options = {"k": 4, "select": select, "core": core, "left": True}
    d, plain = ek.decompose(xp.asarray(A), "cur", **options), ek.decompose(A, "cur", **options)
    for name in ("columns", "rows"):
        np.testing.assert_array_equal(getattr(d.details, name), getattr(plain.details, name))
    arrays = {"right": d.right, "left": d.left, "C": d.details.C, "R": d.details.R, **vars(d.details.core)}
    assert all(type(array) is type(xp.asarray(A)) for array in arrays.values())
    np.testing.assert_allclose(np.asarray(d.details.C), plain.details.C, rtol=1e-13)
    np.testing.assert_allclose(np.asarray(d.details.R), plain.details.R, rtol=1e-13)
    np.testing.assert_allclose(np.asarray(d.right), plain.right, atol=1e-8 * np.abs(plain.right).max())
    assert d.details.error == pytest.approx(plain.details.error, rel=1e-9)
    made = d.details.core.after(d.details.C) @ d.details.R
    np.testing.assert_allclose(np.linalg.norm(np.asarray(made) - A), d.details.error, rtol=1e-8)


def test_core_of_float32_tensors_multiplies_them():
    torch = pytest.importorskip("torch")
    A = with_spectrum(0.7 ** np.arange(20), 60, 20, seed=1).astype("f4")
    cur = ek.CUR(5).fit(torch.asarray(A))
    made = cur.C_ @ cur.core_ @ cur.R_
    assert made.dtype == torch.float32
    assert float(np.linalg.norm(made.numpy() - A)) == pytest.approx(cur.error_, rel=1e-3)


def test_a_loaded_cur_takes_tensors_and_a_cur_of_tensors_takes_only_them(tmp_path):
    torch = pytest.importorskip("torch")
    A = with_spectrum(0.7 ** np.arange(20), 60, 20, seed=1)
    d = ek.decompose(torch.asarray(A), "cur", k=3)
    with pytest.raises(ek.errors.InputError, match="fitted on torch"):
        ek.project(d, A)
    d.save(tmp_path / "model")
    back = ek.load(tmp_path / "model")
    assert isinstance(back.details.C, np.ndarray)
    np.testing.assert_allclose(ek.project(back, torch.asarray(A)).numpy(), ek.project(back, A))


@pytest.mark.parametrize("select", ["norm", "pivot"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("seed", range(3))
def test_the_stated_errors_allow_for_subnormal_numbers(select, dtype, seed):
    """Scaled columns and rows of numbers of 1e-315 are rounded to units of 5e-324, and so is the norm."""
    size, up = (1e-42, 140) if dtype == "float32" else (1e-315, 1046)
    table = (np.random.default_rng(seed).standard_normal((30, 12)) * size).astype(dtype)
    d = ek.decompose(table, "cur", k=12 if seed else 7, select=select)
    exact = np.ldexp(table.astype(np.longdouble), up)
    columns, right = np.ldexp(np.asarray(d.details.C).astype(np.longdouble), up), d.right.astype(np.longdouble)
    norm = np.sqrt((exact**2).sum())
    error = np.sqrt(((exact - columns @ right.T) ** 2).sum()) / norm
    rounding = d.details.error_rounding / d.norm
    returned = np.finfo(dtype).eps * np.linalg.norm(d.right) * np.sqrt((columns**2).sum()) / norm
    assert abs(error - d.details.relative_error) <= rounding + returned < (0.2 if dtype == "float32" else 1e-3)
    best = np.linalg.norm(np.linalg.svd(exact.astype(float), compute_uv=False)[d.details.k :])
    low, high = (float(np.ldexp(np.longdouble(bound), up)) for bound in d.details.best_error)
    assert low <= best * (1 + 1e-14)
    assert best <= high * (1 + 1e-14) + 1e-14 * norm


def test_rows_that_are_rounded_to_subnormal_numbers_belong_to_the_error():
    rng = np.random.default_rng(3)
    for seed in range(6):
        table = (rng.random((9, 40)) * 1e-42).astype("float32")
        details = ek.decompose(table, "cur", k=3, select="norm", core="best", rng=seed).details
        exact, columns, rows = (np.ldexp(part.astype(np.longdouble), 140) for part in (table, details.C, details.R))
        core = details.core
        left, middle = columns @ core.left / core.left_values.astype(np.longdouble), core.middle / np.longdouble(1)
        product = np.ldexp((left @ middle / core.right_values) @ (core.right.T @ rows), -140)
        error = np.sqrt(((exact - product) ** 2).sum())
        assert abs(error - np.ldexp(np.longdouble(details.error), 140)) <= np.ldexp(details.error_rounding, 140)


def test_an_approximation_worse_than_zeros_is_noted():
    table = np.cos(np.arange(25) * np.arccos(np.linspace(-1, 1, 9))[:, None])
    d = ek.decompose(table, "cur", k=1, core="intersection", rng=3)
    assert d.details.relative_error > 1.0
    assert d.certificate.explained[0] == 0.0
    assert any(note.code == "worse_than_zero" and "core='best'" in note for note in d.notes)
    assert not any(note.code == "worse_than_zero" for note in ek.decompose(table, "cur", k=1, rng=3).notes)


def test_no_ratio_is_stated_where_the_best_error_may_be_zero():
    """The best error of a Hilbert matrix is 1e-17, and rounding hides both errors."""
    A = 1.0 / (np.arange(41)[:, None] + np.arange(22) + 1)
    details = ek.decompose(A, "cur", k=19, select="norm", rng=116).details
    assert details.best_error[0] == 0.0
    assert details.ratio == (0.0, np.inf)
