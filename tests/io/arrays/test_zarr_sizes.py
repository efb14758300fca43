"""The decoded size of the chunks of Zarr stores, which is checked before they are decoded."""

from __future__ import annotations

import lzma
import tracemalloc

import numcodecs
import numpy as np
import pytest
import zarr
from zarr.codecs import BloscCodec, GzipCodec, ZstdCodec

import eckart as ek
from eckart.errors import FileError, MemoryBudgetError
from eckart.io.open_rows import open_rows

PACKED = {
    "zstd3": (3, ZstdCodec()), "gzip3": (3, GzipCodec()), "blosc3": (3, BloscCodec()),
    "zstd2": (2, numcodecs.Zstd()), "gzip2": (2, numcodecs.GZip()), "zlib2": (2, numcodecs.Zlib()),
    "bz2": (2, numcodecs.BZ2()), "lz4": (2, numcodecs.LZ4()), "blosc2": (2, numcodecs.Blosc()),
    "lzma": (2, numcodecs.LZMA()),
}  # fmt: skip


def stored(path, names, kind):
    version, codec = PACKED[kind]
    root = zarr.create_group(str(path), zarr_format=version)
    root.create_array("X", data=np.random.default_rng(0).standard_normal((len(names), 2)))
    extra = {"compressors": [codec]}
    array = root.create_group("obs").create_array("_index", shape=(len(names),), chunks=(100,), dtype=str, **extra)
    array[:] = np.array(names, dtype=object)


@pytest.mark.filterwarnings("ignore::UserWarning", "ignore::FutureWarning")
@pytest.mark.parametrize("kind", sorted(PACKED))
def test_long_names_are_refused_before_they_are_decoded(tmp_path, kind):
    stored(tmp_path / "cells.zarr", ["x" * 1_000_000] * 120, kind)
    tracemalloc.start()
    with pytest.raises(MemoryBudgetError, match=r"the list of names in 'obs' takes [\d.]+ MB"):
        ek.open_data(tmp_path / "cells.zarr", memory="100MB")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 20_000_000


@pytest.mark.filterwarnings("ignore::UserWarning", "ignore::FutureWarning")
@pytest.mark.parametrize("kind", sorted(PACKED))
def test_short_names_in_many_chunks_are_read(tmp_path, kind):
    """The bound must not be far above the size of small chunks."""
    names = [f"cell {number}" for number in range(120 * 100)]
    stored(tmp_path / "cells.zarr", names, kind)
    d = ek.decompose(tmp_path / "cells.zarr", k=1, memory="20MB")
    assert d.row_names == tuple(names)


@pytest.mark.filterwarnings("ignore::UserWarning", "ignore::FutureWarning")
def test_values_whose_size_cannot_be_determined_are_refused(tmp_path):
    """LZMA without a header, and a compressor within another."""
    raw = numcodecs.LZMA(format=lzma.FORMAT_RAW, filters=[{"id": lzma.FILTER_LZMA2, "preset": 1}])
    for name, extra in (("raw", {"compressors": raw}), ("two", {"filters": [numcodecs.Zlib()]})):
        path = tmp_path / f"{name}.zarr"
        zarr.create_array(str(path), data=TABLE, zarr_format=2, **extra)
        with pytest.raises(FileError, match="cannot determine their size"):
            ek.decompose(path, "svd", k=1)


TABLE = np.random.default_rng(1).standard_normal((40, 6))


def table_with(chunk, path, kind):
    """A store whose second chunk is replaced by the bytes that `chunk` makes of its content."""
    version, codec = PACKED[kind]
    array = zarr.create_array(str(path), shape=(40, 6), chunks=(10, 6), dtype="f8", zarr_format=version,
                              compressors=[codec])  # fmt: skip
    array[:] = TABLE
    file = path / array.metadata.encode_chunk_key((1, 0))
    file.write_bytes(chunk(file.read_bytes()))
    return path


def expanding(kind, size=40_000_000):
    """Zeros in the form of a codec."""
    _, codec = PACKED[kind]
    name = type(codec).__name__.removesuffix("Codec")
    options = {"cname": "zstd"} if name == "Blosc" else {}
    return getattr(numcodecs, {"Gzip": "GZip"}.get(name, name))(**options).encode(bytes(size))


def refused(path, words):
    tracemalloc.start()
    with pytest.raises(FileError, match=words):
        ek.decompose(path, "svd", k=1)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 20_000_000


@pytest.mark.filterwarnings("ignore::UserWarning", "ignore::FutureWarning")
@pytest.mark.parametrize("kind", sorted(PACKED))
def test_numbers_that_expand_are_refused_before_they_are_decoded(tmp_path, kind):
    content = expanding(kind)
    refused(table_with(lambda _: content, tmp_path / "a.zarr", kind), r"the chunk (c/1/0|1\.0) is damaged: it")
    if kind.startswith("zstd"):  # a first frame and one to be skipped hide what follows
        hidden = b"\x28\xb5\x2f\xfd\x00\x58\x01\x00\x00" + b"\x50\x2a\x4d\x18\x04\x00\x00\x00skip" + content
        refused(table_with(lambda _: hidden, tmp_path / "b.zarr", kind), "is damaged: it decodes to more")


@pytest.mark.filterwarnings("ignore::UserWarning", "ignore::FutureWarning")
@pytest.mark.parametrize("kind", sorted(PACKED))
def test_sound_numbers_are_read(tmp_path, kind):
    path = table_with(lambda content: content, tmp_path / "a.zarr", kind)
    np.testing.assert_allclose(ek.decompose(path, "svd", k=1).values, np.linalg.svd(TABLE)[1][:1], rtol=1e-12)


@pytest.mark.filterwarnings("ignore::UserWarning", "ignore::FutureWarning")
@pytest.mark.parametrize("kind", sorted(PACKED))
def test_chunks_in_files_with_holes_are_refused_before_they_are_read(tmp_path, kind):
    path = table_with(lambda content: content, tmp_path / "a.zarr", kind)
    chunk = next(file for file in path.rglob("*") if file.name == "1.0" or file.parent.name == "1")
    with chunk.open("r+b") as file:
        file.truncate(2**33)
    refused(path, "is damaged: it.* 8,589,934,592 bytes")


def test_the_first_damage_is_reported_however_many_rows_are_read(tmp_path):
    content = expanding("zstd3")
    path = table_with(lambda _: content, tmp_path / "a.zarr", "zstd3")
    (path / "c" / "0" / "0").write_bytes(b"damaged")
    for rows in (10, 40):
        with pytest.raises(FileError, match="Zstd decompression error"):
            open_rows(path).read(0, rows)
