"""Hard input, and what a trustworthy answer is: extremes, shapes, dtypes, sparse formats, wrong arguments."""

import datetime as dt

import numpy as np
import pytest
from scipy import linalg, sparse
from sklearn.datasets import load_iris

import eckart as ek
from eckart.environment import free_memory
from eckart.errors import (
    DataWarning,
    EckartError,
    InputError,
    MemoryBudgetError,
    MissingValuesError,
    NotFiniteError,
    ParameterError,
)

EPS = float(np.finfo(np.float64).eps)
SOLVERS = ("auto", "direct", "gram", "lanczos")
RNG = np.random.default_rng(12)
TABLE = RNG.standard_normal((60, 8)) * 0.7 ** np.arange(8)
IRIS = load_iris().data
THIN = np.where(RNG.uniform(size=TABLE.shape) < 0.4, TABLE, 0.0)
"""Less than half full, so that as a sparse matrix it stays one."""


def centred_values(data):
    """Singular values of the centred table, centred in extended precision."""
    exact = np.asarray(data).astype(np.longdouble)
    exact = exact - exact.mean(axis=0)
    return np.linalg.svd(exact.astype(np.float64), compute_uv=False)


def assert_orthonormal(vectors, tolerance=1e-12):
    assert np.all(np.isfinite(vectors))
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(vectors.shape[1]), atol=tolerance)


# Numeric extremes


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("shape", [(6, 4), (4, 6), (60, 40)])
@pytest.mark.parametrize("thin", [False, True])
def test_zeros(solver, shape, thin):
    data = sparse.csr_array(shape) if thin else np.zeros(shape)
    d = ek.decompose(data, "svd", k=3, solver=solver, left=True)
    assert np.all(d.values == 0.0)
    assert np.all(d.explained_variance_ratio == 0.0)
    assert_orthonormal(d.right)
    assert_orthonormal(d.left)
    assert d.certificate.explained == (0.0, 0.0)
    assert d.rank in ((0,) if solver in ("direct", "gram") else (0, None))


@pytest.mark.parametrize("solver", SOLVERS)
def test_equal_values_are_flagged(solver):
    d = ek.decompose(np.eye(12), "svd", k=5, solver=solver)
    np.testing.assert_allclose(d.values, 1.0, rtol=1e-13)
    assert d.certificate.undetermined == ((0, 4),)
    assert d.certificate.angle == 1.0


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_constant_column_has_no_loading(solver):
    data = np.column_stack([TABLE[:, :3], np.full(60, 7.3)])
    d = ek.decompose(data, "pca", solver=solver)
    np.testing.assert_allclose(d.right[3, :3], 0.0, atol=1e-13)
    assert d.certificate.lower[3] == 0.0
    if solver != "lanczos":
        assert d.values[3] <= 1e-13 * d.values[0]
    assert any("is constant: 4 " in note for note in d.notes)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("value", [0.0, 1.0, 0.1, 1e8])
def test_no_variance_is_said(solver, value):
    with pytest.warns(DataWarning, match="no variance"):
        d = ek.decompose(np.full((30, 4), value), "pca", k=2, solver=solver)
    assert np.all(d.values == 0.0)
    assert np.all(d.explained_variance_ratio == 0.0)
    assert np.all(np.isfinite(d.right))
    assert any("no variance" in note for note in d.notes)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("rows", [60, 3000])
@pytest.mark.parametrize("value", [3.0, 7.3, 0.1, 1 / 3, "nearly 1e6"])
@pytest.mark.parametrize("thin", [False, True])
def test_a_constant_or_nearly_constant_column_is_not_scaled_up(solver, rows, value, thin):
    rng = np.random.default_rng(5)
    data = rng.standard_normal((rows, 4)) * [1.0, 3.0, 0.2, 0.0]
    data = np.where(rng.uniform(size=data.shape) < 0.2, data, 0.0) if thin else data
    data[:, 3] = 1e6 * (1 + EPS * rng.integers(0, 2, rows)) if isinstance(value, str) else value
    make = sparse.csr_array if thin else np.asarray
    assert ek.open_matrix(make(data)).matrix.sparse == thin
    d = ek.decompose(make(data), "pca", scale=True, solver=solver)
    without = ek.decompose(data[:, :3], "pca", scale=True, solver="direct")
    assert d.scale[3] == 1.0
    np.testing.assert_allclose(d.values[:3], without.values, rtol=1e-9)
    assert d.certificate.lower[3] <= 1e-6
    assert any("constant" in note and "not scaled" in note for note in d.notes)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("spread", [1e-3, 1e-6, 1e-9])
