"""The same bits for 1, 2 and 4 threads: every solver, storage and method, with default blocks."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

import eckart as ek

SEED = 20261116
SHAPES = {"tall": (5000, 70), "wide": (60, 4000), "square": (420, 400)}


def table(shape: tuple[int, int], dtype: str) -> np.ndarray:
    rng = np.random.default_rng([SEED, *shape])
    return (rng.standard_normal(shape) * np.arange(1, shape[1] + 1) ** -0.4 + 3.0).astype(dtype)


def bits(d: ek.Decomposition) -> list[bytes]:
    c = d.certificate
    arrays = [d.values, d.right, c.lower, c.upper, c.residuals, *c.explained]
    arrays += [] if d.left is None else [d.left]
    return [np.ascontiguousarray(array).tobytes() for array in arrays]


def assert_same_bits(work) -> None:
    found = []
    for count in (1, 2, 4):
        with threadpool_limits(count, user_api="blas"):
            found.append(work())
    for other in found[1:]:
        assert other == found[0]


def test_large_float32_tables() -> None:
    """So large that compiled loops multiply them."""
    data = table((3000, 1001), "f4")
    assert_same_bits(lambda: bits(ek.decompose(data, k=3, solver="lanczos")))


@pytest.mark.parametrize(
    "options", [{"explain": 0.9}, {"k": 4, "solver": "gram"}, {"k": 3, "which": "smallest"}], ids=str
)
def test_large_wide_tables(options: dict[str, object]) -> None:
    """Their Gram matrix is centred afterwards, by products that BLAS shares among threads."""
    data = table((900, 1000), "f8") - 3.0
    assert_same_bits(lambda: bits(ek.decompose(data, **options)))  # type: ignore[arg-type]


@pytest.mark.parametrize("which", ["largest", "smallest"])
def test_wide_blocks(which: str) -> None:
    """Of 75 and more columns, which BLAS shares among threads."""
    data = table((600, 300), "f8")
    assert_same_bits(lambda: bits(ek.decompose(data, k=75, which=which, solver="lanczos", tol=1e-3, max_passes=6)))


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("solver", ["auto", "direct", "gram", "lanczos"])
@pytest.mark.parametrize("storage", ["array", "fortran", "csr", "stream", "dask"])
def test_decompositions(shape: str, dtype: str, solver: str, storage: str) -> None:
    data = table(SHAPES[shape], dtype)
    if storage in ("csr", "stream", "dask") and solver == "direct":
        pytest.skip("of dense data in memory only")
    if storage in ("stream", "dask") and solver == "gram" and shape == "wide":
        pytest.skip("of all rows in memory only")
    given: object = data
    options: dict[str, object] = {}
    if storage == "fortran":
        given = np.asfortranarray(data)
    elif storage == "csr":
        given = sp.csr_array(data * (np.random.default_rng(SEED).random(data.shape) < 0.1))
    elif storage == "stream":
        options = {"stream": True}
    elif storage == "dask":
        given = pytest.importorskip("dask.array").from_array(data, chunks=(data.shape[0] // 4, -1))
    weights = np.random.default_rng(SEED).random(data.shape[0]) + 0.5

    def work() -> list[bytes]:
        plain = ek.decompose(given, "svd", k=4, solver=solver, left=storage == "array", **options)
        weighted = ek.decompose(given, "pca", k=4, solver=solver, scale=True, sample_weight=weights, **options)
        return [*bits(plain), *bits(weighted)]

    assert_same_bits(work)


@pytest.mark.parametrize("storage", ["csr", "stream"])
def test_sums_over_many_columns(storage: str) -> None:
    """BLAS shares the inner product of two vectors among its threads if they have more than 10,000 entries."""
    data = np.outer(np.random.default_rng(SEED).standard_normal(5), np.full(60_000, 0.1))
    given = sp.csr_array(np.where(np.abs(data) > np.median(np.abs(data)), data, 0.0)) if storage == "csr" else data
    assert_same_bits(
        lambda: bits(ek.decompose(given, k=1, left=True, solver="lanczos", rng=3, stream=storage == "stream"))
    )


@pytest.mark.parametrize("solver", ["direct", "lanczos", "cholesky"])
def test_kernel_pca(solver: str) -> None:
    data = table((900, 8), "f8")
    assert_same_bits(lambda: bits(ek.decompose(data, "kernel_pca", k=3, gamma=0.05, solver=solver)))


@pytest.mark.parametrize("loss", ["frobenius", "kullback-leibler"])
@pytest.mark.parametrize("stored", [False, True])
@pytest.mark.parametrize("rows", [300, 9000])
def test_nmf(loss: str, stored: bool, rows: int) -> None:
    data = np.abs(table((rows, 60), "f8")) * (np.random.default_rng(SEED).random((rows, 60)) < 0.4)
    given = sp.csr_array(data) if stored else data

    def work() -> list[bytes]:
        model = ek.NMF(4, beta_loss=loss, max_iter=12, tol=0.0, random_state=0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            scores = model.fit_transform(given)
        return [scores.tobytes(), model.components_.tobytes(), model.transform(given).tobytes()]

    assert_same_bits(work)


@pytest.mark.parametrize("method", ["cur", "isomap"])
def test_other_methods(method: str) -> None:
    data = table((700, 30), "f8")

    def work() -> list[bytes]:
        d = ek.decompose(data, method, k=3, rng=0)
        return [np.asarray(d.values).tobytes(), np.asarray(d.right if method == "cur" else d.left).tobytes()]

    assert_same_bits(work)


def test_all_eigenvalues_of_isomap() -> None:
    data = table((1300, 3), "f8")

    def work() -> list[bytes]:
        return bits(ek.decompose(data, "isomap", k=4, solver="direct"))

    assert_same_bits(work)


@pytest.mark.parametrize("core", ["best", "intersection"])
def test_cur_of_many_columns(core: str) -> None:
    rng = np.random.default_rng(SEED)
    data = rng.standard_normal((2500, 12)) @ rng.standard_normal((12, 400))
    data += 1e-8 * rng.standard_normal(data.shape)

    def work() -> list[bytes]:
        d = ek.decompose(data, "cur", k=12, select="norm", core=core, rng=0)
        return [np.asarray(d.right).tobytes(), np.float64(d.details.error).tobytes()]

    assert_same_bits(work)


def test_incremental_pca() -> None:
    data = table((3000, 50), "f8")

    def work() -> list[bytes]:
        model = ek.IncrementalPCA(5, batch_size=400).fit(data)
        return [model.components_.tobytes(), model.singular_values_.tobytes(), model.transform(data).tobytes()]

    assert_same_bits(work)


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_rows_from_scores_and_the_probabilistic_model(dtype: str) -> None:
    data = table((700, 900), dtype)
    model = ek.PCA(20, whiten=True, scale=True).fit(data)
    scores = model.transform(data)

    def work() -> list[bytes]:
        found = [model.inverse_transform(scores), model.get_covariance(), model.get_precision()]
        return [array.tobytes() for array in (*found, model.score_samples(data))]

    assert_same_bits(work)
