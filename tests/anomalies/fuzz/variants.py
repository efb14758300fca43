"""Files as other programs write them: rarer types, layouts, encodings and codecs of every format."""

from __future__ import annotations

import bz2
import datetime as dt
import decimal
import gzip
import lzma
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import scipy.io
from pyarrow import feather, ipc, parquet
from scipy import sparse

from tests.anomalies.fuzz import optional
from tests.anomalies.fuzz.valid_files import DENSE, NAMES, SPARSE, SQUARE, TOWNS, text

h5py, zarr = optional("h5py"), optional("zarr")
Writer = Callable[[Path], Any]
WHOLE = DENSE.astype(np.int64)


def _doubled() -> Any:
    """CSR with every entry stored twice, and columns in no order."""
    indices = np.concatenate([np.r_[row[::-1], row] for row in np.split(SPARSE.indices, SPARSE.indptr[1:-1])])
    data = np.concatenate([np.r_[row[::-1], row] for row in np.split(SPARSE.data, SPARSE.indptr[1:-1])])
    matrix = sparse.csr_array(SPARSE.shape)
    matrix.data, matrix.indices, matrix.indptr = data, indices, SPARSE.indptr * 2
    return matrix


def _large(kind: str = "i8") -> np.ndarray:
    """Integers, two of which float64 rounds."""
    large = np.arange(1, 41, dtype=kind).reshape(8, 5)
    large[6, 2], large[7, 3] = 2**53 + 1, 2**62 + 1
    return large


def _quoted_at_random() -> bytes:
    rng = np.random.default_rng(3)
    rows = [line.split(",") for line in text().decode().splitlines()]
    return "\n".join(",".join(f'"{c}"' if rng.random() < 0.5 else c for c in row) for row in rows).encode()


def _cells(change: Callable[[int, int, str], str]) -> bytes:
    """The text with some cells changed; row 0 is the header."""
    rows = [line.split(",") for line in text().decode().splitlines()]
    return "\n".join(",".join(change(i, j, c) for j, c in enumerate(row)) for i, row in enumerate(rows)).encode()


def _swap(row: int, column: int, new: str) -> bytes:
    return _cells(lambda i, j, cell: new if (i, j) == (row, column) else cell)


_HEAD = text().partition(b"\n")
TEXTS: dict[str, bytes] = {
    "bom.csv": b"\xef\xbb\xbf" + text(),
    "wide.csv": text().decode().encode("utf-16"),
    "latin.csv": text().replace(b"town", b"t\xf6wn"),
    "crlf.csv": text().replace(b"\n", b"\r\n"),
    "cr.csv": text().replace(b"\n", b"\r"),
    "mixed-ends.csv": text().replace(b"\n", b"\r\n", 20),
    "some-quoted.csv": _quoted_at_random(),
    "same-names.csv": text().replace(b"beta", b"alpha", 1),
    "no-end.csv": text().rstrip(b"\n"),
    "blank-lines.csv": text().replace(b"\n", b"\n\n", 5),
    "trailing.csv": text().replace(b"\n", b",\n"),
    "header.csv": _HEAD[0] + b"\n",
    "empty.csv": b"",
    "newline.csv": b"\n",
    "one-cell.csv": b"3.5\n",
    "one-column.csv": b"a\n" + b"\n".join(b"%d" % i for i in range(40)) + b"\n",
    "minus.csv": text().replace(b",-", ",\u2212".encode()),
    "some-minus.csv": text().replace(b",-", ",\u2212".encode(), 9).replace(b",-", ",\u2013".encode(), 9),
    "missing.csv": _cells(lambda i, j, cell: "NA" if i and j == 2 and i % 5 == 0 else cell),
    "infinite.csv": _swap(7, 2, "inf"),
    "huge.csv": _swap(7, 2, "1e400"),
    "integers.csv": _swap(7, 2, "9007199254740993"),
    "exponents.csv": _cells(lambda i, j, cell: f"{float(cell):.6E}" if i and j else cell),
    "plus.csv": _cells(lambda i, j, cell: "+" + cell if i and j and cell[0] != "-" else cell),
    "spaces.csv": _cells(lambda i, j, cell: f"  {cell} "),
    "ragged.csv": text().replace(b"\n", b",7\n", 3),
    "comment.csv": b"# made by a program\n" + text(),
    "bars.csv": text("|"),
    "members.csv.gz": gzip.compress(text()[:900]) + gzip.compress(text()[900:]),
    "padded.csv.gz": gzip.compress(text()) + b"\0" * 512,
    "unpacked.csv.gz": text(),
    "gzip.csv": gzip.compress(text()),
    "bzip.csv": bz2.compress(text()),
    "xz.csv": lzma.compress(text()),
    "zstd.csv": b"\x28\xb5\x2f\xfd" + text(),
    "nul.csv": text().replace(b"1", b"\0", 1),
}  # fmt: skip