@pytest.mark.parametrize("shape", [(60, 4), (3000, 4), (8, 40)])
def test_a_column_of_little_spread_is_scaled_right(solver, spread, shape):
    """One column at 1 with a small spread beside ordinary ones: relative error 50 eps / spread."""
    data = np.random.default_rng(5).standard_normal(shape)
    data[:, 3] = 1.0 + spread * data[:, 3]
    exact = data.astype(np.longdouble)
    exact = exact - exact.mean(axis=0)
    exact = exact / np.sqrt((exact**2).sum(axis=0) / (shape[0] - 1))
    wanted = np.linalg.svd(exact.astype(np.float64), compute_uv=False)[:3]
    d = ek.decompose(data, "pca", k=3, scale=True, solver=solver)
    np.testing.assert_allclose(d.values, wanted, rtol=(1e-9 if solver == "lanczos" else 0.0) + 50 * EPS / spread)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("offset", [1e4, 1e6, 1e8, 1e10, 1e12])
def test_an_offset_changes_nothing(solver, offset):
    """Against the rounded table itself, in extended precision: 50 eps (s1 + |mean|) / s, and 1e-9 at 1e8."""
    data = IRIS + offset
    d = ek.decompose(data, "pca", solver=solver)
    wanted = centred_values(data)
    error = np.abs(d.values / wanted - 1.0)
    promised = {"lanczos": 1e-9}.get(solver, 0.0)
    assert np.all(error <= promised + 50 * EPS * (wanted[0] + offset) / wanted)
    if offset == 1e8:
        assert np.all(error <= 1e-9)


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_column_of_unix_time(solver):
    seconds = 1.7e9 + 3600.0 * np.arange(60) + RNG.uniform(size=60)
    data = np.column_stack([TABLE[:, :2], seconds])
    d = ek.decompose(data, "pca", k=1, solver=solver)
    np.testing.assert_allclose(d.values, centred_values(data)[:1], rtol=1e-12)
    if solver != "lanczos":
        d = ek.decompose(data, "pca", solver=solver)
        np.testing.assert_allclose(d.values, centred_values(data), rtol=1e-9)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("offset", [1e2, 1e3, 1e4, 1e5])
@pytest.mark.parametrize("shape", [(2000, 10), (40, 300)])
def test_an_offset_in_float32(solver, offset, shape):
    data = (np.random.default_rng(3).standard_normal(shape) + offset).astype(np.float32)
    d = ek.decompose(data, "pca", k=3, solver=solver)
    wanted = centred_values(data)[:3]
    eps = float(np.finfo(np.float32).eps)
    promised = 1e-5 if solver == "lanczos" else 0.0
    assert np.all(np.abs(d.values / wanted - 1.0) <= promised + 100 * eps)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("method", ["svd", "pca"])
@pytest.mark.parametrize("factor", [1e200, 1e-200, 1e-290, 1e305])
@pytest.mark.parametrize("thin", [False, True])
def test_very_large_and_very_small(solver, method, factor, thin):
    make, table = (sparse.csr_array, THIN) if thin else (np.asarray, TABLE)
    scaled, plain = (ek.decompose(make(table * f), method, k=4, solver=solver, left=True) for f in (factor, 1.0))
    tolerance = 1e-9 if solver == "lanczos" else 1e-12
    np.testing.assert_allclose(scaled.explained_variance_ratio, plain.explained_variance_ratio, rtol=tolerance)
    np.testing.assert_allclose(scaled.values / factor, plain.values, rtol=tolerance)
    np.testing.assert_allclose(scaled.certificate.explained, plain.certificate.explained, rtol=tolerance)
    assert_orthonormal(scaled.left)
    scores = ek.project(scaled, make(table * factor))
    np.testing.assert_allclose(scores, scaled.left * scaled.values, atol=1e-9 * scaled.values[0])


