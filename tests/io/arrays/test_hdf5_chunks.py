"""Chunks that decode to other lengths than declared, for which libhdf5 returns foreign memory or crashes."""

from __future__ import annotations

import zlib
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

import eckart as ek
from eckart.errors import FileError
from eckart.io.arrays.hdf5_chunks import Chunks, lzf_length
from eckart.io.open_rows import open_rows

TABLE = np.random.default_rng(3).standard_normal((64, 50)).round(3)
CHUNK = TABLE[16:32].tobytes()


def _write(path: Path, content: bytes, mask: int = 0, **options: Any) -> None:
    with h5py.File(path, "w") as file:
        array = file.create_dataset("matrix", data=TABLE, chunks=(16, 50), **options)
        array.id.write_direct_chunk((16, 0), content, mask)


@pytest.mark.parametrize(
    ("content", "mask", "options"),
    [
        (zlib.compress(CHUNK[:100]), 0, {"compression": "gzip"}),
        (zlib.compress(CHUNK[:100]), 0, {"compression": "gzip", "shuffle": True}),
        (zlib.compress(CHUNK + b"12345678"), 0, {"compression": "gzip"}),
        (CHUNK[:100], 1, {"compression": "gzip"}),
        (CHUNK[:100], 0, {}),
        (b"\x05abcdef", 0, {"compression": "lzf"}),
        (b"\x05abc", 0, {"compression": "lzf"}),
    ],
    ids=["short", "shuffled", "long", "skipped", "plain", "lzf", "cut"],
)
def test_chunks_of_other_lengths_are_refused(
    tmp_path: Path, content: bytes, mask: int, options: dict[str, Any]
) -> None:
    _write(tmp_path / "x.h5", content, mask, **options)
    rows = open_rows(tmp_path / "x.h5")
    assert rows is not None
    np.testing.assert_array_equal(rows.read(0, 16), TABLE[:16])
    with pytest.raises(FileError, match=r"the chunk at \(16, 0\) is damaged: it does not decode to 6,400 bytes"):
        rows.read(10, 20)


def _with_chunk(path: Path, content: bytes) -> None:
    with h5py.File(path, "w") as file:
        array = file.create_dataset("matrix", data=TABLE, chunks=(16, 50), scaleoffset=3, compression="gzip")
        array.id.write_direct_chunk((16, 0), content)


def test_chunks_that_expand_are_refused_before_they_are_decoded(tmp_path: Path) -> None:
    """Scale-offset after gzip: the decoded length is not exact, but libhdf5 would decode all of them."""
    _with_chunk(tmp_path / "x.h5", zlib.compress(bytes(10**7)))
    with pytest.raises(FileError, match=r"the chunk at \(16, 0\) is damaged: it does not decode to 6,400 bytes"):
        ek.decompose(tmp_path / "x.h5", "svd", k=1)


def test_chunks_that_are_longer_than_their_values_are_refused_before_they_are_read(tmp_path: Path) -> None:
    _with_chunk(tmp_path / "x.h5", zlib.compress(CHUNK) + bytes(10**6))
    with pytest.raises(FileError, match=r"damaged: it takes 1,00\d,\d\d\d bytes, but its values take 6,400"):
        ek.decompose(tmp_path / "x.h5", "svd", k=1)


def test_a_chunk_that_crashes_the_library_is_refused(tmp_path: Path) -> None:
    """80 MB are declared and 3 bytes stored: libhdf5 reads beyond its buffer and ends the process."""
    with h5py.File(tmp_path / "x.h5", "w") as file:
        array = file.create_dataset("matrix", (2000, 10_000), "f8", chunks=(1000, 10_000), compression="gzip")
        array.id.write_direct_chunk((0, 0), zlib.compress(bytes(80_000_000)))
        array.id.write_direct_chunk((1000, 0), zlib.compress(b"abc"))
    with pytest.raises(FileError, match=r"the chunk at \(1000, 0\) is damaged"):
        ek.decompose(tmp_path / "x.h5", "svd", k=1)


