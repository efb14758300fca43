"""What a certificate states is true: against the optimum in extended precision, on many spectra, sizes and seeds."""

import warnings

import numpy as np
import pytest
from scipy import sparse
from threadpoolctl import threadpool_limits

import eckart as ek
from eckart.engine.certificate import least_gain, residual_bounds
from eckart.errors import AccuracyWarning
from eckart.testing import orthonormal

EPS = float(np.finfo(np.float64).eps)
SPECTRA = ("flat", "clustered", "decaying", "exponential", "step", "deficient", "noise", "ties")
SEEDS = {"direct": 12, "gram": 20, "lanczos": 94}


@pytest.fixture(autouse=True)
def one_thread():
    """Many small problems: threads would only wait for each other."""
    with threadpool_limits(1):
        yield


def singular_values(kind, count, rng):
    """A falling spectrum of one of the kinds; the first is about 1."""
    i = np.arange(1, count + 1)
    jitter = np.sort(rng.uniform(size=count))[::-1]
    return {
        "flat": lambda: 1.0 + 1e-3 * jitter,
        "clustered": lambda: np.repeat([1.0, 0.9999, 0.5, 0.1, 0.01], -(-count // 5))[:count] * (1.0 + 1e-7 * jitter),
        "decaying": lambda: i ** -rng.uniform(0.3, 2.5),
        "exponential": lambda: np.maximum(rng.uniform(0.5, 0.9) ** i, 1e-9),
        "step": lambda: np.where(i <= 7, 1.0, 0.1) * (1.0 + 0.01 * jitter),
        "deficient": lambda: np.where(i <= 9, 1.0 / i, 0.0),
        "noise": lambda: np.abs(rng.standard_normal(count)),
        "ties": lambda: np.where(i <= 12, 1.0, 1.0 / i),
    }[kind]()


def example(kind, seed):
    """(matrix, whether to centre it, k): centring takes an offset away and leaves the spectrum as it was made."""
    rng = np.random.default_rng([SPECTRA.index(kind), seed])
    rows, columns = int(rng.integers(90, 240)), int(rng.integers(60, 160))
    if rng.uniform() < 0.3:
        rows, columns = columns, rows
    center = bool(rng.integers(2))
    k = int(rng.integers(1, 20))
    if kind == "noise":
        return rng.standard_normal((rows, columns)) + center * rng.standard_normal(columns), center, k
    values = singular_values(kind, min(rows - center, columns), rng)
    left = np.column_stack([np.ones((rows, int(center))), rng.standard_normal((rows, len(values)))])
    left = np.linalg.qr(left)[0][:, int(center) :]
    matrix = (left * values) @ orthonormal(columns, len(values), seed=seed).T
    return matrix + center * rng.choice([0.01, 1.0, 100.0]) * rng.standard_normal(columns) / rows**0.5, center, k


def stored(matrix, seed):
    """(data, the same dense): every third example as CSR, two fifths full (a fuller one is opened as dense)."""
    if seed % 3:
        return matrix, matrix
    thin = np.where(np.random.default_rng(seed).uniform(size=matrix.shape) < 0.4, matrix, matrix.dtype.type(0))
    data = sparse.csr_array(thin)
    assert ek.open_matrix(data).matrix.sparse
    return data, thin


class Truth:
    """Singular values of the (centred) matrix to 1e-18 of the largest, and its right vectors."""

    def __init__(self, matrix, center, count):
        exact = matrix.astype(np.longdouble)
        if center:
            exact = exact - exact.mean(axis=0)
        _, self.approximate, right = np.linalg.svd(exact.astype(np.float64), full_matrices=False)
        self.right = right.T
        count = min(count, len(self.approximate))
        vectors = self.right[:, :count].astype(np.longdouble)
        # Rayleigh quotients: their error is the square of that of the vectors, but for what ties mix.
        product = exact @ vectors
        gram = product.T @ product
        squares = np.diagonal(gram)
        lengths = np.sum(vectors * vectors, axis=0)
        near = np.abs(squares[:, None] - squares) <= 1e-6 * squares[0]
        mixed = np.abs(np.where(near & ~np.eye(count, dtype=bool), gram, 0.0)).sum(axis=1)
        self.values = np.sqrt(squares / lengths)
        self.uncertain = mixed / np.maximum(np.maximum(self.values, np.sqrt(mixed)), 1e-300) + 1e-18 * self.values[0]
        self.total = np.sum(exact * exact)
        self.shares = np.minimum(np.cumsum(squares / lengths) / self.total, 1.0)

    def sine(self, right, k):
        """Of the largest angle between span(right) and the true leading subspace, and how well it is known."""
        wanted = self.right[:, :k]
        rest = right - wanted @ (wanted.T @ right)
        gap = self.approximate[k - 1] - (self.approximate[k] if k < len(self.approximate) else 0.0)
        return np.linalg.norm(rest, 2), 16 * EPS * self.approximate[0] / max(gap, 1e-300) + 16 * EPS


def false_statements(decomposition, truth):
    """What the certificate says and is not so, with the size of the untruth."""
    d, c, k = decomposition, decomposition.certificate, decomposition.k
    best, values, uncertain = truth.shares[k - 1], truth.values[:k], truth.uncertain[:k]
    sine, own = truth.sine(np.asarray(d.right, dtype=np.float64), k)
    excess = {
        "lower share": c.explained[0] - best - 1e-18,
        "upper share": best - c.explained[1] - 1e-18,
        "lower value": np.max(c.lower - values - uncertain),
        "upper value": np.max(values - c.upper - uncertain),
        "angle": sine - c.angle - own,
    }
    return [f"{name} by {float(size):.1e}" for name, size in excess.items() if not size <= 0.0]


def assert_true(decomposition, truth):
    assert false_statements(decomposition, truth) == []


@pytest.mark.parametrize("kind", SPECTRA)
@pytest.mark.parametrize("solver", SEEDS)
def test_bounds_hold(solver, kind):
    false = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AccuracyWarning)
        for seed in range(SEEDS[solver]):
            matrix, center, k = example(kind, seed)
            data, matrix = stored(matrix, seed)
            d = ek.decompose(data, "pca" if center else "svd", k=k, solver=solver, rng=seed)
            found = false_statements(d, Truth(matrix, center, k))
            false += [f"seed {seed}: {', '.join(found)}"] if found else []
    assert not false, f"{len(false)} of {SEEDS[solver]} certificates are false: {'; '.join(false[:4])}"


@pytest.mark.filterwarnings("ignore::eckart.errors.AccuracyWarning")
@pytest.mark.parametrize("kind", SPECTRA)
@pytest.mark.parametrize("solver", SEEDS)
def test_bounds_hold_in_float32(solver, kind):
    """The truth is that of the rounded data; the axes are rounded to float32, and the angle knows it."""
    false = []
    for seed in range(200, 230):
        matrix, center, k = example(kind, seed)
        data, matrix = stored(matrix.astype(np.float32), seed)
        d = ek.decompose(data, "pca" if center else "svd", k=k, solver=solver, rng=seed)
        found = false_statements(d, Truth(matrix, center, k))
        false += [f"seed {seed}: {', '.join(found)}"] if found else []
    assert not false, f"{len(false)} of 30 certificates are false: {'; '.join(false[:4])}"


@pytest.mark.parametrize("solver", ["direct", "gram", "lanczos"])
def test_certificates_say_something(solver):
    """On a spectrum that decays, every solver proves what it was asked for."""
    matrix, center, k = example("decaying", 5)
    c = ek.decompose(matrix, "pca" if center else "svd", k=k, solver=solver).certificate
    assert c.proved
    assert c.explained[1] - c.explained[0] <= 1e-9
    assert np.all(c.upper**2 - c.lower**2 <= 2e-9 * c.lower[-1] ** 2)
    assert c.angle < 1e-3
    assert (0.0 < c.failure_probability <= 1e-9) == (solver == "lanczos")


def sparse_table(seed, rows=300, columns=200):
    rng = np.random.default_rng(seed)
    table = sparse.random_array((rows, columns), density=0.05, rng=rng, format="csr")
    return sparse.csr_array(table @ sparse.diags_array(np.arange(1, columns + 1) ** -0.7))


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("center", [False, True])
def test_bounds_hold_on_sparse_data(seed, center):
    table = sparse_table(seed)
    d = ek.decompose(table, "pca" if center else "svd", k=6, solver="lanczos", rng=seed)
    assert d.certificate.proved
    assert_true(d, Truth(table.toarray(), center, 6))


@pytest.mark.filterwarnings("ignore::eckart.errors.AccuracyWarning")
@pytest.mark.parametrize("solver", ["direct", "gram", "lanczos"])
@pytest.mark.parametrize("k", [2, 4, 6, 9])
def test_ties_are_named(solver, k):
    """Values 3 3 | 2 2 2 2 | 1, .5, ...: equal neighbours share a group, others do not."""
    values = np.array([3.0, 3.0, 2.0, 2.0, 2.0, 2.0, 1.0, 0.5, 0.25, *np.full(60, 0.1)])
    d = ek.decompose(np.diag(values), "svd", k=k, solver=solver)
    wanted = {2: ((0, 1),), 4: ((0, 1), (2, 3)), 6: ((0, 1), (2, 5)), 9: ((0, 1), (2, 5))}[k]
    assert d.certificate.undetermined == wanted
    # The cut goes through the group of twos when k = 4, and through none otherwise.
    assert (d.certificate.angle == 1.0) == (k == 4)


@pytest.mark.parametrize("solver", ["direct", "gram", "lanczos"])
def test_groups_hold_nothing_but_ties(solver):
    values = np.r_[np.linspace(2.0, 1.0, 12), np.full(80, 0.01)]
    d = ek.decompose(np.diag(values), "svd", k=12, solver=solver)
    assert d.certificate.proved
    assert d.certificate.undetermined == ()


@pytest.mark.parametrize("solver", ["direct", "gram", "lanczos"])
@pytest.mark.parametrize("kind", ["decaying", "exponential", "step", "deficient"])
@pytest.mark.parametrize("seed", range(4))
def test_a_share_takes_the_fewest_axes(solver, kind, seed):
    matrix, center, _ = example(kind, 100 + seed)
    truth = Truth(matrix, center, min(matrix.shape))
    share = float(np.random.default_rng(seed).uniform(0.3, 0.99))
    d = ek.decompose(matrix, "pca" if center else "svd", explain=share, solver=solver)
    fewest = int(np.argmax(truth.shares >= share)) + 1
    assert d.k == fewest
    assert d.certificate.proved
    assert d.certificate.explained[0] >= share * (1 - 1e-9)
    assert_true(d, truth)


@pytest.mark.parametrize("solver", ["direct", "gram", "lanczos"])
def test_a_share_of_sparse_data(solver):
    table = sparse_table(3)
    truth = Truth(table.toarray(), True, 200)
    for share in (0.5, 0.9):
        d = ek.decompose(table, "pca", explain=share, solver=solver)
        assert d.k == int(np.argmax(truth.shares >= share)) + 1
        assert_true(d, truth)


@pytest.mark.parametrize("solver", ["direct", "gram", "lanczos"])
@pytest.mark.parametrize("error", [0.5, 0.1, 0.02])
def test_an_error_takes_the_fewest_axes(solver, error):
    matrix, _, _ = example("exponential", 7)
    values = np.linalg.svd(matrix, compute_uv=False)
    tails = np.sqrt(np.cumsum(values[::-1] ** 2)[::-1] / np.sum(values**2))
    d = ek.decompose(matrix, "svd", error=error, solver=solver)
    assert tails[d.k] <= error < tails[d.k - 1]


@pytest.mark.parametrize("seed", range(6))
def test_values_that_barely_exceed_a_cluster_are_not_missed(seed):
    rng = np.random.default_rng(seed)
    squares = np.ones(int(rng.integers(90, 200)))
    squares[:4] += 10.0 ** rng.uniform(-12.0, -8.0, 4)
    matrix = np.diag(np.sqrt(rng.permutation(squares)))
    c = ek.decompose(matrix, "svd", k=int(rng.integers(1, 10))).certificate
    k = len(c.upper)
    values = np.sqrt(np.sort(squares)[::-1][:k])
    assert np.all(c.lower <= values)
    assert np.all(c.upper >= values)


@pytest.mark.filterwarnings("ignore::eckart.errors.AccuracyWarning")
def test_a_flat_spectrum_gets_a_wide_but_true_interval():
    matrix = np.random.default_rng(0).standard_normal((600, 500))
    d = ek.decompose(matrix, "svd", k=10, solver="lanczos", max_passes=12)
    c = d.certificate
    assert not c.proved
    assert c.explained[1] - c.explained[0] > 1e-6
    assert f"{100 * c.explained[1]:.2f} %" in c.summary
    assert_true(d, Truth(matrix, False, 10))


def test_reads_that_do_not_suffice_are_said_aloud():
    matrix = np.random.default_rng(1).standard_normal((700, 600))
    with pytest.warns(AccuracyWarning, match="max_passes"):
        d = ek.decompose(matrix, "svd", k=20, solver="lanczos", max_passes=3)
    assert not d.certificate.proved
    assert_true(d, Truth(matrix, False, 20))


def test_what_blocks_leave_out_may_point_one_way():
    """Two axes and a tail of 1e-10: blocks leave something out that later ones meet, and the bounds allow for it."""
    for seed in range(40):
        rng = np.random.default_rng(seed)
        rows, columns, k = int(rng.integers(150, 900)), int(rng.integers(100, 140)), 27
        i = np.arange(1, columns + 1)
        values = np.where(i <= 2, rng.uniform(0.7, 0.99) ** i, 5e-5 / i)
        data = (np.linalg.qr(rng.standard_normal((rows, columns)))[0] * values) @ orthonormal(
            columns, columns, seed=seed
        ).T
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", AccuracyWarning)
            d = ek.decompose(data, "svd", k=k, solver="lanczos", rng=seed)
        assert_true(d, Truth(data, False, k))


@pytest.mark.parametrize("seed", [431869, 1840250763, 97711])
def test_residual_bounds_enclose_the_leading_eigenvalues(seed):
    rng = np.random.default_rng(seed)
    vectors = np.linalg.qr(rng.standard_normal((50, 50)))[0]
    values = np.sort(rng.uniform(0, 1, 50))[::-1] * np.geomspace(10, 0.1, 50)
    gram = (vectors * values) @ vectors.T
    for noise in (1e-1, 1e-4, 1e-8):
        basis = np.linalg.qr(vectors[:, :9] + noise * rng.standard_normal((50, 9)))[0]
        complement = np.linalg.qr(np.hstack([basis, rng.standard_normal((50, 41))]))[0][:, 9:]
        outside = float(np.linalg.eigvalsh(complement.T @ gram @ complement)[-1])
        found = residual_bounds(basis, gram @ basis, outside, error=0.0)
        assert np.all(found.lower <= values[:9] + 1e-13)
        assert np.all(found.upper >= values[:9] - 1e-13)
        assert found.upper[0] - found.lower[0] <= 200 * noise**2 * values[0] + 1e-12


@pytest.mark.parametrize("decay", [0.5, 0.9, 0.99])
def test_least_gain_is_a_lower_bound_of_what_the_values_still_lack(decay):
    rng, k = np.random.default_rng(7), 4
    values = decay ** np.arange(30)
    matrix = np.diag(values)
    for noise in (1e-8, 1e-3, 1.0):
        start = np.eye(30)[:, :10] + noise * rng.standard_normal((30, 10))
        basis = np.linalg.qr(start)[0]
        ritz, turn = (part[..., ::-1] for part in np.linalg.eigh(basis.T @ matrix @ basis))
        vectors = basis @ turn[:, :k]
        residuals = np.linalg.norm(matrix @ vectors - vectors * ritz[:k], axis=0)
        gain = least_gain(ritz[:k], residuals)
        assert 0.0 <= gain <= np.sum(values[:k]) - np.sum(ritz[:k]) + 64 * EPS
        assert gain >= 0.4 * np.max(residuals**2 / ritz[:k]) or noise == 1.0


@pytest.mark.parametrize("size", [1e-60, 1.0, 1e60])
@pytest.mark.parametrize("shape", [(3, 3), (50, 9), (3000, 20)])
def test_bounds_of_a_basis_of_long_vectors_stay_tight(shape, size):
    """The rounding of Q^T P does not grow with the number of rows."""
    rows, count = shape
    rng = np.random.default_rng(rows)
    basis = np.linalg.qr(np.ones(shape) + 1e-2 * rng.standard_normal(shape))[0]
    values = size * np.sort(rng.uniform(0.5, 1.0, count))[::-1]
    found = residual_bounds(basis, basis * values, 0.0, error=0.0)
    extended = basis.astype(np.longdouble)
    exact = np.linalg.eigvalsh(((extended.T @ extended) * (values / size)).astype(float))[::-1] * size
    assert np.all(found.lower <= exact + 1e-15 * size)
    assert np.all(found.upper >= exact - 1e-15 * size)
    assert np.max(found.upper - found.lower) < 2e-14 * count * size
