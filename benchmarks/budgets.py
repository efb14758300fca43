"""python -m benchmarks.budgets [kind ...]: peak memory of a fit with memory="300MB" on files of 1 GB, for every format.

`--memory 100` measures with another limit, in megabytes.

Each file is written by a process of its own, fitted through Python (`ek.decompose`) and through the command line
(`eckart fit`), and removed. The peak is VmHWM of the whole process, with the interpreter and all libraries in it; the
base is what `import eckart` and one small fit take. `--size 0.25` takes a quarter of the bytes, `--list` names kinds.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path
from typing import Any

BUDGET, ALLOWANCE = 300, 150
"""Megabytes: what is allowed, and what the interpreter and the libraries may take in addition."""

_PEAK = """
def peak():
    return int(open("/proc/self/status").read().split("VmHWM:")[1].split()[0]) / 1e3
"""
_BASE = """
    import numpy as np, eckart as ek
    ek.decompose(np.random.default_rng(0).standard_normal((50, 4)), k=2)
    print(json.dumps({"peak": peak()}))
"""
_PYTHON = """
    import eckart as ek
    try:
        d = ek.decompose(sys.argv[1], k=2, memory=sys.argv[2])
        print(json.dumps({"peak": peak(), "passes": d.info.passes, "solver": d.info.solver}))
    except ek.errors.EckartError as error:
        print(json.dumps({"peak": peak(), "refused": str(error)}))
"""
_COMMAND = """
    import contextlib, io
    from eckart.cli import main
    said, code = io.StringIO(), 0
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        try:
            model = sys.argv[1] + ".eckart"
            code = main(["fit", sys.argv[1], "-k", "2", "--memory", sys.argv[2], "-o", model, "--force"])
        except SystemExit as ended:
            code = ended.code
    print(json.dumps({"peak": peak(), **({"refused": said.getvalue().strip()} if code else {})}))