@pytest.mark.parametrize("solver", SOLVERS)
def test_subnormal_numbers(solver):
    data = TABLE * 1e-310
    d = ek.decompose(data, "svd", k=2, solver=solver)
    wanted = np.linalg.svd(data * 2.0**1000, compute_uv=False)
    np.testing.assert_allclose(d.explained_variance_ratio, wanted[:2] ** 2 / np.sum(wanted**2), rtol=1e-9)
    np.testing.assert_allclose(d.values * 2.0**1000, wanted[:2], rtol=1e-9)


@pytest.mark.parametrize("solver", SOLVERS)
def test_columns_of_very_different_sizes(solver):
    data = TABLE * 10.0 ** np.linspace(150, -150, 8)
    d = ek.decompose(data, "svd", k=1, solver=solver)
    np.testing.assert_allclose(d.values[0], np.linalg.norm(data[:, 0]), rtol=1e-12)
    whole = ek.decompose(data, "svd", solver="direct")
    assert whole.rank == 1
    assert np.all(whole.certificate.lower[1:] == 0.0)


@pytest.mark.parametrize("solver", SOLVERS)
def test_float32_near_its_end(solver):
    """Values that float32 cannot hold are refused by name; those that it can hold are right."""
    data = (np.sign(TABLE) * 3e38).astype(np.float32)
    with pytest.raises(NotFiniteError, match="overflow"):
        ek.decompose(data, "svd", k=2, solver=solver)
    d = ek.decompose(data / np.float32(64.0), "svd", k=2, solver=solver)
    wanted = np.linalg.svd(np.sign(TABLE), compute_uv=False)
    np.testing.assert_allclose(d.explained_variance_ratio, wanted[:2] ** 2 / np.sum(wanted**2), rtol=1e-5)


@pytest.mark.parametrize("solver", ["auto", "direct", "gram"])
def test_lauchli(solver):
    """Ones over 1e-8 I: the Gram matrix has rank one in float64, the small values are 1e-8 all the same."""
    data = np.vstack([np.ones(6), 1e-8 * np.eye(6)])
    d = ek.decompose(data, "svd", solver=solver)
    np.testing.assert_allclose(d.values[0], 6**0.5, rtol=1e-14)
    np.testing.assert_allclose(d.values[1:], 1e-8, rtol=1e-7)
    assert d.rank == 6


@pytest.mark.parametrize("solver", ["auto", "direct", "gram"])
def test_hilbert(solver):
    matrix = linalg.hilbert(12)
    d = ek.decompose(matrix, "svd", solver=solver)
    # The first and the last value of the Hilbert matrix of order 12 (condition number 1.6212e16).
    assert abs(d.values[0] - 1.7953720595619977) <= 1e-14
    assert np.abs(d.values - np.linalg.svd(matrix, compute_uv=False)).max() <= 16 * 12 * EPS
    assert d.rank in (11, 12)
    assert d.certificate.lower[-1] <= 1.7953720595619977 / 1.6212e16 <= d.certificate.upper[-1]


@pytest.mark.parametrize("solver", ["auto", "direct", "gram"])
def test_graded(solver):
    values = 10.0 ** -np.arange(15)
    left, right = (np.linalg.qr(RNG.standard_normal((n, 15)))[0] for n in (40, 15))
    d = ek.decompose((left * values) @ right.T, "svd", solver=solver)
    assert np.abs(d.values - values).max() <= 35 * 40 * EPS
    assert np.all(d.certificate.lower <= values + 4 * EPS)
    assert np.all(values <= d.certificate.upper + 4 * EPS)


@pytest.mark.parametrize("solver", SOLVERS)
def test_duplicate_columns_whitened(solver):
    data = np.column_stack([TABLE[:, :3], TABLE[:, :3]])
    d = ek.decompose(data, "pca", solver=solver)
    scores = ek.project(d, data, whiten=True)
    np.testing.assert_allclose(scores[:, :3].std(axis=0, ddof=1), 1.0, rtol=1e-9)
    np.testing.assert_allclose(scores[:, 3:], 0.0, atol=1e-7)
    np.testing.assert_allclose(ek.reconstruct(d, scores, whiten=True), data, atol=1e-7)


