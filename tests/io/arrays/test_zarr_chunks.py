"""Chunks missing inside shards are an error, not the fill value."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import eckart as ek
from eckart.errors import FileError
from eckart.io.open_rows import open_rows

zarr = pytest.importorskip("zarr")
TABLE = np.random.default_rng(1).standard_normal((14, 5))


def _sharded(path: Path, rows: slice, **options: Any) -> None:
    """Shards of 3 x 2 chunks, which do not divide the shape."""
    codec = zarr.codecs.ShardingCodec(chunk_shape=(2, 2), **options)
    array = zarr.create_array(
        str(path), shape=TABLE.shape, chunks=(6, 4), dtype="f8", serializer=codec, compressors=None, fill_value=9.0,
        config={"write_empty_chunks": True},
    )  # fmt: skip
    array[rows] = TABLE[rows]


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"index_location": "start"},
        {"index_codecs": [zarr.codecs.BytesCodec(endian="big")]},
    ],
    ids=["default", "start", "big"],
)
def test_missing_chunks_of_shards_are_an_error(tmp_path: Path, options: dict[str, Any]) -> None:
    _sharded(tmp_path / "whole.zarr", slice(None), **options)
    rows = open_rows(tmp_path / "whole.zarr")
    assert rows is not None
    np.testing.assert_array_equal(rows.read(0, 14), TABLE)
    _sharded(tmp_path / "part.zarr", slice(2, None), **options)
    with pytest.raises(FileError, match="needs 21 chunks, but the file contains only 18"):
        open_rows(tmp_path / "part.zarr")


def test_unsupported_codecs_of_the_index_are_named(tmp_path: Path) -> None:
    codecs = [zarr.codecs.BytesCodec(), zarr.codecs.TransposeCodec(order=(0, 1, 2))]
    _sharded(tmp_path / "x.zarr", slice(None), index_codecs=codecs[::-1])
    with pytest.raises(FileError, match="the index of its shards is encoded with transpose, which Eckart cannot read"):
        open_rows(tmp_path / "x.zarr")


@pytest.mark.parametrize("place", [4, 12], ids=["decoded", "stored"])
def test_lying_blosc_headers_inside_shards_are_an_error(tmp_path: Path, place: int) -> None:
    path = tmp_path / "x.zarr"
    zarr.create_array(str(path), data=TABLE, chunks=(7, 5), shards=(14, 5), compressors=zarr.codecs.BloscCodec())
    assert open_rows(path) is not None
    content = bytearray((path / "c/0/0").read_bytes())
    content[place : place + 4] = (2**30).to_bytes(4, "little")
    (path / "c/0/0").write_bytes(content)
    with pytest.raises(FileError, match=r"the chunk c/0/0 is damaged"):
        ek.decompose(path, "svd", k=1)
