"""python -m benchmarks.gpu [row ...]: checks and times what runs on a GPU, each row next to its counted floor.

Rows: tall, large, square, sparse, host, nmf, kernel. Times are medians of warm calls, errors against a float64 answer.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

BANDWIDTH = 3.8e12
DOUBLES, FLOATS = 6.4e13, 5.1e13


def timed(work: Callable[[], Any], repeats: int = 5) -> tuple[float, Any]:
    import torch

    result = work()
    seconds = []
    for _ in range(repeats):
        torch.cuda.synchronize()
        start = time.perf_counter()
        result = work()
        torch.cuda.synchronize()
        seconds.append(time.perf_counter() - start)
    return float(np.median(seconds)), result


def dense(rows: int, columns: int, seed: int = 0) -> Any:
    """Float32 with a decaying spectrum, noise and an offset, made on the card."""
    import torch

    torch.manual_seed(seed)
    rank = 200
    basis = torch.linalg.qr(torch.randn(columns, rank, device="cuda"))[0]
    scale = torch.linspace(1, 0, rank, device="cuda") ** 2 * 10 + 0.1
    result = torch.empty(rows, columns, device="cuda")
    step = max(1, 2**27 // columns)
    for start in range(0, rows, step):
        stop = min(start + step, rows)
        scores = torch.randn(stop - start, rank, device="cuda") * scale
        result[start:stop] = scores @ basis.T + 0.05 * torch.randn(stop - start, columns, device="cuda") + 0.5
    return result


def exact_variances(data: Any, k: int) -> np.ndarray:
    """Leading variances by a float64 Gram matrix of the centred data."""
    import torch

    mean = torch.zeros(data.shape[1], device="cuda", dtype=torch.float64)
    step = max(1, 2**27 // data.shape[1])
    for start in range(0, data.shape[0], step):
        mean += data[start : start + step].double().sum(0)
    mean /= data.shape[0]
    gram = torch.zeros(data.shape[1], data.shape[1], device="cuda", dtype=torch.float64)
    for start in range(0, data.shape[0], step):
        block = data[start : start + step].double() - mean
        gram.addmm_(block.T, block)
    return torch.linalg.eigvalsh(gram).flip(0)[:k].cpu().numpy() / (data.shape[0] - 1)


def report(name: str, seconds: float, wanted: float, floor: float, **facts: Any) -> None:
    words = ", ".join(f"{key} {value}" for key, value in facts.items())
    print(
        f"| {name} | {seconds:.4f} | {wanted} | {floor:.4f} | {seconds / floor:.1f} x | "
        f"{'reached' if seconds <= wanted else 'SHORT'} | {words} |",
        flush=True,
    )


def fit_dense(name: str, rows: int, columns: int, wanted: float) -> None:
    import eckart as ek

    data = dense(rows, columns)
    k = 50
    truth = exact_variances(data, k)
    seconds, d = timed(lambda: ek.decompose(data, "pca", k=k), repeats=21)
    error = float(np.abs(np.asarray(d.explained_variance.cpu(), dtype=np.float64) / truth - 1).max())
    low, high = d.certificate.explained
    if d.info.solver == "gram":
        floor = max(4 * rows * columns / BANDWIDTH, rows * columns**2 / DOUBLES)
    else:
        floor = d.info.passes * max(4 * rows * columns / BANDWIDTH, 4 * rows * columns * d.info.block / FLOATS)
    report(
        name, seconds, wanted, floor, solver=d.info.solver, passes=d.info.passes, block=d.info.block,
        error=f"{error:.1e}", certified=f"{high - low:.1e}", proved=d.certificate.proved,
    )  # fmt: skip
    torch_lowrank(data, truth)


def torch_lowrank(data: Any, truth: np.ndarray) -> None:
    """PyTorch's own PCA on the same data, of few and of many iterations, with its error."""
    import torch

    for iterations in (2, 7):
        seconds, found = timed(lambda n=iterations: torch.pca_lowrank(data, q=len(truth), niter=n), repeats=3)
        variances = found[1].double().cpu().numpy() ** 2 / (data.shape[0] - 1)
        error = float(np.abs(variances / truth - 1).max())
        print(f"  torch.pca_lowrank, niter={iterations}: {seconds:.4f} s, error {error:.1e}", flush=True)


def cupy_svds(data: Any, reference: np.ndarray) -> None:
    """CuPy's own SVD of the same sparse matrix."""
    import cupy
    from cupyx.scipy.sparse.linalg import svds

    seconds, values = timed(lambda: svds(data, k=len(reference), return_singular_vectors=False), repeats=1)
    error = float(np.abs(np.sort(cupy.asnumpy(values))[::-1] / reference - 1).max())
    print(f"  cupyx svds: {seconds:.2f} s, error {error:.1e}", flush=True)