def test_one_axis_of_noise_is_right_or_not_proved():
    data = np.random.default_rng(0).standard_normal((1000, 100))
    d = ek.decompose(data, "pca", k=1, solver="lanczos")
    axis = np.linalg.svd(data - data.mean(axis=0))[2][0]
    assert abs(d.right[:, 0] @ axis) >= 0.999 or not d.certificate.proved
    sine = np.linalg.norm(d.right[:, 0] - axis * (axis @ d.right[:, 0]))
    assert sine <= d.certificate.angle + 1e-12


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("method", ["svd", "pca"])
@pytest.mark.parametrize("thin", [False, True])
def test_shares_are_shares(solver, method, thin):
    """Each within [0, 1], falling, their sum 1 at full rank; the total does not depend on k or on the solver."""
    data = sparse.csr_array(np.where(TABLE > 0.3, TABLE, 0.0)) if thin else TABLE
    dense = data.toarray() if thin else data
    total = np.linalg.norm(dense - dense.mean(axis=0) if method == "pca" else dense)
    for k in (1, 3, 8):
        d = ek.decompose(data, method, k=k, solver=solver)
        assert np.all((d.explained_variance_ratio >= 0.0) & (d.explained_variance_ratio <= 1.0))
        assert np.all(np.diff(d.explained_variance_ratio) <= 0.0)
        assert d.explained_variance_ratio.sum() <= 1.0 + 1e-12
        np.testing.assert_allclose(d.norm, total, rtol=1e-13)
    np.testing.assert_allclose(d.explained_variance_ratio.sum(), 1.0, rtol=1e-12)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("scale", [False, True])
def test_there_and_back(solver, scale):
    data = TABLE + 100.0
    d = ek.decompose(data, "pca", scale=scale, solver=solver)
    np.testing.assert_allclose(ek.reconstruct(d, ek.project(d, data)), data, atol=1e-13 * np.linalg.norm(data))


def test_long_sums():
    rng = np.random.default_rng(0)
    data = (1e4 + rng.standard_normal((2_000_000, 2))).astype(np.float32)
    d = ek.decompose(data, "pca")
    np.testing.assert_allclose(d.mean, data.mean(axis=0, dtype=np.float64), rtol=1e-6)
    np.testing.assert_allclose(
        d.explained_variance, np.linalg.eigvalsh(np.cov(data.T.astype(np.float64)))[::-1], rtol=1e-5
    )


# Degenerate shapes


@pytest.mark.parametrize(("shape", "named"), [((0, 5), "0 sample"), ((5, 0), "0 feature"), ((0, 0), "0 sample")])
@pytest.mark.parametrize("make", [np.zeros, sparse.csr_array])
def test_no_rows_or_no_columns(shape, named, make):
    with pytest.raises(InputError, match=named):
        ek.decompose(make(shape), "pca")


@pytest.mark.parametrize("solver", SOLVERS)
def test_one_row(solver):
    with pytest.warns(DataWarning, match="no variance"):
        d = ek.decompose(np.array([[1.0, 2.0, 3.0]]), "pca", solver=solver)
    assert d.values.tolist() == [0.0]
    assert np.all(np.isfinite(d.explained_variance))
    d = ek.decompose(np.array([[3.0, 4.0]]), "svd", solver=solver)
    np.testing.assert_allclose(d.values, [5.0])


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("method", ["svd", "pca"])
@pytest.mark.parametrize("shape", [(5, 1), (2, 2), (3, 2), (2, 3)])
def test_small_shapes(solver, method, shape):
    data = np.random.default_rng(shape).standard_normal(shape)
    d = ek.decompose(data, method, solver=solver)
    centred = data - data.mean(axis=0) if method == "pca" else data
    wanted = np.linalg.svd(centred, compute_uv=False)
    np.testing.assert_allclose(d.values, wanted, atol=1e-7 if solver == "lanczos" else 1e-13)