def _npy(array: np.ndarray, version: tuple[int, int] | None = None) -> Writer:
    def write(path: Path) -> None:
        with path.open("wb") as file:
            np.lib.format.write_array(file, array, version=version, allow_pickle=True)

    return write


def _with(value: float, dtype: str = "f8") -> np.ndarray:
    array = DENSE.astype(dtype)
    array[3, 2] = value
    return array


NUMPY: dict[str, Writer] = {
    "big.npy": _npy(DENSE.astype(">f8")),
    "big-columns.npy": _npy(np.asfortranarray(DENSE.astype(">i4"))),
    "truths.npy": _npy(DENSE > 0),
    "bytes.npy": _npy(DENSE.astype(np.uint8)),
    "half.npy": _npy(DENSE.astype(np.float16)),
    "long.npy": _npy(DENSE.astype(np.longdouble)),
    "large.npy": _npy(np.full((9, 3), 2**63 + 3, np.uint64)),
    "version2.npy": _npy(DENSE, (2, 0)),
    "version3.npy": _npy(DENSE, (3, 0)),
    "nan.npy": _npy(_with(np.nan)),
    "inf.npy": _npy(_with(np.inf, "f4")),
    "complex.npy": _npy(DENSE.astype(complex)),
    "objects.npy": _npy(DENSE.astype(object)),
    "records.npy": _npy(np.zeros(5, [("a", "f8"), ("b", "i4")])),
    "line.npy": _npy(DENSE[:, 0]),
    "cube.npy": _npy(DENSE.reshape(4, 10, 5)),
    "no-rows.npy": _npy(DENSE[:0]),
    "no-columns.npy": _npy(DENSE[:, :0]),
    "one.npy": _npy(DENSE[:1, :1]),
    "dates.npy": _npy(WHOLE.astype("M8[s]")),
    "words.npy": _npy(DENSE.astype("U8")),
}


def _sparse(matrix: Any) -> Writer:
    return lambda path: sparse.save_npz(path, matrix)


def _retyped(**types: str) -> Any:
    matrix = SPARSE.copy()
    for part, dtype in types.items():
        setattr(matrix, part, getattr(matrix, part).astype(dtype))
    return matrix


ARCHIVES: dict[str, Writer] = {
    "doubled.npz": _sparse(_doubled()),
    "doubled-csc.npz": _sparse(sparse.csc_array(_doubled().T).T.tocsc()),
    "wide-index.npz": _sparse(_retyped(indices="i8", indptr="i8")),
    "single.npz": _sparse(SPARSE.astype("f4")),
    "counts.npz": _sparse(SPARSE.astype("i4")),
    "truths.npz": _sparse(SPARSE.astype(bool)),
    "complex.npz": _sparse(SPARSE.astype(complex)),
    "blocks.npz": _sparse(sparse.bsr_array(DENSE, blocksize=(4, 5))),
    "diagonals.npz": _sparse(sparse.dia_array(SPARSE)),
    "old.npz": _sparse(sparse.csr_matrix(SPARSE)),
    "nothing.npz": _sparse(sparse.csr_array(SPARSE.shape)),
    "doubled-truths.npz": _sparse(_doubled().astype(bool)),
    "large.npz": _sparse(sparse.csr_array(_large())),
    "large-coo.npz": _sparse(sparse.coo_array(_large("u8"))),
    "large-dense.npz": lambda path: np.savez(path, _large()),
    "explicit-zeros.npz": _sparse(sparse.csr_array((SPARSE.data * 0, SPARSE.indices, SPARSE.indptr), SPARSE.shape)),
    "two.npz": lambda path: np.savez(path, a=DENSE, b=DENSE + 1),
    "packed.npz": lambda path: np.savez_compressed(path, a=DENSE.astype(">f4")),
    "no-members.npz": np.savez,
    "columns.npz": lambda path: np.savez(path, np.asfortranarray(DENSE)),
}