@pytest.mark.parametrize(
    "options",
    [
        {"compression": "lzf"},
        {"compression": "lzf", "shuffle": True, "fletcher32": True},
        {"compression": "gzip", "shuffle": True, "fletcher32": True},
        {"fletcher32": True},
        {"scaleoffset": 3},
    ],
    ids=str,
)
@pytest.mark.parametrize("chunks", [(7, 3), (64, 50)], ids=str)
def test_sound_chunks_are_read(tmp_path: Path, options: dict[str, Any], chunks: tuple[int, int]) -> None:
    table = np.repeat(TABLE, 20, axis=0).round(1)  # compressible, and large enough for the compiled loop
    with h5py.File(tmp_path / "x.h5", "w") as file:
        file.create_dataset("matrix", data=table, chunks=chunks, **options)
        file["matrix"].id.write_direct_chunk((0, 0), _unfiltered(table, chunks), 2 ** len(options) - 1)
    rows = open_rows(tmp_path / "x.h5")
    assert rows is not None
    np.testing.assert_allclose(rows.read(0, len(table)), table, atol=1e-3)


@pytest.mark.parametrize("options", [{}, {"compression": "gzip", "shuffle": True}, {"compression": "lzf"}], ids=str)
def test_chunks_of_values_with_text_are_read(tmp_path: Path, options: dict[str, Any]) -> None:
    """Text of variable length takes 8 bytes in memory and 16 in a file."""
    text, numbers = h5py.string_dtype(), h5py.vlen_dtype("f8")
    record = np.dtype([("flag", "i1"), ("name", text), ("pair", text, (2,)), ("list", numbers), ("x", "f4")])
    kinds = {"text": text, "list": numbers, "record": record, "reference": h5py.ref_dtype, "bytes": "S5"}
    with h5py.File(tmp_path / "x.h5", "w") as file:
        for name, kind in kinds.items():
            file.create_dataset(name, (10,), kind, chunks=(4,), **options)
        file["text"][:], file["bytes"][:] = [f"row {i}" for i in range(10)], b"abc"
        for i in range(10):
            file["list"][i] = np.arange(i)
            file["record"][i] = (i, "a", ["b", "c"], np.arange(i), i)
            file["reference"][i] = file.ref
        for name, array in file.items():
            Chunks(array, "x.h5", name).check(0, 10)


@pytest.mark.parametrize("compression", ["gzip", "lzf"])
def test_names_in_compressed_anndata_files_are_read(tmp_path: Path, compression: str) -> None:
    """As AnnData's write_h5ad writes them with compression="gzip"."""
    with h5py.File(tmp_path / "x.h5ad", "w") as file:
        file.create_dataset("X", data=TABLE, chunks=(16, 50), compression=compression)
        for side, count in (("obs", 64), ("var", 50)):
            names = [f"{side}{i}" for i in range(count)]
            group = file.create_group(side)
            group.attrs["_index"] = "_index"
            group.create_dataset("_index", data=names, dtype=h5py.string_dtype(), compression=compression)
    rows = open_rows(tmp_path / "x.h5ad")
    assert rows is not None
    np.testing.assert_array_equal(rows.read(0, 64), TABLE)
    assert rows.metadata.row_names is not None
    assert rows.metadata.column_names is not None
    assert (rows.metadata.row_names[63], rows.metadata.column_names[49]) == ("obs63", "var49")


def _unfiltered(table: np.ndarray, chunks: tuple[int, int]) -> bytes:
    return np.ascontiguousarray(table[: chunks[0], : chunks[1]]).tobytes()


def test_a_filter_that_cannot_be_checked_is_refused(tmp_path: Path) -> None:
    if not h5py.h5z.filter_avail(h5py.h5z.FILTER_SZIP) or not h5py.h5z.get_filter_info(h5py.h5z.FILTER_SZIP) & 1:
        pytest.skip("this build of HDF5 does not write Szip")
    with h5py.File(tmp_path / "x.h5", "w") as file:
        file.create_dataset("matrix", data=TABLE, chunks=(16, 50), compression="szip")
    with pytest.raises(FileError, match=r"the HDF5 filter szip\..*h5repack -f GZIP=4"):
        open_rows(tmp_path / "x.h5")


@pytest.mark.parametrize("size", [10, 100, 5000, 200_000])
def test_the_length_of_lzf_data(tmp_path: Path, size: int) -> None:
    """As h5py compresses them."""
    words = np.random.default_rng(size).integers(0, 9, size).astype(np.uint8)
    with h5py.File(tmp_path / "x.h5", "w") as file:
        array = file.create_dataset("x", data=words, chunks=(size,), compression="lzf")
        skipped, content = array.id.read_direct_chunk((0,))
    assert skipped or lzf_length(content) == size
    assert lzf_length(b"\x1f") == -1