@pytest.mark.parametrize("method", ["svd", "pca"])
def test_one_by_one(method):
    if method == "pca":
        with pytest.warns(DataWarning, match="no variance"):
            assert ek.decompose([[3.0]], method).values.tolist() == [0.0]
    else:
        assert ek.decompose([[3.0]], method).values.tolist() == [3.0]


@pytest.mark.parametrize("solver", ["auto", "gram", "lanczos"])
def test_wide_and_tall_are_one_matrix(solver):
    data = np.random.default_rng(0).standard_normal((30, 2000)) * 0.8 ** np.arange(30)[:, None]
    wide = ek.decompose(data, "svd", k=4, solver=solver, left=True)
    tall = ek.decompose(data.T, "svd", k=4, solver=solver, left=True)
    np.testing.assert_allclose(wide.values, tall.values, rtol=1e-10)
    np.testing.assert_allclose(np.abs(np.sum(wide.right * tall.left, axis=0)), 1.0, rtol=1e-9)


@pytest.mark.parametrize("thin", [False, True])
def test_all_axes_by_an_iterative_solver(thin):
    table = THIN if thin else TABLE
    d = ek.decompose(sparse.csr_array(table) if thin else table, "pca", k=8, solver="lanczos")
    np.testing.assert_allclose(d.values, centred_values(table), rtol=1e-9)


@pytest.mark.parametrize(
    ("data", "named"),
    [
        (np.ones(5), r"\(5,\).*Reshape"),
        (np.ones((2, 2, 2)), r"\(2, 2, 2\)"),
        (np.float64(3.0), "scalar"),
        (7, "scalar"),
    ],
)
def test_wrong_dimensions(data, named):
    with pytest.raises(InputError, match=named):
        ek.decompose(data, "pca")


def test_ragged():
    with pytest.raises(InputError, match="rectangular"):
        ek.decompose([[1.0, 2.0], [3.0]], "pca")


def test_more_cells_than_32_bits_count():
    """2^33 cells that share 8 MB of memory: planning counts them. Sparse columns beyond 2^31 are opened or refused."""
    broadcast = np.broadcast_to(np.arange(2.0**13), (2**20, 2**13))
    plan = ek.plan(broadcast, "svd", k=2, solver="gram")
    assert plan.rows * plan.columns == 2**33
    side = 2**31 + 10
    tall = sparse.coo_array((np.array([3.0, 4.0]), (np.array([0, side - 1]), np.array([0, 1]))), shape=(side, 2))
    wide = sparse.csr_array(tall.T)
    if free_memory() > 200 * side:
        assert ek.open_matrix(wide).matrix.shape == (2, side)
    else:
        with pytest.raises(MemoryBudgetError, match=r"2,147,483,658 columns needs 412 GB"):
            ek.open_matrix(wide)


# Dtypes


@pytest.mark.parametrize("solver", SOLVERS)
def test_float32_stays_float32(solver):
    data = TABLE.astype(np.float32)
    d = ek.decompose(data, "pca", k=3, solver=solver, left=True, scale=True)
    for array in (d.values, d.right, d.left, d.mean, d.scale, ek.project(d, data), ek.reconstruct(d, d.left)):
        assert array.dtype == np.float32
    exact = ek.decompose(data.astype(np.float64), "pca", k=3, scale=True)
    np.testing.assert_allclose(d.values, exact.values, rtol=1e-5 if solver == "lanczos" else 4e-7)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("dtype", ["float16", "int8", "uint8", "int16", "int64", "uint64", "bool"])
def test_other_numbers_become_float64(solver, dtype):
    data = np.random.default_rng(1).integers(0, 2 if dtype == "bool" else 120, (50, 6)).astype(dtype)
    d, wanted = (ek.decompose(x, "pca", k=3, solver=solver) for x in (data, data.astype(np.float64)))
    assert d.values.dtype == np.float64
    np.testing.assert_array_equal(d.values, wanted.values)


