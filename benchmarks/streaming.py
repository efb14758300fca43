"""python -m benchmarks.streaming [row ...]: data larger than the memory allowed, and a Dask cluster, against peers.

Rows: npy, incremental, sparse, dask. Each work runs in a process of its own; peak is its resident memory, all of it.
`--scale 0.25` takes a quarter of the rows.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path
from typing import Any

import numpy as np

FOLDER = Path(tempfile.gettempdir()) / "eckart-bench"
COLUMNS, K = 1000, 50

_HEAD = """
import json, sys, time
import numpy as np
def report(seconds, **facts):
    # Not ru_maxrss: that counts what the parent held when it forked.
    status = open("/proc/self/status").read()
    peak = int(status.split("VmHWM:")[1].split()[0]) / 1e6
    print("RESULT " + json.dumps({"seconds": seconds, "peak_gb": round(peak, 3), **facts}), flush=True)
"""


def run(code: str, *arguments: Any, limit: int = 900) -> dict[str, Any]:
    program = _HEAD + textwrap.dedent(code)
    command = [sys.executable, "-W", "ignore", "-c", program, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=limit, check=False)
    for line in done.stdout.splitlines():
        if line.startswith("RESULT "):
            found: dict[str, Any] = json.loads(line[7:])
            return found
    raise RuntimeError(done.stderr[-2000:])


def large_npy(rows: int) -> Path:
    """rows x 1000 float32: sixty directions, noise, an offset."""
    path = FOLDER / f"tall-{rows}.npy"
    if path.exists():
        return path
    rng = np.random.default_rng(0)
    basis = rng.standard_normal((60, COLUMNS), dtype="f4") * np.linspace(3, 0.3, 60, dtype="f4")[:, None]
    draft = path.with_suffix(".tmp")
    with draft.open("wb") as file:
        header = {"descr": "<f4", "fortran_order": False, "shape": (rows, COLUMNS)}
        np.lib.format.write_array_header_1_0(file, header)
        for start in range(0, rows, 50_000):
            count = min(50_000, rows - start)
            block = rng.standard_normal((count, 60), dtype="f4") @ basis
            file.write((block + 0.3 * rng.standard_normal((count, COLUMNS), dtype="f4") + 5).data)
    draft.rename(path)
    return path


READ = """
    start = time.perf_counter()
    with open(sys.argv[1], "rb", buffering=0) as file:
        buffer = bytearray(1 << 26)
        while file.readinto(buffer):
            pass
    report(time.perf_counter() - start)
"""
GRAM = """
    rows, block = int(sys.argv[1]), np.random.default_rng(0).standard_normal((50_000, 1000), dtype="f4")
    block.T @ block
    start = time.perf_counter()
    for _ in range(0, rows, 50_000):
        block.T @ block
    report(time.perf_counter() - start)
"""
OURS = """
    import eckart as ek
    start = time.perf_counter()
    d = ek.decompose(sys.argv[1], "pca", k=50, memory="1GB")
    seconds = time.perf_counter() - start
    report(seconds, reads=d.info.reads, values=np.asarray(d.values, float).tolist(), solver=d.info.solver)
"""
EXACT = """
    data = np.load(sys.argv[1], mmap_mode="r")
    mean = sum(data[i:i+50000].sum(0, dtype=np.float64) for i in range(0, len(data), 50000)) / len(data)
    gram = np.zeros((data.shape[1],) * 2)
    for i in range(0, len(data), 20000):
        block = data[i:i+20000].astype(np.float64) - mean
        gram += block.T @ block
    report(0.0, values=np.sqrt(np.linalg.eigvalsh(gram)[::-1][:50]).tolist())