def _market(matrix: Any, **options: Any) -> Writer:
    return lambda path: scipy.io.mmwrite(path, matrix, **options)


_FULL = SQUARE.toarray()
_HERMITE = (_FULL + _FULL.T) + 1j * (_FULL - _FULL.T)
MARKET: dict[str, Writer] = {
    "skew.mtx": _market(sparse.coo_array(np.tril(_FULL, -1) - np.tril(_FULL, -1).T), symmetry="skew-symmetric"),
    "pattern.mtx": _market(SPARSE, field="pattern"),
    "pattern-symmetric.mtx": _market(SQUARE + SQUARE.T, field="pattern", symmetry="symmetric"),
    "integer.mtx": _market(sparse.coo_array(SPARSE).astype("i4"), field="integer"),
    "complex.mtx": _market(SPARSE.astype(complex)),
    "hermitian.mtx": _market(sparse.coo_array(_HERMITE), symmetry="hermitian"),
    "array.mtx": _market(DENSE.astype("i4"), field="integer"),
    "array-symmetric.mtx": _market(_FULL + _FULL.T, symmetry="symmetric"),
    "array-skew.mtx": _market(_FULL - _FULL.T, symmetry="skew-symmetric"),
    "doubled.mtx": lambda path: path.write_text(
        "%%MatrixMarket matrix coordinate real general\n% a comment\n\n3 2 4\n1 1 2.5\n3 2 -1e3\n1 1 0.5\n2 2 0\n"
    ),
    "capitals.mtx": lambda path: path.write_text("%%MatrixMarket MATRIX Coordinate REAL General\n2 2 1\n2 1 7\n"),
    "fraction.mtx": lambda path: path.write_text("%%MatrixMarket matrix coordinate integer general\n2 2 1\n2 1 1.5\n"),
    "large-entry.mtx": lambda path: path.write_text(
        "%%MatrixMarket matrix coordinate integer general\n2 2 1\n2 1 9007199254740993\n"
    ),
    "large-integer.mtx": lambda path: path.write_text(
        "%%MatrixMarket matrix array integer general\n1 1\n9007199254740993\n"
    ),
    "no-entries.mtx": lambda path: path.write_text("%%MatrixMarket matrix coordinate real general\n3 2 0\n"),
    "no-rows.mtx": lambda path: path.write_text("%%MatrixMarket matrix coordinate real general\n0 2 0\n"),
    "real-words.mtx": lambda path: path.write_text("%%MatrixMarket matrix array real general\n2 1\nnan\ninf\n"),
    "crlf.mtx": lambda path: path.write_bytes(b"%%MatrixMarket matrix array real general\r\n2 1\r\n1.5\r\n-2\r\n"),
    "packed.mtx.gz": lambda path: path.write_bytes(
        gzip.compress(b"%%MatrixMarket matrix coordinate integer general\n4 3 2\n1 3 5\n4 1 -2\n")
    ),
}


def _frame(**columns: Any) -> pa.Table:
    return pa.table({**dict(zip(NAMES, DENSE.T.copy(), strict=True)), **columns})