def test_int8_sums_do_not_wrap_around():
    data = np.full((1000, 2), 127, np.int8)
    data[::2, 0] = -128
    d = ek.decompose(data, "pca", k=1)
    np.testing.assert_allclose(d.mean, [-0.5, 127.0], atol=1e-12)
    np.testing.assert_allclose(d.values[0], 127.5 * 1000**0.5, rtol=1e-13)


@pytest.mark.skipif(np.finfo(np.longdouble).eps == EPS, reason="long double is float64 on this machine")
def test_longdouble_is_reduced_and_said():
    with pytest.warns(DataWarning, match="float64"):
        assert ek.decompose(TABLE.astype(np.longdouble), "pca", k=1).values.dtype == np.float64


@pytest.mark.parametrize("dtype", ["int64", "uint64"])
@pytest.mark.parametrize("sign", [1, -1])
def test_integers_beyond_2_to_the_53(dtype, sign):
    if sign < 0 and dtype == "uint64":
        pytest.skip("unsigned numbers are not negative")
    data = np.array([[sign * (2**53 + 1), 1], [5, 2], [7, 3]], dtype)
    with pytest.warns(DataWarning, match=r"2\*\*53"):
        ek.decompose(data, "pca", k=1)


def test_complex_is_refused():
    for data in (TABLE + 1j, sparse.csr_array(TABLE + 1j)):
        with pytest.raises(InputError, match="Complex data not supported"):
            ek.decompose(data, "svd")


def test_objects_are_converted_or_named():
    d = ek.decompose(TABLE.astype(object), "pca", k=2)
    np.testing.assert_array_equal(d.values, ek.decompose(TABLE, "pca", k=2).values)
    data = TABLE.astype(object)
    data[4, 1] = "warm"
    with pytest.raises(InputError, match=r"'warm' in row 5, column 2"):
        ek.decompose(data, "pca")


@pytest.mark.parametrize(
    ("data", "named"),
    [
        (np.array([["1", "2"], ["3", "4"]]), "text"),
        (np.array([[b"1", b"2"], [b"3", b"4"]]), "text"),
        (np.array([["2020-01-01", "2020-01-02"]], dtype="datetime64[D]"), "dates"),
        (np.array([[1, 2], [3, 4]], dtype="timedelta64[s]"), "time differences"),
        (np.zeros((3, 2), dtype=[("a", float), ("b", float)]), "named fields"),
        ([[dt.date(2020, 1, 1), 2.0]], "row 1, column 1"),
    ],
)
def test_what_is_not_a_number_is_refused_by_name(data, named):
    with pytest.raises(InputError, match=named):
        ek.decompose(data, "pca")


def test_masked_arrays_keep_their_mask():
    masked = np.ma.masked_greater(TABLE, 1.5)
    count = int(masked.mask.sum())
    with pytest.raises(MissingValuesError, match=f"{count} masked"):
        ek.decompose(masked, "pca")
    plain = np.ma.masked_array(TABLE)
    np.testing.assert_array_equal(ek.decompose(plain, "pca").values, ek.decompose(TABLE, "pca").values)


@pytest.mark.filterwarnings("ignore:the matrix subclass:PendingDeprecationWarning")
def test_numpy_matrix_is_refused():
    with pytest.raises(TypeError, match=r"np\.matrix is not supported"):
        ek.decompose(np.asmatrix(TABLE), "pca")


# Sparse formats (equality of the formats is in test_invariances)


@pytest.mark.parametrize(
    ("value", "error", "named"), [(np.nan, MissingValuesError, "NaN"), (np.inf, NotFiniteError, "infinity")]
)
@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("thin", [False, True])
def test_not_finite_entries(value, error, named, solver, thin):
    data = THIN.copy() if thin else TABLE.copy()
    data[5, 2] = data[9, 0] = value
    table = sparse.csr_array(data) if thin else data
    with pytest.raises(error, match=rf"{named}: 2 .*row 6, column 3"):
        ek.decompose(table, "pca", k=2, solver=solver)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_not_finite_entries_of_new_rows(value):
    d = ek.decompose(TABLE, "pca", k=2)
    fresh = TABLE.copy()
    fresh[3, 4] = value
    with pytest.raises(InputError, match="row 4, column 5"):
        ek.project(d, fresh)