"""


def error(found: dict[str, Any], truth: dict[str, Any]) -> float:
    return float(np.abs(np.array(found["values"]) / np.array(truth["values"]) - 1).max())


def npy(scale: float) -> None:
    rows = int(2_000_000 * scale)
    path = large_npy(rows)
    reading, gram, ours = run(READ, path), run(GRAM, rows), run(OURS, path)
    truth = run(EXACT, path)
    floor = max(reading["seconds"], gram["seconds"])
    print(
        f"| PCA of {path.stat().st_size / 1e9:.1f} GB .npy, budget 1 GB | {ours['seconds']:.1f} s | reading "
        f"{reading['seconds']:.1f} s, bare Gram {gram['seconds']:.1f} s | {ours['seconds'] / floor:.2f} x the larger "
        f"(to reach 1.3) | peak {ours['peak_gb']} GB (to reach 1.1) | passes {ours['passes']} | "
        f"error {error(ours, truth):.1e} (to reach 1e-6) |",
        flush=True,
    )


INCREMENTAL = """
    from sklearn.decomposition import IncrementalPCA
    data = np.load(sys.argv[1], mmap_mode="r")
    start = time.perf_counter()
    p = IncrementalPCA(50, batch_size=5000).fit(data)
    report(time.perf_counter() - start, values=p.singular_values_.tolist())
"""


def incremental(scale: float) -> None:
    """A quarter of the rows: scikit-learn would take too long on all of them."""
    path = large_npy(int(400_000 * scale))
    ours, peer, truth = run(OURS, path), run(INCREMENTAL, path), run(EXACT, path)
    print(
        f"| against IncrementalPCA, {path.stat().st_size / 1e9:.1f} GB, k=50 | {ours['seconds']:.1f} s, error "
        f"{error(ours, truth):.1e} | scikit-learn {peer['seconds']:.1f} s, error {error(peer, truth):.1e} | "
        f"{peer['seconds'] / ours['seconds']:.1f} x (to reach 10) |",
        flush=True,
    )


SPARSE = """
    import eckart as ek
    start = time.perf_counter()
    d = ek.decompose(sys.argv[1], "svd", k=30, memory="1GB")
    c = d.certificate
    report(time.perf_counter() - start, reads=d.info.reads, steps=d.info.steps, proved=c.proved, explained=c.explained)
"""
MAKE_SPARSE = """
    import h5py
    rows, path = int(sys.argv[2]), sys.argv[1]
    rng = np.random.default_rng(0)
    with h5py.File(path, "w") as file:
        group = file.create_group("X")
        group.attrs["encoding-type"], group.attrs["shape"] = "csr_matrix", (rows, 20000)
        data = group.create_dataset("data", (rows * 50,), "f4", chunks=(1 << 18,))
        indices = group.create_dataset("indices", (rows * 50,), "i4", chunks=(1 << 18,))
        group.create_dataset("indptr", data=np.arange(0, rows * 50 + 1, 50))
        for i in range(0, rows, 50000):
            topic = rng.integers(0, 60, (50000, 1))
            common = (20000 * rng.random((50000, 50)) ** 3).astype("i4")
            own = (topic * 300 + rng.integers(0, 600, (50000, 50))) % 20000
            block = np.sort(np.where(rng.random((50000, 50)) < 0.4, own, common), axis=1)
            indices[i * 50 : (i + 50000) * 50] = block.ravel()
            data[i * 50 : (i + 50000) * 50] = 1 + rng.random(50000 * 50, dtype="f4") * 3
    report(0.0)