_DAY = dt.datetime(2026, 1, 1)  # noqa: DTZ001
_GAPS = pa.array([None if i % 7 == 3 else float(i) for i in range(40)])
_COUNTS = pa.array([i % 4 for i in range(40)], pa.int32())
FRAMES: dict[str, pa.Table] = {
    "coded-numbers": _frame(code=_COUNTS.dictionary_encode()),
    "decimals": _frame(price=pa.array([decimal.Decimal(i) / 4 for i in range(40)], pa.decimal128(12, 2))),
    "large-decimals": _frame(price=pa.array([decimal.Decimal(10) ** 30 + i for i in range(40)], pa.decimal256(60, 0))),
    "times": _frame(at=pa.array([_DAY + dt.timedelta(hours=i) for i in range(40)])),
    "zones": _frame(at=pa.array([_DAY] * 40, pa.timestamp("ns", "Europe/Berlin"))),
    "durations": _frame(took=pa.array([dt.timedelta(hours=i) for i in range(40)])),
    "nested": _frame(inner=pa.array([{"a": i, "b": [i]} for i in range(40)])),
    "lists": _frame(items=pa.array([[1.0] * (i % 3) for i in range(40)])),
    "fixed-lists": _frame(place=pa.array([[i, 2 * i] for i in range(40)], pa.list_(pa.float32(), 2))),
    "lists-with-gaps": _frame(
        place=pa.array([None if i % 9 == 4 else [i, None, 2**60] for i in range(40)], pa.list_(pa.int64(), 3)),
        after=pa.array([i % 3 == 1 for i in range(40)]),
    ),
    "gaps": _frame(gap=_GAPS, truth=pa.array([None if i == 3 else i % 2 == 0 for i in range(40)])),
    "all-gaps": _frame(gap=pa.array([None] * 40, pa.float64())),
    "unsigned": _frame(large=pa.array([2**64 - 1 - i for i in range(40)], pa.uint64())),
    "small": pa.table({name: pa.array(WHOLE[:, j] % 100, pa.int8()) for j, name in enumerate(NAMES)}),
    "halves": _frame(half=pa.array(DENSE[:, 0].astype(np.float16))),
    "words": _frame(word=pa.array(TOWNS, pa.large_string()), raw=pa.array([b"x"] * 40)),
    "infinite": _frame(value=pa.array(_with(np.inf)[:, 2])),
    "nans": _frame(value=pa.array(_with(np.nan)[:, 2])),
    "no-rows": _frame().slice(0, 0),
    "one-row": _frame().slice(7, 1),
    "same-names": pa.table([DENSE[:, 0], DENSE[:, 1]], names=["a", "a"]),
    "dotted": pa.table({"a.b": DENSE[:, 0], "a": DENSE[:, 1]}),
    "odd-names": pa.table({"": DENSE[:, 0], "a\nb": DENSE[:, 1], "é": DENSE[:, 2]}),
    "entries": pa.table({"row": [0, 2, 2], "col": [1, 0, 0], "value": [1.5, 2.0, 3.0]}),
    "large-entries": pa.table({"row": [0, 2], "column": [2**32 + 1, 0], "value": [1.5, 2.0]}),
    "rounded-entries": pa.table({"row": [0, 2], "column": [1, 0], "value": [2**53 + 1, 2]}),
    "negative-entries": pa.table({"row": [0, -2], "column": [1, 0], "value": [1.5, 2.0]}),
}
_PARQUET: dict[str, dict[str, Any]] = {
    "plain": {"use_dictionary": False, "compression": "none"},
    "zstd": {"compression": "zstd", "row_group_size": 9},
    "gzip": {"compression": "gzip", "data_page_version": "2.0"},
    "lz4": {"compression": "lz4", "data_page_size": 64},
    "brotli": {"compression": "brotli"},
    "split": {"use_byte_stream_split": True, "use_dictionary": False},
    "old": {"version": "1.0", "row_group_size": 1},
    "checked": {"write_page_checksum": True, "write_page_index": True},
}


def _ipc(table: pa.Table, *, stream: bool = False, packed: str | None = None, rows: int = 15) -> Writer:
    def write(path: Path) -> None:
        options = ipc.IpcWriteOptions(compression=packed)
        kind = ipc.new_stream if stream else ipc.new_file
        with pa.OSFile(str(path), "wb") as sink, kind(sink, table.schema, options=options) as writer:
            writer.write_table(table, max_chunksize=rows)

    return write


def _parquet(table: pa.Table, **options: Any) -> Writer:
    return lambda path: parquet.write_table(table, path, **options)