@pytest.mark.parametrize("solver", SOLVERS)
def test_missing_values_of_a_large_table(solver):
    data = np.random.default_rng(0).standard_normal((70_000, 12)).astype(np.float32)
    data[66_000, 7] = np.nan
    with pytest.raises(MissingValuesError, match="row 66001, column 8"):
        ek.decompose(data, "pca", k=2, solver=solver)


@pytest.mark.parametrize("damage", ["column too large", "column negative", "pointer falls"])
def test_damaged_sparse_matrices(damage):
    table = sparse.csr_array(np.where(TABLE > 0, TABLE, 0.0))
    if damage == "pointer falls":
        table.indptr[3] = table.indptr[4] + 1
    else:
        table.indices[2] = 99 if damage == "column too large" else -1
    with pytest.raises(InputError, match="damaged"):
        ek.decompose(table, "svd", k=2)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("method", ["svd", "pca"])
def test_empty_rows_and_columns(solver, method):
    data = np.where(TABLE > 0.4, TABLE, 0.0)
    data[10:20] = 0.0
    data[:, 5] = 0.0
    d = ek.decompose(sparse.csr_array(data), method, k=3, solver=solver)
    wanted = centred_values(data) if method == "pca" else np.linalg.svd(data, compute_uv=False)
    np.testing.assert_allclose(d.values, wanted[:3], rtol=1e-10)
    np.testing.assert_allclose(d.right[5], 0.0, atol=1e-12)


# Missing values are named with the column's name


def test_missing_values_are_named_by_column():
    import pandas as pd

    frame = pd.DataFrame(TABLE[:, :3], columns=["length", "width", "mass"], copy=True)
    frame.loc[7, "width"] = np.nan
    with pytest.raises(MissingValuesError, match=r"1 missing value.*row 8, column 2 \('width'\)"):
        ek.decompose(frame, "pca")


# Wrong arguments


@pytest.mark.parametrize("k", [0, -1, 9, 2.5, float("nan"), float("inf"), "3", True, np.True_, [2]])
def test_wrong_k(k):
    with pytest.raises(ParameterError, match=r"k=.* from 1 to 8"):
        ek.decompose(TABLE, "pca", k=k)


@pytest.mark.parametrize("name", ["explain", "error"])
@pytest.mark.parametrize("share", [0, 0.0, 1.0, 1.5, -0.1, float("nan"), True, "0.9"])
def test_wrong_share(name, share):
    with pytest.raises(ParameterError, match=f"{name}=.*greater than 0 and less than 1"):
        ek.decompose(TABLE, "pca", **{name: share})


def test_one_target_only():
    with pytest.raises(ParameterError, match="k, explain and error each determine"):
        ek.decompose(TABLE, "pca", k=2, explain=0.9)
    with pytest.raises(ParameterError, match="smallest"):
        ek.decompose(TABLE, "pca", explain=0.9, which="smallest")


@pytest.mark.parametrize(
    ("name", "given", "hint"),
    [
        ("solver", "lancos", "lanczos"),
        ("method", "pcs", "pca"),
        ("which", "largets", "largest"),
        ("solver", 3, "direct"),
    ],
)
def test_names_are_listed_and_guessed(name, given, hint):
    with pytest.raises(ParameterError, match=rf"{name}=.*{hint}"):
        ek.decompose(TABLE, **{"method": "pca", name: given})


def test_unknown_keywords():
    with pytest.raises(TypeError, match="explian"):
        ek.decompose(TABLE, "pca", explian=0.9)
    with pytest.raises(TypeError, match="did you mean 'explain'"):
        ek.plan(TABLE, "pca", explian=0.9)


@pytest.mark.parametrize("rng", [-1, "7", 1.5, True, object()])
def test_wrong_rng(rng):
    with pytest.raises(ParameterError, match="rng="):
        ek.decompose(TABLE, "pca", k=2, rng=rng)


@pytest.mark.parametrize("rng", [None, 0, 7, np.int64(7), np.random.default_rng(7), np.random.RandomState(7)])
def test_every_kind_of_rng(rng):
    d = ek.decompose(TABLE, "pca", k=2, rng=rng, solver="lanczos")
    np.testing.assert_allclose(d.values, centred_values(TABLE)[:2], rtol=1e-9)


