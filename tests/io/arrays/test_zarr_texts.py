"""The decoded size of texts in Zarr stores, which is checked before they are decoded."""

from __future__ import annotations

import tracemalloc

import numcodecs
import numpy as np
import pytest
import zarr
from zarr.codecs import BloscCodec, GzipCodec, ZstdCodec

import eckart as ek
from eckart.errors import FileError, MemoryBudgetError

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
@pytest.mark.parametrize("kind", sorted(PACKED.keys() - {"lzma"}))
def test_long_names_are_refused_before_they_are_decoded(tmp_path, kind):
    stored(tmp_path / "cells.zarr", ["x" * 1_000_000] * 120, kind)
    tracemalloc.start()
    with pytest.raises(MemoryBudgetError, match=r"the list of names in 'obs' takes [\d.]+ MB"):
        ek.open_data(tmp_path / "cells.zarr", memory="100MB")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 20_000_000


@pytest.mark.filterwarnings("ignore::UserWarning", "ignore::FutureWarning")
@pytest.mark.parametrize("kind", sorted(PACKED.keys() - {"lzma"}))
def test_short_names_in_many_chunks_are_read(tmp_path, kind):
    """The bound must not be far above the size of small chunks."""
    names = [f"cell {number}" for number in range(120 * 100)]
    stored(tmp_path / "cells.zarr", names, kind)
    d = ek.decompose(tmp_path / "cells.zarr", k=1, memory="20MB")
    assert d.row_names == tuple(names)


@pytest.mark.filterwarnings("ignore::UserWarning", "ignore::FutureWarning")
def test_texts_whose_size_cannot_be_determined_are_refused(tmp_path):
    stored(tmp_path / "cells.zarr", ["a", "b", "c"], "lzma")
    with pytest.raises(FileError, match="compressed with lzma"):
        ek.open_data(tmp_path / "cells.zarr")
