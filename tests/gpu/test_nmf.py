"""NMF on a GPU: the answers of the processor, where the data are. Without a GPU these tests are skipped, and say so."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import nnls
from sklearn.exceptions import ConvergenceWarning

import eckart as ek
from eckart.arrays import to_numpy
from eckart.errors import InputError
from eckart.nmf import formulate
from tests.gpu.test_svd import on_gpu
from tests.gpu.test_svd import pytestmark as needs_gpu

pytestmark = [
    needs_gpu,
    pytest.mark.filterwarnings("ignore:Sparse"),  # PyTorch calls its sparse tensors a trial, once
]
LOSSES = ("frobenius", "kullback-leibler")


def table(rows=900, columns=400, zeros=0.9, dtype="f8"):
    rng = np.random.default_rng(0)
    signal = rng.gamma(0.6, 1.0, (rows, 5)) @ rng.gamma(0.6, 1.0, (5, columns))
    signal = signal * (rng.random(signal.shape) > zeros) * (1 + 0.3 * rng.random(signal.shape))
    signal[11] = 0.0
    return signal.astype(dtype)


def start(shape, k, dtype):
    rng = np.random.default_rng(1)
    return (rng.random((shape[0], k)) + 0.1).astype(dtype), (rng.random((k, shape[1])) + 0.1).astype(dtype)


def both(data, library, k=4, size=1.0, **options):
    """(model, W) of the processor and of the GPU, from the same start, whose product is about `size`."""
    W, H = (factor * size**0.5 for factor in start(data.shape, k, data.dtype))
    found = []
    for place in (lambda x: x, lambda x: on_gpu(x, library)):
        model = ek.NMF(k, init="custom", **{"max_iter": 25, "tol": 0.0, **options})
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            found.append((model, model.fit_transform(place(data), W=place(W), H=place(H))))
    return found


@pytest.fixture
def same_steps(monkeypatch):
    """The processor takes Newton steps for Kullback-Leibler of stored entries; this has it sweep as the GPU does."""
    return lambda: monkeypatch.setattr(formulate, "MOST_NEWTON_PARTS", 0)


def is_there(array, library):
    return type(array).__module__.partition(".")[0] == library and "cuda" in str(array.device).lower()


@pytest.mark.parametrize("library", ["torch", "cupy"])
@pytest.mark.parametrize("kind", ["dense", "sparse"])
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("penalty", [0.0, 1e-4])
def test_the_answer_of_the_processor(library, kind, loss, dtype, penalty, same_steps):
    if kind == "sparse":
        same_steps()
    X = table(zeros=0.3 if kind == "dense" else 0.9, dtype=dtype)
    data = sp.csr_array(X) if kind == "sparse" else X
    (here, W), (there, V) = both(data, library, beta_loss=loss, alpha_W=penalty, l1_ratio=0.5)
    back = there.inverse_transform(V)
    for array in (V, there.components_, there.decomposition_.right, there.transform(on_gpu(data, library)), back):
        assert is_there(array, library)
        assert array.dtype == V.dtype
    assert to_numpy(V).dtype == X.dtype
    error = 1e-6 if dtype == "f8" else 1e-2
    assert np.abs(to_numpy(back) - W @ here.components_).max() < error * X.max()
    assert there.reconstruction_err_ == pytest.approx(here.reconstruction_err_, rel=error)
    assert np.all(np.diff(there.loss_history_) <= 0.0)
    if loss == "frobenius":
        squares = np.linalg.svd(X.astype(float), compute_uv=False) ** 2
        best = squares[:4].sum() / squares.sum()
        for model in (here, there):  # the bound from above depends on the passes that its SVD takes
            low, high = model.certificate_.explained
            assert low == pytest.approx(here.certificate_.explained[0], rel=error)
            assert best * (1 - 1e-6) <= high <= 1.25 * best


@pytest.mark.parametrize("library", ["torch", "cupy"])
@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_sweeps_reach_the_loss_of_newton_steps(library, dtype):
    data = sp.csr_array(table(dtype=dtype))
    (here, _), (there, _) = both(data, library, beta_loss="kullback-leibler", max_iter=400, tol=1e-5)
    assert there.reconstruction_err_ == pytest.approx(here.reconstruction_err_, rel=5e-3)
    rows = to_numpy(there.transform(on_gpu(data, library)))
    assert there.n_iter_ < 400
    assert np.all(np.isfinite(rows))


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("k", [1, 4, 5, 12, 32, 64, 70, 256])
def test_rows_and_parts_of_any_size(loss, k, same_steps):
    same_steps()
    rng = np.random.default_rng(2)
    lengths = np.array([0, 1, 30, 33, 48, 49, 56, 64, 65, 128, 250, 300, 512, 513, 1500, 1790, 2048, 2049, 4000])
    indices = np.concatenate([rng.choice(5000, n, replace=False) for n in lengths])
    data = sp.csr_array((rng.gamma(1.0, 1.0, lengths.sum()), indices, [0, *np.cumsum(lengths)]), (len(lengths), 5000))
    data.sort_indices()
    (here, W), (there, V) = both(data, "cupy", k=k, beta_loss=loss, max_iter=4)
    assert np.allclose(to_numpy(V), W, rtol=1e-6, atol=1e-7 * W.max())
    assert np.allclose(there.loss_history_, here.loss_history_, rtol=1e-9)


@pytest.mark.parametrize("library", ["torch", "cupy"])
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_unknown_entries_are_left_out(library, loss, kind, same_steps):
    same_steps()
    X = table(zeros=0.2)
    if kind == "sparse":
        data = sp.csr_array(table())
    else:
        data = np.where(np.random.default_rng(3).random(X.shape) < 0.3, np.nan, X)
    (here, W), (there, V) = both(data, library, beta_loss=loss, missing="mask")
    assert np.allclose(to_numpy(V), W, rtol=1e-5, atol=1e-6 * W.max())
    assert there.reconstruction_err_ == pytest.approx(here.reconstruction_err_, rel=1e-6)


@pytest.mark.parametrize("library", ["torch", "cupy"])
@pytest.mark.parametrize("solver", ["mu", "cd"])
def test_other_solvers(library, solver):
    data = table(zeros=0.3)
    (here, W), (there, V) = both(data, library, solver=solver)
    assert np.allclose(to_numpy(V), W, rtol=1e-6, atol=1e-9)
    # Where updates have not arrived, W is not what `transform` finds: that goes on to the end, here and there.
    exact = np.array([nnls(here.components_.T, row)[0] for row in data])
    for found in (here.transform(data), to_numpy(there.transform(on_gpu(data, library)))):
        assert np.abs(found - exact).max() < 1e-6 * exact.max()


@pytest.mark.parametrize("library", ["torch", "cupy"])
@pytest.mark.parametrize("init", [None, "random", "nndsvdar"])
@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_starts(library, init, kind):
    X = table(zeros=0.3 if kind == "dense" else 0.9)
    data = sp.csr_array(X) if kind == "sparse" else X
    here, there = ek.NMF(4, init=init), ek.NMF(4, init=init)
    here.fit(data)
    there.fit(on_gpu(data, library))
    assert there.reconstruction_err_ == pytest.approx(here.reconstruction_err_, rel=1e-3)


@pytest.mark.parametrize("library", ["torch", "cupy"])
@pytest.mark.parametrize("size", [1e200, 1e-200])
@pytest.mark.parametrize("loss", LOSSES)
def test_huge_and_tiny_numbers(library, size, loss, same_steps):
    same_steps()
    data = sp.csr_array(table() * size)
    # From a start that is 1e200 times too large the first step leaves nothing but rounding, and that differs.
    (_, W), (_, V) = both(data, library, beta_loss=loss, size=size)
    assert np.allclose(to_numpy(V), W, rtol=1e-4, atol=1e-5 * W.max())


@pytest.mark.parametrize("library", ["torch", "cupy"])
def test_what_works_on_the_host_only_is_said(library):
    data = on_gpu(table(), library)
    with pytest.raises(InputError, match="need the data on the host"):
        ek.NMF(3, solver="mu", beta_loss="kullback-leibler").fit(data)
    with pytest.raises(InputError, match="these rows are on a GPU"):
        ek.NMF(3).partial_fit(data)
    with pytest.raises(InputError, match="Negative values"):
        ek.NMF(3).fit(-data)


@pytest.mark.parametrize("library", ["torch", "cupy"])
def test_decompose_and_project(library):
    data = on_gpu(table(zeros=0.3), library)
    d = ek.decompose(data, "nmf", k=3, left=True)
    scores = ek.project(d, data)
    assert is_there(scores, library)
    assert np.abs(to_numpy(scores - d.left * d.values)).max() < 1e-3 * to_numpy(d.values).max()
    assert is_there(ek.reconstruct(d, scores), library)


@pytest.mark.parametrize("library", ["torch", "cupy"])
@pytest.mark.parametrize("kind", ["dense", "sparse"])
@pytest.mark.parametrize("missing", ["error", "mask"])
def test_recorded_steps_give_what_they_give_as_they_come(library, kind, missing, monkeypatch):
    from eckart.engine.backends.cuda import graph as cuda_graph
    from eckart.nmf import device as nmf_device

    recorded = []
    for name in ("_record_torch", "_record_cupy"):
        record = getattr(cuda_graph, name)
        monkeypatch.setattr(
            cuda_graph, name, lambda *given, record=record: recorded.append(record(*given)) or recorded[-1]
        )
    X = table(zeros=0.3 if kind == "dense" else 0.9, dtype="f4")
    data = on_gpu(sp.csr_array(X) if kind == "sparse" else X, library)

    def fitted():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            return ek.NMF(4, init="random", random_state=0, missing=missing, max_iter=40, tol=0.0).fit(data)

    once = fitted()
    if library == "torch" or missing == "mask":  # CuPy does not record products of matrices
        assert len(recorded) >= 2  # the steps of both factors
    monkeypatch.setattr(nmf_device, "RECORDED_VALUES", 0)
    count = len(recorded)
    plain = fitted()
    assert len(recorded) == count
    np.testing.assert_allclose(to_numpy(once.components_), to_numpy(plain.components_), rtol=1e-4, atol=1e-5)
    assert once.n_iter_ == plain.n_iter_