@pytest.mark.parametrize("tol", [-1e-3, 1.0, 2, float("nan"), "1e-3", True])
def test_wrong_tol(tol):
    with pytest.raises(ParameterError, match="tol="):
        ek.decompose(TABLE, "pca", k=2, tol=tol)


@pytest.mark.parametrize("max_passes", [0, -1, 1.5, "9", True])
def test_wrong_max_reads(max_passes):
    with pytest.raises(ParameterError, match="max_passes="):
        ek.decompose(TABLE, "pca", k=2, max_passes=max_passes)


@pytest.mark.parametrize("weights", [np.ones(59), -np.ones(60), np.full(60, np.nan), np.zeros(60), np.ones((60, 2))])
def test_wrong_weights(weights):
    with pytest.raises(InputError, match=r"[Ww]eight"):
        ek.decompose(TABLE, "pca", k=2, sample_weight=weights)


def test_wrong_width():
    d = ek.decompose(TABLE, "pca", k=2)
    with pytest.raises(InputError, match=r"7 columns.*has 8"):
        ek.project(d, TABLE[:, :7])
    with pytest.raises(InputError, match=r"2 components.*\(60, 3\)"):
        ek.reconstruct(d, np.ones((60, 3)))


def test_every_error_is_ours():
    wrong = {"k": 0, "explain": 2, "solver": "x", "tol": -1, "memory": "much", "sample_weight": [1]}
    for arguments in ({name: given} for name, given in wrong.items()):
        with pytest.raises(EckartError):
            ek.decompose(TABLE, "pca", **arguments)


# Memory


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_budget_too_small_is_refused_beforehand(solver):
    data = np.broadcast_to(np.arange(2000.0), (50_000, 2000))
    with pytest.raises(MemoryBudgetError, match=r"needs about [\d,]+ bytes.*1,000 bytes are allowed"):
        ek.decompose(data, "pca", k=5, solver=solver, memory=1000)
    with pytest.raises(MemoryBudgetError):
        ek.plan(data, "pca", k=1900, memory="20MB")


def test_a_budget_moves_the_choice():
    data = np.broadcast_to(np.arange(4000.0), (100_000, 4000))
    free = ek.plan(data, "svd", k=3, solver="gram")
    bound = ek.plan(data, "svd", k=3, memory=free.peak_bytes // 2)
    assert bound.solver == "lanczos"
    assert bound.peak_bytes <= free.peak_bytes // 2


@pytest.mark.parametrize("memory", ["much", "2 parsecs", -5, 0, 2.5, True, ""])
def test_wrong_memory(memory):
    with pytest.raises(ParameterError, match="memory="):
        ek.decompose(TABLE, "pca", memory=memory)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("method", ["svd", "pca"])
def test_the_data_are_left_alone(solver, method):
    data = TABLE + 5.0
    before = data.copy()
    ek.decompose(data, method, k=3, scale=method == "pca", solver=solver, left=True, sample_weight=np.arange(60))
    np.testing.assert_array_equal(data, before)
    table = sparse.coo_array(np.where(TABLE > 0, TABLE, 0.0)).tocsr()
    kept = table.data.copy(), table.indices.copy(), table.indptr.copy()
    ek.decompose(table, method, k=3, solver=solver)
    for now, then in zip((table.data, table.indices, table.indptr), kept, strict=True):
        np.testing.assert_array_equal(now, then)


@pytest.mark.parametrize("dtype", [">f4", ">f8"])
def test_large_tables_in_the_byte_order_of_other_machines(dtype):
    """So large that compiled loops multiply tables in the order of this machine."""
    table = np.random.default_rng(0).standard_normal((2200, 1000)) * np.linspace(2, 0.1, 1000)
    given = table.astype(dtype)
    found, wanted = (ek.decompose(data, k=2, tol=1e-3) for data in (given, given.astype(dtype[1:])))
    np.testing.assert_allclose(found.values, wanted.values, rtol=1e-3)