def _first_feather(path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        feather.write_feather(_frame(), path, version=1)


_FLAGS = pa.array([i % 3 == 0 for i in range(40)])
_SLICED = pa.Table.from_batches([_frame(gap=_GAPS, flag=_FLAGS).to_batches()[0][5:29]])
_RUNS = pa.RunEndEncodedArray.from_arrays([10, 40], [1.0, 2.0], pa.run_end_encoded(pa.int32(), pa.float64()))
ARROW: dict[str, Writer] = {
    **{f"{name}.parquet": _parquet(table, row_group_size=15) for name, table in FRAMES.items()},
    **{f"{name}.parquet": _parquet(_frame(gap=_GAPS), **options) for name, options in _PARQUET.items()},
    **{f"{name}.arrow": _ipc(table) for name, table in FRAMES.items() if "entries" not in name},
    "sliced.arrow": _ipc(_SLICED, rows=7),
    "sliced.parquet": _parquet(_SLICED, row_group_size=7),
    "delta-words.parquet": _parquet(
        FRAMES["words"], row_group_size=15, use_dictionary=False, column_encoding={"word": "DELTA_BYTE_ARRAY"}
    ),
    "lz4.arrow": _ipc(_frame(gap=_GAPS), packed="lz4"),
    "zstd.feather": lambda path: feather.write_feather(_frame(gap=_GAPS), path, compression="zstd", chunksize=9),
    "stream-lz4.arrow": _ipc(_frame(gap=_GAPS), stream=True, packed="lz4"),
    "first.feather": _first_feather,
    "views.arrow": _ipc(_frame(word=pa.array(TOWNS, pa.string_view()))),
    "no-batches.arrow": _ipc(_frame().slice(0, 0)),
    "runs.arrow": _ipc(_frame(run=_RUNS)),
}  # fmt: skip


def _h5(**options: Any) -> Writer:
    def write(path: Path) -> None:
        with h5py.File(path, "w", libver=options.pop("libver", None)) as file:
            file.create_dataset("matrix", **{"data": DENSE, **options})

    return write


def _h5_packed(path: Path) -> None:
    _h5(data=WHOLE)(path)
    with h5py.File(path, "a") as file:
        file["matrix"].attrs.update({"scale_factor": 0.1, "_FillValue": -1, "units": "K"})


def _h5_linked(path: Path) -> None:
    with h5py.File(path, "w") as file:
        file.create_dataset("hidden/inner/matrix", data=DENSE)
        file["matrix"] = h5py.SoftLink("/hidden/inner/matrix")


def _h5_partial(path: Path) -> None:
    """Chunks that were never written hold the fill value."""
    with h5py.File(path, "w") as file:
        array = file.create_dataset("matrix", (40, 5), "f8", chunks=(8, 5), fillvalue=2.0)
        array[:16] = DENSE[:16]


def _annotated(matrix: Any, kind: str = "csr_matrix", **parts: Any) -> Writer:
    def write(path: Path) -> None:
        with h5py.File(path, "w") as file:
            group = file.create_group("X")
            group.attrs["encoding-type"], group.attrs["shape"] = kind, matrix.shape
            for part in ("data", "indices", "indptr"):
                group.create_dataset(part, data=getattr(matrix, part), **parts)

    return write


HDF5: dict[str, Writer] = {
    "fletcher.h5": _h5(fletcher32=True, chunks=(16, 5)),
    "scaled.h5": _h5(data=WHOLE, scaleoffset=0, chunks=(16, 5)),
    "rounded.h5": _h5(scaleoffset=2, chunks=(16, 5)),
    "lzf.h5": _h5(compression="lzf", shuffle=True, chunks=(7, 2)),
    "big.h5": _h5(data=DENSE.astype(">f4")),
    "truths.h5": _h5(data=DENSE > 0),
    "half.h5": _h5(data=DENSE.astype("f2")),
    "large.h5": _h5(data=np.full((9, 3), 2**64 - 1, np.uint64)),
    "growing.h5": _h5(maxshape=(None, 5)),
    "latest.h5": _h5(libver="latest", chunks=(16, 5)),
    "no-rows.h5": _h5(data=DENSE[:0]),
    "no-columns.h5": _h5(data=DENSE[:, :0]),
    "nan.h5": _h5(data=_with(np.nan)),
    "complex.h5": _h5(data=DENSE.astype(complex)),
    "records.h5": _h5(data=np.zeros((4, 2), [("a", "f8")])),
    "cube.h5": _h5(data=DENSE.reshape(4, 10, 5)),
    "packed.h5": _h5_packed,
    "linked.h5": _h5_linked,
    "partial.h5": _h5_partial,
    "integers.h5": _h5(data=_large()),
    "integers.h5ad": _annotated(sparse.csr_array(_large())),
    "doubled-truths.h5ad": _annotated(_doubled().astype(bool)),
    "doubled.h5ad": _annotated(_doubled()),
    "wide-index.h5ad": _annotated(_retyped(indices="i8", indptr="u8")),
    "small-index.h5ad": _annotated(_retyped(indices="i1", indptr="i2", data="i2"), compression="gzip", chunks=(11,)),
    "csc.h5ad": _annotated(SPARSE.tocsc(), "csc_matrix"),
    "truths.h5ad": _annotated(SPARSE.astype(bool)),
    "nothing.h5ad": _annotated(sparse.csr_array(SPARSE.shape)),
}
if h5py and h5py.h5z.filter_avail(h5py.h5z.FILTER_SZIP) and h5py.h5z.get_filter_info(h5py.h5z.FILTER_SZIP) & 1:
    HDF5["szip.h5"] = _h5(compression="szip", chunks=(16, 5))


def _zarr(
    data: np.ndarray = DENSE, chunks: tuple[int, ...] = (16, 3), written: int | None = None, **options: Any
) -> Writer:
    def write(path: Path) -> None:
        array = zarr.create_array(
            str(path), shape=data.shape, chunks=chunks, dtype=data.dtype, config={"write_empty_chunks": True}, **options
        )
        array[:written] = data[:written]

    return write


def _codecs() -> dict[str, Writer]:
    import numcodecs
    from zarr import codecs

    return {
        "delta2.zarr": _zarr(zarr_format=2, filters=[numcodecs.Delta("<f8")], compressors=numcodecs.Zlib(1)),
        "shuffled2.zarr": _zarr(zarr_format=2, compressors=numcodecs.Blosc("lz4", 5, numcodecs.Blosc.BITSHUFFLE)),
        "scaled2.zarr": _zarr(zarr_format=2, filters=[numcodecs.FixedScaleOffset(0, 10, "<f8", "<i4")]),
        "columns2.zarr": _zarr(zarr_format=2, order="F"),
        "big2.zarr": _zarr(DENSE.astype(">f4"), zarr_format=2),
        "bare3.zarr": _zarr(zarr_format=3, compressors=None),
        "gzip3.zarr": _zarr(zarr_format=3, compressors=codecs.GzipCodec(level=1)),
        "blosc3.zarr": _zarr(zarr_format=3, compressors=codecs.BloscCodec(cname="zstd")),
        "checked3.zarr": _zarr(zarr_format=3, compressors=[codecs.ZstdCodec(), codecs.Crc32cCodec()]),
        "turned3.zarr": _zarr(zarr_format=3, filters=[codecs.TransposeCodec(order=(1, 0))]),
        "shards3.zarr": _zarr(chunks=(4, 5), shards=(16, 5), zarr_format=3),
        "truths3.zarr": _zarr(DENSE > 0, zarr_format=3),
        "partial3.zarr": _zarr(written=16, zarr_format=3),
        "nan3.zarr": _zarr(_with(np.nan), zarr_format=3),
        "cube3.zarr": _zarr(DENSE.reshape(4, 10, 5), (2, 5, 5), zarr_format=3),
    }


VARIANTS: dict[str, Writer] = {
    **{name: (lambda path, content=content: path.write_bytes(content)) for name, content in TEXTS.items()},
    **NUMPY, **ARCHIVES, **MARKET, **ARROW, **HDF5, **(_codecs() if zarr else {}),
}  # fmt: skip
