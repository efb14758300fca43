"""Small files that become large when they are decoded, drawn at random, and the peak memory of reading them."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import feather, ipc, parquet

import eckart as ek
from eckart.errors import EckartError
from tests.anomalies.fuzz import optional

h5py, zarr = optional("h5py"), optional("zarr")

LIMIT = 40_000_000
"""The value of memory=."""
ALLOWANCE = 150_000_000
"""What the interpreter and the libraries may take in addition (docs/large-data.md)."""
_DECODED = 250_000_000
"""About this many bytes would be decoded."""


def _texts(rng: np.random.Generator) -> tuple[int, list[str]]:
    """A number of rows, and texts that are long in total."""
    count = int(rng.choice([50, 500, 5000]))
    length = _DECODED // count
    return count, ["x" * length + str(i) for i in range(count)]


def _table(rng: np.random.Generator, names: Any, count: int) -> pa.Table:
    columns = {"name": names, "a": rng.standard_normal(count), "b": rng.standard_normal(count)}
    order = list(rng.permutation(list(columns)))
    return pa.table({name: columns[name] for name in order})


def _parquet(folder: Path, rng: np.random.Generator) -> Path:
    count, texts = _texts(rng)
    encoding = str(rng.choice(["PLAIN", "DELTA_BYTE_ARRAY", "DELTA_LENGTH_BYTE_ARRAY", "dictionary"]))
    plain = encoding != "dictionary"
    path = folder / "table.parquet"
    parquet.write_table(
        _table(rng, pa.array(texts), count), path, compression="zstd", row_group_size=int(rng.choice([count, 64])),
        use_dictionary=not plain, column_encoding={"name": encoding} if plain else None,
    )  # fmt: skip
    return path


def _understated(folder: Path, rng: np.random.Generator) -> Path:
    """Texts with common beginnings, and a footer that states that they take one byte in total."""
    count, texts = _texts(rng)
    path = folder / "table.parquet"
    parquet.write_table(
        _table(rng, pa.array(texts), count), path, compression="zstd", row_group_size=count, use_dictionary=False,
        column_encoding={"name": "DELTA_BYTE_ARRAY"},
    )  # fmt: skip
    content, stated = path.read_bytes(), _integer(sum(map(len, texts)))
    if stated not in content:  # as PyArrow 19 writes it
        return path
    assert content.count(stated) == 1
    path.write_bytes(content.replace(stated, _integer(1, len(stated))))
    return path


def _integer(number: int, size: int = 1) -> bytes:
    """A positive integer in the compact protocol of Thrift, in at least `size` bytes."""
    parts: list[int] = []
    rest = 2 * number
    while rest or len(parts) < size:
        parts.append(rest & 127 | 128)
        rest >>= 7
    return bytes([*parts[:-1], parts[-1] & 127])


def _delta(folder: Path, rng: np.random.Generator) -> Path:
    """Equal differences take almost no space."""
    count = _DECODED // 24
    columns = {f"c{j}": np.arange(count) * int(rng.integers(1, 9)) for j in range(3)}
    path = folder / "table.parquet"
    encodings = dict.fromkeys(columns, "DELTA_BINARY_PACKED")
    parquet.write_table(pa.table(columns), path, use_dictionary=False, column_encoding=encodings, row_group_size=count)
    return path


def _arrow(folder: Path, rng: np.random.Generator) -> Path:
    count, texts = _texts(rng)
    path = folder / "table.arrow"
    names: Any = pa.array(texts)
    if rng.random() < 0.5:
        codes = pa.array(rng.integers(0, len(texts), count), pa.int32())
        names = pa.DictionaryArray.from_arrays(codes, names)
    table = _table(rng, names, count)
    if rng.random() < 0.5:
        feather.write_feather(table, path, "zstd", chunksize=int(rng.choice([count, 16])))
        return path
    options = ipc.IpcWriteOptions(compression="zstd")
    with pa.OSFile(str(path), "wb") as file, ipc.new_stream(file, table.schema, options=options) as writer:
        writer.write_table(table)
    return path


def _hdf5(folder: Path, rng: np.random.Generator) -> Path:
    """Either many names that share one text, or names of fixed length."""
    path, count = folder / "cells.h5ad", 5000
    with h5py.File(path, "w") as file:
        file.create_dataset("X", data=rng.standard_normal((count, 3)))
        if rng.random() < 0.5:
            fixed = np.array([b"x" * (_DECODED // count)] * count)
            file.create_group("obs").create_dataset("_index", data=fixed, chunks=(64,), compression="gzip")
            return path
        names = np.array(["x" * (_DECODED // count), *map(str, range(1, count))], dtype=object)
        place = file.create_group("obs").create_dataset("_index", data=names).id.get_offset()
    content = bytearray(path.read_bytes())
    content[place : place + 16 * count] = content[place : place + 16] * count
    path.write_bytes(content)
    return path


def _zarr(folder: Path, rng: np.random.Generator) -> Path:
    count, texts = _texts(rng)
    root = zarr.create_group(str(folder / "cells.zarr"))
    root.create_array("X", data=rng.standard_normal((count, 3)))
    chunks = (int(rng.choice([count, 10])),)
    root.create_group("obs").create_array("_index", shape=(count,), chunks=chunks, dtype=str)[:] = np.array(
        texts, dtype=object
    )
    return folder / "cells.zarr"


def _text(folder: Path, rng: np.random.Generator) -> Path:
    count, texts = _texts(rng)
    path = folder / "table.csv.gz"
    with gzip.open(path, "wt", compresslevel=1) as file:
        file.write("name,a,b\n")
        for text, number in zip(texts, rng.standard_normal(count), strict=True):
            file.write(f"{text},{number},{number**2}\n")
    return path


EXPANDING: dict[str, Callable[[Path, np.random.Generator], Path]] = {
    "parquet": _parquet, "understated": _understated, "delta": _delta, "arrow": _arrow, "hdf5": _hdf5,
    "zarr": _zarr, "text": _text,
}  # fmt: skip


def peaks(seed: int, folder: Path, kinds: Iterable[str] = tuple(EXPANDING)) -> dict[str, tuple[int, str]]:
    """For each kind of file, by how many bytes the peak memory rises while it is read, and how reading ends.

    Another process reads the files: memory that writing has freed would hide what reading takes.
    """
    for kind in kinds:
        (folder / kind).mkdir()
        try:
            EXPANDING[kind](folder / kind, np.random.default_rng([seed, *kind.encode()]))
        except ImportError:
            (folder / kind).rmdir()
    command = [sys.executable, "-m", "tests.anomalies.fuzz.expanding", str(folder)]
    done = subprocess.run(command, cwd=Path(__file__).parents[3], stdout=subprocess.PIPE, check=True)
    return {kind: (added, end) for kind, added, end in json.loads(done.stdout)}


def _read(path: Path) -> tuple[int, str]:
    """Read the table within the limit; (added peak of resident memory, the error or "read")."""
    Path("/proc/self/clear_refs").write_text("5")  # the peak becomes the present size
    before, end = _resident_peak(), "read"
    try:
        ek.decompose(path, "svd", k=1, memory=LIMIT)
    except EckartError as error:
        end = f"{type(error).__name__}: {error}"
    return _resident_peak() - before, end


def _resident_peak() -> int:
    return 1024 * int(Path("/proc/self/status").read_text().partition("VmHWM:")[2].split()[0])


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    ek.decompose(np.eye(4), "svd", k=1)  # loads and compiles what every run needs
    found = sorted(Path(sys.argv[1]).iterdir())
    print(json.dumps([(place.name, *_read(next(place.iterdir()))) for place in found]))  # noqa: T201