def sparse_data(rows: int, columns: int, entries: int, seed: int = 0) -> Any:
    """CSR on the card: columns by popularity, counts with a few topics in them."""
    import cupy
    from cupyx.scipy import sparse

    cupy.random.seed(seed)
    per_row = entries // rows
    topics, width = 80, columns // 40
    indices = cupy.empty((rows, per_row), dtype=cupy.int32)
    step = max(1, 2**25 // per_row)
    for start in range(0, rows, step):
        stop = min(start + step, rows)
        size = (stop - start, per_row)
        common = (columns * cupy.random.random(size) ** 2).astype(cupy.int32)
        topic = cupy.random.randint(0, topics, (size[0], 1))
        own = (topic * width // 2 + cupy.random.randint(0, width, size)) % columns
        mine = cupy.random.random(size) < 0.3
        indices[start:stop] = cupy.where(mine, own, common)
    indices.sort(axis=1)
    data = (1 + cupy.random.random(rows * per_row, dtype=cupy.float32) * 3).astype(cupy.float32)
    indptr = cupy.arange(0, rows * per_row + 1, per_row, dtype=cupy.int32)
    return sparse.csr_matrix((data, indices.ravel(), indptr), shape=(rows, columns))


def fit_sparse(wanted: float = 1.0, rows: int = 1_000_000, columns: int = 30_000, entries: int = 500_000_000) -> None:
    import cupy

    import eckart as ek
    from eckart.engine.backends.cuda.device_rows import as_device_csr, normal
    from eckart.engine.rows import RowBlocks

    data = sparse_data(rows, columns, entries)
    stored = as_device_csr(data)
    assert stored is not None
    opened = RowBlocks(stored, precision="float32")
    for width in (32, 40, 64):
        factor = cupy.random.standard_normal((columns, width), dtype=cupy.float32)
        seconds, _ = timed(lambda q=factor: normal(opened, q))
        count = stored.nnz * (8 + 2 * 4 * width)
        print(f"  fused product, {width} columns: {seconds:.4f} s, {count / seconds / 1e12:.2f} TB/s", flush=True)
    seconds, d = timed(lambda: ek.decompose(data, "svd", k=50), repeats=3)
    reference = ek.decompose(data.astype(cupy.float64), "svd", k=50, tol=1e-10)
    error = float(np.abs(cupy.asnumpy(d.values).astype(np.float64) / cupy.asnumpy(reference.values) - 1).max())
    low, high = d.certificate.explained
    floor = d.info.passes * stored.nnz * 8 / BANDWIDTH
    report(
        "sparse 1M x 30k, 5e8 nnz, k=50", seconds, wanted, floor, passes=d.info.passes, block=d.info.block,
        error=f"{error:.1e}", certified=f"{high - low:.1e}", proved=d.certificate.proved,
    )  # fmt: skip
    cupy_svds(data, cupy.asnumpy(reference.values))


def fit_host(gigabytes: float = 32.0, columns: int = 2048) -> None:
    """Data in the memory of the host, larger than is moved to the card at once."""
    import torch

    import eckart as ek
    from eckart.engine.backends.cuda import transfer

    rows = int(gigabytes * 1e9 / 4 / columns)
    data = np.empty((rows, columns), np.float32)
    step = 2**28 // columns
    basis = torch.randn(100, columns, device="cuda")
    for start in range(0, rows, step):
        stop = min(start + step, rows)
        scores = torch.randn(stop - start, 100, device="cuda") * torch.linspace(5, 0.2, 100, device="cuda")
        data[start:stop] = (scores @ basis + torch.randn(stop - start, columns, device="cuda")).cpu().numpy()
    pinned = torch.empty(2**28, pin_memory=True)
    there = torch.empty(2**28, device="cuda")
    bus, _ = timed(lambda: there.copy_(pinned, non_blocking=True))
    rate = 2**30 / bus
    mover = transfer.DeviceTransfer("cuda")
    block = data[: 2**28 // 4 // columns]

    def move() -> None:
        mover.accept(mover.load(block))

    moved, _ = timed(move)
    transfer.DeviceTransfer.whole = lambda *_: None  # as if the card were full
    seconds, d = timed(lambda: ek.decompose(data, "pca", k=50, device="cuda"), repeats=5)
    sample = data[:: max(1, rows // 50_000)].astype(np.float64)
    rough = np.linalg.eigvalsh(np.cov(sample.T))[::-1][:50]
    off = float(np.abs(np.asarray(d.explained_variance, dtype=np.float64) / rough - 1).max())
    report(
        f"host memory {data.nbytes / 1e9:.0f} GB f32, {columns} columns, k=50", seconds, data.nbytes / rate / 0.8,
        data.nbytes / rate, bus=f"{rate / 1e9:.1f} GB/s", one_block=f"{block.nbytes / moved / 1e9:.1f} GB/s",
        reached=f"{data.nbytes / seconds / 1e9:.1f} GB/s", passes=d.info.passes, solver=d.info.solver,
        against_a_sample=f"{off:.1e}",
    )  # fmt: skip


def scattered(rows: int, columns: int, per_row: int, seed: int = 0) -> Any:
    """CSR on the card: about as many entries in every row and in every column."""
    import cupy
    from cupyx.scipy import sparse

    cupy.random.seed(seed)
    indices = cupy.sort(cupy.random.randint(0, columns, (rows, per_row), dtype=cupy.int32), axis=1)
    data = 1 + cupy.random.random(rows * per_row, dtype=cupy.float32)
    indptr = cupy.arange(0, rows * per_row + 1, per_row, dtype=cupy.int32)
    result = sparse.csr_matrix((data, indices.ravel(), indptr), shape=(rows, columns))
    result.sum_duplicates()
    return result


def nmf_iteration(rows: int = 1_000_000, columns: int = 30_000, per_row: int = 50, k: int = 32) -> None:
    """Kullback-Leibler: one step of W and of H, compared with reading the entries and gathering the factors."""
    import cupy

    from eckart.nmf.formulate import make_problem
    from eckart.nmf.options import NMFOptions, check_settings
    from eckart.nmf.problem import Penalties
    from eckart.nmf.table import open_nonnegative

    data = scattered(rows, columns, per_row)
    left = cupy.random.random((rows, k), dtype=cupy.float32)
    right = cupy.random.random((columns, k), dtype=cupy.float32)
    settings = check_settings(data.shape, NMFOptions(k=k, beta_loss=1.0))
    problem = make_problem(open_nonnegative(data, missing="error"), settings, Penalties())
    for _ in range(3):  # as it is after the first iterations
        left = problem.rows(left, right, left, 0.0).new
        right = problem.columns(right, left, right, 0.0).new
    of_rows, _ = timed(lambda: problem.rows(left, right, left, 0.3))
    of_columns, _ = timed(lambda: problem.columns(right, left, right, 0.3))
    floor = 2 * data.nnz * (8 + 4 * k) / BANDWIDTH
    report(
        f"NMF, Kullback-Leibler, {data.nnz:.1e} entries, k={k}, one iteration", of_rows + of_columns, 5 * floor, floor,
        rows=f"{of_rows * 1e3:.1f} ms", columns=f"{of_columns * 1e3:.1f} ms",
    )  # fmt: skip


def kernel_tiles(size: int = 1_000_000, columns: int = 20, rank: int = 1000) -> None:
    """Kernel PCA by pivoted Cholesky: the rate of the products that make its factor, tiles of the kernel included."""
    import torch

    import eckart as ek
    from eckart.kernel_pca import cholesky
    from eckart.kernel_pca.kernel_matrix import KernelMatrix

    torch.manual_seed(0)
    data = torch.randn(size, columns, device="cuda") * torch.linspace(1.5, 0.3, columns, device="cuda")

    def fit() -> Any:
        return ek.decompose(data, "kernel_pca", k=20, solver="cholesky", max_rank=rank, approximation_error=1e-3, rng=0)

    seconds, d = timed(fit, repeats=3)
    marks: list[tuple[Any, Any]] = []
    work = [0.0]

    def marked(function: Callable[..., Any], count: Callable[..., float]) -> Callable[..., Any]:
        def run(*arguments: Any, **options: Any) -> Any:
            begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            begin.record()
            result = function(*arguments, **options)
            end.record()
            marks.append((begin, end))
            work[0] += count(*arguments)
            return result

        return run

    tiles, product = KernelMatrix.rows, cholesky.put_product
    KernelMatrix.rows = marked(tiles, lambda _, index, start, stop: 2.0 * len(index) * (stop - start) * columns)
    cholesky.put_product = marked(
        product, lambda first, second, _: 2.0 * first.shape[0] * second.shape[0] * second.shape[1]
    )
    fit()
    KernelMatrix.rows, cholesky.put_product = tiles, product
    torch.cuda.synchronize()
    spent = sum(begin.elapsed_time(end) for begin, end in marks) / 1e3
    floor = work[0] / FLOATS
    report(
        f"kernel PCA rbf, n={size:,}, d={columns}, rank {rank}: products of tiles", spent, 2 * floor, floor,
        rate=f"{work[0] / spent / 1e12:.1f} TFLOP/s", whole_fit=f"{seconds:.3f} s", rank=len(d.details.pivots),
        missing=f"{d.details.approximation_error:.4f}",
    )  # fmt: skip


ROWS: dict[str, Callable[[], None]] = {
    "tall": lambda: fit_dense("dense 2M x 1024 f32, k=50", 2_000_000, 1024, 0.11),
    "large": lambda: fit_dense("dense 200k x 10k f32, k=50", 200_000, 10_000, 0.07),
    "square": lambda: fit_dense("dense 20k x 20k f32, k=50", 20_000, 20_000, 0.025),
    "sparse": fit_sparse,
    "host": fit_host,
    "nmf": nmf_iteration,
    "kernel": kernel_tiles,
}


def main() -> None:
    wanted = sys.argv[1:] or list(ROWS)
    print("| work | s | to reach | floor s | over the floor | | |\n|---|---|---|---|---|---|---|")
    for name in wanted:
        try:
            ROWS[name]()
        except Exception as error:  # noqa: BLE001 - one row must not end the others
            import traceback

            traceback.print_exc()
            print(f"| {name} | failed: {error} |")


if __name__ == "__main__":
    main()