"""


def sparse(scale: float) -> None:
    rows = int(1_000_000 * scale)
    path = FOLDER / f"sparse-{rows}.h5ad"
    if not path.exists():
        run(MAKE_SPARSE, path, rows)
    ours = run(SPARSE, path)
    print(
        f"| sparse {rows * 50:.1e} nnz in .h5ad, k=30, budget 1 GB | {ours['seconds']:.1f} s | "
        f"peak {ours['peak_gb']} GB | passes {ours['passes']}, steps {ours['steps']} | proved {ours['proved']} "
        f"{ours['explained']} |",
        flush=True,
    )


DASK = """
    import os, threading
    import dask.array as da
    def main():
        from dask.distributed import Client, LocalCluster
        import psutil
        peak = [0]
        def watch(pids):
            while peak[0] >= 0:
                total = sum(psutil.Process(p).memory_info().rss for p in pids if psutil.pid_exists(p))
                peak[0] = max(peak[0], total); time.sleep(0.02)
        where = {"dashboard_address": None, "host": "127.0.0.1", "silence_logs": 50}
        cluster = LocalCluster(n_workers=2, threads_per_worker=1, **where)
        with cluster, Client(cluster) as client:
            data = np.load(sys.argv[1])
            x = da.from_array(data, chunks=(10000, 300)).persist()
            pids = [os.getpid(), *client.run(os.getpid).values()]
            threading.Thread(target=watch, args=(pids,), daemon=True).start()
            which = sys.argv[2]
            def fit():
                if which == "eckart":
                    import eckart as ek
                    return np.asarray(ek.decompose(x, "pca", k=10).values)
                if which == "svd_compressed":
                    _, s, _ = da.linalg.svd_compressed(x - x.mean(0), 10, n_power_iter=4, iterator="QR", compute=True)
                    return s.compute()
                from dask_ml.decomposition import PCA
                return PCA(10, svd_solver=which, iterated_power=4).fit(x).singular_values_
            fit()
            times = []
            for _ in range(3):
                start = time.perf_counter(); values = fit(); times.append(time.perf_counter() - start)
            report(sorted(times)[1], values=np.asarray(values, float).tolist(), resident_gb=round(peak[0] / 1e9, 2))
    if __name__ == "__main__":
        main()
"""


def run_file(code: str, *arguments: Any) -> dict[str, Any]:
    """Worker processes import the main module again, so it must be a file."""
    path = FOLDER / "dask_work.py"
    path.write_text(_HEAD + textwrap.dedent(code))
    done = subprocess.run(
        [sys.executable, "-W", "ignore", str(path), *map(str, arguments)], capture_output=True, text=True,
        timeout=600, check=False,
    )  # fmt: skip
    for line in done.stdout.splitlines():
        if line.startswith("RESULT "):
            found: dict[str, Any] = json.loads(line[7:])
            return found
    return {"failed": done.stderr.strip().splitlines()[-1] if done.stderr.strip() else "no answer"}


def dask(_scale: float) -> None:
    path = FOLDER / "dask.npy"
    rng = np.random.default_rng(0)
    data = rng.standard_normal((200_000, 40)) @ (rng.standard_normal((40, 300)) * np.linspace(3, 0.2, 40)[:, None])
    data = (data + 0.5 * rng.standard_normal(data.shape)).astype("f4")
    np.save(path, data)
    truth = np.linalg.svd((data - data.mean(0, dtype=np.float64)), compute_uv=False)[:10]
    for which in ("eckart", "tsqr", "randomized", "svd_compressed", "eckart"):
        found = run_file(DASK, path, which)
        if "failed" in found:
            print(f"| dask 200k x 300, 20 chunks: {which} | {found['failed']} |")
            continue
        off = float(np.abs(np.array(found["values"]) / truth - 1).max())
        print(
            f"| dask 200k x 300, 20 chunks: {which} | {found['seconds']:.2f} s | error {off:.1e} | "
            f"resident {found['resident_gb']} GB |",
            flush=True,
        )


ROWS = {"npy": npy, "incremental": incremental, "sparse": sparse, "dask": dask}


def main() -> None:
    arguments = sys.argv[1:]
    scale = 1.0
    if "--scale" in arguments:
        place = arguments.index("--scale")
        scale = float(arguments[place + 1])
        del arguments[place : place + 2]
    FOLDER.mkdir(exist_ok=True)
    for name in arguments or list(ROWS):
        ROWS[name](scale)


if __name__ == "__main__":
    main()