"""
_WRITE = """
    import numpy as np
    path, size, kind, columns = sys.argv[1], int(float(sys.argv[2])), sys.argv[3], int(sys.argv[4])
    rng = np.random.default_rng(1)
    rows = size // (8 * columns)
    step = max(1, (1 << 22) // columns)
    basis = rng.standard_normal((6, columns))
    def blocks(digits=None):
        for start in range(0, rows, step):
            count = min(step, rows - start)
            block = rng.standard_normal((count, 6)) @ basis + rng.standard_normal((count, columns)) + 3
            yield start, block if digits is None else np.round(block, digits)
    def csr(step=20000, filled=50):
        count = size // (12 * filled)
        for start in range(0, count, step):
            here = min(step, count - start)
            indices = np.sort((columns * rng.random((here, filled)) ** 2).astype("i4"), axis=1)
            yield start, count, indices, rng.random((here, filled))
"""
_WRITERS = {
    "npy": """
    with open(path, "wb") as file:
        np.lib.format.write_array_header_1_0(file, {"descr": "<f8", "fortran_order": False, "shape": (rows, columns)})
        for _, block in blocks():
            file.write(block.data)
    """,
    "fortran.npy": """
    array = np.lib.format.open_memmap(path, "w+", "<f8", (rows, columns), fortran_order=True)
    for start, block in blocks():
        array[start : start + len(block)] = block
    """,
    "parquet": """
    import pyarrow as pa
    from pyarrow import parquet
    group, dictionary, packed = (int(sys.argv[5]) or rows), sys.argv[6] == "dictionary", sys.argv[7]
    # One row group is written from one table: the writer would cut it otherwise.
    pieces = [block for _, block in blocks(1 if dictionary else None)]
    whole = np.concatenate(pieces)
    del pieces
    table = pa.table({f"c{j}": whole[:, j].copy() for j in range(columns)})
    del whole
    pages = {"data_page_size": 1 << 28, "max_rows_per_page": 1 << 24} if sys.argv[6] == "large" else {}
    parquet.write_table(table, path, row_group_size=group, use_dictionary=dictionary, compression=packed,
                        dictionary_pagesize_limit=1 << 30 if dictionary else 1 << 20, **pages)
    """,
    "arrow": """
    import pyarrow as pa
    group, packed = (int(sys.argv[5]) or rows), None if sys.argv[6] == "none" else sys.argv[6]
    whole = np.concatenate([block for _, block in blocks()])
    table = pa.table({f"c{j}": whole[:, j].copy() for j in range(columns)})
    del whole
    options = pa.ipc.IpcWriteOptions(compression=packed)
    with pa.OSFile(path, "wb") as sink, pa.ipc.new_file(sink, table.schema, options=options) as writer:
        writer.write_table(table, max_chunksize=group)
    """,
    "csv": """
    import io
    text = io.BytesIO()
    np.savetxt(text, next(blocks(4))[1], "%.4f", ",")  # the same rows over and over: formatting takes longest
    with open(path, "wb") as file:
        file.write((",".join(f"c{j}" for j in range(columns)) + chr(10)).encode())
        while file.tell() < size:
            file.write(text.getbuffer())
    """,
    "npz": """
    from scipy import sparse
    parts = list(csr())
    count = parts[0][1]
    indices = np.concatenate([part[2].ravel() for part in parts])
    data = np.concatenate([part[3].ravel() for part in parts])
    del parts
    matrix = sparse.csr_array((data, indices, np.arange(0, count * 50 + 1, 50)), shape=(count, columns))
    sparse.save_npz(path, matrix, compressed=sys.argv[5] == "packed")
    """,
    "h5ad": """
    import h5py
    with h5py.File(path, "w") as file:
        if sys.argv[5] == "dense":
            array = file.create_dataset("X", (rows, columns), "f8", chunks=(max(1, (1 << 17) // columns), columns))
            for start, block in blocks():
                array[start : start + len(block)] = block
        else:
            group = file.create_group("X")
            for start, count, indices, data in csr():
                if not start:
                    group.attrs["encoding-type"], group.attrs["shape"] = "csr_matrix", (count, columns)
                    group.create_dataset("indptr", data=np.arange(0, count * 50 + 1, 50))
                    packed = "gzip" if sys.argv[5] == "packed" else None
                    options = {"chunks": (1 << 16,), "compression": packed, "compression_opts": 1 if packed else None}
                    group.create_dataset("data", (count * 50,), "f8", **options)
                    group.create_dataset("indices", (count * 50,), "i4", **options)
                group["data"][start * 50 : start * 50 + data.size] = data.ravel()
                group["indices"][start * 50 : start * 50 + data.size] = indices.ravel()
    """,
    "h5": """
    import h5py
    with h5py.File(path, "w") as file:
        array = file.create_dataset("matrix", (rows, columns), "f8")
        for start, block in blocks():
            array[start : start + len(block)] = block
    """,
    "zarr": """
    import zarr
    chunk = int(sys.argv[5]) or max(1, (1 << 17) // columns)
    array = zarr.create_array(path, shape=(rows, columns), chunks=(chunk, columns), dtype="f8")
    for start in range(0, rows, chunk):
        count = min(chunk, rows - start)
        array[start : start + count] = rng.standard_normal((count, 6)) @ basis + rng.standard_normal((count, columns))
    """,
    "zarr by columns": """
    import zarr
    array = zarr.create_array(path, shape=(rows, columns), chunks=(rows, int(sys.argv[5])), dtype="f8")
    scores = rng.standard_normal((rows, 6))
    for start in range(0, columns, int(sys.argv[5])):
        some = slice(start, start + int(sys.argv[5]))
        array[:, some] = scores @ basis[:, some] + rng.standard_normal((rows, len(basis[0, some])))
    """,
    "csr zarr": """
    import zarr
    group = zarr.open_group(path, mode="w").create_group("X")
    count = size // (12 * 50)
    group.attrs["encoding-type"], group.attrs["shape"] = "csr_matrix", [count, columns]
    group.create_array("indptr", data=np.arange(0, count * 50 + 1, 50))
    data = group.create_array("data", shape=(count * 50,), chunks=(1 << 17,), dtype="f8")
    index = group.create_array("indices", shape=(count * 50,), chunks=(1 << 17,), dtype="i4")
    for start, _, indices, numbers in csr(step=(1 << 17) * 8 // 50):
        data[start * 50 : start * 50 + numbers.size] = numbers.ravel()
        index[start * 50 : start * 50 + numbers.size] = indices.ravel()
    """,
    "h5 by columns": """
    import h5py
    with h5py.File(path, "w") as file:
        array = file.create_dataset("matrix", (rows, columns), "f8", chunks=(rows // 4, int(sys.argv[5])))
        scores = rng.standard_normal((rows, 6))
        for start in range(0, columns, int(sys.argv[5])):
            some = slice(start, start + int(sys.argv[5]))
            array[:, some] = scores @ basis[:, some] + rng.standard_normal((rows, len(basis[0, some])))
    """,
    "dense npz": """
    import zipfile
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive, archive.open("x.npy", "w", force_zip64=True) as out:
        np.lib.format.write_array_header_1_0(out, {"descr": "<f8", "fortran_order": False, "shape": (rows, columns)})
        for _, block in blocks():
            out.write(block.data)
    """,
    "mtx": """
    import pyarrow as pa
    from pyarrow import csv
    options = csv.WriteOptions(include_header=False, delimiter=" ")
    with open(path, "wb") as file:
        count = size // (20 * 50)
        file.write(f"%%MatrixMarket matrix coordinate real general{chr(10)}{count} {columns} {count * 50}".encode())
        file.write(chr(10).encode())
        for start in range(0, count, 2000):
            here = min(2000, count - start)
            row = np.repeat(np.arange(start + 1, start + here + 1), 50)
            column = (columns * rng.random(here * 50) ** 2).astype(int) + 1
            csv.write_csv(pa.table([row, column, np.round(rng.random(here * 50), 5)], names="ijx"), file, options)
    """,
    "mtx by columns": """
    import pyarrow as pa
    from pyarrow import csv
    options = csv.WriteOptions(include_header=False, delimiter=" ")
    with open(path, "wb") as file:
        filled = (size // 20 * np.diff(np.linspace(0, 1, columns + 1) ** 0.5)).astype(int) + 1
        total, count = filled.sum(), size // 20 // 50
        file.write(f"%%MatrixMarket matrix coordinate real general{chr(10)}{count} {columns} {total}".encode())
        file.write(chr(10).encode())
        for start in range(0, columns, 20):
            row = rng.integers(1, count + 1, filled[start : start + 20].sum())
            column = np.repeat(np.arange(start + 1, start + 21), filled[start : start + 20])
            csv.write_csv(pa.table([row, column, np.round(rng.random(len(row)), 5)], names="ijx"), file, options)
    """,
    "mtx array": """
    import io
    text = io.BytesIO()
    np.savetxt(text, np.round(rng.standard_normal(1 << 17), 4), "%.4f")
    with open(path, "wb") as file:
        count = size // len(text.getbuffer()) * (1 << 17) // columns
        file.write(f"%%MatrixMarket matrix array real general{chr(10)}{count} {columns}{chr(10)}".encode())
        written = 0
        while written + (1 << 17) <= count * columns:
            file.write(text.getbuffer())
            written += 1 << 17
        file.write(b"1.5" + chr(10).encode() + (b"1.5" + chr(10).encode()) * (count * columns - written - 1))
    """,
    "csv triplets": """
    import pyarrow as pa
    from pyarrow import csv
    with open(path, "wb") as file:
        file.write(b"row,column,value" + chr(10).encode())
        options, start = csv.WriteOptions(include_header=False), 0
        while file.tell() < size:
            row = np.arange(start, start + (1 << 20)) // 50
            column = (columns * rng.random(1 << 20) ** 2).astype(int)
            csv.write_csv(pa.table([row, column, np.round(rng.random(1 << 20), 5)], names="ijx"), file, options)
            start += 1 << 20
    """,
    "packed csv": """
    import gzip, io
    text = io.BytesIO()
    np.savetxt(text, next(blocks(4))[1], "%.4f", ",")
    with gzip.open(path, "wb", 1) as file:
        file.write((",".join(f"c{j}" for j in range(columns)) + chr(10)).encode())
        written = 0
        while written < size:
            written += file.write(text.getbuffer())
    """,
    "triplets": """
    import pyarrow as pa
    from pyarrow import parquet
    count = size // 24
    schema = pa.schema([("row", pa.int64()), ("column", pa.int64()), ("value", pa.float64())])
    with parquet.ParquetWriter(path, schema, use_dictionary=False, compression="none") as writer:
        for start in range(0, count, 1 << 20):
            here = min(1 << 20, count - start)
            row = np.arange(start, start + here) // 50
            column = (columns * rng.random(here) ** 2).astype(int)
            writer.write_table(pa.table([row, column, rng.random(here)], schema=schema))
    """,
}  # fmt: skip
_CSR = 20_000
"""Columns of the sparse files."""

KINDS: dict[str, tuple[str, str, list[object]]] = {
    "npy": ("x.npy", "npy", [200]),
    "npy wide": ("x.npy", "npy", [4000]),
    "npy by columns": ("x.npy", "fortran.npy", [200]),
    "npy by columns, wide": ("x.npy", "fortran.npy", [4000]),
    "parquet, many groups": ("x.parquet", "parquet", [50, 100_000, "plain", "snappy"]),
    "parquet, one group": ("x.parquet", "parquet", [50, 0, "plain", "snappy"]),
    "parquet, one group, plain": ("x.parquet", "parquet", [50, 0, "plain", "none"]),
    "parquet, one group, dictionary": ("x.parquet", "parquet", [50, 0, "dictionary", "zstd"]),
    "parquet, large pages": ("x.parquet", "parquet", [50, 500_000, "large", "zstd"]),
    "parquet, many groups, wide": ("x.parquet", "parquet", [2500, 5000, "plain", "snappy"]),
    "parquet, one group, wide": ("x.parquet", "parquet", [2500, 0, "plain", "snappy"]),
    "arrow, many batches": ("x.arrow", "arrow", [50, 100_000, "none"]),
    "arrow, one batch": ("x.arrow", "arrow", [50, 0, "none"]),
    "arrow, one batch, lz4": ("x.arrow", "arrow", [50, 0, "lz4"]),
    "arrow, many batches, lz4": ("x.arrow", "arrow", [50, 100_000, "lz4"]),
    "arrow, one batch, wide": ("x.arrow", "arrow", [2500, 0, "none"]),
    "csv": ("x.csv", "csv", [50]),
    "csv wide": ("x.csv", "csv", [2500]),
    "csr npz, packed": ("x.npz", "npz", [_CSR, "packed"]),
    "csr npz, stored": ("x.npz", "npz", [_CSR, "stored"]),
    "h5ad": ("x.h5ad", "h5ad", [200, "dense"]),
    "h5ad wide": ("x.h5ad", "h5ad", [4000, "dense"]),
    "csr h5ad": ("x.h5ad", "h5ad", [_CSR, "stored"]),
    "csr h5ad, packed": ("x.h5ad", "h5ad", [_CSR, "packed"]),
    "h5, contiguous": ("x.h5", "h5", [200]),
    "zarr": ("x.zarr", "zarr", [200, 0]),
    "zarr, wide": ("x.zarr", "zarr", [4000, 0]),
    "zarr, chunks of 160 MB": ("x.zarr", "zarr", [200, 100_000]),
    "zarr, chunks of all rows": ("x.zarr", "zarr by columns", [1000, 10]),
    "h5, chunks of many rows": ("x.h5", "h5 by columns", [1000, 10]),
    "csr zarr": ("x.zarr", "csr zarr", [_CSR]),
    "dense npz": ("x.npz", "dense npz", [200]),
    "mtx": ("x.mtx", "mtx", [_CSR]),
    "mtx by columns": ("x.mtx", "mtx by columns", [_CSR]),
    "mtx of an array": ("x.mtx", "mtx array", [200]),
    "triplets": ("x.parquet", "triplets", [_CSR]),
    "csv of triplets": ("x.csv", "csv triplets", [_CSR]),
    "csv of 20,000 columns": ("x.csv", "csv", [20_000]),
    "csv, packed": ("x.csv.gz", "packed csv", [50]),
}


def run(code: str, *arguments: object, limit: int = 900) -> dict[str, Any]:
    program = "import json, sys\n" + _PEAK + textwrap.dedent(code)
    command = [sys.executable, "-W", "ignore", "-c", program, *map(str, arguments)]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=limit, check=False)
    lines = ended.stdout.splitlines()
    if ended.returncode or not lines:
        raise RuntimeError(ended.stderr[-2000:])
    found: dict[str, Any] = json.loads(lines[-1])
    return found


def told(found: dict[str, Any], budget: int) -> str:
    limit = budget + ALLOWANCE
    said = f"{found['peak']:.0f} MB" + (" ABOVE" if found["peak"] > limit else "")
    return f"refused at {said}: {found['refused'][:160]}" if "refused" in found else said


def measure(name: str, folder: Path, size: float, budget: int) -> None:
    file, writer, arguments = KINDS[name]
    path = folder / file
    run(_WRITE + _WRITERS[writer] + "\n    print('{}')", path, size * 1e9, name, *arguments)
    stored = sum(part.stat().st_size for part in ([path] if path.is_file() else path.rglob("*")) if part.is_file())
    found = [run(code, path, f"{budget}MB") for code in (_PYTHON, _COMMAND)]
    peaks = " | ".join(told(one, budget) for one in found)
    print(f"| {name} | {stored / 1e9:.2f} GB | {peaks} | {found[0].get('passes', '')} |")
    sys.stdout.flush()
    shutil.rmtree(path) if path.is_dir() else path.unlink()


def _means(part: str, name: str) -> bool:
    return part == name if part in KINDS else part in name


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kinds", nargs="*", help="names of the kinds to measure, or parts of them")
    parser.add_argument("--size", type=float, default=1.0, help="gigabytes of numbers in each file")
    parser.add_argument("--memory", type=int, default=BUDGET, help="the limit in megabytes")
    parser.add_argument("--folder", default=None)
    parser.add_argument("--list", action="store_true")
    given = parser.parse_args()
    wanted = [name for name in KINDS if not given.kinds or any(_means(part, name) for part in given.kinds)]
    if given.list:
        print("\n".join(wanted))
        return
    base = run(_BASE)["peak"]
    print(f"a small fit takes {base:.0f} MB; budget {given.memory} MB, limit {given.memory + ALLOWANCE} MB")
    print("| file | on disk | ek.decompose | eckart fit | passes |\n|---|---|---|---|---|", flush=True)
    with tempfile.TemporaryDirectory(prefix="budget-", dir=given.folder) as folder:
        for name in wanted:
            measure(name, Path(folder), given.size, given.memory)


if __name__ == "__main__":
    main()
